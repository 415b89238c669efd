/*
 * serve.c - casparian as a server: an open home, and the tools on standard input and output, or on
 * HTTP.
 */
#include "serve/serve.h"

#include <string.h>
#include <unistd.h>

#include "features/resources.h"
#include "features/tools.h"
#include "gateway/permissions.h"
#include "hooks.h"
#include "jobs/runner.h"
#include "jobs/state/peek.h"
#include "notifications.h"
#include "shell/commands.h"
#include "shell/shell.h"

#define CALLS_RUNNING 4

extern const mcp_file casparian_files[];

static const char *const transports[] = { "stdio", "http", NULL };
static const char *const profile_choices[] = { "default", "readonly", "full", NULL };

/* clang-format off */
const cli_option casparian_serve_options[] = {
    { .name = "allow-path", .letter = 'p', .type = CLI_STRING, .argument = "DIR", .many = true,
      .help = "a directory that the client may name, as DIR; may be repeated (default: the current "
              "one)" },
    { .name = "allow-broad-root", .type = CLI_FLAG,
      .help = "let such a directory be / or the whole home of the user" },
    { .name = "max-output-bytes", .type = CLI_INT, .argument = "N", .min = 1024, .max = 16777216,
      .env = "CASPARIAN_MCP_MAX_RESPONSE_BYTES",
      .help = "of an answer (default: 1048576)" },
    { .name = "max-rows", .type = CLI_INT, .argument = "N", .min = 1, .max = 1000000,
      .env = "CASPARIAN_MCP_MAX_ROWS",
      .help = "of an answer (default: 10000)" },
    { .name = "audit-log", .type = CLI_STRING, .argument = "FILE",
      .env = "CASPARIAN_AUDIT_PATH",
      .help = "the audit log (default: mcp_audit.ndjson of the home)" },
    { .name = "state-store", .type = CLI_STRING, .argument = "FILE",
      .help = "the state (default: state.sqlite of the home)" },
    { .name = "output", .type = CLI_STRING, .argument = "DIR",
      .help = "where outputs go by default (default: output of the home)" },
    { .name = "allow-dev-plugins", .type = CLI_FLAG,
      .help = "run plugins that the client names by a path" },
    { .name = "allow-tool-approval", .type = CLI_FLAG,
      .help = "let casparian_approval_decide decide without a human" },
    { .name = "finish-jobs", .type = CLI_FLAG,
      .help = "at the end of the client, finish the jobs that run" },
    { .name = "profile", .type = CLI_CHOICE, .argument = "NAME", .choices = profile_choices,
      .env = "CASPARIAN_MCP_PROFILE",
      .help = "which tools the client may call" },
    { .name = "control-addr", .type = CLI_STRING, .argument = "URL", .hidden = true },
    { .name = "standalone-db-writer", .type = CLI_FLAG, .hidden = true },
    { .name = "transport", .type = CLI_CHOICE, .argument = "KIND", .standard = "stdio",
      .help = "how clients connect", .choices = transports },
    SERVE_OPTIONS_BARE("3002", "warning", NULL, NULL, NULL, "CASPARIAN_LOG", NULL, NULL, NULL,
                       NULL),
    { 0 },
};
/* clang-format on */

struct running {
    casparian_app app;
    mcp_status opened; /* of the home */
    casparian_runner *runner;
    casparian_notifications *notifications;
};

static void write_start(mcp_json_writer *json, const void *data)
{
    const casparian_app *app = data;
    const casparian_mcp_settings *mcp = &app->config->mcp;
    mcp_write_member_string(json, "version", CAUSEWAY_VERSION);
    mcp_write_member_array(json, "roots");
    for (size_t i = 0; i < mcp->allowed_path_count; i++)
        mcp_write_string(json, mcp->allowed_paths[i]);
    mcp_write_end(json);
}

static void warn(const serve_setup *setup, const casparian_app *app)
{
    const cli_line *line = setup->line;
    if (cli_given(line, "control-addr") || cli_given(line, "standalone-db-writer"))
        mcp_log_write(&app->log, MCP_LOG_WARNING,
                      "--control-addr and --standalone-db-writer have no effect here");
    if (app->config->decide == CASPARIAN_DECIDE_ALLOW)
        mcp_log_write(&app->log, MCP_LOG_WARNING,
                      "the client may approve its own requests (casparian_approval_decide)");
}

/* A serve_sample. */
static mcp_status sample(mcp_buf *out, void *data, mcp_error *err)
{
    static const char jobs[] = "casparian_jobs";
    const struct running *self = data;
    int64_t counts[CASPARIAN_JOB_STATES] = { 0 };
    mcp_status st = casparian_peek_jobs(counts, self->app.store, err);
    if (st != MCP_OK)
        return st;
    serve_metric_begin(out, jobs, "gauge", "Jobs of the home, by their state.");
    for (size_t i = 0; i < CASPARIAN_JOB_STATES; i++)
        serve_metric_put(out, jobs, "state", casparian_job_states[i], (double)counts[i]);
    return MCP_OK;
}

static mcp_status open_all(serve_setup *setup, void *data, mcp_error *err)
{
    struct running *self = data;
    casparian_app *app = &self->app;
    *app = (casparian_app){ .tools = casparian_tools,
                            .files = casparian_files,
                            .log = setup->options.log,
                            .is_over = casparian_request_is_over };
    setup->options.data = setup->features.data = app;
    setup->options.allow_write = true; /* permissions decide */
    setup->features.tools = casparian_tool_rows(setup->arena);
    setup->features.files = casparian_files;
    if (!setup->features.tools)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the tools");
    self->opened = casparian_app_open(app, setup->line,
                                      CASPARIAN_NEEDS_HOME | CASPARIAN_NEEDS_AUDIT |
                                          CASPARIAN_NEEDS_ROOTS | CASPARIAN_NEEDS_RATES |
                                          CASPARIAN_NEEDS_STORE | CASPARIAN_NEEDS_WAITS |
                                          CASPARIAN_NEEDS_DRIVER | CASPARIAN_NEEDS_QUERY,
                                      err);
    if (self->opened == MCP_OK)
        self->opened = casparian_permissions_check(app->config, casparian_tools, err);
    if (self->opened != MCP_OK)
        return self->opened;
    warn(setup, app);
    casparian_audit_server(app->audit, "start", write_start, app);
    return MCP_OK;
}

static mcp_status start(mcp_server *served, const serve_setup *setup, void *data, mcp_error *err)
{
    struct running *self = data;
    const casparian_runner_options options = { .store = self->app.store,
                                               .driver = self->app.driver,
                                               .finishes_jobs = cli_flag(setup->line,
                                                                         "finish-jobs") };
    casparian_query_prepare(self->app.query);
    mcp_status st = casparian_notifications_new(&self->notifications, served, &self->app, err);
    return st == MCP_OK ? casparian_runner_new(&self->runner, &options, err) : st;
}

static void stop(void *data)
{
    struct running *self = data;
    casparian_runner_free(self->runner);
    casparian_notifications_free(self->notifications);
    self->runner = NULL;
    self->notifications = NULL;
}

static void close_all(void *data)
{
    struct running *self = data;
    if (self->opened == MCP_OK)
        casparian_audit_server(self->app.audit, "stop", NULL, NULL);
    casparian_app_close(&self->app);
}

static const serve_server server = {
    .options = { .name = "casparian-mcp",
                 .version = CAUSEWAY_VERSION,
                 .title = "Casparian",
                 .description = "Parser plugins turn files into typed tables; a human approves "
                                "what is written",
                 .instructions =
                     "Find files with casparian_scan and parsers with casparian_plugins. Look at "
                     "rows with casparian_preview, test a parser and a schema with "
                     "casparian_backtest_start, and ask for a run with casparian_run_request: a "
                     "person approves what writes. Values are redacted by default.",
                 .subscriptions = true,
                 .error_formatter = casparian_format_error,
                 .visible = casparian_tool_is_visible,
                 .limits = { .calls_max_running = CALLS_RUNNING, .short_threads = CALLS_RUNNING } },
    .features = { .resources = casparian_resources, .prompts = casparian_prompts },
    .open = open_all,
    .start = start,
    .stop = stop,
    .close = close_all,
    .sample = sample,
};

int casparian_command_serve(const cli_line *line, void *data)
{
    struct running self = { .opened = MCP_OK };
    (void)data;
    int exit_status = serve_run(&server, line, &self);
    bool is_environment = self.opened == MCP_E_DENIED || self.opened == MCP_E_IO ||
                          self.opened == MCP_E_UNSUPPORTED || self.opened == MCP_E_STORAGE;
    return is_environment ? CASPARIAN_EXIT_ENVIRONMENT : exit_status;
}
