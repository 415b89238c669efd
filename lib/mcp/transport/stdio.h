/*
 * stdio.h - one client on standard input and output.
 */
#ifndef MCP_TRANSPORT_STDIO_H
#define MCP_TRANSPORT_STDIO_H

#include "mcp/transport/serve.h"

/**
 * Serve until input has ended and all is answered, a stop is requested, or no reader is left.
 *
 * @return MCP_OK; MCP_E_IO (the descriptors cannot be used, or fail); MCP_E_NOMEM
 */
mcp_status mcp__stdio_serve(mcp__serve_setup *setup, mcp_error *err);

#endif
