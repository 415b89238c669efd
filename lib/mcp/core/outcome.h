/*
 * outcome.h - what a status is on the wire.
 */
#ifndef MCP_CORE_OUTCOME_H
#define MCP_CORE_OUTCOME_H

#include "mcp/error.h"
#include "mcp/version.h"

/** The JSON-RPC error code of a status in that revision. */
int mcp__outcome_code(mcp_status status, mcp_revision revision);

/** HTTP's status for an answer of that status: 200, 400 or 404. */
int mcp__outcome_http(mcp_status status, mcp_revision revision);

#endif
