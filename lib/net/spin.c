/*
 * spin.c - when polling is cheaper than sleeping.
 *
 * Waking a thread takes tens of microseconds where the processor has gone idle, more than a message
 * takes to be answered. So the loop polls for a client that sends again at once, and only for such
 * a client: polling for one that pauses costs processor time for nothing.
 *
 * Several short waits in a row turn polling on; a poll without an event turns it off and doubles
 * the number of short waits that turn it on again, until a long run of hits restores it. On a
 * single processor the sender cannot run while the loop polls, so it never polls there.
 */
#include "net/spin.h"

#include <sched.h>

#define FIRST_NEEDED 4
#define MOST_NEEDED 1024
#define HITS_OF_CREDIT 64

static bool has_processors(void)
{
    cpu_set_t allowed;

    CPU_ZERO(&allowed);
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 1;
}

void mcp__spin_init(mcp__spin *spin, int64_t most_ns)
{
    *spin = (mcp__spin){ .most_ns = has_processors() ? most_ns : 0, .needed = FIRST_NEEDED };
}

void mcp__spin_hit(mcp__spin *spin)
{
    if (++spin->hits < HITS_OF_CREDIT)
        return;
    spin->hits = 0;
    spin->needed = FIRST_NEEDED;
}

void mcp__spin_miss(mcp__spin *spin)
{
    spin->is_on = false;
    spin->hits = 0;
    spin->short_waits = 0;
    if (spin->needed < MOST_NEEDED)
        spin->needed *= 2;
}

void mcp__spin_slept(mcp__spin *spin, int64_t ns)
{
    bool is_short = ns <= spin->most_ns + spin->most_ns / 2; /* being woken is part of it */

    spin->short_waits = is_short && spin->most_ns > 0 ? spin->short_waits + 1 : 0;
    if (spin->short_waits >= spin->needed)
        spin->is_on = true;
}
