/*
 * mirror.h - arguments of a tool that a client repeats in headers of HTTP.
 */
#ifndef MCP_FEATURE_MIRROR_H
#define MCP_FEATURE_MIRROR_H

#include "mcp/arena.h"
#include "mcp/core/headers.h"
#include "mcp/error.h"
#include "mcp/json.h"

typedef struct mcp__mirror mcp__mirror;

/**
 * The arguments that an input schema marks by "x-mcp-header".
 *
 * @param out    the arena's; NULL: none
 * @param schema borrowed while the mirrors live
 * @return MCP_OK; MCP_E_PARAMS: a mark that clients would not take, the message says why; MCP_E_NOMEM
 */
mcp_status mcp__mirrors_read(const mcp__mirror **out, mcp_arena *arena, const mcp_json *schema,
                             mcp_error *err);

/** Whether the headers say what the arguments say: MCP_OK, MCP_E_HEADERS or MCP_E_NOMEM. */
mcp_status mcp__mirrors_check(const mcp__mirror *mirrors, const mcp__headers *headers,
                              const mcp_json *arguments, mcp_arena *arena, mcp_error *err);

#endif
