/*
 * alloc.h - the one door to malloc, so that tests can make memory run out at a chosen moment.
 *
 * Arena, buffer and the constructors of long-lived objects allocate here; everything is released by
 * plain free(). In a program the hook is one relaxed load that is never true.
 */
#ifndef MCP_BASE_ALLOC_H
#define MCP_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* malloc and realloc that obey the hook; release with free(). */
void *mcp__alloc(size_t size);
void *mcp__realloc(void *memory, size_t size);

/* calloc that obeys the hook: zeroed, and NULL when the product overflows. */
void *mcp__alloc_zeroed(size_t count, size_t size);

/*
 * For tests: let `successes` more allocations succeed, then fail every one until this is called
 * again. A negative number ends it. Counts for the whole process.
 */
void mcp__alloc_fail_after(long successes);

/* For tests: whether an allocation was refused since the last mcp__alloc_fail_after. */
bool mcp__alloc_was_refused(void);

#endif
