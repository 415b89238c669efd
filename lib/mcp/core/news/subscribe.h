/*
 * subscribe.h - what a client wants to hear of.
 */
#ifndef MCP_CORE_SUBSCRIBE_H
#define MCP_CORE_SUBSCRIBE_H

#include "base/map.h"
#include "mcp/core/call/call_int.h"
#include "mcp/core/news/news.h"

/* Within a session. `uri` ends in NUL. */
mcp_status mcp__subscribe_add(mcp__session *session, const char *uri, mcp_error *err);
void mcp__subscribe_remove(mcp__session *session, const char *uri);
void mcp__subscribe_clear(mcp__session *session);

/**
 * Without one: read what a call wants to listen to.
 *
 * @param can_change lists that can change here, enum mcp__news_list
 * @param of_uris    resources can be heard of
 * @return MCP_OK: the call stays open; MCP_E_PARAMS; MCP_E_LIMIT: too many listen
 */
mcp_status mcp__subscribe_listen(mcp_call *call, unsigned can_change, bool of_uris);

/** Loop only. Acknowledge, as the first message of a call that is open now. */
void mcp__subscribe_acknowledge(mcp_call *call);

/** Loop only. The call listens no more, or never did. */
void mcp__subscribe_leave(mcp_call *call);

/** Loop only. Tell a session, and every call of it that listens, that lists have changed for them. */
void mcp__subscribe_tell_lists(mcp__session *session, const mcp__news_change *changes);

/** Loop only. Tell everybody who wants to hear of a URI, and may. @return how many were looked at */
int mcp__subscribe_tell_uri(const mcp__interests *by_uri, const char *uri);

/** Loop only. Tell every call that listens to a task, and may, how it is. */
void mcp__subscribe_tell_task(const mcp__task_entry *entry);

/** End a map of URIs that are their own copies. */
void mcp__subscribe_free_uris(mcp__map *uris);

#endif
