/*
 * client.h - what client and server say about themselves: capabilities, levels of log messages,
 * identity.
 *
 * Also of this module: mcp_call_client_can, mcp_call_require, mcp_level_name and mcp_level_find of
 * mcp/call.h.
 */
#ifndef MCP_CORE_SESSION_CLIENT_H
#define MCP_CORE_SESSION_CLIENT_H

#include "mcp/call.h"
#include "mcp/json.h"
#include "mcp/server.h"

/** Bits of mcp_client_can from a ClientCapabilities object; NULL: none. */
unsigned mcp__client_read(const mcp_json *declared);

/** Write the members of the ClientCapabilities object that has these bits. */
void mcp__client_write(mcp_json_writer *writer, unsigned bits);

/** Write the server's Implementation object as that revision knows it. */
void mcp__client_write_identity(mcp_json_writer *writer, const mcp_server_options *options,
                                mcp_revision revision);

#endif
