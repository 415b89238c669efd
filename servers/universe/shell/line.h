/* line.h - the commands of the program. */
#ifndef UNIVERSE_LINE_H
#define UNIVERSE_LINE_H

#include "cli/cli.h"

cli_command_run universe_line_serve;                         /* serve.c */
cli_command_run universe_line_host;                          /* hosted.c */
cli_command_run universe_line_version, universe_line_doctor; /* about.c */
cli_complete universe_complete_id;  /* transfer.c: of a universe, then a file */
cli_command_run universe_line_list; /* transfer.c, as the two below */
cli_command_run universe_line_export;
cli_command_run universe_line_import;
cli_command_run universe_line_generate; /* generate.c */
cli_command_run universe_line_replay;   /* replay.c */

#endif
