/*
 * web.h - the server over HTTP: one loop, one pool, one listener, and all that is served on it.
 */
#ifndef MCP_TRANSPORT_WEB_H
#define MCP_TRANSPORT_WEB_H

#include <stdbool.h>

#include "mcp/core/session/session.h"
#include "mcp/http.h"

/**
 * Serve until SIGTERM or SIGINT. Blocks.
 *
 * @param setup           `executor` is filled in here
 * @param long_threads    how many calls of MCP_LONG features may run at once
 * @param is_left_running whether a handler did not end
 */
mcp_status mcp__web_serve(const mcp__session_setup *setup, int long_threads,
                          const mcp_http_options *options, bool *is_left_running, mcp_error *err);

#endif
