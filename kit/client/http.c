/*
 * http.c - Streamable HTTP: each exchange is a POST of the calling thread.
 *
 * The answer is JSON, or a stream of events among which it comes. A stream that ends before it is
 * resumed by GET where the server gave its events ids. The server's requests are answered by POSTs
 * of their own. Where changes of lists are wanted, one thread reads the stream that has them.
 *
 * Once the response has come the stream should end; it is read a moment longer, so that the
 * connection can be kept.
 */
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "client/events.h"
#include "client/headers.h"
#include "fetch/url.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "thread/thread.h"

enum {
    NOTIFY_MS = 1000,
    POLL_MS = 50,
    LINGER_MS = 200,
    RESUMES_MAX = 100,
    REPLIES_MAX = 100,
    RETRY_MS = 1000,
    RETRY_MAX_MS = 30000,
    STREAM_MS = 3600 * 1000,
    STREAM_MESSAGES = 64 /* a stream of events is bounded by as many of the longest messages */
};

struct http {
    struct client_link link;
    client *owner;
    fetch *pool;
    char *url;
    char *authorization; /* NULL: none */

    pthread_mutex_t lock;          /* guards what follows */
    struct client_session session; /* the newest; generation 0: none yet */
    thread_worker listener;
    bool has_listener;
};

/* One request of HTTP and what its answer holds. */
struct post {
    struct http *self;
    const struct client_session *session;
    struct client_exchange *exchange; /* NULL: of the listener */
    struct client_events events;
    mcp_buf body; /* of JSON */
    bool is_events;
    bool is_error; /* a status of 400 or more: an error without an id is the answer */
    int replies;
    int64_t answered_ms;
};

static struct http *http_of(struct client_link *link)
{
    return (struct http *)(void *)link;
}

/* ---- sending --------------------------------------------------------------------------------- */

static void add_headers(struct client_headers *headers, const struct http *self,
                        const struct client_session *session)
{
    client_headers_add(headers, "Accept", "application/json, text/event-stream");
    client_headers_add(headers, "Authorization", self->authorization);
    if (session->id[0])
        client_headers_add(headers, "Mcp-Session-Id", session->id);
    if (strcmp(session->revision, "2025-06-18") >= 0)
        client_headers_add(headers, "MCP-Protocol-Version", session->revision);
}

/* POST a notification or a reply. Its answer does not matter but for its status. */
static mcp_status notify(struct http *self, const struct client_session *session,
                         const char *method, const char *text, size_t length, int64_t timeout_ms,
                         mcp_error *err)
{
    struct client_headers headers = { .arena = NULL };
    fetch_result result;

    add_headers(&headers, self, session);
    client_headers_add(&headers, "Content-Type", "application/json");
    if (session->is_modern)
        client_headers_add(&headers, "Mcp-Method", method);
    const fetch_request request = { .method = "POST",
                                    .url = self->url,
                                    .headers = headers.items,
                                    .header_count = headers.count,
                                    .body = text,
                                    .body_length = length,
                                    .timeout_ms = timeout_ms };
    mcp_status st = fetch_run(&result, self->pool, &request, err);
    if (st == MCP_OK && result.status >= 300)
        st = mcp_error_set(err, MCP_E_IO, "%s: it answers a notification with status %d",
                           self->owner->label, result.status);
    fetch_result_clear(&result);
    return st;
}

static void send_reply(struct post *post, const struct client_message *request)
{
    mcp_buf text;

    if (post->replies == REPLIES_MAX || post->session->is_modern)
        return;
    post->replies++;
    mcp_buf_init(&text, post->self->owner->message_max);
    client_message_reply(&text, request);
    if (text.status == MCP_OK)
        notify(post->self, post->session, NULL, text.data, text.length, NOTIFY_MS, NULL);
    mcp_buf_clear(&text);
}

static void send_cancelled(struct http *self, const struct client_exchange *exchange)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 4096);
    mcp_json_writer_init(&writer, &text);
    client_write_cancelled(&writer, exchange);
    if (text.status == MCP_OK)
        notify(self, exchange->session, NULL, text.data, text.length, NOTIFY_MS, NULL);
    mcp_buf_clear(&text);
}

/* ---- receiving ------------------------------------------------------------------------------- */

static void take_response(struct post *post, const struct client_message *message,
                          const mcp_json *value)
{
    struct client_exchange *exchange = post->exchange;
    mcp_json_writer writer;
    bool is_ours = exchange && (message->number == exchange->number ||
                                (post->is_error && message->error && message->number < 0));

    if (!is_ours || exchange->is_answered)
        return;
    mcp_json_writer_init(&writer, &exchange->answer);
    mcp_write_value(&writer, value);
    exchange->is_answered = true;
    post->answered_ms = mcp_clock_mono_ms();
}

static void take_message(void *data, const struct client_message *message, const mcp_json *value)
{
    struct post *post = data;
    struct client_exchange *exchange = post->exchange;

    if (message->kind == CLIENT_RESPONSE)
        take_response(post, message, value);
    else if (message->kind == CLIENT_REQUEST)
        send_reply(post, message);
    else if (message->kind == CLIENT_NOTIFICATION &&
             strcmp(message->method, "notifications/tools/list_changed") == 0)
        client_list_has_changed(post->self->owner);
    else if (message->kind == CLIENT_NOTIFICATION && exchange && !exchange->is_answered)
        client_take_progress(exchange->call, exchange->number, message);
}

/* What is no JSON is skipped: the deadline bounds the wait for an answer. */
static mcp_status take_text(void *data, const char *text, size_t length, mcp_error *err)
{
    struct post *post = data;
    mcp_arena *arena = mcp_arena_new(post->self->owner->message_max * 16);

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a message");
    mcp_status st = client_message_read(text, length, arena, take_message, post, err);
    mcp_arena_free(arena);
    return st == MCP_E_PARSE ? MCP_OK : st;
}

static mcp_status take_bytes(void *data, const fetch_result *so_far, const char *bytes,
                             size_t length, mcp_error *err)
{
    struct post *post = data;
    const char *type = fetch_result_header(so_far, "Content-Type");
    client *owner = post->self->owner;

    post->is_events = so_far->status == 200 && type &&
                      strncasecmp(type, "text/event-stream", strlen("text/event-stream")) == 0;
    if (post->is_events)
        return client_events_feed(&post->events, bytes, length, err);
    if (mcp_buf_append(&post->body, bytes, length) == MCP_OK)
        return MCP_OK;
    return mcp_error_set(err, post->body.status, "%s: a message is longer than %zu bytes",
                         owner->label, owner->message_max);
}

static bool should_stop(void *data)
{
    const struct post *post = data;
    const struct client_exchange *exchange = post->exchange;

    if (exchange->is_answered)
        return mcp_clock_mono_ms() >= post->answered_ms + LINGER_MS;
    return exchange->should_stop && exchange->should_stop(exchange->data);
}

/* ---- an exchange ----------------------------------------------------------------------------- */

/* The status of an answer that has no response in it. */
static mcp_status refused(struct post *post, int status, mcp_error *err)
{
    struct client_exchange *exchange = post->exchange;
    const char *label = post->self->owner->label;

    /* By a status of 4xx the server says that it has not begun the request. */
    if (status >= 400 && status < 500)
        exchange->may_have_arrived = false;
    if (status == 404 && exchange->session->id[0]) {
        exchange->is_lost = true;
        return mcp_error_set(err, MCP_E_IO, "%s: the session has ended", label);
    }
    if (status == 401 || status == 403)
        return mcp_error_set(err, MCP_E_DENIED, "%s: access is refused with status %d", label,
                             status);
    if (status == 429 || status == 503)
        return mcp_error_set(err, MCP_E_BUSY, "%s: it is busy (status %d)", label, status);
    if (status == 200 || status == 202)
        return mcp_error_set(err, MCP_E_SCHEMA, "%s: the answer has no response", label);
    if (status >= 400 && exchange->is_handshake)
        return mcp_error_set(err, MCP_E_REQUEST, "%s: it answers with status %d", label, status);
    return mcp_error_set(err, MCP_E_IO, "%s: it answers with status %d", label, status);
}

static void keep_session_id(struct client_exchange *exchange, const fetch_result *result)
{
    const char *id = fetch_result_header(result, "Mcp-Session-Id");

    if (id && strlen(id) <= CLIENT_SESSION_ID_MAX)
        memcpy(exchange->session_id, id, strlen(id) + 1);
}

/* One POST or GET. *status is that of the answer, 0 without one. */
static mcp_status run_once(struct post *post, const fetch_request *request, int *status,
                           mcp_error *err)
{
    struct client_exchange *exchange = post->exchange;
    fetch_result result;

    client_events_restart(&post->events);
    mcp_buf_reset(&post->body);
    mcp_status st = fetch_run(&result, post->self->pool, request, err);
    *status = result.status;
    post->is_error = result.status >= 400;
    exchange->may_have_arrived = exchange->may_have_arrived || result.may_have_arrived;
    if (st == MCP_OK && post->body.length > 0)
        st = take_text(post, post->body.data, post->body.length, err);
    keep_session_id(exchange, &result);
    fetch_result_clear(&result);
    return st;
}

/* Whether the stream ended early and the server can continue it. */
static bool may_resume(const struct post *post, mcp_status st)
{
    return !post->exchange->is_answered && !post->session->is_modern && post->is_events &&
           post->events.id[0] != '\0' && (st == MCP_OK || st == MCP_E_IO);
}

static mcp_status pause_before_resuming(const struct post *post, mcp_error *err)
{
    const struct client_exchange *exchange = post->exchange;
    int64_t pause_ms = post->events.retry_ms >= 0 ? post->events.retry_ms : RETRY_MS;
    int64_t until_ms = mcp_clock_mono_ms() + pause_ms;

    for (;;) {
        int64_t now_ms = mcp_clock_mono_ms();
        if (now_ms >= exchange->until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "%s: no answer in time",
                                 post->self->owner->label);
        if (should_stop((void *)(uintptr_t)post))
            return mcp_error_set(err, MCP_E_STOPPED, "%s: the call was stopped",
                                 post->self->owner->label);
        if (now_ms >= until_ms)
            return MCP_OK;
        poll(NULL, 0, until_ms - now_ms < POLL_MS ? (int)(until_ms - now_ms) : POLL_MS);
    }
}

static mcp_status resume(struct post *post, const struct client_headers *headers, int *status,
                         mcp_error *err)
{
    struct client_headers again = *headers;

    mcp_status st = pause_before_resuming(post, err);
    if (st != MCP_OK)
        return st;
    client_headers_add(&again, "Last-Event-ID", post->events.id);
    const fetch_request request = { .url = post->self->url,
                                    .headers = again.items,
                                    .header_count = again.count,
                                    .timeout_ms = post->exchange->until_ms - mcp_clock_mono_ms(),
                                    .body_max_bytes = post->self->owner->message_max *
                                                      STREAM_MESSAGES,
                                    .should_stop = should_stop,
                                    .on_body = take_bytes,
                                    .data = post };
    st = run_once(post, &request, status, err);
    return st == MCP_OK && *status != 200 && !post->exchange->is_answered
               ? mcp_error_set(err, MCP_E_IO, "%s: the answer was lost (status %d)",
                               post->self->owner->label, *status)
               : st;
}

static mcp_status run_exchange(struct post *post, mcp_arena *arena, mcp_error *err)
{
    struct client_exchange *exchange = post->exchange;
    struct client_headers common = { .arena = arena };
    int status = 0;

    add_headers(&common, post->self, exchange->session);
    struct client_headers headers = common;
    client_headers_add(&headers, "Content-Type", "application/json");
    if (exchange->session->is_modern)
        client_headers_add_call(&headers, exchange->method, exchange->call);
    if (headers.st != MCP_OK)
        return mcp_error_set(err, headers.st, "%s: the call has too many headers",
                             post->self->owner->label);
    const fetch_request request = { .method = "POST",
                                    .url = post->self->url,
                                    .headers = headers.items,
                                    .header_count = headers.count,
                                    .body = exchange->text,
                                    .body_length = exchange->length,
                                    .timeout_ms = exchange->until_ms - mcp_clock_mono_ms(),
                                    .body_max_bytes = post->self->owner->message_max *
                                                      STREAM_MESSAGES,
                                    .may_repeat = !exchange->call,
                                    .should_stop = should_stop,
                                    .on_body = take_bytes,
                                    .data = post };
    if (request.timeout_ms <= 0)
        return mcp_error_set(err, MCP_E_TIMEOUT, "%s: no time is left", post->self->owner->label);
    mcp_status st = run_once(post, &request, &status, err);
    for (int i = 0; i < RESUMES_MAX && may_resume(post, st); i++)
        st = resume(post, &common, &status, err);
    if (exchange->is_answered)
        return exchange->answer.status == MCP_OK
                   ? MCP_OK
                   : mcp_error_set(err, exchange->answer.status, "%s: the answer is too long",
                                   post->self->owner->label);
    return st == MCP_OK ? refused(post, status, err) : st;
}

static mcp_status exchange_http(struct client_link *link, struct client_exchange *exchange,
                                mcp_error *err)
{
    struct http *self = http_of(link);
    struct post post = { .self = self, .session = exchange->session, .exchange = exchange };
    mcp_arena *arena = mcp_arena_new(1 << 20);

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a request");
    client_events_init(&post.events, self->owner->message_max, take_text, &post);
    mcp_buf_init(&post.body, self->owner->message_max);
    mcp_status st = run_exchange(&post, arena, err);
    /* In 2026-07-28 the closed stream is the cancellation. */
    if ((st == MCP_E_TIMEOUT || st == MCP_E_STOPPED) && exchange->may_have_arrived &&
        !exchange->is_handshake && !exchange->session->is_modern)
        send_cancelled(self, exchange);
    client_events_clear(&post.events);
    mcp_buf_clear(&post.body);
    mcp_arena_free(arena);
    return st;
}

/* ---- changes of lists ------------------------------------------------------------------------ */

/* Whether the stream's session is no longer the newest, or the client ends. */
static bool should_stop_listening(void *data)
{
    const struct post *post = data;
    struct http *self = post->self;

    pthread_mutex_lock(&self->lock);
    bool stops = self->listener.is_stopping ||
                 self->session.generation != post->session->generation;
    pthread_mutex_unlock(&self->lock);
    return stops;
}

static void write_listen(mcp_json_writer *writer, struct http *self,
                         const struct client_session *session)
{
    client_write_head(writer, self->owner, session, atomic_fetch_add(&self->owner->numbers, 1),
                      "subscriptions/listen");
    mcp_write_end(writer); /* _meta */
    mcp_write_member_object(writer, "notifications");
    mcp_write_member_bool(writer, "toolsListChanged", true);
    mcp_write_end(writer);
    mcp_write_end(writer);
    mcp_write_end(writer);
}

/* Read the stream to its end. @return false: the server has none */
static bool listen_once(struct http *self, struct post *post)
{
    struct client_headers headers = { .arena = NULL };
    fetch_result result;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, 1 << 16);
    mcp_json_writer_init(&writer, &text);
    add_headers(&headers, self, post->session);
    if (post->session->is_modern) {
        write_listen(&writer, self, post->session);
        client_headers_add(&headers, "Content-Type", "application/json");
        client_headers_add(&headers, "Mcp-Method", "subscriptions/listen");
    } else if (post->events.id[0]) {
        client_headers_add(&headers, "Last-Event-ID", post->events.id);
    }
    const fetch_request request = { .url = self->url,
                                    .headers = headers.items,
                                    .header_count = headers.count,
                                    .body = text.data,
                                    .body_length = text.length,
                                    .timeout_ms = STREAM_MS,
                                    .body_max_bytes = self->owner->message_max * STREAM_MESSAGES,
                                    .should_stop = should_stop_listening,
                                    .on_body = take_bytes,
                                    .data = post };
    client_events_restart(&post->events);
    mcp_buf_reset(&post->body);
    post->replies = 0;
    mcp_status st = fetch_run(&result, self->pool, &request, NULL);
    bool is_there = st == MCP_OK ? result.status == 200 && post->is_events : st != MCP_E_DENIED;
    fetch_result_clear(&result);
    mcp_buf_clear(&text);
    return is_there;
}

/* All streams of one session. */
static void listen_to(struct http *self, const struct client_session *session)
{
    struct post post = { .self = self, .session = session };
    int64_t pause_ms = RETRY_MS;

    client_events_init(&post.events, self->owner->message_max, take_text, &post);
    mcp_buf_init(&post.body, self->owner->message_max);
    while (!should_stop_listening(&post)) {
        int64_t began_ms = mcp_clock_mono_ms();
        if (!listen_once(self, &post))
            break;
        pause_ms = mcp_clock_mono_ms() - began_ms > RETRY_MAX_MS ? RETRY_MS : pause_ms;
        pthread_mutex_lock(&self->lock);
        thread_worker_wait(&self->listener, pause_ms);
        pthread_mutex_unlock(&self->lock);
        pause_ms = pause_ms * 2 < RETRY_MAX_MS ? pause_ms * 2 : RETRY_MAX_MS;
    }
    client_events_clear(&post.events);
    mcp_buf_clear(&post.body);
}

static void run_listener(void *data)
{
    struct http *self = data;
    struct client_session session = { .generation = 0 };

    pthread_mutex_lock(&self->lock);
    while (!self->listener.is_stopping) {
        if (self->session.generation == session.generation || !self->session.lists_change) {
            thread_worker_wait(&self->listener, THREAD_FOREVER);
            continue;
        }
        session = self->session;
        pthread_mutex_unlock(&self->lock);
        listen_to(self, &session);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

static mcp_status open_http(struct client_link *link, int64_t until_ms, mcp_error *err)
{
    (void)link, (void)until_ms, (void)err;
    return MCP_OK;
}

static mcp_status begin_http(struct client_link *link, const struct client_session *session,
                             const char *text, size_t length, int64_t until_ms, mcp_error *err)
{
    struct http *self = http_of(link);
    int64_t left_ms = until_ms - mcp_clock_mono_ms();
    mcp_status st = MCP_OK;

    if (text)
        st = notify(self, session, NULL, text, length, left_ms > 0 ? left_ms : 1, err);
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&self->lock);
    self->session = *session;
    bool starts = self->owner->on_list_changed && session->lists_change && !self->has_listener;
    self->has_listener = self->has_listener || starts;
    if (self->has_listener && !starts)
        thread_worker_wake(&self->listener);
    pthread_mutex_unlock(&self->lock);
    if (starts)
        st = thread_worker_start(&self->listener, run_listener, self, err);
    return st;
}

/* Tell the server that the session ends; it may refuse, and does not matter. */
static void end_session(struct http *self)
{
    struct client_headers headers = { .arena = NULL };
    fetch_result result;

    if (!self->session.id[0])
        return;
    add_headers(&headers, self, &self->session);
    const fetch_request request = { .method = "DELETE",
                                    .url = self->url,
                                    .headers = headers.items,
                                    .header_count = headers.count,
                                    .timeout_ms = NOTIFY_MS };
    fetch_run(&result, self->pool, &request, NULL);
    fetch_result_clear(&result);
}

static void free_http(struct client_link *link)
{
    struct http *self = http_of(link);

    thread_worker_stop(&self->listener);
    if (self->url)
        end_session(self);
    pthread_mutex_destroy(&self->lock);
    free(self->url);
    free(self->authorization);
    free(self);
}

static mcp_status check_bearer(const char *bearer, mcp_error *err)
{
    for (const char *c = bearer; c && *c; c++) {
        if (*c <= ' ' || *c > '~')
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "the token has a character that no header may have");
    }
    return MCP_OK;
}

static char *authorization_of(const char *bearer)
{
    mcp_buf text;
    size_t length = 0;

    mcp_buf_init(&text, 1 << 16);
    mcp_buf_printf(&text, "Bearer %s", bearer);
    char *out = text.status == MCP_OK ? mcp_buf_take(&text, &length) : NULL;
    mcp_buf_clear(&text);
    return out;
}

mcp_status client_http_new(struct client_link **out, client *owner, const client_options *options,
                           mcp_error *err)
{
    static const struct client_link_kind kind = { open_http, begin_http, exchange_http, free_http };

    fetch_url url;

    mcp_status st = fetch_url_read(&url, options->url, err);
    if (st == MCP_OK)
        st = check_bearer(options->bearer, err);
    if (st != MCP_OK)
        return st;
    struct http *self = mcp_alloc_zeroed(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an MCP client");
    self->link.kind = &kind;
    self->owner = owner;
    self->pool = options->pool;
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->listener, &self->lock);
    self->url = mcp_alloc_strdup(options->url);
    if (options->bearer)
        self->authorization = authorization_of(options->bearer);
    if (!self->url || (options->bearer && !self->authorization)) {
        free_http(&self->link);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an MCP client");
    }
    *out = &self->link;
    return MCP_OK;
}
