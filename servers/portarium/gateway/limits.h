/**
 * limits.h - how often principals and workspaces may ask: token buckets in the process.
 *
 * Heartbeats and calls that wait for a change take no token.
 */
#ifndef PORTARIUM_GATEWAY_LIMITS_H
#define PORTARIUM_GATEWAY_LIMITS_H

#include <stdint.h>

#include "service/operation.h"

typedef struct portarium_limits portarium_limits;

/**
 * 100 requests a second for a principal (200 at once), 1,000 for a workspace (2,000 at once).
 *
 * @param out    yours, free it with portarium_limits_free
 * @param compat rest.compat_rate: the reference's, 600 a minute (50 at once) for a workspace
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_IO
 */
mcp_status portarium_limits_new(portarium_limits **out, bool compat, mcp_error *err);

void portarium_limits_free(portarium_limits *self);

/** Whether a request may run now. @return 0: yes; else after how many seconds. Any thread. */
int64_t portarium_limits_take(portarium_limits *self, const portarium_operation *operation,
                              const portarium_request *request);

/** How many requests were refused. @param self NULL: none */
uint64_t portarium_limits_refused(const portarium_limits *self);

#endif
