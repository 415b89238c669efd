/* line.h - the commands of the program, and what they exit with. */
#ifndef UNIVERSE_LINE_H
#define UNIVERSE_LINE_H

#include "cli/cli.h"

enum {
    UNIVERSE_EXIT_DONE = 0,
    UNIVERSE_EXIT_INVALID = 1,  /* the input */
    UNIVERSE_EXIT_FILES = 2,    /* a file, the database, no such universe, the command line */
    UNIVERSE_EXIT_INTERNAL = 4
};

cli_command_run universe_line_serve;    /* serve.c */
cli_command_run universe_line_list;     /* transfer.c, as the two below */
cli_command_run universe_line_export;
cli_command_run universe_line_import;
cli_command_run universe_line_generate; /* grow.c */
cli_command_run universe_line_replay;   /* replay.c */

#endif
