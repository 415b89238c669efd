/*
 * main.c - the program universe: its table of commands.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "line.h"
#include "listen/listen.h"

static const char *const validation_choices[] = { "strict", "lenient", NULL };
static const char *const view_choices[] = { "full", "summary", NULL };
static const char *const level_choices[] = { "off", "error", "warning", "info", "debug", NULL };

#define DATABASE_OPTION                                                                            \
    {                                                                                              \
        .name = "db", .type = CLI_STRING, .argument = "URL", .standard = "sqlite:universe.db",     \
        .help = "sqlite:PATH, postgres://USER@HOST/NAME or memory"                                 \
    }

static const cli_option serve_options[] = {
    LISTEN_OPTIONS("http", "3001"),
    DATABASE_OPTION,
    { .name = "read-only", .type = CLI_FLAG, .help = "refuse every change" },
    { .name = "validation",
      .type = CLI_CHOICE,
      .argument = "HOW",
      .help = "how commands and states are judged",
      .env = "VALIDATION",
      .standard = "strict",
      .choices = validation_choices },
    { .name = "default-dt",
      .type = CLI_STRING,
      .argument = "SECONDS",
      .help = "dt of a tick without one",
      .env = "TICK_DEFAULT_DT",
      .standard = "1" },
    { .name = "soft-rejections",
      .type = CLI_FLAG,
      .help = "answer a rejected command with 200 and its events" },
    { .name = "list-view",
      .type = CLI_CHOICE,
      .argument = "VIEW",
      .help = "GET /universes without `view`",
      .standard = "full",
      .choices = view_choices },
    { .name = "max-body-bytes",
      .type = CLI_INT,
      .argument = "N",
      .help = "of a request over HTTP",
      .env = "MAX_BODY_BYTES",
      .standard = "67108864",
      .min = 1024,
      .max = 2147483647 },
    { .name = "max-state-bytes",
      .type = CLI_INT,
      .argument = "N",
      .help = "of a state that get_universe_state gives without `full`",
      .standard = "33554432",
      .min = 1024,
      .max = 1073741824 },
    { .name = "inline-state-bytes",
      .type = CLI_INT,
      .argument = "N",
      .help = "of a state in the answer to a command",
      .standard = "1048576",
      .min = 0,
      .max = 1073741824 },
    { .name = "bodies-max",
      .type = CLI_INT,
      .argument = "N",
      .help = "of all universes in memory together",
      .standard = "4000000",
      .min = 1000,
      .max = 100000000 },
    { .name = "log-level",
      .type = CLI_CHOICE,
      .argument = "LEVEL",
      .help = "what to log",
      .env = "LOG_LEVEL",
      .standard = "info",
      .choices = level_choices },
    { 0 },
};

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
