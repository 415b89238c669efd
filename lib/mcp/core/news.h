/*
 * news.h - what changed, on its way from any thread to the clients who want to know.
 */
#ifndef MCP_CORE_NEWS_H
#define MCP_CORE_NEWS_H

#include "mcp/error.h"

typedef struct mcp__session mcp__session;
typedef struct mcp__news mcp__news;

/** Lists that can change. */
enum mcp__news_list {
    MCP__NEWS_TOOLS = 1 << 0,
    MCP__NEWS_PROMPTS = 1 << 1,
    MCP__NEWS_RESOURCES = 1 << 2
};

/** @param out yours, free it with mcp__news_free */
mcp_status mcp__news_new(mcp__news **out, mcp_error *err);

/** No session may be in it. NULL is fine. */
void mcp__news_free(mcp__news *news);

/** Loop only. Have a session, and its listening calls, told from now on. All are on one loop. */
void mcp__news_enter(mcp__news *news, mcp__session *session);
void mcp__news_leave(mcp__news *news, mcp__session *session);

/** Any thread. These lists (enum mcp__news_list) have changed. */
void mcp__news_lists(mcp__news *news, unsigned lists);

/** Any thread. A resource has changed. @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT: too much is new at once */
mcp_status mcp__news_resource(mcp__news *news, const char *uri, mcp_error *err);

/** Loop only. The first of the sessions that are told, `next_told` the next. */
mcp__session *mcp__news_first(const mcp__news *news);

/** Any thread. A user's errand is done. @return as mcp__news_resource */
mcp_status mcp__news_elicited(mcp__news *news, const char *id, mcp_error *err);

/** Loop only. How many calls listen: to be counted up and down. */
int *mcp__news_listeners(mcp__news *news);

#endif
