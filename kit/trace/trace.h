/**
 * trace.h - spans of calls, exported to a collector by OTLP over HTTP, as JSON.
 *
 * A call becomes a span when it ends, if its client records the trace (mcp_trace.is_sampled). Spans
 * wait in a bounded queue for a thread that sends them in batches; when the queue is full, further
 * spans are dropped and counted. No call ever waits for the collector.
 *
 *     trace_options how = { .endpoint = getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), .name = "echo" };
 *     mcp_status st = trace_open(&exporter, &how, &err);
 *     options.ended = trace_ended;
 *     options.ended_data = exporter;
 *
 * https://opentelemetry.io/docs/specs/otlp/ ; attributes are those of its semantic conventions for
 * MCP and HTTP.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "mcp/log.h"
#include "mcp/server.h"

#define TRACE_QUEUE_MAX 2048
#define TRACE_BATCH_MAX 512
#define TRACE_BATCH_MS 5000
#define TRACE_TIMEOUT_MS 10000
#define TRACE_FLUSH_MS 2000

/** An exporter. */
typedef struct trace_exporter trace_exporter;

/** Zero is the default of every field that is not required. */
typedef struct trace_options {
    const char *endpoint; /* of the collector, "http://127.0.0.1:4318"; required */
    /** Header fields of each request, "name=value,name=value", values percent-encoded; they are
     *  never logged. At most 31, in 8,191 bytes. */
    const char *headers;
    const char *name;    /* of the service; required */
    const char *version; /* of the service */
    mcp_log log;

    size_t queue_max;   /* spans that wait or are being sent: TRACE_QUEUE_MAX */
    size_t batch_max;   /* spans in a request: TRACE_BATCH_MAX */
    int64_t batch_ms;   /* a span waits for others: TRACE_BATCH_MS */
    int64_t timeout_ms; /* of a request: TRACE_TIMEOUT_MS */
    int64_t flush_ms;   /* for what is left at the end: TRACE_FLUSH_MS */
} trace_options;

/**
 * Start an exporter and its thread. The collector is not contacted before there are spans.
 *
 * @param out     yours, end it with trace_close
 * @param options copied, with its strings
 * @return MCP_OK; MCP_E_PARAMS: the endpoint is no http or https URL, or a header cannot be sent;
 *         MCP_E_UNSUPPORTED: there is no libcurl; MCP_E_NOMEM; MCP_E_LIMIT: too many headers;
 *         MCP_E_LIMIT, MCP_E_IO: the system has no thread
 */
mcp_status trace_open(trace_exporter **out, const trace_options *options, mcp_error *err);

/** Export what is left, for flush_ms at most, then end the thread. No call may end any more. NULL
 *  is allowed. */
void trace_close(trace_exporter *self);

/** The mcp_ended_hook of a server; `data` is the exporter. Any thread; does not block. */
void trace_ended(const mcp_call *call, const mcp_ended *ended, void *data);

/** How many spans were taken by the collector, and how many never will be, and why. */
typedef struct trace_counts {
    uint64_t exported;
    uint64_t queue_full; /* dropped; also for want of memory */
    uint64_t failed;     /* dropped: the collector did not answer, or refused them */
} trace_counts;

/** Counts since the start. Any thread. */
void trace_count(trace_exporter *self, trace_counts *out);

#endif
