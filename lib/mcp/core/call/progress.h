/*
 * progress.h - reports on the way from a handler to its client.
 */
#ifndef MCP_CORE_PROGRESS_H
#define MCP_CORE_PROGRESS_H

#include "mcp/core/call/call_int.h"

/** Ready `progress` for a call whose request carried `token`, or NULL. */
void mcp__progress_init(mcp__progress *progress, const mcp_json *token);

/** Drop what was not sent. */
void mcp__progress_clear(mcp__progress *progress);

/**
 * Loop only. Send what is due.
 *
 * @return when to call again, or INT64_MAX when nothing waits for time (a slow peer is asked again
 *         when it has taken something)
 */
int64_t mcp__progress_deliver(mcp_call *call, int64_t now_ms);

/** Loop only. Send the newest report whatever the clock says: the answer follows at once. */
void mcp__progress_finish(mcp_call *call);

#endif
