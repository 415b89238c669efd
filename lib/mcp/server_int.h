/*
 * server_int.h - the body of a server, for the files at the top of lib/mcp and for tests.
 */
#ifndef MCP_SERVER_INT_H
#define MCP_SERVER_INT_H

#include <pthread.h>
#include <stdbool.h>

#include "base/arena_budget.h"
#include "mcp/core/call/state.h"
#include "mcp/core/news/news.h"
#include "mcp/core/session/session.h"
#include "mcp/feature/feature.h"
#include "mcp/server.h"
#include "mcp/set.h"

/** What a server can do, as a bit each; a method whose bit is not set does not exist for it. */
enum mcp__capability {
    MCP__CAN_ALWAYS = 0,
    MCP__CAN_TOOLS = 1 << 0,
    MCP__CAN_RESOURCES = 1 << 1,
    MCP__CAN_PROMPTS = 1 << 2,
    MCP__CAN_COMPLETIONS = 1 << 3,
    MCP__CAN_LOGGING = 1 << 4,
    MCP__CAN_SUBSCRIBE = 1 << 5, /* news of resources */
    MCP__CAN_CHANGE = 1 << 6,    /* news of lists */
    MCP__CAN_TASKS = 1 << 7      /* a tool may be one */
};

/** Features that were added or offered, in that order. */
typedef struct mcp__offer {
    mcp_features features;
    mcp__news_change change; /* what clients are told of its coming and going */
    const mcp_features *key; /* what it is withdrawn by; NULL: it stays */
    bool is_withdrawn;
    struct mcp__offer *next;
} mcp__offer;

struct mcp_server {
    mcp_server_options options; /* every default filled in */
    unsigned capabilities;      /* enum mcp__capability, of the options alone */

    pthread_mutex_t change_lock; /* guards `offers`, and `arena` while serving; one change at a time */
    mcp__offer *offers;
    pthread_mutex_t set_lock;    /* guards the pointer `set` */
    mcp__set *set;
    mcp__news *news;

    mcp__arena_budget budget; /* of all calls */
    mcp_arena *arena;
    const mcp_json *no_arguments; /* an empty object */
    uint8_t state_key[MCP__STATE_KEY_SIZE];
    const char *identity;         /* the Implementation object as text */
    const mcp_json *extensions;   /* an object; NULL: none in the options */
    bool is_left_running; /* a handler did not end: nothing that it may use is freed */
};

/** What a session of this server is made of, whatever its transport. */
mcp__session_setup mcp__server_session_setup(mcp_server *server, mcp__executor *executor);

#endif
