/*
 * news.h - what changed, on its way from any thread to the clients who want to know.
 */
#ifndef MCP_CORE_NEWS_H
#define MCP_CORE_NEWS_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/core/news/interest.h"
#include "mcp/server.h"

typedef struct mcp__news mcp__news;

/** Lists that can change. */
enum mcp__news_list {
    MCP__NEWS_TOOLS = 1 << 0,
    MCP__NEWS_PROMPTS = 1 << 1,
    MCP__NEWS_RESOURCES = 1 << 2
};

/** A feature that came or went. */
typedef struct mcp__news_feature {
    mcp_feature kind;
    const char *name;   /* as registered */
    const char *scopes; /* NULL: none */
} mcp__news_feature;

/** Features that come and go together. Does not change once it was told of. */
typedef struct mcp__news_change {
    unsigned lists; /* enum mcp__news_list, where everybody may know of everything */
    const mcp__news_feature *features; /* where not */
    size_t count;
    struct mcp__news_change *next; /* of those that are to be told, or are just being told */
    enum {
        MCP__CHANGE_IDLE,
        MCP__CHANGE_GATHERED, /* to be told */
        MCP__CHANGE_TOLD,     /* just now */
        MCP__CHANGE_AGAIN     /* the same, and to be told again */
    } state;                       /* guarded by the lock of the news */
} mcp__news_change;

/** Who may hear of what; for servers that do not show everything to everybody. `who` has the features of
 *  now, and an arena that goes afterwards. */
typedef struct mcp__audience {
    bool (*may_know)(const mcp_call *who, const mcp__news_feature *feature);
    bool (*may_hear)(mcp_call *who, const char *uri);
} mcp__audience;

/** @param out yours, free it with mcp__news_free */
mcp_status mcp__news_new(mcp__news **out, mcp_error *err);

/** No session may be in it. NULL is fine. */
void mcp__news_free(mcp__news *news);

/** Loop only. Have a session, and its listening calls, told from now on. All are on one loop. */
void mcp__news_enter(mcp__news *news, mcp__session *session);
void mcp__news_leave(mcp__news *news, mcp__session *session);

/** Any thread. Features came or went. @param change borrowed while the news live */
void mcp__news_lists(mcp__news *news, mcp__news_change *change);

/** Any thread. A resource has changed. @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: too much is new at once */
mcp_status mcp__news_resource(mcp__news *news, const char *uri, mcp_error *err);

/** Any thread. A user's errand is done. @return as mcp__news_resource */
mcp_status mcp__news_elicited(mcp__news *news, const char *id, mcp_error *err);

/** Loop only. Who wants to hear of which URI, of which task. */
mcp__interests *mcp__news_by_uri(mcp__news *news);
mcp__interests *mcp__news_by_task(mcp__news *news);

/** Loop only. How many calls listen: to be counted up and down. */
int *mcp__news_listeners(mcp__news *news);

#endif
