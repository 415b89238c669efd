/*
 * topic.c - the ring: it grows by doubling up to its bound, then the oldest make room.
 */
#include "bus/topic.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_MIN = 16 };

struct bus_topic *bus_topic_new(const char *name)
{
    struct bus_topic *topic = calloc(1, sizeof *topic);

    if (!topic)
        return NULL;
    topic->name = strdup(name);
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

const struct bus_entry *bus_topic_entry(const struct bus_topic *topic, uint64_t place)
{
    return &topic->ring[place & (topic->room - 1)];
}

void bus_topic_drop(struct bus_topic *topic)
{
    const struct bus_entry *oldest = bus_topic_entry(topic, topic->first);

    if (oldest->id > topic->dropped)
        topic->dropped = oldest->id;
    if (oldest->id > topic->complete_after)
        topic->complete_after = oldest->id;
    topic->bytes -= oldest->bytes;
    mcp_event_free(oldest->event);
    topic->first++;
}

static bool grow(struct bus_topic *topic)
{
    size_t room = topic->room ? topic->room * 2 : ROOM_MIN;
    struct bus_entry *larger = calloc(room, sizeof *larger);

    if (!larger)
        return false;
    for (uint64_t place = topic->first; place < topic->next; place++)
        larger[place & (room - 1)] = *bus_topic_entry(topic, place);
    free(topic->ring);
    topic->ring = larger;
    topic->room = room;
    return true;
}

/* Nothing is kept, not even the entry that comes: whoever reads has fallen behind. */
static void give_up(struct bus_topic *topic, const struct bus_entry *entry)
{
    while (topic->first < topic->next)
        bus_topic_drop(topic);
    topic->first = ++topic->next;
    topic->newest = entry->id;
    topic->dropped = entry->id;
    topic->complete_after = entry->id;
    mcp_event_free(entry->event);
}

mcp_status bus_topic_append(struct bus_topic *topic, const struct bus_entry *entry,
                            const bus_options *options)
{
    while (topic->next - topic->first >= options->ring_events)
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
    while (topic->bytes > options->ring_bytes && topic->next - topic->first > 1)
        bus_topic_drop(topic);
    return MCP_OK;
}
