/*
 * http.h - the server over HTTP: one loop, one pool, one listener, and all that is served on it.
 */
#ifndef MCP_TRANSPORT_HTTP_H
#define MCP_TRANSPORT_HTTP_H

#include "mcp/http.h"
#include "mcp/transport/serve.h"

/** Serve until a signal or a stop that is requested. Blocks. */
mcp_status mcp__httpd_serve(mcp__serve_setup *setup, const mcp_http_options *options,
                            mcp_error *err);

#endif
