/*
 * client.h - what a client declared that it can do.
 */
#ifndef MCP_CORE_CLIENT_H
#define MCP_CORE_CLIENT_H

#include "mcp/call.h"
#include "mcp/json.h"

/** Bits of mcp_client_can from a ClientCapabilities object; NULL: none. */
unsigned mcp__client_read(const mcp_json *declared);

/** Write the members of the ClientCapabilities object that has these bits. */
void mcp__client_write(mcp_json_writer *writer, unsigned bits);

#endif
