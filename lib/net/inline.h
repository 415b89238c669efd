/*
 * inline.h - an executor without threads: for tests, and for whatever must not start any.
 */
#ifndef NET_INLINE_H
#define NET_INLINE_H

#include <stdbool.h>
#include <stddef.h>

#include "net/pool.h"

typedef struct mcp__inline {
    mcp__executor executor; /* first */
    bool is_held;           /* true: work waits for mcp__inline_step; set by the user */
    bool is_full;           /* true: submit answers MCP_E_BUSY; set by the user */
    mcp__node *first, *last;
    size_t held;
} mcp__inline;

/** Work runs within submit, or waits where `is_held`; what is posted runs at once. */
void mcp__inline_init(mcp__inline *self);

/** Run the work that waits longest, and its `done`. @return false when none waits */
bool mcp__inline_step(mcp__inline *self);

#endif
