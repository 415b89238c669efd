/*
 * shared_defs.h - shapes that several tools' schemas share, copied to where they are named.
 */
#ifndef MCP_FEATURE_SHARED_DEFS_H
#define MCP_FEATURE_SHARED_DEFS_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

/**
 * A schema whose `$ref: "#/$defs/NAME"` all lead somewhere: what it does not define itself is
 * copied from `shared`, together with what that names in turn.
 *
 * @param out    `schema` itself when nothing had to be copied; else a new value, the arena's
 * @param shared an object of schemas by name, or with them in its `$defs`; NULL: none
 */
mcp_status mcp__shared_defs_merge(const mcp_json **out, mcp_arena *arena, const mcp_json *schema,
                                  const mcp_json *shared, mcp_error *err);

#endif
