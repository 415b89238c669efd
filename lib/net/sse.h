/*
 * sse.h - the text of server-sent events (WHATWG HTML, section 9.2), onto a buffer.
 */
#ifndef NET_SSE_H
#define NET_SSE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"

/**
 * One event.
 *
 * @param event  its type; NULL: left out, which reads as "message"
 * @param id     NULL: left out; "" makes the client forget its last one
 * @param data   any text; a line of it becomes a `data:` line, whichever way it ends
 * @return MCP_E_PARAMS (a line end in `event` or `id`, a NUL in `id`: nothing is appended), or
 *         out->status
 */
mcp_status mcp__sse_event(mcp_buf *out, const char *event, const char *id, const char *data,
                          size_t length);

/** An event that only gives the client an id, and so a place to come back to. */
mcp_status mcp__sse_priming(mcp_buf *out, const char *id);

/** How long the client waits before it connects again. */
mcp_status mcp__sse_retry(mcp_buf *out, int64_t delay_ms);

/** A line that clients ignore and proxies see; without a line end in it (MCP_E_PARAMS). */
mcp_status mcp__sse_comment(mcp_buf *out, const char *words);

#endif
