/*
 * sse_legacy.c - HTTP+SSE: a client keeps one GET open, learns there where to post, and receives
 * all answers there.
 *
 * The session is the stream: both begin and end together (http.c ends those that are idle when the
 * server goes down), and the address in the first event holds the session's id. A post is answered
 * by 202 alone; the answer to its message is an event. An unknown id and one of another client are
 * the same 404.
 */
#include "mcp/transport/http/peer.h"

#include <stdio.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/core/dispatch.h"

#define PARAMETER "sessionId="

/* ---- the stream ------------------------------------------------------------------------------ */

/* Posts were answered when they came. */
static void no_reply(mcp__peer *self)
{
    (void)self;
}

/* The session is the stream: both end, once it has hung up. */
static void abort_request(mcp__peer *self)
{
    mcp__httpd_peer *peer = (mcp__httpd_peer *)self;

    if (peer->exchange)
        mcp__http_break(peer->exchange);
}

void mcp__sse_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    const char *principal = mcp__httpd_caller_name(httpd);
    mcp__session_entry *entry = NULL;
    char address[80];

    if (mcp__session_table_add(&entry, &httpd->sessions, principal, mcp_clock_mono_ms(), NULL) !=
        MCP_OK) {
        mcp__httpd_answer_with(httpd, exchange, 503, "Retry-After", "10", NULL);
        return;
    }
    mcp__httpd_peer *peer = NULL;
    if (mcp__session_set_listener(&entry->session, httpd->caller, NULL) == MCP_OK)
        peer = mcp__httpd_peer_new(httpd, exchange, entry, false);
    else
        mcp__httpd_answer(httpd, exchange, 503, NULL);
    if (!peer) {
        mcp__session_table_end(&httpd->sessions, entry);
        return;
    }
    peer->peer.answer = peer->peer.notify; /* the stream stays open */
    peer->peer.no_reply = no_reply;
    peer->peer.abort = abort_request;
    peer->peer.reconnect = NULL;
    peer->is_session = true;
    entry->session.listener = &peer->peer;
    if (mcp__httpd_peer_begin(peer)) {
        int length = snprintf(address, sizeof address, "%s?%s%s", MCP__SSE_MESSAGE_PATH, PARAMETER,
                              entry->id);
        mcp__httpd_peer_send(peer, "endpoint", NULL, address, (size_t)length);
        return;
    }
    mcp__session_table_end(&httpd->sessions, entry);
    mcp__httpd_peer_free(peer);
}

/* ---- messages -------------------------------------------------------------------------------- */

void mcp__sse_post_head(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    if (!mcp__field_is_type(mcp__http_field(exchange, "Content-Type"), "application/json"))
        mcp__httpd_answer(httpd, exchange, 415, NULL);
}

static mcp__httpd_peer *find_stream(mcp__httpd *httpd, const mcp__http_exchange *exchange)
{
    const char *query = mcp__http_query(exchange);
    const char *at = query ? strstr(query, PARAMETER) : NULL;
    char id[MCP_RANDOM_ID_SIZE];

    if (!at || (at != query && at[-1] != '&'))
        return NULL;
    at += strlen(PARAMETER);
    if (strcspn(at, "&") != sizeof id - 1)
        return NULL;
    (void)snprintf(id, sizeof id, "%s", at);
    mcp__session_entry *entry = mcp__session_table_find(&httpd->sessions, id,
                                                        mcp__httpd_caller_name(httpd));
    mcp__httpd_peer *peer = entry ? mcp__httpd_peer_find(entry, 0) : NULL;
    return peer && peer->is_session ? peer : NULL;
}

/* Hand the message in. Returns the status that the post is answered with. */
static int take_message(mcp__httpd *httpd, mcp__httpd_peer *peer, mcp__incoming *incoming)
{
    mcp__session_entry *entry = peer->entry;

    if (incoming->status != MCP_OK || mcp__dispatch_is_full(&entry->session))
        return incoming->status == MCP_E_PARSE ? 400 : 503;
    httpd->counts.messages++;
    mcp__session_table_touch(&httpd->sessions, entry, mcp_clock_mono_ms());
    mcp__session_table_work(&httpd->sessions, entry);
    peer->expires_ms = mcp__httpd_caller_expires_ms(httpd); /* its client has a newer token */
    peer->peer.principal = httpd->caller;
    mcp__dispatch_incoming(&entry->session, &peer->peer, incoming);
    peer->peer.principal = NULL;
    return 202;
}

static void serve_post(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    mcp__httpd_peer *peer = find_stream(httpd, exchange);

    mcp__httpd_answer(httpd, exchange, peer ? take_message(httpd, peer, incoming) : 404, NULL);
}

void mcp__sse_post_request(mcp__httpd *httpd, mcp__http_exchange *exchange)
{
    if (find_stream(httpd, exchange))
        mcp__httpd_read_body(httpd, exchange, serve_post);
    else
        mcp__httpd_answer(httpd, exchange, 404, NULL);
}
