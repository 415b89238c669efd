/**
 * arena.h - memory that is freed all at once.
 *
 * A call, a parsed message, a loaded case: each owns one arena, and everything that belongs to it is
 * allocated there. Nothing is freed one by one. An arena is used by one thread at a time.
 */
#ifndef MCP_ARENA_H
#define MCP_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where memory comes from that is freed together. */
typedef struct mcp_arena mcp_arena;

/**
 * A new arena.
 *
 * @param max_bytes the most that may be allocated from it in all; 0 means 64 MiB
 * @return yours, free it with mcp_arena_free; NULL when memory is out
 */
mcp_arena *mcp_arena_new(size_t max_bytes);

/** End the arena and all that came from it. NULL is fine. */
void mcp_arena_free(mcp_arena *arena);

/**
 * Zeroed memory, aligned for any type. Asking for 0 bytes gives a pointer that may not be read.
 *
 * @return the arena's; NULL when memory is out, or the arena's bound or that of all calls is reached
 */
void *mcp_arena_alloc(mcp_arena *arena, size_t size);

/** Zeroed memory for `count` things of `size` bytes; NULL also when the product overflows. */
void *mcp_arena_array(mcp_arena *arena, size_t count, size_t size);

/** A copy of a C string; NULL for NULL or when memory is out. */
char *mcp_arena_strdup(mcp_arena *arena, const char *text);

/** A copy of `length` bytes with a NUL behind it. */
char *mcp_arena_strndup(mcp_arena *arena, const char *text, size_t length);

/** printf into the arena; NULL when memory is out. */
char *mcp_arena_printf(mcp_arena *arena, const char *format, ...) MCP_PRINTF(2, 3);

/** How many bytes were asked for so far. */
size_t mcp_arena_used(const mcp_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
