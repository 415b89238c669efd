/*
 * main.c - the program cobre: its table of commands; under the name cobre-mcp it is the command
 * serve.
 */
#include <string.h>

#include "run/run.h"
#include "serve/serve.h"
#include "shell/commands.h"

static const char *const color_choices[] = { "auto", "always", "never", NULL };

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

/* The forms of the answer, of every command. */
#define OPTION_JSON                                                                                \
    {                                                                                              \
        .name = "json", .type = CLI_FLAG, .help = "print the result as one JSON object"            \
    }
#define OPTION_FORMAT(choices_)                                                                    \
    {                                                                                              \
        .name = "output-format", .type = CLI_CHOICE, .argument = "FORM", .standard = "human",      \
        .help = "words, or the response envelope", .choices = choices_                             \
    }

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
    OPTION_JSON,
    OPTION_FORMAT(cobre_stream_formats),
    { .name = "no-progress", .type = CLI_FLAG, .help = "leave progress out of json-lines" },
    { .name = "quiet", .type = CLI_FLAG, .help = "say nothing but errors" },
    { 0 },
};

static const cli_option answer_options[] = { OPTION_JSON, OPTION_FORMAT(cobre_formats), { 0 } };

static const cli_option report_options[] = {
    { .name = "output",
      .type = CLI_STRING,
      .argument = "FILE",
      .help = "the HTML file (default: OUTPUT/report.html)" },
    { .name = "section",
      .type = CLI_STRING,
      .argument = "A,B",
      .help = "of convergence, costs, storage, marginal_cost, generation, deficit, cuts, solver; "
              "all without it" },
    { .name = "entities",
      .type = CLI_INT,
      .argument = "N",
      .help = "hydros and buses that a section shows, the largest first",
      .standard = "12",
      .min = 1,
      .max = 200 },
    OPTION_JSON,
    OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const char *const export_formats[] = { "csv", "json", NULL };

static const cli_option export_options[] = {
    { .name = "format",
      .type = CLI_CHOICE,
      .argument = "FORM",
      .help = "of the file",
      .standard = "csv",
      .choices = export_formats },
    { .name = "entity",
      .type = CLI_STRING,
      .argument = "A,B",
      .help = "rows of these entities only, by id or name" },
    { .name = "stages",
      .type = CLI_STRING,
      .argument = "A-B",
      .help = "rows of these stages only, counted from 0" },
    { .name = "scenarios",
      .type = CLI_STRING,
      .argument = "A-B",
      .help = "rows of these scenarios only, counted from 0" },
    { .name = "columns",
      .type = CLI_STRING,
      .argument = "A,B",
      .help = "these columns only, in this order" },
    OPTION_JSON,
    OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const cli_option schema_options[] = {
    { .name = "output-dir",
      .type = CLI_STRING,
      .argument = "DIR",
      .help = "where to write them",
      .standard = "." },
    OPTION_JSON,
    OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const cli_option init_options[] = {
    { .name = "list", .type = CLI_FLAG, .help = "name the templates" },
    { .name = "template",
      .type = CLI_STRING,
      .argument = "NAME",
      .help = "what to begin with",
      .standard = "1dtoy" },
    { .name = "force", .type = CLI_FLAG, .help = "write into a directory that is not empty" },
    OPTION_JSON,
    OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const cli_option serve_options[] = {
    SERVE_OPTIONS("stdio", "3000", "warning"),
    SERVE_OPTION_ALLOW_WRITE("let cobre/run and cobre/export-results write"),
    SERVE_OPTION_ALLOWED_DIRS,
    { .name = "threads",
      .type = CLI_INT,
      .argument = "N",
      .help = "threads of a run (default: all cores)",
      .min = 1,
      .max = 1024 },
    { 0 },
};

static const char exit_notes[] =
    "Exit status: 0 done; 1 the input is not valid; 2 a file, a directory or the\n"
    "command line; 3 the solver; 4 an internal failure; 129, 130 or 143 stopped by\n"
    "SIGHUP, SIGINT or SIGTERM, with what was completed on disk.";

static const char export_notes[] =
    "TABLE is hydros, thermals, buses, lines, costs or convergence, or the name of another\n"
    "folder of the simulation.";

static const char serve_notes[] =
    "Clients may name the allowed directories and everything below them: those of the\n"
    "option, between commas, else those of its variable, between colons, else the\n"
    "current directory. Hosts that refuse a slash in the name of a tool need\n"
    "--tool-names=safe: cobre_run instead of cobre/run.";

/* Answers an invalid line with --json; the reason is on standard error. */
#define USAGE_RECORD                                                                               \
    "{\"kind\":\"SchemaViolation\",\"message\":\"The command line is not valid\","                 \
    "\"context\":{\"field\":\"command line\"},"                                                    \
    "\"suggestion\":\"Standard error says what is wrong with it.\"}"

static const char usage_envelope[] =
    "{\"$schema\":\"urn:cobre:response:v1\",\"command\":\"cobre\",\"success\":false,\"exit_code\":2,"
    "\"cobre_version\":\"" COBRE_VERSION "\",\"errors\":[" USAGE_RECORD
    "],\"warnings\":[],\"data\":null,\"summary\":null}";

static const cli_command commands[] = {
    { .name = "init",
      .arguments = "DIR",
      .arguments_max = 1,
      .summary = "make a case directory from a template",
      .options = init_options,
      .run = cobre_command_init },
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
      .options = answer_options,
      .run = cobre_command_validate },
    { .name = "inspect",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "show what a case directory contains",
      .notes = exit_notes,
      .options = answer_options,
      .run = cobre_command_inspect },
    { .name = "summary",
      .arguments = "OUTPUT",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "summarize the training and the simulation of an output directory",
      .notes = exit_notes,
      .options = answer_options,
      .run = cobre_command_summary },
    { .name = "report",
      .arguments = "OUTPUT",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "write an HTML report of an output directory",
      .notes = exit_notes,
      .options = report_options,
      .run = cobre_command_report },
    { .name = "compare",
      .arguments = "OUTPUT OUTPUT",
      .arguments_min = 2,
      .arguments_max = 2,
      .summary = "compare the bounds and costs of two runs of a study",
      .notes = exit_notes,
      .options = answer_options,
      .run = cobre_command_compare },
    { .name = "export",
      .arguments = "OUTPUT TABLE",
      .arguments_min = 2,
      .arguments_max = 2,
      .summary = "write rows of a table to a file below OUTPUT/exports",
      .notes = export_notes,
      .options = export_options,
      .run = cobre_command_export },
    { .name = "schema export",
      .summary = "write the JSON Schemas of the 17 JSON files of a case",
      .options = schema_options,
      .run = cobre_command_schema_export },
    { .name = "serve",
      .summary = "serve MCP clients (the same as cobre-mcp)",
      .notes = serve_notes,
      .options = serve_options,
      .env_prefix = "COBRE_MCP_",
      .run = cobre_command_serve },
    { .name = "version",
      .summary = "show the version, the solver and the build",
      .options = answer_options,
      .run = cobre_command_version },
    { 0 },
};

static const cli_command serve_alone[] = {
    { .name = "",
      .summary = "serve MCP clients",
      .options = serve_options,
      .env_prefix = "COBRE_MCP_",
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
    .usage_record = USAGE_RECORD,
    .usage_envelope = usage_envelope,
};

static const cli_program cobre_mcp = {
    .name = "cobre-mcp",
    .version = COBRE_VERSION,
    .summary = "cobre for agents: an MCP server on standard input and output, or over HTTP",
    .notes = serve_notes,
    .options = program_options,
    .commands = serve_alone,
    .usage_record = USAGE_RECORD,
};

static const cli_program *program_called(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    return name && strcmp(name, cobre_mcp.name) == 0 ? &cobre_mcp : &cobre;
}

int main(int argc, char **argv)
{
    return serve_main(program_called(argc > 0 ? argv[0] : NULL), argc, argv);
}
