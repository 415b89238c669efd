/*
 * cli_int.h - a line being read, shared by the reader and the help.
 */
#ifndef CLI_CLI_INT_H
#define CLI_CLI_INT_H

#include "cli/cli.h"

#define CLI_DONE (-1)       /* help or version was printed: the program ends well */
#define CLI_NAME_MAX 63     /* of a wrong name, as repeated in a message */
#define CLI_ENV_SIZE 96     /* of the name of a variable */
#define CLI_HINT_DISTANCE 2 /* letters by which a hinted name may differ */

struct cli_value {
    const cli_option *option;
    const char *text;
};

struct cli_line {
    const cli_program *program;
    const cli_command *command; /* NULL until its name is read */
    const char *first_word;     /* of a command of two words, until the second is read */
    FILE *out, *err;
    const char **arguments;
    size_t argument_count;
    struct cli_value *values;
    size_t value_count;
    void *opened;       /* by program->file; NULL: nothing */
    bool is_incomplete; /* it is still typed: it runs nothing */
};

/* The name of an option's variable, in `room` where it is made of a prefix; NULL: it has none. */
const char *cli_env_name(char room[CLI_ENV_SIZE], const cli_line *line, const cli_option *option);

/* The option of the command or the program with that name, or that letter. */
const cli_option *cli_find_option(const cli_line *line, const char *name, size_t length);
const cli_option *cli_find_letter(const cli_line *line, char letter);

/* Whether the program's first command needs no name. */
bool cli_is_nameless(const cli_program *program);

/* Whether the next word may make another command of line->command. */
bool cli_is_extensible(const cli_line *line);

/* Read the word *at, and the one after it where that is its value. @param only_words after "--"
 * @return 0 to continue, CLI_USAGE, or CLI_DONE after help or version */
int cli_read(cli_line *line, int argc, char **argv, int *at, bool *only_words);

/* Whether the command's name has two words and this is the first. */
bool cli_begins_with_word(const cli_command *command, const char *word);

/* The program's commands; after the first word of commands of two, those. */
void cli_print_commands(const cli_line *line, FILE *stream);

/* The help of the command, or of the program before a command is read. */
void cli_print_help(const cli_line *line, FILE *stream);

#endif
