/*
 * serve.c - universe as a server: a database, the service on it, and REST, streams, MCP and a page
 * on one listener, or MCP alone on standard input and output.
 */
#include "serve/serve.h"

#include <string.h>

#include "features/resources.h"
#include "features/tools.h"
#include "gateway/app.h"
#include "local/local.h"
#include "mcp/clock.h"
#include "notifications.h"
#include "rest/rest.h"
#include "shell/line.h"
#include "shell/open.h"

/* Of states that are written and read; a command that waits for its commit holds none. */
#define WORKERS 64
#define GRACE_MS 6000 /* the rest of ten seconds is for the last commits */
#define CALL_ARENA ((size_t)1 << 30)
#define REPLY_MAX ((size_t)1400 << 20) /* a state of 1 GiB, as text within JSON */

struct running {
    universe_app app;
    db *database;
    universe_notifications *notifications;
};

static void fill_app(universe_app *app, const serve_setup *setup)
{
    const cli_line *line = setup->line;
    app->log = setup->log;
    app->soft_rejections = cli_flag(line, "soft-rejections");
    app->lists_summaries = strcmp(cli_string(line, "list-view"), "summary") == 0;
    app->max_state_bytes = (size_t)cli_int(line, "max-state-bytes", UNIVERSE_MAX_STATE);
    app->inline_state_bytes = (size_t)cli_int(line, "inline-state-bytes", UNIVERSE_INLINE_STATE);
    app->list_bytes = UNIVERSE_LIST_BYTES;
    app->started_ms = mcp_clock_mono_ms();
}

static void fill_limits(serve_setup *setup)
{
    size_t body_max = (size_t)cli_int(setup->line, "max-body-bytes", 0);
    setup->options.limits.message_max_bytes = body_max;
    setup->http.limits.body_max_bytes = body_max;
    setup->http.limits.sessions_max = (int)cli_int(setup->line, "sessions-max", 0);
    setup->http.limits.session_idle_ms = cli_int(setup->line, "session-idle-ms", 0);
}

/* Hosts start servers in "/", so a server over stdio has no database in the current folder. */
static mcp_status choose_database(universe_opening *how, const serve_setup *setup, mcp_error *err)
{
    bool is_stdio = strcmp(cli_string(setup->line, "transport"), "stdio") == 0;
    mcp_status st = universe_database_url(&how->url, setup->line, err);
    if (st != MCP_OK || how->url || !is_stdio)
        return st;
    st = local_database(&how->url, "universe.db", setup->arena, err);
    if (st == MCP_OK)
        mcp_log_write(&how->database_log, MCP_LOG_INFO, "the database is %s; --db names another",
                      how->url);
    return st;
}

static mcp_status open_all(serve_setup *setup, void *data, mcp_error *err)
{
    struct running *self = data;
    universe_opening how = { .read_only = cli_flag(setup->line, "read-only"),
                             .database_log = serve_log_of(setup->log, UNIVERSE_LOG_DATABASE),
                             .service_log = serve_log_of(setup->log, UNIVERSE_LOG_SERVICE) };
    fill_app(&self->app, setup);
    fill_limits(setup);
    setup->options.allow_write = !how.read_only;
    setup->options.data = setup->features.data = setup->http.routes_data = &self->app;
    setup->http.metrics_data = &self->app;
    mcp_status st = universe_rules_read(&how.rules, setup->line, err);
    self->app.rules = how.rules;
    if (st == MCP_OK && cli_flag(setup->line, "strict-schema"))
        st = universe_files_strict_arguments(&setup->features.files, setup->arena, err);
    if (st == MCP_OK)
        st = choose_database(&how, setup, err);
    return st == MCP_OK ? universe_open(&self->database, &self->app.service, setup->line, &how, err)
                        : st;
}

static mcp_status start(mcp_server *server, const serve_setup *setup, void *data, mcp_error *err)
{
    struct running *self = data;
    return universe_notifications_start(&self->notifications, server, self->app.service,
                                        &setup->options.log, err);
}

static void stop(void *data)
{
    universe_notifications_stop(((struct running *)data)->notifications);
}

static void close_all(void *data)
{
    struct running *self = data;
    universe_service_close(self->app.service);
    db_close(self->database);
}

static const char *const token_variables[] = { "AUTH_TOKEN", "AUTH_TOKENS", NULL };

static const serve_server server = {
    .options = { .name = "universe",
                 .version = UNIVERSE_VERSION,
                 .title = "Universe",
                 .description = "A live star-system simulation that agents and viewers share",
                 .instructions =
                     "Read a universe with get_universe_state (summary first), learn the commands "
                     "with list_universe_commands, change it with send_universe_command. Every "
                     "change is stored and seen by all viewers. Which universes there are the user "
                     "knows, GET /universes, or the completion of {id} in universe://{id}/state. "
                     "docs://universe/system-overview tells more.",
                 .subscriptions = true,
                 .write_note = "The server is read only.",
                 .error_formatter = universe_refuse_call,
                 .limits = { .reply_max_bytes = REPLY_MAX,
                             .arena_max_bytes = CALL_ARENA,
                             .short_threads = WORKERS,
                             .grace_ms = GRACE_MS } },
    .features = { .files = universe_files,
                  .tools = universe_tools,
                  .resources = universe_resources,
                  .completions = universe_completions },
    .http = { .routes = universe_routes,
              .problem = universe_rest_problem,
              .write_metrics = universe_rest_metrics },
    .open = open_all,
    .start = start,
    .stop = stop,
    .close = close_all,
    .page = "/",
    .default_scopes = UNIVERSE_SCOPES,
    .token_variables = token_variables,
    .log_parts = universe_log_parts,
};

int universe_line_serve(const cli_line *line, void *data)
{
    struct running self = { .notifications = NULL };
    (void)data;
    return serve_run(&server, line, &self);
}
