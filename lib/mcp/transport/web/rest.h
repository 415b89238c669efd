/*
 * rest.h - REST routes: the same calls, workers and bounds as MCP has.
 */
#ifndef MCP_TRANSPORT_WEB_REST_H
#define MCP_TRANSPORT_WEB_REST_H

#include "mcp/transport/web_int.h"

/** Look at a request of no path of ours before its body is read. May answer, 404 or 405. */
void mcp__rest_head(mcp__web *web, mcp__http_exchange *exchange);

/** Serve it. */
void mcp__rest_request(mcp__web *web, mcp__http_exchange *exchange);

/** Write the answer of a call whose handler has returned into its `reply`. On the worker. */
void mcp__rest_render(mcp_call *call);

/** The HTTP status of a status. */
int mcp__rest_status(mcp_status status);

/** Write {"error":{"status":...,"message":...}}. */
mcp_status mcp__rest_write_error(mcp_buf *out, mcp_status status, const char *message);

#endif
