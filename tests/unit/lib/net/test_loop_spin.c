/*
 * test_loop_spin.c - the wager on events that come fast: what begins it, what ends it, what a loss
 * costs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <sched.h>

#include "net/loop_int.h"

#define MOST INT64_C(100000)

/* As on a machine with several processors. */
static mcp__spin fresh(void)
{
    mcp__spin spin;

    mcp__spin_init(&spin, 0);
    spin.most_ns = MOST;
    return spin;
}

/* How many short waits turn it on; 0: more than `limit`. */
static int waits_until_on(mcp__spin *spin, int limit)
{
    for (int i = 1; i <= limit; i++) {
        mcp__spin_slept(spin, MOST / 2);
        if (spin->is_on)
            return i;
    }
    return 0;
}

static void short_waits_in_a_row_begin_it(void **state)
{
    mcp__spin spin = fresh();

    (void)state;
    assert_false(spin.is_on);
    for (int i = 0; i < 50; i++) { /* never four in a row */
        mcp__spin_slept(&spin, i % 4 == 3 ? MOST * 2 : 1);
        assert_false(spin.is_on);
    }
    mcp__spin_slept(&spin, MOST * 2);
    assert_int_equal(waits_until_on(&spin, 10), 4);
}

static void each_loss_ends_it_and_doubles_the_stake(void **state)
{
    mcp__spin spin = fresh();
    int wanted = 4;

    (void)state;
    for (int i = 0; i < 9; i++, wanted *= 2) { /* 4 to 1024 */
        assert_int_equal(waits_until_on(&spin, 10000), wanted);
        mcp__spin_looked(&spin, false);
        assert_false(spin.is_on);
    }
    assert_int_equal(waits_until_on(&spin, 10000), 1024);
}

static void a_run_of_hits_restores_the_credit(void **state)
{
    mcp__spin spin = fresh();

    (void)state;
    assert_int_equal(waits_until_on(&spin, 10), 4);
    mcp__spin_looked(&spin, false);
    mcp__spin_looked(&spin, false);
    assert_int_equal(waits_until_on(&spin, 100), 16);
    for (int i = 0; i < 64; i++) {
        mcp__spin_looked(&spin, true);
        assert_true(spin.is_on);
    }
    mcp__spin_looked(&spin, false);
    assert_int_equal(waits_until_on(&spin, 100), 8);
}

static void without_time_it_never_begins(void **state)
{
    mcp__spin spin;

    (void)state;
    mcp__spin_init(&spin, 0);
    assert_int_equal(waits_until_on(&spin, 5000), 0);
}

static void with_one_processor_it_never_begins(void **state)
{
    cpu_set_t all;
    cpu_set_t one;
    mcp__spin spin;
    int first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    mcp__spin_init(&spin, MOST);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    assert_int_equal(waits_until_on(&spin, 5000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_waits_in_a_row_begin_it),
        cmocka_unit_test(each_loss_ends_it_and_doubles_the_stake),
        cmocka_unit_test(a_run_of_hits_restores_the_credit),
        cmocka_unit_test(without_time_it_never_begins),
        cmocka_unit_test(with_one_processor_it_never_begins),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
