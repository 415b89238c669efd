/*
 * streamable.h - Streamable HTTP: the MCP path, for all revisions.
 */
#ifndef MCP_TRANSPORT_STREAMABLE_H
#define MCP_TRANSPORT_STREAMABLE_H

#include "mcp/transport/http_int.h"

/** Look at a request of the MCP path before its body is read. May answer. */
void mcp__streamable_head(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Serve it. */
void mcp__streamable_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

#endif
