/*
 * audience.h - who may hear of what has changed, where not everybody may know of everything.
 */
#ifndef MCP_AUDIENCE_H
#define MCP_AUDIENCE_H

#include "mcp/arena.h"
#include "mcp/core/news/news.h"
#include "mcp/set.h"

/** NULL: everybody may hear of everything. */
const mcp__audience *mcp__audience_of(const mcp_server_options *options);

/**
 * Describe features for the audience, with the scopes that they have in a set.
 *
 * @param out   filled, in `arena`; unchanged on failure
 * @param set   has the features
 * @param names borrowed from the features' tables
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status mcp__audience_describe(mcp__news_change *out, mcp_arena *arena, const mcp__set *set,
                                  const mcp_features *features, mcp_error *err);

#endif
