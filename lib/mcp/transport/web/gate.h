/*
 * gate.h - what every request has to pass, whatever its path.
 */
#ifndef MCP_TRANSPORT_WEB_GATE_H
#define MCP_TRANSPORT_WEB_GATE_H

#include <stdbool.h>

#include "mcp/transport/web_int.h"

/** Check Host and Origin. @return false: the exchange was answered by 403 */
bool mcp__gate_pass(mcp__web *web, mcp__http_exchange *exchange);

/** Answer a browser that asks whether a page may call us (CORS). @return false: it was no such request */
bool mcp__gate_preflight(mcp__web *web, mcp__http_exchange *exchange);

/** The Origin where pages from there may read answers; NULL otherwise. Lives as long as the options. */
const char *mcp__gate_origin(const mcp__web *web, const mcp__http_exchange *exchange);

#endif
