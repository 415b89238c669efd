/*
 * context.h - what calls and sessions use of the server that they belong to.
 *
 * A server fills one in, a transport adds its executor and its tasks, and each session holds a copy
 * with its own open calls. The rooms above calls and sessions are reached through the functions in
 * it, so that nothing below includes them.
 */
#ifndef MCP_CORE_CONTEXT_H
#define MCP_CORE_CONTEXT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena_int.h"
#include "mcp/buf.h"
#include "mcp/call.h"
#include "mcp/json.h"
#include "mcp/server.h"
#include "net/pool.h"

typedef struct mcp__call_table mcp__call_table;
typedef struct mcp__durations mcp__durations;
typedef struct mcp__features mcp__features;
typedef struct mcp__session mcp__session;
typedef struct mcp__subscriptions mcp__subscriptions;
typedef struct mcp__task_table mcp__task_table;
typedef struct mcp__visibility mcp__visibility;

/** Bytes of the key that signs requestState. */
#define MCP__STATE_KEY_SIZE 32

/**
 * Finds the method of a call and prepares it (features.h says how). Loop only.
 *
 * @return MCP_OK; else the status of the error that is the answer, call->err filled
 */
typedef mcp_status mcp__route(mcp_call *call);

/** Random ids for spans of calls, some at a time. The loop's alone. */
#define MCP__SPAN_IDS 32
typedef struct mcp__span_ids {
    uint64_t next[MCP__SPAN_IDS];
    size_t count; /* that are left */
} mcp__span_ids;

/** Functions of the rooms above. Loop only. */
typedef struct mcp__hooks {
    /** The handler of a call has returned, and its message is rendered. */
    void (*returned)(mcp_call *call);
    /** End an open call that no worker has with a status, or without an answer. */
    void (*end)(mcp_call *call, mcp_status st);
    void (*close)(mcp_call *call);
    /** A session begins; opens again by another initialize; ends. */
    void (*session_begins)(mcp__session *session);
    void (*session_reopens)(mcp__session *session);
    void (*session_ends)(mcp__session *session);
    /** Whether there is such a task, and the client of a call may know of it. */
    bool (*knows_task)(const mcp_call *call, const char *id, size_t length);
} mcp__hooks;

/** All pointers are borrowed while a session or a call uses the context. */
typedef struct mcp__context {
    mcp_server *server;
    const mcp_server_options *options; /* every default filled in */
    mcp__executor *executor;
    mcp__arena_budget *budget; /* that calls take their memory from; NULL: none */
    mcp__route *route;
    const mcp__hooks *hooks;                          /* NULL: there are no rooms above */
    const mcp__features *(*hold)(mcp_server *server); /* the features of now, for a call to keep */
    void (*drop)(const mcp__features *features);
    const mcp_json *no_arguments; /* an empty object */
    const uint8_t *state_key;     /* MCP__STATE_KEY_SIZE bytes */
    const char *identity;         /* the server's Implementation object as JSON, without its icons;
                                     NULL: not sent */
    const char *introduction;     /* the same with them, for server/discover; NULL: not sent */
    const mcp_json *extensions;   /* an object; NULL: none in the options */
    unsigned capabilities;        /* enum mcp__capability, of the options alone */
    const char *scopes; /* all that features require, between spaces; NULL: none. For HTTP */
    mcp__subscriptions *subscriptions; /* NULL: nothing changes */
    const mcp__visibility *visibility; /* who may be notified; NULL: everybody */
    mcp__task_table *tasks;            /* NULL: no call can become a task */
    atomic_uint_fast64_t *mismatches;  /* results of tools that did not match their output schemas,
                                          of all sessions; NULL: they are not counted. Any thread */
    mcp__span_ids *span_ids;           /* never NULL where calls are made of messages or requests */
    mcp__durations *durations;         /* counts answers by their time; NULL: none are counted */
    bool is_shared; /* many clients that know nothing of one another, each on a peer of its own:
                       there is no session between them, and an id is unique for its peer only */

    /* of the one session that holds this copy */
    const char *session_id; /* that its client has; NULL: none */
    mcp__call_table *calls; /* that are open */
    mcp_buf *spare;         /* for one short error message when memory is out */
} mcp__context;

#endif
