/*
 * test_evaporation.c - the evaporated flow against values derived by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

#include "hydro/evaporation.h"

static const cobre_geometry rows[] = { { 0, 0, 2 }, { 100, 0, 4 }, { 200, 0, 10 } };

static cobre_hydro plant(void)
{
    cobre_hydro hydro = { .id = 3, .geometry = rows, .geometry_count = 3, .evaporates = true };

    hydro.min_storage = 50;
    hydro.max_storage = 150;
    for (int m = 0; m < 12; m++)
        hydro.evaporation_reference[m] = NAN;
    hydro.evaporation_mm[4] = 180;
    return hydro;
}

static const cobre_stage stage = { .id = 7, .has_season = true, .season_id = 4, .hours = 500 };

/* 180 mm on A km2 in 500 h are 0.1 * A m3/s. The middle of the bounds is the row of 100 hm3: area
 * 4, and to its right 0.06 km2 more per hm3. */
static void the_line_touches_at_the_middle_of_the_bounds(void **state)
{
    cobre_hydro hydro = plant();
    double base = 0, slope = 0;

    (void)state;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &stage, NULL), MCP_OK);
    assert_near(slope, 0.1 * 0.06, 1e-15);
    assert_near(base + slope * 100, 0.1 * 4, 1e-14);
}

/* At 75 hm3 the area is 3.5, its slope 0.02. */
static void the_line_touches_at_a_given_volume(void **state)
{
    cobre_hydro hydro = plant();
    double base = 0, slope = 0;

    (void)state;
    hydro.evaporation_reference[4] = 75;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &stage, NULL), MCP_OK);
    assert_near(slope, 0.002, 1e-15);
    assert_near(base, 0.2, 1e-14); /* 0.35 - 75 * 0.002 */
}

/* Net rain fills the reservoir: a negative coefficient gives a negative flow. */
static void rain_is_negative_evaporation(void **state)
{
    cobre_hydro hydro = plant();
    double base = 0, slope = 0;

    (void)state;
    hydro.evaporation_mm[4] = -180;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &stage, NULL), MCP_OK);
    assert_near(base + slope * 100, -0.4, 1e-14);
}

static void what_is_missing_is_named(void **state)
{
    cobre_hydro hydro = plant();
    cobre_stage other = stage;
    double base = 5, slope = 5;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    other.has_season = false;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &other, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 3"));
    assert_non_null(strstr(err.message, "stage 7"));
    other = stage;
    other.season_id = 12;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &other, &err), MCP_E_PARAMS);
    hydro.geometry_count = 0;
    assert_int_equal(evaporation_line(&base, &slope, &hydro, &stage, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro_geometry"));
    assert_near(base, 5, 0);
    assert_near(slope, 5, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_line_touches_at_the_middle_of_the_bounds),
        cmocka_unit_test(the_line_touches_at_a_given_volume),
        cmocka_unit_test(rain_is_negative_evaporation),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
