/*
 * serve.c - the command serve: a database, the service on it, and the doors: REST, streams and MCP on one
 * listener, or MCP alone on standard input and output.
 */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "listen/listen.h"
#include "mcp/clock.h"
#include "mcp/server.h"
#include "news.h"
#include "open.h"
#include "resources.h"
#include "rest/rest.h"
#include "shell/line.h"
#include "tools.h"

enum {
    /* A command holds a worker until its commit is durable, and many share one commit. */
    WORKERS = 64,
    GRACE_MS = 6000, /* what is left of ten seconds is for the last commits */
    CALL_ARENA = 1 << 30
};

#define REPLY_MAX ((size_t)1400 << 20) /* a state of 1 GiB, as text within JSON */

/* What they have are tokens in clear. */
static const char *const token_variables[] = { "AUTH_TOKEN", "AUTH_TOKENS", NULL };

/* All that is there while the server serves. */
struct running {
    universe_app app;
    universe_logger logger;
    db *database;
};

static mcp_status read_rules(universe_rules *out, const cli_line *line, mcp_error *err)
{
    const char *text = cli_string(line, "default-dt");
    char *end = NULL;
    *out = (universe_rules){ .default_dt = strtod(text, &end) };
    out->refuse_negative_dt = cli_flag(line, "no-negative-dt");
    out->lenient = strcmp(cli_string(line, "validation"), "lenient") == 0;
    if (end == text || *end != '\0' || !isfinite(out->default_dt) || out->default_dt == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "--default-dt is a number of seconds other than 0, not \"%.64s\"",
                             text);
    return MCP_OK;
}

static mcp_status open_database(struct running *self, const cli_line *line, mcp_error *err)
{
    const db_options how = { .read_only = cli_flag(line, "read-only"),
                             .relaxed = cli_flag(line, "relaxed"),
                             .log = universe_log_of(&self->logger, UNIVERSE_LOG_DATABASE) };
    const char *url = NULL;
    mcp_status st = universe_database_url(&url, line, err);
    return st == MCP_OK ? db_open(&self->database, url, &how, err) : st;
}

static mcp_status open_service(struct running *self, const cli_line *line, mcp_error *err)
{
    universe_service_options options = {
        .files = universe_files,
        .read_only = cli_flag(line, "read-only"),
        .bodies_max = cli_int(line, "bodies-max", 0),
        .snapshot_bytes = cli_int(line, "snapshot-bytes", 0),
        .snapshot_entries = cli_int(line, "snapshot-entries", 0),
        .snapshot_age_ms = cli_int(line, "snapshot-age-ms", 0),
        .log_entries_max = cli_int(line, "log-entries-max", 0),
        .log_age_ms = cli_int(line, "log-age-ms", 0),
        .log = universe_log_of(&self->logger, UNIVERSE_LOG_SERVICE),
    };
    mcp_status st = read_rules(&self->app.rules, line, err);
    if (st == MCP_OK)
        st = open_database(self, line, err);
    if (st != MCP_OK)
        return st;
    options.db = self->database;
    options.rules = self->app.rules;
    return universe_service_open(&self->app.service, &options, err);
}

static void fill_in(struct running *self, const cli_line *line)
{
    universe_app *app = &self->app;
    app->log = &self->logger;
    app->soft_rejections = cli_flag(line, "soft-rejections");
    app->lists_summaries = strcmp(cli_string(line, "list-view"), "summary") == 0;
    app->max_state_bytes = (size_t)cli_int(line, "max-state-bytes", UNIVERSE_MAX_STATE);
    app->inline_state_bytes = (size_t)cli_int(line, "inline-state-bytes", UNIVERSE_INLINE_STATE);
    app->list_bytes = UNIVERSE_LIST_BYTES;
    app->started_ms = mcp_clock_mono_ms();
}

static void fill_options(mcp_server_options *options, struct running *self, const cli_line *line)
{
    options->name = "universe";
    options->version = UNIVERSE_VERSION;
    options->title = "Universe";
    options->description = "A live star-system simulation that agents and viewers share";
    options->instructions =
        "Read a universe with get_universe_state (summary first), learn the commands with "
        "list_universe_commands, change it with send_universe_command. Every change is stored and "
        "seen by all viewers. Which universes there are the user knows, GET /universes, or the "
        "completion of {id} in universe://{id}/state. docs://universe/system-overview tells more.";
    options->subscriptions = true;
    options->allow_write = !cli_flag(line, "read-only");
    options->write_note = "The server is read only.";
    options->refuse = universe_refuse_call;
    options->data = &self->app;
    options->message_max_bytes = (size_t)cli_int(line, "max-body-bytes", 0);
    options->reply_max_bytes = REPLY_MAX;
    options->arena_max_bytes = CALL_ARENA;
    options->short_threads = WORKERS;
    options->grace_ms = GRACE_MS;
    options->log = universe_log_of(&self->logger, UNIVERSE_LOG_MCP);
}

/* The program's files, or those with the strict schema of the commands. */
static mcp_status pick_files(const mcp_file **out, mcp_arena **arena, const cli_line *line,
                             mcp_error *err)
{
    *out = universe_files;
    if (!cli_flag(line, "strict-schema"))
        return MCP_OK;
    *arena = mcp_arena_new((size_t)16 << 20);
    if (!*arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a schema");
    return universe_files_strict(out, *arena, err);
}

static mcp_status serve(struct running *self, const cli_line *line, mcp_error *err)
{
    mcp_server *server = NULL;
    universe_news *news = NULL;
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_arena *arena = NULL;
    mcp_features features = { .tools = universe_tools,
                              .resources = universe_resources,
                              .completions = universe_completions,
                              .data = &self->app };
    const listen_service service = {
        .name = "universe",
        .routes = universe_routes,
        .routes_data = &self->app,
        .problem = universe_rest_problem,
        .body_max_bytes = (size_t)cli_int(line, "max-body-bytes", 0),
        .sessions_max = (int)cli_int(line, "sessions-max", 0),
        .session_idle_ms = cli_int(line, "session-idle-ms", 0),
        .page = "/",
        .token_variables = token_variables,
    };

    fill_options(&options, self, line);
    mcp_status st = pick_files(&features.files, &arena, line, err);
    if (st == MCP_OK)
        st = mcp_server_new(&server, &options, err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, err);
    if (st == MCP_OK)
        st = universe_news_start(&news, server, self->app.service, &options.log, err);
    if (st == MCP_OK)
        st = listen_serve(server, line, &service, err);
    universe_news_stop(news);
    mcp_server_free(server);
    mcp_arena_free(arena);
    return st;
}

int universe_line_serve(const cli_line *line, void *data)
{
    struct running self = { .logger = { .file = -1 } };
    mcp_error err = MCP_ERROR_INIT;
    const listen_service service = { .name = "universe", .token_variables = token_variables };
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    (void)data;

    /* Nobody reading the log any more is no reason to end. */
    sigaction(SIGPIPE, &ignore, NULL);
    mcp_status st = listen_check(line, &service, &err);
    if (st == MCP_OK)
        st = universe_logger_open(&self.logger, cli_string(line, "log-level"),
                                  cli_string(line, "log-file"), &err);
    if (st == MCP_OK)
        st = open_service(&self, line, &err);
    if (st == MCP_OK) {
        fill_in(&self, line);
        st = serve(&self, line, &err);
    }
    universe_service_close(self.app.service);
    db_close(self.database);
    universe_logger_close(&self.logger);
    if (st == MCP_OK)
        return UNIVERSE_EXIT_DONE;
    fprintf(cli_err(line), "error: %s\n", err.message);
    int exit_status = universe_exit_of(st);
    return exit_status == UNIVERSE_EXIT_INVALID ? UNIVERSE_EXIT_FILES : exit_status;
}
