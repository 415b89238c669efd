/*
 * topic.c - the ring: it doubles up to its bound, then drops the oldest entries.
 */
#include "bus/topic.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"

enum { ROOM_MIN = 16 };

struct bus_topic *bus_topic_new(const char *name)
{
    struct bus_topic *topic = mcp_alloc_zeroed(1, sizeof *topic);

    if (!topic)
        return NULL;
    topic->name = mcp_alloc_strdup(name);
    topic->newest = INT64_MIN;
    topic->complete_after = INT64_MAX;
    topic->dropped = INT64_MIN;
    if (topic->name)
        return topic;
    free(topic);
    return NULL;
}

void bus_topic_free(struct bus_topic *topic)
{
    if (!topic)
        return;
    while (topic->first < topic->next)
        bus_topic_drop(topic);
    free(topic->ring);
    free(topic->name);
    free(topic);
}

const struct bus_entry *bus_topic_entry(const struct bus_topic *topic, uint64_t position)
{
    return &topic->ring[position & (topic->room - 1)];
}

void bus_topic_drop(struct bus_topic *topic)
{
    const struct bus_entry *oldest = bus_topic_entry(topic, topic->first);

    if (oldest->id > topic->dropped)
        topic->dropped = oldest->id;
    if (oldest->id > topic->complete_after)
        topic->complete_after = oldest->id;
    topic->bytes -= oldest->bytes;
    mcp_event_release(oldest->event);
    topic->first++;
}

static bool grow(struct bus_topic *topic)
{
    size_t room = topic->room ? topic->room * 2 : ROOM_MIN;
    struct bus_entry *larger = mcp_alloc_zeroed(room, sizeof *larger);

    if (!larger)
        return false;
    for (uint64_t position = topic->first; position < topic->next; position++)
        larger[position & (room - 1)] = *bus_topic_entry(topic, position);
    free(topic->ring);
    topic->ring = larger;
    topic->room = room;
    return true;
}

/* Empty the ring, without the new entry: every reader is then behind it. */
static void give_up(struct bus_topic *topic, const struct bus_entry *entry)
{
    while (topic->first < topic->next)
        bus_topic_drop(topic);
    topic->first = ++topic->next;
    topic->newest = entry->id;
    topic->dropped = entry->id;
    topic->complete_after = entry->id;
    mcp_event_release(entry->event);
}

mcp_status bus_topic_append(struct bus_topic *topic, const struct bus_entry *entry,
                            struct bus_ring_limits limits)
{
    while (topic->next - topic->first >= limits.events)
        bus_topic_drop(topic);
    if (topic->next - topic->first == topic->room && !grow(topic)) {
        give_up(topic, entry);
        return MCP_E_NOMEM;
    }
    topic->ring[topic->next++ & (topic->room - 1)] = *entry;
    topic->bytes += entry->bytes;
    if (topic->newest == INT64_MIN)
        topic->complete_after = entry->id;
    topic->newest = entry->id;
    while (topic->bytes > limits.bytes && topic->next - topic->first > 1)
        bus_topic_drop(topic);
    return MCP_OK;
}
