/*
 * arguments.h - the arguments of a call of a tool or a prompt.
 */
#ifndef MCP_FEATURE_ARGUMENTS_H
#define MCP_FEATURE_ARGUMENTS_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/headers.h"

/** Take params.arguments, if there are any, for the call's. @return MCP_OK; MCP_E_PARAMS */
mcp_status mcp__arguments_read(mcp_call *call);

/** The name of a duplicate member anywhere within a value; NULL: none. Takes time with its size. */
const char *mcp__arguments_duplicate(const mcp_json *value);

/** Refuse duplicate members in the call's arguments. @return MCP_OK; MCP_E_PARAMS */
mcp_status mcp__arguments_check(mcp_call *call);

typedef struct mcp__param_header mcp__param_header;

/**
 * The arguments that an input schema marks by "x-mcp-header".
 *
 * @param out    the arena's; NULL: none
 * @param schema borrowed while the mirrors live
 * @return MCP_OK; MCP_E_PARAMS: a mark that clients refuse, the message says why; MCP_E_NOMEM
 */
mcp_status mcp__param_headers_read(const mcp__param_header **out, mcp_arena *arena,
                                   const mcp_json *schema, mcp_error *err);

/** Whether the headers say what the arguments say: MCP_OK, MCP_E_HEADERS or MCP_E_NOMEM. */
mcp_status mcp__param_headers_check(const mcp__param_header *mirrors, const mcp__headers *headers,
                                    const mcp_json *arguments, mcp_arena *arena, mcp_error *err);

#endif
