/*
 * queue.c - a linked list without a lock.
 *
 * Whoever pushes puts its node in front of the last one, and whoever takes, takes all and turns the list
 * round. Since nothing is ever taken singly, no node can come back while somebody looks at it, which is
 * what makes such lists difficult otherwise. Threads that post at the same time as the loop takes do not
 * wait for one another. A push says whether the queue was empty: only then can somebody be asleep over it.
 */
#include "net/queue.h"

#include <assert.h>
#include <stddef.h>

void mcp__queue_init(mcp__queue *queue)
{
    atomic_init(&queue->last, NULL);
}

void mcp__queue_clear(mcp__queue *queue)
{
    assert(!atomic_load(&queue->last));
    (void)queue;
}

bool mcp__queue_push(mcp__queue *queue, mcp__node *node)
{
    mcp__node *last = atomic_load_explicit(&queue->last, memory_order_relaxed);

    do {
        node->next = last;
    } while (!atomic_compare_exchange_weak_explicit(&queue->last, &last, node, memory_order_release,
                                                    memory_order_relaxed));
    return !last; /* `node` is another's by now */
}

mcp__node *mcp__queue_take(mcp__queue *queue)
{
    mcp__node *node = atomic_exchange_explicit(&queue->last, NULL, memory_order_acquire);
    mcp__node *first = NULL;

    while (node) {
        mcp__node *before = node->next;
        node->next = first;
        first = node;
        node = before;
    }
    return first;
}
