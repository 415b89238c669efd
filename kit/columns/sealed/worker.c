/*
 * worker.c - the sealed process: waits for files and a statement, answers, ends.
 *
 * The program is also the fork server of such processes: it opens an instance, of which each
 * process has a copy, and knows of no query.
 *
 * Until the request comes the engine has no threads, so that the rules of Landlock, which bind the
 * thread that sets them and what it starts later, bind everything. From then on a second thread
 * listens for an interrupt. The engine forgets an interrupt that comes between two statements, so
 * it is repeated until the main thread has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "columns/sealed/ast.h"
#include "columns/sealed/instance.h"
#include "columns/sealed/judge.h"
#include "columns/sealed/peer.h"
#include "columns/sealed/request.h"
#include "columns/sealed/values.h"
#include "columns/sealed/wire.h"
#include "proc/fork.h"

#define FOREVER INT64_MAX
#define ARENA_MAX ((size_t)256 << 20)
#define ROWS_FLUSH ((size_t)128 << 10)
#define STATEMENT_EXTRA 64

enum { THREADS_MAX = 4, CPU_SPARE_S = 10, REPEAT_MS = 20 };

struct worker {
    struct engine engine;
    mcp_arena *arena;
    struct wire_frame frame;
    int files;
    columns_sealed_request request;
    struct sealed_settings settings;
    columns_sealed_end end;
    bool has_system_table; /* the statement names one */
    mcp_error err;
    atomic_bool should_stop, has_ended;
};

/* ---- answers --------------------------------------------------------------------------------- */

static mcp_status send_body(struct worker *self, enum wire_kind kind, const mcp_buf *body)
{
    if (body->status != MCP_OK)
        return mcp_error_set(&self->err, body->status, "an answer of the engine is too long");
    return wire_send(PEER_SOCKET, kind, body->data, body->length, NULL, 0, FOREVER, &self->err);
}

static mcp_status send_empty(struct worker *self, enum wire_kind kind)
{
    return wire_send(PEER_SOCKET, kind, NULL, 0, NULL, 0, FOREVER, &self->err);
}

static void send_failure(struct worker *self, mcp_status st)
{
    mcp_buf body;

    mcp_buf_init(&body, PEER_FRAME_MAX);
    wire_put_uint(&body, (uint64_t)st);
    wire_put_string(&body, self->end.message[0] ? self->end.message : self->err.message);
    wire_put_string(&body, self->end.name);
    send_body(self, WIRE_FAILED, &body);
    mcp_buf_clear(&body);
}

/* ---- before the request ---------------------------------------------------------------------- */

/* As many descriptors as the system lets a process have, up to what a request may need. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    rlim_t wanted = COLUMNS_SEALED_FIRST_FD + 4 * COLUMNS_SEALED_FILES_MAX;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* The i-th file gets the number that the views name. */
static mcp_status take_files(struct worker *self)
{
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < self->frame.fd_count; i++) {
        int as = COLUMNS_SEALED_FIRST_FD + self->files;
        if (st == MCP_OK && (self->files == COLUMNS_SEALED_FILES_MAX ||
                             dup3(self->frame.fds[i], as, O_CLOEXEC) < 0))
            st = mcp_error_set(&self->err, MCP_E_LIMIT, "a query cannot have %d files open: %s",
                               self->files + 1, strerror(errno));
        close(self->frame.fds[i]);
        self->files++;
    }
    return st == MCP_OK ? send_empty(self, WIRE_TAKEN) : st;
}

static mcp_status take_rules(struct worker *self)
{
    long failure = self->frame.fd_count == 1
                       ? syscall(SYS_landlock_restrict_self, self->frame.fds[0], 0)
                       : -1;

    for (size_t i = 0; i < self->frame.fd_count; i++)
        close(self->frame.fds[i]);
    if (failure != 0)
        return mcp_error_errno(&self->err, errno, "the rules of Landlock cannot be set");
    return send_empty(self, WIRE_TAKEN);
}

/* ---- the interrupt --------------------------------------------------------------------------- */

/* Any frame, and the end of the program, are an interrupt. */
static void *listen(void *data)
{
    struct worker *self = data;
    struct timespec pause = { 0, REPEAT_MS * 1000000L };
    struct wire_frame frame = { 0 };

    mcp_buf_init(&frame.body, PEER_FRAME_MAX);
    (void)wire_receive(PEER_SOCKET, &frame, FOREVER, NULL);
    mcp_buf_clear(&frame.body);
    atomic_store(&self->should_stop, true);
    while (!atomic_load(&self->has_ended)) {
        self->engine.api->interrupt(self->engine.connection);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static mcp_status start_listening(struct worker *self, pthread_t *thread)
{
    int failure = pthread_create(thread, NULL, listen, self);
    return failure ? mcp_error_errno(&self->err, failure, "the process of a query has no thread")
                   : MCP_OK;
}

static mcp_status go_on(struct worker *self)
{
    if (!atomic_load(&self->should_stop))
        return MCP_OK;
    return mcp_error_set(&self->err, MCP_E_STOPPED, "the query was interrupted");
}

/* ---- the statement --------------------------------------------------------------------------- */

static int thread_count(const struct worker *self)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int wanted = self->settings.threads > 0 ? self->settings.threads : (int)cores;

    return wanted < 1 ? 1 : wanted > THREADS_MAX ? THREADS_MAX : wanted;
}

/* Time that goes by without an answer to the interrupt is the program's to judge; this ends a
 * process that the program has lost. */
static void limit_cpu(const struct worker *self)
{
    rlim_t seconds = (rlim_t)(self->request.timeout_ms / 1000 + CPU_SPARE_S) *
                     (rlim_t)thread_count(self);
    struct rlimit limit = { seconds, seconds };

    setrlimit(RLIMIT_CPU, &limit);
}

/* The text that is run. A comment at the end of the user's must
 * not reach the parenthesis. */
static mcp_status make_text(mcp_buf *out, const struct worker *self)
{
    const columns_sealed_request *request = &self->request;

    if (!request->is_explain)
        mcp_buf_puts(out, "SELECT * FROM (\n");
    mcp_buf_append(out, request->sql, request->sql_length);
    if (!request->is_explain)
        mcp_buf_printf(out, "\n) AS _q LIMIT %llu", (unsigned long long)request->rows_max);
    return out->status;
}

static mcp_status engine_failed(struct worker *self, duckdb_result *result)
{
    mcp_status st = instance_failure(&self->end, self->engine.api->result_error_type(result),
                                     self->engine.api->result_error(result), &self->err);
    self->engine.api->destroy_result(result);
    return st;
}

/* The first value of a result of one text. */
static mcp_status read_parse(const struct ast **out, struct worker *self, duckdb_result *result)
{
    const struct engine_api *api = self->engine.api;
    duckdb_data_chunk chunk = api->fetch_chunk(*result);

    if (!chunk)
        return mcp_error_set(&self->err, MCP_E_INTERNAL, "the engine does not parse a statement");
    duckdb_string_t *text = api->vector_get_data(api->data_chunk_get_vector(chunk, 0));
    mcp_status st = ast_read(out, self->arena, api->string_t_data(text),
                             api->string_t_length(*text), &self->err);
    api->destroy_data_chunk(&chunk);
    return st;
}

static mcp_status parse(const struct ast **out, struct worker *self, const char *text,
                        size_t length)
{
    const struct engine_api *api = self->engine.api;
    duckdb_prepared_statement statement = NULL;
    duckdb_result result;
    mcp_status st;

    if (api->prepare(self->engine.connection, "SELECT json_serialize_sql($1::VARCHAR)",
                     &statement) != DuckDBSuccess ||
        api->bind_varchar_length(statement, 1, text, length) != DuckDBSuccess) {
        api->destroy_prepare(&statement);
        return mcp_error_set(&self->err, MCP_E_PARSE,
                             "the statement is no text that the engine "
                             "takes: it must be UTF-8");
    }
    if (api->execute_prepared(statement, &result) != DuckDBSuccess) {
        st = engine_failed(self, &result);
    } else {
        st = read_parse(out, self, &result);
        api->destroy_result(&result);
    }
    api->destroy_prepare(&statement);
    return st;
}

static mcp_status judge(struct worker *self, const char *text, size_t length)
{
    const struct ast *tree = NULL;
    mcp_status st = parse(&tree, self, text, length);

    return st == MCP_OK ? judge_statement(&self->has_system_table, &self->end, tree, &self->request,
                                          &self->err)
                        : st;
}

static mcp_status bind(struct worker *self, duckdb_prepared_statement statement)
{
    const struct engine_api *api = self->engine.api;
    const columns_sealed_request *request = &self->request;

    if (api->nparams(statement) != request->param_count)
        return mcp_error_set(&self->err, MCP_E_PARAMS,
                             "the statement has %llu parameters, and %zu "
                             "are given",
                             (unsigned long long)api->nparams(statement), request->param_count);
    for (size_t i = 0; i < request->param_count; i++) {
        const columns_sealed_param *param = &request->params[i];
        duckdb_state bound = DuckDBError;
        if (param->kind == COLUMNS_SEALED_NULL)
            bound = api->bind_null(statement, i + 1);
        else if (param->kind == COLUMNS_SEALED_BOOLEAN)
            bound = api->bind_boolean(statement, i + 1, param->integer != 0);
        else if (param->kind == COLUMNS_SEALED_INTEGER)
            bound = api->bind_int64(statement, i + 1, param->integer);
        else if (param->kind == COLUMNS_SEALED_NUMBER)
            bound = api->bind_double(statement, i + 1, param->number);
        else if (param->kind == COLUMNS_SEALED_TEXT)
            bound = api->bind_varchar_length(statement, i + 1, param->text, param->length);
        if (bound != DuckDBSuccess)
            return mcp_error_set(&self->err, MCP_E_PARAMS, "the parameter %zu cannot be bound",
                                 i + 1);
    }
    return MCP_OK;
}

/* One statement, of the right type. The caller destroys it. */
static mcp_status prepare(duckdb_prepared_statement *out, struct worker *self, const char *text)
{
    const struct engine_api *api = self->engine.api;
    duckdb_statement_type wanted = self->request.is_explain ? DUCKDB_STATEMENT_TYPE_EXPLAIN
                                                            : DUCKDB_STATEMENT_TYPE_SELECT;
    duckdb_extracted_statements all = NULL;
    idx_t count = api->extract_statements(self->engine.connection, text, &all);
    mcp_status st = MCP_OK;

    if (count != 1)
        st = mcp_error_set(&self->err, MCP_E_DENIED, "Multiple statements are not allowed");
    else if (api->prepare_extracted_statement(self->engine.connection, all, 0, out) !=
             DuckDBSuccess)
        st = instance_failure(&self->end, DUCKDB_ERROR_INVALID, api->prepare_error(*out),
                              &self->err);
    else if (api->prepared_statement_type(*out) != wanted)
        st = mcp_error_set(&self->err, MCP_E_DENIED, "only SELECT and EXPLAIN are allowed");
    api->destroy_extracted(&all);
    return st;
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A result that is being sent. */
struct stream {
    struct worker *worker;
    struct values values;
    duckdb_logical_type *types;
    size_t columns;
    mcp_buf cells; /* of rows that are not sent yet */
    size_t rows;   /* in it */
    uint64_t all_rows, all_bytes;
};

static mcp_status send_columns(struct stream *self, duckdb_result *result)
{
    const struct engine_api *api = self->values.api;
    mcp_buf body;
    mcp_buf name;

    mcp_buf_init(&body, PEER_FRAME_MAX);
    mcp_buf_init(&name, PEER_FRAME_MAX);
    wire_put_uint(&body, self->columns);
    for (size_t i = 0; i < self->columns; i++) {
        wire_put_string(&body, api->column_name(result, i));
        mcp_buf_reset(&name);
        values_type_name(&name, api, self->types[i]);
        wire_put_string(&body, name.data);
    }
    mcp_status st = send_body(self->worker, WIRE_COLUMNS, &body);
    mcp_buf_clear(&name);
    mcp_buf_clear(&body);
    return st;
}

static mcp_status flush(struct stream *self)
{
    mcp_buf body;

    if (self->rows == 0)
        return MCP_OK;
    mcp_buf_init(&body, PEER_FRAME_MAX);
    wire_put_uint(&body, self->rows);
    mcp_buf_append(&body, self->cells.data, self->cells.length);
    mcp_status st = send_body(self->worker, WIRE_ROWS, &body);
    mcp_buf_clear(&body);
    mcp_buf_reset(&self->cells);
    self->rows = 0;
    return st;
}

static mcp_status put_row(struct stream *self, duckdb_data_chunk chunk, size_t row)
{
    struct worker *worker = self->worker;
    size_t from = self->cells.length;
    mcp_status st = MCP_OK;

    for (size_t i = 0; st == MCP_OK && i < self->columns; i++)
        st = values_put(&self->cells, &self->values,
                        self->values.api->data_chunk_get_vector(chunk, i), self->types[i], row,
                        &worker->err);
    if (st != MCP_OK)
        return self->cells.status == MCP_OK
                   ? st
                   : mcp_error_set(&worker->err, MCP_E_LIMIT, "a row is too long");
    uint64_t bytes = self->cells.length - from;
    if (bytes > worker->request.bytes_max - self->all_bytes) {
        worker->end.is_cut = true;
        self->cells.length = from;
        return MCP_OK;
    }
    self->all_bytes += bytes;
    self->all_rows++;
    self->rows++;
    return self->cells.length >= ROWS_FLUSH ? flush(self) : MCP_OK;
}

static mcp_status put_chunk(struct stream *self, duckdb_data_chunk chunk)
{
    struct worker *worker = self->worker;
    size_t count = self->values.api->data_chunk_get_size(chunk);
    mcp_status st = go_on(worker);

    for (size_t row = 0; st == MCP_OK && row < count && !worker->end.is_cut &&
                         self->all_rows < worker->request.rows_max;
         row++)
        st = put_row(self, chunk, row);
    return st;
}

static mcp_status stream_rows(struct stream *self, duckdb_result *result)
{
    const struct engine_api *api = self->values.api;
    struct worker *worker = self->worker;
    mcp_status st = send_columns(self, result);

    while (st == MCP_OK && !worker->end.is_cut && self->all_rows < worker->request.rows_max) {
        duckdb_data_chunk chunk = api->fetch_chunk(*result);
        if (!chunk)
            break;
        bool is_empty = api->data_chunk_get_size(chunk) == 0;
        if (!is_empty)
            st = put_chunk(self, chunk);
        api->destroy_data_chunk(&chunk);
        if (is_empty)
            break;
    }
    const char *words = st == MCP_OK ? api->result_error(result) : NULL;
    if (words && words[0])
        st = instance_failure(&worker->end, api->result_error_type(result), words, &worker->err);
    return st == MCP_OK ? flush(self) : st;
}

static mcp_status send_rows(struct worker *self, duckdb_result *result)
{
    struct stream stream = { .worker = self };
    const struct engine_api *api = self->engine.api;
    size_t columns = api->column_count(result);
    mcp_status st = MCP_OK;

    if (columns > COLUMNS_SEALED_COLUMNS_MAX)
        return mcp_error_set(&self->err, MCP_E_LIMIT, "a result has at most %d columns",
                             COLUMNS_SEALED_COLUMNS_MAX);
    stream.types = mcp_arena_array(self->arena, columns + 1, sizeof *stream.types);
    if (!stream.types)
        return mcp_error_set(&self->err, MCP_E_NOMEM, "no memory for the columns of a result");
    values_init(&stream.values, api);
    mcp_buf_init(&stream.cells, PEER_FRAME_MAX - ROWS_FLUSH);
    for (; stream.columns < columns; stream.columns++)
        stream.types[stream.columns] = api->column_logical_type(result, stream.columns);
    st = stream_rows(&stream, result);
    for (size_t i = 0; i < columns; i++)
        api->destroy_logical_type(&stream.types[i]);
    mcp_buf_clear(&stream.cells);
    values_clear(&stream.values);
    return st;
}

static mcp_status execute(struct worker *self, duckdb_prepared_statement statement)
{
    const struct engine_api *api = self->engine.api;
    duckdb_pending_result pending = NULL;
    duckdb_result result;
    mcp_status st;

    if (api->pending_prepared_streaming(statement, &pending) != DuckDBSuccess) {
        st = instance_failure(&self->end, DUCKDB_ERROR_INVALID, api->pending_error(pending),
                              &self->err);
    } else if (api->execute_pending(pending, &result) != DuckDBSuccess) {
        st = engine_failed(self, &result);
    } else {
        st = send_rows(self, &result);
        api->destroy_result(&result);
    }
    api->destroy_pending(&pending);
    return st;
}

static mcp_status run_text(struct worker *self, const mcp_buf *text)
{
    duckdb_prepared_statement statement = NULL;
    mcp_status st = prepare(&statement, self, text->data);

    if (st == MCP_OK)
        st = bind(self, statement);
    if (st == MCP_OK)
        st = go_on(self);
    if (st == MCP_OK)
        st = execute(self, statement);
    self->engine.api->destroy_prepare(&statement);
    return st;
}

/* The user's statement must be one by itself, and the text that is run is judged as it is run;
 * EXPLAIN goes before it afterwards. */
static mcp_status answer(struct worker *self)
{
    mcp_buf text;
    mcp_buf explained;
    mcp_status st;

    mcp_buf_init(&text, COLUMNS_SEALED_REQUEST_MAX);
    mcp_buf_init(&explained, COLUMNS_SEALED_REQUEST_MAX);
    st = make_text(&text, self);
    if (st == MCP_OK)
        st = judge(self, self->request.sql, self->request.sql_length);
    if (st == MCP_OK && !self->request.is_explain)
        st = judge(self, text.data, text.length);
    if (st == MCP_OK && self->has_system_table)
        st = instance_detach(&self->engine, &self->request, &self->end, &self->err);
    if (st == MCP_OK)
        st = go_on(self);
    if (st == MCP_OK && self->request.is_explain) {
        mcp_buf_puts(&explained, "EXPLAIN ");
        st = mcp_buf_append(&explained, text.data, text.length);
    }
    if (st == MCP_OK)
        st = run_text(self, self->request.is_explain ? &explained : &text);
    mcp_buf_clear(&explained);
    mcp_buf_clear(&text);
    return st;
}

static mcp_status serve(struct worker *self)
{
    mcp_status st = request_read(&self->request, &self->settings, self->arena,
                                 self->frame.body.data, self->frame.body.length, &self->err);

    if (st == MCP_OK && self->request.fd_count != (size_t)self->files)
        st = mcp_error_set(&self->err, MCP_E_PARAMS, "files of a query are missing");
    if (st == MCP_OK)
        limit_cpu(self);
    if (st == MCP_OK)
        st = instance_seal(&self->engine, &self->request, self->settings.memory_bytes,
                           thread_count(self), &self->end, &self->err);
    if (st == MCP_OK)
        st = go_on(self);
    return st == MCP_OK ? answer(self) : st;
}

/* With the thread that listens; the engine stays open until it has ended. */
static void serve_request(struct worker *self)
{
    pthread_t listener;
    mcp_buf body;
    mcp_status st = start_listening(self, &listener);

    if (st != MCP_OK) {
        send_failure(self, st);
        return;
    }
    st = serve(self);
    mcp_buf_init(&body, PEER_FRAME_MAX);
    wire_put_uint(&body, self->end.is_cut);
    wire_put_uint(&body, self->end.is_volatile);
    wire_put_uint(&body, self->end.is_of_catalog);
    if (st == MCP_OK)
        send_body(self, WIRE_END, &body);
    else
        send_failure(self, st);
    mcp_buf_clear(&body);
    atomic_store(&self->has_ended, true);
    /* The program closes its end when it has the answer. */
    pthread_join(listener, NULL);
}

/* Until the request, or until the program is gone. */
static void wait_for_request(struct worker *self)
{
    mcp_status st = MCP_OK;

    while (st == MCP_OK && self->frame.kind != WIRE_REQUEST) {
        wire_frame_reset(&self->frame);
        st = wire_receive(PEER_SOCKET, &self->frame, FOREVER, &self->err);
        if (st == MCP_E_STOPPED)
            return;
        if (st == MCP_OK && self->frame.kind == WIRE_FILES)
            st = take_files(self);
        else if (st == MCP_OK && self->frame.kind == WIRE_RULES)
            st = take_rules(self);
    }
    if (st == MCP_OK)
        serve_request(self);
    else
        send_failure(self, st);
}

/* What does not depend on the query. A fork server does it once. */
static mcp_status begin(struct worker *self)
{
    self->arena = mcp_arena_new(ARENA_MAX);
    mcp_buf_init(&self->frame.body, COLUMNS_SEALED_REQUEST_MAX + PEER_FRAME_MAX);
    return self->arena ? instance_open(&self->engine, &self->err) : MCP_E_NOMEM;
}

/* `st` is that of the beginning. @return the exit status */
static int serve_one(struct worker *self, mcp_status st)
{
    raise_descriptors();
    if (st == MCP_OK)
        st = instance_connect(&self->engine, &self->err);
    if (st == MCP_OK)
        st = send_empty(self, WIRE_READY);
    else
        send_failure(self, st);
    if (st == MCP_OK)
        wait_for_request(self);
    engine_close(&self->engine);
    mcp_buf_clear(&self->frame.body);
    mcp_arena_free(self->arena);
    return st == MCP_OK ? 0 : 1;
}

static int serve_in_fork(char **argv, void *data)
{
    (void)argv;
    return serve_one(data, MCP_OK);
}

/* A fork server that cannot begin ends; the process that is then started without one says why. */
int columns_sealed_main(void)
{
    static struct worker worker;
    bool is_server = proc_is_fork_server();
    mcp_status st = begin(&worker);

    if (!is_server)
        return serve_one(&worker, st);
    return st == MCP_OK ? proc_fork_serve(serve_in_fork, &worker) : 1;
}
