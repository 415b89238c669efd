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
    void *opened; /* by program->file; NULL: nothing */
};

/* The name of an option's variable, in `room` where it is made of a prefix; NULL: it has none. */
const char *cli_env_name(char room[CLI_ENV_SIZE], const cli_line *line, const cli_option *option);

/* Whether the command's name has two words and this is the first. */
bool cli_begins_with_word(const cli_command *command, const char *word);

/* The program's commands; after the first word of commands of two, those. */
void cli_print_commands(const cli_line *line, FILE *stream);

/* The help of the command, or of the program before a command is read. */
void cli_print_help(const cli_line *line, FILE *stream);

#endif
