/*
 * arena_int.h - what the library's own layers may ask of an arena beyond mcp/arena.h.
 */
#ifndef MCP_BASE_ARENA_INT_H
#define MCP_BASE_ARENA_INT_H

#include "mcp/arena.h"

#ifndef __cplusplus
#include <stdatomic.h>

/* Memory that many arenas take from together. Outlives them. Any thread. */
struct mcp__arena_budget {
    atomic_size_t used; /* bytes of chunks */
    size_t max_bytes;
};
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mcp__arena_budget mcp__arena_budget;

/* As mcp_arena_new, of an arena that takes its memory from a budget; NULL: none. */
mcp_arena *mcp__arena_new_within(size_t max_bytes, mcp__arena_budget *budget);

/* Memory for bytes: neither aligned nor zeroed, so that strings lie close together. */
char *mcp__arena_bytes(mcp_arena *arena, size_t size);

/* Why the arena last answered NULL: MCP_E_LIMIT (its bound), MCP_E_BUSY (the budget) or
 * MCP_E_NOMEM; MCP_OK if it never did. */
mcp_status mcp__arena_failure(const mcp_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
