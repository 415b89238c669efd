/*
 * test_hypercube.c - every stratum holds one point, and places are uniform inside it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stochastic/points/hypercube.h"

#define DIMENSION 3

static double share(double deviate)
{
    return 0.5 * erfc(-deviate / sqrt(2.0));
}

/* Which of `points` strata each point is in; fails when two share one. */
static void assert_strata(const double *values, uint32_t points, size_t i)
{
    bool seen[512] = { false };

    for (uint32_t k = 0; k < points; k++) {
        double at = share(values[k * DIMENSION + i]) * points;
        uint32_t stratum = (uint32_t)at;
        assert_true(at >= 0.0 && stratum < points);
        assert_false(seen[stratum]);
        seen[stratum] = true;
    }
}

static void each_stratum_holds_one_point(void **state)
{
    static double values[512 * DIMENSION];
    uint32_t scratch[512];
    const uint32_t sizes[] = { 1, 2, 7, 50, 512 };

    (void)state;
    for (size_t s = 0; s < 5; s++) {
        hypercube_fill(values, sizes[s], DIMENSION, 4711 + s, scratch);
        for (size_t i = 0; i < DIMENSION; i++)
            assert_strata(values, sizes[s], i);
    }
}

static void paths_of_an_iteration_share_strata(void **state)
{
    static double values[100 * DIMENSION];

    (void)state;
    for (uint32_t k = 0; k < 100; k++)
        hypercube_point(values + k * DIMENSION, DIMENSION, k, 100, 9, 1000 + k);
    for (size_t i = 0; i < DIMENSION; i++)
        assert_strata(values, 100, i);
}

/* 512 points in one dimension: a mean of strata means, so its error is far below 1/sqrt(512). With
 * uniform places the variance of the mean of the shares is 1 / (12 n^3): 5 deviations are 5e-5. */
static void places_inside_strata_are_uniform(void **state)
{
    static double values[512 * DIMENSION];
    uint32_t scratch[512];
    double sum = 0.0;

    (void)state;
    hypercube_fill(values, 512, DIMENSION, 3, scratch);
    for (uint32_t k = 0; k < 512; k++)
        sum += share(values[k * DIMENSION]);
    assert_true(fabs(sum / 512 - 0.5) < 5.0 * sqrt(1.0 / 12 / pow(512, 3)));
}

static void seeds_decide(void **state)
{
    double a[10 * DIMENSION], b[10 * DIMENSION];
    uint32_t scratch[10];

    (void)state;
    hypercube_fill(a, 10, DIMENSION, 1, scratch);
    hypercube_fill(b, 10, DIMENSION, 1, scratch);
    assert_memory_equal(a, b, sizeof a);
    hypercube_fill(b, 10, DIMENSION, 2, scratch);
    assert_true(memcmp(a, b, sizeof a) != 0);
    hypercube_point(a, 1, 3, 10, 1, 5);
    hypercube_point(b, 1, 3, 10, 1, 6);
    assert_true(a[0] != b[0]);
    assert_true((int)(share(a[0]) * 10) == (int)(share(b[0]) * 10));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_stratum_holds_one_point),
        cmocka_unit_test(paths_of_an_iteration_share_strata),
        cmocka_unit_test(places_inside_strata_are_uniform),
        cmocka_unit_test(seeds_decide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
