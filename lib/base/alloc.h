/*
 * alloc.h - the hook by which tests make memory run out, behind mcp/alloc.h.
 *
 * Arena, buffer and the constructors of long-lived objects allocate by mcp/alloc.h; all of it is
 * released by free(). In a program the hook is one relaxed load that is never true.
 */
#ifndef MCP_BASE_ALLOC_H
#define MCP_BASE_ALLOC_H

#include <stdbool.h>

#include "mcp/alloc.h"

/* For tests: let `successes` more allocations succeed, then fail every one until this is called
 * again. A negative number ends it. Counts for the whole process. */
void mcp__alloc_fail_after(long successes);

/* For tests: whether an allocation was refused since the last mcp__alloc_fail_after. */
bool mcp__alloc_was_refused(void);

#endif
