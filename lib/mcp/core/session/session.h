/*
 * session.h - what a revision of the initialize era keeps for one client, the calls it has open,
 * and the requests that go to it.
 *
 * All on the loop.
 */
#ifndef MCP_CORE_SESSION_H
#define MCP_CORE_SESSION_H

#include <sys/queue.h>

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/context.h"

struct mcp__session {
    mcp__context context;  /* whose `calls` and `spare` are those below */
    mcp_revision revision; /* as negotiated; NONE: no initialize yet */
    bool is_initialized;   /* the client said so */
    bool is_once;          /* for one request: its client is not known by it afterwards */
    bool is_ending;        /* no input will come from the client: no call waits for it */
    mcp_arena *client;     /* pays for the two below; NULL before initialize */
    mcp__client_names client_names;
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
    mcp__map requested;                /* ids of requests that are not answered, to their calls */
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
static inline mcp_revision mcp__session_revision(const mcp__session *session)
{
    const mcp_server_options *options = session->context.options;

    if (session->revision != MCP_REVISION_NONE)
        return session->revision;
    if (options->default_revision != MCP_REVISION_NONE)
        return options->default_revision;
    return options->newest; /* no revision with sessions is served */
}

/**
 * Open the session under a revision, by what the client says about itself.
 *
 * @param params the params of initialize; not kept
 */
mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err);

/** Remember the URLs that a call sent the user to, for the client of a session; NULL: there is
 *  none. */
void mcp__url_elicitation_keep(mcp__session *session, const mcp_call *call);

/** Those with these ids are complete: notify the client of its own, each once. */
void mcp__url_elicitation_complete(mcp__session *session, const mcp__map *ids);

/* ---- requests for input to a client (call/input_requests.h has the handler's side) ----------- */

/** Send the open requests of a suspended call to the client of a session, by one of its peers.
 *  @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__input_responses_request(mcp_call *call, mcp__session *session, mcp__peer *peer);

/** Take no response for the call any more: its client is gone, or the call is over. Its requests
 *  may be sent to another client. */
void mcp__input_responses_unsend(mcp_call *call);

/** Notify the client that its responses are no longer needed. */
void mcp__input_responses_withdraw(mcp_call *call);

/** Take a response to a request that was sent to the client of the session; others are passed over.
 *  Its arena is taken where the call needs it. @return the call that can continue with it; else
 *  NULL */
mcp_call *mcp__input_responses_take(mcp__session *session, mcp__element *response);

/* ---- of a task without a session: tasks/get lists them, tasks/update brings the responses ---- */

/** Name the requests, each by a name that is used once in the task's life. @return MCP_OK;
 *  MCP_E_NOMEM */
mcp_status mcp__input_responses_name(mcp_call *call);

/** Write the open requests as the members of an object. */
void mcp__input_responses_write_open(const mcp_call *call, mcp_json_writer *writer);

/**
 * Take responses by the names of their requests; others are ignored.
 *
 * @param responses an object; copied
 * @param steps     that checks of schemas may do for the message they came in
 * @param is_ready  true when all are there and the handler can continue
 * @return MCP_OK; MCP_E_PARAMS: a response is no object, none was taken; MCP_E_NOMEM
 */
mcp_status mcp__input_responses_take_named(bool *is_ready, mcp_call *call,
                                           const mcp_json *responses, mcp__steps steps,
                                           mcp_error *err);

#endif
