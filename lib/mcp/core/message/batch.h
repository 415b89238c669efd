/*
 * batch.h - the peer of a batch (2025-03-26): it gathers the answers and sends them as one array.
 */
#ifndef MCP_CORE_MESSAGE_BATCH_H
#define MCP_CORE_MESSAGE_BATCH_H

#include <stddef.h>

#include "mcp/core/peer.h"
#include "mcp/error.h"

/** How many messages a batch may have. */
#define MCP__BATCH_MAX 100

/**
 * A peer that expects `count` messages to end, each by `answer` or `skip`, and then sends what it
 * has gathered to `behind` and frees itself.
 *
 * @param max_bytes of one array; what does not fit goes into a further one
 */
mcp_status mcp__batch_new(mcp__peer **out, mcp__peer *behind, size_t count, size_t max_bytes,
                          mcp_error *err);

#endif
