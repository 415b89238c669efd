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
#include "mcp/transport/http/http.h"
#include "mcp/core/dispatch.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/task/task.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/header_fields.h"
#include "mcp/transport/http/http_int.h"
#include "mcp/transport/http/metrics.h"
#include "mcp/transport/http/origin_check.h"
#include "mcp/transport/http/peer.h"
#include "mcp/transport/http/stream.h"
#include "mcp/transport/sse_legacy.h"
#include "mcp/transport/streamable.h"
#include "mcp/transport/websocket.h"
#include "net/listen.h"

#define EVENTS_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define REFUSAL_MAX_BYTES ((size_t)8 * 1024)
#define GATHERED_MAX_BYTES ((size_t)1024 * 1024)

/* ---- answers without a call ------------------------------------------------------------------ */

void mcp__web_answer_with(mcp__web *web, mcp__http_exchange *exchange, int status,
                          const char *field, const char *value, mcp_buf *json)
{
    mcp__head head = { .count = 0 };

    if (json)
        mcp__head_add(&head, "Content-Type", "application/json");
    if (field)
        mcp__head_add(&head, field, value);
    mcp__head_share(&head, mcp__origin_check_origin(web, exchange));
    mcp__http_head_out out = mcp__head_out(&head, status);
    if (json)
        (void)mcp__http_reply_buf(exchange, &out, json, NULL);
    else
        (void)mcp__http_reply(exchange, &out, NULL, 0, NULL);
}

void mcp__web_answer(mcp__web *web, mcp__http_exchange *exchange, int status, mcp_buf *json)
{
    mcp__web_answer_with(web, exchange, status, NULL, NULL, json);
}

void mcp__web_refuse(mcp__web *web, mcp__http_exchange *exchange, int status, int code,
                     const mcp_json *id, const char *message)
{
    mcp_json_writer writer;
    mcp_buf body;

    if (mcp__web_is_route(web, exchange)) {
        web->routes->refuse(web, exchange, status, message);
        return;
    }
    mcp_buf_init(&body, REFUSAL_MAX_BYTES + web->serve.options->limits.message_max_bytes);
    mcp_json_writer_init(&writer, &body);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_value(&writer, "id", id);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_int(&writer, "code", code);
    mcp_write_member_string(&writer, "message", message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp__web_answer(web, exchange, status,
                    mcp_json_writer_status(&writer) == MCP_OK ? &body : NULL);
    mcp_buf_clear(&body);
}

/* ---- requests -------------------------------------------------------------------------------- */

static bool has_websocket(const mcp_http_options *http)
{
    return http->websocket;
}

static bool has_sse(const mcp_http_options *http)
{
    return http->legacy_sse;
}

/* Which functions serve a path; the handler of routes takes all others. */
static const struct endpoint {
    const char *path;
    bool (*is_served)(const mcp_http_options *http);
    void (*head)(mcp__web *web, mcp__http_exchange *exchange);
    void (*request)(mcp__web *web, mcp__http_exchange *exchange);
} endpoints[] = {
    /* path                  is_served      head                  request */
    { NULL, NULL, mcp__streamable_head, mcp__streamable_request }, /* http.path */
    { MCP__WEBSOCKET_PATH, has_websocket, mcp__websocket_head, mcp__websocket_request },
    { MCP__SSE_PATH, has_sse, mcp__sse_head, mcp__sse_request },
    { MCP__SSE_MESSAGE_PATH, has_sse, mcp__sse_post_head, mcp__sse_post_request },
};

/* @return NULL: the path is a route's */
static const struct endpoint *endpoint_of(const mcp__web *web, const mcp__http_exchange *exchange)
{
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    if (length > 1 && path[length - 1] == '/')
        length--; /* people write "/mcp/" too */
    for (size_t i = 0; i < sizeof endpoints / sizeof *endpoints; i++) {
        const struct endpoint *endpoint = &endpoints[i];
        const char *wanted = endpoint->path ? endpoint->path : web->http.path;
        if (length == strlen(wanted) && memcmp(path, wanted, length) == 0 &&
            (!endpoint->is_served || endpoint->is_served(&web->http)))
            return endpoint;
    }
    return NULL;
}

bool mcp__web_is_route(const mcp__web *web, const mcp__http_exchange *exchange)
{
    return endpoint_of(web, exchange) == NULL;
}

static void look_at_head(mcp__web *web, mcp__http_exchange *exchange)
{
    const struct endpoint *endpoint = endpoint_of(web, exchange);
    const char *coding = mcp__http_field(exchange, "Content-Encoding");

    if (coding && *coding && strcasecmp(coding, "identity") != 0)
        mcp__web_refuse(web, exchange, 415, mcp_status_code(MCP_E_REQUEST), NULL,
                        "the body must come as it is, without a Content-Encoding");
    else if (!endpoint)
        web->routes->head(web, exchange);
    else if (!mcp__http_limit_body(exchange, web->serve.options->limits.message_max_bytes))
        mcp__web_refuse(web, exchange, 413, mcp_status_code(MCP_E_REQUEST), NULL,
                        "the body is too large");
    else
        endpoint->head(web, exchange);
}

static void on_head(mcp__http_exchange *exchange, void *data)
{
    mcp__web *web = data;

    web->counts.requests++;
    if (!mcp__metrics_answer(web, exchange) && mcp__origin_check_pass(web, exchange) &&
        !mcp__origin_check_preflight(web, exchange) && !mcp__authorize_metadata(web, exchange) &&
        mcp__authorize_head(web, exchange))
        look_at_head(web, exchange);
}

/* A request that the listener refuses by itself: too long, or no HTTP. */
static bool on_refused(mcp_buf *body, const char **mime_type, const mcp__http_exchange *exchange,
                       int status, const char *words, void *data)
{
    const mcp__web *web = data;

    return mcp__web_is_route(web, exchange) &&
           web->routes->refusal_body(body, mime_type, web, exchange, status, words);
}

void mcp__web_step_later(mcp__web *web)
{
    if (!web->is_stepping)
        mcp__timer_start(web->peers_timer, web->peers_step_ms);
    web->is_stepping = true;
}

void mcp__web_quicken(mcp__web *web, int64_t every_ms)
{
    if (every_ms >= web->peers_step_ms)
        return;
    web->peers_step_ms = every_ms;
    web->is_stepping = false;
    mcp__web_step_later(web);
}

static void serve(mcp__web *web, mcp__http_exchange *exchange)
{
    const struct endpoint *endpoint = endpoint_of(web, exchange);

    (endpoint ? endpoint->request : web->routes->request)(web, exchange);
    mcp__web_step_later(web);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    mcp__authorize_request(data, exchange, serve);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    (void)data;
    if (owner)
        owner->hung_up(owner);
}

void mcp__web_drained(mcp__web *web)
{
    int64_t now_ms = mcp_clock_mono_ms();

    mcp__session_table_tick(&web->sessions, now_ms);
    (void)mcp__dispatch_tasks_tick(web->serve.tasks, now_ms);
}

static void on_drained(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    if (owner && owner->drained)
        owner->drained(owner);
    else
        mcp__web_drained(data);
}

/* ---- sessions -------------------------------------------------------------------------------- */

/* The stream that GET opened goes with its session; those of requests end with their calls. */
static void on_session_ending(mcp__session_entry *entry, void *data)
{
    mcp__web *web = data;
    mcp__web_peer *peer = entry->open_streams > 0 ? mcp__web_peer_find(web, entry, 0) : NULL;

    if (peer)
        mcp__web_peer_end(peer);
}

/* Streams that wait for no answer. */
static void end_streams(mcp__web *web)
{
    mcp__web_peer *next;

    mcp__streams_end(web);
    for (mcp__web_peer *peer = web->peers; peer; peer = next) {
        next = peer->next;
        if (peer->is_session)
            mcp__sse_end_idle(peer);
        else if (!peer->is_request)
            mcp__web_peer_end(peer);
    }
}

/* ---- the clock ------------------------------------------------------------------------------- */

static void calls_due(mcp__serve *self)
{
    mcp__web_drained((mcp__web *)self);
}

static void on_step(void *data)
{
    mcp__web *web = data;
    int64_t now_ms = mcp_clock_mono_ms();
    mcp__web_peer *next;

    for (mcp__web_peer *peer = web->peers; peer; peer = next) {
        next = peer->next;
        mcp__web_peer_tick(peer, now_ms);
    }
    mcp__streams_tick(web, now_ms);
    (void)mcp__session_table_expire(&web->sessions, now_ms);
    if (web->serve.is_ending)
        end_streams(web);
    web->is_stepping = false;
    if (web->peers || web->streams || web->sessions.count > 0)
        mcp__web_step_later(web);
}

/* ---- the driver ------------------------------------------------------------------------------ */

static int64_t settle(mcp__serve *self)
{
    int64_t calls_ms = mcp__session_table_settle(&((mcp__web *)self)->sessions);
    int64_t tasks_ms = mcp__dispatch_tasks_due_ms(self->tasks);

    return calls_ms < tasks_ms ? calls_ms : tasks_ms;
}

static void on_empty(void *data)
{
    ((mcp__web *)data)->is_empty = true;
}

static void close_listener(mcp__serve *self)
{
    mcp__web *web = (mcp__web *)self;

    mcp__http_stop(web->listener, on_empty, web);
    end_streams(web);
}

static void refuse_waiting(mcp__serve *self)
{
    mcp__session_table_refuse_waiting(&((mcp__web *)self)->sessions);
}

static void stop_calls(mcp__serve *self, mcp_stop why)
{
    mcp__session_table_stop(&((mcp__web *)self)->sessions, why);
}

static void abandon(mcp__serve *self)
{
    mcp__session_table_abandon(&((mcp__web *)self)->sessions);
}

static bool is_done(const mcp__serve *self)
{
    const mcp__web *web = (const mcp__web *)self;

    return web->is_empty && web->writing == 0 && mcp__session_table_is_idle(&web->sessions);
}

static const mcp__serve_driver driver = {
    .settle = settle,
    .due = calls_due,
    .close = close_listener,
    .refuse_waiting = refuse_waiting,
    .stop_calls = stop_calls,
    .abandon = abandon,
    .is_done = is_done,
};

/* ---- options --------------------------------------------------------------------------------- */

static void fill_options(mcp_http_options *http, size_t message_max)
{
    if (!http->host)
        http->host = "127.0.0.1";
    if (!http->path)
        http->path = "/mcp";
    if (http->limits.connections_max <= 0)
        http->limits.connections_max = 10000;
    if (http->limits.sessions_max <= 0)
        http->limits.sessions_max = 10000;
    if (http->limits.session_idle_ms <= 0)
        http->limits.session_idle_ms = (int64_t)60 * 60 * 1000;
    if (http->limits.keepalive_ms <= 0)
        http->limits.keepalive_ms = 15000;
    if (http->limits.stream_after_ms <= 0)
        http->limits.stream_after_ms = 10000;
    if (http->limits.body_max_bytes == 0)
        http->limits.body_max_bytes = message_max;
}

static mcp_status check_options(const mcp_http_options *http, mcp_error *err)
{
    if (http->path[0] != '/')
        return mcp_error_set(err, MCP_E_PARAMS, "the path of MCP must begin with /");
    if (http->host[0] == '\0' && !http->unix_path)
        return mcp_error_set(err, MCP_E_PARAMS, "neither an address nor a socket to listen on");
    if (!http->tls_certificate != !http->tls_key)
        return mcp_error_set(err, MCP_E_PARAMS, "TLS needs a certificate and its key");
    if (http->port < 0 || http->port > 65535)
        return mcp_error_set(err, MCP_E_PARAMS, "there is no port %d", http->port);
    if (http->host[0] != '\0' && !mcp_host_is_loopback(http->host) && !http->auth &&
        !http->insecure_no_auth)
        return mcp_error_set(
            err, MCP_E_DENIED,
            "%s is not a loopback address: requires auth, or insecure_no_auth set explicitly",
            http->host);
    return MCP_OK;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static mcp_status make_sessions(mcp__web *web, mcp_error *err)
{
    mcp__session_table_options options = {
        .context = web->serve.context,
        .max = (size_t)web->http.limits.sessions_max,
        .idle_ms = web->http.limits.session_idle_ms,
        .events_max_bytes = EVENTS_MAX_BYTES,
        .ending = on_session_ending,
        .data = web,
    };

    if (web->http.metrics)
        options.context.durations = &web->durations;
    mcp__session_table_init(&web->sessions, &options);
    return mcp__session_table_share(&web->shared, &web->sessions, err);
}

static mcp_status make_clock(mcp__web *web, mcp_error *err)
{
    const mcp_http_limits *limits = &web->http.limits;
    int64_t shortest = limits->keepalive_ms < limits->stream_after_ms ? limits->keepalive_ms
                                                                      : limits->stream_after_ms;

    web->peers_step_ms = shortest / 4 > 1000 ? 1000 : shortest / 4 + 1;
    if (limits->session_idle_ms < web->peers_step_ms * 4)
        web->peers_step_ms = limits->session_idle_ms / 4 + 1;
    return mcp__timer_new(&web->peers_timer, web->serve.loop, on_step, web, err);
}

/* Every answer says that it is of no other type than it names, and that pages of other origins may
 * not embed it. */
static mcp_status make_listener(mcp__web *web, mcp_error *err)
{
    static const mcp__http_field_out policies[] = {
        { "X-Content-Type-Options", "nosniff" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
    };
    size_t descriptors = 0;
    mcp__http_options options = {
        .body_max_bytes = web->http.limits.body_max_bytes >
                                  web->serve.options->limits.message_max_bytes
                              ? web->http.limits.body_max_bytes
                              : web->serve.options->limits.message_max_bytes,
        .bodies_max_bytes = web->serve.options->limits.calls_max_bytes,
        .connections_max = (size_t)web->http.limits.connections_max,
        .handler = { .head = on_head,
                     .request = on_request,
                     .hung_up = on_hung_up,
                     .drained = on_drained,
                     .refused = on_refused,
                     .data = web },
        .fields = policies,
        .field_count = sizeof policies / sizeof policies[0],
        .log = &web->serve.options->log,
    };

    if (mcp__descriptors_raise(&descriptors, NULL) == MCP_OK && descriptors > 64 &&
        options.connections_max > descriptors - 64)
        options.connections_max = descriptors - 64;
    return mcp__http_new(&web->listener, web->serve.loop, &options, err);
}

static mcp_status open_endpoints(mcp__web *web, mcp_error *err)
{
    mcp_http_options *http = &web->http;
    mcp_status st = MCP_OK;

    if (http->tls_certificate)
        st = mcp__tls_context_new(&web->tls, http->tls_certificate, http->tls_key, err);
    if (st == MCP_OK && http->host[0] != '\0')
        st = mcp__http_listen(web->listener, http->host, http->port, web->tls, &http->port, err);
    if (st == MCP_OK && http->unix_path)
        st = mcp__http_listen_unix(web->listener, http->unix_path, err);
    if (st == MCP_OK && http->auth)
        st = mcp__authorize_new(&web->authorize, http, web->serve.context.scopes, err);
    if (st == MCP_OK && http->ready)
        http->ready(http->host[0] ? http->port : 0, http->data);
    return st;
}

static mcp_status open_transport(mcp__web *web, const mcp__serve_setup *setup, mcp_error *err)
{
    mcp_status st = check_options(&web->http, err);

    if (st == MCP_OK)
        st = web->routes->check(web->http.routes, err);
    if (st == MCP_OK)
        st = web->routes->inline_budgets(&web->inline_budgets, web->http.routes, err);
    if (st == MCP_OK)
        st = mcp__serve_open(&web->serve, &driver, setup, web->routes->long_count(web->http.routes),
                             setup->context.options->limits.calls_max_queued, err);
    if (st != MCP_OK)
        return st;
    st = make_sessions(web, err);
    if (st == MCP_OK)
        st = make_clock(web, err);
    if (st == MCP_OK)
        st = make_listener(web, err);
    if (st == MCP_OK)
        st = open_endpoints(web, err);
    return st;
}

/* Returns false when a handler did not end: it keeps the pool, the loop and its call. */
static bool close_transport(mcp__web *web)
{
    mcp__http_free(web->listener);
    mcp__tls_context_free(web->tls);
    mcp__timer_free(web->peers_timer);
    if (web->serve.stop && !mcp__serve_close(&web->serve))
        return false;
    mcp__authorize_free(web->authorize);
    if (web->shared)
        mcp__session_table_clear(&web->sessions);
    mcp__serve_free(&web->serve);
    free(web->inline_budgets);
    mcp__durations_clear(&web->durations);
    mcp_buf_clear(&web->gathered);
    free(web);
    return true;
}

mcp_status mcp__web_serve(mcp__serve_setup *setup, const mcp_http_options *options,
                          const mcp__route_handler *routes, mcp_error *err)
{
    mcp__web *web = mcp_alloc_zeroed(1, sizeof *web);

    if (!web)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to serve");
    mcp_buf_init(&web->gathered, GATHERED_MAX_BYTES);
    mcp__durations_init(&web->durations);
    web->process_start_s = mcp__process_start_s();
    web->http = *options;
    web->routes = routes;
    fill_options(&web->http, setup->context.options->limits.message_max_bytes);
    mcp_status st = open_transport(web, setup, err);
    if (st == MCP_OK)
        mcp__serve_run(&web->serve);
    setup->is_left_running = !close_transport(web);
    return st;
}
