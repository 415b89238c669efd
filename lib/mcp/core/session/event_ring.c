/*
 * event_ring.c - events in the order of coming, the oldest going first.
 *
 * An event stands in two lists: that of its session, which is bounded in events and bytes, and that
 * of the store, which bounds the bytes of all sessions together. Both drop from their old end only,
 * so what is kept of a stream is always its tail, and finding the event that a client saw last, or
 * the one after it, proves that nothing between there and now is missing.
 */
#include "mcp/core/session/event_ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static size_t weight(const mcp__event *event)
{
    return sizeof *event + event->length;
}

static void leave_store(mcp__event *event)
{
    mcp__event_store *store = event->ring->store;

    if (event->previous)
        event->previous->next = event->next;
    else
        store->oldest = event->next;
    if (event->next)
        event->next->previous = event->previous;
    else
        store->youngest = event->previous;
    store->bytes -= weight(event);
}

/* Only ever the oldest of its ring: the store's oldest is that too. */
static void drop(mcp__event_ring *ring, mcp__event *event)
{
    ring->oldest = event->newer;
    if (ring->oldest)
        ring->oldest->older = NULL;
    else
        ring->youngest = NULL;
    ring->count--;
    ring->bytes -= weight(event);
    leave_store(event);
    free(event);
}

void mcp__event_ring_init(mcp__event_ring *ring, mcp__event_store *store)
{
    *ring = (mcp__event_ring){ .store = store };
}

void mcp__event_ring_clear(mcp__event_ring *ring)
{
    while (ring->oldest)
        drop(ring, ring->oldest);
}

static void append(mcp__event_ring *ring, mcp__event *event)
{
    mcp__event_store *store = ring->store;

    event->older = ring->youngest;
    if (ring->youngest)
        ring->youngest->newer = event;
    else
        ring->oldest = event;
    ring->youngest = event;
    ring->count++;
    ring->bytes += weight(event);
    event->previous = store->youngest;
    if (store->youngest)
        store->youngest->next = event;
    else
        store->oldest = event;
    store->youngest = event;
    store->bytes += weight(event);
}

static mcp__event *event_new(mcp__event_ring *ring, uint32_t stream, uint64_t number,
                             const char *text, size_t length)
{
    if (length > MCP__EVENTS_MAX_BYTES)
        return NULL;
    mcp__event *event = mcp_alloc_zeroed(1, sizeof *event + length);
    if (!event)
        return NULL;
    event->ring = ring;
    event->stream = stream;
    event->number = number;
    event->length = length;
    if (length > 0)
        memcpy(event->text, text, length);
    return event;
}

void mcp__event_ring_put(mcp__event_ring *ring, uint32_t stream, uint64_t number, const char *text,
                         size_t length)
{
    mcp__event_store *store = ring->store;
    mcp__event *event = event_new(ring, stream, number, text, length);

    if (!event) {
        mcp__event_ring_clear(ring);
        return;
    }
    append(ring, event);
    while (ring->oldest && (ring->count > MCP__EVENTS_MAX || ring->bytes > MCP__EVENTS_MAX_BYTES))
        drop(ring, ring->oldest);
    /* Dropping moves `oldest` on: its ring's store is this one, which the analyzer cannot know. */
    while (store->oldest && store->bytes > store->max_bytes)
        drop(store->oldest->ring, store->oldest); /* NOLINT(clang-analyzer-unix.Malloc) */
}

bool mcp__event_ring_covers(const mcp__event_ring *ring, uint32_t stream, uint64_t number)
{
    bool has_tail = false;
    uint64_t last = 0;

    for (const mcp__event *event = ring->oldest; event; event = event->newer) {
        if (event->stream != stream)
            continue;
        if (event->number <= number + 1)
            has_tail = true;
        last = event->number;
    }
    return has_tail && number <= last;
}

const mcp__event *mcp__event_ring_next(const mcp__event_ring *ring, uint32_t stream,
                                       uint64_t number)
{
    const mcp__event *event = ring->oldest;

    while (event && (event->stream != stream || event->number <= number))
        event = event->newer;
    return event;
}
