/*
 * run.c - a query's way: guard, cache, views, sealed engine, rows in memory.
 *
 * With a cache the engine is asked for more rows than the page has, up to the bound of what is
 * kept. Once the page is there, the rest has REST_MS; a result that takes longer is cut after the
 * page, and has no cursor.
 */
#include "query/query.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "query/allow.h"
#include "query/cache.h"
#include "query/failure.h"
#include "query/guard.h"
#include "query/result.h"
#include "query/views.h"

#define MIB ((uint64_t)1 << 20)

enum { REST_MS = 2000, SPOOL_ROWS = 100000, CACHE_MIB = 256, CACHE_TTL_MS = 300000 };

struct casparian_query {
    columns_sealed *sealed;
    casparian_query_cache *cache; /* NULL: nothing is kept */
    uint64_t spool_rows;
    pthread_mutex_t lock; /* guards `running` */
    int running;
};

/* ---- opening --------------------------------------------------------------------------------- */

static mcp_status open_cache(casparian_query *self, const casparian_query_settings *settings,
                             mcp_error *err)
{
    casparian_query_cache_options options = {
        .dir = settings->cache_dir,
        .bytes_max = (settings->cache_mb > 0 ? (uint64_t)settings->cache_mb : CACHE_MIB) * MIB,
        .ttl_ms = settings->cache_ttl_ms > 0 ? settings->cache_ttl_ms : CACHE_TTL_MS,
    };

    return settings->cache_dir ? casparian_query_cache_open(&self->cache, &options, err) : MCP_OK;
}

mcp_status casparian_query_open(casparian_query **out, const casparian_query_settings *settings,
                                mcp_error *err)
{
    casparian_query *self = mcp_alloc_zeroed(1, sizeof *self);
    columns_sealed_options options = {
        .argv = settings->worker,
        .memory_bytes = (uint64_t)settings->memory_limit_mb * MIB,
        .is_unlimited_memory = settings->is_unlimited_memory,
        .threads = settings->threads,
        .is_unprotected = settings->is_unprotected,
    };
    mcp_status st;

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for queries");
    pthread_mutex_init(&self->lock, NULL);
    self->spool_rows = settings->spool_rows > 0 ? (uint64_t)settings->spool_rows : SPOOL_ROWS;
    st = columns_sealed_open(&self->sealed, &options, err);
    if (st == MCP_OK)
        st = open_cache(self, settings, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_query_close(self);
    return st;
}

void casparian_query_close(casparian_query *self)
{
    if (!self)
        return;
    columns_sealed_close(self->sealed);
    casparian_query_cache_close(self->cache);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void casparian_query_prepare(casparian_query *self)
{
    columns_sealed_prepare(self->sealed);
}

void casparian_query_forget(casparian_query *self)
{
    if (self->cache)
        casparian_query_cache_forget(self->cache);
}

/* @return false: too many queries run */
static bool enter(casparian_query *self)
{
    pthread_mutex_lock(&self->lock);
    bool may = self->running < CASPARIAN_QUERY_RUNNING_MAX;
    self->running += may;
    pthread_mutex_unlock(&self->lock);
    return may;
}

static void leave(casparian_query *self)
{
    pthread_mutex_lock(&self->lock);
    self->running--;
    pthread_mutex_unlock(&self->lock);
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Everything of one call. */
typedef struct run {
    casparian_query *query;
    const casparian_catalog *catalog;
    const casparian_query_request *request;
    casparian_query_failure *failure;
    mcp_arena *arena;
    mcp_error *err;
    int64_t started_ms;
    size_t limit;
    int64_t timeout_ms;
    casparian_guarded guarded;
    casparian_views views;
    columns_sealed_param *params;
    size_t param_count;
    casparian_query_key key;
    casparian_query_result *result;
    int64_t full_ms; /* when the page was full; 0: it is not */
    bool gave_up;    /* the rest took too long */
} run;

/* `st`, with the message in `err`, as the client sees it. */
static mcp_status fail(run *self, mcp_status st)
{
    char words[sizeof self->err->message];

    snprintf(words, sizeof words, "%s", self->err->message);
    return casparian_query_fail(self->failure, st, words, self->catalog, &self->views, self->arena,
                                self->err);
}

static mcp_status check_bounds(run *self)
{
    const casparian_query_request *request = self->request;

    self->limit = request->limit > 0 ? request->limit : CASPARIAN_QUERY_LIMIT;
    self->timeout_ms = request->timeout_ms > 0 ? request->timeout_ms : CASPARIAN_QUERY_TIMEOUT_MS;
    if (self->limit > CASPARIAN_QUERY_LIMIT_MAX)
        return mcp_error_set(self->err, MCP_E_PARAMS, "limit must be 1 to %d",
                             CASPARIAN_QUERY_LIMIT_MAX);
    if (self->timeout_ms < CASPARIAN_QUERY_TIMEOUT_MIN_MS ||
        self->timeout_ms > CASPARIAN_QUERY_TIMEOUT_MAX_MS)
        return mcp_error_set(self->err, MCP_E_PARAMS, "timeout_ms must be %d to %d",
                             CASPARIAN_QUERY_TIMEOUT_MIN_MS, CASPARIAN_QUERY_TIMEOUT_MAX_MS);
    return MCP_OK;
}

static bool read_param(columns_sealed_param *out, const mcp_json *value)
{
    bool flag;

    if (mcp_json_is_null(value)) {
        out->kind = COLUMNS_SEALED_NULL;
    } else if (mcp_json_bool(value, &flag)) {
        out->kind = COLUMNS_SEALED_BOOLEAN;
        out->integer = flag;
    } else if (mcp_json_int(value, &out->integer)) {
        out->kind = COLUMNS_SEALED_INTEGER;
    } else if (mcp_json_double(value, &out->number)) {
        out->kind = COLUMNS_SEALED_NUMBER;
    } else if (mcp_json_is_string(value)) {
        out->kind = COLUMNS_SEALED_TEXT;
        out->text = mcp_json_string(value, &out->length);
    } else {
        return false;
    }
    return true;
}

static mcp_status read_params(run *self)
{
    const mcp_json *params = self->request->params;
    size_t count = mcp_json_count(params);

    if (params && !mcp_json_is_array(params))
        return mcp_error_set(self->err, MCP_E_PARAMS, "params must be an array");
    if (count > CASPARIAN_QUERY_PARAMS_MAX)
        return mcp_error_set(self->err, MCP_E_PARAMS, "params has at most %d values",
                             CASPARIAN_QUERY_PARAMS_MAX);
    self->params = mcp_arena_array(self->arena, count + 1, sizeof *self->params);
    if (!self->params)
        return mcp_error_set(self->err, MCP_E_NOMEM, "no memory for the parameters of a query");
    for (size_t i = 0; i < count; i++)
        if (!read_param(&self->params[i], mcp_json_item(params, i)))
            return mcp_error_set(self->err, MCP_E_PARAMS,
                                 "/params/%zu must be null, a boolean, a number or a string", i);
    self->param_count = count;
    return MCP_OK;
}

/* The statement without what is around it; its parameters; the catalog; the page. */
static mcp_status make_key(run *self)
{
    const casparian_query_request *request = self->request;
    mcp_buf text;
    mcp_json_writer params;

    mcp_buf_init(&text, 4 * CASPARIAN_QUERY_SQL_MAX + ((size_t)8 << 20));
    mcp_buf_printf(&text, "%d %lld %zu\n", self->guarded.is_explain,
                   (long long)self->catalog->version, self->limit);
    mcp_json_writer_init(&params, &text);
    mcp_write_value(&params, request->params);
    mcp_buf_append(&text, request->sql + self->guarded.from,
                   self->guarded.until - self->guarded.from);
    mcp_status st = text.status;
    if (st == MCP_OK)
        st = mcp_sha256(self->key.digest, text.data, text.length, self->err);
    else
        st = mcp_error_set(self->err, MCP_E_PARAMS, "the parameters of a query are too long");
    mcp_buf_clear(&text);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static mcp_status take_columns(void *data, size_t count, const char *const *names,
                               const char *const *types)
{
    run *self = data;
    return casparian_query_result_columns(self->result, count, names, types, self->err);
}

static mcp_status take_rows(void *data, size_t rows, const void *cells, size_t length)
{
    run *self = data;
    casparian_query_result *result = self->result;

    if (mcp_buf_append(&result->cells, cells, length) != MCP_OK)
        return mcp_error_set(self->err, MCP_E_NOMEM, "no memory for the rows of a query");
    result->all_rows += rows;
    if (self->full_ms == 0 && result->all_rows > self->limit)
        self->full_ms = mcp_clock_mono_ms();
    return MCP_OK;
}

static bool should_stop(void *data)
{
    run *self = data;

    self->gave_up = self->full_ms > 0 && mcp_clock_mono_ms() - self->full_ms > REST_MS;
    return self->gave_up ||
           (self->request->should_stop && self->request->should_stop(self->request->data));
}

/* Rows of the page: the first ones. */
static void take_page(run *self, const columns_sealed_end *end)
{
    casparian_query_result *result = self->result;
    uint64_t rows_max = self->query->cache ? self->query->spool_rows : self->limit;

    result->is_cut = end->is_cut || self->gave_up || result->all_rows > rows_max;
    if (result->all_rows > rows_max) { /* the row that shows that there are more */
        result->cells.length = casparian_query_rows_length(&result->cells, 0,
                                                           result->facts.column_count, rows_max);
        result->all_rows = rows_max;
    }
    result->is_plain = self->guarded.is_explain || end->is_of_catalog;
    result->facts.row_count = result->all_rows < self->limit ? (size_t)result->all_rows
                                                             : self->limit;
    result->facts.is_truncated = result->is_cut || result->all_rows > result->facts.row_count;
}

/* A result that cannot be kept is still an answer. */
static void keep(run *self, const columns_sealed_end *end)
{
    mcp_error ignored = MCP_ERROR_INIT;
    bool is_volatile = end->is_volatile || self->views.is_volatile;

    if (self->query->cache && !self->gave_up)
        (void)casparian_query_cache_put(self->query->cache, self->result,
                                        is_volatile ? NULL : &self->key, self->catalog->version,
                                        &ignored);
}

static mcp_status run_sealed(run *self)
{
    const casparian_query_request *request = self->request;
    columns_sealed_end end;
    columns_sealed_request sealed = {
        .fds = self->views.fds,
        .fd_count = self->views.fd_count,
        .setup = self->views.setup,
        .setup_count = self->views.setup_count,
        .databases = self->views.databases,
        .database_count = self->views.setup_count,
        .views = self->views.views,
        .view_count = self->views.view_count,
        .search_path = CASPARIAN_VIEWS_SEARCH_PATH,
        .rules = &casparian_query_rules,
        .sql = request->sql + self->guarded.from,
        .sql_length = self->guarded.until - self->guarded.from,
        .is_explain = self->guarded.is_explain,
        .params = self->params,
        .param_count = self->param_count,
        .rows_max = (self->query->cache ? self->query->spool_rows : self->limit) + 1,
        .bytes_max = CASPARIAN_QUERY_SPOOL_MAX,
        .timeout_ms = self->timeout_ms,
    };
    columns_sealed_sink sink = { take_columns, take_rows, should_stop, self };

    mcp_status st = columns_sealed_query(&end, self->query->sealed, &sealed, &sink, self->err);
    if (st == MCP_E_STOPPED && self->gave_up)
        st = MCP_OK;
    if (st != MCP_OK)
        return casparian_query_fail(self->failure, st, end.message, self->catalog, &self->views,
                                    self->arena, self->err);
    take_page(self, &end);
    keep(self, &end);
    return MCP_OK;
}

/* With the views of the statement. */
static mcp_status run_views(run *self)
{
    const casparian_query_request *request = self->request;
    mcp_status st = casparian_views_make(&self->views, self->catalog, request->sql, request->length,
                                         CASPARIAN_QUERY_FILES_MAX, self->arena, self->err);

    if (st == MCP_OK)
        st = casparian_query_result_new(&self->result, self->err);
    if (st == MCP_OK)
        st = casparian_query_result_warnings(self->result, self->views.warning_count,
                                             self->views.warnings, self->err);
    if (st != MCP_OK)
        st = fail(self, st);
    else
        st = run_sealed(self);
    casparian_views_clear(&self->views);
    return st;
}

static mcp_status run_new(run *self)
{
    const casparian_query_request *request = self->request;
    casparian_query *query = self->query;
    mcp_status st = casparian_guard(&self->guarded, request->sql, request->length, self->err);

    if (st == MCP_OK)
        st = read_params(self);
    if (st == MCP_OK)
        st = make_key(self);
    if (st != MCP_OK)
        return fail(self, st);
    if (query->cache && casparian_query_cache_find(&self->result, query->cache, &self->key,
                                                   self->limit, NULL) == MCP_OK)
        return MCP_OK;
    if (!enter(query)) {
        st = mcp_error_set(self->err, MCP_E_BUSY, "%d queries are running",
                           CASPARIAN_QUERY_RUNNING_MAX);
        return fail(self, st);
    }
    st = run_views(self);
    leave(query);
    return st;
}

static mcp_status run_cursor(run *self)
{
    casparian_query_cache *cache = self->query->cache;
    mcp_status st = MCP_E_NOT_FOUND;

    if (cache)
        st = casparian_query_cache_page(&self->result, cache, self->request->cursor, self->limit,
                                        self->err);
    else
        mcp_error_set(self->err, st, "results are not kept");
    return st == MCP_OK ? st : fail(self, st == MCP_E_NOT_FOUND ? MCP_E_RESOURCE : st);
}

mcp_status casparian_query_run(casparian_query_result **out, casparian_query *self,
                               const casparian_catalog *catalog,
                               const casparian_query_request *request,
                               casparian_query_failure *failure, mcp_arena *arena, mcp_error *err)
{
    mcp_error own = MCP_ERROR_INIT;
    run call = { .query = self,
                 .catalog = catalog,
                 .request = request,
                 .failure = failure,
                 .arena = arena,
                 .err = err ? err : &own,
                 .started_ms = mcp_clock_mono_ms() };
    mcp_status st = check_bounds(&call);

    if (self->cache)
        casparian_query_cache_sweep(self->cache, catalog->version);
    if (st != MCP_OK)
        st = fail(&call, st);
    else
        st = request->cursor ? run_cursor(&call) : run_new(&call);
    if (st != MCP_OK) {
        casparian_query_result_free(call.result);
        return st;
    }
    call.result->facts.elapsed_ms = mcp_clock_mono_ms() - call.started_ms;
    *out = call.result;
    return MCP_OK;
}
