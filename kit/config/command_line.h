/**
 * command_line.h - values of options from a configuration file: what the line and the environment
 * leave out, the file that the option `config` names may have.
 *
 *     static const config_key keys[] = { { .name = "executors.*.command", .type = CONFIG_STRINGS },
 *                                        { 0 } };
 *     static const config_file file = CONFIG_FILE(keys, 0);
 *     static const cli_option options[] = {
 *         { .name = "config", .type = CLI_STRING, .argument = "FILE", .help = "..." },
 *         { .name = "port", .key = "serve.port", .type = CLI_INT, .max = 65535, ... },
 *         { 0 }
 *     };
 *     static const cli_program program = { ..., .file = &file.face };
 *
 * The file may have the keys of the options of all commands, and those of the table. A list of
 * strings is the same as the option with commas between them. A file that the user has not named
 * (the default of `config`) need not exist.
 */
#ifndef CONFIG_COMMAND_LINE_H
#define CONFIG_COMMAND_LINE_H

#include "cli/cli.h"
#include "config/config.h"

/** How a program reads its configuration file. */
typedef struct config_file {
    cli_file face;          /* first */
    const config_key *keys; /* of no option; NULL: none */
    unsigned flags;         /* CONFIG_PRIVATE */
} config_file;

/* clang-format off */
#define CONFIG_FILE(keys_, flags_)                                                                 \
    { { config_file_open, config_file_text, config_file_place, config_file_close }, keys_, flags_ }
/* clang-format on */

/** The file that was read for a line; NULL: none was named. It lives as long as the line. */
const config *config_of(const cli_line *line);

/** The functions of the face. */
cli_file_open config_file_open;
cli_file_find config_file_text, config_file_place;
void config_file_close(void *opened);

#endif
