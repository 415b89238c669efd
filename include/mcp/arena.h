/**
 * arena.h - memory that is freed all at once.
 *
 * A call, a parsed message and a loaded case each own one arena. Everything that belongs to them is
 * allocated there, and nothing is freed one by one. An arena is used by one thread at a time.
 */
#ifndef MCP_ARENA_H
#define MCP_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Memory that is freed together. */
typedef struct mcp_arena mcp_arena;

/**
 * Create an arena.
 *
 * @param max_bytes the limit of all its allocations together; 0 means 64 MiB
 * @return yours, free it with mcp_arena_free; NULL when out of memory
 */
mcp_arena *mcp_arena_new(size_t max_bytes);

/** Free the arena and all memory allocated from it. NULL is allowed. */
void mcp_arena_free(mcp_arena *arena);

/**
 * Allocate zeroed memory, aligned for any type. A `size` of 0 gives a pointer that must not be
 * read.
 *
 * @return the arena's; NULL when out of memory, or when the limit of the arena or of all calls is
 *         reached
 */
void *mcp_arena_alloc(mcp_arena *arena, size_t size);

/** Allocate zeroed memory for `count` items of `size` bytes; NULL also when the product
 *  overflows. */
void *mcp_arena_array(mcp_arena *arena, size_t count, size_t size);

/** Copy a C string. @return NULL for NULL, or when out of memory */
char *mcp_arena_strdup(mcp_arena *arena, const char *text);

/** Copy `length` bytes and append a NUL. @return NULL when out of memory */
char *mcp_arena_strndup(mcp_arena *arena, const char *text, size_t length);

/** Format as printf does, into the arena. @return NULL when out of memory */
char *mcp_arena_printf(mcp_arena *arena, const char *format, ...) MCP_PRINTF(2, 3);

/** The number of bytes requested so far. */
size_t mcp_arena_used(const mcp_arena *arena);

#ifdef __cplusplus
}
#endif

#endif
