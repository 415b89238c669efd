/*
 * test_inflow.c - the inflow model against coefficients derived by hand, and its refusals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../sddp/cases.h"
#include "stochastic/inflow.h"

static case_kit kit;
static cobre_inflow_stats stats[64];
static cobre_ar_row ar[64];
static mcp_arena *arena;

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

static void give(const cobre_inflow_stats *rows, size_t count, const cobre_ar_row *ar_rows,
                 size_t ar_count)
{
    memcpy(stats, rows, count * sizeof *rows);
    memcpy(ar, ar_rows, ar_count * sizeof *ar_rows);
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = count;
    kit.c.scenarios.ar = ar;
    kit.c.scenarios.ar_count = ar_count;
}

static void set_seasons(size_t stages, uint32_t first, uint32_t count)
{
    for (size_t t = 0; t < stages; t++) {
        kit.stages[t].has_season = true;
        kit.stages[t].season_id = (uint32_t)((first + t) % count);
    }
}

static inflow_model build(void)
{
    inflow_model model = { 0 };
    mcp_error err = MCP_ERROR_INIT;

    if (inflow_model_build(&model, arena, &kit.c, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return model;
}

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-12)

static void independent_inflows_keep_their_numbers(void **state)
{
    (void)state;
    kit_begin(&kit, 3, 2, 0, 1, 0);
    for (size_t i = 0; i < 6; i++) {
        kit.hydro_stages[i].inflow_mean = 0.1 * (double)(i + 1);
        kit.hydro_stages[i].inflow_std = 0.7 / (double)(i + 3);
    }
    inflow_model model = build();
    assert_int_equal(model.lags, 0);
    assert_false(model.accumulates);
    for (size_t i = 0; i < 6; i++) {
        assert_true(model.base[i] == kit.hydro_stages[i].inflow_mean);
        assert_true(model.sigma[i] == kit.hydro_stages[i].inflow_std);
        assert_true(inflow_certain(&model, i / 2, i % 2, NULL) == model.base[i]);
    }
    assert_int_equal(model.tables.stats_count, 6);
    assert_true(model.tables.stats[1].mean == kit_hydro(&kit, 1, 0)->inflow_mean);
}

/* psi = 0.5 * 10 / 5 = 1, base = 40 - 30; psi = 0.25 * 4 / 10 = 0.1, base = 20 - 4. */
static void one_lag_takes_the_statistics_before(void **state)
{
    const cobre_inflow_stats rows[] = { { 0, -1, 30, 5 }, { 0, 0, 40, 10 }, { 0, 1, 20, 4 } };
    const cobre_ar_row coefficients[] = { { 0, 0, 1, 0.5, 0.8 }, { 0, 1, 1, 0.25, 0.9 } };
    const double past[] = { 33.0 }, lag[] = { 50.0 };

    (void)state;
    kit_begin(&kit, 2, 1, 0, 1, 0);
    set_seasons(2, 0, 2);
    give(rows, 3, coefficients, 2);
    kit.hydros[0].past_inflow = past;
    kit.hydros[0].past_inflow_count = 1;
    inflow_model model = build();
    assert_int_equal(model.lags, 1);
    NEAR(model.psi[0], 1.0);
    NEAR(model.base[0], 10.0);
    NEAR(model.sigma[0], 8.0);
    NEAR(model.psi[1], 0.1);
    NEAR(model.base[1], 16.0);
    NEAR(model.sigma[1], 3.6);
    assert_true(model.initial[0] == 33.0);
    NEAR(inflow_certain(&model, 0, 0, lag), 60.0);
    NEAR(inflow_certain(&model, 1, 0, lag), 21.0);
}

/* Stage -1 has no row: its season's last stage gives the statistics. That is stage 3 with seasons
 * 0 1 0 1, where it is of season 1, and with seasons 1 0 1 0, where it is of season 0. */
static void lags_before_the_study_fall_back_to_their_season(void **state)
{
    const cobre_inflow_stats rows[] = {
        { 0, 0, 40, 10 }, { 0, 1, 20, 4 }, { 0, 2, 44, 12 }, { 0, 3, 24, 8 }
    };
    const cobre_ar_row coefficients[] = { { 0, 0, 1, 0.5, 0.8 }, { 0, 0, 2, 0.25, 0.8 } };

    (void)state;
    for (uint32_t first = 0; first < 2; first++) {
        kit_begin(&kit, 4, 1, 0, 1, 0);
        set_seasons(4, first, 2);
        give(rows, 4, coefficients, 2);
        inflow_model model = build();
        assert_int_equal(model.order[0], 2);
        assert_int_equal(model.order[1], 0);
        NEAR(model.psi[0], 0.5 * 10 / 8);
        NEAR(model.psi[1], 0.25 * 10 / 12);
        NEAR(model.base[0], 40 - 0.625 * 24 - 2.5 / 12 * 44);
    }
}

/* A lag without statistics anywhere, or with deviation 0, has no weight. */
static void lags_without_deviation_have_no_weight(void **state)
{
    const cobre_inflow_stats rows[] = { { 0, 0, 40, 0 }, { 0, 1, 20, 4 } };
    const cobre_ar_row coefficients[] = { { 0, 1, 1, 0.5, 0.8 } };

    (void)state;
    kit_begin(&kit, 2, 1, 0, 1, 0);
    set_seasons(2, 0, 2);
    give(rows, 2, coefficients, 1);
    inflow_model model = build();
    assert_true(model.psi[1] == 0.0);
    NEAR(model.base[1], 20.0);
    NEAR(model.sigma[1], 3.2);
}

/* The hydro without rows in a stage has no inflow there. */
static void missing_statistics_are_no_inflow(void **state)
{
    const cobre_inflow_stats rows[] = { { 0, 0, 40, 10 }, { 1, 0, 7, 1 }, { 1, 1, 8, 2 } };
    const cobre_ar_row none = { 0 };

    (void)state;
    kit_begin(&kit, 2, 2, 0, 1, 0);
    give(rows, 3, &none, 0);
    inflow_model model = build();
    assert_true(model.base[2] == 0.0 && model.sigma[2] == 0.0);
    assert_true(model.base[3] == 8.0 && model.sigma[3] == 2.0);
}

/* psi_hat = 0.6 * 10 / 20 = 0.3: a twelfth of it, 0.025, on each of twelve lags. At mean lags and a
 * mean year the inflow is its mean: 12 * 0.025 * 100 = 0.3 * 100. */
static void an_annual_component_spreads_over_a_year(void **state)
{
    const cobre_inflow_stats rows[] = { { 0, -1, 100, 10 }, { 0, 0, 50, 10 } };
    const cobre_ar_row coefficients[] = { { 0, 0, 1, 0.2, 0.5 } };
    const cobre_annual_row annual = { 0, 0, 0.6, 100, 20 };
    double lags[12];

    (void)state;
    kit_begin(&kit, 1, 1, 0, 1, 0);
    set_seasons(1, 0, 1);
    give(rows, 2, coefficients, 1);
    kit.c.scenarios.annual = &annual;
    kit.c.scenarios.annual_count = 1;
    inflow_model model = build();
    assert_int_equal(model.lags, 12);
    assert_int_equal(model.order[0], 12);
    NEAR(model.psi[0], 0.225);
    NEAR(model.psi[11], 0.025);
    for (size_t l = 0; l < 12; l++)
        lags[l] = 100.0;
    NEAR(inflow_certain(&model, 0, 0, lags), 50.0);
    lags[11] = 140.0;
    NEAR(inflow_certain(&model, 0, 0, lags), 51.0);
}

/* Yule-Walker for one lag: with ratio^2 = 1 - phi^2 the variance of each season is kept:
 * psi^2 * var_before + sigma^2 = var. */
static void the_variance_of_each_season_is_stationary(void **state)
{
    cobre_inflow_stats rows[12];
    cobre_ar_row coefficients[12];

    (void)state;
    kit_begin(&kit, 12, 1, 0, 1, 0);
    set_seasons(12, 0, 12);
    for (int32_t t = 0; t < 12; t++) {
        double phi = 0.9 - 0.14 * t;
        rows[t] = (cobre_inflow_stats){ 0, t, 10.0 + 3 * t, 2.0 + (t * 7) % 5 };
        coefficients[t] = (cobre_ar_row){ 0, t, 1, phi, sqrt(1 - phi * phi) };
    }
    give(rows, 12, coefficients, 12);
    inflow_model model = build();
    for (size_t t = 0; t < 12; t++) {
        double before = rows[(t + 11) % 12].std, mean = rows[(t + 11) % 12].mean;
        double variance = model.psi[t] * model.psi[t] * before * before +
                          model.sigma[t] * model.sigma[t];
        NEAR(variance, rows[t].std * rows[t].std);
        NEAR(inflow_certain(&model, t, 0, &mean), rows[t].mean);
    }
}

static void coefficients_need_a_season_and_a_deviation(void **state)
{
    const cobre_inflow_stats rows[] = { { 1, 5, 40, 0 } };
    const cobre_ar_row coefficients[] = { { 1, 5, 1, 0.5, 0.8 } };
    inflow_model model = { 0 };

    (void)state;
    kit_begin(&kit, 1, 2, 0, 1, 0);
    kit.stages[0].id = 5;
    give(rows, 1, coefficients, 1);
    for (int i = 0; i < 2; i++) {
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "hydro 1"));
        assert_non_null(strstr(err.message, "stage 5"));
        assert_non_null(strstr(err.message, i == 0 ? "season_id" : "std_m3s"));
        assert_int_equal(model.stages, 0);
        kit.stages[0].has_season = true;
    }
}

static void memory_is_bounded(void **state)
{
    mcp_arena *small = mcp_arena_new(4096);
    inflow_model model = { 0 };

    (void)state;
    kit_begin(&kit, 12, 24, 0, 1, 0);
    assert_int_equal(inflow_model_build(&model, small, &kit.c, NULL), MCP_E_NOMEM);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(independent_inflows_keep_their_numbers, begin, end),
        cmocka_unit_test_setup_teardown(one_lag_takes_the_statistics_before, begin, end),
        cmocka_unit_test_setup_teardown(lags_before_the_study_fall_back_to_their_season, begin,
                                        end),
        cmocka_unit_test_setup_teardown(lags_without_deviation_have_no_weight, begin, end),
        cmocka_unit_test_setup_teardown(missing_statistics_are_no_inflow, begin, end),
        cmocka_unit_test_setup_teardown(an_annual_component_spreads_over_a_year, begin, end),
        cmocka_unit_test_setup_teardown(the_variance_of_each_season_is_stationary, begin, end),
        cmocka_unit_test_setup_teardown(coefficients_need_a_season_and_a_deviation, begin, end),
        cmocka_unit_test_setup_teardown(memory_is_bounded, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
