/*
 * clock.c - monotonic and wall time, and the one way we write a moment.
 */
#include "mcp/clock.h"

#include <string.h>
#include <time.h>

#define NS_PER_MS 1000000

/* 0000-01-01T00:00:00.000Z and 9999-12-31T23:59:59.999Z: what four digits of a year can say. */
#define FIRST_MS (-62167219200000)
#define LAST_MS 253402300799999

static int64_t read_ns(clockid_t clock)
{
    struct timespec now = { 0 };

    /* Neither clock can fail on Linux: both ids are always known and `now` is writable. */
    (void)clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000 * NS_PER_MS + now.tv_nsec;
}

int64_t mcp_clock_mono_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t mcp_clock_mono_ms(void)
{
    return mcp_clock_mono_ns() / NS_PER_MS;
}

int64_t mcp_clock_wall_ms(void)
{
    return read_ns(CLOCK_REALTIME) / NS_PER_MS;
}

static void put_digits(char *at, int value, int width)
{
    for (int i = width - 1; i >= 0; i--) {
        at[i] = (char)('0' + value % 10);
        value /= 10;
    }
}

void mcp_clock_utc(char out[MCP_CLOCK_UTC_SIZE], int64_t wall_ms, int with_ms)
{
    int64_t ms = wall_ms < FIRST_MS ? FIRST_MS : wall_ms > LAST_MS ? LAST_MS : wall_ms;
    int fraction = (int)((ms % 1000 + 1000) % 1000);
    time_t seconds = (time_t)((ms - fraction) / 1000);
    struct tm date;

    (void)gmtime_r(&seconds, &date); /* cannot fail between the two bounds above */
    memcpy(out, "0000-00-00T00:00:00", 19);
    put_digits(out, date.tm_year + 1900, 4);
    put_digits(out + 5, date.tm_mon + 1, 2);
    put_digits(out + 8, date.tm_mday, 2);
    put_digits(out + 11, date.tm_hour, 2);
    put_digits(out + 14, date.tm_min, 2);
    put_digits(out + 17, date.tm_sec, 2);
    if (!with_ms) {
        memcpy(out + 19, "Z", 2);
        return;
    }
    memcpy(out + 19, ".000Z", 6);
    put_digits(out + 20, fraction, 3);
}
