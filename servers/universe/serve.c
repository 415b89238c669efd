/*
 * serve.c - the command serve: a database, the service on it, and the doors: REST, streams and MCP on one
 * listener, or MCP alone on standard input and output.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "line.h"
#include "listen/listen.h"
#include "mcp/clock.h"
#include "mcp/server.h"
#include "rest.h"
#include "tools.h"

enum {
    /* A command holds a worker until its commit is durable, and many share one commit. */
    WORKERS = 64,
    GRACE_MS = 8000,
    CALL_ARENA = 1 << 30
};

#define REPLY_MAX ((size_t)1400 << 20) /* a state of 1 GiB, as text within JSON */

static mcp_log_level log_level(const char *name)
{
    mcp_log_level level = MCP_LOG_DEBUG;
    while (level > MCP_LOG_OFF && strcmp(mcp_log_level_name(level), name) != 0)
        level--;
    return level;
}

static mcp_status read_rules(universe_rules *out, const cli_line *line, mcp_error *err)
{
    const char *text = cli_string(line, "default-dt");
    char *end = NULL;
    *out = (universe_rules){ .default_dt = strtod(text, &end) };
    out->lenient = strcmp(cli_string(line, "validation"), "lenient") == 0;
    if (end == text || *end != '\0' || !isfinite(out->default_dt) || out->default_dt == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--default-dt is a number of seconds other than 0, not \"%.64s\"",
                             text);
    return MCP_OK;
}

static mcp_status open_service(universe_app *app, db **database, const cli_line *line,
                               mcp_error *err)
{
    const mcp_log log = { mcp_log_stderr, NULL, log_level(cli_string(line, "log-level")) };
    const db_options how = { .read_only = cli_flag(line, "read-only"), .log = log };
    universe_service_options options = { .files = universe_files,
                                         .read_only = cli_flag(line, "read-only"),
                                         .bodies_max = cli_int(line, "bodies-max", 0),
                                         .log = log };

    mcp_status st = read_rules(&app->rules, line, err);
    if (st == MCP_OK)
        st = db_open(database, cli_string(line, "db"), &how, err);
    if (st != MCP_OK)
        return st;
    options.db = *database;
    options.rules = app->rules;
    return universe_service_open(&app->service, &options, err);
}

static void fill_in(universe_app *app, const cli_line *line)
{
    app->soft_rejections = cli_flag(line, "soft-rejections");
    app->lists_summaries = strcmp(cli_string(line, "list-view"), "summary") == 0;
    app->max_state_bytes = (size_t)cli_int(line, "max-state-bytes", UNIVERSE_MAX_STATE);
    app->inline_state_bytes = (size_t)cli_int(line, "inline-state-bytes", UNIVERSE_INLINE_STATE);
    app->list_bytes = UNIVERSE_LIST_BYTES;
    app->started_ms = mcp_clock_mono_ms();
}

static mcp_status serve(universe_app *app, const cli_line *line, mcp_error *err)
{
    mcp_server *server = NULL;
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    const mcp_features features = { .files = universe_files, .tools = universe_tools, .data = app };
    const listen_service service = {
        .name = "universe",
        .routes = universe_routes,
        .routes_data = app,
        .problem = universe_rest_problem,
        .body_max_bytes = (size_t)cli_int(line, "max-body-bytes", 0),
    };

    options.name = "universe";
    options.version = UNIVERSE_VERSION;
    options.title = "Universe";
    options.description = "A live star-system simulation that agents and viewers share";
    options.instructions =
        "Read a universe with get_universe_state, learn the commands with list_universe_commands, "
        "change it with send_universe_command. Every change is stored and seen by all viewers.";
    options.allow_write = !cli_flag(line, "read-only");
    options.refuse = universe_refuse_call;
    options.data = app;
    options.message_max_bytes = (size_t)cli_int(line, "max-body-bytes", 0);
    options.reply_max_bytes = REPLY_MAX;
    options.arena_max_bytes = CALL_ARENA;
    options.short_threads = WORKERS;
    options.grace_ms = GRACE_MS;
    options.log = (mcp_log){ mcp_log_stderr, NULL, log_level(cli_string(line, "log-level")) };
    mcp_status st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, err);
    if (st == MCP_OK)
        st = listen_serve(server, line, &service, err);
    mcp_server_free(server);
    return st;
}

int universe_line_serve(const cli_line *line, void *data)
{
    universe_app app = { 0 };
    db *database = NULL;
    mcp_error err = MCP_ERROR_INIT;
    const listen_service service = { .name = "universe" };
    int exit_status = UNIVERSE_EXIT_FILES;
    (void)data;

    mcp_status st = listen_check(line, &service, &err);
    if (st == MCP_OK)
        st = open_service(&app, &database, line, &err);
    if (st == MCP_OK) {
        fill_in(&app, line);
        st = serve(&app, line, &err);
        exit_status = st == MCP_OK ? UNIVERSE_EXIT_DONE : UNIVERSE_EXIT_INTERNAL;
    }
    universe_service_close(app.service);
    db_close(database);
    if (st != MCP_OK)
        fprintf(cli_err(line), "error: %s\n", err.message);
    return exit_status;
}
