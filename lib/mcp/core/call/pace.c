/*
 * pace.c - handlers that run on the loop, as long as they are as quick as they promised.
 *
 * A handler that overruns is sent to the workers for a while: a second at first, twice as long each time
 * it overruns again, an hour at most. So one that blocks costs the loop a dozen waits in its first hour and
 * one an hour afterwards; and one that was only held up once by a busy machine is soon back. An overrun
 * that comes long after the last one counts as a first one again.
 *
 * What a thread waits for a processor is not the handler's doing. The system counts that for each thread, but
 * looking costs more than many a handler; so it is looked at now and then, and again after an overrun.
 */
#include "mcp/core/call/pace.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

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

#define LOOK_EVERY_NS INT64_C(1000000)

/* This thread's last look. */
static _Thread_local struct {
    int64_t at_ns;
    int64_t starved_ns;
} look;

/* "time on a processor, time ready without one, slices", since the thread began. */
static int64_t read_starved(void)
{
    char text[96];
    int file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, sizeof(text) - 1) : -1;
    char *second = NULL;

    if (file >= 0)
        (void)close(file);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    (void)strtoll(text, &second, 10);
    return strtoll(second, NULL, 10);
}

void mcp__pace_watch(int64_t began_ns)
{
    if (look.at_ns != 0 && began_ns - look.at_ns < LOOK_EVERY_NS)
        return;
    look.at_ns = began_ns;
    look.starved_ns = read_starved();
}

int64_t mcp__pace_starved_ns(void)
{
    int64_t starved_ns = read_starved() - look.starved_ns;

    return starved_ns > 0 ? starved_ns : 0;
}
