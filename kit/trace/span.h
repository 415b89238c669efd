/*
 * span.h - one span, and the OTLP request that carries many; private to the module.
 */
#ifndef TRACE_SPAN_H
#define TRACE_SPAN_H

#include <sys/queue.h>

#include "mcp/buf.h"
#include "mcp/server.h"

/** A call that has ended. Texts that were too long are cut. */
typedef struct trace_span {
    STAILQ_ENTRY(trace_span) link;
    char trace_id[MCP_TRACE_ID_SIZE];
    char span_id[MCP_SPAN_ID_SIZE];
    char parent_id[MCP_SPAN_ID_SIZE];
    int64_t began_ns, ended_ns; /* since 1970 */
    bool is_route;
    char method[64];
    char target[128]; /* the tool's name or the route's path; "": neither */
    char error_type[24];
    char session_id[64];
    char request_id[64];
    const char *revision;  /* a constant */
    const char *transport; /* a constant; NULL: not known */
    char tracestate[];     /* "": none */
} trace_span;

typedef STAILQ_HEAD(trace_spans, trace_span) trace_spans;

/** A span of a call with a trace. @return yours, release it with free(); NULL: no memory */
trace_span *trace_span_new(const mcp_call *call, const mcp_ended *ended);

/** Write an ExportTraceServiceRequest. @return MCP_OK; MCP_E_LIMIT; MCP_E_NOMEM */
mcp_status trace_spans_write(mcp_buf *out, const trace_spans *spans, const char *service,
                             const char *version);

#endif
