/*
 * test_clock.c - two clocks, and moments as ISO 8601 (expected texts from date(1), `date -u -d
 * @N`).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "mcp/clock.h"

static void moments_as_text(void **state)
{
    static const struct {
        int64_t wall_ms;
        const char *plain;
        const char *with_ms;
    } rows[] = {
        { 0, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z" },
        { 1, "1970-01-01T00:00:00Z", "1970-01-01T00:00:00.001Z" },
        { -1, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z" },
        { -1000, "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.000Z" },
        { 951782400000, "2000-02-29T00:00:00Z", "2000-02-29T00:00:00.000Z" },
        { 1768636800123, "2026-01-17T08:00:00Z", "2026-01-17T08:00:00.123Z" },
        { 4107542399999, "2100-02-28T23:59:59Z", "2100-02-28T23:59:59.999Z" },
        { INT64_MAX, "9999-12-31T23:59:59Z", "9999-12-31T23:59:59.999Z" },
        { INT64_MIN, "0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z" },
    };
    char text[MCP_CLOCK_UTC_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_clock_utc(text, rows[i].wall_ms, 0);
        assert_string_equal(text, rows[i].plain);
        mcp_clock_utc(text, rows[i].wall_ms, 1);
        assert_string_equal(text, rows[i].with_ms);
    }
}

static void the_monotonic_clock_never_goes_back(void **state)
{
    int64_t before = mcp_clock_mono_ns();

    (void)state;
    for (int i = 0; i < 10000; i++) {
        int64_t now = mcp_clock_mono_ns();
        assert_true(now >= before);
        before = now;
    }
    int64_t ms = mcp_clock_mono_ms();
    assert_true(ms >= before / 1000000 && ms <= mcp_clock_mono_ns() / 1000000);
}

static void the_wall_clock_is_the_systems(void **state)
{
    int64_t before = (int64_t)time(NULL) * 1000;
    int64_t now = mcp_clock_wall_ms();

    (void)state;
    /* time() may read a coarser clock, a tick behind. */
    assert_true(now >= before);
    assert_true(now <= ((int64_t)time(NULL) + 2) * 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_as_text),
        cmocka_unit_test(the_monotonic_clock_never_goes_back),
        cmocka_unit_test(the_wall_clock_is_the_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
