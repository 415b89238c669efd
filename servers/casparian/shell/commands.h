/**
 * commands.h - the commands of the program. A new one: a function and a table of options in a file
 * of this folder, a declaration here, and a row in commands.c.
 */
#ifndef CASPARIAN_SHELL_COMMANDS_H
#define CASPARIAN_SHELL_COMMANDS_H

#include "cli/cli.h"

/** Ended by a row without a name. */
extern const cli_command casparian_commands[];

/** Options of every command: --home, --config, --json, --quiet, --verbose. */
extern const cli_option casparian_common_options[];

/** What each exit status means, for help. */
extern const char casparian_exit_notes[];

/** serve.c: casparian mcp serve */
extern const cli_option casparian_serve_options[];
cli_command_run casparian_command_serve;

#endif
