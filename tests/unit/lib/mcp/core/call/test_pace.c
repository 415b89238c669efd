/*
 * test_pace.c - a feature declared quick: how long an overrun keeps it off the loop.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "mcp/core/call/pace.h"

#define S INT64_C(1000000000)
#define BEGAN (100 * S)
#define ENDED (BEGAN + MCP__PACE_MAX_NS + 1) /* just too late */

static void one_that_keeps_its_word_stays(void **state)
{
    mcp__pace pace = { 0 };

    (void)state;
    assert_true(mcp__pace_allows(&pace, 0));
    assert_false(mcp__pace_note(&pace, BEGAN, BEGAN));
    assert_false(mcp__pace_note(&pace, BEGAN, BEGAN + MCP__PACE_MAX_NS));
    assert_true(mcp__pace_allows(&pace, BEGAN + MCP__PACE_MAX_NS));
}

static void an_overrun_is_told_once_and_keeps_it_away_for_a_second(void **state)
{
    mcp__pace pace = { 0 };

    (void)state;
    assert_true(mcp__pace_note(&pace, BEGAN, ENDED));
    assert_false(mcp__pace_allows(&pace, ENDED));
    assert_false(mcp__pace_allows(&pace, ENDED + S - 1));
    assert_true(mcp__pace_allows(&pace, ENDED + S));
    assert_false(mcp__pace_note(&pace, ENDED + S, ENDED + 2 * S));
}

/* One that blocks for good reason or bad costs the loop ever less. */
static void each_further_overrun_doubles_the_time_up_to_an_hour(void **state)
{
    mcp__pace pace = { 0 };
    int64_t now = BEGAN;
    int64_t rest = S;

    (void)state;
    for (int i = 0; i < 12; i++, rest *= 2) { /* 1 s to 2048 s */
        assert_true(mcp__pace_allows(&pace, now));
        now += S / 10;
        (void)mcp__pace_note(&pace, now - S / 10, now);
        assert_false(mcp__pace_allows(&pace, now + rest - 1));
        now += rest;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(mcp__pace_allows(&pace, now));
        now += S / 10;
        (void)mcp__pace_note(&pace, now - S / 10, now);
        assert_false(mcp__pace_allows(&pace, now + 3600 * S - 1));
        now += 3600 * S;
    }
}

static void good_conduct_is_rewarded(void **state)
{
    mcp__pace pace = { 0 };

    (void)state;
    (void)mcp__pace_note(&pace, BEGAN, ENDED);
    (void)mcp__pace_note(&pace, ENDED + S, ENDED + 2 * S); /* two seconds, from here */
    assert_false(mcp__pace_allows(&pace, ENDED + 4 * S - 1));
    int64_t later = ENDED + 4 * S + 20 * S;
    (void)mcp__pace_note(&pace, later - S, later); /* as if it were the first */
    assert_false(mcp__pace_allows(&pace, later + S - 1));
    assert_true(mcp__pace_allows(&pace, later + S));
}

/* Another thread wants the same processor until this one has had to wait for it. */
static atomic_bool is_over;

static void *compete(void *data)
{
    (void)data;
    while (!is_over)
        ;
    return NULL;
}

static void work_until(int64_t until_ns)
{
    while (mcp_clock_mono_ns() < until_ns)
        ;
}

static void waiting_for_a_processor_is_no_overrun(void **state)
{
    pthread_t other;
    cpu_set_t before, one;
    mcp__pace_use use;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    assert_int_equal(pthread_create(&other, NULL, compete, NULL), 0);
    do {
        use = mcp__pace_look();
        work_until(mcp_clock_mono_ns() + MCP__PACE_MAX_NS + 1);
    } while (!mcp__pace_was_starved(&use)); /* of two that want it, one has half */
    is_over = true;
    pthread_join(other, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static void working_and_waiting_for_long_are(void **state)
{
    mcp__pace_use use = mcp__pace_look();

    (void)state;
    while (mcp__pace_look().processor_ns - use.processor_ns <= MCP__PACE_MAX_NS)
        ;
    assert_false(mcp__pace_was_starved(&use));
    use = mcp__pace_look();
    (void)usleep(1000);
    assert_false(mcp__pace_was_starved(&use));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_keeps_its_word_stays),
        cmocka_unit_test(an_overrun_is_told_once_and_keeps_it_away_for_a_second),
        cmocka_unit_test(each_further_overrun_doubles_the_time_up_to_an_hour),
        cmocka_unit_test(good_conduct_is_rewarded),
        cmocka_unit_test(waiting_for_a_processor_is_no_overrun),
        cmocka_unit_test(working_and_waiting_for_long_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
