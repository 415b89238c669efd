/*
 * server_int.h - the body of a server, for the files at the top of lib/mcp and for tests.
 */
#ifndef MCP_SERVER_INT_H
#define MCP_SERVER_INT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/arena_int.h"
#include "mcp/core/session/session.h"
#include "mcp/core/subscriptions/subscriptions.h"
#include "mcp/features.h"
#include "mcp/server.h"
#include "mcp/transport/serve.h"

/** Features that were added or offered, in that order. */
typedef struct mcp__offer {
    mcp_features features;
    mcp__list_change change; /* the change that clients are notified of */
    const mcp_features *key; /* what it is withdrawn by; NULL: it stays */
    bool is_withdrawn;
    struct mcp__offer *next;
} mcp__offer;

struct mcp_server {
    mcp_server_options options; /* every default filled in */
    unsigned capabilities;      /* enum mcp__capability, of the options alone */

    /** Guards `offers`, `is_serving`, and `arena` while serving; one change at a time. */
    pthread_mutex_t change_lock;
    mcp__offer *offers;
    pthread_mutex_t set_lock; /* guards the pointer `set` */
    mcp__features *set;
    mcp__subscriptions *subscriptions;
    mcp__list_change views[MCP_FEATURE_PROMPT + 1]; /* of what clients see, each of one kind */

    mcp__arena_budget budget;        /* of all calls */
    atomic_uint_fast64_t mismatches; /* results that did not match their output schemas */
    mcp__span_ids span_ids;
    mcp_arena *arena;
    const mcp_json *no_arguments; /* an empty object */
    uint8_t state_key[MCP__STATE_KEY_SIZE];
    const char *identity;       /* the Implementation object as text, without its icons */
    const char *introduction;   /* the same with them */
    const mcp_json *extensions; /* an object; NULL: none in the options */
    mcp__stop stop;             /* ends what it serves */
    bool is_serving;            /* a transport runs */
    bool is_left_running;       /* a handler did not end: nothing that it may use is freed */
};

/** What a session of this server is made of, whatever its transport. */
mcp__context mcp__server_context(mcp_server *server, mcp__executor *executor);

#endif
