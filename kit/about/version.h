/**
 * version.h - the command `version`: what a program is made of, for bug reports.
 *
 *     static const about_library libraries[] = { { "DuckDB", find_duckdb }, { 0 } };
 *     static const about_program about = { "echo", ECHO_VERSION, libraries };
 *
 *     static int version(const cli_line *line, void *data) { return about_version(&about, line); }
 *
 *     static const cli_command commands[] = { ABOUT_VERSION_COMMAND(version), ... };
 *
 * Versions of libraries are those of the files that the process has loaded, not those of the
 * headers that it was built with. A library that the program is not linked with is not named.
 */
#ifndef ABOUT_VERSION_H
#define ABOUT_VERSION_H

#include "cli/cli.h"
#include "mcp/error.h"
#include "mcp/json.h"

/**
 * Finds a library that the program opens when it is first needed.
 *
 * @param version as the library says it
 * @param code    any address within the library
 * @return MCP_OK; another status, and the message says why the library is not there
 */
typedef mcp_status about_find(const char **version, const void **code, mcp_error *err);

typedef struct about_library {
    const char *name; /* NULL ends a table */
    about_find *find;
} about_library;

typedef struct about_program {
    const char *name, *version;
    const about_library *libraries; /* opened at run time; NULL: none */
} about_program;

extern const cli_option about_version_options[];

/* clang-format off */
/** The row of the command in a table of cli_command. */
#define ABOUT_VERSION_COMMAND(run_)                                                                \
    { .name = "version", .summary = "show the version, the build and the libraries",               \
      .options = about_version_options, .run = run_ }
/* clang-format on */

/** Run the command. @return the exit status */
int about_version(const about_program *program, const cli_line *line);

/** `git describe` of the source that the program was built of; "unknown". */
const char *about_revision(void);

/** "gcc 12.2.0" */
const char *about_compiler(void);

/** Write the array of the libraries: objects with `name`, `version` and `path`, or `name` and
 * `missing`, the reason. */
void about_write_libraries(mcp_json_writer *json, const about_program *program);

/** Print a line for each. */
void about_print_libraries(FILE *out, const about_program *program);

#endif
