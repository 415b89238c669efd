/*
 * test_fit.c - Yule-Walker equations by their closed forms, orders of known processes, and the
 * reductions.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "stochastic/history/fit.h"
#include "stochastic/normal.h"

#define YEARS 2000
#define SEASONS 2

static int32_t years[YEARS];
static double values[SEASONS][YEARS], means[SEASONS][YEARS];
static season_track flow[SEASONS], annual[SEASONS];
static hydro_tracks tracks;
static mcp_arena *arena;

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

/* z(t) = a z(t-1) + b z(t-2) + noise, in standardized inflows of two seasons; season 1 has mean 50
 * and twice the deviation. */
static void simulate(double a, double b, uint64_t seed)
{
    generator g = generator_seeded(seed);
    double last = 0.0, before = 0.0;

    for (size_t y = 0; y < YEARS; y++) {
        years[y] = (int32_t)y;
        for (size_t m = 0; m < SEASONS; m++) {
            double z = a * last + b * before + normal_draw(&g);
            before = last;
            last = z;
            values[m][y] = m ? 50 + 20 * z : 30 + 10 * z;
            means[m][y] = y > 0 ? (values[0][y - (m == 0)] + values[1][y - 1] + 3 * z) / 5 : 20;
        }
    }
    for (size_t m = 0; m < SEASONS; m++) {
        flow[m] = (season_track){ .count = YEARS, .years = years, .values = values[m] };
        annual[m] = (season_track){ .count = YEARS, .years = years, .values = means[m] };
        tracks_moments(&flow[m]);
        tracks_moments(&annual[m]);
    }
    tracks = (hydro_tracks){ .seasons = SEASONS, .flow = flow };
}

static hydro_fit fit(uint32_t max_order, double max_coefficient)
{
    const cobre_estimation settings = { .max_order = max_order,
                                        .max_coefficient = max_coefficient };
    hydro_fit made;
    mcp_error err = MCP_ERROR_INIT;

    if (fit_hydro(&made, arena, &tracks, &settings, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return made;
}

static void systems_are_solved_with_pivots(void **state)
{
    double a[] = { 0, 2, 1, 1, 1, 0, 2, 0, 1 }, b[] = { 7, 3, 5 };
    double singular[] = { 1, 2, 2, 4 }, right[] = { 1, 2 };

    (void)state;
    assert_true(fit_solve(a, b, 3));
    NEAR(b[0], 1);
    NEAR(b[1], 2);
    NEAR(b[2], 3);
    assert_false(fit_solve(singular, right, 2));
}

/* Order 1: phi = rho(1), ratio^2 = 1 - rho(1)^2. */
static void one_coefficient_is_the_correlation(void **state)
{
    (void)state;
    simulate(0.7, 0.0, 1);
    hydro_fit made = fit(1, INFINITY);
    for (uint32_t m = 0; m < SEASONS; m++) {
        double rho = tracks_correlation(&tracks, m, 1);
        assert_int_equal(made.of_season[m].order, 1);
        NEAR(made.of_season[m].coefficients[0], rho);
        NEAR(made.of_season[m].residual_ratio, sqrt(1 - rho * rho));
        assert_true(made.of_season[m].annual == 0.0);
        /* An estimate of 0.7 has deviation sqrt((1 - 0.49) / n). */
        assert_true(fabs(rho - 0.7) < 5 * sqrt(0.51 / YEARS));
    }
    assert_int_equal(made.reduction_count, 0);
}

/* phi_1 = (r1 - s r2) / (1 - s^2), phi_2 = (r2 - s r1) / (1 - s^2) with s = rho of the season
 * before. */
static void two_coefficients_solve_their_equations(void **state)
{
    (void)state;
    simulate(0.4, 0.35, 2);
    hydro_fit made = fit(2, INFINITY);
    for (uint32_t m = 0; m < SEASONS; m++) {
        double r1 = tracks_correlation(&tracks, m, 1), r2 = tracks_correlation(&tracks, m, 2);
        double s = tracks_correlation(&tracks, 1 - m, 1);
        const season_fit *at = &made.of_season[m];
        assert_int_equal(at->order, 2);
        NEAR(at->coefficients[0], (r1 - s * r2) / (1 - s * s));
        NEAR(at->coefficients[1], (r2 - s * r1) / (1 - s * s));
        NEAR(at->residual_ratio, sqrt(1 - at->coefficients[0] * r1 - at->coefficients[1] * r2));
        assert_true(fabs(at->coefficients[0] - 0.4) < 5 / sqrt(YEARS));
        assert_true(fabs(at->coefficients[1] - 0.35) < 5 / sqrt(YEARS));
    }
}

static void white_noise_has_no_coefficients(void **state)
{
    (void)state;
    simulate(0.0, 0.0, 4);
    hydro_fit made = fit(1, INFINITY);
    for (uint32_t m = 0; m < SEASONS; m++) {
        bool significant = fabs(tracks_correlation(&tracks, m, 1)) > 1.96 / sqrt(YEARS);
        assert_int_equal(made.of_season[m].order, significant);
        assert_false(significant); /* with this seed */
        assert_true(made.of_season[m].residual_ratio == 1.0);
    }
    flow[0].std = 0.0;
    simulate(0.9, 0.0, 4);
    flow[0].std = 0.0;
    made = fit(3, INFINITY);
    assert_int_equal(made.of_season[0].order, 0);
}

static void limits_and_signs_make_white_noise(void **state)
{
    (void)state;
    simulate(0.7, 0.0, 1);
    hydro_fit made = fit(1, 0.5);
    assert_int_equal(made.reduction_count, 2);
    assert_int_equal(made.of_season[1].order, 0);
    assert_int_equal(made.reductions[1].season, 1);
    assert_int_equal(made.reductions[1].original_order, 1);
    assert_int_equal(made.reductions[1].reduced_order, 0);
    assert_non_null(strstr(made.reductions[1].reason, "max_coefficient_magnitude"));
    simulate(-0.7, 0.0, 1);
    made = fit(1, INFINITY);
    assert_int_equal(made.of_season[0].order, 0);
    assert_non_null(strstr(made.reductions[0].reason, "lag 1"));
}

/* z(t) = 0.5 z(t-1) - 0.6 z(t-2): what z(t-2) contributes is 0.25 - 0.6 < 0. Order 1 remains. */
static void negative_contributions_lower_the_order(void **state)
{
    (void)state;
    simulate(0.5, -0.6, 5);
    hydro_fit made = fit(2, INFINITY);
    assert_int_equal(made.reduction_count, 2);
    for (uint32_t m = 0; m < SEASONS; m++) {
        const fit_reduction *at = &made.reductions[m];
        assert_int_equal(made.of_season[m].order, 1);
        NEAR(made.of_season[m].coefficients[0], tracks_correlation(&tracks, m, 1));
        assert_int_equal(at->original_order, 2);
        assert_int_equal(at->reduced_order, 1);
        assert_int_equal(at->contribution_count, 2);
        /* In inflows: season 1 has twice the deviation of season 0; two lags keep the season. */
        assert_true(fabs(at->contributions[0] - (m ? 1.0 : 0.25)) < 0.2);
        assert_true(fabs(at->contributions[1] + 0.35) < 0.2);
    }
}

/* Orders 3 and 2, and both seasons fail. Their ceilings fall from max_order together, so the higher
 * order is lowered first; once season 0 has order 1, season 1 keeps its two lags. Coefficients by
 * an independent program. */
static void the_higher_order_is_lowered_first(void **state)
{
    enum { COUNT = 14 };
    static const double flows[SEASONS][COUNT] = {
        { 72, 51, 22, 23, 51, 48, 36, 66, 53, 30, 32, 42, 71, 55 },
        { 71, 41, 23, 39, 52, 40, 62, 55, 41, 41, 30, 49, 57, 36 },
    };

    (void)state;
    for (int32_t y = 0; y < COUNT; y++)
        years[y] = y;
    for (size_t m = 0; m < SEASONS; m++) {
        flow[m] = (season_track){ .count = COUNT, .years = years, .values = flows[m] };
        tracks_moments(&flow[m]);
    }
    tracks = (hydro_tracks){ .seasons = SEASONS, .flow = flow };
    hydro_fit made = fit(4, INFINITY);
    assert_int_equal(made.of_season[0].order, 1);
    assert_int_equal(made.of_season[1].order, 2);
    NEAR(made.of_season[0].coefficients[0], 0.6080067493887895);
    NEAR(made.of_season[1].coefficients[0], 1.0196391403243537);
    NEAR(made.of_season[1].coefficients[1], -0.5977339242029664);
    assert_int_equal(made.reduction_count, 1);
    assert_int_equal(made.reductions[0].season, 0);
    assert_int_equal(made.reductions[0].original_order, 3);
}

/* Order 1 and a year: phi = (r - c y) / (1 - c^2), annual = (y - c r) / (1 - c^2) with r = rho(1),
 * c the correlation of the year with lag 1, y that of the year with the season. */
static void annual_terms_join_the_equations(void **state)
{
    (void)state;
    simulate(0.6, 0.0, 6);
    tracks.annual = annual;
    hydro_fit made = fit(1, INFINITY);
    for (uint32_t m = 0; m < SEASONS; m++) {
        double r = tracks_correlation(&tracks, m, 1);
        double c = tracks_annual_correlation(&tracks, 1 - m, 0);
        double y = tracks_annual_with_next(&tracks, 1 - m);
        const season_fit *at = &made.of_season[m];
        double phi = (r - c * y) / (1 - c * c);
        if (phi < 0) {
            assert_int_equal(at->order, 0);
            NEAR(at->annual, y);
            continue;
        }
        assert_int_equal(at->order, 1);
        NEAR(at->coefficients[0], phi);
        NEAR(at->annual, (y - c * r) / (1 - c * c));
        NEAR(at->residual_ratio, sqrt(1 - at->coefficients[0] * r - at->annual * y));
    }
}

static void orders_are_bounded(void **state)
{
    const cobre_estimation settings = { .max_order = FIT_ORDER_MAX + 1 };
    hydro_fit made;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    simulate(0.6, 0.0, 6);
    assert_int_equal(fit_hydro(&made, arena, &tracks, &settings, &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "max_order"));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(systems_are_solved_with_pivots),
        EACH(one_coefficient_is_the_correlation),
        EACH(two_coefficients_solve_their_equations),
        EACH(white_noise_has_no_coefficients),
        EACH(limits_and_signs_make_white_noise),
        EACH(negative_contributions_lower_the_order),
        EACH(the_higher_order_is_lowered_first),
        EACH(annual_terms_join_the_equations),
        EACH(orders_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
