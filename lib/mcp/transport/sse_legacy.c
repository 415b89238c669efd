/*
 * sse_legacy.c - HTTP+SSE: a client keeps one GET open, learns there where to post, and receives
 * all answers there.
 *
 * The session is the stream: both begin and end together, and the address in the first event holds
 * the session's id. A post is answered by 202 alone; the answer to its message is an event. An
 * unknown id and one of another client are the same 404.
 */
#include "mcp/transport/sse_legacy.h"

#include <stdio.h>
#include <string.h>

#include "mcp/clock.h"
#include "mcp/core/dispatch.h"
#include "mcp/transport/authorize.h"
#include "mcp/transport/http/body_reader.h"

#define ADDRESS_SIZE 80
#define PARAMETER "sessionId="

/* ---- the stream ------------------------------------------------------------------------------ */

static void send_event(mcp__peer *self, mcp_buf *message)
{
    mcp__web_peer_send((mcp__web_peer *)self, "message", message->data, message->length);
    mcp_buf_clear(message);
}

/* Posts were answered when they came. */
static void no_reply(mcp__peer *self)
{
    (void)self;
}

/* The session is the stream: both end, once it has hung up. */
static void abort_request(mcp__peer *self)
{
    mcp__web_peer *peer = (mcp__web_peer *)self;

    if (peer->exchange)
        mcp__http_break(peer->exchange);
}

void mcp__sse_head(mcp__web *web, mcp__http_exchange *exchange)
{
    if (strcmp(mcp__http_method(exchange), "GET") != 0)
        mcp__web_answer_with(web, exchange, 405, "Allow", "GET", NULL);
}

static void send_address(mcp__web_peer *peer)
{
    char address[ADDRESS_SIZE];
    int length = snprintf(address, sizeof address, "%s?%s%s", MCP__SSE_MESSAGE_PATH, PARAMETER,
                          peer->entry->id);

    mcp__web_peer_send(peer, "endpoint", address, (size_t)length);
}

void mcp__sse_request(mcp__web *web, mcp__http_exchange *exchange)
{
    const mcp__accepted accepted = { .events = true };
    const char *principal = mcp__authorize_name(web);
    mcp__session_entry *entry = NULL;

    if (mcp__session_table_add(&entry, &web->sessions, principal, mcp_clock_mono_ms(), NULL) !=
        MCP_OK) {
        mcp__web_answer_with(web, exchange, 503, "Retry-After", "10", NULL);
        return;
    }
    if (mcp__session_set_listener(&entry->session, web->caller, NULL) != MCP_OK) {
        mcp__session_table_end(&web->sessions, entry);
        mcp__web_answer(web, exchange, 503, NULL);
        return;
    }
    mcp__web_peer *peer = mcp__web_peer_new(web, exchange, entry, false, &accepted);
    if (!peer) {
        mcp__session_table_end(&web->sessions, entry);
        return;
    }
    peer->peer.answer = send_event;
    peer->peer.notify = send_event;
    peer->peer.no_reply = no_reply;
    peer->peer.abort = abort_request;
    peer->peer.reconnect = NULL;
    peer->is_session = true;
    entry->session.listener = &peer->peer;
    if (mcp__web_peer_begin(peer)) {
        send_address(peer);
        return;
    }
    mcp__session_table_end(&web->sessions, entry);
    mcp__web_peer_free(peer);
}

void mcp__sse_end_idle(mcp__web_peer *peer)
{
    if (mcp__dispatch_is_idle(&peer->entry->session))
        mcp__session_table_end(&peer->web->sessions, peer->entry);
}

/* ---- messages -------------------------------------------------------------------------------- */

void mcp__sse_post_head(mcp__web *web, mcp__http_exchange *exchange)
{
    const char *type = mcp__http_field(exchange, "Content-Type");

    if (strcmp(mcp__http_method(exchange), "POST") != 0)
        mcp__web_answer_with(web, exchange, 405, "Allow", "POST", NULL);
    else if (!type || !mcp__field_is_type(type, "application/json"))
        mcp__web_answer(web, exchange, 415, NULL);
}

static mcp__web_peer *find_stream(mcp__web *web, const mcp__http_exchange *exchange)
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
    mcp__session_entry *entry = mcp__session_table_find(&web->sessions, id,
                                                        mcp__authorize_name(web));
    mcp__web_peer *peer = entry ? mcp__web_peer_find(web, entry, 0) : NULL;
    return peer && peer->is_session ? peer : NULL;
}

/* Hand the message in. Returns the status that the post is answered with. */
static int take_message(mcp__web *web, mcp__web_peer *peer, mcp__incoming *incoming)
{
    mcp__session_entry *entry = peer->entry;

    if (incoming->status != MCP_OK || mcp__dispatch_is_full(&entry->session))
        return incoming->status == MCP_E_PARSE ? 400 : 503;
    web->counts.messages++;
    mcp__session_table_touch(&web->sessions, entry, mcp_clock_mono_ms());
    mcp__session_table_work(&web->sessions, entry);
    peer->peer.principal = web->caller;
    mcp__dispatch_incoming(&entry->session, &peer->peer, incoming);
    peer->peer.principal = NULL;
    return 202;
}

static void serve_post(mcp__web *web, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    mcp__web_peer *peer = find_stream(web, exchange);

    mcp__web_answer(web, exchange, peer ? take_message(web, peer, incoming) : 404, NULL);
}

void mcp__sse_post_request(mcp__web *web, mcp__http_exchange *exchange)
{
    if (find_stream(web, exchange))
        mcp__body_read(web, exchange, serve_post);
    else
        mcp__web_answer(web, exchange, 404, NULL);
}
