/*
 * stream.h - the loop's half of the streams that routes answer with. include/mcp/http.h has the
 * other.
 */
#ifndef MCP_TRANSPORT_HTTP_STREAM_H
#define MCP_TRANSPORT_HTTP_STREAM_H

#include "mcp/transport/http_int.h"

/** For mcp_call_stream. @param out yours until mcp__stream_begin or mcp__stream_abandon
 *  @param expires_ms of the reader's token, by the wall clock: then it is closed; 0: never */
mcp_status mcp__stream_new(mcp_stream **out, const mcp_stream_options *options, int64_t expires_ms,
                           mcp_error *err);

/** What goes over the wire. */
const char *mcp__event_bytes(const mcp_event *event, size_t *length);

/**
 * Begin the answer with what was queued so far, and serve the stream from now on. Takes the loop's
 * count and the exchange.
 *
 * @param is_bare the head is all: the stream is over at once
 */
void mcp__stream_begin(mcp_stream *stream, mcp__httpd *httpd, mcp__http_exchange *exchange,
                       const mcp__http_head_out *head, bool is_bare);

/** Nothing can be sent any more, or ever: its opener is notified. Takes the loop's count. */
void mcp__stream_abandon(mcp_stream *stream);

/** Look at the clock: comments on silent streams. */
void mcp__streams_tick(mcp__httpd *httpd, int64_t now_ms);

/** The server goes down: end all after what is queued. */
void mcp__streams_end(mcp__httpd *httpd);

#endif
