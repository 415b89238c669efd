/*
 * interest.c - from a key to its subscribers.
 *
 *     key -> topic -> interest -> interest -> ...
 *
 * A topic is there while it has subscribers. With ten thousand listeners of a thousand keys each, a
 * key that changes is found at once, and then only its own listeners are looked at.
 */
#include "mcp/core/subscriptions/interest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct mcp__topic {
    mcp__interests *all;
    mcp__interest *first;
    size_t length;
    char key[];
};

void mcp__interests_init(mcp__interests *all)
{
    mcp__map_init(&all->topics, NULL);
}

void mcp__interests_clear(mcp__interests *all)
{
    assert(all->topics.count == 0);
    mcp__map_clear(&all->topics);
}

static mcp__topic *topic_new(mcp__interests *all, const char *key, size_t length)
{
    mcp__topic *topic = mcp_alloc(sizeof *topic + length + 1);

    if (!topic)
        return NULL;
    topic->all = all;
    topic->first = NULL;
    topic->length = length;
    memcpy(topic->key, key, length);
    topic->key[length] = '\0';
    if (mcp__map_put(&all->topics, topic->key, length, topic) == MCP_OK)
        return topic;
    free(topic);
    return NULL;
}

mcp_status mcp__interest_add(mcp__interests *all, mcp__interest *interest, const char *key,
                             size_t length)
{
    mcp__topic *topic = mcp__map_get(&all->topics, key, length);

    if (!topic)
        topic = topic_new(all, key, length);
    if (!topic)
        return MCP_E_NOMEM;
    interest->topic = topic;
    interest->previous = NULL;
    interest->next = topic->first;
    if (topic->first)
        topic->first->previous = interest;
    topic->first = interest;
    return MCP_OK;
}

void mcp__interest_remove(mcp__interest *interest)
{
    mcp__topic *topic = interest->topic;

    if (!topic)
        return;
    if (interest->previous)
        interest->previous->next = interest->next;
    else
        topic->first = interest->next;
    if (interest->next)
        interest->next->previous = interest->previous;
    interest->topic = NULL;
    if (topic->first)
        return;
    (void)mcp__map_remove(&topic->all->topics, topic->key, topic->length);
    free(topic);
}

mcp__interest *mcp__interest_first(const mcp__interests *all, const char *key, size_t length)
{
    const mcp__topic *topic = mcp__map_get(&all->topics, key, length);

    return topic ? topic->first : NULL;
}

const char *mcp__interest_key(const mcp__interest *interest)
{
    return interest->topic->key;
}
