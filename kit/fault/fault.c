/*
 * fault.c - the points at which tests kill the process, and the lease that they set.
 */
#include "fault/fault.h"

#ifdef CAUSEWAY_FAULT_POINTS
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEASE_MAX_MS = 600000 };

/* Written once, by the first thread that reaches a point. */
static pthread_once_t is_read = PTHREAD_ONCE_INIT;
static const char *armed;
static size_t armed_length;
static atomic_long left;

static void read_environment(void)
{
    const char *text = getenv("CAUSEWAY_FAULT");
    const char *colon = text ? strchr(text, ':') : NULL;
    if (!colon)
        return;
    armed = text;
    armed_length = (size_t)(colon - text);
    left = strtol(colon + 1, NULL, 10);
}

void fault_reach(const char *point)
{
    pthread_once(&is_read, read_environment);
    if (!armed || strlen(point) != armed_length || memcmp(point, armed, armed_length) != 0)
        return;
    if (atomic_fetch_sub(&left, 1) == 1)
        kill(getpid(), SIGKILL);
}

int fault_lease_ms(void)
{
    const char *text = getenv("CAUSEWAY_LEASE_MS");
    long value = text ? strtol(text, NULL, 10) : 0;
    return value > 0 && value <= LEASE_MAX_MS ? (int)value : 0;
}

/* The file is read each time: it is a few bytes, and the test changes it. */
int64_t fault_clock_ms(void)
{
    static const int64_t most_ms = INT64_C(366) * 86400 * 1000;
    const char *path = getenv("CAUSEWAY_CLOCK");
    char text[32] = "";
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0)
        return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    int64_t ms = length > 0 ? strtoll(text, NULL, 10) : 0;
    return ms >= -most_ms && ms <= most_ms ? ms : 0;
}
#endif
