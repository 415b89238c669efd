/*
 * test_scale.c - scales are powers of two, and bring numbers of any unit near one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lp/scale.h"

#define COLUMNS 4
#define ROWS 2

static const int start[] = { 0, 2, 4, 5, 5 };
static const int rows[] = { 0, 1, 0, 1, 1 };

typedef struct numbers {
    double value[5], lower[COLUMNS], upper[COLUMNS], cost[COLUMNS], right[ROWS];
} numbers;

typedef struct scales {
    double column[COLUMNS], row[ROWS], objective;
} scales;

static scales scales_of(const numbers *n)
{
    const lp_program program = { COLUMNS,  ROWS,     start,   rows,     n->value,
                                 n->lower, n->upper, n->cost, n->right, n->right };
    scales out;

    lp_scale_program(&program, out.column, out.row, &out.objective);
    return out;
}

static void assert_power_of_two(double value)
{
    int exponent;

    assert_true(frexp(value, &exponent) == 0.5);
}

static const numbers usual = {
    .value = { 2.6, 1.0, -2.6, 0.9, 1.0 },
    .upper = { 50.0, 1000.0, LP_INFINITY, LP_INFINITY },
    .cost = { 1.0, 20.0, 500.0, 1000.0 },
    .right = { 40.0, 70.0 },
};

static void powers_of_two(void **state)
{
    scales s = scales_of(&usual);

    (void)state;
    for (int j = 0; j < COLUMNS; j++)
        assert_power_of_two(s.column[j]);
    for (int i = 0; i < ROWS; i++)
        assert_power_of_two(s.row[i]);
    assert_power_of_two(s.objective);
}

/* The same program with its columns, rows and costs in other units. */
static numbers in_units(const double *column, const double *row, double money)
{
    numbers n = usual;

    for (int j = 0; j < COLUMNS; j++) {
        n.upper[j] = n.upper[j] < LP_INFINITY ? n.upper[j] / column[j] : LP_INFINITY;
        n.cost[j] *= column[j] * money;
        for (int e = start[j]; e < start[j + 1]; e++)
            n.value[e] *= column[j] * row[rows[e]];
    }
    for (int i = 0; i < ROWS; i++)
        n.right[i] *= row[i];
    return n;
}

/* The largest and smallest scaled element and finite number: within a factor of a thousand of one,
 * because those of the usual program differ by as much. */
static void assert_near_one(double value)
{
    if (value != 0.0 && !(fabs(value) > 1e-3 && fabs(value) < 1e3))
        fail_msg("%g is far from one", value);
}

static void near_one_in_any_unit(void **state)
{
    static const double columns[][COLUMNS] = { { 1, 1, 1, 1 },
                                               { 1e6, 1e-6, 1e3, 1e9 },
                                               { 1e-7, 1e-7, 1e-7, 1e-7 } };
    static const double row_units[][ROWS] = { { 1, 1 }, { 1e5, 1e-5 }, { 1e-9, 1e-9 } };
    static const double money[] = { 1, 1e-9, 1e12 };

    (void)state;
    for (size_t c = 0; c < 27; c++) {
        numbers n = in_units(columns[c % 3], row_units[c / 3 % 3], money[c / 9]);
        scales s = scales_of(&n);
        for (int j = 0; j < COLUMNS; j++) {
            assert_near_one(n.cost[j] * s.column[j] * s.objective);
            if (n.upper[j] < LP_INFINITY)
                assert_near_one(n.upper[j] / s.column[j]);
            for (int e = start[j]; e < start[j + 1]; e++)
                assert_near_one(n.value[e] * s.column[j] * s.row[rows[e]]);
        }
        for (int i = 0; i < ROWS; i++)
            assert_near_one(n.right[i] * s.row[i]);
    }
}

/* One penalty among the costs hardly moves the scale of the others. */
static void one_large_cost(void **state)
{
    numbers n = usual;
    double before = scales_of(&usual).objective;

    (void)state;
    n.cost[2] = 1e10;
    double after = scales_of(&n).objective;
    assert_true(after <= before && after >= before / 1024.0);
}

static void numbers_without_a_scale(void **state)
{
    static const numbers nothing = { .upper = { INFINITY, NAN, LP_INFINITY, 1e308 } };
    scales s = scales_of(&nothing);

    (void)state;
    for (int j = 0; j < COLUMNS; j++)
        assert_power_of_two(s.column[j]);
    assert_power_of_two(s.objective);
}

static void one_more_row(void **state)
{
    static const int columns[] = { 0, 2 };
    static const double values[] = { -3.0, 1e9 }, column[] = { 4.0, 1.0, 0.5 };
    double scale = lp_scale_row(2, columns, values, column);

    (void)state;
    assert_power_of_two(scale);
    assert_true(scale * 0.5e9 >= 0.5 && scale * 0.5e9 <= 2.0);
}

/* Numbers as good as zero change no scale; between far ones the largest stays what solvers take. */
static void numbers_at_the_ends(void **state)
{
    numbers n = usual;
    scales before = scales_of(&n), s;

    (void)state;
    n.lower[0] = n.cost[3] = 5e-324;
    s = scales_of(&n);
    assert_memory_equal(s.column, before.column, sizeof s.column - sizeof s.column[0]);
    assert_true(s.objective == before.objective);
    n = usual;
    n.cost[0] = n.cost[1] = 1e-49;
    n.cost[2] = n.upper[0] = 1e20;
    n.lower[1] = n.upper[1] = n.right[0] = n.right[1] = 1e-49;
    s = scales_of(&n);
    assert_power_of_two(s.objective);
    assert_true(n.cost[2] * s.column[2] * s.objective <= LP_LARGEST);
    assert_true(n.upper[0] / s.column[0] <= LP_LARGEST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_of_two),  cmocka_unit_test(near_one_in_any_unit),
        cmocka_unit_test(one_large_cost), cmocka_unit_test(numbers_without_a_scale),
        cmocka_unit_test(one_more_row),   cmocka_unit_test(numbers_at_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
