/*
 * main.c - the program cobre: its table of commands; under the name cobre-mcp it is the command
 * serve.
 *
 * What every command shares at its end is here as well: standard output that could not be written
 * is told and turns success into failure, and a command line that makes no sense is answered by one
 * JSON object where one was asked for.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "listen/listen.h"
#include "run/run.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };
static const char *const names_choices[] = { "canonical", "safe", "auto", NULL };
static const char *const level_choices[] = { "off", "error", "warning", "info", "debug", NULL };
static const char *const revisions[] = { "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                         "2026-07-28", NULL };

static const cli_option program_options[] = {
    { .name = "color",
      .type = CLI_CHOICE,
      .argument = "WHEN",
      .help = "colours on standard error",
      .env = "COBRE_COLOR",
      .standard = "auto",
      .choices = color_choices },
    { 0 },
};

static const cli_option run_options[] = {
    { .name = "output",
      .type = CLI_STRING,
      .argument = "DIR",
      .help = "where results go (default: CASE/output)" },
    { .name = "threads",
      .type = CLI_INT,
      .argument = "N",
      .help = "threads that solve",
      .env = "COBRE_THREADS",
      .standard = "1",
      .min = 1,
      .max = 1024 },
    { .name = "json", .type = CLI_FLAG, .help = "print the result as one JSON object" },
    { .name = "quiet", .type = CLI_FLAG, .help = "say nothing but errors" },
    { 0 },
};

static const cli_option validate_options[] = {
    { .name = "json", .type = CLI_FLAG, .help = "print the findings as one JSON object" },
    { 0 },
};

static const cli_option serve_options[] = {
    LISTEN_OPTIONS("stdio", "3000"),
    { .name = "allow-write",
      .type = CLI_FLAG,
      .help = "let cobre/run and cobre/export-results write" },
    { .name = "allowed-dirs",
      .type = CLI_STRING,
      .argument = "A,B",
      .help = "directories that clients may name" },
    { .name = "threads",
      .type = CLI_INT,
      .argument = "N",
      .help = "threads of a run (default: all cores)",
      .min = 1,
      .max = 1024 },
    { .name = "tool-names",
      .type = CLI_CHOICE,
      .argument = "FORM",
      .help = "how tools are called",
      .standard = "canonical",
      .choices = names_choices },
    { .name = "revision",
      .type = CLI_CHOICE,
      .argument = "DATE",
      .help = "speak this alone",
      .choices = revisions },
    { .name = "strict-version",
      .type = CLI_FLAG,
      .help = "refuse an unknown revision, do not offer another" },
    { .name = "log-level",
      .type = CLI_CHOICE,
      .argument = "LEVEL",
      .help = "what to log",
      .standard = "warning",
      .choices = level_choices },
    { 0 },
};

static const char exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, a directory or the\n"
    "command line; 3 the solver; 4 an internal failure; 130 or 143 stopped by SIGINT\n"
    "or SIGTERM, with what was completed on disk.";

static const char serve_notes[] =
    "Clients may name the allowed directories and everything below them; without the\n"
    "option the variable COBRE_MCP_ALLOWED_DIRS holds them, separated by colons, and\n"
    "without that it is the current directory. Hosts that refuse a slash in the name\n"
    "of a tool want --tool-names=safe: cobre_run instead of cobre/run.";

static const cli_command commands[] = {
    { .name = "run",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "train and simulate a case directory",
      .notes = exit_notes,
      .options = run_options,
      .run = cobre_command_run },
    { .name = "validate",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "check a case directory without solving",
      .notes = exit_notes,
      .options = validate_options,
      .run = cobre_command_validate },
    { .name = "serve",
      .summary = "serve MCP clients (the same as cobre-mcp)",
      .notes = serve_notes,
      .options = serve_options,
      .run = cobre_command_serve },
    { 0 },
};

static const cli_command serve_alone[] = {
    { .name = "",
      .summary = "serve MCP clients",
      .options = serve_options,
      .run = cobre_command_serve },
    { 0 },
};

static const cli_program cobre = {
    .name = "cobre",
    .version = COBRE_VERSION,
    .summary = "hydrothermal dispatch by stochastic dual dynamic programming",
    .notes = exit_notes,
    .options = program_options,
    .commands = commands,
};

static const cli_program cobre_mcp = {
    .name = "cobre-mcp",
    .version = COBRE_VERSION,
    .summary = "cobre for agents: an MCP server on standard input and output, or over HTTP",
    .notes = serve_notes,
    .options = program_options,
    .commands = serve_alone,
};

static const cli_program *program_called(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    return name && strcmp(name, cobre_mcp.name) == 0 ? &cobre_mcp : &cobre;
}

/* Who asked for JSON gets it also when the line makes no sense; the words are on standard error. */
static void answer_usage(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") != 0)
            continue;
        fputs("{\"kind\":\"SchemaViolation\",\"message\":\"The command line is not valid\","
              "\"context\":{\"field\":\"command line\"},"
              "\"suggestion\":\"Standard error says what is wrong with it.\"}\n",
              stdout);
        return;
    }
}

int main(int argc, char **argv)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    bool began = false;
    /* A file that may not grow is a failed write like any other. */
    sigaction(SIGXFSZ, &ignore, NULL);
    const cli_program *program = program_called(argc > 0 ? argv[0] : NULL);
    int exit_status = cli_main(program, argc, argv, stdout, stderr, &began);
    if (exit_status == CLI_USAGE && !began)
        answer_usage(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return exit_status;
    fprintf(stderr, "error: standard output cannot be written: %s\n", strerror(errno));
    return exit_status == COBRE_EXIT_DONE ? COBRE_EXIT_FILES : exit_status;
}
