/*
 * body_reader.h - from the body of a request to a message, without holding the loop.
 */
#ifndef MCP_TRANSPORT_HTTP_BODY_READER_H
#define MCP_TRANSPORT_HTTP_BODY_READER_H

#include "mcp/core/message/message.h"
#include "mcp/transport/http/http_int.h"

/** Answers the exchange. What `incoming` holds may be taken; the remainder is freed afterwards. */
typedef void mcp__body_taker(mcp__web *web, mcp__http_exchange *exchange, mcp__incoming *incoming);

/**
 * Read the body as a message and hand it to `then`: at once, or, where it is large, when a worker
 * has read it; then what can be read of the request, and the caller, are what they were. A client
 * that hangs up meanwhile is not heard of again.
 */
void mcp__body_read(mcp__web *web, mcp__http_exchange *exchange, mcp__body_taker *then);

#endif
