/**
 * commands.h - the commands of the program cobre, for the table in main.c.
 *
 * Each command is one function in the file of its name. They share work.h.
 */
#ifndef COBRE_SHELL_COMMANDS_H
#define COBRE_SHELL_COMMANDS_H

#include "about/version.h"
#include "cli/cli.h"
#include "columns/columns.h"
#include "serve/serve.h"

#include "results/results.h"

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

/** The forms of the answer, of every command: rows of a table of cli_option. */
#define COBRE_OPTION_JSON                                                                          \
    {                                                                                              \
        .name = "json", .type = CLI_FLAG, .help = "print the result as one JSON object"            \
    }
#define COBRE_OPTION_FORMAT(choices_)                                                              \
    {                                                                                              \
        .name = "output-format", .type = CLI_CHOICE, .argument = "FORM", .standard = "human",      \
        .help = "words, or the response envelope", .choices = choices_                             \
    }

/** Answers an invalid line with --json; the reason is on standard error. */
#define COBRE_USAGE_RECORD                                                                         \
    "{\"kind\":\"SchemaViolation\",\"message\":\"The command line is not valid\","                 \
    "\"context\":{\"field\":\"command line\"},"                                                    \
    "\"suggestion\":\"Standard error says what is wrong with it.\"}"

/** The same in an envelope. */
extern const char cobre_usage_envelope[];

/** Options of the program and of the command run; what the exit statuses mean. */
extern const cli_option cobre_program_options[];
extern const cli_option cobre_run_options[];
extern const char cobre_exit_notes[];

/** The `data` of the commands run and version in the program cobre-mpi; NULL in cobre. */
typedef struct cobre_run_ranks {
    struct ranks *ranks;
    results_distribution distribution;
} cobre_run_ranks;

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
cli_command_run cobre_command_host;     /* hosted.c */
cli_command_run cobre_mcp_command_host; /* of the program cobre-mcp */
cli_command_run cobre_command_doctor;   /* about.c */
cli_command_run cobre_mcp_command_version;

/** Those that are opened at run time. */
extern const about_library cobre_libraries[];

#endif
