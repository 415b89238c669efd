/*
 * queue.h - first in, first out, between threads.
 *
 * A node is embedded in the thing that is handed over, so that pushing allocates nothing. Pushing
 * gives the thing away; taking makes it the taker's.
 */
#ifndef NET_QUEUE_H
#define NET_QUEUE_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct mcp__node mcp__node;

/** A place in a queue. `run` is what the loop calls for a node that was posted to it. */
struct mcp__node {
    mcp__node *next;
    void (*run)(mcp__node *node);
};

typedef struct mcp__queue {
    _Atomic(mcp__node *) last; /* the others behind it, back to the first */
} mcp__queue;

void mcp__queue_init(mcp__queue *queue);

/** The queue must be empty. */
void mcp__queue_clear(mcp__queue *queue);

/** Any thread. @return true when the queue was empty before: its taker must be woken */
bool mcp__queue_push(mcp__queue *queue, mcp__node *node);

/** Any thread. Everything that is queued, linked by `next` in order; NULL when there is nothing. */
mcp__node *mcp__queue_take(mcp__queue *queue);

#endif
