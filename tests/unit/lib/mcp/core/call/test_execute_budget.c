/*
 * test_execute_budget.c - a feature declared quick: how long an overrun keeps it off the loop.
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
#include "mcp/core/call/execute.h"

#define S INT64_C(1000000000)
#define BEGAN (100 * S)
#define ENDED (BEGAN + MCP__INLINE_MAX_NS + 1) /* just too late */

static void one_that_keeps_its_word_stays(void **state)
{
    mcp__inline_budget budget = { 0 };

    (void)state;
    assert_true(mcp__inline_budget_allows(&budget, 0));
    assert_false(mcp__inline_budget_note(&budget, BEGAN, BEGAN));
    assert_false(mcp__inline_budget_note(&budget, BEGAN, BEGAN + MCP__INLINE_MAX_NS));
    assert_true(mcp__inline_budget_allows(&budget, BEGAN + MCP__INLINE_MAX_NS));
}

static void an_overrun_is_logged_once_and_keeps_it_away_for_a_second(void **state)
{
    mcp__inline_budget budget = { 0 };

    (void)state;
    assert_true(mcp__inline_budget_note(&budget, BEGAN, ENDED));
    assert_false(mcp__inline_budget_allows(&budget, ENDED));
    assert_false(mcp__inline_budget_allows(&budget, ENDED + S - 1));
    assert_true(mcp__inline_budget_allows(&budget, ENDED + S));
    assert_false(mcp__inline_budget_note(&budget, ENDED + S, ENDED + 2 * S));
}

/* One that blocks for good reason or bad costs the loop ever less. */
static void each_further_overrun_doubles_the_time_up_to_an_hour(void **state)
{
    mcp__inline_budget budget = { 0 };
    int64_t now = BEGAN;
    int64_t rest = S;

    (void)state;
    for (int i = 0; i < 12; i++, rest *= 2) { /* 1 s to 2048 s */
        assert_true(mcp__inline_budget_allows(&budget, now));
        now += S / 10;
        (void)mcp__inline_budget_note(&budget, now - S / 10, now);
        assert_false(mcp__inline_budget_allows(&budget, now + rest - 1));
        now += rest;
    }
    for (int i = 0; i < 3; i++) {
        assert_true(mcp__inline_budget_allows(&budget, now));
        now += S / 10;
        (void)mcp__inline_budget_note(&budget, now - S / 10, now);
        assert_false(mcp__inline_budget_allows(&budget, now + 3600 * S - 1));
        now += 3600 * S;
    }
}

static void good_conduct_is_rewarded(void **state)
{
    mcp__inline_budget budget = { 0 };

    (void)state;
    (void)mcp__inline_budget_note(&budget, BEGAN, ENDED);
    (void)mcp__inline_budget_note(&budget, ENDED + S, ENDED + 2 * S); /* two seconds, from here */
    assert_false(mcp__inline_budget_allows(&budget, ENDED + 4 * S - 1));
    int64_t later = ENDED + 4 * S + 20 * S;
    (void)mcp__inline_budget_note(&budget, later - S, later); /* as if it were the first */
    assert_false(mcp__inline_budget_allows(&budget, later + S - 1));
    assert_true(mcp__inline_budget_allows(&budget, later + S));
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
    mcp__inline_use use;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(pthread_create(&other, NULL, compete, NULL), 0);
    do {
        use = mcp__inline_use_now();
        work_until(mcp_clock_mono_ns() + MCP__INLINE_MAX_NS + 1);
    } while (!mcp__inline_use_was_starved(&use)); /* of two that want it, one has half */
    is_over = true;
    pthread_join(other, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void working_and_waiting_for_long_are(void **state)
{
    mcp__inline_use use = mcp__inline_use_now();

    (void)state;
    while (mcp__inline_use_now().processor_ns - use.processor_ns <= MCP__INLINE_MAX_NS)
        ;
    assert_false(mcp__inline_use_was_starved(&use));
    use = mcp__inline_use_now();
    (void)usleep(1000);
    assert_false(mcp__inline_use_was_starved(&use));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_that_keeps_its_word_stays),
        cmocka_unit_test(an_overrun_is_logged_once_and_keeps_it_away_for_a_second),
        cmocka_unit_test(each_further_overrun_doubles_the_time_up_to_an_hour),
        cmocka_unit_test(good_conduct_is_rewarded),
        cmocka_unit_test(waiting_for_a_processor_is_no_overrun),
        cmocka_unit_test(working_and_waiting_for_long_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
