/*
 * test_risk.c - risk weights against the method page's example and against the definition of CVaR.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sddp/risk.h"

static cobre_stage cvar(double alpha, double lambda)
{
    return (cobre_stage){ .is_cvar = true, .cvar_alpha = alpha, .cvar_lambda = lambda };
}

static void check(const cobre_stage *stage, bool greedy, const double *outcomes, size_t n,
                  const double *expected)
{
    double weights[8];
    uint32_t order[8];

    risk_weights(weights, stage, greedy, outcomes, n, order);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(weights[i] - expected[i]) < 1e-15);
}

static void expectation_weighs_all_alike(void **state)
{
    const cobre_stage plain = { .is_cvar = false };

    (void)state;
    check(&plain, false, (double[]){ 3.0, 1.0, 2.0, 9.0 }, 4, (double[]){ 0.25, 0.25, 0.25, 0.25 });
}

/* Method page, 7: n = 4, alpha = lambda = 1/2, values descending. */
static void half_and_half(void **state)
{
    const cobre_stage stage = cvar(0.5, 0.5);
    const double falling[] = { 4.0, 3.0, 2.0, 1.0 };

    (void)state;
    check(&stage, false, falling, 4, (double[]){ .375, .375, .125, .125 });
    check(&stage, true, falling, 4, (double[]){ .375, .375, .25, 0.0 });
}

static void worst_outcomes_wherever_they_are(void **state)
{
    const cobre_stage stage = cvar(0.5, 1.0);

    (void)state;
    check(&stage, false, (double[]){ 1.0, 8.0, 2.0, 9.0 }, 4, (double[]){ 0.0, 0.5, 0.0, 0.5 });
}

/* alpha below 1/n: all on the worst; alpha = 1: the expectation; between: a part of the last
 * one. */
static void tails_of_any_size(void **state)
{
    const cobre_stage tiny = cvar(0.1, 1.0), whole = cvar(1.0, 1.0), some = cvar(0.375, 1.0);
    const double values[] = { 1.0, 2.0, 3.0, 4.0 };

    (void)state;
    check(&tiny, false, values, 4, (double[]){ 0.0, 0.0, 0.0, 1.0 });
    check(&whole, false, values, 4, (double[]){ .25, .25, .25, .25 });
    check(&some, false, values, 4, (double[]){ 0.0, 0.0, 1.0 / 3.0, 2.0 / 3.0 });
}

static void equal_outcomes_keep_their_order(void **state)
{
    const cobre_stage stage = cvar(0.25, 1.0);

    (void)state;
    check(&stage, false, (double[]){ 5.0, 5.0, 5.0, 5.0 }, 4, (double[]){ 1.0, 0.0, 0.0, 0.0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expectation_weighs_all_alike),     cmocka_unit_test(half_and_half),
        cmocka_unit_test(worst_outcomes_wherever_they_are), cmocka_unit_test(tails_of_any_size),
        cmocka_unit_test(equal_outcomes_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
