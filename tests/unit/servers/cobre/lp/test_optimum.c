/*
 * test_optimum.c - a claimed optimum holds, and each way in which it can be wrong is seen. The
 * program is the textbook one of Wyndor Glass (Hillier and Lieberman): minimise -3x - 5y with
 * x <= 4, 2y <= 12, 3x + 2y <= 18; the optimum is (2, 6) with duals 0, -3/2, -1.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lp/lp.h"
#include "lp/optimum.h"

static const int start[] = { 0, 2 }, length[] = { 2, 2 }, rows[] = { 0, 2, 1, 2 };
static const double value[] = { 1, 3, 2, 2 }, lower[] = { 0, 0 }, cost[] = { -3, -5 };
static const double upper[] = { LP_INFINITY, LP_INFINITY };
static const double row_lower[] = { -LP_INFINITY, -LP_INFINITY, -LP_INFINITY };
static const double row_upper[] = { 4, 12, 18 };

static bool holds(double x, double y, double first, double second, double third)
{
    double activity[3], size[3];
    const double primal[] = { x, y }, dual[] = { first, second, third };
    const lp_claim claim = { .columns = 2,
                             .rows = 3,
                             .start = start,
                             .length = length,
                             .row = rows,
                             .value = value,
                             .lower = lower,
                             .upper = upper,
                             .cost = cost,
                             .row_lower = row_lower,
                             .row_upper = row_upper,
                             .primal = primal,
                             .dual = dual,
                             .activity = activity,
                             .size = size };

    return lp_claim_holds(&claim);
}

static void an_optimum_holds(void **state)
{
    (void)state;
    assert_true(holds(2, 6, 0, -1.5, -1));
    assert_true(holds(2 + 1e-10, 6 - 1e-10, 1e-10, -1.5, -1 + 1e-10));
}

static void what_is_wrong_is_seen(void **state)
{
    (void)state;
    assert_false(holds(2, 6.001, 0, -1.5, -1));  /* a row is violated */
    assert_false(holds(-0.001, 6, 0, -1.5, -1)); /* a bound is */
    assert_false(holds(2, 5.9, 0, -1.5, -1));    /* a slack row has a dual */
    assert_false(holds(2, 6, 0, -1.5, -0.9));    /* x would gain by moving up */
    assert_false(holds(2, 6, 0, -1.5, -1.1));    /* or down */
    assert_false(holds(2, 6, 0.1, -1.5, -1));    /* the dual of a row at no side */
    assert_false(holds(NAN, 6, 0, -1.5, -1));
    assert_false(holds(2, 6, 0, NAN, -1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_optimum_holds),
        cmocka_unit_test(what_is_wrong_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
