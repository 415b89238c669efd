/**
 * proxy.h - the tools of other MCP servers, with the control plane in front of each call.
 *
 * A call is proposed to the plane as an action of the agent. What policies allow is performed at
 * once; what a person must approve waits, without a thread where the plane is in this process, and
 * is performed once; what is denied is refused with the rule that denies it. The same call again,
 * the same tool with equal arguments, finds its approval and, for a day, its result.
 *
 * The plane's answer counts, whatever an upstream says of its tools: annotations are handed on and
 * not believed.
 */
#ifndef PORTARIUM_PROXY_H
#define PORTARIUM_PROXY_H

#include "mcp/server.h"
#include "proxy/call.h"

typedef struct portarium_proxy portarium_proxy;

/**
 * Make a proxy. Nothing is connected.
 *
 * @param out yours, free it with portarium_proxy_free
 * @return MCP_OK; MCP_E_NOT_FOUND: the host has no server of a name; MCP_E_PARAMS: a name twice, or
 *         an entry that names neither command nor url; MCP_E_LIMIT; MCP_E_NOMEM
 */
mcp_status portarium_proxy_new(portarium_proxy **out, const portarium_proxy_options *options,
                               mcp_error *err);

/**
 * Add the tools of the upstreams to the server, and follow their changes, each upstream on a
 * thread. Returns when each has answered or failed, and after 10 s at the latest. An upstream that
 * does not answer is logged, and asked again until it does.
 */
mcp_status portarium_proxy_start(portarium_proxy *self, mcp_server *server, mcp_error *err);

/** Stop following. Before the server is freed. NULL is fine. */
void portarium_proxy_stop(portarium_proxy *self);

/** Free it, after the server. NULL is fine. */
void portarium_proxy_free(portarium_proxy *self);

/** Whether the exposure of tools in the workspace lets the agent see a tool. Any thread; never
 *  blocks for long. */
bool portarium_proxy_shows(portarium_proxy *self, const char *name);

#endif
