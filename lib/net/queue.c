/*
 * queue.c - a linked list without a lock.
 *
 * A push puts its node in front of the last one; a take removes all nodes and reverses them. Since
 * no node is ever taken singly, none can come back while another thread compares it (the ABA
 * problem). Threads that push while the loop takes do not wait for one another. A push says whether
 * the queue was empty: only then can the taker sleep.
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
