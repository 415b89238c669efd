/*
 * overlong.h - the id of a request that was too long to be kept.
 */
#ifndef MCP_CORE_MESSAGE_OVERLONG_H
#define MCP_CORE_MESSAGE_OVERLONG_H

#include "mcp/json.h"
#include "net/lines.h"

/**
 * The id of a request, found in the first and last bytes of its text.
 *
 * @param ends  of a text that need not be JSON
 * @param arena pays for the id
 * @return NULL: it is no request, or its id is not among the members without structure before and
 *         behind `params`; no memory
 */
const mcp_json *mcp__overlong_id(const mcp__line_ends *ends, mcp_arena *arena);

#endif
