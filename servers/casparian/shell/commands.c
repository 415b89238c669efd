/*
 * commands.c - the table of commands.
 */
#include "shell/commands.h"

#include "about/version.h"
#include "host/host.h"
#include "serve/serve.h"

const char casparian_exit_notes[] =
    "Exit status: 0 done; 1 it failed; 2 the command line; 3 the environment (the home, the\n"
    "state, libduckdb); 4 not found; 5 refused by a rule (a path, trust, an approval).";

/* clang-format off */
const cli_option casparian_common_options[] = {
    { .name = "home", .type = CLI_STRING, .argument = "DIR", .env = "CASPARIAN_HOME",
      .help = "the folder of the state and the settings (default: ~/.casparian_flow)" },
    { .name = "config", .type = CLI_STRING, .argument = "FILE",
      .help = "the settings (default: config.toml of the home)" },
    { .name = "json", .type = CLI_FLAG, .help = "print the result, or the error, as JSON" },
    { .name = "quiet", .letter = 'q', .type = CLI_FLAG, .help = "say nothing but errors" },
    { .name = "verbose", .letter = 'v', .type = CLI_FLAG, .help = "say more" },
    { 0 },
};

#define COMMAND(name_, summary_, options_, run_)                                                   \
    { .name = name_, .summary = summary_, .notes = casparian_exit_notes, .options = options_,      \
      .run = run_ }

#define ARGUMENTS(name_, arguments_, min_, max_, summary_, options_, run_)                         \
    { .name = name_, .arguments = arguments_, .arguments_min = min_, .arguments_max = max_,        \
      .summary = summary_, .notes = casparian_exit_notes, .options = options_, .run = run_ }

const cli_command casparian_commands[] = {
    { .name = "mcp serve", .arguments = "[DIR...]", .arguments_max = SERVE_DIRS_MAX,
      .summary = "serve the tools to an MCP client", .notes = casparian_exit_notes,
      .options = casparian_serve_options, .env_prefix = "CASPARIAN_",
      .run = casparian_command_serve },
    COMMAND("approvals list", "the requests that wait for a person", casparian_approvals_list_options,
            casparian_command_approvals_list),
    ARGUMENTS("approvals show", "ID", 1, 1, "everything that a request binds", NULL,
              casparian_command_approvals_show),
    ARGUMENTS("approvals approve", "ID", 1, 1, "approve a request", casparian_approve_options,
              casparian_command_approve),
    ARGUMENTS("approvals reject", "ID", 1, 1, "reject a request", casparian_reject_options,
              casparian_command_reject),
    COMMAND("approvals serve", "a page for them on this machine; its address has the key",
            casparian_approvals_serve_options, casparian_command_approvals_serve),
    COMMAND("mcp list", "the same as approvals list", casparian_approvals_list_options,
            casparian_command_approvals_list),
    ARGUMENTS("mcp approve", "ID", 1, 1, "the same as approvals approve", casparian_approve_options,
              casparian_command_approve),
    COMMAND("jobs list", "the latest jobs", casparian_jobs_list_options,
            casparian_command_jobs_list),
    ARGUMENTS("jobs show", "ID", 1, 1, "a job: its progress, result or error", casparian_jobs_show_options,
              casparian_command_jobs_show),
    ARGUMENTS("jobs cancel", "ID", 1, 1, "cancel a job", casparian_jobs_cancel_options,
              casparian_command_jobs_cancel),
    ARGUMENTS("jobs logs", "ID", 1, 1, "what the plugin printed", casparian_jobs_logs_options,
              casparian_command_jobs_logs),
    COMMAND("plugin list", "the parsers", casparian_plugin_list_options,
            casparian_command_plugin_list),
    ARGUMENTS("plugin show", "PLUGIN", 1, 1, "a parser: where it is, whether it may run", NULL,
              casparian_command_plugin_show),
    ARGUMENTS("plugin new", "NAME", 1, 1, "begin a parser, of the columns of a sample",
              casparian_plugin_new_options, casparian_command_plugin_new),
    ARGUMENTS("plugin import", "DIR", 1, 1, "install a parser of a folder with casparian.toml", NULL,
              casparian_command_plugin_import),
    ARGUMENTS("plugin verify", "DIR", 1, 1, "whether a folder could be imported", NULL,
              casparian_command_plugin_verify),
    ARGUMENTS("plugin remove", "PLUGIN", 1, 1, "remove an installed parser", NULL,
              casparian_command_plugin_remove),
    ARGUMENTS("plugin sign", "DIR", 1, 1, "sign the files of a parser", casparian_plugin_sign_options,
              casparian_command_plugin_sign),
    ARGUMENTS("plugin keygen", "FILE", 1, 1, "make a key that signs parsers", NULL,
              casparian_command_plugin_keygen),
    COMMAND("parser ls", "the same as plugin list", casparian_plugin_list_options,
            casparian_command_plugin_list),
    ARGUMENTS("parser show", "PLUGIN", 1, 1, "the same as plugin show", NULL,
              casparian_command_plugin_show),
    ARGUMENTS("parser test", "FILE", 1, 1, "the same as preview", casparian_preview_options,
              casparian_command_preview),
    ARGUMENTS("schema", "PLUGIN", 1, 1, "the schemas that a parser declares",
              casparian_schema_options, casparian_command_schema),
    ARGUMENTS("schema propose", "FILE", 1, 1, "keep schemas for a week, for backtests",
              NULL, casparian_command_schema_propose),
    ARGUMENTS("schema promote", "[ID]", 0, 1, "write schemas as code",
              casparian_schema_promote_options, casparian_command_schema_promote),
    ARGUMENTS("schema diff", "A B", 2, 2, "what has changed; 1 where readers of A break",
              NULL, casparian_command_schema_diff),
    ARGUMENTS("scan", "PATH", 1, 1, "the files of a directory", casparian_scan_flags,
              casparian_command_scan),
    COMMAND("source list", "registered directories", NULL, casparian_command_source_list),
    ARGUMENTS("source add", "PATH", 1, 1, "register a directory", casparian_source_add_options,
              casparian_command_source_add),
    ARGUMENTS("source show", "NAME", 1, 1, "a source and its rules", NULL,
              casparian_command_source_show),
    ARGUMENTS("source remove", "NAME", 1, 1, "forget a source", NULL,
              casparian_command_source_remove),
    ARGUMENTS("source sync", "NAME", 1, 1, "find the files of a source", NULL,
              casparian_command_source_sync),
    COMMAND("rule list", "the rules that tag files", NULL, casparian_command_rule_list),
    ARGUMENTS("rule add", "PATTERN", 1, 1, "tag the files that match",
              casparian_rule_add_options, casparian_command_rule_add),
    ARGUMENTS("rule remove", "ID", 1, 1, "forget a rule", NULL, casparian_command_rule_remove),
    ARGUMENTS("tag", "FILE TAG", 2, 2, "tag a registered file", NULL, casparian_command_tag),
    ARGUMENTS("untag", "FILE TAG", 2, 2, "take a tag away", NULL, casparian_command_tag),
    COMMAND("files", "registered files", casparian_files_options, casparian_command_files),
    COMMAND("doctor", "what this machine has", casparian_doctor_options, casparian_command_doctor),
    COMMAND("config", "every setting and where it comes from", NULL, casparian_command_config),
    COMMAND("audit verify", "whether the audit log is whole", NULL,
            casparian_command_audit_verify),
    COMMAND("audit tail", "the last lines of the audit log", casparian_audit_tail_options,
            casparian_command_audit_tail),
    COMMAND("worker", "run queued jobs", casparian_worker_options,
            casparian_command_worker),
    ARGUMENTS("preview", "FILE", 1, 1, "the first rows of a file", casparian_preview_options,
              casparian_command_preview),
    ARGUMENTS("backtest", "PLUGIN INPUT", 2, 2, "parse and validate files, write nothing", casparian_backtest_options,
              casparian_command_backtest),
    ARGUMENTS("ai backtest", "PLUGIN INPUT", 2, 2, "the same as backtest", casparian_backtest_options,
              casparian_command_backtest),
    ARGUMENTS("ai promote-schema", "[ID]", 0, 1, "the same as schema promote",
              casparian_schema_promote_options, casparian_command_schema_promote),
    ARGUMENTS("run", "PLUGIN INPUT", 2, 2, "parse, validate and write tables", casparian_run_options,
              casparian_command_run),
    ARGUMENTS("query", "[SQL]", 0, 1, "read-only SQL over the outputs", casparian_query_options,
              casparian_command_query),
    COMMAND("quarantine", "what was invalid", casparian_quarantine_options,
            casparian_command_quarantine),
    ARGUMENTS("verify", "DIR", 1, 1, "whether outputs are what their manifests say", casparian_verify_options,
              casparian_command_verify),
    ARGUMENTS("lineage", "OUTPUT", 1, 1, "where a row comes from", casparian_lineage_options,
              casparian_command_lineage),
    { .name = "version", .summary = "show the version, the build and the libraries",
      .run = casparian_command_version },
    HOST_COMMAND(casparian_command_host),
    CLI_COMPLETION_COMMAND,
    { 0 },
};
/* clang-format on */
