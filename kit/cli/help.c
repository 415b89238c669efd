/*
 * help.c - help texts made from the tables, and the nearest name to a wrong one.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/cli_int.h"
#include "cli/progress.h"
#include "mcp/buf.h"

#define HANGING_MIN 20
#define HELP_MAX 4096
#define COLUMN_MAX 30 /* an option longer than this has its help on the next line */

/* "--threads N" as it stands at the left of a line. */
static size_t option_label(char *out, size_t size, const cli_option *option)
{
    const char letter[] = { '-', option->letter, ',', ' ', '\0' };
    int length = snprintf(out, size, "%s--%s%s%s", option->letter ? letter : "", option->name,
                          option->argument ? " " : "", option->argument ? option->argument : "");

    return length < 0 ? 0 : (size_t)length;
}

static void add_extras(mcp_buf *text, const cli_line *line, const cli_option *option)
{
    char room[CLI_ENV_SIZE];
    const char *env = cli_env_name(room, line, option);
    const char *between = " (";

    if (option->type == CLI_CHOICE) {
        mcp_buf_puts(text, between);
        for (const char *const *choice = option->choices; *choice; choice++)
            mcp_buf_printf(text, "%s%s", choice == option->choices ? "" : "|", *choice);
        between = "; ";
    }
    if (option->standard) {
        mcp_buf_printf(text, "%sdefault %s", between, option->standard);
        between = "; ";
    }
    if (env) {
        mcp_buf_printf(text, "%senvironment %s", between, env);
        between = "; ";
    }
    if (between[0] == ';')
        mcp_buf_putc(text, ')');
}

/* Where the first line of at most `room` bytes ends: at a blank, or in front of an alternative. */
static size_t line_end(const char *text, size_t room)
{
    size_t end = room;

    if (strlen(text) <= room)
        return strlen(text);
    while (end > 0 && text[end] != ' ' && text[end] != '|')
        end--;
    return end > 0 ? end : room;
}

/* Print the text in lines that end within the window, aligned with the first. */
static void print_hanging(const char *text, size_t indent, FILE *stream)
{
    size_t columns = cli_width(stream);
    size_t room = columns > indent + HANGING_MIN ? columns - indent : HANGING_MIN;

    for (;;) {
        size_t end = line_end(text, room);
        fprintf(stream, "%.*s\n", (int)end, text);
        text += end;
        if (!*text)
            return;
        text += *text == ' ';
        fprintf(stream, "%*s", (int)indent, "");
    }
}

static void print_option(const cli_line *line, const cli_option *option, int width, FILE *stream)
{
    char label[128];
    size_t length = option_label(label, sizeof label, option);
    mcp_buf text;

    if (length > (size_t)width)
        fprintf(stream, "  %s\n  %*s  ", label, width, "");
    else
        fprintf(stream, "  %-*s  ", width, label);
    mcp_buf_init(&text, HELP_MAX);
    mcp_buf_puts(&text, option->help ? option->help : "");
    add_extras(&text, line, option);
    print_hanging(text.data ? text.data : "", (size_t)width + 4, stream);
    mcp_buf_clear(&text);
}

static void widen(int *width, const cli_option *options)
{
    char label[128];

    for (; options && options->name; options++) {
        size_t length = option_label(label, sizeof label, options);
        if (!options->hidden && length <= COLUMN_MAX && length > (size_t)*width)
            *width = (int)length;
    }
}

static void print_table(const cli_line *line, const cli_option *options, int width, FILE *stream)
{
    for (; options && options->name; options++)
        if (!options->hidden)
            print_option(line, options, width, stream);
}

static bool has_option(const cli_option *options, const char *name)
{
    while (options && options->name && strcmp(options->name, name) != 0)
        options++;
    return options && options->name;
}

static void print_options(const cli_line *line, FILE *stream)
{
    const cli_option *own = line->command ? line->command->options : NULL;
    const cli_option always[] = {
        { .name = "help", .help = "show this help (also -h)" },
        { .name = "version", .help = "show the version", .hidden = has_option(own, "version") },
        { 0 },
    };
    int width = 0;

    widen(&width, own);
    widen(&width, line->program->options);
    widen(&width, always);
    fputs("\nOptions:\n", stream);
    print_table(line, own, width, stream);
    print_table(line, line->program->options, width, stream);
    print_table(line, always, width, stream);
}

static bool is_listed(const cli_line *line, const cli_command *command)
{
    if (!command->name[0])
        return false;
    return !line->first_word || cli_begins_with_word(command, line->first_word);
}

void cli_print_commands(const cli_line *line, FILE *stream)
{
    const cli_program *program = line->program;
    const char *first = line->first_word;
    int width = 0;

    for (const cli_command *command = program->commands; command->name; command++)
        if (is_listed(line, command) && strlen(command->name) > (size_t)width)
            width = (int)strlen(command->name);
    fputs("\nCommands:\n", stream);
    for (const cli_command *command = program->commands; command->name; command++)
        if (is_listed(line, command))
            fprintf(stream, "  %-*s  %s\n", width, command->name, command->summary);
    fprintf(stream, "\n'%s%s%s COMMAND --help' tells more about a command.\n", program->name,
            first ? " " : "", first ? first : "");
}

/* "Usage: ", and what the line is for. */
static void print_usage(const cli_line *line, FILE *stream)
{
    const cli_program *program = line->program;
    const cli_command *command = line->command;
    bool named = command && command->name[0];
    const char *arguments = command ? command->arguments : "COMMAND";

    if (!command && line->first_word) {
        fprintf(stream, "Usage: %s %s COMMAND [OPTIONS]\n", program->name, line->first_word);
        return;
    }
    fprintf(stream, "Usage: %s%s%s [OPTIONS]%s%s\n", program->name, named ? " " : "",
            named ? command->name : "", arguments ? " " : "", arguments ? arguments : "");
    fprintf(stream, "\n%s\n", named ? command->summary : program->summary);
}

void cli_print_help(const cli_line *line, FILE *stream)
{
    const cli_program *program = line->program;
    const cli_command *command = line->command;
    bool named = command && command->name[0];
    const char *notes = named ? command->notes : program->notes;

    print_usage(line, stream);
    if (!command || (!named && command[1].name))
        cli_print_commands(line, stream);
    print_options(line, stream);
    if (notes)
        fprintf(stream, "\n%s\n", notes);
}

/* ---- hints ----------------------------------------------------------------------------------- */

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Letters to insert, remove or change (Wagner and Fischer, 1974), for names of our lengths. */
static size_t distance(const char *a, const char *b)
{
    size_t row[CLI_NAME_MAX + 1];
    size_t length = strlen(b);

    if (length > CLI_NAME_MAX || strlen(a) > CLI_NAME_MAX)
        return CLI_NAME_MAX;
    for (size_t j = 0; j <= length; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= length; j++) {
            size_t above = row[j];
            row[j] = least(row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

void cli_nearer(const char **best, size_t *best_distance, const char *typed, const char *name)
{
    size_t far = distance(typed, name);

    if (far < *best_distance && far < strlen(name)) {
        *best = name;
        *best_distance = far;
    }
}
