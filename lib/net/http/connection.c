/*
 * connection.c - a socket, from accept to close: reading, handing out requests, writing, time-outs.
 *
 * The socket is polled and read and written by us, so that a write to a reset connection raises no
 * SIGPIPE in a process that is not ours, and so that a hang-up is seen even while nothing is read.
 *
 * All connections read into one buffer of the server. A request that came whole is parsed and
 * handed out where it lies; only the begun part of an unfinished one is copied. So an idle
 * connection is this struct alone.
 *
 * The user answers in any callback or none, and nothing is done about it there: the connection
 * becomes `due`, and is settled when the callbacks of this turn are through. Hence no function of
 * http.h can pull a connection from under its caller, and what a turn writes leaves in one write.
 *
 * Half closed: the end of what a client sends may be the end of its side alone (`nc -N`), or the
 * end of the client; the socket looks the same. So its requests are answered still, and a client
 * that is gone is found by its reset: a stream's user writes at once or ends the stream, an answer
 * that is due for PROBE_MS is preceded by "102 Processing", and keep-alive probes find who leaves
 * later, or speaks HTTP/1.0, which has no such answers.
 *
 * LINGER: closing a socket with unread bytes makes the kernel send a reset, which can destroy an
 * answer that the client has not read. After a refusal we therefore say that we send no more, and
 * drop what comes until the client closes, LINGER_MS pass or LINGER_BYTES came.
 */
#include "net/http/connection.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

#define PARTS_A_WRITE 64
#define SEAL_SIZE ((size_t)64 * 1024)      /* plain bytes that become TLS records at a time */
#define HELD_BACK_SIZE ((size_t)64 * 1024) /* pipelined requests; then the socket is not read */
#define READS_A_TURN 4
#define LINGER_MS 2000
#define LINGER_BYTES ((uint32_t)1024 * 1024)
#define PROBE_MS 1000 /* an answer that comes sooner is its own probe */
#define KEEPALIVE_S 15
#define KEEPALIVE_PROBES 3

static void on_event(uv_poll_t *handle, int status, int events);

/* The time that the loop took when it last woke: near enough, and free. */
static int64_t now_ms(const connection *conn)
{
    return (int64_t)uv_now(&conn->http->loop->uv);
}

/* ---- what is polled for ---------------------------------------------------------------------- */

/* Whether more bytes could be used: else the socket is left alone, and the sender held up. */
static bool wants_input(const connection *conn)
{
    if (conn->is_half_closed)
        return false;
    switch (conn->phase) {
    case PHASE_FLUSH:
        return false;
    case PHASE_RAW:
        return !conn->is_paused;
    case PHASE_WAIT:
        return conn->pending.length < HELD_BACK_SIZE;
    case PHASE_HEAD:
        return conn->out.queued < conn->http->options.queue_max_bytes ||
               conn->pending.length < HELD_BACK_SIZE;
    default:
        return true;
    }
}

static void poll_for_what_matters(connection *conn)
{
    int events = wants_input(conn) ? UV_READABLE : conn->phase == PHASE_FLUSH ? 0 : UV_DISCONNECT;

    /* What is left to see is a reset, or a Unix-domain socket's other end closed. Both come
     * unasked, but with no event the socket is not watched; urgent data comes no more. */
    if (conn->is_half_closed)
        events = UV_PRIORITIZED;

    if (conn->is_blocked)
        events |= UV_WRITABLE;
    if (events == conn->events)
        return;
    conn->events = (uint8_t)events;
    (void)uv_poll_start(&conn->poll, events, on_event);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void give_request_back(connection *conn)
{
    mcp__http *http = conn->http;
    mcp__request *request = conn->request;

    conn->request = NULL;
    conn->is_kept = false;
    if (!request)
        return;
    mcp__request_reset(request);
    if (http->spare) {
        mcp__request_free(request);
        return;
    }
    http->spare = request;
}

static void leave_due_list(connection *conn)
{
    connection **at = &conn->http->due;

    if (!conn->is_due)
        return;
    while (*at != conn)
        at = &(*at)->next_due;
    *at = conn->next_due;
    conn->is_due = false;
}

static void close_connection(connection *conn)
{
    mcp__http *http = conn->http;

    conn->phase = PHASE_CLOSED;
    leave_due_list(conn);
    if (conn->previous)
        conn->previous->next = conn->next;
    else
        http->connections = conn->next;
    if (conn->next)
        conn->next->previous = conn->previous;
    http->count--;
    give_request_back(conn);
    mcp__outbox_clear(&conn->out, &http->pieces);
    mcp_buf_clear(&conn->pending);
    mcp__tls_free(conn->tls);
    conn->tls = NULL;
    mcp__handle_close((uv_handle_t *)&conn->poll);
    (void)close(conn->fd);
}

/* The exchange will not be answered: its user is notified. */
static void notify_hung_up(connection *conn)
{
    const mcp__http_handler *handler = &conn->http->options.handler;
    bool is_known = handler->head || conn->phase != PHASE_BODY;
    bool is_open = conn->answer == ANSWER_DUE || conn->answer == ANSWER_STREAM;

    if (!is_open)
        return;
    conn->answer = ANSWER_NONE;
    if (is_known)
        handler->hung_up(conn, handler->data);
    conn->data = NULL;
}

void mcp__connection_end(connection *conn)
{
    if (conn->phase == PHASE_CLOSED)
        return;
    notify_hung_up(conn);
    if (conn->tenant) {
        const mcp__http_tenant *tenant = conn->tenant;
        conn->tenant = NULL;
        tenant->closed(conn->data);
    }
    close_connection(conn);
}

static bool has_to_send(const connection *conn)
{
    size_t length = 0;

    return conn->out.queued > 0 || (conn->tls && mcp__tls_out(conn->tls, &length));
}

/* Whether the answer is in the making, or requests wait that came whole. */
static bool has_to_answer(const connection *conn)
{
    return conn->phase == PHASE_WAIT || (conn->phase == PHASE_HEAD && conn->pending.length > 0);
}

/* A peer that is no more resets what is sent to it: once its kernel has forgotten the socket, a
 * minute or so later, the probes are enough. */
static void watch_for_reset(connection *conn)
{
    int on = 1, seconds = KEEPALIVE_S, probes = KEEPALIVE_PROBES;

    conn->read_deadline_ms = now_ms(conn) + PROBE_MS;
    if (conn->is_unix)
        return;
    (void)setsockopt(conn->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
    (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
    (void)setsockopt(conn->fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

static void half_close(connection *conn)
{
    const mcp__http_handler *handler = &conn->http->options.handler;

    conn->is_half_closed = true;
    watch_for_reset(conn);
    if (conn->answer == ANSWER_STREAM && handler->half_closed)
        handler->half_closed(conn, handler->data);
    else if (conn->answer == ANSWER_STREAM)
        conn->is_broken = true;
}

/* The client sends no more. It may have shut one side only: what it asked for before is answered,
 * and what is queued for it is sent. */
static void on_client_end(connection *conn)
{
    bool has_output = has_to_send(conn) && !conn->is_shut;

    if (!conn->is_half_closed && has_to_answer(conn))
        half_close(conn);
    else if (conn->phase != PHASE_RAW && conn->answer != ANSWER_DUE &&
             conn->answer != ANSWER_STREAM && has_output) {
        conn->phase = PHASE_FLUSH;
        conn->read_deadline_ms = 0;
    } else {
        mcp__connection_end(conn);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Something can be sent, in parts; 0: there is nothing, or TLS has failed. */
static int parts_to_send(connection *conn, struct iovec *parts)
{
    size_t length = 0;

    if (!conn->tls)
        return mcp__outbox_parts(&conn->out, parts, PARTS_A_WRITE);
    while (!mcp__tls_out(conn->tls, &length) && conn->out.queued > 0) {
        struct iovec plain;
        (void)mcp__outbox_parts(&conn->out, &plain, 1);
        size_t count = plain.iov_len < SEAL_SIZE ? plain.iov_len : SEAL_SIZE;
        if (mcp__tls_seal(conn->tls, plain.iov_base, count, NULL) != MCP_OK) {
            conn->is_broken = true;
            return 0;
        }
        mcp__outbox_drop(&conn->out, &conn->http->pieces, count);
    }
    /* Only read, but iovec has no const. NOLINTNEXTLINE(performance-no-int-to-ptr) */
    parts[0].iov_base = (char *)(uintptr_t)mcp__tls_out(conn->tls, &length);
    parts[0].iov_len = length;
    return length > 0 ? 1 : 0;
}

static void note_sent(connection *conn, size_t count)
{
    if (conn->tls)
        mcp__tls_out_drop(conn->tls, count);
    else
        mcp__outbox_drop(&conn->out, &conn->http->pieces, count);
}

/* Send what goes. */
static void flush(connection *conn)
{
    struct iovec parts[PARTS_A_WRITE];
    struct msghdr message = { .msg_iov = parts };
    bool has_progress = false;

    conn->is_blocked = false;
    while (!conn->is_broken && !conn->is_blocked) {
        int count = parts_to_send(conn, parts);
        if (count == 0)
            break;
        message.msg_iovlen = (size_t)count;
        ssize_t sent = sendmsg(conn->fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent >= 0) {
            note_sent(conn, (size_t)sent);
            has_progress = true;
        } else if (errno == EAGAIN) {
            conn->is_blocked = true;
        } else if (errno != EINTR) {
            conn->is_broken = true;
        }
    }
    if (!conn->is_blocked)
        conn->write_deadline_ms = 0;
    else if (has_progress || conn->write_deadline_ms == 0)
        conn->write_deadline_ms = now_ms(conn) + conn->http->options.stall_timeout_ms;
}

/* ---- requests -------------------------------------------------------------------------------- */

static void set_read_deadline(connection *conn, int64_t after_ms)
{
    conn->read_deadline_ms = now_ms(conn) + after_ms;
}

static void linger(connection *conn)
{
    conn->phase = PHASE_LINGER;
    conn->scan = (mcp__head_scan){ .looked = 0 }; /* its `looked` counts what is dropped */
    conn->read_deadline_ms = 0;                   /* set once our answer is out */
}

static void refuse(connection *conn, mcp__refusal refusal)
{
    bool is_begun = conn->answer == ANSWER_STREAM || conn->answer == ANSWER_DONE;

    notify_hung_up(conn);
    if (!is_begun)
        mcp__reply_refusal(conn, refusal);
    conn->answer = ANSWER_NONE;
    give_request_back(conn);
    linger(conn);
}

/* The exchange is answered and its request read: on to the next, or to the end. */
static void finish_exchange(connection *conn)
{
    bool is_read = conn->phase == PHASE_WAIT;

    conn->answer = ANSWER_NONE;
    conn->data = NULL;
    give_request_back(conn);
    if (conn->is_last || conn->http->is_stopping) {
        conn->read_deadline_ms = 0;
        if ((is_read && conn->is_bye) || conn->is_half_closed)
            conn->phase = PHASE_FLUSH;
        else
            linger(conn);
        return;
    }
    conn->phase = PHASE_HEAD;
    set_read_deadline(conn, conn->http->options.idle_timeout_ms);
}

static bool is_head_request(const char *bytes, size_t length)
{
    return length >= 5 && memcmp(bytes, "HEAD ", 5) == 0;
}

static void on_head(connection *conn)
{
    const mcp__http_handler *handler = &conn->http->options.handler;
    mcp__request *request = conn->request;

    conn->answer = ANSWER_DUE;
    conn->phase = PHASE_BODY;
    conn->is_reading = conn->has_no_body || strcmp(mcp__http_method(conn), "GET") == 0;
    conn->is_old = request->head.minor == 0;
    conn->is_bye = !request->keeps_alive;
    conn->is_last = conn->is_bye;
    if (!request->is_complete)
        set_read_deadline(conn, conn->http->options.body_timeout_ms);
    if (handler->head)
        handler->head(conn, handler->data);
    request->is_unwanted = conn->answer != ANSWER_DUE; /* answered already: what comes is dropped */
    if (conn->phase != PHASE_BODY)                     /* a tenant has it */
        give_request_back(conn);
}

static void on_whole_request(connection *conn)
{
    const mcp__http_handler *handler = &conn->http->options.handler;

    conn->phase = PHASE_WAIT;
    conn->read_deadline_ms = conn->is_half_closed ? now_ms(conn) + PROBE_MS : 0;
    if (conn->answer == ANSWER_DUE)
        handler->request(conn, handler->data);
    if (!conn->is_kept) /* what can be read of it is good within the callback only */
        give_request_back(conn);
    if (conn->answer == ANSWER_DONE)
        finish_exchange(conn);
}

/* A request to parse into; NULL: no memory. */
static mcp__request *take_request(mcp__http *http)
{
    mcp__request *request = http->spare;

    http->spare = NULL;
    if (!request)
        request = mcp__request_new(http->options.fields_max);
    if (request)
        request->bodies = &http->bodies;
    return request;
}

static void begin_request(connection *conn, char *bytes, size_t length)
{
    conn->scan = (mcp__head_scan){ .looked = 0 };
    conn->is_begun = false;
    conn->request = take_request(conn->http);
    if (!conn->request) {
        refuse(conn, (mcp__refusal){ 503, "there is no memory for the request" });
        return;
    }
    mcp__refusal refusal = mcp__request_begin(conn->request, bytes, length,
                                              conn->http->options.body_max_bytes);
    if (refusal.status != 0) {
        refuse(conn, refusal);
        return;
    }
    on_head(conn);
    if (conn->phase == PHASE_BODY && conn->request->is_complete)
        on_whole_request(conn);
}

/* ---- input ----------------------------------------------------------------------------------- */

/* One empty line before a request is to be passed over (RFC 9112 section 2.2). Returns its
 * length. */
static size_t empty_line(connection *conn, const char *bytes, size_t length)
{
    if (conn->scan.lines > 0 || length < 2 || bytes[0] != '\r' || bytes[1] != '\n')
        return 0;
    conn->scan = (mcp__head_scan){ .looked = 0 };
    return 2;
}

static size_t use_head(connection *conn, char *bytes, size_t length)
{
    size_t skipped = empty_line(conn, bytes, length);
    size_t end = 0;

    if (skipped > 0)
        return skipped;
    if (conn->out.queued >= conn->http->options.queue_max_bytes)
        return 0;
    conn->has_no_body = is_head_request(bytes, length); /* of a refusal, too */
    mcp__refusal refusal = mcp__head_find_end(&end, &conn->scan, bytes, length,
                                              &conn->http->limits);
    if (refusal.status != 0) {
        refuse(conn, refusal);
        return length;
    }
    if (end > 0) {
        begin_request(conn, bytes, end);
    } else if (!conn->is_begun) { /* once: empty lines before the request win no time */
        conn->is_begun = true;
        set_read_deadline(conn, conn->http->options.head_timeout_ms);
    }
    return end;
}

static size_t use_body(connection *conn, const char *bytes, size_t length)
{
    size_t used = 0;
    mcp__refusal refusal = mcp__request_feed(conn->request, &used, bytes, length);

    if (refusal.status != 0) {
        refuse(conn, refusal);
        return length;
    }
    if (conn->request->is_complete)
        on_whole_request(conn);
    return used;
}

static size_t use_nothing(connection *conn, size_t length)
{
    uint32_t room = LINGER_BYTES - conn->scan.looked;

    conn->scan.looked += length < room ? (uint32_t)length : room;
    if (conn->scan.looked == LINGER_BYTES)
        conn->is_broken = true;
    return length;
}

/* Use bytes as the phase wants them. Returns how many were used; 0: it wants none yet. */
static size_t use_once(connection *conn, char *bytes, size_t length)
{
    switch (conn->phase) {
    case PHASE_HEAD:
        return use_head(conn, bytes, length);
    case PHASE_BODY:
        return use_body(conn, bytes, length);
    case PHASE_RAW:
        return conn->is_paused ? 0 : conn->tenant->input(conn->data, bytes, length);
    case PHASE_FLUSH:
    case PHASE_LINGER:
        return use_nothing(conn, length);
    default:
        return 0;
    }
}

/* All is used, and the body is not whole. The client may wait for "100 Continue". */
static void await_body(connection *conn)
{
    mcp__request *request = conn->request;
    size_t length = 0;

    (void)mcp__request_body(request, &length);
    if (request->wants_continue && !request->is_unwanted && length == 0 && request->framing == 0)
        mcp__reply_interim(conn, 100);
    request->wants_continue = false;
    if (mcp__request_keep(request) != MCP_OK)
        conn->is_broken = true;
}

/* As many bytes as can be used now. */
static size_t use(connection *conn, char *bytes, size_t length)
{
    size_t used = 0;

    while (used < length && !conn->is_broken) {
        size_t count = use_once(conn, bytes + used, length - used);
        if (count == 0)
            break;
        used += count;
    }
    if (conn->phase == PHASE_BODY)
        await_body(conn);
    return used;
}

static void keep(connection *conn, const char *bytes, size_t length)
{
    if (length > 0 && mcp_buf_append(&conn->pending, bytes, length) != MCP_OK)
        conn->is_broken = true;
}

/* Try again what was held back. */
static void use_pending(connection *conn)
{
    mcp_buf *pending = &conn->pending;

    if (pending->length == 0)
        return;
    size_t used = use(conn, pending->data, pending->length);
    if (used == pending->length) {
        mcp_buf_clear(pending);
    } else if (used > 0) {
        memmove(pending->data, pending->data + used, pending->length - used);
        pending->length -= used;
        pending->data[pending->length] = '\0';
    }
}

static void on_input(connection *conn, char *bytes, size_t length)
{
    if (conn->pending.length > 0) {
        keep(conn, bytes, length);
        use_pending(conn);
        return;
    }
    size_t used = use(conn, bytes, length);
    if (conn->phase != PHASE_CLOSED)
        keep(conn, bytes + used, length - used);
}

static void on_sealed_input(connection *conn, size_t length)
{
    mcp__http *http = conn->http;
    bool is_ended = false;
    size_t got = 0;

    mcp_status st = mcp__tls_open(conn->tls, http->plain, &got, &is_ended, http->input, length,
                                  NULL);
    if (st != MCP_OK) {
        flush(conn); /* the alert that says why */
        conn->is_broken = true;
        return;
    }
    on_input(conn, http->plain, got);
    if (is_ended && !conn->is_broken)
        on_client_end(conn);
}

static void read_some(connection *conn)
{
    for (int i = 0; i < READS_A_TURN && wants_input(conn) && !conn->is_broken; i++) {
        ssize_t count = recv(conn->fd, conn->http->input, MCP__INPUT_SIZE, MSG_DONTWAIT);
        if (count == 0)
            on_client_end(conn);
        else if (count < 0 && errno != EAGAIN && errno != EINTR)
            conn->is_broken = true;
        else if (count > 0 && conn->tls)
            on_sealed_input(conn, (size_t)count);
        else if (count > 0)
            on_input(conn, conn->http->input, (size_t)count);
        if (count < (ssize_t)MCP__INPUT_SIZE || conn->phase == PHASE_CLOSED)
            return;
    }
}

/* ---- settling -------------------------------------------------------------------------------- */

void mcp__connection_due(connection *conn)
{
    if (conn->is_due || conn->phase == PHASE_CLOSED)
        return;
    conn->is_due = true;
    conn->next_due = conn->http->due;
    conn->http->due = conn;
}

static void notify_drained(connection *conn)
{
    const mcp__http_handler *handler = &conn->http->options.handler;

    if (conn->phase == PHASE_RAW)
        conn->tenant->drained(conn->data);
    else if (conn->answer == ANSWER_STREAM && handler->drained)
        handler->drained(conn, handler->data);
}

/* The last bytes are out: close, or say that we send no more and listen a little longer. */
static void after_last_byte(connection *conn)
{
    if (conn->tls && !conn->is_shut) {
        conn->is_shut = true;
        mcp__tls_seal_end(conn->tls);
        flush(conn);
        if (conn->is_blocked || conn->is_broken)
            return;
    }
    if (conn->phase == PHASE_FLUSH) {
        mcp__connection_end(conn);
        return;
    }
    if (conn->read_deadline_ms != 0)
        return;
    conn->is_shut = true;
    (void)shutdown(conn->fd, SHUT_WR);
    set_read_deadline(conn, LINGER_MS);
}

/* Idle, and not wanted any more; or no request comes whole any more. */
static bool is_over(const connection *conn)
{
    if (conn->is_half_closed && (conn->phase == PHASE_HEAD || conn->phase == PHASE_BODY))
        return true;
    return conn->http->is_stopping && conn->phase == PHASE_HEAD && conn->pending.length == 0;
}

/* The exchange is answered, and what is left of its request need not be read. */
static bool is_answered(const connection *conn)
{
    return conn->answer == ANSWER_DONE &&
           (conn->phase == PHASE_WAIT || (conn->phase == PHASE_BODY && conn->is_last));
}

static void flush_if_possible(connection *conn)
{
    if (has_to_send(conn) && !conn->is_blocked && !conn->is_broken)
        flush(conn);
}

/* Requests that wait behind a full queue come forward when it is sent, which makes it full
 * again. */
static void go_on(connection *conn)
{
    size_t before;

    flush_if_possible(conn);
    do {
        before = conn->pending.length;
        if (!conn->is_broken && (conn->phase == PHASE_HEAD || conn->phase == PHASE_RAW))
            use_pending(conn);
        flush_if_possible(conn);
    } while (!conn->is_broken && !conn->is_blocked && conn->pending.length < before);
}

void mcp__connection_settle(connection *conn, bool can_write)
{
    bool was_blocked = conn->is_blocked;

    if (is_answered(conn))
        finish_exchange(conn);
    conn->is_blocked = was_blocked && !can_write;
    go_on(conn);
    if (!conn->is_broken && was_blocked && !conn->is_blocked)
        notify_drained(conn);
    if (!conn->is_broken && !has_to_send(conn)) {
        if (is_over(conn)) {
            notify_hung_up(conn);
            conn->phase = PHASE_FLUSH;
        }
        if (conn->phase == PHASE_FLUSH || conn->phase == PHASE_LINGER)
            after_last_byte(conn);
    }
    if (conn->phase == PHASE_CLOSED)
        return;
    if (conn->is_broken)
        mcp__connection_end(conn);
    else
        poll_for_what_matters(conn);
}

static void on_event(uv_poll_t *handle, int status, int events)
{
    connection *conn = (connection *)handle;

    mcp__loop_came(conn->http->loop);
    if (status < 0)
        conn->is_broken = true;
    if (!conn->is_broken && (events & UV_READABLE))
        read_some(conn);
    if (conn->phase != PHASE_CLOSED && (events & (UV_DISCONNECT | UV_PRIORITIZED)))
        on_client_end(conn);
    if (conn->phase != PHASE_CLOSED)
        mcp__connection_settle(conn, (events & UV_WRITABLE) != 0);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Half closed, and its answer is due: if the client is gone, these bytes make its kernel say so. */
static void probe(connection *conn)
{
    conn->read_deadline_ms = 0;
    if (conn->answer == ANSWER_DUE && !conn->is_old)
        mcp__reply_interim(conn, 102);
}

static void on_read_deadline(connection *conn)
{
    static const mcp__refusal late_head = { 408, "the header fields did not come in time" };
    static const mcp__refusal late_body = { 408, "the body did not come in time" };

    if (conn->phase == PHASE_HEAD && has_to_send(conn))
        return; /* it is still reading our answer */
    if (conn->phase == PHASE_WAIT) {
        probe(conn);
        return;
    }
    if (conn->phase == PHASE_HEAD && conn->pending.length > 0) {
        refuse(conn, late_head);
    } else if (conn->phase == PHASE_BODY) {
        refuse(conn, late_body);
    } else {
        mcp__connection_end(conn);
        return;
    }
    mcp__connection_settle(conn, false);
}

void mcp__connection_tick(connection *conn, int64_t now)
{
    if (conn->write_deadline_ms != 0 && now >= conn->write_deadline_ms) {
        mcp__connection_end(conn);
        return;
    }
    if (conn->phase == PHASE_RAW)
        conn->tenant->tick(conn->data, now);
    else if (conn->read_deadline_ms != 0 && now >= conn->read_deadline_ms)
        on_read_deadline(conn);
}

/* ---- the beginning --------------------------------------------------------------------------- */

mcp_status mcp__connection_new(mcp__http *http, int fd, bool is_unix, mcp__tls_context *tls,
                               mcp_error *err)
{
    connection *conn = mcp_alloc_zeroed(1, sizeof *conn);
    int on = 1;

    if (conn && tls)
        conn->tls = mcp__tls_new(tls);
    if (!conn || (tls && !conn->tls)) {
        free(conn);
        (void)close(fd);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a connection");
    }
    int code = uv_poll_init(&http->loop->uv, &conn->poll, fd);
    if (code != 0) {
        mcp__tls_free(conn->tls);
        free(conn);
        (void)close(fd);
        return mcp_error_errno(err, -code, "a connection cannot be watched");
    }
    conn->http = http;
    conn->fd = fd;
    conn->is_unix = is_unix;
    mcp_buf_init(&conn->pending,
                 HELD_BACK_SIZE + http->limits.block_max + MCP__INPUT_SIZE + MCP__TLS_ROOM);
    if (!is_unix) /* an answer must not wait for the client's acknowledgement of the one before */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    conn->next = http->connections;
    if (conn->next)
        conn->next->previous = conn;
    http->connections = conn;
    http->count++;
    set_read_deadline(conn, http->options.head_timeout_ms);
    poll_for_what_matters(conn);
    return MCP_OK;
}
