/*
 * topic.h - a topic's ring of events. All of it is guarded by the lock of its bus.
 *
 * Positions in the ring are numbered from the topic's beginning and are not reused, so a reader's
 * cursor is one number, and a cursor below `first` is behind the ring.
 */
#ifndef BUS_TOPIC_H
#define BUS_TOPIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "mcp/stream.h"

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
    uint64_t first, next; /* positions: of the oldest entry, of the next one */
    size_t bytes;
    int64_t newest;         /* id; INT64_MIN: nothing was published yet */
    int64_t complete_after; /* the ring has all events above this id; INT64_MAX: unknown */
    int64_t dropped;        /* highest id that has left the ring; INT64_MIN: none */
    size_t subscribers;
    int64_t used_ms;
    int64_t not_before_ms; /* when the pump serves its readers again */
    bool is_ended;         /* no longer in the array; streams end after the last entry */
    bool is_dirty;         /* queued for the pump */
    bool is_served;        /* the pump is serving its readers */
    struct bus_topic *next_dirty;
    struct bus_topic *next_ended;
    struct bus_subscriber *begun;   /* all readers, by the lock of the bus */
    struct bus_subscriber *readers; /* the pump's, without the lock */
};

/* @return NULL: no memory */
struct bus_topic *bus_topic_new(const char *name);
void bus_topic_free(struct bus_topic *topic);

/* The bounds of a ring; one event always fits. */
struct bus_ring_limits {
    size_t events;
    size_t bytes;
};

/*
 * Append an entry, whose reference is taken, and drop the oldest ones beyond the bounds. Without
 * memory the ring is emptied, so that readers see a gap and not a missing event.
 */
mcp_status bus_topic_append(struct bus_topic *topic, const struct bus_entry *entry,
                            struct bus_ring_limits limits);

/* Drop the oldest entry. There must be one. */
void bus_topic_drop(struct bus_topic *topic);

/* The entry at a position from `first` to before `next`. */
const struct bus_entry *bus_topic_entry(const struct bus_topic *topic, uint64_t position);

#endif
