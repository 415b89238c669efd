/**
 * alloc.h - the allocator of the library, for programs that share its tests.
 *
 * These are malloc, realloc, calloc and strdup; release with free(). The library allocates here
 * too, so a test that lets one allocation after the other fail reaches the library and the program.
 */
#ifndef MCP_ALLOC_H
#define MCP_ALLOC_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Allocate `size` bytes. @return yours, release it with free(); NULL when out of memory */
void *mcp_alloc(size_t size);

/** Change the size of an allocation. @return as realloc */
void *mcp_realloc(void *memory, size_t size);

/** Allocate zeroed memory. @return as mcp_alloc; NULL also when the product overflows */
void *mcp_alloc_zeroed(size_t count, size_t size);

/** Copy a text. @return as mcp_alloc */
char *mcp_alloc_strdup(const char *text);

#ifdef __cplusplus
}
#endif

#endif
