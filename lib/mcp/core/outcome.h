/*
 * outcome.h - what a status is on the wire.
 */
#ifndef MCP_CORE_OUTCOME_H
#define MCP_CORE_OUTCOME_H

#include <stdbool.h>

#include "mcp/error.h"
#include "mcp/version.h"

/** The JSON-RPC error code of a status in that revision. */
int mcp__outcome_code(mcp_status status, mcp_revision revision);

/** HTTP's status for an answer of that status: 200, 400, 403 or 404. */
int mcp__outcome_http(mcp_status status, mcp_revision revision);

/** Whether the message of an error of that status is the log's alone, and the client gets constant words. */
bool mcp__outcome_is_hidden(mcp_status status);

#endif
