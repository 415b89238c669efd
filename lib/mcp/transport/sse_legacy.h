/*
 * sse_legacy.h - HTTP+SSE of 2024-11-05: one stream for all answers, one path to post to.
 */
#ifndef MCP_TRANSPORT_SSE_LEGACY_H
#define MCP_TRANSPORT_SSE_LEGACY_H

#include "mcp/transport/http/peer.h"

#define MCP__SSE_PATH "/sse"
#define MCP__SSE_MESSAGE_PATH "/messages"

/** Begin the stream. */
void mcp__sse_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** A message to the session that the query names. */
void mcp__sse_post_head(mcp__httpd *httpd, mcp__http_exchange *exchange);
void mcp__sse_post_request(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** The server goes down: end the stream and its session, unless answers are still to come. */
void mcp__sse_end_idle(mcp__httpd_peer *peer);

#endif
