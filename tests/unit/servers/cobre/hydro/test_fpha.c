/*
 * test_fpha.c - fitted planes against planes derived by hand.
 *
 * Where head is volume and nothing else matters, the function is unit * volume * turbined. With
 * EXACT as efficiency the unit is 1/128, so that powers of two keep every value exact, and choices
 * between equal errors are tested too.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "near.h"

#include "hydro/fpha.h"

#define EXACT 0.7963812436289501

static const double level_zero[] = { 0.0 };
static const cobre_geometry head_is_volume[] = { { 0, 0, 1 }, { 256, 256, 1 } };

static cobre_hydro plant;
static cobre_case input;
static cobre_fpha_fit options;
static mcp_arena *arena;
static production_fit fit;
static mcp_error err;

static int begin(void **state)
{
    (void)state;
    plant = (cobre_hydro){
        .id = 5,
        .name = "FALLS",
        .max_turbined = 64,
        .geometry = head_is_volume,
        .geometry_count = 2,
        .tailrace = COBRE_TAILRACE_POLYNOMIAL,
        .tailrace_coefficients = level_zero,
        .tailrace_count = 1,
        .efficiency = EXACT,
    };
    input = (cobre_case){ .hydros = &plant, .hydro_count = 1 };
    options = (cobre_fpha_fit){
        .is_computed = true,
        .volume_points = 2,
        .turbine_points = 2,
        .spillage_points = 2,
        .max_planes = 10,
        .volume_min = 64,
        .volume_max = 128,
        .percentile_min = NAN,
        .percentile_max = NAN,
    };
    arena = mcp_arena_new(0);
    err = (mcp_error)MCP_ERROR_INIT;
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static void assert_fits(void)
{
    if (fpha_fit(&fit, arena, &input, 0, &options, &err) != MCP_OK)
        fail_msg("%s", err.message);
}

/* The tangent of volume * turbined / 128 at (v, q): slopes q and v, value v * q there. */
static void assert_tangent(size_t p, double v, double q)
{
    assert_near(fit.planes[p].gamma_v, q / 128, 0);
    assert_near(fit.planes[p].gamma_q, v / 128, 0);
    assert_near(fit.planes[p].gamma_s, 0, 0);
    assert_near(fit.planes[p].gamma_0, -v * q / 128, 0);
    assert_int_equal(fit.planes[p].plane_id, p);
    assert_true(fit.planes[p].stage == COBRE_NONE);
}

/* 0.00981 * 0.9 * (400 - 350) = 0.44145 MW per m3/s, whatever the volume. */
static void a_constant_head_is_one_plane(void **state)
{
    static const cobre_geometry flat[] = { { 10, 400, 1 }, { 90, 400, 2 } };
    static const double level[] = { 350.0 };

    (void)state;
    plant.geometry = flat;
    plant.tailrace_coefficients = level;
    plant.efficiency = 0.9;
    options.volume_min = options.volume_max = NAN;
    assert_fits();
    assert_int_equal(fit.plane_count, 1);
    assert_near(fit.planes[0].gamma_q, 0.44145, 1e-15);
    assert_near(fit.planes[0].gamma_0, 0, 1e-13);
    assert_near(fit.planes[0].gamma_v, 0, 0);
    assert_near(fit.planes[0].kappa, 1, 1e-12);
    assert_true(fit.planes[0].kappa <= 1);
    assert_near(fit.volume_min, 10, 0);
    assert_near(fit.volume_max, 90, 0);
    assert_near(fit.turbined_max, 64, 0);
}

/*
 * Tangents at volumes 64 and 128 and flows 1 (the least flow) and 64. The error of the tangent of
 * (v0, q0) at (v, q) is -(v - v0) * (q - q0) / 128. Each of the four touches the envelope. At
 * (64, 64) the envelope is that of (128, 1): 4096 + 4032 instead of 4096; at (128, 1) it is that of
 * (64, 64): 128 + 4032 instead of 128. So kappa is 128 / 4160.
 */
static void the_envelope_is_the_largest_tangent(void **state)
{
    (void)state;
    assert_fits();
    assert_int_equal(fit.plane_count, 4);
    assert_tangent(0, 64, 1);
    assert_tangent(1, 64, 64);
    assert_tangent(2, 128, 1);
    assert_tangent(3, 128, 64);
    assert_near(fit.planes[0].kappa, 2.0 / 65.0, 1e-16);
}

/* Each removal leaves the largest error at 4032, so the first is removed and the last takes its
 * place; then again the first. The two that are left make the envelope of all. */
static void planes_are_removed_until_few_are_left(void **state)
{
    (void)state;
    options.max_planes = 3;
    assert_fits();
    assert_int_equal(fit.plane_count, 3);
    assert_tangent(0, 128, 64);
    assert_tangent(1, 64, 64);
    assert_tangent(2, 128, 1);
    options.max_planes = 2;
    assert_fits();
    assert_int_equal(fit.plane_count, 2);
    assert_tangent(0, 128, 1);
    assert_tangent(1, 64, 64);
    assert_near(fit.planes[0].kappa, 2.0 / 65.0, 1e-16);
}

/* A head that rises ever faster, at one flow of 1 and volumes 64, 96 and 128. Those tangents at 96
 * and 128 agree, so one of them may go. Without that of 64 the envelope would be -10 / 128 at 64
 * instead of 10 / 128; without the last, 30 / 128 at 128 instead of 50 / 128. So two remain. */
static void a_removal_below_the_function_is_not_made(void **state)
{
    static const cobre_geometry steeper[] = { { 64, 10, 1 }, { 96, 20, 1 }, { 128, 50, 1 } };

    (void)state;
    plant.geometry = steeper;
    plant.geometry_count = 3;
    plant.max_turbined = 1;
    options.volume_points = 3;
    options.max_planes = 1;
    assert_fits();
    assert_int_equal(fit.plane_count, 2);
    assert_near(fit.planes[0].gamma_v, 10.0 / 32 / 128, 0);
    assert_near(fit.planes[1].gamma_v, 30.0 / 32 / 128, 0);
    assert_near(fit.planes[0].kappa, 1, 0);
}

/* However many are dropped, the envelope stays above the function at each point of the grid. */
static void the_envelope_stays_above_the_function(void **state)
{
    (void)state;
    options.volume_points = options.turbine_points = 6;
    options.max_planes = 4;
    assert_fits();
    assert_true(fit.plane_count >= 1 && fit.plane_count <= 4);
    for (int v = 0; v < 6; v++) {
        for (int q = 0; q < 6; q++) {
            double volume = 64 + 64.0 * v / 5, flow = 1 + 63.0 * q / 5, highest = -INFINITY;
            for (size_t p = 0; p < fit.plane_count; p++)
                highest = fmax(highest, fit.planes[p].gamma_0 + fit.planes[p].gamma_v * volume +
                                            fit.planes[p].gamma_q * flow);
            assert_true(highest >= volume * flow / 128 - 1e-8);
            assert_true(fit.planes[0].kappa * highest <= volume * flow / 128 + 1e-9);
        }
    }
}

/*
 * Forebay 100 + v/2, tailrace 10 + Q/4 (points), losses 20 %: net head 0.8 * (90 + v/2 - Q/4). The
 * least flow is the largest, 1, and the volume is 40: at s = 0 the head is 0.8 * 109.75, and the
 * slopes are, in units of 1/128, 0.8 / 2 by volume, 0.8 * (109.75 - 1/4) by turbined flow and
 * -0.8 / 4 by spilled flow.
 */
static void tailrace_and_losses_enter_the_slopes(void **state)
{
    static const cobre_geometry slope[] = { { 0, 100, 1 }, { 100, 150, 2 } };
    static const cobre_point tail[] = { { 0, 10 }, { 40, 20 }, { 80, 30 } };

    (void)state;
    plant.geometry = slope;
    plant.tailrace = COBRE_TAILRACE_PIECEWISE;
    plant.tailrace_points = tail;
    plant.tailrace_count = 3;
    plant.loss = COBRE_LOSS_FACTOR;
    plant.loss_value = 0.2;
    plant.max_turbined = 1;
    options.volume_min = options.volume_max = 40;
    assert_fits();
    const cobre_hyperplane *plane = &fit.planes[0];
    assert_near(plane->gamma_v, 0.8 * 0.5 / 128, 1e-15);
    assert_near(plane->gamma_q, 0.8 * (110 - 0.25 - 0.25) / 128, 1e-14);
    assert_near(plane->gamma_s, -0.8 * 0.25 / 128, 1e-15);
    assert_near(plane->gamma_0 + 40 * plane->gamma_v + plane->gamma_q, 0.8 * (110 - 0.25) / 128,
                1e-14);
}

/* Tailrace 10 + Q/4 + Q^2/16 at Q = 1, constant losses of 2 m: head 90 + 20 - 2 - 5/16; its slope
 * by flow is -(1/4 + 1/8). */
static void a_polynomial_tailrace_and_constant_losses(void **state)
{
    static const cobre_geometry slope[] = { { 0, 100, 1 }, { 100, 150, 2 } };
    static const double level[] = { 10, 0.25, 0.0625 };

    (void)state;
    plant.geometry = slope;
    plant.tailrace_coefficients = level;
    plant.tailrace_count = 3;
    plant.loss = COBRE_LOSS_CONSTANT;
    plant.loss_value = 2;
    plant.max_turbined = 1;
    options.volume_min = options.volume_max = 40;
    assert_fits();
    assert_near(fit.planes[0].gamma_v, 0.5 / 128, 1e-15);
    assert_near(fit.planes[0].gamma_q, (107.6875 - 0.375) / 128, 1e-14);
    assert_near(fit.planes[0].gamma_s, -0.375 / 128, 1e-15);
}

/* Shares of the storage range 100 to 300: 0.1 and 0.9; then cut at the table's end of 256. */
static void the_window_may_be_shares_of_the_range(void **state)
{
    (void)state;
    plant.min_storage = 100;
    plant.max_storage = 300;
    options.volume_min = options.volume_max = NAN;
    options.percentile_min = 0.1;
    options.percentile_max = 0.7;
    assert_fits();
    assert_near(fit.volume_min, 120, 0);
    assert_near(fit.volume_max, 240, 0);
    options.percentile_max = 0.9;
    assert_fits();
    assert_near(fit.volume_max, 256, 0);
}

static void what_cannot_be_fitted_is_refused(void **state)
{
    static const double flooded[] = { 300.0 }, falling[] = { 0.0, -0.5 };

    (void)state;
    plant.tailrace_coefficients = flooded;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 5 generates nothing"));
    plant.tailrace_coefficients = falling;
    plant.tailrace_count = 2;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "slopes"));
    plant.tailrace_coefficients = level_zero;
    plant.tailrace_count = 1;
    options.volume_min = 129;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "window"));
    options.volume_min = 64;
    plant.efficiency = NAN;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_PARAMS);
    plant.efficiency = 1;
    plant.geometry_count = 1;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_PARAMS);
    plant.geometry_count = 2;
    options.volume_points = options.turbine_points = options.spillage_points = UINT32_MAX;
    assert_int_equal(fpha_fit(&fit, arena, &input, 0, &options, &err), MCP_E_LIMIT);
}

#define FIT_TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIT_TEST(a_constant_head_is_one_plane),
        FIT_TEST(the_envelope_is_the_largest_tangent),
        FIT_TEST(planes_are_removed_until_few_are_left),
        FIT_TEST(a_removal_below_the_function_is_not_made),
        FIT_TEST(the_envelope_stays_above_the_function),
        FIT_TEST(tailrace_and_losses_enter_the_slopes),
        FIT_TEST(a_polynomial_tailrace_and_constant_losses),
        FIT_TEST(the_window_may_be_shares_of_the_range),
        FIT_TEST(what_cannot_be_fitted_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
