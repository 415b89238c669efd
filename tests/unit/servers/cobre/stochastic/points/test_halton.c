/*
 * test_halton.c - with p^k points each of p^k strata of the dimension of base p holds one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stochastic/points/halton.h"

#define DIMENSION 5

static double share(double deviate)
{
    return 0.5 * erfc(-deviate / sqrt(2.0));
}

/* Permuted digits give multiples of 1 / points: half a stratum keeps rounding away from edges. */
static void assert_strata(const double *values, size_t stride, uint32_t points, uint32_t looked_at)
{
    static bool seen[8000];

    memset(seen, 0, sizeof seen);
    for (uint32_t k = 0; k < looked_at; k++) {
        size_t stratum = (size_t)(share(values[k * stride]) * points + 0.5);
        assert_true(stratum < points && !seen[stratum]);
        seen[stratum] = true;
    }
}

static void powers_of_a_base_fill_its_strata(void **state)
{
    static double values[625 * DIMENSION];
    static const uint32_t points[DIMENSION] = { 256, 243, 625, 343, 121 };

    (void)state;
    for (size_t i = 0; i < DIMENSION; i++) {
        halton_fill(values, points[i], DIMENSION, 31 + i);
        assert_strata(values + i, DIMENSION, points[i], points[i]);
    }
}

/* The thousandth prime is 7919. Of 7919 points each has a stratum of its own; 400 are tried. */
static void the_last_dimension_has_the_thousandth_prime(void **state)
{
    static double values[400];

    (void)state;
    for (uint32_t k = 0; k < 400; k++)
        halton_point(&values[k], HALTON_DIMENSIONS - 1, 1, k, 7919, 8);
    assert_strata(values, 1, 7919, 400);
}

static void one_point_is_that_of_all(void **state)
{
    static double values[100 * DIMENSION];
    double one[DIMENSION];

    (void)state;
    halton_fill(values, 100, DIMENSION, 6);
    for (uint32_t k = 0; k < 100; k++) {
        halton_point(one, 0, DIMENSION, k, 100, 6);
        assert_memory_equal(one, values + k * DIMENSION, sizeof one);
    }
    halton_point(one, 0, DIMENSION, 0, 1, 6);
    for (size_t i = 0; i < DIMENSION; i++)
        assert_true(isfinite(one[i]));
}

static void digits_are_permuted_by_the_seed(void **state)
{
    double a[16 * 2], b[16 * 2];

    (void)state;
    halton_fill(a, 16, 2, 1);
    halton_fill(b, 16, 2, 2);
    assert_true(memcmp(a, b, sizeof a) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_a_base_fill_its_strata),
        cmocka_unit_test(the_last_dimension_has_the_thousandth_prime),
        cmocka_unit_test(one_point_is_that_of_all),
        cmocka_unit_test(digits_are_permuted_by_the_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
