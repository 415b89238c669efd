/*
 * pool.c - queries in sealed processes, one of which is kept ready.
 *
 * A process serves one query. A thread starts the next one when a query has ended, and ends those
 * that have served, so a query waits neither for the start nor for the end. The processes of
 * queries are used without the lock.
 *
 * Opening the engine takes 45 ms of a processor, a fork of a process that has opened it 2 ms. So
 * the processes are forks of a server that lives as long as the pool, and has served no query.
 */
#include "columns/sealed/sealed.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns/sealed/cell.h"
#include "columns/sealed/peer.h"
#include "columns/sealed/request.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "thread/thread.h"

#define MEMORY_BYTES ((uint64_t)512 << 20)

enum { SLICE_MS = 50, GRACE_MS = 1000, ARGUMENTS_MAX = 16 };

struct columns_sealed {
    columns_sealed_options options;
    char *argv[ARGUMENTS_MAX + 1];
    pthread_mutex_t lock; /* guards all below */
    proc_fork_server *server;
    thread_worker keeper;
    bool is_started; /* the keeper's thread */
    bool is_wanted;  /* a process must be made ready */
    struct peer *ready;
    struct peer *ended; /* to be freed */
};

/* ---- the process that is ready --------------------------------------------------------------- */

static void free_ended(columns_sealed *self)
{
    struct peer *peer = self->ended;

    self->ended = peer->next;
    pthread_mutex_unlock(&self->lock);
    peer_free(peer);
    pthread_mutex_lock(&self->lock);
}

/* The fork server of the first process and of all after it. With the lock. */
static proc_fork_server *server_of(columns_sealed *self)
{
    if (!self->server)
        (void)peer_server(&self->server, &self->options, NULL);
    return self->server;
}

/* A failure shows again at the next query, which starts a process of its own then. */
static void make_ready(columns_sealed *self)
{
    struct peer *peer = NULL;

    self->is_wanted = false;
    proc_fork_server *server = server_of(self);
    pthread_mutex_unlock(&self->lock);
    mcp_status st = peer_start(&peer, &self->options, server, NULL);
    pthread_mutex_lock(&self->lock);
    if (st == MCP_OK)
        self->ready = peer;
}

static void keep(void *data)
{
    columns_sealed *self = data;

    pthread_mutex_lock(&self->lock);
    while (!self->keeper.is_stopping) {
        if (self->is_wanted && !self->ready)
            make_ready(self);
        else if (self->ended)
            free_ended(self);
        else
            thread_worker_wait(&self->keeper, THREAD_FOREVER);
    }
    pthread_mutex_unlock(&self->lock);
}

void columns_sealed_prepare(columns_sealed *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_wanted = true;
    thread_worker_wake(&self->keeper);
    pthread_mutex_unlock(&self->lock);
}

/* The one that is ready, or a new one. */
static mcp_status take_peer(struct peer **out, columns_sealed *self, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    struct peer *peer = self->ready;
    proc_fork_server *server = server_of(self);
    self->ready = NULL;
    pthread_mutex_unlock(&self->lock);
    if (!peer) {
        mcp_status st = peer_start(&peer, &self->options, server, err);
        if (st != MCP_OK)
            return st;
    }
    *out = peer;
    return MCP_OK;
}

/* Its end takes some milliseconds, which nobody waits for. The next process starts now and not
 * earlier: the start would take a processor from the query. */
static void give_up(columns_sealed *self, struct peer *peer)
{
    proc_kill(peer->child);
    pthread_mutex_lock(&self->lock);
    peer->next = self->ended;
    self->ended = peer;
    self->is_wanted = true;
    thread_worker_wake(&self->keeper);
    pthread_mutex_unlock(&self->lock);
}

static mcp_status copy_arguments(columns_sealed *self, mcp_error *err)
{
    const char *const *argv = self->options.argv;

    for (size_t i = 0; argv && argv[i]; i++) {
        self->argv[i] = i < ARGUMENTS_MAX ? mcp_alloc_strdup(argv[i]) : NULL;
        if (!self->argv[i])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the arguments of a process");
    }
    if (argv)
        self->options.argv = (const char *const *)self->argv;
    return MCP_OK;
}

mcp_status columns_sealed_open(columns_sealed **out, const columns_sealed_options *options,
                               mcp_error *err)
{
    columns_sealed *self = mcp_alloc_zeroed(1, sizeof *self);
    mcp_status st;

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for queries");
    self->options = *options;
    if (self->options.memory_bytes == 0)
        self->options.memory_bytes = MEMORY_BYTES;
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->keeper, &self->lock);
    st = copy_arguments(self, err);
    if (st == MCP_OK)
        st = thread_worker_start(&self->keeper, keep, self, err);
    if (st == MCP_OK)
        *out = self;
    else
        columns_sealed_close(self);
    return st;
}

void columns_sealed_close(columns_sealed *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->keeper);
    peer_free(self->ready);
    while (self->ended) {
        struct peer *next = self->ended->next;
        peer_free(self->ended);
        self->ended = next;
    }
    proc_fork_server_free(self->server);
    for (size_t i = 0; i < ARGUMENTS_MAX; i++)
        free(self->argv[i]);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

/* ---- a query --------------------------------------------------------------------------------- */

struct run {
    struct peer *peer;
    const columns_sealed_request *request;
    const columns_sealed_sink *sink;
    columns_sealed_end *end;
    mcp_error *err;
    int64_t until_ms;
    struct wire_frame frame;
    size_t columns;
    bool has_columns;
    bool has_ended;
};

static mcp_status broken(const struct run *self)
{
    return mcp_error_set(self->err, MCP_E_IO, "the process of a query answers what is no answer");
}

static mcp_status take_columns(struct run *self)
{
    struct wire_reader in = { self->frame.body.data, self->frame.body.length, 0, false };
    size_t count = wire_count(&in, COLUMNS_SEALED_COLUMNS_MAX);
    const char **texts = mcp_alloc_zeroed(2 * count + 1, sizeof *texts);
    mcp_status st = MCP_OK;

    if (!texts)
        return mcp_error_set(self->err, MCP_E_NOMEM, "no memory for the columns of a result");
    for (size_t i = 0; i < count; i++) {
        texts[i] = wire_string(&in);
        texts[count + i] = wire_string(&in);
    }
    if (in.is_bad || count == 0 || self->has_columns)
        st = broken(self);
    self->columns = count;
    self->has_columns = true;
    if (st == MCP_OK)
        st = self->sink->columns(self->sink->data, count, texts, texts + count);
    free(texts);
    return st;
}

/* Whether these are cells of so many whole rows. */
static bool are_rows(const char *bytes, size_t length, uint64_t cells)
{
    columns_cell_reader reader = { bytes, length, 0 };
    columns_cell cell;

    for (uint64_t i = 0; i < cells; i++)
        if (!columns_cell_next(&reader, &cell))
            return false;
    return reader.at == length;
}

static mcp_status take_rows(struct run *self)
{
    struct wire_reader in = { self->frame.body.data, self->frame.body.length, 0, false };
    size_t rows = wire_count(&in, self->frame.body.length);
    const char *cells = in.bytes + in.at;
    size_t length = in.length - in.at;

    if (in.is_bad || !self->has_columns || !are_rows(cells, length, (uint64_t)rows * self->columns))
        return broken(self);
    return self->sink->rows(self->sink->data, rows, cells, length);
}

static mcp_status take_end(struct run *self)
{
    struct wire_reader in = { self->frame.body.data, self->frame.body.length, 0, false };

    self->end->is_cut = wire_uint(&in) != 0;
    self->end->is_volatile = wire_uint(&in) != 0;
    self->end->is_of_catalog = wire_uint(&in) != 0;
    self->has_ended = true;
    return in.is_bad || !self->has_columns ? broken(self) : MCP_OK;
}

static mcp_status take_frame(struct run *self)
{
    switch (self->frame.kind) {
    case WIRE_COLUMNS:
        return take_columns(self);
    case WIRE_ROWS:
        return take_rows(self);
    case WIRE_END:
        return take_end(self);
    case WIRE_FAILED:
        return peer_failure(self->end, &self->frame, self->err);
    default:
        return broken(self);
    }
}

static bool should_stop(const struct run *self)
{
    return self->sink->should_stop && self->sink->should_stop(self->sink->data);
}

/* The next frame, or MCP_E_TIMEOUT, or MCP_E_STOPPED by `should_stop`. */
static mcp_status next_frame(struct run *self)
{
    mcp_status st = MCP_E_TIMEOUT;

    wire_frame_reset(&self->frame);
    while (st == MCP_E_TIMEOUT) {
        int64_t now = mcp_clock_mono_ms();
        if (now >= self->until_ms)
            return mcp_error_set(self->err, MCP_E_TIMEOUT, "the query took longer than %lld ms",
                                 (long long)self->request->timeout_ms);
        if (should_stop(self))
            return mcp_error_set(self->err, MCP_E_STOPPED, "the query was cancelled");
        int64_t slice = now + SLICE_MS;
        st = wire_receive(self->peer->socket, &self->frame,
                          slice < self->until_ms ? slice : self->until_ms, self->err);
        if (st == MCP_E_STOPPED)
            return peer_lost(self->peer, self->end, self->err);
    }
    return st;
}

static mcp_status send_request(struct run *self, const columns_sealed_options *options)
{
    struct sealed_settings settings = { options->memory_bytes, options->threads };
    const columns_sealed_request *request = self->request;
    mcp_buf body;
    mcp_status st = peer_send_files(self->peer, request->fds, request->fd_count,
                                    !options->is_unprotected, self->until_ms, self->err);

    mcp_buf_init(&body, COLUMNS_SEALED_REQUEST_MAX);
    if (st == MCP_OK && request_write(&body, request, &settings) != MCP_OK)
        st = mcp_error_set(self->err, body.status, "a query with its views is too long");
    if (st == MCP_OK)
        st = wire_send(self->peer->socket, WIRE_REQUEST, body.data, body.length, NULL, 0,
                       self->until_ms, self->err);
    mcp_buf_clear(&body);
    return st == MCP_E_STOPPED ? peer_lost(self->peer, self->end, self->err) : st;
}

/* The engine may end the query by itself, which costs less than to kill it. */
static void interrupt(struct run *self)
{
    int64_t until_ms = mcp_clock_mono_ms() + GRACE_MS;

    if (wire_send(self->peer->socket, WIRE_INTERRUPT, NULL, 0, NULL, 0, until_ms, NULL) != MCP_OK)
        return;
    while (wire_receive(self->peer->socket, &self->frame, until_ms, NULL) == MCP_OK) {
        if (self->frame.kind == WIRE_FAILED || self->frame.kind == WIRE_END)
            return;
        wire_frame_reset(&self->frame);
    }
}

static mcp_status converse(struct run *self, const columns_sealed_options *options)
{
    mcp_status st = send_request(self, options);

    while (st == MCP_OK && !self->has_ended) {
        st = next_frame(self);
        if (st == MCP_E_TIMEOUT || st == MCP_E_STOPPED) {
            interrupt(self);
            return st;
        }
        if (st == MCP_OK)
            st = take_frame(self);
    }
    return st;
}

static mcp_status check(const columns_sealed_request *request, mcp_error *err)
{
    if (request->rows_max == 0 || request->timeout_ms <= 0)
        return mcp_error_set(err, MCP_E_PARAMS, "a query needs room for a row and a time limit");
    if (request->fd_count > COLUMNS_SEALED_FILES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a query has at most %d files",
                             COLUMNS_SEALED_FILES_MAX);
    if (request->param_count > COLUMNS_SEALED_PARAMS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a query has at most %d parameters",
                             COLUMNS_SEALED_PARAMS_MAX);
    return MCP_OK;
}

mcp_status columns_sealed_query(columns_sealed_end *end, columns_sealed *self,
                                const columns_sealed_request *request,
                                const columns_sealed_sink *sink, mcp_error *err)
{
    mcp_error own = MCP_ERROR_INIT;
    struct run run = { .request = request, .sink = sink, .end = end, .err = err ? err : &own };
    mcp_status st = check(request, run.err);

    memset(end, 0, sizeof *end);
    mcp_buf_init(&run.frame.body, PEER_FRAME_MAX);
    if (st == MCP_OK)
        st = take_peer(&run.peer, self, run.err);
    if (st == MCP_OK) {
        run.until_ms = mcp_clock_mono_ms() + request->timeout_ms;
        st = converse(&run, &self->options);
        give_up(self, run.peer);
    }
    mcp_buf_clear(&run.frame.body);
    if (st != MCP_OK && end->message[0] == '\0')
        snprintf(end->message, sizeof end->message, "%s", run.err->message);
    return st;
}
