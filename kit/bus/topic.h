/*
 * topic.h - a topic's ring of events. All of it is guarded by the lock of its bus.
 *
 * Places in the ring are numbered from the topic's beginning and never come again, so a reader's
 * place is one number, and being below `first` is how it learns that it fell behind.
 */
#ifndef BUS_TOPIC_H
#define BUS_TOPIC_H

#include "bus/bus.h"

struct bus_subscriber;

struct bus_entry {
    mcp_event *event;
    int64_t id;
    uint32_t kind;
    size_t bytes;
};

struct bus_topic {
    char *name;
    struct bus_entry *ring;
    size_t room;          /* a power of two, or 0 */
    uint64_t first, next; /* places: the oldest kept, the next to come */
    size_t bytes;
    int64_t newest;         /* id; INT64_MIN: nothing was published yet */
    int64_t complete_after; /* all events above this id are in the ring; INT64_MAX: not known */
    int64_t dropped;        /* highest id that has left the ring; INT64_MIN: none */
    size_t subscribers;
    int64_t used_ms;
    bool is_ended;  /* no longer found by its name; streams end behind the last entry */
    bool is_dirty;  /* waits for the pump */
    bool is_served; /* the pump goes through its readers */
    struct bus_topic *next_dirty;
    struct bus_topic *next_ended;
    struct bus_subscriber *readers; /* the pump's, without the lock */
};

/* @return NULL: no memory */
struct bus_topic *bus_topic_new(const char *name);
void bus_topic_free(struct bus_topic *topic);

/*
 * Append an entry, whose count is taken, and drop the oldest beyond the bounds. Without memory the
 * ring is emptied: a gap must not look like none.
 */
mcp_status bus_topic_append(struct bus_topic *topic, const struct bus_entry *entry,
                            const bus_options *options);

/* Drop the oldest entry. There must be one. */
void bus_topic_drop(struct bus_topic *topic);

/* The entry at a place from `first` to before `next`. */
const struct bus_entry *bus_topic_entry(const struct bus_topic *topic, uint64_t place);

#endif
