/*
 * event_ring.h - the last events of a session's streams, kept for a client that lost its
 * connection.
 *
 * The loop's alone.
 */
#ifndef MCP_CORE_EVENT_RING_H
#define MCP_CORE_EVENT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct mcp__event_ring mcp__event_ring;

/** One event; numbers of a stream rise by one. */
typedef struct mcp__event {
    struct mcp__event *newer, *older;   /* in its ring */
    struct mcp__event *next, *previous; /* in the store, next being younger */
    mcp__event_ring *ring;
    uint32_t stream;
    uint64_t number;
    size_t length;
    char text[]; /* the message, without NUL */
} mcp__event;

/** What all rings share: a bound on their bytes. */
typedef struct mcp__event_store {
    mcp__event *oldest, *youngest;
    size_t bytes;
    size_t max_bytes;
} mcp__event_store;

/** One session's events. */
struct mcp__event_ring {
    mcp__event_store *store;
    mcp__event *oldest, *youngest;
    size_t count;
    size_t bytes;
};

/** How many events, and how many bytes, one ring keeps. */
#define MCP__EVENTS_MAX ((size_t)256)
#define MCP__EVENTS_MAX_BYTES ((size_t)1024 * 1024)

void mcp__event_ring_init(mcp__event_ring *ring, mcp__event_store *store);

void mcp__event_ring_clear(mcp__event_ring *ring);

/** Keep a copy. What is too large, or finds no memory, is not kept, and then nothing older is
 *  either: what is kept of a stream has no gaps. */
void mcp__event_ring_put(mcp__event_ring *ring, uint32_t stream, uint64_t number, const char *text,
                         size_t length);

/** Whether `number` is one of the stream's, or the one before its first, and all that came after it
 *  are kept. False for a stream of which nothing is kept. */
bool mcp__event_ring_covers(const mcp__event_ring *ring, uint32_t stream, uint64_t number);

/** The first kept event of a stream after `number`; NULL when there is none. */
const mcp__event *mcp__event_ring_next(const mcp__event_ring *ring, uint32_t stream,
                                       uint64_t number);

#endif
