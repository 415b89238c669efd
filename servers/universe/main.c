/*
 * main.c - the program universe: its table of commands.
 */
#include "about/doctor.h"
#include "about/version.h"
#include "gateway/log.h"
#include "host/host.h"
#include "serve/serve.h"
#include "shell/line.h"
#include "shell/open.h"

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
    SERVE_OPTIONS_ENV("http", "3001", "info", "BIND", "PORT", "CORS_ORIGINS", "LOG_LEVEL",
                      "LOG_FILE"),
    UNIVERSE_DATABASE_OPTION,
    { .name = "read-only", .type = CLI_FLAG, .help = "refuse every change" },
    { .name = "relaxed", .type = CLI_FLAG,
      .help = "SQLite: a power cut may take the last commits, a crash of the program takes none" },
    { .name = "validation", .type = CLI_CHOICE, .argument = "HOW", .env = "VALIDATION",
      .standard = "strict", .choices = validation_choices,
      .help = "how commands and states are judged" },
    { .name = "default-dt", .type = CLI_STRING, .argument = "SECONDS", .env = "TICK_DEFAULT_DT",
      .standard = "1", .help = "dt of a tick without one" },
    { .name = "no-negative-dt", .type = CLI_FLAG, .help = "reject a tick that goes back in time" },
    { .name = "strict-schema", .type = CLI_FLAG,
      .help = "publish the schema of every command in send_universe_command's, and hold calls "
              "to it" },
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
    { 0 },
};
/* clang-format on */

#define JSON_OPTION                                                                                \
    {                                                                                              \
        .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON"        \
    }
#define QUIET_OPTION                                                                               \
    {                                                                                              \
        .name = "quiet", .type = CLI_FLAG, .help = "say nothing but errors"                        \
    }

/* clang-format off */
static const cli_option list_options[] = { UNIVERSE_DATABASE_OPTION, JSON_OPTION, { 0 } };

static const cli_option doctor_options[] = {
    UNIVERSE_DATABASE_OPTION, DOCTOR_OPTIONS("3001", "BIND", "PORT"), DOCTOR_OPTION_JSON, { 0 },
};

static const cli_option export_options[] = {
    UNIVERSE_DATABASE_OPTION,
    NUMBER("version", NULL, NULL, 0, INT64_MAX, "as it was then, while the log reaches back"),
    JSON_OPTION, QUIET_OPTION, { 0 },
};

static const cli_option import_options[] = {
    UNIVERSE_DATABASE_OPTION,
    { .name = "id", .type = CLI_STRING, .argument = "ID",
      .help = "the universe's id (default: a random one)" },
    { .name = "name", .type = CLI_STRING, .argument = "NAME",
      .help = "its name (default: the file's)" },
    { .name = "lenient", .type = CLI_FLAG,
      .help = "repair what older exports have wrong, and say what" },
    { .name = "replace", .type = CLI_FLAG,
      .help = "put the state in the place of --id's, where that exists" },
    JSON_OPTION, QUIET_OPTION, { 0 },
};

static const cli_option generate_options[] = {
    UNIVERSE_DATABASE_OPTION,
    { .name = "id", .type = CLI_STRING, .argument = "ID",
      .help = "the universe's id (default: a random one)" },
    { .name = "name", .type = CLI_STRING, .argument = "NAME", .help = "its name" },
    { .name = "seed", .type = CLI_STRING, .argument = "SEED",
      .help = "a number or a text; the same one grows the same universe" },
    { .name = "preset", .type = CLI_STRING, .argument = "STYLE",
      .help = "sparse, solarLike, crowded or superDenseExperimental" },
    { .name = "config", .type = CLI_STRING, .argument = "FILE",
      .help = "further settings, a JSON object; - reads standard input" },
    { .name = "dry-run", .type = CLI_FLAG, .help = "only say what would grow" },
    { .name = "replace", .type = CLI_FLAG,
      .help = "put it in the place of --id's, where that exists" },
    JSON_OPTION, QUIET_OPTION, { 0 },
};

static const cli_option replay_options[] = {
    UNIVERSE_DATABASE_OPTION,
    NUMBER("to", NULL, NULL, 0, INT64_MAX, "the version (default: the newest)"),
    { .name = "check", .type = CLI_FLAG,
      .help = "compare it with what a start loads, and with the invariants" },
    { .name = "output", .type = CLI_STRING, .argument = "FILE",
      .help = "write the state there, not to standard output" },
    JSON_OPTION, QUIET_OPTION, { 0 },
};
/* clang-format on */

static const char exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, the database, a universe\n"
    "that is not there, or the command line; 4 an internal failure; 130 or 143 stopped\n"
    "by a signal. A server may run on the same database all the while.";

static const char serve_notes[] =
    "The page is http://HOST:PORT/, MCP is at /mcp, REST at /universes.\n\n"
    "Without --db the variables DB_PROVIDER (sqlite, postgres, memory, noop) and\n"
    "DATABASE_URL say which database; without them it is sqlite:universe.db, over stdio\n"
    "$XDG_STATE_HOME/causeway/universe.db (~/.local/state/...). AUTH_TOKEN and AUTH_TOKENS (several, between\n"
    "commas) are bearer tokens in clear, in addition to --tokens.";

static const cli_command commands[] = {
    { .name = "serve",
      .summary = "serve universes: REST, event streams, MCP and a page",
      .notes = serve_notes,
      .options = serve_options,
      .env_prefix = "UNIVERSE_",
      .run = universe_line_serve },
    { .name = "generate",
      .summary = "grow a universe from a seed",
      .notes = exit_notes,
      .options = generate_options,
      .run = universe_line_generate },
    { .name = "export",
      .arguments = "ID [FILE|-]",
      .arguments_min = 1,
      .arguments_max = 2,
      .summary = "write a universe's state as JSON",
      .notes = exit_notes,
      .options = export_options,
      .complete = universe_complete_id,
      .run = universe_line_export },
    { .name = "import",
      .arguments = "FILE|-",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "make a universe of a state, however large",
      .notes = exit_notes,
      .options = import_options,
      .run = universe_line_import },
    { .name = "replay",
      .arguments = "ID",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "make a state by the log again, write or check it",
      .notes = exit_notes,
      .options = replay_options,
      .complete = universe_complete_id,
      .run = universe_line_replay },
    { .name = "list",
      .summary = "say which universes there are",
      .notes = exit_notes,
      .options = list_options,
      .run = universe_line_list },
    ABOUT_VERSION_COMMAND(universe_line_version),
    { .name = "doctor",
      .summary = "check what this machine has for it",
      .options = doctor_options,
      .env_prefix = "UNIVERSE_",
      .run = universe_line_doctor },
    HOST_COMMAND(universe_line_host),
    CLI_COMPLETION_COMMAND,
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
    return serve_main(&universe, argc, argv);
}
