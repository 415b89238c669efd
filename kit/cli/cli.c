/*
 * cli.c - reading a command line and the environment.
 *
 * The line is read once, left to right, against the command's table and the program's. A value
 * comes from the line, else from the environment, else from the file that `config` names, else from
 * the table. Each is checked before the
 * command runs, so a command never sees a number out of bounds.
 */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_int.h"
#include "mcp/alloc.h"
#include "mcp/buf.h"
#include "mcp/json.h"

#define REASON_MAX ((size_t)64 << 10) /* of the usage record */

static bool is_called(const char *own, const char *name, size_t length)
{
    return own && strlen(own) == length && strncmp(own, name, length) == 0;
}

static const cli_option *find_in(const cli_option *options, const char *name, size_t length)
{
    for (; options && options->name; options++)
        if (is_called(options->name, name, length) || is_called(options->alias, name, length))
            return options;
    return NULL;
}

const cli_option *cli_find_option(const cli_line *line, const char *name, size_t length)
{
    const cli_option *found = NULL;

    if (line->command)
        found = find_in(line->command->options, name, length);
    return found ? found : find_in(line->program->options, name, length);
}

bool cli_begins_with_word(const cli_command *command, const char *word)
{
    const char *space = strchr(command->name, ' ');

    return space && is_called(word, command->name, (size_t)(space - command->name));
}

/* The command of that name; `first` is NULL, or the word before it. */
static const cli_command *find_command(const cli_program *program, const char *first,
                                       const char *word)
{
    for (const cli_command *command = program->commands; command->name; command++) {
        size_t length = first && cli_begins_with_word(command, first) ? strlen(first) + 1 : 0;
        if ((length > 0) == (first != NULL) && strcmp(command->name + length, word) == 0)
            return command;
    }
    return NULL;
}

static bool is_first_word(const cli_program *program, const char *word)
{
    for (const cli_command *command = program->commands; command->name; command++)
        if (cli_begins_with_word(command, word))
            return true;
    return false;
}

bool cli_is_nameless(const cli_program *program)
{
    return program->commands->name && program->commands->name[0] == '\0';
}

/* ---- wrong lines ----------------------------------------------------------------------------- */

static void hint_help(const cli_line *line)
{
    const char *name = line->command ? line->command->name : line->first_word;
    bool named = name && name[0];

    fprintf(line->err, "Try '%s%s%s --help'.\n", line->program->name, named ? " " : "",
            named ? name : "");
}

static const char *nearest_option(const cli_line *line, const char *name)
{
    const cli_option *tables[] = { line->command ? line->command->options : NULL,
                                   line->program->options };
    const char *best = NULL;
    size_t best_distance = CLI_HINT_DISTANCE + 1;

    for (size_t i = 0; i < 2; i++)
        for (const cli_option *option = tables[i]; option && option->name; option++)
            if (!option->hidden)
                cli_nearer(&best, &best_distance, name, option->name);
    return best;
}

static int refuse_option(const cli_line *line, const char *name, size_t length)
{
    char text[CLI_NAME_MAX + 1];

    if (length > CLI_NAME_MAX)
        length = CLI_NAME_MAX;
    memcpy(text, name, length);
    text[length] = '\0';
    const char *near = nearest_option(line, text);
    fprintf(line->err, "%s: unknown option '--%s'", line->program->name, text);
    if (near)
        fprintf(line->err, "; did you mean '--%s'?", near);
    fputc('\n', line->err);
    hint_help(line);
    return CLI_USAGE;
}

/* `name` is the word typed, after line->first_word where there is one. */
static int refuse_command(const cli_line *line, const char *name)
{
    const char *near = NULL, *first = line->first_word;
    size_t distance = CLI_HINT_DISTANCE + 1;

    for (const cli_command *command = line->program->commands; command->name; command++)
        if (!first)
            cli_nearer(&near, &distance, name, command->name);
        else if (cli_begins_with_word(command, first))
            cli_nearer(&near, &distance, name, command->name + strlen(first) + 1);
    fprintf(line->err, "%s: unknown command '%s%s%s'", line->program->name, first ? first : "",
            first ? " " : "", name);
    if (near)
        fprintf(line->err, "; did you mean '%s%s%s'?", first ? first : "", first ? " " : "", near);
    fputc('\n', line->err);
    hint_help(line);
    return CLI_USAGE;
}

/* The line ends after the first word of a command of two. */
static int refuse_half_command(const cli_line *line)
{
    fprintf(line->err, "%s: incomplete command '%s'\n", line->program->name, line->first_word);
    cli_print_commands(line, line->err);
    return CLI_USAGE;
}

/* ---- checking values ------------------------------------------------------------------------- */

static bool parse_int(const char *text, int64_t *out)
{
    char *end = NULL;

    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || text[0] == ' ')
        return false;
    *out = number;
    return true;
}

/* "64K" */
static bool parse_size(const char *text, int64_t *out)
{
    static const char units[] = "KMG";
    char *end = NULL;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if (errno != 0 || (*end && (!unit || end[1])) || number > INT64_MAX >> shift)
        return false;
    *out = number << shift;
    return true;
}

static bool parse_number(const cli_option *option, const char *text, int64_t *out)
{
    return option->type == CLI_SIZE ? parse_size(text, out) : parse_int(text, out);
}

static bool is_within(const cli_option *option, int64_t number)
{
    return (option->min == 0 && option->max == 0) ||
           (number >= option->min && number <= option->max);
}

static void print_choices(const cli_option *option, FILE *stream)
{
    const char *between = "";

    for (const char *const *choice = option->choices; *choice; choice++) {
        fprintf(stream, "%s%s", between, *choice);
        between = choice[1] && !choice[2] ? " or " : ", ";
    }
}

/* "a whole number from 1 to 64": what a value of the option may be. */
static void print_expected(const cli_option *option, FILE *stream)
{
    const char *kind = option->type == CLI_SIZE ? "a size such as 512, 64K, 10M or 2G"
                                                : "a whole number";

    if (option->type == CLI_CHOICE)
        print_choices(option, stream);
    else if (option->type == CLI_FLAG)
        fputs("true or false", stream);
    else if (option->min == 0 && option->max == 0)
        fputs(kind, stream);
    else
        fprintf(stream, "%s from %" PRId64 " to %" PRId64, kind, option->min, option->max);
}

static bool is_one_of(const char *const *words, const char *text)
{
    while (*words && strcmp(*words, text) != 0)
        words++;
    return *words != NULL;
}

static bool is_valid(const cli_option *option, const char *text)
{
    static const char *const truths[] = { "true", "false", "1", "0", "yes", "no", NULL };
    int64_t number = 0;

    switch (option->type) {
    case CLI_FLAG:
        return is_one_of(truths, text);
    case CLI_INT:
    case CLI_SIZE:
        return parse_number(option, text, &number) && is_within(option, number);
    case CLI_CHOICE:
        return is_one_of(option->choices, text);
    case CLI_STRING:
        break;
    }
    return true;
}

/* The placeholder in a text that the host should have replaced; NULL: there is none. */
static const char *placeholder_in(const char *text, int *length)
{
    const char *begin = strstr(text, "${");
    const char *end = begin ? strchr(begin, '}') : NULL;

    *length = end ? (int)(end - begin) + 1 : 0;
    return end ? begin : NULL;
}

static bool takes_placeholders(const cli_line *line)
{
    return line->is_incomplete || (line->command && line->command->takes_placeholders);
}

static int refuse_placeholder(const cli_line *line, const char *where, const char *name,
                              const char *placeholder, int length)
{
    fprintf(line->err, "%s: %s%s: the host did not fill in %.*s\n", line->program->name, where,
            name, length > CLI_NAME_MAX ? CLI_NAME_MAX : length, placeholder);
    return CLI_USAGE;
}

/* `where` and `name` say where the value is from: "--" "port", "the variable " "PORT". */
static int check_value(const cli_line *line, const cli_option *option, const char *where,
                       const char *name, const char *text)
{
    int length = 0;
    const char *placeholder = placeholder_in(text, &length);

    if (placeholder && !takes_placeholders(line))
        return refuse_placeholder(line, where, name, placeholder, length);
    if (is_valid(option, text))
        return 0;
    fprintf(line->err, "%s: %s%s wants ", line->program->name, where, name);
    print_expected(option, line->err);
    fprintf(line->err, ", not '%s'\n", text);
    return CLI_USAGE;
}

/* ---- reading the line ------------------------------------------------------------------------ */

static void keep_value(cli_line *line, const cli_option *option, const char *text)
{
    for (size_t i = 0; i < line->value_count && !option->many; i++)
        if (line->values[i].option == option) {
            line->values[i].text = text; /* the last one counts */
            return;
        }
    line->values[line->value_count++] = (struct cli_value){ option, text };
}

/* @param text the value in the same word; NULL: none */
static int take_option(cli_line *line, const cli_option *option, const char *text, int argc,
                       char **argv, int *at)
{
    if (option->type != CLI_FLAG && !text && *at + 1 < argc)
        text = argv[++*at];
    if (option->type != CLI_FLAG && !text) {
        fprintf(line->err, "%s: --%s wants %s\n", line->program->name, option->name,
                option->argument ? option->argument : "a value");
        return CLI_USAGE;
    }
    keep_value(line, option, text ? text : "1");
    return text ? check_value(line, option, "--", option->name, text) : 0;
}

static int read_option(cli_line *line, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const cli_option *option = cli_find_option(line, name, length);

    if (!option)
        return refuse_option(line, name, length);
    return take_option(line, option, equals ? equals + 1 : NULL, argc, argv, at);
}

const cli_option *cli_find_letter(const cli_line *line, char letter)
{
    const cli_option *tables[] = { line->command ? line->command->options : NULL,
                                   line->program->options };

    for (size_t i = 0; i < 2; i++)
        for (const cli_option *option = tables[i]; option && option->name; option++)
            if (option->letter == letter)
                return option;
    return NULL;
}

/* "-f FILE", "-fFILE", or a flag alone. */
static int read_letter(cli_line *line, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    const cli_option *option = cli_find_letter(line, word[1]);
    bool has_more = word[2] != '\0';

    if (option && !(has_more && option->type == CLI_FLAG))
        return take_option(line, option, has_more ? word + 2 : NULL, argc, argv, at);
    fprintf(line->err, "%s: unknown option '%s'\n", line->program->name, word);
    hint_help(line);
    return CLI_USAGE;
}

bool cli_is_extensible(const cli_line *line)
{
    const cli_option *own = line->command->options;

    for (size_t i = 0; i < line->value_count; i++)
        for (const cli_option *option = own; option && option->name; option++)
            if (line->values[i].option == option)
                return false;
    return line->argument_count == 0;
}

/* The command that the word makes of the one that has just been read: one of two words, or another
 * than the one without a name. NULL: it is an argument. */
static const cli_command *extended_command(const cli_line *line, const char *word)
{
    const char *name = line->command->name;

    if (!word[0] || !cli_is_extensible(line))
        return NULL;
    return find_command(line->program, name[0] ? name : NULL, word);
}

/* The command's name where it is not read yet, else an argument; after "--" it is no second word of
 * a name. */
static int read_word(cli_line *line, const char *word, bool only_words)
{
    int length = 0;
    const char *placeholder = placeholder_in(word, &length);
    const cli_command *extended = line->command && !only_words ? extended_command(line, word)
                                                               : NULL;

    if (!line->command) {
        line->command = find_command(line->program, line->first_word, word);
        if (!line->command && !line->first_word && is_first_word(line->program, word))
            line->first_word = word;
        else if (!line->command)
            return refuse_command(line, word);
        return 0;
    }
    if (extended) {
        line->command = extended;
        return 0;
    }
    if (placeholder && !takes_placeholders(line))
        return refuse_placeholder(line, "",
                                  line->command->arguments ? line->command->arguments : "",
                                  placeholder, length);
    line->arguments[line->argument_count++] = word;
    return 0;
}

int cli_read(cli_line *line, int argc, char **argv, int *at, bool *only_words)
{
    const char *word = argv[*at];

    if (*only_words || word[0] != '-' || word[1] == '\0')
        return read_word(line, word, *only_words);
    if (strcmp(word, "--") == 0) {
        *only_words = true;
        return 0;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        cli_print_help(line, line->out);
        return CLI_DONE;
    }
    if (strcmp(word, "--version") == 0 && !cli_find_option(line, "version", strlen("version"))) {
        fprintf(line->out, "%s %s\n", line->program->name, line->program->version);
        return CLI_DONE;
    }
    return word[1] == '-' ? read_option(line, argc, argv, at) : read_letter(line, argc, argv, at);
}

static int check_arguments(const cli_line *line)
{
    const cli_command *command = line->command;

    if (line->argument_count >= command->arguments_min &&
        line->argument_count <= command->arguments_max)
        return 0;
    if (line->argument_count < command->arguments_min)
        fprintf(line->err, "%s: missing %s\n", line->program->name, command->arguments);
    else
        fprintf(line->err, "%s: unexpected argument '%s'\n", line->program->name,
                line->arguments[command->arguments_max]);
    hint_help(line);
    return CLI_USAGE;
}

/* ---- the environment ------------------------------------------------------------------------- */

static bool is_of_command(const cli_line *line, const cli_option *option)
{
    for (const cli_option *own = line->command->options; own && own->name; own++)
        if (own == option)
            return true;
    return false;
}

const char *cli_env_name(char room[CLI_ENV_SIZE], const cli_line *line, const cli_option *option)
{
    const char *prefix = line->command ? line->command->env_prefix : NULL;

    if (option->env || !prefix || !is_of_command(line, option))
        return option->env;
    snprintf(room, CLI_ENV_SIZE, "%s%s", prefix, option->name);
    for (char *at = room; *at; at++) {
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
        else if (*at == '-')
            *at = '_';
    }
    return room;
}

/* NULL where the variable is absent or empty. */
static const char *env_text(const cli_line *line, const cli_option *option)
{
    char room[CLI_ENV_SIZE];
    const char *name = cli_env_name(room, line, option);
    const char *text = name ? getenv(name) : NULL;

    return text && text[0] ? text : NULL;
}

static int check_environment(const cli_line *line)
{
    const cli_option *tables[] = { line->command->options, line->program->options };
    char room[CLI_ENV_SIZE];
    int status = 0;

    for (size_t i = 0; i < 2; i++)
        for (const cli_option *option = tables[i]; option && option->name && !status; option++) {
            const char *text = cli_given(line, option->name) ? NULL : env_text(line, option);
            if (text)
                status = check_value(line, option, "the variable ",
                                     cli_env_name(room, line, option), text);
        }
    return status;
}

/* ---- the file -------------------------------------------------------------------------------- */

static const char *file_text(const cli_line *line, const cli_option *option)
{
    return line->opened && option->key ? line->program->file->text(line->opened, option->key)
                                       : NULL;
}

static int check_file(const cli_line *line)
{
    const cli_option *tables[] = { line->command->options, line->program->options };
    int status = 0;

    for (size_t i = 0; i < 2; i++)
        for (const cli_option *option = tables[i]; option && option->name && !status; option++) {
            bool is_set = cli_given(line, option->name) || env_text(line, option);
            const char *text = is_set ? NULL : file_text(line, option);
            if (text)
                status = check_value(line, option,
                                     line->program->file->place(line->opened, option->key),
                                     option->key, text);
        }
    return status;
}

/* Of the command's options: that each required one has a value. */
static int check_required(const cli_line *line)
{
    for (const cli_option *option = line->command->options; option && option->name; option++) {
        const char *text = option->required ? cli_string(line, option->name) : "-";
        if (text && *text)
            continue;
        fprintf(line->err, "%s: --%s is required: %s\n", line->program->name, option->name,
                option->help);
        hint_help(line);
        return CLI_USAGE;
    }
    return 0;
}

/* The file that `config` names, if the command has that option. */
static int open_file(cli_line *line)
{
    const cli_file *file = line->program->file;
    const cli_option *option = file ? cli_find_option(line, "config", strlen("config")) : NULL;
    const char *path = option ? cli_string(line, "config") : NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (!path)
        return 0;
    bool is_named = cli_given(line, "config") || env_text(line, option);
    if (file->open(&line->opened, file, line->program, path, is_named, &err) == MCP_OK)
        return check_file(line);
    fprintf(line->err, "%s: %s\n", line->program->name, err.message);
    return CLI_USAGE;
}

/* ---- running --------------------------------------------------------------------------------- */

static int read_line(cli_line *line, int argc, char **argv)
{
    bool only_words = false;
    int status = 0;

    for (int at = 1; at < argc && status == 0; at++)
        status = cli_read(line, argc, argv, &at, &only_words);
    if (status != 0)
        return status;
    if (!line->command && line->first_word)
        return refuse_half_command(line);
    if (!line->command) {
        cli_print_help(line, line->err);
        return CLI_USAGE;
    }
    status = check_arguments(line);
    if (status == 0)
        status = check_environment(line);
    if (status == 0)
        status = open_file(line);
    return status == 0 ? check_required(line) : status;
}

/* The next file opened would take a standard descriptor that is closed, and receive what is
 * printed. /dev/null opened for the other direction takes its place and fails as a closed
 * descriptor does. */
static void hold_standard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* Whether the i-th word asks for an output format that programs read: "--output-format json", or
 * the same in one word. */
static bool asks_for_envelope(int i, int argc, char **argv)
{
    static const char name[] = "--output-format";
    const char *value = i + 1 < argc ? argv[i + 1] : "";

    if (strncmp(argv[i], name, sizeof name - 1) != 0)
        return false;
    if (argv[i][sizeof name - 1] == '=')
        value = argv[i] + sizeof name;
    return strcmp(value, "json") == 0 || strcmp(value, "json-lines") == 0;
}

/* Print the reason as a JSON string: the first line of what was said, after the program's name. */
static void print_reason(const cli_line *line, const char *said)
{
    const char *name = line->program->name;
    bool is_reason = strncmp(said, name, strlen(name)) == 0 && said[strlen(name)] == ':';
    const char *reason = is_reason ? said + strlen(name) + 2 : "there is no command";
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, REASON_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_string_n(&writer, reason, strcspn(reason, "\n"));
    bool is_whole = mcp_json_writer_status(&writer) == MCP_OK;
    fputs(is_whole ? text.data : "\"the line is invalid\"", line->out);
    mcp_buf_clear(&text);
}

/* @param said what was printed about the line; NULL: that is not known */
static void print_usage_record(const cli_line *line, int argc, char **argv, const char *said)
{
    const cli_program *program = line->program;
    const char *record = NULL;

    for (int i = 1; i < argc && !record; i++)
        if (strcmp(argv[i], "--json") == 0)
            record = program->usage_record;
        else if (asks_for_envelope(i, argc, argv))
            record = program->usage_envelope;
    if (!record)
        return;
    fputs(record, line->out);
    if (record == program->usage_record && program->usage_record_end) {
        print_reason(line, said ? said : "");
        fputs(program->usage_record_end, line->out);
    }
    fputc('\n', line->out);
}

/* Read the line, and keep what is said about it. @param said yours, free it; NULL: there is none */
static int read_kept(char **said, cli_line *line, int argc, char **argv)
{
    FILE *err = line->err;
    size_t size = 0;

    line->err = open_memstream(said, &size);
    if (!line->err) {
        line->err = err;
        return read_line(line, argc, argv);
    }
    int status = read_line(line, argc, argv);
    bool is_kept = fclose(line->err) == 0;
    line->err = err;
    if (is_kept)
        fwrite(*said, 1, size, err);
    return status;
}

int cli_main(const cli_program *program, int argc, char **argv, FILE *out, FILE *err, void *data)
{
    size_t words = argc > 0 ? (size_t)argc : 1;
    cli_line line = { .program = program, .out = out, .err = err };
    char *said = NULL;
    int status = 1;

    hold_standard_descriptors();
    if (cli_is_nameless(program))
        line.command = program->commands;
    line.arguments = mcp_alloc_zeroed(words, sizeof *line.arguments);
    line.values = mcp_alloc_zeroed(words, sizeof *line.values);
    if (line.arguments && line.values)
        status = read_kept(&said, &line, argc, argv);
    else
        fprintf(err, "%s: out of memory\n", program->name);
    if (status == 0)
        status = line.command->run(&line, data);
    else if (status == CLI_USAGE)
        print_usage_record(&line, argc, argv, said);
    else if (status == CLI_DONE)
        status = 0;
    if (line.opened)
        program->file->close(line.opened);
    free(line.arguments);
    free(line.values);
    free(said);
    return status;
}

/* ---- values of the line -------------------------------------------------------------------- */

/* The last one, where there are many. */
static const char *given_text(const cli_line *line, const cli_option *option)
{
    for (size_t i = line->value_count; i > 0; i--)
        if (line->values[i - 1].option == option)
            return line->values[i - 1].text;
    return NULL;
}

const char *cli_string(const cli_line *line, const char *name)
{
    const cli_option *option = cli_find_option(line, name, strlen(name));
    const char *text = option ? given_text(line, option) : NULL;

    if (!option || text)
        return text;
    text = env_text(line, option);
    if (!text)
        text = file_text(line, option);
    return text ? text : option->standard;
}

const char *cli_item(const cli_line *line, const char *name, size_t index)
{
    const cli_option *option = cli_find_option(line, name, strlen(name));

    if (!option || !given_text(line, option))
        return index == 0 ? cli_string(line, name) : NULL;
    for (size_t i = 0; i < line->value_count; i++)
        if (line->values[i].option == option && index-- == 0)
            return line->values[i].text;
    return NULL;
}

bool cli_flag(const cli_line *line, const char *name)
{
    static const char *const no[] = { "0", "false", "no", NULL };
    const char *text = cli_string(line, name);

    return text && !is_one_of(no, text);
}

int64_t cli_int(const cli_line *line, const char *name, int64_t fallback)
{
    const cli_option *option = cli_find_option(line, name, strlen(name));
    const char *text = cli_string(line, name);
    int64_t number = fallback;

    return text && parse_number(option, text, &number) ? number : fallback;
}

bool cli_given(const cli_line *line, const char *name)
{
    const cli_option *option = cli_find_option(line, name, strlen(name));

    return option && given_text(line, option);
}

bool cli_has(const cli_line *line, const char *name)
{
    return cli_find_option(line, name, strlen(name)) != NULL;
}

const void *cli_opened_file(const cli_line *line)
{
    return line->opened;
}

const char *cli_command_name(const cli_line *line)
{
    return line->command->name;
}

const char *cli_argument(const cli_line *line, size_t index)
{
    return index < line->argument_count ? line->arguments[index] : NULL;
}

size_t cli_argument_count(const cli_line *line)
{
    return line->argument_count;
}

FILE *cli_out(const cli_line *line)
{
    return line->out;
}

FILE *cli_err(const cli_line *line)
{
    return line->err;
}
