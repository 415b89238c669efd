/*
 * test_statistics.c - sample statistics against values computed by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sddp/statistics.h"

/* 2, 4, 4, 4, 5, 5, 7, 9: mean 5, squares 32, variance 32/7. */
static void mean_and_deviation(void **state)
{
    const double values[] = { 2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0 };

    (void)state;
    statistics s = statistics_of(values, 8);
    assert_true(fabs(s.mean - 5.0) < 1e-15);
    assert_true(fabs(s.std - sqrt(32.0 / 7.0)) < 1e-15);
    assert_true(fabs(s.half_width - 1.96 * sqrt(32.0 / 7.0) / sqrt(8.0)) < 1e-15);
}

static void one_value_has_no_deviation(void **state)
{
    const double one = 3.5;

    (void)state;
    statistics s = statistics_of(&one, 1);
    assert_true(s.mean == 3.5 && s.std == 0.0 && s.half_width == 0.0);
    s = statistics_of(&one, 0);
    assert_true(s.mean == 0.0 && s.std == 0.0);
}

/* Squares of values around 1e9 would cancel; the deviation of 1e9 + {4, 7, 13, 16} is sqrt(30). */
static void large_values_do_not_cancel(void **state)
{
    const double values[] = { 1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0 };

    (void)state;
    assert_true(fabs(statistics_of(values, 4).std - sqrt(30.0)) < 1e-9);
}

/* 0 .. 99: the worst 100 - 95 = 5 are 95 .. 99. 0 .. 9: 10 - 9 = 1. */
static void tail_mean(void **state)
{
    double values[100], sorted[100];

    (void)state;
    for (int i = 0; i < 100; i++)
        values[i] = (double)((i * 37) % 100);
    assert_true(fabs(statistics_cvar95(values, 100, sorted) - 97.0) < 1e-12);
    for (int i = 0; i < 10; i++)
        values[i] = (double)i;
    assert_true(statistics_cvar95(values, 10, sorted) == 9.0);
    assert_true(statistics_cvar95(values, 0, sorted) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_and_deviation),
        cmocka_unit_test(one_value_has_no_deviation),
        cmocka_unit_test(large_values_do_not_cancel),
        cmocka_unit_test(tail_mean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
