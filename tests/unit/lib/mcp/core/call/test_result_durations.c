/*
 * test_result_durations.c - histograms by method and name, and their bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/call/result.h"

static void a_time_is_counted_in_its_bucket(void **state)
{
    mcp__durations durations;

    (void)state;
    mcp__durations_init(&durations);
    mcp__durations_add(&durations, "tools/call", "a", false, 0);
    mcp__durations_add(&durations, "tools/call", "a", false, 50000);
    mcp__durations_add(&durations, "tools/call", "a", false, 50001);
    mcp__durations_add(&durations, "tools/call", "a", false, 60000000001);
    mcp__durations_add(&durations, "tools/call", NULL, false, 7);
    const mcp__duration *first = durations.first;
    assert_string_equal(first->method, "tools/call");
    assert_string_equal(first->name, "a");
    assert_int_equal(first->counts[0], 2);
    assert_int_equal(first->counts[1], 1);
    assert_int_equal(first->counts[MCP__DURATION_BOUNDS], 1);
    assert_int_equal(first->sum_ns, 60000100002);
    assert_string_equal(first->next->name, "");
    assert_null(first->next->next);
    mcp__durations_clear(&durations);
}

static void bounds_rise_and_are_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < MCP__DURATION_BOUNDS; i++) {
        double seconds = (double)mcp__duration_bounds[i].ns / 1e9, named = 0;
        assert_true(i == 0 || mcp__duration_bounds[i].ns > mcp__duration_bounds[i - 1].ns);
        assert_int_equal(sscanf(mcp__duration_bounds[i].seconds, "%lf", &named), 1);
        assert_true(named > seconds * 0.999999 && named < seconds * 1.000001);
    }
}

/* Features that come and go may have ever other names. */
static void series_have_a_bound(void **state)
{
    mcp__durations durations;
    static char name[600];
    size_t count = 0;

    (void)state;
    mcp__durations_init(&durations);
    for (int i = 0; i < 600; i++) {
        (void)snprintf(name, sizeof name, "tool-%d", i);
        mcp__durations_add(&durations, "tools/call", name, false, 1);
    }
    memset(name, 'x', sizeof name - 1);
    mcp__durations_add(&durations, "tools/call", name, false, 1);
    for (const mcp__duration *at = durations.first; at; at = at->next)
        count++;
    assert_int_equal(count, 512);
    mcp__durations_clear(&durations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_counted_in_its_bucket),
        cmocka_unit_test(bounds_rise_and_are_named),
        cmocka_unit_test(series_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
