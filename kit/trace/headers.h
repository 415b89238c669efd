/**
 * headers.h - header fields for the collector, as OTEL_EXPORTER_OTLP_HEADERS has them; private to
 * the module.
 *
 *     api-key=s3cr%2Ct,tenant=acme
 *
 * The form is that of W3C Baggage without properties: pairs between commas, values
 * percent-encoded, blanks around each part are no part of it. Values are secrets: no message
 * contains one.
 */
#ifndef TRACE_HEADERS_H
#define TRACE_HEADERS_H

#include <stddef.h>

#include "fetch/fetch.h"
#include "mcp/error.h"

#define TRACE_HEADERS_MAX 32
#define TRACE_HEADERS_BYTES 8192

typedef struct trace_headers {
    char text[TRACE_HEADERS_BYTES]; /* what the list points into */
    fetch_header list[TRACE_HEADERS_MAX];
    size_t count;
} trace_headers;

/**
 * Append the pairs of `text` to the list; once a list. Empty pairs are ignored.
 *
 * @param text NULL or "": there are none
 * @return MCP_OK; MCP_E_PARAMS: a pair is no name=value, or a name or a value cannot be sent;
 *         MCP_E_LIMIT: too many, or too long
 */
mcp_status trace_headers_read(trace_headers *self, const char *text, mcp_error *err);

#endif
