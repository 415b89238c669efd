/*
 * peer.c - answering one request over HTTP, by JSON or by events.
 *
 * A peer begins without an answer. What comes first decides: the answer itself is one JSON body;
 * anything else, or patience running out, begins a stream, on which the answer is the last event.
 *
 * A stream of a session numbers its events, and the session keeps the last of them. So a peer can
 * lose its connection and live on: the call runs, its events go to the ring, and a GET that names
 * the last event that its client saw takes the stream up again (mcp__httpd_peer_attach). Without a
 * session what comes for a client that is gone is dropped.
 *
 * A peer frees itself when it has answered, or when nothing can come any more. Nothing here is used
 * after that, in particular not after a call into the dispatch.
 */
#include "mcp/transport/http/peer.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/header_fields.h"
#include "net/sse.h"

#define EVENT_ROOM ((size_t)256) /* of what stands around a message in an event */
#define CHALLENGE_MAX ((size_t)4 * 1024)
#define EVENT_ID_SIZE 40
#define RETRY_MS 3000

/* ---- its life -------------------------------------------------------------------------------- */

static void disconnect(mcp__httpd_peer *peer)
{
    peer->exchange = NULL;
    peer->entry->open_streams--;
}

static void connect(mcp__httpd_peer *peer, mcp__http_exchange *exchange)
{
    peer->exchange = exchange;
    peer->entry->open_streams++;
    mcp__http_set_data(exchange, &peer->owner);
}

void mcp__httpd_peer_free(mcp__httpd_peer *peer)
{
    mcp__httpd *httpd = peer->httpd;

    if (peer->exchange)
        disconnect(peer);
    if (peer->entry->session.listener == &peer->peer)
        peer->entry->session.listener = NULL;
    LIST_REMOVE(peer, of_entry);
    if (peer->is_once)
        mcp__session_table_return(&httpd->sessions, peer->entry);
    LIST_REMOVE(peer, link);
    httpd->peer_count--;
    free(peer);
}

/* ---- events ---------------------------------------------------------------------------------- */

static const char *event_id(const mcp__httpd_peer *peer, uint64_t number, char out[EVENT_ID_SIZE])
{
    if (!peer->is_resumable)
        return NULL;
    (void)snprintf(out, EVENT_ID_SIZE, "%" PRIu32 "-%" PRIu64, peer->stream, number);
    return out;
}

/* Takes the text. A client must not wait for an event that is lost: a failure ends the connection,
 * and hung_up follows. */
static void put(mcp__httpd_peer *peer, mcp_buf *text, bool is_awaited)
{
    if (text->status == MCP_OK) {
        (void)mcp__http_write_buf(peer->exchange, text, NULL);
    } else if (is_awaited) {
        mcp_log_write(&peer->httpd->serve.options->log, MCP_LOG_ERROR,
                      "an event is lost: no memory");
        mcp__http_break(peer->exchange);
    }
    mcp_buf_clear(text);
    peer->wrote_ms = mcp_clock_mono_ms();
}

void mcp__httpd_peer_send(mcp__httpd_peer *peer, const char *name, const char *id, const char *text,
                          size_t length)
{
    mcp_buf event;

    mcp_buf_init(&event, length + EVENT_ROOM);
    (void)mcp_buf_reserve(&event, length + EVENT_ROOM / 2);
    (void)mcp__sse_event(&event, name, id, text, length);
    put(peer, &event, true);
}

static void put_message(mcp__httpd_peer *peer, uint64_t number, const char *text, size_t length)
{
    char id[EVENT_ID_SIZE];

    mcp__httpd_peer_send(peer, "message", event_id(peer, number, id), text, length);
}

static void write_comment(mcp__httpd_peer *peer)
{
    mcp_buf comment;

    mcp_buf_init(&comment, EVENT_ROOM);
    (void)mcp__sse_comment(&comment, "keepalive");
    put(peer, &comment, false);
}

/* 2025-11-25: an event without a message that gives the client an id to come back with. Clients of
 * earlier revisions would read its empty data as JSON. */
static void write_priming(mcp__httpd_peer *peer)
{
    char id[EVENT_ID_SIZE];
    mcp_buf event;

    if (!peer->is_resumable || peer->entry->session.revision < MCP_2025_11_25)
        return;
    mcp_buf_init(&event, EVENT_ROOM);
    (void)mcp__sse_retry(&event, RETRY_MS);
    (void)mcp__sse_priming(&event, event_id(peer, peer->number, id));
    put(peer, &event, false);
}

static const char *session_id(const mcp__httpd_peer *peer)
{
    const mcp__session_entry *entry = peer->entry;

    return entry->id[0] != '\0' && entry->session.revision != MCP_REVISION_NONE ? entry->id : NULL;
}

bool mcp__httpd_peer_begin(mcp__httpd_peer *peer)
{
    mcp__head head = { .count = 0 };

    peer->is_stream = true;
    mcp__head_events(&head);
    mcp__head_add(&head, "Mcp-Session-Id", session_id(peer));
    mcp__head_share(&head, peer->origin, MCP__EXPOSED);
    mcp__http_head_out out = mcp__head_out(&head, 200);
    if (mcp__http_begin(peer->exchange, &out, NULL) != MCP_OK) {
        disconnect(peer);
        return false;
    }
    peer->httpd->counts.streams++;
    peer->wrote_ms = mcp_clock_mono_ms();
    return true;
}

static bool begin_stream(mcp__httpd_peer *peer)
{
    peer->is_resumable = session_id(peer) != NULL;
    if (peer->is_resumable)
        peer->stream = ++peer->entry->streams;
    if (!mcp__httpd_peer_begin(peer))
        return false;
    write_priming(peer);
    return true;
}

/* Onto the stream, whether anybody is connected or not. */
static void send_event(mcp__httpd_peer *peer, mcp_buf *message)
{
    peer->number++;
    if (peer->stream == 0)
        peer->entry->listen_number = peer->number;
    if (peer->is_resumable && !peer->entry->is_ended)
        mcp__event_ring_put(&peer->entry->events, peer->stream, peer->number, message->data,
                            message->length);
    if (peer->exchange)
        put_message(peer, peer->number, message->data, message->length);
    mcp_buf_clear(message);
}

/* ---- the peer -------------------------------------------------------------------------------- */

void mcp__httpd_peer_challenge(const mcp__httpd_peer *peer, mcp__head *head, mcp_buf *field)
{
    if (peer->peer.scopes_needed)
        mcp__authorize_challenge(peer->httpd, field, peer->peer.scopes_needed);
    if (field->length > 0)
        mcp__head_add(head, "WWW-Authenticate", field->data);
}

static void reply(mcp__httpd_peer *peer, int status, mcp_buf *body)
{
    mcp__head head = { .count = 0 };
    mcp_buf challenge;

    mcp_buf_init(&challenge, CHALLENGE_MAX);
    mcp__httpd_peer_challenge(peer, &head, &challenge);
    if (body)
        mcp__head_add(&head, "Content-Type", "application/json");
    mcp__head_add(&head, "Mcp-Session-Id", session_id(peer));
    mcp__head_share(&head, peer->origin, MCP__EXPOSED);
    mcp__head_reply(&head, peer->exchange, status, body);
    mcp_buf_clear(&challenge);
}

/* A session that initialize did not open was never there. */
static void end_unopened(mcp__httpd_peer *peer)
{
    if (peer->is_initialize && peer->entry->id[0] != '\0' &&
        peer->entry->session.revision == MCP_REVISION_NONE)
        mcp__session_table_end(&peer->httpd->sessions, peer->entry);
}

static void answer(mcp__peer *self, mcp_buf *message)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;
    int status = self->http_status > 0 ? self->http_status : 200;

    if (!peer->is_stream && peer->exchange && !peer->accepted.json && status == 200)
        (void)begin_stream(peer);
    if (peer->is_stream)
        send_event(peer, message);
    else if (peer->exchange)
        reply(peer, status, message);
    if (peer->is_stream && peer->exchange)
        mcp__http_end(peer->exchange);
    mcp_buf_clear(message);
    end_unopened(peer);
    mcp__httpd_peer_free(peer);
}

static void notify(mcp__peer *self, mcp_buf *message)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    if (!peer->is_stream && peer->exchange && peer->accepted.events)
        (void)begin_stream(peer);
    if (peer->is_stream)
        send_event(peer, message);
    mcp_buf_clear(message);
}

static bool is_slow(const mcp__peer *self)
{
    const mcp__httpd_peer *peer = (const mcp__httpd_peer *)self;

    return peer->exchange && mcp__http_is_full(peer->exchange);
}

/* Only where the client was given an id to come back with before anything was sent: from
 * 2025-11-25. */
static void reconnect(mcp__peer *self)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    if (!peer->exchange || !peer->accepted.events || !session_id(peer) ||
        peer->entry->session.revision < MCP_2025_11_25)
        return;
    if (!peer->is_stream && !begin_stream(peer))
        return;
    mcp__http_end(peer->exchange);
    disconnect(peer);
}

static void no_reply(mcp__peer *self)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    /* A request that was cancelled stays without a response: an empty stream says that none
     * follows. */
    if (peer->exchange && !peer->is_stream && peer->is_request && peer->accepted.events)
        (void)mcp__httpd_peer_begin(peer);
    if (peer->exchange && peer->is_stream)
        mcp__http_end(peer->exchange);
    else if (peer->exchange)
        reply(peer, 202, NULL);
    mcp__httpd_peer_free(peer);
}

/* Nothing can be said any more: the connection ends, or at least the stream. */
static void abort_request(mcp__peer *self)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    end_unopened(peer);
    mcp__httpd_peer_end(peer);
}

/* The peer may be gone afterwards. */
static void on_hung_up(mcp__exchange_owner *owner)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)((char *)owner - offsetof(mcp__httpd_peer, owner));

    disconnect(peer);
    if (peer->is_session)
        mcp__session_table_end(&peer->httpd->sessions, peer->entry);
    if (peer->is_session || !peer->is_request) {
        mcp__httpd_peer_free(peer);
        return;
    }
    peer->httpd->counts.hung_up++;
    mcp__dispatch_hang_up(&peer->peer);
}

/* Of a client that has shut its side, or whose token has expired, what has no end: else it would
 * last as long as the connection. The peer may be gone afterwards. */
static void end_endless(mcp__httpd_peer *peer)
{
    if (peer->is_session)
        mcp__http_break(peer->exchange);
    else if (!peer->is_request)
        mcp__httpd_peer_end(peer);
    else
        mcp__dispatch_end_listening(&peer->peer);
}

static void on_half_closed(mcp__exchange_owner *owner)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)((char *)owner - offsetof(mcp__httpd_peer, owner));

    write_comment(peer); /* a client that is gone resets it */
    end_endless(peer);
}

mcp__httpd_peer *mcp__httpd_peer_new(mcp__httpd *httpd, mcp__http_exchange *exchange,
                                     mcp__session_entry *entry, bool is_once)
{
    mcp__httpd_peer *peer = mcp_alloc_zeroed(1, sizeof *peer);

    if (!peer) {
        if (is_once)
            mcp__session_table_return(&httpd->sessions, entry);
        mcp__httpd_refuse(httpd, exchange, 503, mcp_status_code(MCP_E_NOMEM), NULL,
                          mcp_status_words(MCP_E_NOMEM));
        return NULL;
    }
    peer->peer = (mcp__peer){
        .answer = answer,
        .notify = notify,
        .is_slow = is_slow,
        .no_reply = no_reply,
        .abort = abort_request,
        .reconnect = reconnect,
        .transport = mcp__httpd_transport(exchange),
    };
    peer->owner.hung_up = on_hung_up;
    peer->owner.half_closed = on_half_closed;
    peer->peer.principal = httpd->caller;
    peer->httpd = httpd;
    peer->entry = entry;
    peer->is_once = is_once;
    peer->origin = mcp__origin_check_origin(httpd, exchange);
    peer->expires_ms = mcp__httpd_caller_expires_ms(httpd);
    peer->begun_ms = mcp_clock_mono_ms();
    connect(peer, exchange);
    LIST_INSERT_HEAD(&httpd->peers, peer, link);
    LIST_INSERT_HEAD(&entry->peers, peer, of_entry);
    httpd->peer_count++;
    return peer;
}

/* ---- streams --------------------------------------------------------------------------------- */

static void send_kept(mcp__httpd_peer *peer, uint64_t after)
{
    const mcp__event *event = mcp__event_ring_next(&peer->entry->events, peer->stream, after);

    while (event) {
        put_message(peer, event->number, event->text, event->length);
        event = mcp__event_ring_next(&peer->entry->events, peer->stream, event->number);
    }
}

void mcp__httpd_peer_listen(mcp__httpd_peer *peer, const uint64_t *after)
{
    peer->is_resumable = true;
    peer->number = peer->entry->listen_number;
    peer->entry->session.listener = &peer->peer;
    if (!mcp__httpd_peer_begin(peer))
        mcp__httpd_peer_free(peer);
    else if (after)
        send_kept(peer, *after);
    else
        write_priming(peer);
}

void mcp__httpd_peer_attach(mcp__httpd_peer *peer, mcp__http_exchange *exchange, uint64_t after)
{
    mcp__http_exchange *old = peer->exchange;

    if (old) { /* half dead: its client would not be here otherwise */
        disconnect(peer);
        mcp__http_set_data(old, NULL);
        mcp__http_end(old);
    }
    peer->origin = mcp__origin_check_origin(peer->httpd, exchange);
    peer->expires_ms = mcp__httpd_caller_expires_ms(peer->httpd);
    connect(peer, exchange);
    if (mcp__httpd_peer_begin(peer))
        send_kept(peer, after);
}

void mcp__httpd_peer_replay(mcp__httpd *httpd, mcp__http_exchange *exchange,
                            mcp__session_entry *entry, uint32_t stream, uint64_t after)
{
    mcp__httpd_peer *peer = mcp__httpd_peer_new(httpd, exchange, entry, false);

    if (!peer)
        return;
    peer->is_resumable = true;
    peer->stream = stream;
    if (mcp__httpd_peer_begin(peer))
        send_kept(peer, after);
    mcp__httpd_peer_end(peer);
}

void mcp__httpd_peer_end(mcp__httpd_peer *peer)
{
    if (peer->exchange && peer->is_stream)
        mcp__http_end(peer->exchange);
    else if (peer->exchange)
        mcp__http_drop(peer->exchange);
    mcp__httpd_peer_free(peer);
}

static bool has_expired(const mcp__httpd_peer *peer)
{
    return peer->expires_ms != 0 && mcp_clock_wall_ms() >= peer->expires_ms;
}

void mcp__httpd_peer_tick(mcp__httpd_peer *peer, int64_t now_ms)
{
    const mcp_http_limits *limits = &peer->httpd->http.limits;
    bool is_due = peer->is_stream
                      ? now_ms - peer->wrote_ms >= limits->keepalive_ms
                      : peer->accepted.events && now_ms - peer->begun_ms >= limits->stream_after_ms;

    if (peer->exchange && is_due && (peer->is_stream || begin_stream(peer)))
        write_comment(peer);
    if (peer->exchange && peer->is_stream &&
        (mcp__http_is_half_closed(peer->exchange) || has_expired(peer)))
        end_endless(peer);
}

mcp__httpd_peer *mcp__httpd_peer_find(const mcp__session_entry *entry, uint32_t stream)
{
    mcp__httpd_peer *peer = LIST_FIRST(&entry->peers);

    while (peer && (!peer->is_stream || peer->stream != stream))
        peer = LIST_NEXT(peer, of_entry);
    return peer;
}
