/*
 * intake.h - from the body of a request to a message, without holding the loop.
 */
#ifndef MCP_TRANSPORT_WEB_INTAKE_H
#define MCP_TRANSPORT_WEB_INTAKE_H

#include "mcp/core/incoming.h"
#include "mcp/transport/web_int.h"

/** Answers the exchange. What `incoming` holds may be taken; the rest is freed afterwards. */
typedef void mcp__web_taker(mcp__web *web, mcp__http_exchange *exchange, mcp__incoming *incoming);

/**
 * Read the body as a message and hand it to `then`: at once, or, where it is large, when a worker has read
 * it; then what can be read of the request, and the caller, are what they were. A client that hangs up
 * meanwhile is not heard of again.
 */
void mcp__web_read(mcp__web *web, mcp__http_exchange *exchange, mcp__web_taker *then);

#endif
