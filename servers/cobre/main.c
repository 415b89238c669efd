/*
 * main.c - the program cobre: its table of commands; under the name cobre-mcp it is the command
 * serve.
 */
#include <string.h>

#include "about/doctor.h"
#include "host/host.h"
#include "run/run.h"
#include "serve/serve.h"
#include "shell/commands.h"

static const cli_option answer_options[] = { COBRE_OPTION_JSON,
                                             COBRE_OPTION_FORMAT(cobre_formats),
                                             { 0 } };

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
    COBRE_OPTION_JSON,
    COBRE_OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const char *const export_formats[] = { "csv", "json", "arrow", NULL };

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
    COBRE_OPTION_JSON,
    COBRE_OPTION_FORMAT(cobre_formats),
    { 0 },
};

static const cli_option schema_options[] = {
    { .name = "output-dir",
      .type = CLI_STRING,
      .argument = "DIR",
      .help = "where to write them",
      .standard = "." },
    COBRE_OPTION_JSON,
    COBRE_OPTION_FORMAT(cobre_formats),
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
    COBRE_OPTION_JSON,
    COBRE_OPTION_FORMAT(cobre_formats),
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

static const cli_option doctor_options[] = { DOCTOR_OPTIONS(NULL, NULL, NULL),
                                             DOCTOR_OPTION_JSON,
                                             { 0 } };

#define DOCTOR_COMMAND                                                                             \
    {                                                                                              \
        .name = "doctor", .arguments = "[DIR...]", .arguments_max = SERVE_DIRS_MAX,                \
        .summary = "check what this machine has for it", .options = doctor_options,                \
        .env_prefix = "COBRE_MCP_", .run = cobre_command_doctor                                    \
    }

static const char export_notes[] =
    "TABLE is hydros, thermals, buses, lines, costs or convergence, or the name of another\n"
    "folder of the simulation.";

static const char serve_notes[] =
    "Clients may name the allowed directories and everything below them: each DIR and those\n"
    "of the option, between commas, else those of its variable, between colons, else the\n"
    "current directory. Hosts that refuse a slash in the name of a tool need\n"
    "--tool-names=safe: cobre_run instead of cobre/run.";

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
      .notes = cobre_exit_notes,
      .options = cobre_run_options,
      .run = cobre_command_run },
    { .name = "validate",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "check a case directory without solving",
      .notes = cobre_exit_notes,
      .options = answer_options,
      .run = cobre_command_validate },
    { .name = "inspect",
      .arguments = "CASE",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "show what a case directory contains",
      .notes = cobre_exit_notes,
      .options = answer_options,
      .run = cobre_command_inspect },
    { .name = "summary",
      .arguments = "OUTPUT",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "summarize the training and the simulation of an output directory",
      .notes = cobre_exit_notes,
      .options = answer_options,
      .run = cobre_command_summary },
    { .name = "report",
      .arguments = "OUTPUT",
      .arguments_min = 1,
      .arguments_max = 1,
      .summary = "write an HTML report of an output directory",
      .notes = cobre_exit_notes,
      .options = report_options,
      .run = cobre_command_report },
    { .name = "compare",
      .arguments = "OUTPUT OUTPUT",
      .arguments_min = 2,
      .arguments_max = 2,
      .summary = "compare the bounds and costs of two runs of a study",
      .notes = cobre_exit_notes,
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
      SERVE_ARGUMENTS_DIRS,
      .summary = "serve MCP clients (the same as cobre-mcp)",
      .notes = serve_notes,
      .options = serve_options,
      .env_prefix = "COBRE_MCP_",
      .run = cobre_command_serve },
    DOCTOR_COMMAND,
    HOST_COMMAND(cobre_command_host),
    CLI_COMPLETION_COMMAND,
    { .name = "version",
      .summary = "show the version, the solver and the build",
      .options = answer_options,
      .run = cobre_command_version },
    { 0 },
};

static const cli_command serve_alone[] = {
    { .name = "",
      SERVE_ARGUMENTS_DIRS,
      .summary = "serve MCP clients",
      .options = serve_options,
      .env_prefix = "COBRE_MCP_",
      .run = cobre_command_serve },
    ABOUT_VERSION_COMMAND(cobre_mcp_command_version),
    DOCTOR_COMMAND,
    HOST_COMMAND(cobre_mcp_command_host),
    CLI_COMPLETION_COMMAND,
    { 0 },
};

static const cli_program cobre = {
    .name = "cobre",
    .version = COBRE_VERSION,
    .summary = "hydrothermal dispatch by stochastic dual dynamic programming",
    .notes = cobre_exit_notes,
    .options = cobre_program_options,
    .commands = commands,
    .usage_record = COBRE_USAGE_RECORD,
    .usage_envelope = cobre_usage_envelope,
};

static const cli_program cobre_mcp = {
    .name = "cobre-mcp",
    .version = COBRE_VERSION,
    .summary = "cobre for agents: an MCP server on standard input and output, or over HTTP",
    .notes = serve_notes,
    .options = cobre_program_options,
    .commands = serve_alone,
    .usage_record = COBRE_USAGE_RECORD,
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
