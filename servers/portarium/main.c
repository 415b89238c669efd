/*
 * main.c - the program portarium: its table of commands.
 */
#include "about/doctor.h"
#include "about/version.h"
#include "commands/plane_commands.h"
#include "config/command_line.h"
#include "host/host.h"
#include "serve/serve.h"
#include "shell/line.h"

static const char *const transports[] = { "stdio", "http", "ws", NULL };
static const char *const arg_errors[] = { "auto", "-32603", "-32602", "result", NULL };
static const char *const environments[] = { "dev", "test", "staging", "prod", NULL };
static const char *const token_types[] = { "at+JWT", "JWT", NULL };

/* clang-format off */
/* What executors use of this host (executors/host.h). */
static const config_key host_keys[] = {
    { .name = "exec.*.command", .type = CONFIG_STRINGS },
    { .name = "exec.*.environment", .type = CONFIG_STRINGS },
    { .name = "exec.*.directory", .type = CONFIG_STRING },
    { .name = "exec.*.readable", .type = CONFIG_STRINGS },
    { .name = "exec.*.writable", .type = CONFIG_STRINGS },
    { .name = "exec.*.network", .type = CONFIG_BOOL },
    { .name = "exec.*.memory_mb", .type = CONFIG_INT, .max = 1 << 20 },
    { .name = "mcp.*.command", .type = CONFIG_STRINGS },
    { .name = "mcp.*.url", .type = CONFIG_STRING },
    { .name = "mcp.*.credential", .type = CONFIG_STRING },
    { .name = "mcp.*.environment", .type = CONFIG_STRINGS },
    { .name = "mcp.*.directory", .type = CONFIG_STRING },
    { .name = "mcp.*.readable", .type = CONFIG_STRINGS },
    { .name = "mcp.*.writable", .type = CONFIG_STRINGS },
    { .name = "mcp.*.network", .type = CONFIG_BOOL },
    { .name = "mcp.*.memory_mb", .type = CONFIG_INT, .max = 1 << 20 },
    { .name = "credentials.*.command", .type = CONFIG_STRINGS },
    { .name = "credentials.*.environment", .type = CONFIG_STRINGS },
    { .name = "credentials.*.directory", .type = CONFIG_STRING },
    { .name = "credentials.*.readable", .type = CONFIG_STRINGS },
    { .name = "credentials.*.writable", .type = CONFIG_STRINGS },
    { .name = "credentials.*.network", .type = CONFIG_BOOL },
    { .name = "credentials.*.memory_mb", .type = CONFIG_INT, .max = 1 << 20 },
    { .name = "credentials.*.file", .type = CONFIG_STRING },
    { .name = "credentials.*.workspaces", .type = CONFIG_STRINGS },
    { 0 },
};

static const config_file file = CONFIG_FILE(host_keys, CONFIG_PRIVATE);

#define TRANSPORT_OPTION(standard_)                                                                \
    { .name = "transport", .type = CLI_CHOICE, .argument = "KIND", .standard = standard_,          \
      .help = "how clients connect; http and ws listen on one port", .choices = transports }
#define PLANE_OPTIONS                                                                              \
    { .name = "config", .type = CLI_STRING, .argument = "FILE", .env = "PORTARIUM_CONFIG",         \
      .help = "settings; commands, MCP servers and credentials of this host, in TOML" },           \
    { .name = "environment", .key = "environment", .type = CLI_CHOICE, .argument = "NAME",         \
      .env = "PORTARIUM_ENVIRONMENT", .choices = environments,                                     \
      .help = "what the plane is for; ENABLE_DEV_AUTH requires dev or test" },                     \
    PORTARIUM_EVIDENCE_KEY_OPTION,                                                                 \
    { .name = "key-file", .type = CLI_STRING, .argument = "FILE", .env = "PORTARIUM_KEY_FILE",     \
      .help = "32 bytes that seal secret parameters of runs; made when it is absent" },            \
    PORTARIUM_WORKSPACE_OPTION
#define MCP_OPTIONS                                                                                \
    PLANE_OPTIONS,                                                                                 \
    { .name = "allowed-tools", .key = "tools.allowed", .type = CLI_STRING, .argument = "A,B",      \
      .help = "the only tools that are listed and callable; \"\": none" },                         \
    { .name = "arg-error", .key = "tools.arg_error", .type = CLI_CHOICE, .argument = "FORM",       \
      .standard = "auto", .choices = arg_errors,                                                   \
      .help = "the form of errors in arguments; auto: by the client's revision" },                 \
    { .name = "jwt-authorized-party", .key = "jwt.authorized_party", .type = CLI_STRING,           \
      .argument = "ID", .env = "PORTARIUM_JWT_AUTHORIZED_PARTY",                                   \
      .help = "what the claim azp of JWTs must be" },                                              \
    { .name = "jwt-token-type", .key = "jwt.required_token_type", .type = CLI_CHOICE,              \
      .argument = "TYPE", .env = "PORTARIUM_JWT_REQUIRED_TOKEN_TYPE", .choices = token_types,      \
      .help = "what the header typ of JWTs must be" },                                             \
    { .name = "compat-cancel", .key = "rbac.compat_cancel", .type = CLI_FLAG,                      \
      .help = "every role may cancel any run, as in the reference" },                              \
    { .name = "compat-400", .key = "rest.compat_400", .type = CLI_FLAG,                            \
      .help = "400 in place of 422 for machines, agents, policies and human tasks" },              \
    { .name = "compat-rate", .key = "rest.compat_rate", .type = CLI_FLAG,                          \
      .help = "the reference's limit: 600 requests a minute and workspace, burst 50" },            \
    { .name = "checkpoints", .type = CLI_STRING, .argument = "FILE",                               \
      .env = "PORTARIUM_CHECKPOINTS",                                                              \
      .help = "append each checkpoint of the evidence; needs --evidence-key" },                    \
    { .name = "audit-reads", .key = "audit_reads", .type = CLI_FLAG,                               \
      .help = "who reads evidence is in the evidence" },                                           \
    { .name = "assisted-grace-ms", .key = "assisted_grace_ms", .type = CLI_INT, .argument = "N",   \
      .standard = "0", .max = 3600000,                                                             \
      .help = "an Assisted action waits so long after its event, so that a person can pause" },    \
    { .name = "read-only", .type = CLI_FLAG, .help = "refuse every change, and run nothing" },     \
    { .name = "webhook-host", .type = CLI_STRING, .argument = "HOST", .many = true,                \
      .help = "webhooks may be at HOST, or *.HOST; may be repeated (default: nowhere)" }
#define BARE_OPTIONS(port_, level_)                                                                \
    SERVE_OPTIONS_BARE(port_, level_, "PORTARIUM_BIND", "PORTARIUM_HTTP_PORT",                     \
                       "PORTARIUM_CORS_ALLOWED_ORIGINS", "PORTARIUM_LOG_LEVEL",                    \
                       "PORTARIUM_LOG_FILE", "PORTARIUM_JWT_ISSUER", "PORTARIUM_JWKS_URI",         \
                       "PORTARIUM_JWT_AUDIENCE")

static const cli_option serve_options[] = {
    TRANSPORT_OPTION("http"),
    BARE_OPTIONS("8080", "info"),
    PORTARIUM_DATABASE_OPTION,
    MCP_OPTIONS,
    { 0 },
};

#define REMOTE_OPTIONS                                                                             \
    { .name = "base-url", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_BASE_URL",      \
      .help = "the control plane to call, with PORTARIUM_TOKEN; without it one of this process" }, \
    { .name = "db", .type = CLI_STRING, .argument = "URL", .env = "PORTARIUM_DATABASE_URL",        \
      .help = "its database (default over stdio: portarium.db of the user's state)" }

static const cli_option mcp_options[] = {
    TRANSPORT_OPTION("stdio"),
    BARE_OPTIONS("8080", "warning"),
    REMOTE_OPTIONS,
    MCP_OPTIONS,
    { 0 },
};

static const cli_option gate_options[] = {
    TRANSPORT_OPTION("stdio"),
    BARE_OPTIONS("8080", "warning"),
    REMOTE_OPTIONS,
    PLANE_OPTIONS,
    { .name = "upstream", .type = CLI_STRING, .argument = "NAME", .many = true,
      .help = "an MCP server of the file of --config ([mcp.NAME]); may be repeated" },
    { .name = "agent", .type = CLI_STRING, .argument = "ID", .env = "PORTARIUM_AGENT_ID",
      .help = "the agent whose actions the calls are (default: that of PORTARIUM_TOKEN)" },
    { .name = "wait", .type = CLI_INT, .argument = "SECONDS", .standard = "50", .max = 3600,
      .help = "how long a call waits for a person's decision" },
    { .name = "call-timeout", .type = CLI_INT, .argument = "SECONDS", .standard = "60", .min = 1,
      .max = 3600, .help = "how long an upstream may take for a call" },
    { 0 },
};

static const cli_option apply_options[] = { PORTARIUM_DATABASE_OPTION, PORTARIUM_JSON_OPTION,
                                            { 0 } };

static const cli_option demo_options[] = {
    { .name = "port", .type = CLI_INT, .argument = "N", .standard = "8080", .min = 1, .max = 65535,
      .help = "the port of the cockpit" },
    { .name = "db", .type = CLI_STRING, .argument = "URL",
      .help = "a database without the workspace demo (default: a new file)" },
    PORTARIUM_JSON_OPTION,
    { 0 },
};

static const cli_option token_create_options[] = {
    PORTARIUM_DATABASE_OPTION,
    PORTARIUM_ONLY_WORKSPACE_OPTION,
    { .name = "subject", .type = CLI_STRING, .argument = "ID", .help = "whose token it is; required",
      .required = true },
    { .name = "roles", .type = CLI_STRING, .argument = "A,B", .standard = "operator",
      .help = "admin, operator, approver, auditor" },
    { .name = "agent", .type = CLI_STRING, .argument = "ID", .help = "the token is this agent's" },
    { .name = "machine", .type = CLI_STRING, .argument = "ID", .help = "only on this machine" },
    { .name = "owner", .type = CLI_STRING, .argument = "USER",
      .help = "who is responsible for the agent" },
    { .name = "tier", .type = CLI_STRING, .argument = "TIER",
      .help = "execution tier for the exposure of tools" },
    { .name = "expires-days", .type = CLI_INT, .argument = "N", .min = 1, .max = 3650,
      .help = "the token is valid so long (default: until it is revoked)" },
    PORTARIUM_JSON_OPTION,
    { 0 },
};

static const cli_option token_options[] = { PORTARIUM_DATABASE_OPTION, PORTARIUM_ONLY_WORKSPACE_OPTION,
                                            PORTARIUM_JSON_OPTION, { 0 } };

static const cli_option verify_options[] = {
    PORTARIUM_DATABASE_OPTION,
    PORTARIUM_ONLY_WORKSPACE_OPTION,
    { .name = "key", .type = CLI_STRING, .argument = "FILE",
      .help = "the public key of the server that signed, in PEM" },
    { .name = "since", .type = CLI_STRING, .argument = "FILE",
      .help = "an older checkpoint, with which the workspace must be consistent; needs --key" },
    PORTARIUM_JSON_OPTION,
    { 0 },
};

static const cli_option export_options[] = {
    PORTARIUM_DATABASE_OPTION,
    PORTARIUM_ONLY_WORKSPACE_OPTION,
    PORTARIUM_EVIDENCE_KEY_OPTION,
    { .name = "run", .type = CLI_STRING, .argument = "ID", .help = "whose evidence; required",
      .required = true },
    PORTARIUM_JSON_OPTION,
    { 0 },
};

static const cli_option doctor_options[] = {
    PORTARIUM_DATABASE_OPTION, PORTARIUM_EVIDENCE_KEY_OPTION,
    { .name = "config", .type = CLI_STRING, .argument = "FILE", .env = "PORTARIUM_CONFIG",
      .help = "settings, as for serve" },
    { .name = "key-file", .type = CLI_STRING, .argument = "FILE", .env = "PORTARIUM_KEY_FILE",
      .help = "the key of secret parameters" },
    DOCTOR_OPTIONS("8080", "PORTARIUM_BIND", "PORTARIUM_HTTP_PORT"), DOCTOR_OPTION_JSON, { 0 },
};

static const cli_option key_options[] = { PORTARIUM_EVIDENCE_KEY_OPTION, PORTARIUM_JSON_OPTION,
                                          { 0 } };

#define PLANE_COMMAND(name_, summary_, options_, run_)                                             \
    { .name = name_, .summary = summary_, .options = portarium_options_##options_,                 \
      .notes = portarium_exit_notes, .run = portarium_command_##run_ }
#define PLANE_COMMAND_OF(name_, arguments_, count_, summary_, options_, run_)                      \
    { .name = name_, .arguments = arguments_, .arguments_min = count_, .arguments_max = count_,    \
      .summary = summary_, .options = portarium_options_##options_,                                \
      .notes = portarium_exit_notes, .run = portarium_command_##run_ }

static const cli_command commands[] = {
    { .name = "serve", .summary = "serve the control plane: REST, MCP, and the engine",
      .options = serve_options, .env_prefix = "PORTARIUM_", .run = portarium_line_serve },
    { .name = "mcp serve", .summary = "serve the seven tools alone", .options = mcp_options,
      .env_prefix = "PORTARIUM_", .run = portarium_line_mcp },
    { .name = "gate", .summary = "serve the tools of other MCP servers, with policies in front",
      .options = gate_options, .env_prefix = "PORTARIUM_", .run = portarium_line_gate },
    { .name = "demo", .summary = "serve a workspace with people, an agent and three workflows",
      .options = demo_options, .run = portarium_line_demo },
    { .name = "admin apply", .arguments = "FILE", .arguments_min = 1, .arguments_max = 1,
      .summary = "make workspaces, and what they have, from a JSON file",
      .options = apply_options, .run = portarium_line_apply },
    PLANE_COMMAND("runs list", "list runs, the newest first", runs, list),
    PLANE_COMMAND_OF("runs get", "RUN", 1, "show a run, its actions and what it waits for", get, get),
    PLANE_COMMAND_OF("runs start", "WORKFLOW", 1, "start a run", start, start),
    PLANE_COMMAND_OF("runs plan", "WORKFLOW", 1, "tell what a run would do, and what would be gated",
                     plan, plan),
    PLANE_COMMAND_OF("runs watch", "RUN", 1, "follow a run to its end", watch, watch),
    PLANE_COMMAND_OF("runs cancel", "RUN", 1, "cancel a run", cancel, cancel),
    PLANE_COMMAND_OF("runs intervene", "RUN TYPE", 2, "pause, resume, handoff, annotate, ... a run",
                     intervene, intervene),
    PLANE_COMMAND_OF("runs resolve", "RUN ACTION", 2, "say how an unknown outcome ended", resolve,
                     resolve),
    PLANE_COMMAND("approvals list", "list approvals, the newest first", approvals, list),
    PLANE_COMMAND_OF("approvals get", "APPROVAL", 1, "show what will be done, by whom, why gated",
                     get, get),
    PLANE_COMMAND_OF("approvals approve", "APPROVAL", 1, "approve what is shown", decide, decide),
    PLANE_COMMAND_OF("approvals deny", "APPROVAL", 1, "deny it", decide, decide),
    PLANE_COMMAND_OF("approvals request-changes", "APPROVAL", 1, "ask for changes first", decide,
                     decide),
    PLANE_COMMAND_OF("approvals resubmit", "APPROVAL", 1, "ask again after the changes", resubmit,
                     resubmit),
    PLANE_COMMAND("work-items list", "list work items, the newest first", work_items, list),
    PLANE_COMMAND_OF("work-items get", "ITEM", 1, "show a work item", get, get),
    PLANE_COMMAND_OF("work-items update", "ITEM", 1, "change a work item", update_work_item,
                     update_work_item),
    PLANE_COMMAND("human-tasks list", "list what people are to do", human_tasks, list),
    PLANE_COMMAND_OF("human-tasks get", "TASK", 1, "show a human task", get, get),
    PLANE_COMMAND_OF("human-tasks complete", "TASK", 1, "say that it is done", complete_task,
                     complete_task),
    PLANE_COMMAND("agents list", "list agents", agents, list),
    PLANE_COMMAND_OF("agents get", "AGENT", 1, "show an agent", get, get),
    PLANE_COMMAND("machines list", "list machines", machines, list),
    PLANE_COMMAND_OF("machines get", "MACHINE", 1, "show a machine", get, get),
    PLANE_COMMAND("workflows list", "list workflows", workflows, list),
    PLANE_COMMAND_OF("workflows get", "WORKFLOW", 1, "show a workflow", get, get),
    PLANE_COMMAND_OF("workflows apply", "FILE", 1, "store a workflow, or its next version", get,
                     apply),
    PLANE_COMMAND_OF("workflows archive", "WORKFLOW", 1, "let no run of it start any more", get,
                     archive),
    PLANE_COMMAND("policies list", "list policies", policies, list),
    PLANE_COMMAND_OF("policies get", "POLICY", 1, "show a policy", get, get),
    PLANE_COMMAND_OF("policies apply", "FILE", 1, "store a policy, or its next version", get, apply),
    PLANE_COMMAND_OF("policies simulate", "FILE", 1, "tell which judgements a policy would change",
                     simulate, simulate),
    PLANE_COMMAND("credentials list", "list the credentials that a workspace stores", get, list),
    PLANE_COMMAND_OF("credentials put", "NAME", 1, "store a credential: a line of standard input",
                     put_credential, put_credential),
    PLANE_COMMAND_OF("credentials delete", "NAME", 1, "delete a credential", get,
                     delete_credential),
    PLANE_COMMAND("events tail", "print events as they come", tail, tail),
    PLANE_COMMAND("workspaces list", "list workspaces", workspaces, list),
    PLANE_COMMAND("admin status", "show the figures of a workspace and its database", get, status),
    PLANE_COMMAND("admin freeze", "dispatch nothing more in a workspace", rationale, freeze),
    PLANE_COMMAND("admin unfreeze", "dispatch again", rationale, freeze),
    PLANE_COMMAND_OF("admin backup", "FILE", 1, "copy the SQLite database, also while it is served",
                     backup, backup),
    { .name = "tokens create", .summary = "make an API token, and print it once",
      .options = token_create_options, .run = portarium_line_token_create },
    { .name = "tokens list", .summary = "list the API tokens of a workspace",
      .options = token_options, .run = portarium_line_token_list },
    { .name = "tokens revoke", .arguments = "ID", .arguments_min = 1, .arguments_max = 1,
      .summary = "revoke an API token", .options = token_options,
      .run = portarium_line_token_revoke },
    { .name = "evidence verify", .arguments = "[FILE]", .arguments_max = 1,
      .summary = "verify a bundle, a file of entries, or the evidence of a workspace",
      .options = verify_options, .run = portarium_line_evidence_verify },
    { .name = "evidence export", .summary = "print the bundle of a run's evidence",
      .options = export_options, .run = portarium_line_evidence_export },
    { .name = "evidence key", .summary = "print the public key of the checkpoints",
      .options = key_options, .run = portarium_line_evidence_key },
    ABOUT_VERSION_COMMAND(portarium_line_version),
    { .name = "doctor", .summary = "check what this machine has for it", .options = doctor_options,
      .run = portarium_line_doctor },
    HOST_COMMAND(portarium_line_host),
    CLI_COMPLETION_COMMAND,
    { 0 },
};
/* clang-format on */

static const cli_program program = {
    .name = "portarium",
    .version = CAUSEWAY_VERSION,
    .summary = "a control plane for agents: runs, work items, approvals, agents, evidence",
    .commands = commands,
    .file = &file.face,
    .usage_record = "{\"error\":\"the command line is invalid\",\"status\":\"E_PARAMS\"}",
};

int main(int argc, char **argv)
{
    /* A batch of changes: with fresh pages for each, a fifth of the time of a decision. */
    serve_keep_memory();
    return serve_main(&program, argc, argv);
}
