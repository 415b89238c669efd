/*
 * http.c - the server: its endpoints, its list of connections, its clock, its end; and what can be
 * read of a request.
 *
 * Deadlines are kept in the connections, and one timer sweeps over all of them. A sweep over ten
 * thousand takes half a millisecond, once a second; a timer for each would need more memory than
 * the connection itself.
 *
 * Connections with something to do are `due`, and are settled just before the loop waits.
 */
#include "net/http.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "net/http/connection.h"

#define SWEEP_MIN_MS 10
#define SWEEP_MAX_MS 1000
#define ANSWER_HEAD_MAX ((size_t)64 * 1024)

/* A listener, and what its connections have in common. */
struct http_endpoint {
    http_endpoint *next;
    mcp__http *http;
    mcp__listener *listener;
    mcp__tls_context *tls;
    bool is_unix;
};

/* ---- the loop's turn ------------------------------------------------------------------------- */

static void pause_endpoints(mcp__http *http, bool is_full)
{
    http->is_full = is_full;
    for (http_endpoint *endpoint = http->endpoints; endpoint; endpoint = endpoint->next)
        mcp__listener_pause(endpoint->listener, is_full);
}

static void on_turn(uv_prepare_t *handle)
{
    mcp__http *http = handle->data;

    while (http->due) {
        connection *conn = http->due;
        http->due = conn->next_due;
        conn->is_due = false;
        mcp__connection_settle(conn, false);
    }
    if (http->is_full && http->count < http->options.connections_max)
        pause_endpoints(http, false);
    mcp__loop_callback *is_empty = http->is_empty; /* NULL: not stopping, or notified */
    if (http->count > 0 || !is_empty)
        return;
    http->is_empty = NULL;
    is_empty(http->is_empty_data);
}

static void on_sweep(void *data)
{
    mcp__http *http = data;
    int64_t now_ms = (int64_t)uv_now(&http->loop->uv);
    connection *next = NULL;

    for (connection *conn = http->connections; conn; conn = next) {
        next = conn->next;
        mcp__connection_tick(conn, now_ms);
    }
    if (http->count > 0)
        mcp__timer_start(http->sweep, http->sweep_ms);
}

/* ---- endpoints ------------------------------------------------------------------------------- */

static void on_accept(int fd, void *data)
{
    http_endpoint *endpoint = data;
    mcp__http *http = endpoint->http;
    mcp_error err = MCP_ERROR_INIT;

    if (fd < 0) {
        mcp_log_write(http->options.log, MCP_LOG_WARNING,
                      "a connection cannot be taken for now: %s", strerror(-fd));
        return;
    }
    bool is_first = http->count == 0;
    if (mcp__connection_new(http, fd, endpoint->is_unix, endpoint->tls, &err) != MCP_OK)
        mcp_log_write(http->options.log, MCP_LOG_WARNING, "a connection is refused: %s",
                      err.message);
    if (is_first)
        mcp__timer_start(http->sweep, http->sweep_ms);
    if (http->count >= http->options.connections_max)
        pause_endpoints(http, true);
}

/* What to listen on. */
struct place {
    const char *path; /* of a Unix-domain socket; NULL: not there */
    const char *host; /* NULL: `fd` */
    int port;
    int fd;
    bool is_unix;
};

static mcp_status listen_at(http_endpoint *endpoint, const struct place *place, mcp_error *err)
{
    mcp__loop *loop = endpoint->http->loop;

    if (place->path)
        return mcp__listen_unix(&endpoint->listener, loop, place->path, on_accept, endpoint, err);
    if (place->host)
        return mcp__listen_tcp(&endpoint->listener, loop, place->host, place->port, on_accept,
                               endpoint, err);
    return mcp__listen_socket(&endpoint->listener, loop, place->fd, on_accept, endpoint, err);
}

static mcp_status add_endpoint(mcp__http *http, const struct place *place, mcp__tls_context *tls,
                               mcp_error *err)
{
    http_endpoint *endpoint = mcp_alloc_zeroed(1, sizeof *endpoint);

    if (tls && !http->plain)
        http->plain = mcp_alloc(MCP__INPUT_SIZE + MCP__TLS_ROOM);
    if (!endpoint || (tls && !http->plain)) {
        free(endpoint);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to listen with");
    }
    *endpoint = (http_endpoint){
        .next = http->endpoints, .http = http, .tls = tls, .is_unix = place->is_unix
    };
    mcp_status st = listen_at(endpoint, place, err);
    if (st != MCP_OK) {
        free(endpoint);
        return st;
    }
    http->endpoints = endpoint;
    mcp__listener_pause(endpoint->listener, http->is_full);
    return MCP_OK;
}

mcp_status mcp__http_listen(mcp__http *http, const char *host, int port, mcp__tls_context *tls,
                            int *real, mcp_error *err)
{
    const struct place place = { .host = host, .port = port };
    mcp_status st = add_endpoint(http, &place, tls, err);

    if (st == MCP_OK && real)
        *real = mcp__listener_port(http->endpoints->listener);
    return st;
}

mcp_status mcp__http_listen_unix(mcp__http *http, const char *path, mcp_error *err)
{
    const struct place place = { .path = path, .is_unix = true };

    return add_endpoint(http, &place, NULL, err);
}

mcp_status mcp__http_listen_socket(mcp__http *http, int fd, bool is_unix, mcp__tls_context *tls,
                                   mcp_error *err)
{
    const struct place place = { .fd = fd, .is_unix = is_unix };

    return add_endpoint(http, &place, is_unix ? NULL : tls, err);
}

static void close_endpoints(mcp__http *http)
{
    while (http->endpoints) {
        http_endpoint *endpoint = http->endpoints;
        http->endpoints = endpoint->next;
        mcp__listener_free(endpoint->listener);
        free(endpoint);
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void default_size(size_t *value, size_t standard)
{
    if (*value == 0)
        *value = standard;
}

static void default_ms(int64_t *value, int64_t standard)
{
    if (*value == 0)
        *value = standard;
}

static void fill_in(mcp__http_options *options)
{
    default_size(&options->head_max_bytes, (size_t)16 * 1024);
    default_size(&options->line_max_bytes, (size_t)8 * 1024);
    default_size(&options->fields_max, 100);
    default_size(&options->body_max_bytes, (size_t)4 * 1024 * 1024);
    default_size(&options->bodies_max_bytes, (size_t)1024 * 1024 * 1024);
    default_size(&options->connections_max, 10000);
    default_size(&options->queue_max_bytes, (size_t)4 * 1024 * 1024);
    default_size(&options->queue_hard_bytes, (size_t)64 * 1024 * 1024);
    default_ms(&options->head_timeout_ms, 10000);
    default_ms(&options->body_timeout_ms, 30000);
    default_ms(&options->idle_timeout_ms, 75000);
    default_ms(&options->stall_timeout_ms, 30000);
}

/* A quarter of the shortest time-out, so that none is late by more than that. */
static int64_t sweep_interval(const mcp__http_options *options)
{
    int64_t all[] = { options->head_timeout_ms, options->body_timeout_ms, options->idle_timeout_ms,
                      options->stall_timeout_ms };
    int64_t shortest = SWEEP_MAX_MS * 4;

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        shortest = all[i] < shortest ? all[i] : shortest;
    return shortest / 4 < SWEEP_MIN_MS ? SWEEP_MIN_MS : shortest / 4;
}

static mcp_status start(mcp__http *http, mcp_error *err)
{
    http->input = mcp_alloc(MCP__INPUT_SIZE);
    if (!http->input)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an HTTP server");
    mcp_status st = mcp__timer_new(&http->sweep, http->loop, on_sweep, http, err);
    if (st != MCP_OK)
        return st;
    http->turn = mcp_alloc_zeroed(1, sizeof *http->turn);
    if (!http->turn)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an HTTP server");
    http->turn->data = http;
    (void)uv_prepare_init(&http->loop->uv, http->turn); /* these two cannot fail */
    (void)uv_prepare_start(http->turn, on_turn);
    return MCP_OK;
}

mcp_status mcp__http_new(mcp__http **out, mcp__loop *loop, const mcp__http_options *options,
                         mcp_error *err)
{
    mcp__http *http = mcp_alloc_zeroed(1, sizeof *http);

    if (!http)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an HTTP server");
    http->loop = loop;
    http->options = *options;
    fill_in(&http->options);
    http->limits = (mcp__head_limits){ .block_max = http->options.head_max_bytes,
                                       .line_max = http->options.line_max_bytes,
                                       .fields_max = http->options.fields_max };
    http->bodies.max_bytes = http->options.bodies_max_bytes > http->options.body_max_bytes
                                 ? http->options.bodies_max_bytes
                                 : http->options.body_max_bytes;
    http->sweep_ms = sweep_interval(&http->options);
    mcp_buf_init(&http->head, ANSWER_HEAD_MAX);
    mcp_status st = start(http, err);
    if (st != MCP_OK) {
        mcp__http_free(http);
        return st;
    }
    *out = http;
    return MCP_OK;
}

void mcp__http_stop(mcp__http *http, mcp__loop_callback *is_empty, void *data)
{
    http->is_stopping = true;
    http->is_empty = is_empty;
    http->is_empty_data = data;
    close_endpoints(http);
    for (connection *conn = http->connections; conn; conn = conn->next) {
        if (conn->phase == PHASE_RAW)
            conn->tenant->stopping(conn->data);
        mcp__connection_due(conn);
    }
}

size_t mcp__http_connections(const mcp__http *http)
{
    return http->count;
}

void mcp__http_free(mcp__http *http)
{
    if (!http)
        return;
    close_endpoints(http);
    while (http->connections)
        mcp__connection_end(http->connections);
    mcp__handle_close((uv_handle_t *)http->turn);
    mcp__timer_free(http->sweep);
    mcp__request_free(http->spare);
    mcp__pieces_clear(&http->pieces);
    mcp_buf_clear(&http->head);
    free(http->input);
    free(http->plain);
    free(http);
}

/* ---- what can be read of a request ----------------------------------------------------------- */

const char *mcp__http_method(const mcp__http_exchange *exchange)
{
    return exchange->request->head.bytes;
}

const char *mcp__http_target(const mcp__http_exchange *exchange)
{
    const mcp__request_head *head = &exchange->request->head;

    return head->bytes + head->target;
}

const char *mcp__http_path(const mcp__http_exchange *exchange, size_t *length)
{
    const mcp__request_head *head = exchange->request ? &exchange->request->head : NULL;

    *length = head ? head->path_length : 0;
    return *length > 0 ? head->bytes + head->path : "";
}

const char *mcp__http_query(const mcp__http_exchange *exchange)
{
    const mcp__request_head *head = &exchange->request->head;

    return head->query > 0 ? head->bytes + head->query : NULL;
}

const char *mcp__http_field(const mcp__http_exchange *exchange, const char *name)
{
    size_t length = 0;

    return mcp__head_value(&exchange->request->head, name, &length);
}

size_t mcp__http_field_count(const mcp__http_exchange *exchange, const char *name)
{
    return mcp__head_count(&exchange->request->head, name);
}

bool mcp__http_field_has(const mcp__http_exchange *exchange, const char *name, const char *token)
{
    return mcp__head_has_token(&exchange->request->head, name, token);
}

bool mcp__http_field_at(const mcp__http_exchange *exchange, size_t index, const char **name,
                        const char **value)
{
    const mcp__request_head *head = &exchange->request->head;

    if (index >= head->count)
        return false;
    *name = head->bytes + head->fields[index].name;
    *value = head->bytes + head->fields[index].value;
    return true;
}

const char *mcp__http_body(const mcp__http_exchange *exchange, size_t *length)
{
    return mcp__request_body(exchange->request, length);
}

mcp_status mcp__http_body_take(mcp__http_exchange *exchange, mcp_buf *out, mcp_error *err)
{
    mcp__request *request = exchange->request;
    size_t length = 0;
    const char *body = mcp__request_body(request, &length);

    if (length > out->max_bytes)
        return mcp_error_set(err, MCP_E_LIMIT, "the body has more than %zu bytes", out->max_bytes);
    if (request->view_length == 0 && length > 0 && !out->data) {
        size_t max_bytes = out->max_bytes;
        *out = request->gathered;
        out->max_bytes = max_bytes;
        mcp_buf_init(&request->gathered, request->gathered.max_bytes);
        return MCP_OK;
    }
    mcp_buf_reset(out);
    if (mcp_buf_append(out, body, length) != MCP_OK)
        return mcp_error_set(err, out->status, "no memory for the body");
    return MCP_OK;
}

mcp_status mcp__http_keep(mcp__http_exchange *exchange, mcp_error *err)
{
    if (mcp__request_keep(exchange->request) != MCP_OK)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to keep a request");
    exchange->is_kept = true;
    return MCP_OK;
}

bool mcp__http_limit_body(mcp__http_exchange *exchange, size_t max_bytes)
{
    mcp__request *request = exchange->request;

    if (request->body_max > max_bytes) {
        request->body_max = max_bytes;
        request->gathered.max_bytes = max_bytes > 0 ? max_bytes : 1;
    }
    return request->declared <= max_bytes;
}

int mcp__http_minor(const mcp__http_exchange *exchange)
{
    return exchange->request->head.minor;
}

/* ---- the connection -------------------------------------------------------------------------- */

bool mcp__http_is_tls(const mcp__http_exchange *exchange)
{
    return exchange->tls != NULL;
}

bool mcp__http_is_unix(const mcp__http_exchange *exchange)
{
    return exchange->is_unix;
}

void *mcp__http_data(const mcp__http_exchange *exchange)
{
    return exchange->data;
}

void mcp__http_set_data(mcp__http_exchange *exchange, void *data)
{
    exchange->data = data;
}

size_t mcp__http_queued(const mcp__http_exchange *exchange)
{
    return exchange->out.queued;
}

bool mcp__http_is_full(const mcp__http_exchange *exchange)
{
    return exchange->out.queued >= exchange->http->options.queue_max_bytes;
}

bool mcp__http_is_blocked(const mcp__http_exchange *exchange)
{
    return exchange->is_blocked;
}

bool mcp__http_is_half_closed(const mcp__http_exchange *exchange)
{
    return exchange->is_half_closed;
}
