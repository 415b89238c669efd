/*
 * session.h - what a revision of the initialize era keeps for one client, and the calls it has
 * open.
 */
#ifndef MCP_CORE_SESSION_H
#define MCP_CORE_SESSION_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/context.h"

/** The loop's alone. */
struct mcp__session {
    mcp__context context;  /* whose `calls` and `spare` are those below */
    mcp_revision revision; /* as negotiated; NONE: no initialize yet */
    bool is_initialized;   /* the client said so */
    bool is_once;          /* for one request: its client is not known by it afterwards */
    mcp_arena *client;     /* pays for the two below; NULL before initialize */
    const mcp_json *client_info;
    const mcp_json *client_capabilities;
    unsigned client_can; /* the same as enum mcp_client_can */
    mcp_level log_level; /* of the lowest message that the client wants */
    mcp__peer *listener; /* takes what belongs to no call; NULL: there is none. The transport's */
    mcp_arena *listener_arena;
    const mcp_principal *listener_principal; /* where that matters; NULL: no particular one */
    mcp__map elicitations; /* ids of URLs that its user was sent to, each its own copy */
    mcp__map subscribed;   /* URIs that the client subscribed to, to their mcp__interest */
    LIST_ENTRY(mcp__session) notified; /* in the list of context.subscriptions */
    int64_t last_request_id;           /* of the last request to the client */
    mcp__call_table calls;
    mcp_buf spare;
};

mcp_status mcp__session_init(mcp__session *session, const mcp__context *context, mcp_error *err);

/** End what the session holds. No call may be open or running. */
void mcp__session_clear(mcp__session *session);

/**
 * Note who reads the stream of `listener`, by its token.
 *
 * @param principal copied; NULL: no particular one
 * @return MCP_OK; MCP_E_NOMEM: nothing has changed
 */
mcp_status mcp__session_set_listener(mcp__session *session, const mcp_principal *principal,
                                     mcp_error *err);

/** The revision that a request without further claim is served under. */
mcp_revision mcp__session_revision(const mcp__session *session);

/**
 * Open the session under a revision, by what the client says about itself.
 *
 * @param params the params of initialize; not kept
 */
mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err);

/** Loop only. Remember the URLs that a call sent the user to, for the client of a session; NULL:
 *  there is none. */
void mcp__url_elicitation_keep(mcp__session *session, const mcp_call *call);

/** Loop only. Those with these ids are complete: notify the client of its own, each once. */
void mcp__url_elicitation_complete(mcp__session *session, const mcp__map *ids);

#endif
