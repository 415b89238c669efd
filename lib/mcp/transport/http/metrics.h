/*
 * metrics.h - /health and /metrics.
 */
#ifndef MCP_TRANSPORT_HTTP_METRICS_H
#define MCP_TRANSPORT_HTTP_METRICS_H

#include "mcp/transport/http_int.h"

#define MCP__HEALTH_PATH "/health"
#define MCP__METRICS_PATH "/metrics"

/** Answer a request for one of them. */
void mcp__metrics_health(mcp__httpd *httpd, mcp__http_exchange *exchange);
void mcp__metrics_answer(mcp__httpd *httpd, mcp__http_exchange *exchange);

/** When the process started, in seconds since 1970; 0: the system does not say. */
double mcp__process_start_s(void);

#endif
