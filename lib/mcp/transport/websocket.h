/*
 * websocket.h - MCP over WebSocket: a text message is a message, a connection is a client.
 */
#ifndef MCP_TRANSPORT_WEBSOCKET_H
#define MCP_TRANSPORT_WEBSOCKET_H

#include "mcp/transport/http_int.h"

#define MCP__WEBSOCKET_PATH "/ws"

/** Look at a request of the path before its body. May answer. */
void mcp__websocket_head(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** Shake hands and serve. The exchange is over. */
void mcp__websocket_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

#endif
