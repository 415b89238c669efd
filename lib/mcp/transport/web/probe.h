/*
 * probe.h - /health and /metrics, for whoever watches over the server.
 */
#ifndef MCP_TRANSPORT_WEB_PROBE_H
#define MCP_TRANSPORT_WEB_PROBE_H

#include <stdbool.h>

#include "mcp/transport/web_int.h"

/** Answer a probe. @return false: it is none, or its kind was not asked for */
bool mcp__probe_answer(mcp__web *web, mcp__http_exchange *exchange);

#endif
