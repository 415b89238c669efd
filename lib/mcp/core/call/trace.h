/*
 * trace.h - the place of a call in a distributed trace: what its request says of it, by W3C Trace
 * Context and W3C Baggage.
 *
 * Also of this module: mcp_call_trace and mcp_call_log_line of mcp/call.h.
 */
#ifndef MCP_CORE_CALL_TRACE_H
#define MCP_CORE_CALL_TRACE_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/headers.h"

#define MCP__TRACESTATE_MAX ((size_t)512)
#define MCP__BAGGAGE_MAX ((size_t)8192)

/**
 * Read a traceparent: trace_id, parent_id, is_sampled and the head of `traceparent`. Of a later
 * version the members that version 00 has.
 *
 * @return false: it is invalid, and `out` untouched
 */
bool mcp__traceparent_read(mcp_trace *out, const char *text, size_t length);

/** Whether a tracestate may be passed on. The empty one may not: it says nothing. */
bool mcp__tracestate_is_valid(const char *text, size_t length);

/** The same of a baggage. */
bool mcp__baggage_is_valid(const char *text, size_t length);

/**
 * Find the trace that a new call is part of: by params._meta, else by the headers. What is invalid
 * is ignored. Without memory or random bytes the call has no trace.
 *
 * @param headers NULL: the transport has none
 */
void mcp__trace_open(mcp_call *call, const mcp__headers *headers);

/** Write the members of _meta for a request that the call makes, unless `meta`, which its handler
 *  wrote, has a traceparent. */
void mcp__trace_write(const mcp_call *call, const mcp_json *meta, mcp_json_writer *writer);

#endif
