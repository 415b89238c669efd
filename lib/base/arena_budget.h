/*
 * arena_budget.h - memory that many arenas take from together.
 */
#ifndef MCP_BASE_ARENA_BUDGET_H
#define MCP_BASE_ARENA_BUDGET_H

#include <stdatomic.h>

#include "base/arena_int.h"

/** Outlives the arenas. Any thread. */
struct mcp__arena_budget {
    atomic_size_t used; /* bytes of chunks */
    size_t max_bytes;
};

#endif
