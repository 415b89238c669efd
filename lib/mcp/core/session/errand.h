/*
 * errand.h - the errands that a session's client sent its user on, until they are done.
 */
#ifndef MCP_CORE_ERRAND_H
#define MCP_CORE_ERRAND_H

#include "base/map.h"
#include "mcp/core/call/asking.h"

/** Loop only. Remember a call's errands for its client; they are told of as done later, or never. */
void mcp__errand_keep(const mcp_call *call);

/** Loop only. Of the errands with these ids, tell the client of its own: each once. */
void mcp__errand_tell(mcp__session *session, const mcp__map *ids);

/** Loop only. Forget them. */
void mcp__errand_clear(mcp__session *session);

#endif
