/*
 * queue.c - a linked list with one lock.
 *
 * Whoever empties the queue takes all of it at once, so under load the lock is taken once for many
 * nodes. A push says whether the queue was empty: only then can somebody be asleep over it.
 */
#include "net/queue.h"

#include <assert.h>
#include <stddef.h>

void mcp__queue_init(mcp__queue *queue)
{
    *queue = (mcp__queue){ .first = NULL };
    pthread_mutex_init(&queue->lock, NULL);
}

void mcp__queue_clear(mcp__queue *queue)
{
    assert(!queue->first);
    pthread_mutex_destroy(&queue->lock);
}

bool mcp__queue_push(mcp__queue *queue, mcp__node *node)
{
    node->next = NULL;
    pthread_mutex_lock(&queue->lock);
    bool was_empty = !queue->first;
    if (was_empty)
        queue->first = node;
    else
        queue->last->next = node;
    queue->last = node;
    pthread_mutex_unlock(&queue->lock);
    return was_empty;
}

mcp__node *mcp__queue_take(mcp__queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    mcp__node *first = queue->first;
    queue->first = NULL;
    queue->last = NULL;
    pthread_mutex_unlock(&queue->lock);
    return first;
}
