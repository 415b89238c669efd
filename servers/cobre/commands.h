/**
 * commands.h - the commands of the program cobre, for the table in main.c.
 */
#ifndef COBRE_COMMANDS_H
#define COBRE_COMMANDS_H

#include "cli/cli.h"

/** What a command ends with (errors page, 3); a run that was stopped: 128 plus the signal. */
enum {
    COBRE_EXIT_DONE,
    COBRE_EXIT_INVALID,
    COBRE_EXIT_FILES,
    COBRE_EXIT_SOLVER,
    COBRE_EXIT_INTERNAL
};

/** A handful of cases side by side would fit; one that asks for more is refused. */
#define COBRE_CASE_ARENA_MAX ((size_t)4 << 30)

/* Each sets the bool that `data` points to: from then on the answer is the command's own. */
int cobre_command_run(const cli_line *line, void *data);
int cobre_command_validate(const cli_line *line, void *data);
int cobre_command_serve(const cli_line *line, void *data);

#endif
