/*
 * completion.c - the command `completion`: scripts for shells, and what a word may be.
 *
 * A script runs `NAME completion words -- WORD...` with the words of the line up to the cursor, of
 * which the last is completed. The answer is a line for each word that it may be, with a tab and
 * what it is; a line ":files" or ":dirs" lets the shell add those. So the shells know nothing of
 * the tables, and an answer is as new as the program.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli_int.h"
#include "mcp/alloc.h"

/* A person waits for the answer: a database that does not answer ends the program. */
#define SECONDS_MAX 3

const char cli_completion_notes[] =
    "bash: source <(NAME completion bash), or the output as a file NAME in\n"
    "      ~/.local/share/bash-completion/completions/\n"
    "zsh:  the output as a file _NAME in a folder of $fpath\n"
    "fish: the output as a file NAME.fish in ~/.config/fish/completions/";

struct cli_words {
    FILE *out;
    const char *typed;  /* what a word begins with */
    const char *before; /* what stands before it in the same word, "--name=" */
    size_t before_length;
    bool has_files, only_directories;
};

/* ---- offers ---------------------------------------------------------------------------------- */

static void offer_part(cli_words *words, const char *word, size_t length, const char *about)
{
    size_t typed = strlen(words->typed);
    if (length < typed || strncmp(word, words->typed, typed) != 0)
        return;
    fprintf(words->out, "%.*s%.*s", (int)words->before_length, words->before, (int)length, word);
    if (about)
        fputc('\t', words->out);
    for (; about && *about && *about != '\n'; about++)
        fputc((unsigned char)*about < ' ' || *about == 0x7f ? '?' : *about, words->out);
    fputc('\n', words->out);
}

/* Whether a shell takes a word as it is, and not as an option. bash puts it into the line without
 * quotes, and some words are the ids that clients have chosen. */
static bool is_plain(const char *word)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.,/:@%+=";
    const char *at = word;
    while (*at && (strchr(plain, *at) || (unsigned char)*at >= 0x80))
        at++;
    return word[0] != '-' && *at == '\0';
}

void cli_offer(cli_words *words, const char *word, const char *about)
{
    if (is_plain(word))
        offer_part(words, word, strlen(word), about);
}

void cli_offer_files(cli_words *words, bool only_directories)
{
    words->has_files = true;
    words->only_directories = only_directories;
}

/* "bash|zsh|fish": the words themselves, of small letters. */
static bool offer_alternatives(cli_words *words, const char *name, size_t length)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-|";
    if (!memchr(name, '|', length) || strspn(name, letters) < length)
        return false;
    for (const char *at = name; at < name + length;) {
        size_t part = strcspn(at, "|");
        if (part > length - (size_t)(at - name))
            part = length - (size_t)(at - name);
        offer_part(words, at, part, NULL);
        at += part + 1;
    }
    return true;
}

static bool has_word(const char *name, size_t length, const char *const *parts)
{
    for (; *parts; parts++)
        for (const char *at = strstr(name, *parts); at; at = strstr(at + 1, *parts))
            if (at + strlen(*parts) <= name + length)
                return true;
    return false;
}

/* By the name that help has for an argument or a value. */
static void offer_by_name(cli_words *words, const char *name, size_t length)
{
    static const char *const files[] = { "FILE", "PATH", "INPUT", NULL };
    static const char *const directories[] = { "DIR", "CASE", "OUTPUT", NULL };
    if (offer_alternatives(words, name, length))
        return;
    if (has_word(name, length, files))
        cli_offer_files(words, false);
    else if (has_word(name, length, directories))
        cli_offer_files(words, true);
}

/* ---- options --------------------------------------------------------------------------------- */

static void offer_values(cli_words *words, const cli_option *option)
{
    if (option->type == CLI_CHOICE)
        for (const char *const *choice = option->choices; *choice; choice++)
            cli_offer(words, *choice, NULL);
    else if (option->type == CLI_FLAG)
        offer_alternatives(words, "true|false", strlen("true|false"));
    else if (option->type == CLI_STRING && option->argument)
        offer_by_name(words, option->argument, strlen(option->argument));
}

static void offer_options(cli_words *words, const cli_line *line, const cli_option *options)
{
    char name[CLI_NAME_MAX + 3];
    for (; options && options->name; options++) {
        bool is_given = cli_given(line, options->name) && !options->many;
        snprintf(name, sizeof name, "--%s", options->name);
        if (!options->hidden && !is_given)
            offer_part(words, name, strlen(name), options->help);
    }
}

static void offer_all_options(cli_words *words, const cli_line *line)
{
    if (line->command)
        offer_options(words, line, line->command->options);
    offer_options(words, line, line->program->options);
    offer_part(words, "--help", strlen("--help"), "show this help");
    if (!cli_has(line, "version"))
        offer_part(words, "--version", strlen("--version"), "show the version");
}

/* "--name=text" */
static void offer_rest_of_option(cli_words *words, const cli_line *line, const char *equals)
{
    const char *name = words->typed + 2;
    const cli_option *option = cli_find_option(line, name, (size_t)(equals - name));
    words->before = words->typed;
    words->before_length = (size_t)(equals + 1 - words->typed);
    words->typed = equals + 1;
    if (option)
        offer_values(words, option);
}

/* The option whose value the next word is. NULL: the word is no such option */
static const cli_option *pending_option(const cli_line *line, const char *word)
{
    const cli_option *option = NULL;
    if (strncmp(word, "--", 2) == 0 && !strchr(word, '='))
        option = cli_find_option(line, word + 2, strlen(word + 2));
    else if (word[0] == '-' && word[1] && !word[2])
        option = cli_find_letter(line, word[1]);
    return option && option->type != CLI_FLAG ? option : NULL;
}

/* ---- commands and arguments ------------------------------------------------------------------ */

/* Each first word once; `first` is NULL, or the word whose second ones are offered. */
static void offer_commands(cli_words *words, const cli_program *program, const char *first)
{
    const cli_command *before = NULL;
    for (const cli_command *command = program->commands; command->name; command++) {
        size_t length = strcspn(command->name, " ");
        bool is_two = command->name[length] == ' ';
        bool is_again = before && strncmp(before->name, command->name, length) == 0 &&
                        (before->name[length] == ' ' || !before->name[length]);
        if (first && is_two && cli_begins_with_word(command, first))
            cli_offer(words, command->name + length + 1, command->summary);
        if (!first && length > 0 && !is_again)
            offer_part(words, command->name, length, is_two ? NULL : command->summary);
        before = command;
    }
}

/* The word of "ID [FILE|-]" or "[DIR...]" for the argument with that index; the last repeats. */
static void offer_argument(cli_words *words, const cli_command *command, size_t index)
{
    const char *at = command->arguments;
    for (size_t i = 0; at && i < index; i++) {
        const char *next = strchr(at, ' ');
        if (next)
            at = next + 1;
    }
    if (!at || index >= command->arguments_max)
        return;
    at += strspn(at, "[");
    offer_by_name(words, at, strcspn(at, " .]"));
}

static void offer_words(cli_words *words, const cli_line *line, bool only_words)
{
    const cli_command *command = line->command;
    if (!command) {
        offer_commands(words, line->program, line->first_word);
        return;
    }
    if (!only_words && cli_is_extensible(line))
        offer_commands(words, line->program, command->name[0] ? command->name : NULL);
    if (command->complete)
        command->complete(line, line->argument_count, words);
    else
        offer_argument(words, command, line->argument_count);
}

/* ---- the line -------------------------------------------------------------------------------- */

/* Reads the words before the last, and offers what that may be. What is invalid is skipped. */
static void offer_all(cli_words *words, cli_line *line, int count, char **typed)
{
    bool only_words = false;
    const cli_option *pending = NULL;
    for (int at = 1; at + 1 < count; at++) {
        pending = at + 2 == count && !only_words ? pending_option(line, typed[at]) : NULL;
        if (!pending && cli_read(line, count - 1, typed, &at, &only_words) == CLI_DONE)
            return;
    }
    const char *equals = strncmp(words->typed, "--", 2) == 0 ? strchr(words->typed, '=') : NULL;
    if (pending)
        offer_values(words, pending);
    else if (equals && !only_words)
        offer_rest_of_option(words, line, equals);
    else if (words->typed[0] == '-' && !only_words)
        offer_all_options(words, line);
    else
        offer_words(words, line, only_words);
}

/* @param asked the line of the command `completion`, with the words after its first argument */
static int print_words(const cli_line *asked)
{
    size_t count = cli_argument_count(asked); /* "words" has the place of the program's name */
    cli_words words = { .out = cli_out(asked), .typed = "", .before = "" };
    FILE *nowhere = fopen("/dev/null", "w");
    cli_line line = { .program = asked->program,
                      .is_incomplete = true,
                      .command = cli_is_nameless(asked->program) ? asked->program->commands : NULL,
                      .out = nowhere,
                      .err = nowhere,
                      .arguments = mcp_alloc_zeroed(count, sizeof *line.arguments),
                      .values = mcp_alloc_zeroed(count, sizeof *line.values) };
    alarm(SECONDS_MAX);
    bool is_possible = nowhere && line.arguments && line.values;
    if (is_possible && count > 1) {
        words.typed = cli_argument(asked, count - 1);
        offer_all(&words, &line, (int)count, (char **)asked->arguments);
    }
    if (words.has_files)
        fprintf(words.out, ":%s\n", words.only_directories ? "dirs" : "files");
    free(line.arguments);
    free(line.values);
    if (nowhere)
        fclose(nowhere);
    return is_possible ? 0 : 1;
}

/* ---- scripts --------------------------------------------------------------------------------- */

/* In a script \v is the name of the program, and \f the same as a part of an identifier. */

/* bash parts words at = and : and completes the last part alone. */
static const char bash_script[] =
    "# bash completion of \v, made by `\v completion bash`.\n"
    "_complete_\f()\n"
    "{\n"
    "    local rest=${COMP_LINE:0:COMP_POINT} last= prefix= kind= line word i\n"
    "    local program=${COMP_WORDS[0]/#\\~\\//$HOME/}\n"
    "    local -a words=()\n"
    "    for ((i = 0; i <= COMP_CWORD; i++)); do\n"
    "        word=${COMP_WORDS[i]}\n"
    "        ((i == COMP_CWORD)) && word=${rest#\"${rest%%[![:space:]]*}\"}\n"
    "        if ((i == 0)) || [[ $rest == [[:space:]]* ]]; then\n"
    "            words+=(\"$word\")\n"
    "        else\n"
    "            words[-1]+=$word\n"
    "        fi\n"
    "        rest=${rest#*\"$word\"}\n"
    "    done\n"
    "    last=$word\n"
    "    [[ $last == [=:] ]] && last=\n"
    "    [[ ${words[-1]} == *\"$last\" ]] && prefix=${words[-1]%\"$last\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r line; do\n"
    "        case $line in\n"
    "        :files | :dirs) kind=$line ;;\n"
    "        *) line=${line%%$'\\t'*}; COMPREPLY+=(\"${line#\"$prefix\"}\") ;;\n"
    "        esac\n"
    "    done < <(\"$program\" completion words -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    [[ $kind ]] || return 0\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    [[ $kind == :files ]] && kind=-f || kind=-d\n"
    "    while IFS= read -r line; do\n"
    "        COMPREPLY+=(\"$line\")\n"
    "    done < <(compgen $kind -- \"$last\")\n"
    "}\n"
    "complete -F _complete_\f \v\n";

static const char zsh_script[] =
    "#compdef \v\n"
    "# zsh completion of \v, made by `\v completion zsh`.\n"
    "compdef _\v \v\n"
    "_\v()\n"
    "{\n"
    "    local line kind word about\n"
    "    local -a found\n"
    "    for line in \"${(@f)$(\"${${(Q)words[1]}/#\\~\\//$HOME/}\" completion words -- "
    "\"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
    "        word=${line%%$'\\t'*}\n"
    "        about=${${line#$word}#$'\\t'}\n"
    "        case $line in\n"
    "        (:files|:dirs) kind=$line ;;\n"
    "        (?*) found+=(\"${word//:/\\\\:}${about:+:$about}\") ;;\n"
    "        esac\n"
    "    done\n"
    "    (( $#found )) && _describe \v found\n"
    "    [[ -n $kind && $words[CURRENT] == --*=* ]] && compset -P '*='\n"
    "    [[ $kind == :files ]] && _files\n"
    "    [[ $kind == :dirs ]] && _files -/\n"
    "    return 0\n"
    "}\n"
    "# Not when the file is sourced.\n"
    "[[ ${funcstack[1]} == _\v ]] && _\v \"$@\"\n"
    "return 0\n";

static const char fish_script[] =
    "# fish completion of \v, made by `\v completion fish`.\n"
    "function __complete_\f\n"
    "    set -l current (commandline -ct)\n"
    "    set -l words (commandline -opc) \"$current\"\n"
    "    for line in (command $words[1] completion words -- $words[2..-1] 2>/dev/null)\n"
    "        switch $line\n"
    "            case :files\n"
    "                __fish_complete_path (string replace -r '^--[^=]*=' '' -- \"$current\")\n"
    "            case :dirs\n"
    "                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- \"$current\")\n"
    "            case '*'\n"
    "                echo $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c \v -f -a '(__complete_\f)'\n";

/* The name of a function in a script: letters, digits and _. */
static void print_identifier(const char *name, FILE *out)
{
    for (; *name; name++)
        fputc(*name == '-' ? '_' : *name, out);
}

static void print_script(const char *script, const char *name, FILE *out)
{
    for (; *script; script++)
        if (*script == '\v')
            fputs(name, out);
        else if (*script == '\f')
            print_identifier(name, out);
        else
            fputc(*script, out);
}

int cli_completion(const cli_line *line, void *data)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };
    static const char *const scripts[] = { bash_script, zsh_script, fish_script };
    const char *shell = cli_argument(line, 0);
    (void)data;
    if (strcmp(shell, "words") == 0)
        return print_words(line);
    for (size_t i = 0; i < 3; i++)
        if (strcmp(shell, shells[i]) == 0 && cli_argument_count(line) == 1) {
            print_script(scripts[i], line->program->name, cli_out(line));
            return 0;
        }
    fprintf(cli_err(line), "%s: completion is for bash, zsh or fish, not '%.*s'\n",
            line->program->name, CLI_NAME_MAX, shell);
    return CLI_USAGE;
}
