/*
 * instance.c - see instance.h.
 *
 * The order of the settings matters. What limits the engine comes first, then the views, whose
 * files are read while they are made; then the files that it may still open are named one by one,
 * everything else outside is closed, and the configuration is locked. After that no statement can
 * undo any of it.
 */
#include "columns/sealed/instance.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "columns/quote.h"
#include "mcp/buf.h"
#include "mcp/clock.h"

#define SQL_MAX ((size_t)4 << 20)
#define LOCKED "set lock on file" /* in the engine's words */
#define LOCK_PAUSE_MS 20

static const char *const settings[][2] = {
    { "threads", "1" },
    { "memory_limit", "512MB" },
    { "enable_external_file_cache", "false" },
    { "autoinstall_known_extensions", "false" },
    { "autoload_known_extensions", "false" },
};

mcp_status instance_open(struct engine *engine, mcp_error *err)
{
    duckdb_config config = NULL;
    char *words = NULL;
    mcp_status st = engine_load(engine, err);

    if (st != MCP_OK)
        return st;
    const struct engine_api *api = engine->api;
    if (api->create_config(&config) != DuckDBSuccess)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for DuckDB");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (api->set_config(config, settings[i][0], settings[i][1]) != DuckDBSuccess)
            st = mcp_error_set(err, MCP_E_UNSUPPORTED, "DuckDB has no setting %s", settings[i][0]);
    if (st == MCP_OK && api->open_ext(NULL, &engine->database, config, &words) != DuckDBSuccess)
        st = mcp_error_set(err, MCP_E_INTERNAL, "DuckDB does not start: %s", words ? words : "");
    if (words)
        api->free(words);
    api->destroy_config(&config);
    return st;
}

mcp_status instance_connect(struct engine *engine, mcp_error *err)
{
    const struct engine_api *api = engine->api;
    duckdb_result result;

    if (api->connect(engine->database, &engine->connection) != DuckDBSuccess)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB takes no connection");
    mcp_status st = engine_query(engine, &result, "SET TimeZone = 'UTC'", MCP_E_INTERNAL, err);
    if (st == MCP_OK)
        api->destroy_result(&result);
    return st;
}

/* The engine's words without the excerpt of the statement, which is not the one that the user
 * wrote. */
static void take_words(columns_sealed_end *end, const char *words)
{
    const char *excerpt = strstr(words, "\nLINE ");
    size_t length = excerpt ? (size_t)(excerpt - words) : strlen(words);

    if (length >= sizeof end->message)
        length = sizeof end->message - 1;
    while (length > 0 && ((unsigned char)words[length] & 0xC0) == 0x80)
        length--; /* not within a character */
    while (length > 0 && words[length - 1] == '\n')
        length--;
    memcpy(end->message, words, length);
    end->message[length] = '\0';
}

mcp_status instance_failure(columns_sealed_end *end, duckdb_error_type type, const char *words,
                            mcp_error *err)
{
    mcp_status st = MCP_E_PARSE;

    take_words(end, words ? words : "the engine gives no reason");
    if (type == DUCKDB_ERROR_OUT_OF_MEMORY)
        st = MCP_E_LIMIT;
    else if (type == DUCKDB_ERROR_INTERRUPT)
        st = MCP_E_STOPPED;
    return mcp_error_set(err, st, "%s", end->message);
}

static mcp_status run(struct engine *engine, const char *sql, columns_sealed_end *end,
                      mcp_error *err)
{
    duckdb_result result;
    mcp_status st = MCP_OK;

    if (engine->api->query(engine->connection, sql, &result) != DuckDBSuccess)
        st = instance_failure(end, engine->api->result_error_type(&result),
                              engine->api->result_error(&result), err);
    engine->api->destroy_result(&result);
    return st;
}

static mcp_status run_buf(struct engine *engine, const mcp_buf *sql, columns_sealed_end *end,
                          mcp_error *err)
{
    if (sql->status != MCP_OK)
        return mcp_error_set(err, sql->status, "a view of a query is too long");
    return run(engine, sql->data, end, err);
}

/* A plan shows what the optimizer has read of the data: the least value of a column, by which it
 * shortens the others. So what explains a statement does not look at them. */
static const char without_values[] =
    "; SET disabled_optimizers = 'statistics_propagation,compressed_materialization'";

static mcp_status limit(struct engine *engine, const columns_sealed_request *request,
                        uint64_t memory_bytes, int threads, mcp_buf *sql, columns_sealed_end *end,
                        mcp_error *err)
{
    mcp_buf_reset(sql);
    mcp_buf_printf(sql, "SET temp_directory = ''; SET memory_limit = '%" PRIu64 "B'; ",
                   memory_bytes);
    mcp_buf_printf(sql, "SET threads = %d%s", threads, request->is_explain ? without_values : "");
    return run_buf(engine, sql, end, err);
}

static mcp_status make_view(struct engine *engine, const columns_sealed_view *view, mcp_buf *sql,
                            columns_sealed_end *end, mcp_error *err)
{
    mcp_buf_reset(sql);
    mcp_buf_puts(sql, "CREATE SCHEMA IF NOT EXISTS ");
    columns_quote(sql, view->schema, '"');
    mcp_buf_puts(sql, "; CREATE VIEW ");
    columns_quote(sql, view->schema, '"');
    mcp_buf_putc(sql, '.');
    columns_quote(sql, view->name, '"');
    mcp_buf_puts(sql, " AS ");
    mcp_buf_puts(sql, view->sql);
    mcp_status st = run_buf(engine, sql, end, err);
    return st == MCP_E_PARSE && view->is_optional ? MCP_OK : st;
}

/* Run a statement of the setup. A database that a program writes has a lock for that moment. */
static mcp_status set_up(struct engine *engine, const char *sql, int64_t until,
                         columns_sealed_end *end, mcp_error *err)
{
    mcp_status st = run(engine, sql, end, err);

    while (st == MCP_E_PARSE && strstr(end->message, LOCKED) && mcp_clock_mono_ms() < until) {
        usleep(LOCK_PAUSE_MS * 1000);
        st = run(engine, sql, end, err);
    }
    if (st == MCP_E_PARSE && strstr(end->message, LOCKED))
        take_words(end, "another program has a database of the outputs open and writes it; "
                        "try again once it has closed it");
    return st;
}

/* Setup and views, which read the files. */
static mcp_status make_views(struct engine *engine, const columns_sealed_request *request,
                             mcp_buf *sql, columns_sealed_end *end, mcp_error *err)
{
    /* Half of the time is left to say so. */
    int64_t until = mcp_clock_mono_ms() + request->timeout_ms / 2;
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < request->setup_count; i++)
        st = set_up(engine, request->setup[i], until, end, err);
    for (size_t i = 0; st == MCP_OK && i < request->view_count; i++)
        st = make_view(engine, &request->views[i], sql, end, err);
    if (st == MCP_OK) /* words of a view that was left out */
        end->message[0] = '\0';
    return st == MCP_E_PARSE ? mcp_error_set(err, MCP_E_STORAGE, "%s", end->message) : st;
}

/* The schemas of a search path must be there. */
static mcp_status set_path(struct engine *engine, const char *path, mcp_buf *sql,
                           columns_sealed_end *end, mcp_error *err)
{
    char rest[256];
    char *name = rest;

    if (!path || !path[0])
        return MCP_OK;
    mcp_buf_reset(sql);
    snprintf(rest, sizeof rest, "%s", path);
    while (name) {
        char *comma = strchr(name, ',');
        if (comma)
            *comma = '\0';
        mcp_buf_puts(sql, "CREATE SCHEMA IF NOT EXISTS ");
        columns_quote(sql, name, '"');
        mcp_buf_puts(sql, "; ");
        name = comma ? comma + 1 : NULL;
    }
    mcp_buf_puts(sql, "SET search_path = ");
    columns_quote(sql, path, '\'');
    return run_buf(engine, sql, end, err);
}

static mcp_status shut(struct engine *engine, size_t files, mcp_buf *sql, columns_sealed_end *end,
                       mcp_error *err)
{
    mcp_buf_reset(sql);
    mcp_buf_puts(sql, "SET allowed_paths = [");
    for (size_t i = 0; i < files; i++)
        mcp_buf_printf(sql, "%s'/proc/self/fd/%zu'", i > 0 ? "," : "", COLUMNS_SEALED_FIRST_FD + i);
    mcp_buf_puts(sql, "]; SET enable_external_access = false; SET lock_configuration = true");
    return run_buf(engine, sql, end, err);
}

mcp_status instance_seal(struct engine *engine, const columns_sealed_request *request,
                         uint64_t memory_bytes, int threads, columns_sealed_end *end,
                         mcp_error *err)
{
    mcp_buf sql;
    mcp_status st;

    mcp_buf_init(&sql, SQL_MAX);
    st = limit(engine, request, memory_bytes, threads, &sql, end, err);
    if (st == MCP_OK)
        st = make_views(engine, request, &sql, end, err);
    if (st == MCP_OK)
        st = set_path(engine, request->search_path, &sql, end, err);
    if (st == MCP_OK)
        st = shut(engine, request->fd_count, &sql, end, err);
    mcp_buf_clear(&sql);
    return st;
}

mcp_status instance_detach(struct engine *engine, const columns_sealed_request *request,
                           columns_sealed_end *end, mcp_error *err)
{
    mcp_buf sql;
    mcp_status st = MCP_OK;

    mcp_buf_init(&sql, SQL_MAX);
    for (size_t i = 0; st == MCP_OK && i < request->database_count; i++) {
        mcp_buf_reset(&sql);
        mcp_buf_puts(&sql, "DETACH ");
        columns_quote(&sql, request->databases[i], '"');
        st = run_buf(engine, &sql, end, err);
    }
    mcp_buf_clear(&sql);
    return st;
}
