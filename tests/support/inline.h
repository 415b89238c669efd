/*
 * inline.h - an executor without threads: for tests, and for whatever must not start any.
 */
#ifndef TESTS_INLINE_H
#define TESTS_INLINE_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>

#include "net/pool.h"

typedef struct mcp__inline {
    mcp__executor executor; /* first */
    bool is_held;           /* true: work waits for mcp__inline_step; set by the user */
    bool is_full;           /* true: submit answers MCP_E_BUSY; set by the user */
    mcp__node *first, *last;
    size_t held;
    pthread_t owner;      /* who made it: loop and worker */
    mcp__queue handed_in; /* by other threads */
    sem_t came;           /* so often */
} mcp__inline;

/** Work runs within submit, or waits where `is_held`; what is posted runs at once, but waits for
 *  mcp__inline_await where another thread posted it. */
void mcp__inline_init(mcp__inline *self);

/** Wait until another thread has handed in something, and run that. @return false: none did in
 *  `ms` */
bool mcp__inline_await(mcp__inline *self, int ms);

/** Run the work that waits longest, and its `done`. @return false when none waits */
bool mcp__inline_step(mcp__inline *self);

#endif
