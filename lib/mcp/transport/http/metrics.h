/*
 * metrics.h - /health and /metrics.
 */
#ifndef MCP_TRANSPORT_HTTP_METRICS_H
#define MCP_TRANSPORT_HTTP_METRICS_H

#include <stdbool.h>

#include "mcp/transport/http/http_int.h"

/** Answer /health or /metrics, where it is served. @return false: the request is for another
 *  path */
bool mcp__metrics_answer(mcp__web *web, mcp__http_exchange *exchange);

/** When the process started, in seconds since 1970; 0: the system does not say. */
double mcp__process_start_s(void);

#endif
