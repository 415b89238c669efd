/*
 * test_scaling.c - the numbers of a program before and after scaling.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sddp/program/scaling.h"

/* Three columns, two rows: [ 1000 . -2 ; . 0.5 4 ]; costs 10, 0, -3. */
static const int start[] = { 0, 1, 2, 4 }, row[] = { 0, 1, 0, 1 };
static const double value[] = { 1000, 0.5, -2, 4 };
static const double lower[3], upper[] = { 1, 1, 1 }, cost[] = { 10, 0, -3 };
static const double row_lower[2], row_upper[] = { 1, 1 };
static const lp_program program = { 3,     2,     start, row,       value,
                                    lower, upper, cost,  row_lower, row_upper };

static void ranges_are_of_magnitudes(void **state)
{
    program_scaling scaling;

    (void)state;
    assert_int_equal(program_scaling_of(&scaling, &program, NULL), MCP_OK);
    assert_int_equal(scaling.columns, 3);
    assert_int_equal(scaling.rows, 2);
    assert_int_equal(scaling.elements, 4);
    assert_true(scaling.matrix_before.least == 0.5 && scaling.matrix_before.most == 1000);
    assert_true(scaling.costs_before.least == 3 && scaling.costs_before.most == 10);
}

/* Scales are powers of two, and narrow the range of the matrix. */
static void scaling_narrows_the_matrix(void **state)
{
    program_scaling scaling;
    int exponent = 0;

    (void)state;
    assert_int_equal(program_scaling_of(&scaling, &program, NULL), MCP_OK);
    assert_true(scaling.matrix_after.most / scaling.matrix_after.least < 2000);
    assert_int_equal(scaling.column.count, 3);
    assert_int_equal(scaling.row.count, 2);
    assert_true(scaling.column.least <= scaling.column.median);
    assert_true(scaling.column.median <= scaling.column.most);
    assert_true(frexp(scaling.column.least, &exponent) == 0.5);
    assert_true(frexp(scaling.row.most, &exponent) == 0.5);
    assert_true(scaling.row.median == (scaling.row.least + scaling.row.most) / 2);
    assert_true(scaling.column.least < scaling.column.most);
}

static void an_empty_program_has_no_ranges(void **state)
{
    static const int nothing[] = { 0 };
    static const lp_program empty = { .start = nothing };
    program_scaling scaling;

    (void)state;
    assert_int_equal(program_scaling_of(&scaling, &empty, NULL), MCP_OK);
    assert_true(scaling.matrix_before.least == 0 && scaling.matrix_before.most == 0);
    assert_int_equal(scaling.column.count, 0);
    assert_true(scaling.column.median == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_of_magnitudes),
        cmocka_unit_test(scaling_narrows_the_matrix),
        cmocka_unit_test(an_empty_program_has_no_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
