/*
 * test_sobol.c - unscrambled coordinates against points worked out from the published direction
 * numbers, equal distribution in all dimensions, and the scramble.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stochastic/points/sobol.h"

/*
 * In quarters of 2^32 / 8, points 0 to 7 of dimensions 0 to 2. Dimension 0 mirrors the bits.
 * Dimension 1 has m = 1, 3, 5 (s = 1, a = 0, m_1 = 1: v_k = v_(k-1) xor v_(k-1) >> 1): directions 4
 * 6 5. Dimension 2 has m = 1, 3 (s = 2, a = 1): v_3 = v_2 xor v_1 xor v_1 >> 2: 6 ^ 4 ^ 1 = 3, so
 * directions 4 6 3.
 */
static void first_points_are_the_published_ones(void **state)
{
    static const uint32_t eighths[3][8] = {
        { 0, 4, 2, 6, 1, 5, 3, 7 },
        { 0, 4, 6, 2, 5, 1, 3, 7 },
        { 0, 4, 6, 2, 3, 7, 5, 1 },
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        for (uint32_t n = 0; n < 8; n++)
            assert_int_equal(sobol_coordinate(i, n), eighths[i][n] << 29);
    }
}

/* Rows of the published file: dimension 8 has m = 1 1 5 5 17, the last (1000) m_13 = 6649. Point
 * 2^(k-1) is direction k: m_k * 2^(32 - k). */
static void the_table_is_whole(void **state)
{
    static const uint32_t eighth[] = { 1, 1, 5, 5, 17 };

    (void)state;
    assert_int_equal(sobol_dimensions(), 1000);
    for (uint32_t k = 0; k < 5; k++)
        assert_int_equal(sobol_coordinate(7, 1u << k), eighth[k] << (31 - k));
    assert_int_equal(sobol_coordinate(999, 1u << 12), 6649u << (32 - 13));
    assert_int_equal(sobol_coordinate(998, 1u << 12), 4173u << (32 - 13));
}

/* The first 2^k points of a dimension hit each of 2^k strata once: the matrix of its direction
 * numbers is triangular. */
static void every_dimension_is_equally_spread(void **state)
{
    (void)state;
    for (size_t i = 0; i < sobol_dimensions(); i += i < 40 ? 1 : 53) {
        bool seen[64] = { false };
        for (uint32_t n = 0; n < 64; n++) {
            uint32_t stratum = sobol_coordinate(i, n) >> 26;
            assert_false(seen[stratum]);
            seen[stratum] = true;
        }
    }
}

/* The first 64 points are the multiples of 2^26. An odd factor permutes these and a shift moves
 * them alike: each of 64 strata still holds one. */
static void scrambled_points_stay_spread(void **state)
{
    static double values[64 * 5];
    static double other[64 * 5];

    (void)state;
    sobol_fill(values, 64, 5, 77);
    for (size_t i = 0; i < 5; i++) {
        bool seen[64] = { false };
        for (size_t n = 0; n < 64; n++) {
            size_t stratum = (size_t)(32.0 * erfc(-values[n * 5 + i] / sqrt(2.0)));
            assert_true(stratum < 64 && !seen[stratum]);
            seen[stratum] = true;
        }
    }
    sobol_fill(other, 64, 5, 78);
    assert_true(memcmp(values, other, sizeof values) != 0);
}

/* The points of the tree in Gray-code order are those of plain order, index n ^ n >> 1. */
static void orders_hold_the_same_points(void **state)
{
    static double values[32 * 6];
    double one[6];

    (void)state;
    sobol_fill(values, 32, 6, 5);
    for (uint32_t n = 0; n < 32; n++) {
        sobol_point(one, 0, 6, n ^ n >> 1, 5);
        assert_memory_equal(one, values + n * 6, sizeof one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_points_are_the_published_ones),
        cmocka_unit_test(the_table_is_whole),
        cmocka_unit_test(every_dimension_is_equally_spread),
        cmocka_unit_test(scrambled_points_stay_spread),
        cmocka_unit_test(orders_hold_the_same_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
