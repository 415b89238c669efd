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

#include <stdatomic.h>

#include "executors/host.h"
#include "gateway/app.h"
#include "proxy/upstream.h"

/** Servers behind one proxy. */
#define PORTARIUM_UPSTREAMS_MAX 32

/** Strings are borrowed for the life of the proxy. */
typedef struct portarium_proxy_options {
    portarium_app *app; /* its client is asked, as its local actor */
    const char *workspace;
    const char *agent;            /* whose actions the calls are */
    const char *machine;          /* NULL: not said */
    const char *token;            /* of the local actor; NULL: it has none */
    portarium_host host;          /* its MCP servers and credentials */
    const char *const *upstreams; /* names of servers; several: their tools are NAME__TOOL */
    size_t upstream_count;
    int64_t wait_ms;   /* for a decision */
    int64_t call_ms;   /* for an upstream's answer */
    jobs_waits *waits; /* for calls that ask a remote plane; the proxy's, as the calls' below */
    atomic_int polls;  /* long polls under way */
} portarium_proxy_options;

/** The handler of each tool; `data` is the portarium_upstream_tools that the tool is in, whose data
 *  are the portarium_proxy_options. */
mcp_status portarium_proxy_call(mcp_call *call, void *data);

#endif
