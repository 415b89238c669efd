/*
 * main.c - the program universe: its table of commands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "line.h"
#include "listen/listen.h"
#include "log.h"
#include "open.h"

static const char *const validation_choices[] = { "strict", "lenient", NULL };
static const char *const view_choices[] = { "full", "summary", NULL };

/* A number with a bound, and the variable that stands in for it. */
#define NUMBER(name_, env_, standard_, min_, max_, help_)                                          \
    {                                                                                              \
        .name = name_, .type = CLI_INT, .argument = "N", .env = env_, .standard = standard_,       \
        .min = min_, .max = max_, .help = help_                                                    \
    }

/* clang-format off */
static const cli_option serve_options[] = {
    LISTEN_OPTIONS_ENV("http", "3001", "BIND", "PORT", "CORS_ORIGINS"),
    UNIVERSE_DATABASE_OPTION,
    { .name = "read-only", .type = CLI_FLAG, .help = "refuse every change" },
    { .name = "relaxed", .type = CLI_FLAG,
      .help = "SQLite: a power cut may take the last commits, a crash of the program takes none" },
    { .name = "validation", .type = CLI_CHOICE, .argument = "HOW", .env = "VALIDATION",
      .standard = "strict", .choices = validation_choices,
      .help = "how commands and states are judged" },
    { .name = "default-dt", .type = CLI_STRING, .argument = "SECONDS", .env = "TICK_DEFAULT_DT",
      .standard = "1", .help = "dt of a tick without one" },
    { .name = "soft-rejections", .type = CLI_FLAG,
      .help = "answer a rejected command with 200 and its events" },
    { .name = "list-view", .type = CLI_CHOICE, .argument = "VIEW", .standard = "full",
      .choices = view_choices, .help = "GET /universes without `view`" },
    NUMBER("max-body-bytes", "MAX_BODY_BYTES", "67108864", 1024, 2147483647,
           "of a request over HTTP"),
    NUMBER("max-state-bytes", "MAX_STATE_BYTES", "33554432", 1024, 1073741824,
           "of a state that get_universe_state gives without `full`"),
    NUMBER("inline-state-bytes", "INLINE_STATE_BYTES", "1048576", 0, 1073741824,
           "of a state in the answer to a command"),
    NUMBER("bodies-max", "BODIES_MAX", "4000000", 1000, 100000000,
           "of all universes in memory together"),
    NUMBER("snapshot-bytes", "SNAPSHOT_BYTES", NULL, 1024, INT64_MAX,
           "of log that make a new snapshot (default 4 MiB or a quarter of the state)"),
    NUMBER("snapshot-entries", "SNAPSHOT_ENTRIES", "10000", 1, INT64_MAX, "likewise, versions"),
    NUMBER("snapshot-age-ms", "SNAPSHOT_AGE_MS", "600000", 1000, INT64_MAX, "likewise, time"),
    NUMBER("log-entries-max", "LOG_ENTRIES_MAX", "1000000", 1, INT64_MAX,
           "versions of a universe that the log keeps"),
    NUMBER("log-age-ms", "LOG_AGE_MS", "604800000", 1000, INT64_MAX, "how long it keeps them"),
    NUMBER("sessions-max", "SESSIONS_MAX", "10000", 1, 1000000, "MCP sessions"),
    NUMBER("session-idle-ms", "SESSION_IDLE_MS", "3600000", 1000, INT64_MAX,
           "after which an unused session ends"),
    { .name = "log-level", .type = CLI_CHOICE, .argument = "LEVEL", .env = "LOG_LEVEL",
      .standard = "info", .choices = universe_log_levels, .help = "what to log" },
    { .name = "log-file", .type = CLI_STRING, .argument = "FILE", .env = "LOG_FILE",
      .help = "append the log's lines to a file too" },
    { 0 },
};
/* clang-format on */

static const char exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, the database or the\n"
    "command line; 4 an internal failure; 130 or 143 stopped by a signal.";

static const cli_command commands[] = {
    { .name = "serve",
      .summary = "serve universes: REST, event streams, MCP and a page",
      .notes = exit_notes,
      .options = serve_options,
      .run = universe_line_serve },
    { 0 },
};

static const cli_program universe = {
    .name = "universe",
    .version = CAUSEWAY_VERSION,
    .summary = "live star-system simulations for agents and viewers",
    .notes = exit_notes,
    .commands = commands,
};

int main(int argc, char **argv)
{
    int exit_status = cli_main(&universe, argc, argv, stdout, stderr, NULL);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    fprintf(stderr, "error: standard output cannot be written: %s\n", strerror(errno));
    return exit_status == UNIVERSE_EXIT_DONE ? UNIVERSE_EXIT_FILES : exit_status;
}
