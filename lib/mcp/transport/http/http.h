/*
 * http.h - the server over HTTP: one loop, one pool, one listener, and all that is served on it.
 */
#ifndef MCP_TRANSPORT_HTTP_HTTP_H
#define MCP_TRANSPORT_HTTP_HTTP_H

#include "mcp/http.h"
#include "mcp/transport/serve.h"

struct mcp__route_handler;

/**
 * Serve until a signal or a stop that is requested. Blocks.
 *
 * @param routes serves the paths outside MCP
 */
mcp_status mcp__web_serve(mcp__serve_setup *setup, const mcp_http_options *options,
                          const struct mcp__route_handler *routes, mcp_error *err);

#endif
