/*
 * test_clock.c - the time of a database whose clock is set: never less, at once when it is more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "db/time/clock.h"
#include "mcp/clock.h"

enum { SHOWN_MS = 1000000000, DAY_MS = 86400000, MINUTE_MS = 60000 };

/* A process that has not read the clock for so long, as one that was frozen. */
static void sleep_for(struct db_clock *clock, int64_t ms)
{
    clock->read_ms -= ms;
    clock->sent_ms -= ms;
    clock->ahead_since -= ms;
    clock->forth_since -= ms;
}

static int begin(void **state)
{
    static struct db_clock clock;

    db_clock_init(&clock);
    clock.is_steady = true;
    assert_int_equal(db_clock_time(&clock, SHOWN_MS, mcp_clock_mono_ms()), SHOWN_MS);
    *state = &clock;
    return 0;
}

static int end(void **state)
{
    db_clock_clear(*state);
    return 0;
}

static void what_passes_is_no_step(void **state)
{
    struct db_clock *clock = *state;

    sleep_for(clock, DAY_MS);
    assert_int_equal(db_clock_time(clock, SHOWN_MS + DAY_MS, mcp_clock_mono_ms()),
                     SHOWN_MS + DAY_MS);
    assert_int_equal(clock->step_count, 0);
}

/* Others went on while this process was frozen, which it hears before it reads the clock. */
static void a_frozen_process_sees_no_step(void **state)
{
    struct db_clock *clock = *state;

    sleep_for(clock, MINUTE_MS);
    db_clock_reach(clock, SHOWN_MS + MINUTE_MS);
    assert_int_equal(db_clock_time(clock, SHOWN_MS + MINUTE_MS, mcp_clock_mono_ms()),
                     SHOWN_MS + MINUTE_MS);
    assert_int_equal(clock->step_count, 0);
}

static void forth_is_followed_at_once(void **state)
{
    struct db_clock *clock = *state;
    int64_t time_ms = db_clock_time(clock, SHOWN_MS + DAY_MS, mcp_clock_mono_ms());

    assert_int_equal(time_ms, SHOWN_MS + DAY_MS);
    assert_int_equal(clock->step_count, 1);
    assert_in_range(db_clock_next_step(clock, 0).by_ms, DAY_MS - MINUTE_MS, DAY_MS);
    assert_in_range(db_clock_lapsed(clock, time_ms), SHOWN_MS, SHOWN_MS + MINUTE_MS);
    sleep_for(clock, 2 * MINUTE_MS);
    assert_int_equal(db_clock_lapsed(clock, time_ms), time_ms);
}

static void back_is_half_as_fast(void **state)
{
    struct db_clock *clock = *state;
    int64_t time_ms = db_clock_time(clock, SHOWN_MS - DAY_MS, mcp_clock_mono_ms());

    assert_in_range(time_ms, SHOWN_MS, SHOWN_MS + MINUTE_MS);
    assert_int_equal(clock->step_count, 1);
    assert_in_range(db_clock_next_step(clock, 0).by_ms, (uintmax_t)-DAY_MS - MINUTE_MS,
                    (uintmax_t)-DAY_MS);
    sleep_for(clock, 10 * MINUTE_MS);
    time_ms = db_clock_time(clock, SHOWN_MS - DAY_MS + 10 * MINUTE_MS, mcp_clock_mono_ms());
    assert_in_range(time_ms, SHOWN_MS + 5 * MINUTE_MS, SHOWN_MS + 6 * MINUTE_MS);
    sleep_for(clock, 2 * (int64_t)DAY_MS);
    assert_int_equal(db_clock_time(clock, SHOWN_MS + DAY_MS, mcp_clock_mono_ms()),
                     SHOWN_MS + DAY_MS);
}

static void another_process_is_ahead(void **state)
{
    struct db_clock *clock = *state;

    db_clock_reach(clock, SHOWN_MS + DAY_MS);
    assert_in_range(db_clock_time(clock, SHOWN_MS, mcp_clock_mono_ms()), SHOWN_MS + DAY_MS,
                    SHOWN_MS + DAY_MS + MINUTE_MS);
    assert_int_equal(clock->step_count, 1);
}

static void the_last_steps_are_kept(void **state)
{
    struct db_clock *clock = *state;
    int64_t shown_ms = SHOWN_MS;

    assert_int_equal(db_clock_next_step(clock, 0).number, 0);
    db_clock_time(clock, shown_ms + DAY_MS, mcp_clock_mono_ms());
    db_clock_time(clock, shown_ms, mcp_clock_mono_ms());
    assert_true(db_clock_next_step(clock, 0).by_ms > 0);
    assert_true(db_clock_next_step(clock, 1).by_ms < 0);
    assert_int_equal(db_clock_next_step(clock, 2).number, 0);
    for (int i = 2; i < 20; i++)
        db_clock_time(clock, shown_ms += DAY_MS, mcp_clock_mono_ms());
    assert_int_equal(db_clock_next_step(clock, 0).number, 5);
    assert_int_equal(db_clock_next_step(clock, 19).number, 20);
    assert_int_equal(db_clock_next_step(clock, 20).number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_passes_is_no_step, begin, end),
        cmocka_unit_test_setup_teardown(a_frozen_process_sees_no_step, begin, end),
        cmocka_unit_test_setup_teardown(forth_is_followed_at_once, begin, end),
        cmocka_unit_test_setup_teardown(back_is_half_as_fast, begin, end),
        cmocka_unit_test_setup_teardown(another_process_is_ahead, begin, end),
        cmocka_unit_test_setup_teardown(the_last_steps_are_kept, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
