/*
 * test_result_durations.c - histograms by method, name and kind of error, and their bound.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/call/result.h"

static void add(mcp__durations *durations, const char *method, const char *name,
                const char *error_type, int64_t ns)
{
    const mcp_ended ended = {
        .method = method, .name = name, .error_type = error_type, .duration_ns = ns
    };

    mcp__durations_add(durations, &ended);
}

static void a_time_is_counted_in_its_bucket(void **state)
{
    mcp__durations durations;

    (void)state;
    mcp__durations_init(&durations);
    add(&durations, "tools/call", "a", NULL, 0);
    add(&durations, "tools/call", "a", NULL, 100000);
    add(&durations, "tools/call", "a", NULL, 100001);
    add(&durations, "tools/call", "a", NULL, 300000000001);
    add(&durations, "tools/call", "a", "tool_error", 7);
    add(&durations, "tools/call", NULL, "tool_error", 7);
    const mcp__duration *first = durations.first;
    assert_string_equal(first->method, "tools/call");
    assert_string_equal(first->name, "a");
    assert_string_equal(first->error_type, "");
    assert_int_equal(first->times.counts[0], 2);
    assert_int_equal(first->times.counts[1], 1);
    assert_int_equal(first->times.counts[MCP__DURATION_BOUNDS], 1);
    assert_int_equal(first->times.sum_ns, 300000200002);
    const mcp__duration *second = first->next;
    assert_string_equal(second->name, "a");
    assert_string_equal(second->error_type, "tool_error");
    assert_int_equal(second->times.counts[0], 1);
    assert_string_equal(second->next->name, "");
    assert_null(second->next->next);
    mcp__durations_clear(&durations);
}

/* The page of the metrics names them: OpenTelemetry's, and finer ones below. */
static void bounds_are_those_of_the_page(void **state)
{
    static const char *const page[] = { "0.0001", "0.0005", "0.001", "0.005", "0.01",  "0.02",
                                        "0.05",   "0.1",    "0.2",   "0.5",   "1.0",   "2.0",
                                        "5.0",    "10.0",   "30.0",  "60.0",  "120.0", "300.0" };

    (void)state;
    assert_int_equal(sizeof page / sizeof page[0], MCP__DURATION_BOUNDS);
    for (size_t i = 0; i < MCP__DURATION_BOUNDS; i++)
        assert_string_equal(mcp__duration_bounds[i].seconds, page[i]);
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

/* Features that come and go may have ever other names; none of their calls is lost. */
static void series_have_a_bound(void **state)
{
    mcp__durations durations;
    static char name[600];
    size_t count = 0;
    uint64_t calls = 0, others = 0;

    (void)state;
    mcp__durations_init(&durations);
    for (int i = 0; i < 1100; i++) {
        (void)snprintf(name, sizeof name, "tool-%d", i);
        add(&durations, "tools/call", name, NULL, 1);
    }
    memset(name, 'x', sizeof name - 1);
    add(&durations, "tools/call", name, NULL, 1);
    for (const mcp__duration *at = durations.first; at; at = at->next) {
        count++;
        calls += at->times.counts[0];
        if (strcmp(at->method, "other") == 0)
            others += at->times.counts[0];
    }
    assert_int_equal(count, MCP__DURATIONS_MAX);
    assert_int_equal(calls, 1101);
    assert_int_equal(others, 1101 - (MCP__DURATIONS_MAX - 1));
    mcp__durations_clear(&durations);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_is_counted_in_its_bucket),
        cmocka_unit_test(bounds_are_those_of_the_page),
        cmocka_unit_test(bounds_rise_and_are_named),
        cmocka_unit_test(series_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
