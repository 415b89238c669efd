/*
 * visibility.h - which clients are notified of a change, where not everybody may know of
 * everything.
 */
#ifndef MCP_VISIBILITY_H
#define MCP_VISIBILITY_H

#include "mcp/arena.h"
#include "mcp/core/subscriptions/subscriptions.h"
#include "mcp/features.h"

/** NULL: everybody may know of everything. */
const mcp__visibility *mcp__visibility_of(const mcp_server_options *options);

/**
 * Describe features for mcp__visibility, with the scopes that they have in a set.
 *
 * @param out   filled, in `arena`; unchanged on failure
 * @param set   has the features
 * @param names borrowed from the features' tables
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status mcp__visibility_describe(mcp__list_change *out, mcp_arena *arena,
                                    const mcp__features *set, const mcp_features *features,
                                    mcp_error *err);

#endif
