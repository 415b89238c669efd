/**
 * commands.h - the commands of the program cobre, for the table in main.c.
 *
 * Each command is one function in the file of its name. They share work.h.
 */
#ifndef COBRE_SHELL_COMMANDS_H
#define COBRE_SHELL_COMMANDS_H

#include "cli/cli.h"
#include "serve/serve.h"

/** Exit statuses (errors page, 3); a stopped run: 128 plus the signal. */
enum {
    COBRE_EXIT_DONE = SERVE_EXIT_DONE,
    COBRE_EXIT_INVALID = SERVE_EXIT_INVALID,
    COBRE_EXIT_FILES = SERVE_EXIT_FILES,
    COBRE_EXIT_SOLVER = 3,
    COBRE_EXIT_INTERNAL = SERVE_EXIT_INTERNAL
};

/** The memory of one case; a larger case is refused. */
#define COBRE_CASE_ARENA_MAX ((size_t)4 << 30)

/** Choices of --output-format: of run, and of the other commands. */
extern const char *const cobre_stream_formats[];
extern const char *const cobre_formats[];

cli_command_run cobre_command_run;
cli_command_run cobre_command_validate;
cli_command_run cobre_command_init;
cli_command_run cobre_command_inspect;
cli_command_run cobre_command_summary;
cli_command_run cobre_command_report;
cli_command_run cobre_command_compare;
cli_command_run cobre_command_export;
cli_command_run cobre_command_schema_export;
cli_command_run cobre_command_version;
cli_command_run cobre_command_serve;

#endif
