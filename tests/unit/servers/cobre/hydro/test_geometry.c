/*
 * test_geometry.c - heights and areas between, at and outside the rows of a table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "near.h"

#include "hydro/geometry.h"

static const cobre_geometry rows[] = { { 10, 100, 1 }, { 20, 110, 3 }, { 60, 120, 4 } };

static void values_are_linear_between_rows(void **state)
{
    (void)state;
    assert_near(geometry_height(rows, 3, 15), 105, 0);
    assert_near(geometry_height(rows, 3, 40), 115, 0);
    assert_near(geometry_area(rows, 3, 15), 2, 0);
    assert_near(geometry_area(rows, 3, 40), 3.5, 0);
}

static void values_are_constant_outside_the_table(void **state)
{
    (void)state;
    assert_near(geometry_height(rows, 3, 0), 100, 0);
    assert_near(geometry_height(rows, 3, 99), 120, 0);
    assert_near(geometry_area(rows, 3, 0), 1, 0);
    assert_near(geometry_area(rows, 3, 99), 4, 0);
    assert_near(geometry_height(rows, 1, 99), 100, 0);
    assert_near(geometry_area(rows, 1, 5), 1, 0);
}

static void slopes_are_those_of_the_segment(void **state)
{
    (void)state;
    assert_near(geometry_height_slope(rows, 3, 15), 1, 0);
    assert_near(geometry_height_slope(rows, 3, 20), 0.25, 0); /* the one to the right */
    assert_near(geometry_height_slope(rows, 3, 60), 0.25, 0); /* the last one */
    assert_near(geometry_area_slope(rows, 3, 5), 0.2, 1e-15); /* the first one */
    assert_near(geometry_area_slope(rows, 3, 99), 0.025, 1e-15);
    assert_near(geometry_area_slope(rows, 1, 10), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_linear_between_rows),
        cmocka_unit_test(values_are_constant_outside_the_table),
        cmocka_unit_test(slopes_are_those_of_the_segment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
