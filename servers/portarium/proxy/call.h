/**
 * call.h - a call of a tool behind the proxy: proposed, decided, performed, answered.
 *
 *     propose ──> Denied ────────────────────────────────────────────> refused
 *        ├──────> Allow ─────> upstream ─> record ────────────────────> answered
 *        └──────> NeedsApproval: the approval is
 *                   Pending, Executing ─> wait for a change, propose again
 *                   Approved ─> claim ─> upstream ─> complete ────────> answered
 *                   Executed ─────────────────────────────────────────> answered with what is kept
 *                   Denied, RequestChanges, Expired ──────────────────> refused with the rationale
 */
#ifndef PORTARIUM_PROXY_CALL_H
#define PORTARIUM_PROXY_CALL_H

#include "proxy/proxy.h"
#include "proxy/upstream.h"

/** The handler of each tool; `data` is the portarium_upstream_tools that the tool is in, whose data
 *  are the portarium_proxy_options. */
mcp_status portarium_proxy_call(mcp_call *call, void *data);

#endif
