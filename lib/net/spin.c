/*
 * spin.c - when looking is cheaper than sleeping.
 *
 * To be woken costs a thread tens of microseconds where the processor has gone idle meanwhile, which is
 * more than a message takes to be answered. A client that asks again at once is therefore waited for with
 * open eyes; but only such a client, since looking for one that thinks costs processor time for nothing.
 *
 * So it is a wager on the next wait being like the last ones: several short ones in a row turn looking on,
 * a look in vain turns it off, and each look in vain doubles how many are wanted the next time, until a
 * long run of hits has restored the credit. Where the thread has one processor, who should send the message
 * cannot run while we look: then there is no looking at all.
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
    return sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 1;
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
