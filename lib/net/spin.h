/*
 * spin.h - whether the loop should look for the next event a moment longer before it sleeps.
 */
#ifndef NET_SPIN_H
#define NET_SPIN_H

#include <stdbool.h>
#include <stdint.h>

/** One thread's. Zeroed memory never spins. */
typedef struct mcp__spin {
    int64_t most_ns; /* how long a look may take; 0: it never spins */
    bool is_on;
    int hits;        /* in a row, while it is on */
    int short_waits; /* in a row, while it is off */
    int needed;      /* short waits that turn it on */
} mcp__spin;

/** @param most_ns how long to look; 0, or a single processor for this thread: never */
void mcp__spin_init(mcp__spin *spin, int64_t most_ns);

/** An event came while the thread looked. */
void mcp__spin_hit(mcp__spin *spin);

/** None came. */
void mcp__spin_miss(mcp__spin *spin);

/** It slept for so long until one came. */
void mcp__spin_slept(mcp__spin *spin, int64_t ns);

#endif
