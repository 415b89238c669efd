/**
 * doctor.h - the command `doctor`: whether this machine has what a server needs.
 *
 * A server combines checks; each is a line of the answer. One that fails says what to do.
 *
 *     static void check(doctor *self, const cli_line *line, void *data)
 *     {
 *         doctor_check_directory(self, "output", "/srv/out", true);
 *         doctor_check_listening(self, line);
 *     }
 *
 *     static int doctor_command(const cli_line *line, void *data)
 *     {
 *         return doctor_run(line, check, data);
 *     }
 */
#ifndef ABOUT_DOCTOR_H
#define ABOUT_DOCTOR_H

#include <stdbool.h>
#include <sys/types.h>

#include "about/version.h"
#include "cli/cli.h"
#include "mcp/arena.h"
#include "mcp/json.h"

/** How many checks a doctor makes. */
#define DOCTOR_CHECKS_MAX 400

typedef struct doctor_result {
    const char *check;
    bool is_good;
    const char *detail; /* what was found, or what is wrong */
} doctor_result;

/** What was found out. */
typedef struct doctor {
    mcp_arena *arena; /* of the details */
    doctor_result results[DOCTOR_CHECKS_MAX];
    size_t count, failures;
} doctor;

/* clang-format off */
/** Options of the command: where the server is to listen, and its tokens; for
 * doctor_check_listening. @param port_ default of --port; NULL: there is none, and no port is
 * checked without the option */
#define DOCTOR_OPTIONS(port_, host_env_, port_env_)                                                \
    { .name = "host", .type = CLI_STRING, .argument = "ADDRESS", .standard = "127.0.0.1",          \
      .help = "where the server is to listen", .env = host_env_ },                                 \
    { .name = "port", .type = CLI_INT, .argument = "N", .standard = port_, .max = 65535,           \
      .help = "the port, which must be free", .env = port_env_ },                                  \
    { .name = "tokens", .type = CLI_STRING, .argument = "FILE",                                    \
      .help = "the file of tokens, which others must not read" }
/** The option of a program that has no --json for all commands. */
#define DOCTOR_OPTION_JSON                                                                         \
    { .name = "json", .type = CLI_FLAG, .help = "print the checks as JSON" }
/* clang-format on */

/** Add a result. */
void doctor_note(doctor *self, const char *check, bool is_good, const char *format, ...)
    MCP_PRINTF(4, 5);

/** A directory is there and may be listed; with `writes` files may be made in it. */
void doctor_check_directory(doctor *self, const char *check, const char *path, bool writes);

/** A file or a directory that the program makes is there and may be written, or it can be made. */
void doctor_check_made(doctor *self, const char *check, const char *path);

/** A file is there and can be read, and its mode has no bit of `forbidden`. */
void doctor_check_secret(doctor *self, const char *check, const char *path, mode_t forbidden);

/** A library that is opened when it is first needed can be. */
void doctor_check_library(doctor *self, const char *check, about_find *find);

/** The port of the line is free, and its file of tokens is secret, where it names them. */
void doctor_check_listening(doctor *self, const cli_line *line);

/** Write the array of the results. */
void doctor_write(const doctor *self, mcp_json_writer *json);

/** Makes the checks. */
typedef void doctor_checks(doctor *self, const cli_line *line, void *data);

/** Run the command: {"checks":[{"check","result","detail"}]} with --json, else a table.
 * @return 0; 1: a check failed */
int doctor_run(const cli_line *line, doctor_checks *checks, void *data);

#endif
