/*
 * arguments.h - the member `arguments` of a call of a tool or a prompt.
 */
#ifndef MCP_FEATURE_ARGUMENTS_H
#define MCP_FEATURE_ARGUMENTS_H

#include "mcp/core/call/call_int.h"

/** Take params.arguments, if there are any, for the call's. @return MCP_OK; MCP_E_PARAMS */
mcp_status mcp__arguments_read(mcp_call *call);

/** No member stands twice in the call's arguments. Takes time with their size.
 *  @return MCP_OK; MCP_E_PARAMS, and the error names it */
mcp_status mcp__arguments_check(mcp_call *call);

#endif
