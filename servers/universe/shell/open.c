/*
 * open.c - opening and closing for the commands: which database, which limits.
 */
#include "shell/open.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gateway/app.h"
#include "mcp/buf.h"
#include "serve/serve.h"

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool is_postgres(const char *url)
{
    return begins(url, "postgres://") || begins(url, "postgresql://");
}

static mcp_status url_of_provider(const char **out, const char *provider, const char *url,
                                  mcp_error *err)
{
    if (strcmp(provider, "memory") == 0 || strcmp(provider, "noop") == 0) {
        *out = "memory";
        return MCP_OK;
    }
    if (strcmp(provider, "sqlite") == 0) {
        *out = url && begins(url, "sqlite:") ? url : NULL;
        return MCP_OK;
    }
    if (strcmp(provider, "postgres") != 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "DB_PROVIDER is sqlite, postgres, memory or noop, not \"%.64s\"",
                             provider);
    if (!url || !is_postgres(url))
        return mcp_error_set(err, MCP_E_PARAMS,
                             "DB_PROVIDER=postgres needs DATABASE_URL=postgres://...");
    *out = url;
    return MCP_OK;
}

mcp_status universe_database_url(const char **out, const cli_line *line, mcp_error *err)
{
    const char *given = cli_string(line, "db");
    const char *provider = variable("DB_PROVIDER"), *url = variable("DATABASE_URL");

    if (!given && provider)
        return url_of_provider(out, provider, url, err);
    *out = given ? given : url;
    return MCP_OK;
}

mcp_status universe_rules_read(universe_rules *out, const cli_line *line, mcp_error *err)
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

mcp_status universe_open(db **database, universe_service **service, const cli_line *line,
                         const universe_opening *how, mcp_error *err)
{
    const db_options how_db = { .read_only = how->read_only,
                                .relaxed = cli_flag(line, "relaxed"),
                                .log = how->database_log };
    const char *url = how->url;
    mcp_status st = url ? MCP_OK : universe_database_url(&url, line, err);
    if (st == MCP_OK)
        st = db_open(database, url ? url : UNIVERSE_STANDARD_URL, &how_db, err);
    if (st != MCP_OK)
        return st;
    const universe_service_options options = {
        .db = *database,
        .files = universe_files,
        .rules = how->rules,
        .read_only = how->read_only,
        .bodies_max = cli_int(line, "bodies-max", 0),
        .snapshot_bytes = cli_int(line, "snapshot-bytes", 0),
        .snapshot_entries = cli_int(line, "snapshot-entries", 0),
        .snapshot_age_ms = cli_int(line, "snapshot-age-ms", 0),
        .log_entries_max = cli_int(line, "log-entries-max", 0),
        .log_age_ms = cli_int(line, "log-age-ms", 0),
        .log = how->service_log,
    };
    return universe_service_open(service, &options, err);
}

/* ---- commands that end --------------------------------------------------------------------- */

bool universe_is_stopped(void)
{
    return serve_signals() > 0;
}

mcp_status universe_work_begin_alone(universe_work *work)
{
    *work = (universe_work){ .err = MCP_ERROR_INIT };
    serve_count_signals(1, 0);
    work->arena = mcp_arena_new((size_t)1 << 30);
    return work->arena ? MCP_OK : mcp_error_set(&work->err, MCP_E_NOMEM, "out of memory");
}

mcp_status universe_work_begin(universe_work *work, const cli_line *line,
                               const universe_rules *rules, bool read_only)
{
    const mcp_log log = { mcp_log_stderr, NULL, MCP_LOG_WARNING };
    const universe_opening how = {
        .rules = *rules, .read_only = read_only, .database_log = log, .service_log = log
    };
    mcp_status st = universe_work_begin_alone(work);
    return st == MCP_OK ? universe_open(&work->database, &work->service, line, &how, &work->err)
                        : st;
}

int universe_work_end(universe_work *work, const cli_line *line, mcp_status st)
{
    universe_service_close(work->service);
    db_close(work->database);
    mcp_arena_free(work->arena);
    return st == MCP_OK ? SERVE_EXIT_DONE : serve_fail(line, st, &work->err);
}

mcp_status universe_work_print(const cli_line *line, mcp_buf *text, mcp_status st, mcp_error *err)
{
    if (st == MCP_OK)
        fprintf(cli_out(line), "%s\n", text->data);
    else
        mcp_error_set(err, st, "writing the answer: %s", mcp_status_words(st));
    mcp_buf_clear(text);
    return st;
}
