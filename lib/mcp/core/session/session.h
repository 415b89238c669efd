/*
 * session.h - what a revision of the initialize era keeps for one client, and the calls it has
 * open.
 */
#ifndef MCP_CORE_SESSION_H
#define MCP_CORE_SESSION_H

#include "base/arena_int.h"
#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/call/call_table.h"
#include "mcp/core/news/news.h"
#include "mcp/server.h"
#include "net/pool.h"

/**
 * Finds what answers a call and prepares it (feature/feature.h says how). Runs on the loop.
 *
 * @return MCP_OK; else the status of the error that is the answer, call->err filled
 */
typedef mcp_status mcp__route(mcp_call *call);

/** Bytes kept ready for an error message when memory is out. */
#define MCP__SESSION_SPARE ((size_t)512)

/** What a session is made of; all borrowed while it lives. */
typedef struct mcp__session_setup {
    mcp_server *server;
    const mcp_server_options *options; /* every default filled in */
    mcp__route *route;
    mcp__executor *executor;
    const mcp__set *(*hold)(mcp_server *server); /* the features of now, for a call to keep; NULL: none */
    void (*drop)(const mcp__set *set);
    mcp__arena_budget *budget;    /* that calls take their memory from; NULL: none */
    mcp__news *news;              /* tells of changes; NULL: nothing changes */
    const mcp__audience *audience; /* who may hear of them; NULL: everybody may */
    struct mcp__task_table *tasks; /* keeps what goes on without its client; NULL: nothing does */
    const mcp_json *no_arguments; /* an empty object */
    const uint8_t *state_key; /* MCP__STATE_KEY_SIZE bytes that sign what clients keep for us */
    const char *scopes;   /* all that features ask for, between spaces; NULL: none. For HTTP */
    const char *identity; /* the server's Implementation object as JSON text; NULL: not told */
    bool is_shared;       /* many clients at once that know nothing of one another, each on a peer of its
                             own: there is no session between them, and an id is unique for its peer only */
} mcp__session_setup;

/** The loop's alone. */
struct mcp__session {
    mcp__session_setup setup;
    mcp_revision revision; /* as negotiated; NONE: no initialize yet */
    bool is_initialized;   /* the client said so */
    bool is_once;          /* for one request: its client is not known by it afterwards */
    mcp_arena *client;     /* pays for the two below; NULL before initialize */
    const mcp_json *client_info;
    const mcp_json *client_capabilities;
    unsigned client_can;   /* the same as enum mcp_client_can */
    mcp_level log_level;   /* of the gentlest message that the client wants */
    mcp__peer *news;       /* takes what belongs to no call; NULL: nobody listens. The transport's */
    mcp_arena *hearer_arena;
    const mcp_principal *hearer; /* who listens there, where that matters; NULL: nobody in particular */
    mcp__map errands;      /* ids of addresses that its user was sent to, each its own copy */
    mcp__map subscribed;   /* URIs that the client wants news of, to their mcp__interest */
    mcp__session *next_told, *previous_told; /* among those that `setup.news` tells */
    int64_t last_question; /* the id of the last request of ours */
    mcp__call_table calls;
    mcp_buf spare; /* room for one short error message when memory is out */
};

mcp_status mcp__session_init(mcp__session *session, const mcp__session_setup *setup,
                             mcp_error *err);

/** End what the session holds. No call may be open or running. */
void mcp__session_clear(mcp__session *session);

/**
 * Note who is to hear, on `news`, what belongs to no call: by the token of that stream.
 *
 * @param hearer copied; NULL: nobody in particular
 * @return MCP_OK; MCP_E_NOMEM: nothing has changed
 */
mcp_status mcp__session_heard_by(mcp__session *session, const mcp_principal *hearer,
                                 mcp_error *err);

/** The revision that a request without further claim is served under. */
mcp_revision mcp__session_revision(const mcp__session *session);

/**
 * Begin anew under a revision, remembering who the client says it is.
 *
 * @param params the params of initialize; not kept
 */
mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err);

#endif
