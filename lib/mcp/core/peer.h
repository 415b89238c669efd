/*
 * peer.h - where a call's answer goes.
 *
 * A transport fills one in: stdio has one for the process, WebSocket one for each connection, HTTP
 * one for each exchange; a batch is one that gathers, a task one that keeps, and tests have one in
 * memory. Used by the loop alone.
 */
#ifndef MCP_CORE_PEER_H
#define MCP_CORE_PEER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "mcp/auth.h"
#include "mcp/buf.h"
#include "mcp/core/headers.h"

typedef struct mcp__peer mcp__peer;

struct mcp__peer {
    /** Send an answer: one message without newline. Takes the bytes: `message` is empty
     * afterwards. */
    void (*answer)(mcp__peer *peer, mcp_buf *message);
    /** Send a notification that belongs to a call which is still open. Takes the bytes. */
    void (*notify)(mcp__peer *peer, mcp_buf *message);
    /** True while notifications had better wait. */
    bool (*is_slow)(const mcp__peer *peer);
    /** A call of this peer has ended and stays without an answer. The peer may end itself here, and
     *  in `answer`, so the caller does not use it afterwards. */
    void (*no_reply)(mcp__peer *peer);
    /** As `no_reply`, but there is no memory for the answer that is owed: its client must learn
     *  that none will come. NULL: `no_reply` does that. */
    void (*abort)(mcp__peer *peer);
    /** Drop the connection; the client comes back for what the call still sends. NULL: it
     *  cannot. */
    void (*reconnect)(mcp__peer *peer);
    /** How the client is connected, in words of OpenTelemetry: "pipe", "tcp" or "unix". */
    const char *transport;
    /** The headers of the message that is being handed in; NULL: the transport has none. Set by the
     *  transport, good until the dispatch of the message returns. */
    const mcp__headers *headers;
    /** Who sent the message that is being handed in; NULL: nobody in particular. As `headers`. */
    const mcp_principal *principal;
    /** What HTTP's status line says of an answer: set before each `answer`. Others pass over it. */
    int http_status;
    /** Set before each `answer`: why the dispatch answered instead of the call, which a worker may
     *  still have; MCP_OK: the call did. */
    mcp_status fault;
    /** Set before each `answer`: the scopes that the client's token lacks for it; NULL: none. */
    const char *scopes_needed;
    /** Open calls whose notifications it takes, the newest first. The call table's; zeros are an
     *  empty list. */
    LIST_HEAD(, mcp_call) calls;
};

#endif
