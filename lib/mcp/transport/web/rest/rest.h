/*
 * rest.h - REST routes: the same calls, workers and bounds as MCP has.
 */
#ifndef MCP_TRANSPORT_WEB_REST_H
#define MCP_TRANSPORT_WEB_REST_H

#include "mcp/transport/web_int.h"

/** Look at a request of no path of ours before its body is read. May answer, 404 or 405. */
void mcp__rest_head(mcp__web *web, mcp__http_exchange *exchange);

/** Whether the request is of a route that asks for no token (MCP_OPEN). */
bool mcp__rest_is_open(mcp__web *web, const mcp__http_exchange *exchange);

/** Serve it. */
void mcp__rest_request(mcp__web *web, mcp__http_exchange *exchange);

/** Write the answer of a call whose handler has returned into its `reply`. On the worker. */
void mcp__rest_render(mcp_call *call);

/** Refuse a request of no path of MCP's. The exchange is over. */
void mcp__rest_refuse(mcp__web *web, mcp__http_exchange *exchange, int http_status,
                      const char *message);

/** The body by which the listener refuses a request that it does not hand out. @param body initialized here */
bool mcp__rest_refused(mcp_buf *body, const char **mime_type, const mcp__web *web,
                       const mcp__http_exchange *exchange, int http_status, const char *message);

#endif
