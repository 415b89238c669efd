/*
 * http.c - the server over HTTP: its endpoints, the course of a request, its clock.
 *
 * A request is judged here in this order: /health and /metrics, Host and Origin, preflight,
 * metadata, token; then its path decides which file serves it.
 *
 * Two timers run. One serves calls (time-outs, reports that were held): serve.c sets it to the
 * moment when the first call is due. The other steps over all peers and sessions about once a
 * second. What is written just before the loop waits would leave a turn late, so both write as
 * timers.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/call/client.h"
#include "mcp/core/dispatch.h"
#include "mcp/core/response.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/peer.h"
#include "mcp/transport/http/stream.h"
#include "mcp/transport/http_int.h"
#include "mcp/transport/rest/rest.h"
#include "mcp/transport/rest/route_table.h"
#include "net/listen.h"

#define EVENTS_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define REFUSAL_MAX_BYTES ((size_t)8 * 1024)
#define GATHERED_MAX_BYTES ((size_t)1024 * 1024)

/* ---- answers without a call ------------------------------------------------------------------ */

void mcp__httpd_answer_with(mcp__httpd *httpd, mcp__http_exchange *exchange, int status,
                            const char *field, const char *value, mcp_buf *json)
{
    mcp__head head = { .count = 0 };

    if (json)
        mcp__head_add(&head, "Content-Type", "application/json");
    mcp__head_add(&head, field, value);
    mcp__head_share(&head, mcp__origin_check_origin(httpd, exchange), MCP__EXPOSED);
    mcp__head_reply(&head, exchange, status, json);
}

void mcp__httpd_answer(mcp__httpd *httpd, mcp__http_exchange *exchange, int status, mcp_buf *json)
{
    mcp__httpd_answer_with(httpd, exchange, status, NULL, NULL, json);
}

void mcp__httpd_refuse(mcp__httpd *httpd, mcp__http_exchange *exchange, int status, int code,
                       const mcp_json *id, const char *message)
{
    mcp_json_writer writer;
    mcp_buf body;

    if (mcp__httpd_is_route(httpd, exchange)) {
        mcp__rest_refuse(httpd, exchange, status, message);
        return;
    }
    mcp_buf_init(&body, REFUSAL_MAX_BYTES + httpd->serve.options->limits.message_max_bytes);
    mcp__response_begin(&writer, &body, id, MCP_REVISION_NONE);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_int(&writer, "code", code);
    mcp_write_member_string(&writer, "message", message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp__httpd_answer(httpd, exchange, status,
                      mcp_json_writer_status(&writer) == MCP_OK ? &body : NULL);
    mcp_buf_clear(&body); /* what could not be written whole */
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Which functions serve a path; routes take all others. */
static const struct endpoint {
    const char *path;       /* NULL: that of MCP, http.path */
    size_t option;          /* of mcp_http_options: whether it is served; 0: always */
    bool is_probe;          /* answered before the check of Host, at exactly this path, HEAD too */
    const char *method;     /* the only one; NULL: `head` looks at it */
    mcp__endpoint *head;    /* NULL: nothing to do */
    mcp__endpoint *request; /* NULL: `head` answers */
} endpoints[] = {
#define OPTION(name) offsetof(mcp_http_options, name)
    { MCP__HEALTH_PATH, OPTION(health), true, "GET", mcp__metrics_health, NULL },
    { MCP__METRICS_PATH, OPTION(metrics), true, "GET", mcp__metrics_answer, NULL },
    { NULL, 0, false, NULL, mcp__streamable_head, mcp__streamable_request },
    { MCP__WEBSOCKET_PATH, OPTION(websocket), false, "GET", mcp__websocket_head,
      mcp__websocket_request },
    { MCP__SSE_PATH, OPTION(legacy_sse), false, "GET", NULL, mcp__sse_request },
    { MCP__SSE_MESSAGE_PATH, OPTION(legacy_sse), false, "POST", mcp__sse_post_head,
      mcp__sse_post_request },
#undef OPTION
};

/* @return NULL: the path is a route's */
static const struct endpoint *endpoint_of(const mcp__httpd *httpd,
                                          const mcp__http_exchange *exchange)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);
    bool is_slashed = length > 1 && path[length - 1] == '/'; /* people write "/mcp/" too */

    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        const struct endpoint *endpoint = &endpoints[i];
        const char *wanted = endpoint->path ? endpoint->path : httpd->http.path;
        size_t own = length - (is_slashed && !endpoint->is_probe);
        const char *option = (const char *)&httpd->http + endpoint->option;
        if (own == strlen(wanted) && memcmp(path, wanted, own) == 0 &&
            (endpoint->option == 0 || *(const bool *)option))
            return endpoint;
    }
    return NULL;
}

bool mcp__httpd_is_route(const mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    const struct endpoint *endpoint = endpoint_of(httpd, exchange);

    return !endpoint || endpoint->is_probe;
}

const char *mcp__httpd_transport(const mcp__http_exchange *exchange)
{
    return mcp__http_is_unix(exchange) ? "unix" : "tcp";
}

bool mcp__httpd_is_method(const mcp__http_exchange *exchange, const char *method)
{
    return strcmp(mcp__http_method(exchange), method) == 0;
}

static void look_at_method(mcp__httpd *httpd, mcp__http_exchange *exchange,
                           const struct endpoint *endpoint)
{
    if (endpoint->method && !mcp__httpd_is_method(exchange, endpoint->method) &&
        !(endpoint->is_probe && mcp__httpd_is_method(exchange, "HEAD")))
        mcp__httpd_answer_with(httpd, exchange, 405, "Allow",
                               endpoint->is_probe ? "GET, HEAD" : endpoint->method, NULL);
    else if (endpoint->head)
        endpoint->head(httpd, exchange);
}

static void look_at_head(mcp__httpd *httpd, mcp__http_exchange *exchange,
                         const struct endpoint *endpoint)
{
    const char *coding = mcp__http_field(exchange, "Content-Encoding");

    if (coding && *coding && strcasecmp(coding, "identity") != 0)
        mcp__httpd_refuse(httpd, exchange, 415, mcp_status_code(MCP_E_REQUEST), NULL,
                          "the body must come as it is, without a Content-Encoding");
    else if (!endpoint)
        mcp__rest_head(httpd, exchange);
    else if (!mcp__http_limit_body(exchange, httpd->serve.options->limits.message_max_bytes))
        mcp__httpd_refuse(httpd, exchange, 413, mcp_status_code(MCP_E_REQUEST), NULL,
                          "the body is too large");
    else
        look_at_method(httpd, exchange, endpoint);
}

static bool needs_no_token(const mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    return !httpd->authorize ||
           (mcp__httpd_is_route(httpd, exchange) && mcp__route_is_open(httpd, exchange));
}

static void on_head(mcp__http_exchange *exchange, void *data)
{
    mcp__httpd *httpd = data;
    const struct endpoint *endpoint = endpoint_of(httpd, exchange);

    httpd->counts.requests++;
    if (endpoint && endpoint->is_probe)
        look_at_method(httpd, exchange, endpoint);
    else if (mcp__origin_check_pass(httpd, exchange) &&
             !(httpd->authorize && mcp__authorize_metadata(httpd, exchange)) &&
             (needs_no_token(httpd, exchange) || mcp__authorize_head(httpd, exchange)))
        look_at_head(httpd, exchange, endpoint);
}

bool mcp__httpd_refusal_body(mcp_buf *body, const char **mime_type,
                             const mcp__http_exchange *exchange, int status, const char *message,
                             void *httpd)
{
    return mcp__httpd_is_route(httpd, exchange) &&
           mcp__rest_refusal_body(body, mime_type, httpd, exchange, status, message);
}

bool mcp__httpd_refusal(mcp_buf *body, const char **mime_type, struct mcp__head *head,
                        mcp_arena **fields, const mcp__httpd *httpd,
                        const mcp__http_exchange *exchange, int status, const char *message)
{
    return mcp__rest_refusal(body, mime_type, head, fields, httpd, exchange, status, message);
}

void mcp__httpd_step_later(mcp__httpd *httpd)
{
    if (!httpd->is_stepping)
        mcp__timer_start(httpd->peers_timer, httpd->peers_step_ms);
    httpd->is_stepping = true;
}

void mcp__httpd_quicken(mcp__httpd *httpd, int64_t every_ms)
{
    if (every_ms >= httpd->peers_step_ms)
        return;
    httpd->peers_step_ms = every_ms;
    httpd->is_stepping = false;
    mcp__httpd_step_later(httpd);
}

void mcp__httpd_dispatch(mcp__httpd *httpd, mcp__http_exchange *exchange,
                         const mcp_principal *caller)
{
    const struct endpoint *endpoint = endpoint_of(httpd, exchange);

    httpd->caller = caller;
    (endpoint ? endpoint->request : mcp__rest_request)(httpd, exchange);
    httpd->caller = NULL;
    mcp__httpd_step_later(httpd);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    mcp__httpd *httpd = data;

    if (needs_no_token(httpd, exchange))
        mcp__httpd_dispatch(httpd, exchange, NULL);
    else
        mcp__authorize_request(httpd, exchange);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    (void)data;
    if (owner)
        owner->hung_up(owner);
}

static void on_half_closed(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    (void)data;
    if (owner && owner->half_closed)
        owner->half_closed(owner);
    else
        mcp__http_break(exchange);
}

void mcp__httpd_calls_due(mcp__serve *self)
{
    int64_t now_ms = mcp_clock_mono_ms();

    mcp__session_table_tick(&((mcp__httpd *)self)->sessions, now_ms);
    (void)mcp__dispatch_tasks_tick(self->tasks, now_ms);
}

static void on_drained(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    if (owner && owner->drained)
        owner->drained(owner);
    else
        mcp__httpd_calls_due(data);
}

/* ---- bodies that are messages ---------------------------------------------------------------- */

/* A request whose body a worker reads. Its exchange stays open, so the next request of that
 * connection waits in the kernel. The body is the worker's own: when the client hangs up, what the
 * worker returns is dropped. */
struct pending {
    mcp__exchange_owner owner; /* first */
    mcp__httpd *httpd;
    mcp__http_exchange *exchange; /* NULL: the client is gone */
    mcp_arena *arena;             /* pays for `caller`; NULL: there is none */
    const mcp_principal *caller;
    mcp__body_taker *then;
};

static void refuse_body(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp_status status)
{
    mcp__httpd_refuse(httpd, exchange, 503, mcp_status_code(status), NULL,
                      mcp_status_words(status));
}

static void on_sender_hung_up(mcp__exchange_owner *owner)
{
    struct pending *pending = (struct pending *)owner;

    pending->exchange = NULL;
    pending->httpd->counts.hung_up++;
}

static void pending_free(struct pending *pending)
{
    mcp_arena_free(pending->arena);
    free(pending);
}

static void on_large(void *owner, mcp__incoming *incoming)
{
    struct pending *pending = owner;
    mcp__httpd *httpd = pending->httpd;
    mcp__http_exchange *exchange = pending->exchange;

    if (exchange)
        mcp__http_set_data(exchange, NULL);
    if (exchange && httpd->serve.is_ending) {
        refuse_body(httpd, exchange, MCP_E_STOPPED);
    } else if (exchange) {
        httpd->caller = pending->caller;
        pending->then(httpd, exchange, incoming);
        httpd->caller = NULL;
        mcp__httpd_step_later(httpd);
    }
    pending_free(pending);
}

static void read_large(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__body_taker *then)
{
    struct pending *pending = mcp_alloc_zeroed(1, sizeof *pending);
    mcp_status st = MCP_E_NOMEM;
    mcp_buf body;

    mcp_buf_init(&body, httpd->serve.options->limits.message_max_bytes);
    if (pending)
        *pending = (struct pending){
            .owner.hung_up = on_sender_hung_up, .httpd = httpd, .exchange = exchange, .then = then
        };
    if (pending && mcp__httpd_copy_caller(httpd, &pending->arena, &pending->caller) &&
        mcp__http_body_take(exchange, &body, NULL) == MCP_OK &&
        mcp__http_keep(exchange, NULL) == MCP_OK)
        st = mcp__serve_read(&httpd->serve, &body, on_large, pending, NULL);
    if (st == MCP_OK) {
        mcp__http_set_data(exchange, &pending->owner);
        return;
    }
    mcp_buf_clear(&body);
    if (pending)
        pending_free(pending);
    refuse_body(httpd, exchange, st);
}

void mcp__httpd_read_body(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__body_taker *then)
{
    mcp__incoming incoming;
    size_t length = 0;
    const char *body = mcp__http_body(exchange, &length);

    if (length > MCP__INCOMING_SMALL) {
        read_large(httpd, exchange, then);
        return;
    }
    mcp__incoming_read(&incoming, httpd->serve.options, httpd->serve.context.budget, body, length);
    then(httpd, exchange, &incoming);
    mcp__incoming_clear(&incoming);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* The stream that GET opened goes with its session; those of requests end with their calls. */
static void on_session_ending(mcp__session_entry *entry, void *data)
{
    mcp__httpd *httpd = data;
    mcp__httpd_peer *peer = entry->open_streams > 0 ? mcp__httpd_peer_find(entry, 0) : NULL;

    mcp__histogram_add(&httpd->session_times, mcp_clock_mono_ns() - entry->begun_ns);
    if (peer)
        mcp__httpd_peer_end(peer);
}

/* Streams that wait for no answer. */
static void end_streams(mcp__httpd *httpd)
{
    mcp__httpd_peer *next;

    mcp__streams_end(httpd);
    for (mcp__httpd_peer *peer = LIST_FIRST(&httpd->peers); peer; peer = next) {
        next = LIST_NEXT(peer, link);
        if (!peer->is_session && !peer->is_request)
            mcp__httpd_peer_end(peer);
        else if (peer->is_session && mcp__dispatch_is_idle(&peer->entry->session))
            mcp__session_table_end(&httpd->sessions, peer->entry);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void on_step(void *data)
{
    mcp__httpd *httpd = data;
    int64_t now_ms = mcp_clock_mono_ms();
    mcp__httpd_peer *next;

    for (mcp__httpd_peer *peer = LIST_FIRST(&httpd->peers); peer; peer = next) {
        next = LIST_NEXT(peer, link);
        mcp__httpd_peer_tick(peer, now_ms);
    }
    mcp__streams_tick(httpd, now_ms);
    (void)mcp__session_table_expire(&httpd->sessions, now_ms);
    if (httpd->serve.is_ending)
        end_streams(httpd);
    httpd->is_stepping = false;
    if (!LIST_EMPTY(&httpd->peers) || !LIST_EMPTY(&httpd->streams) || httpd->sessions.count > 0)
        mcp__httpd_step_later(httpd);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static int64_t settle(mcp__serve *self)
{
    int64_t calls_ms = mcp__session_table_settle(&((mcp__httpd *)self)->sessions);
    int64_t tasks_ms = mcp__dispatch_tasks_due_ms(self->tasks);

    return calls_ms < tasks_ms ? calls_ms : tasks_ms;
}

static void on_empty(void *data)
{
    ((mcp__httpd *)data)->is_empty = true;
}

static void close_listener(mcp__serve *self)
{
    mcp__httpd *httpd = (mcp__httpd *)self;

    mcp__http_stop(httpd->listener, on_empty, httpd);
    end_streams(httpd);
    if (httpd->http.stopping)
        httpd->http.stopping(httpd->http.data);
    httpd->http.stopping = NULL; /* told once */
}

static void log_reload(const mcp__httpd *httpd, mcp_status st, const char *what,
                       const mcp_error *err)
{
    if (st == MCP_OK)
        mcp_log_write(&httpd->serve.options->log, MCP_LOG_INFO, "%s: reloaded", what);
    else
        mcp_log_write(&httpd->serve.options->log, MCP_LOG_ERROR,
                      "%s: not reloaded, the earlier one remains: %s", what, err->message);
}

static void reload(mcp__serve *self)
{
    mcp__httpd *httpd = (mcp__httpd *)self;
    const mcp_http_options *http = &httpd->http;
    mcp_error err = MCP_ERROR_INIT;

    if (httpd->tls)
        log_reload(httpd,
                   mcp__tls_context_reload(httpd->tls, http->tls_certificate, http->tls_key, &err),
                   "the certificate", &err);
    if (httpd->authorize)
        log_reload(httpd, mcp__authorize_reload(httpd->authorize, &err), "the tokens", &err);
    http->reload(http->data);
}

static void refuse_waiting(mcp__serve *self)
{
    mcp__session_table_refuse_waiting(&((mcp__httpd *)self)->sessions);
}

static void stop_calls(mcp__serve *self, mcp_stop why)
{
    mcp__session_table_stop(&((mcp__httpd *)self)->sessions, why);
}

static void abandon(mcp__serve *self)
{
    mcp__session_table_abandon(&((mcp__httpd *)self)->sessions);
}

static bool is_done(const mcp__serve *self)
{
    const mcp__httpd *httpd = (const mcp__httpd *)self;

    return httpd->is_empty && httpd->writing == 0 && mcp__session_table_is_idle(&httpd->sessions);
}

static const mcp__serve_driver driver = {
    .settle = settle,
    .due = mcp__httpd_calls_due,
    .close = close_listener,
    .refuse_waiting = refuse_waiting,
    .stop_calls = stop_calls,
    .abandon = abandon,
    .reload = reload,
    .is_done = is_done,
};

/* The loop turns. */
static void on_alive(void *data)
{
    mcp__httpd *httpd = data;

    httpd->http.alive(httpd->http.data);
    mcp__timer_start(httpd->alive_timer, httpd->http.alive_ms);
}

static mcp_status start_alive(mcp__httpd *httpd, mcp_error *err)
{
    if (!httpd->http.alive || httpd->http.alive_ms <= 0)
        return MCP_OK;
    mcp_status st = mcp__timer_new(&httpd->alive_timer, httpd->serve.loop, on_alive, httpd, err);
    if (st == MCP_OK)
        mcp__timer_start(httpd->alive_timer, httpd->http.alive_ms);
    return st;
}

/* ---- options --------------------------------------------------------------------------------- */

static void fill_options(mcp_http_options *http, size_t message_max)
{
    mcp_http_limits *limits = &http->limits;
#define DEFAULT(field, value) (field) = (field) != 0 ? (field) : (value)

    if (!http->host)
        http->host = http->socket_count > 0 ? "" : "127.0.0.1";
    if (!http->path)
        http->path = "/mcp";
    DEFAULT(limits->connections_max, 10000);
    DEFAULT(limits->sessions_max, 10000);
    DEFAULT(limits->session_idle_ms, (int64_t)60 * 60 * 1000);
    DEFAULT(limits->keepalive_ms, 15000);
    DEFAULT(limits->stream_after_ms, 10000);
    DEFAULT(limits->body_max_bytes, message_max);
#undef DEFAULT
}

/* How often peers and sessions are looked at: in time for the shortest of their intervals. */
static int64_t step_ms(const mcp_http_limits *limits)
{
    int64_t shortest = limits->keepalive_ms < limits->stream_after_ms ? limits->keepalive_ms
                                                                      : limits->stream_after_ms;
    int64_t step = shortest / 4 > 1000 ? 1000 : shortest / 4 + 1;

    return limits->session_idle_ms < step * 4 ? limits->session_idle_ms / 4 + 1 : step;
}

static mcp_status check_open(const mcp_http_options *http, const char *host, mcp_error *err)
{
    if (host[0] == '\0' || mcp_host_is_loopback(host) || http->auth || http->insecure_no_auth)
        return MCP_OK;
    return mcp_error_set(
        err, MCP_E_DENIED,
        "%s is not a loopback address: requires auth, or insecure_no_auth set explicitly", host);
}

static mcp_status check_sockets(const mcp_http_options *http, mcp_error *err)
{
    char host[MCP_ADDRESS_SIZE];
    mcp_status st = MCP_OK;
    int port = 0;

    if (http->socket_count > 0 && (http->host[0] || http->port || http->unix_path))
        return mcp_error_set(err, MCP_E_PARAMS, "sockets are given, and an address too");
    if (http->socket_count > 0 && !http->sockets)
        return mcp_error_set(err, MCP_E_PARAMS, "sockets are counted, and none is given");
    if (http->socket_count > MCP_SOCKETS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "more than %d sockets are given", MCP_SOCKETS_MAX);
    for (size_t i = 0; i < http->socket_count && st == MCP_OK; i++) {
        st = mcp_socket_address(host, &port, http->sockets[i], err);
        if (st == MCP_OK)
            st = check_open(http, host, err);
    }
    return st;
}

/* Requests are compared with it without the slash at their end, and have no such bytes. */
static mcp_status check_path(const char *path, mcp_error *err)
{
    size_t length = strlen(path);

    if (path[0] != '/')
        return mcp_error_set(err, MCP_E_PARAMS, "the path of MCP must begin with /");
    if (length > 1 && path[length - 1] == '/')
        return mcp_error_set(err, MCP_E_PARAMS, "the path of MCP must not end with /: %s", path);
    for (size_t i = 0; i < length; i++)
        if (path[i] <= 0x20 || path[i] == 0x7f || strchr("?#", path[i]))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the path of MCP has a byte that no path of a request has: %s",
                                 path);
    return MCP_OK;
}

static mcp_status check_limits(const mcp_http_limits *limits, mcp_error *err)
{
    if (limits->connections_max < 0 || limits->sessions_max < 0 || limits->session_idle_ms < 0 ||
        limits->keepalive_ms < 0 || limits->stream_after_ms < 0)
        return mcp_error_set(err, MCP_E_PARAMS, "a bound in the options of HTTP is negative");
    return MCP_OK;
}

static mcp_status check_options(const mcp_http_options *http, mcp_error *err)
{
    mcp_status st = check_path(http->path, err);

    if (st != MCP_OK)
        return st;
    if (http->host[0] == '\0' && !http->unix_path && http->socket_count == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "neither an address nor a socket to listen on");
    if (!http->tls_certificate != !http->tls_key)
        return mcp_error_set(err, MCP_E_PARAMS, "TLS needs a certificate and its key");
    if (http->port < 0 || http->port > 65535)
        return mcp_error_set(err, MCP_E_PARAMS, "there is no port %d", http->port);
    st = mcp__origin_check_lists(http->hosts, http->origins, err);
    if (st == MCP_OK)
        st = check_sockets(http, err);
    return st == MCP_OK ? check_open(http, http->host, err) : st;
}

mcp_status mcp_socket_address(char host[MCP_ADDRESS_SIZE], int *port, int socket, mcp_error *err)
{
    if (!host || !port)
        return mcp_error_set(err, MCP_E_PARAMS, "no room for the address");
    return mcp__socket_address(host, port, socket, err);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static mcp_status make_sessions(mcp__httpd *httpd, mcp_error *err)
{
    mcp__session_table_options options = {
        .context = httpd->serve.context,
        .max = (size_t)httpd->http.limits.sessions_max,
        .idle_ms = httpd->http.limits.session_idle_ms,
        .events_max_bytes = EVENTS_MAX_BYTES,
        .ending = on_session_ending,
        .data = httpd,
    };
    mcp__session_entry *shared = NULL;

    mcp__session_table_init(&httpd->sessions, &options);
    return mcp__session_table_share(&shared, &httpd->sessions, err);
}

/* Every answer says that it is of no other type than it names, and that pages of other origins may
 * not embed it. */
static mcp_status make_listener(mcp__httpd *httpd, mcp_error *err)
{
    static const mcp__http_field_out policies[] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
    };
    size_t message_max = httpd->serve.options->limits.message_max_bytes;
    size_t body_max = httpd->http.limits.body_max_bytes;
    size_t descriptors = 0;
    mcp__http_options options = {
        .body_max_bytes = body_max > message_max ? body_max : message_max,
        .bodies_max_bytes = httpd->serve.options->limits.calls_max_bytes,
        .connections_max = (size_t)httpd->http.limits.connections_max,
        .handler = { .head = on_head,
                     .request = on_request,
                     .hung_up = on_hung_up,
                     .half_closed = on_half_closed,
                     .drained = on_drained,
                     .refused = mcp__httpd_refusal_body,
                     .data = httpd },
        .fields = policies,
        .field_count = sizeof policies / sizeof policies[0],
        .log = &httpd->serve.options->log,
    };

    if (mcp__descriptors_raise(&descriptors, NULL) == MCP_OK && descriptors > 64 &&
        options.connections_max > descriptors - 64)
        options.connections_max = descriptors - 64;
    return mcp__http_new(&httpd->listener, httpd->serve.loop, &options, err);
}

static mcp_status open_sockets(mcp__httpd *httpd, mcp_error *err)
{
    mcp_http_options *http = &httpd->http;
    char host[MCP_ADDRESS_SIZE];
    mcp_status st = MCP_OK;
    int port = 0;

    for (size_t i = 0; i < http->socket_count && st == MCP_OK; i++) {
        st = mcp_socket_address(host, &port, http->sockets[i], err);
        if (st == MCP_OK)
            st = mcp__http_listen_socket(httpd->listener, http->sockets[i], !host[0], httpd->tls,
                                         err);
        if (st != MCP_OK || !host[0] || http->host[0])
            continue;
        memcpy(httpd->address, host, sizeof httpd->address);
        http->host = httpd->address;
        http->port = port;
    }
    return st;
}

static mcp_status open_endpoints(mcp__httpd *httpd, mcp_error *err)
{
    mcp_http_options *http = &httpd->http;
    mcp_status st = MCP_OK;

    if (http->tls_certificate)
        st = mcp__tls_context_new(&httpd->tls, http->tls_certificate, http->tls_key, err);
    if (st == MCP_OK && http->socket_count > 0)
        st = open_sockets(httpd, err);
    else if (st == MCP_OK && http->host[0] != '\0')
        st = mcp__http_listen(httpd->listener, http->host, http->port, httpd->tls, &http->port,
                              err);
    if (st == MCP_OK && http->unix_path)
        st = mcp__http_listen_unix(httpd->listener, http->unix_path, err);
    if (st == MCP_OK && http->auth)
        st = mcp__authorize_new(&httpd->authorize, http, httpd->serve.context.scopes, err);
    if (st == MCP_OK && http->reload)
        st = mcp__serve_watch_hangup(&httpd->serve, err);
    if (st == MCP_OK)
        st = start_alive(httpd, err);
    if (st == MCP_OK && http->ready)
        http->ready(http->host[0] ? http->port : 0, http->data);
    return st;
}

static mcp_status open_transport(mcp__httpd *httpd, mcp__serve_setup *setup, mcp_error *err)
{
    mcp_status st = check_options(&httpd->http, err);

    if (st == MCP_OK)
        st = mcp__route_check(httpd->http.routes, err);
    if (st == MCP_OK)
        st = mcp__route_inline_budgets(&httpd->inline_budgets, httpd->http.routes, err);
    if (httpd->http.metrics) /* before anybody copies the context: tasks are counted too */
        setup->context.durations = &httpd->durations;
    if (st == MCP_OK)
        st = mcp__serve_open(&httpd->serve, &driver, setup,
                             mcp__route_long_count(httpd->http.routes),
                             setup->context.options->limits.calls_max_queued, err);
    if (st == MCP_OK)
        st = make_sessions(httpd, err);
    if (st == MCP_OK)
        st = mcp__timer_new(&httpd->peers_timer, httpd->serve.loop, on_step, httpd, err);
    if (st == MCP_OK)
        st = make_listener(httpd, err);
    if (st == MCP_OK)
        st = open_endpoints(httpd, err);
    return st;
}

/* Returns false when a handler did not end: it keeps the pool, the loop and its call. */
static bool close_transport(mcp__httpd *httpd)
{
    mcp__http_free(httpd->listener);
    mcp__tls_context_free(httpd->tls);
    mcp__timer_free(httpd->peers_timer);
    mcp__timer_free(httpd->alive_timer);
    if (httpd->serve.stop && !mcp__serve_close(&httpd->serve))
        return false;
    mcp__authorize_free(httpd->authorize);
    if (httpd->sessions.shared)
        mcp__session_table_clear(&httpd->sessions);
    mcp__serve_free(&httpd->serve);
    free(httpd->inline_budgets);
    mcp__durations_clear(&httpd->durations);
    mcp_buf_clear(&httpd->gathered);
    free(httpd);
    return true;
}

mcp_status mcp__httpd_serve(mcp__serve_setup *setup, const mcp_http_options *options,
                            mcp_error *err)
{
    mcp__httpd *httpd = mcp_alloc_zeroed(1, sizeof *httpd);

    if (!httpd)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to serve");
    mcp_buf_init(&httpd->gathered, GATHERED_MAX_BYTES);
    mcp__durations_init(&httpd->durations);
    httpd->process_start_s = mcp__process_start_s();
    httpd->http = *options;
    mcp_status st = check_limits(&httpd->http.limits, err);
    fill_options(&httpd->http, setup->context.options->limits.message_max_bytes);
    httpd->peers_step_ms = step_ms(&httpd->http.limits);
    if (st == MCP_OK)
        st = open_transport(httpd, setup, err);
    if (st == MCP_OK)
        mcp__serve_run(&httpd->serve);
    setup->is_left_running = !close_transport(httpd);
    return st;
}
