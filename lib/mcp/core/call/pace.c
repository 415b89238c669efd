/*
 * pace.c - handlers that run on the loop, as long as they are as quick as they promised.
 *
 * A handler that overruns is sent to the workers for a while: a second at first, twice as long each time
 * it overruns again, an hour at most. So one that blocks costs the loop a dozen waits in its first hour and
 * one an hour afterwards; and one that was only held up once by a busy machine is soon back. An overrun
 * that comes long after the last one counts as a first one again.
 *
 * What a thread waits for a processor is not the handler's doing, and no overrun.
 */
#include "mcp/core/call/pace.h"

#include <sys/resource.h>

#define FIRST_REST_NS INT64_C(1000000000)
#define LONGEST_REST_NS (3600 * FIRST_REST_NS)
#define FORGIVEN_AFTER 10 /* rests of good conduct */

bool mcp__pace_allows(const mcp__pace *pace, int64_t now_ns)
{
    return pace->rest_ns == 0 || now_ns >= pace->until_ns;
}

static int64_t next_rest(const mcp__pace *pace, int64_t now_ns)
{
    if (pace->rest_ns == 0 || now_ns - pace->until_ns >= FORGIVEN_AFTER * pace->rest_ns)
        return FIRST_REST_NS;
    return pace->rest_ns < LONGEST_REST_NS / 2 ? pace->rest_ns * 2 : LONGEST_REST_NS;
}

bool mcp__pace_note(mcp__pace *pace, int64_t began_ns, int64_t ended_ns)
{
    bool is_first = pace->rest_ns == 0;

    if (ended_ns - began_ns <= MCP__PACE_MAX_NS)
        return false;
    pace->rest_ns = next_rest(pace, ended_ns);
    pace->until_ns = ended_ns + pace->rest_ns;
    return is_first;
}

/* ---- a busy machine --------------------------------------------------------------------------- */

static int64_t ns_of(struct timeval time)
{
    return ((int64_t)time.tv_sec * 1000000 + time.tv_usec) * 1000;
}

mcp__pace_use mcp__pace_look(void)
{
    struct rusage use = { .ru_nvcsw = 0 };

    (void)getrusage(RUSAGE_THREAD, &use);
    return (mcp__pace_use){ ns_of(use.ru_utime) + ns_of(use.ru_stime), use.ru_nvcsw };
}

bool mcp__pace_was_starved(const mcp__pace_use *since)
{
    mcp__pace_use now = mcp__pace_look();

    return now.waits == since->waits && now.processor_ns - since->processor_ns <= MCP__PACE_MAX_NS;
}
