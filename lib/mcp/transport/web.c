/*
 * web.c - the loop of a server over HTTP: who gets a request, and the course of its life.
 *
 * Paths are looked at here, nothing else: each goes to the file that serves it, after the gate.
 *
 * The clock has two hands. One serves calls (time-outs, reports that were held) and is set anew at the end
 * of each turn to the moment when the first call is due; the other steps over all peers and sessions
 * about once a second. Both write, and so they run as timers: what is written just before the loop waits
 * would leave a turn late.
 *
 * Going has the same course as on stdio: a signal closes the door, refuses what waits and tells what runs;
 * answers are still sent; after the grace time open calls are answered with an error, and LAST_MS later we
 * leave whatever is still going on.
 */
#include "mcp/transport/web.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/task/task.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/sse_legacy.h"
#include "mcp/transport/streamable.h"
#include "mcp/transport/web/gate.h"
#include "mcp/transport/web/head.h"
#include "mcp/transport/web/peer.h"
#include "mcp/transport/web/probe.h"
#include "mcp/transport/web/rest/rest.h"
#include "mcp/transport/web/rest/route_table.h"
#include "mcp/transport/web/stream.h"
#include "mcp/transport/web_int.h"
#include "mcp/transport/websocket.h"
#include "net/listen.h"

#define LAST_MS 500
#define SECOND_SIGNAL_MS 1000
#define EVENTS_MAX_BYTES ((size_t)64 * 1024 * 1024)
#define REFUSAL_MAX_BYTES ((size_t)8 * 1024)
#define GATHERED_MAX_BYTES ((size_t)1024 * 1024)

/* ---- answers without a call ------------------------------------------------------------------- */

void mcp__web_answer_with(mcp__web *web, mcp__http_exchange *exchange, int status,
                          const char *field, const char *value, mcp_buf *json)
{
    mcp__head head = { .count = 0 };

    if (json)
        mcp__head_add(&head, "Content-Type", "application/json");
    if (field)
        mcp__head_add(&head, field, value);
    mcp__head_share(&head, mcp__gate_origin(web, exchange));
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
        mcp__rest_refuse(web, exchange, status, message);
        return;
    }
    mcp_buf_init(&body, REFUSAL_MAX_BYTES + web->options->message_max_bytes);
    mcp_json_writer_init(&writer, &body);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_value(&writer, "id", id);
    mcp_write_member_object(&writer, "error");
    mcp_write_member_int(&writer, "code", code);
    mcp_write_member_string(&writer, "message", message);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    mcp__web_answer(web, exchange, status, mcp_json_writer_status(&writer) == MCP_OK ? &body : NULL);
    mcp_buf_clear(&body);
}

/* ---- requests --------------------------------------------------------------------------------- */

static bool has_websocket(const mcp_http_options *http)
{
    return http->websocket;
}

static bool has_sse(const mcp_http_options *http)
{
    return http->legacy_sse;
}

/* Who serves a path; the last row takes what is left. */
static const struct door {
    const char *path;
    bool (*is_open)(const mcp_http_options *http);
    void (*head)(mcp__web *web, mcp__http_exchange *exchange);
    void (*request)(mcp__web *web, mcp__http_exchange *exchange);
} doors[] = {
    /* path                  is_open        head                  request */
    { NULL,                  NULL,          mcp__streamable_head, mcp__streamable_request }, /* http.path */
    { MCP__WEBSOCKET_PATH,   has_websocket, mcp__websocket_head,  mcp__websocket_request },
    { MCP__SSE_PATH,         has_sse,       mcp__sse_head,        mcp__sse_request },
    { MCP__SSE_MESSAGE_PATH, has_sse,       mcp__sse_post_head,   mcp__sse_post_request },
    { "",                    NULL,          mcp__rest_head,       mcp__rest_request },
};

static const struct door *door_of(const mcp__web *web, const mcp__http_exchange *exchange)
{
    const struct door *door = doors;
    size_t length = 0;
    const char *path = mcp__http_path(exchange, &length);

    if (length > 1 && path[length - 1] == '/')
        length--; /* people write "/mcp/" too */
    for (; door->request != mcp__rest_request; door++) {
        const char *wanted = door->path ? door->path : web->http.path;
        if (length == strlen(wanted) && memcmp(path, wanted, length) == 0 &&
            (!door->is_open || door->is_open(&web->http)))
            break;
    }
    return door;
}

bool mcp__web_is_route(const mcp__web *web, const mcp__http_exchange *exchange)
{
    return door_of(web, exchange)->request == mcp__rest_request;
}

static void look_at_head(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *coding = mcp__http_field(exchange, "Content-Encoding");

    if (coding && *coding && strcasecmp(coding, "identity") != 0)
        mcp__web_refuse(web, exchange, 415, mcp_status_code(MCP_E_REQUEST), NULL,
                        "the body must come as it is, without a Content-Encoding");
    else if (!mcp__web_is_route(web, exchange) &&
             !mcp__http_limit_body(exchange, web->options->message_max_bytes))
        mcp__web_refuse(web, exchange, 413, mcp_status_code(MCP_E_REQUEST), NULL,
                        "the body is too large");
    else
        door_of(web, exchange)->head(web, exchange);
}

static void on_head(mcp__http_exchange *exchange, void *data)
{
    mcp__web *web = data;

    web->counts.requests++;
    if (!mcp__probe_answer(web, exchange) && mcp__gate_pass(web, exchange) &&
        !mcp__gate_preflight(web, exchange) && !mcp__authorize_metadata(web, exchange) &&
        mcp__authorize_head(web, exchange))
        look_at_head(web, exchange);
}

/* A request that the listener refuses by itself: too long, or no HTTP. */
static bool on_refused(mcp_buf *body, const char **mime_type, const mcp__http_exchange *exchange,
                       int status, const char *words, void *data)
{
    const mcp__web *web = data;

    return mcp__web_is_route(web, exchange) &&
           mcp__rest_refused(body, mime_type, web, exchange, status, words);
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
    door_of(web, exchange)->request(web, exchange);
    mcp__web_step_later(web);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    mcp__authorize_request(data, exchange, serve);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    mcp__web_guest *guest = mcp__http_data(exchange);

    (void)data;
    if (guest)
        guest->hung_up(guest);
}

void mcp__web_drained(mcp__web *web)
{
    int64_t now_ms = mcp_clock_mono_ms();

    mcp__session_table_tick(&web->sessions, now_ms);
    (void)mcp__task_tick(web->tasks, now_ms);
}

static void on_drained(mcp__http_exchange *exchange, void *data)
{
    mcp__web_guest *guest = mcp__http_data(exchange);

    if (guest && guest->drained)
        guest->drained(guest);
    else
        mcp__web_drained(data);
}

/* ---- sessions and workers --------------------------------------------------------------------- */

/* The stream that GET opened goes with its session; those of requests end with their calls. */
static void on_session_ending(mcp__session_entry *entry, void *data)
{
    mcp__web *web = data;
    mcp__web_peer *peer = entry->open_streams > 0 ? mcp__web_peer_find(web, entry, 0) : NULL;

    if (peer)
        mcp__web_peer_end(peer);
}

static mcp_status submit(mcp__executor *self, mcp__task *task, mcp__lane lane, mcp_error *err)
{
    mcp__web *web = (mcp__web *)self;
    int most = web->options->short_threads + web->options->calls_max_queued;

    if (lane == MCP__LANE_SHORT && mcp__pool_busy(web->pool) >= most)
        return mcp_error_set(err, MCP_E_BUSY, "%s", mcp_status_words(MCP_E_BUSY));
    return web->threads->submit(web->threads, task, lane, err);
}

static void post(mcp__executor *self, mcp__node *node)
{
    mcp__web *web = (mcp__web *)self;

    web->threads->post(web->threads, node);
}

static mcp__given_up give_up(mcp__executor *self, mcp__task *task)
{
    mcp__web *web = (mcp__web *)self;

    return web->threads->give_up(web->threads, task);
}

/* On any thread; `threads` never changes. */
static void again(mcp__executor *self, mcp__task *task)
{
    const mcp__web *web = (mcp__web *)self;

    web->threads->again(web->threads, task);
}

static void adopt(mcp__executor *self, mcp__task *task, mcp__lane lane)
{
    const mcp__web *web = (mcp__web *)self;

    web->threads->adopt(web->threads, task, lane);
}

static void end(mcp__executor *self, mcp__task *task)
{
    const mcp__web *web = (mcp__web *)self;

    web->threads->end(web->threads, task);
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

/* ---- the clock -------------------------------------------------------------------------------- */

static void on_calls_due(void *data)
{
    mcp__web *web = data;

    web->calls_due_ms = INT64_MAX;
    mcp__web_drained(web);
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
    if (web->is_ending)
        end_streams(web);
    web->is_stepping = false;
    if (web->peers || web->streams || web->sessions.count > 0)
        mcp__web_step_later(web);
}

static void set_calls_timer(mcp__web *web, int64_t due_ms)
{
    if (due_ms == web->calls_due_ms)
        return;
    web->calls_due_ms = due_ms;
    if (due_ms == INT64_MAX)
        mcp__timer_stop(web->calls_timer);
    else
        mcp__timer_start(web->calls_timer, due_ms - mcp_clock_mono_ms());
}

/* ---- going ------------------------------------------------------------------------------------ */

static void on_empty(void *data)
{
    mcp__web *web = data;

    web->is_empty = true;
}

static void stop_calls(mcp__web *web, mcp_stop why)
{
    mcp__task_stop_all(web->tasks, why);
    mcp__session_table_stop(&web->sessions, why);
}

static void begin_ending(mcp__web *web, const char *why)
{
    web->is_ending = true;
    mcp_log_write(&web->options->log, MCP_LOG_INFO, "going down: %s", why);
    mcp__http_stop(web->listener, on_empty, web);
    end_streams(web);
    mcp__session_table_refuse_waiting(&web->sessions);
    stop_calls(web, MCP_STOP_SHUTDOWN);
    mcp__timer_start(web->leave_timer, web->options->grace_ms);
}

static void on_signal(int number, void *data)
{
    mcp__web *web = data;

    if (!web->is_ending) {
        begin_ending(web, number == SIGINT ? "interrupted" : "terminated");
        return;
    }
    mcp_log_write(&web->options->log, MCP_LOG_WARNING, "cancelling what runs");
    stop_calls(web, MCP_STOP_CANCELLED);
    mcp__timer_start(web->leave_timer, SECOND_SIGNAL_MS);
}

static void on_leave_due(void *data)
{
    mcp__web *web = data;

    if (web->is_abandoned) {
        mcp__loop_stop(web->loop);
        return;
    }
    mcp_log_write(&web->options->log, MCP_LOG_WARNING, "the grace time is over");
    web->is_abandoned = true;
    stop_calls(web, MCP_STOP_SHUTDOWN);
    mcp__session_table_abandon(&web->sessions);
    mcp__task_abandon(web->tasks);
    mcp__timer_start(web->leave_timer, LAST_MS);
}

/* Just before the loop waits. */
static void settle(void *data)
{
    mcp__web *web = data;

    int64_t calls_ms = mcp__session_table_settle(&web->sessions);
    int64_t tasks_ms = mcp__task_due_ms(web->tasks);

    set_calls_timer(web, calls_ms < tasks_ms ? calls_ms : tasks_ms);
    if (web->is_ending && web->is_empty && web->reading == 0 && web->writing == 0 &&
        mcp__session_table_is_idle(&web->sessions) && mcp__task_all_idle(web->tasks))
        mcp__loop_stop(web->loop);
}

/* ---- options ---------------------------------------------------------------------------------- */

/* Names are taken as they stand: what else one resolves to is nobody's promise. */
static bool is_loopback(const char *host)
{
    return strcmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") == strlen(host));
}

static void fill_options(mcp_http_options *http, size_t message_max)
{
    if (!http->host)
        http->host = "127.0.0.1";
    if (!http->path)
        http->path = "/mcp";
    if (http->connections_max <= 0)
        http->connections_max = 10000;
    if (http->sessions_max <= 0)
        http->sessions_max = 10000;
    if (http->session_idle_ms <= 0)
        http->session_idle_ms = (int64_t)60 * 60 * 1000;
    if (http->keepalive_ms <= 0)
        http->keepalive_ms = 15000;
    if (http->patience_ms <= 0)
        http->patience_ms = 10000;
    if (http->body_max_bytes == 0)
        http->body_max_bytes = message_max;
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
    if (http->host[0] != '\0' && !is_loopback(http->host) && !http->auth && !http->insecure_no_auth)
        return mcp_error_set(err, MCP_E_DENIED,
                             "others can reach %s: that needs authorization (auth), or your word that "
                             "it may go without (insecure_no_auth)",
                             http->host);
    return mcp__route_check(http->routes, err);
}

/* ---- beginning and end ------------------------------------------------------------------------ */

static mcp_status make_sessions(mcp__web *web, const mcp__session_setup *setup, mcp_error *err)
{
    mcp__session_table_options options = {
        .setup = *setup,
        .max = (size_t)web->http.sessions_max,
        .idle_ms = web->http.session_idle_ms,
        .events_max_bytes = EVENTS_MAX_BYTES,
        .ending = on_session_ending,
        .data = web,
    };

    options.setup.executor = &web->executor;
    mcp_status st = mcp__task_table_new(&web->tasks, &options.setup, err);
    if (st != MCP_OK)
        return st;
    options.setup.tasks = web->tasks;
    mcp__session_table_init(&web->sessions, &options);
    return mcp__session_table_share(&web->shared, &web->sessions, err);
}

static mcp_status make_clock(mcp__web *web, mcp_error *err)
{
    mcp_status st = mcp__timer_new(&web->calls_timer, web->loop, on_calls_due, web, err);
    int64_t shortest = web->http.keepalive_ms < web->http.patience_ms ? web->http.keepalive_ms
                                                                      : web->http.patience_ms;

    web->calls_due_ms = INT64_MAX;
    web->peers_step_ms = shortest / 4 > 1000 ? 1000 : shortest / 4 + 1;
    if (web->http.session_idle_ms < web->peers_step_ms * 4)
        web->peers_step_ms = web->http.session_idle_ms / 4 + 1;
    if (st == MCP_OK)
        st = mcp__timer_new(&web->peers_timer, web->loop, on_step, web, err);
    if (st == MCP_OK)
        st = mcp__timer_new(&web->leave_timer, web->loop, on_leave_due, web, err);
    if (st == MCP_OK)
        st = mcp__signal_new(&web->signals[0], web->loop, SIGTERM, on_signal, web, err);
    if (st == MCP_OK)
        st = mcp__signal_new(&web->signals[1], web->loop, SIGINT, on_signal, web, err);
    return st;
}

static mcp_status make_listener(mcp__web *web, mcp_error *err)
{
    size_t descriptors = 0;
    mcp__http_options options = {
        .body_max_bytes = web->http.body_max_bytes > web->options->message_max_bytes
                              ? web->http.body_max_bytes
                              : web->options->message_max_bytes,
        .bodies_max_bytes = web->options->calls_max_bytes,
        .connections_max = (size_t)web->http.connections_max,
        .handler = { .head = on_head, .request = on_request, .hung_up = on_hung_up,
                     .drained = on_drained, .refused = on_refused, .data = web },
        .log = &web->options->log,
    };

    if (mcp__descriptors_raise(&descriptors, NULL) == MCP_OK && descriptors > 64 &&
        options.connections_max > descriptors - 64)
        options.connections_max = descriptors - 64;
    return mcp__http_new(&web->listener, web->loop, &options, err);
}

static mcp_status open_doors(mcp__web *web, mcp_error *err)
{
    const mcp_http_options *http = &web->http;
    mcp_status st = MCP_OK;
    int port = 0;

    if (http->tls_certificate)
        st = mcp__tls_context_new(&web->tls, http->tls_certificate, http->tls_key, err);
    if (st == MCP_OK && http->host[0] != '\0')
        st = mcp__http_listen(web->listener, http->host, http->port, web->tls, &port, err);
    if (st == MCP_OK && http->unix_path)
        st = mcp__http_listen_unix(web->listener, http->unix_path, err);
    if (st == MCP_OK && http->auth)
        st = mcp__authorize_new(&web->authorize, http, port, web->scopes, err);
    if (st == MCP_OK && http->ready)
        http->ready(port, http->data);
    return st;
}

static mcp_status assemble(mcp__web *web, const mcp__session_setup *setup, int long_threads,
                           mcp_error *err)
{
    mcp_status st = mcp__loop_new(&web->loop, err);

    if (st == MCP_OK)
        st = mcp__route_paces(&web->paces, web->http.routes, err);
    if (st == MCP_OK)
        st = mcp__pool_new(&web->pool, web->loop, web->options->short_threads,
                           long_threads + mcp__route_long_count(web->http.routes),
                           web->options->spare_threads, err);
    if (st != MCP_OK)
        return st;
    mcp__loop_spin(web->loop, web->options->spin_us);
    web->threads = mcp__pool_executor(web->pool);
    st = make_sessions(web, setup, err);
    if (st == MCP_OK)
        st = make_clock(web, err);
    if (st == MCP_OK)
        st = make_listener(web, err);
    if (st == MCP_OK)
        st = open_doors(web, err);
    return st;
}

/* Returns false when a handler did not end: it keeps the pool, the loop and its call. */
static bool dismantle(mcp__web *web)
{
    mcp__http_free(web->listener);
    mcp__tls_context_free(web->tls);
    mcp__timer_free(web->calls_timer);
    mcp__timer_free(web->peers_timer);
    mcp__timer_free(web->leave_timer);
    for (int i = 0; i < 2; i++)
        mcp__signal_free(web->signals[i]);
    if (!mcp__pool_free(web->pool))
        return false;
    mcp__authorize_free(web->authorize);
    if (web->shared)
        mcp__session_table_clear(&web->sessions);
    mcp__task_table_free(web->tasks);
    mcp__loop_free(web->loop);
    free(web->paces);
    mcp_buf_clear(&web->gathered);
    return true;
}

mcp_status mcp__web_serve(const mcp__session_setup *setup, int long_threads,
                          const mcp_http_options *options, bool *is_left_running, mcp_error *err)
{
    mcp__web *web = mcp__alloc_zeroed(1, sizeof(*web));

    if (!web)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to serve");
    web->executor = (mcp__executor){ .submit = submit,
                                     .post = post,
                                     .give_up = give_up,
                                     .again = again,
                                     .adopt = adopt,
                                     .end = end };
    web->options = setup->options;
    mcp_buf_init(&web->gathered, GATHERED_MAX_BYTES);
    web->budget = setup->budget;
    web->scopes = setup->scopes;
    web->http = *options;
    fill_options(&web->http, web->options->message_max_bytes);
    mcp_status st = check_options(&web->http, err);
    if (st == MCP_OK)
        st = assemble(web, setup, long_threads, err);
    if (st == MCP_OK) {
        mcp__loop_before_wait(web->loop, settle, web);
        mcp__loop_run(web->loop);
    }
    *is_left_running = !dismantle(web);
    if (!*is_left_running)
        free(web);
    return st;
}
