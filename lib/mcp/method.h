/*
 * method.h - the methods that we serve, revision by revision.
 */
#ifndef MCP_METHOD_H
#define MCP_METHOD_H

#include "mcp/core/session/session.h"

/** Find the method of a call in the table and run it: an mcp__route. */
mcp_status mcp__method_route(mcp_call *call);

#endif
