/*
 * identity.h - who the server is, as clients are told.
 */
#ifndef MCP_CORE_IDENTITY_H
#define MCP_CORE_IDENTITY_H

#include "mcp/json.h"
#include "mcp/server.h"

/** Write the Implementation object as that revision knows it. */
void mcp__write_identity(mcp_json_writer *writer, const mcp_server_options *options,
                         mcp_revision revision);

#endif
