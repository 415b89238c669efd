/*
 * heed.h - calls whose handler was told to stop, until it does.
 */
#ifndef MCP_CORE_HEED_H
#define MCP_CORE_HEED_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/call/call_table.h"

/** The call was just told to stop, and a worker has it, or is to have it. A second time changes nothing. */
void mcp__heed_watch(mcp__call_table *calls, mcp_call *call);

/** The worker has given it back. Unwatched calls are passed over. */
void mcp__heed_forget(mcp__call_table *calls, mcp_call *call);

/** Give up handlers that have gone on too long, and note when to look again. */
void mcp__heed_tick(mcp__call_table *calls, int64_t now_ms);

#endif
