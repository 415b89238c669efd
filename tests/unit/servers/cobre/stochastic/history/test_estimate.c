/*
 * test_estimate.c - the tables of a case from its history: what is estimated, what is kept, and the
 * correlation of hydros.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../sddp/cases.h"
#include "stochastic/calendar.h"
#include "stochastic/history/estimate.h"
#include "stochastic/inflow.h"
#include "stochastic/normal.h"

#define YEARS 60
#define MONTHS (12 * YEARS)

static case_kit kit;
static cobre_season seasons[12];
static cobre_pre_stage december;
static cobre_observation history[2 * MONTHS];
static mcp_arena *arena;

/* Two rivers from 1960 on, month m with mean 100 + 10 m and deviation 5 + m; standardized inflows
 * follow z = 0.7 z(-1) + noise, where the second river's noise is 0.8 of the first's and 0.6 of its
 * own: a correlation of 0.8. The study is January to March 2024, with December before. */
static int begin(void **state)
{
    generator g = generator_seeded(11);
    double z[2] = { 0, 0 };

    (void)state;
    arena = mcp_arena_new(0);
    kit_begin(&kit, 3, 2, 0, 1, 0);
    for (uint32_t i = 0; i < 12; i++)
        seasons[i] = (cobre_season){ i, "M", i + 1, 1, i + 1, 31 };
    kit.c.seasons = seasons;
    kit.c.season_count = 12;
    kit.c.has_seasons = true;
    for (int32_t t = 0; t < 3; t++) {
        kit.stages[t].has_season = true;
        kit.stages[t].season_id = (uint32_t)t;
        kit.stages[t].start = calendar_day_of(2024, t + 1, 1);
        kit.stages[t].end = calendar_day_of(2024, t + 2, 1);
    }
    december = (cobre_pre_stage){ -1, calendar_day_of(2023, 12, 1), calendar_day_of(2024, 1, 1),
                                  true, 11 };
    kit.c.pre_stages = &december;
    kit.c.pre_stage_count = 1;
    for (size_t i = 0; i < MONTHS; i++) {
        double own = normal_draw(&g), other = 0.8 * own + 0.6 * normal_draw(&g);
        int32_t month = (int32_t)i % 12;
        z[0] = 0.7 * z[0] + sqrt(0.51) * own;
        z[1] = 0.7 * z[1] + sqrt(0.51) * other;
        for (size_t h = 0; h < 2; h++)
            history[h * MONTHS + i] = (cobre_observation){
                h, calendar_day_of(1960 + (int32_t)i / 12, month + 1, 1),
                100.0 + 10 * month + (5 + month) * z[h]
            };
    }
    kit.c.scenarios.history = history;
    kit.c.scenarios.history_count = 2 * MONTHS;
    kit.c.config.estimation = (cobre_estimation){ .max_order = 1, .max_coefficient = INFINITY };
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static inflow_model build(void)
{
    inflow_model model;
    mcp_error err = MCP_ERROR_INIT;

    if (inflow_model_build(&model, arena, &kit.c, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return model;
}

static double mean_of(size_t hydro, size_t month, double *std)
{
    double sum = 0.0, squares = 0.0;

    for (size_t y = 0; y < YEARS; y++)
        sum += history[hydro * MONTHS + 12 * y + month].value;
    for (size_t y = 0; y < YEARS; y++)
        squares += pow(history[hydro * MONTHS + 12 * y + month].value - sum / YEARS, 2);
    *std = sqrt(squares / YEARS);
    return sum / YEARS;
}

/* Rows for December and the study; 60 years give a mean to 5 * deviation / sqrt(60), and phi to
 * 5 * sqrt(0.51 / 60). */
static void a_known_process_is_found_again(void **state)
{
    double std;

    (void)state;
    inflow_model model = build();
    const inflow_tables *tables = &model.tables;
    assert_true(tables->stats_estimated && tables->ar_estimated && tables->correlation_estimated);
    assert_int_equal(tables->stats_count, 8);
    assert_int_equal(tables->stats[0].stage_id, -1);
    assert_true(fabs(tables->stats[4].mean - mean_of(1, 11, &std)) < 1e-9);
    assert_true(fabs(tables->stats[4].std - std) < 1e-9);
    assert_true(fabs(tables->stats[1].mean - mean_of(0, 0, &std)) < 1e-9);
    assert_true(fabs(tables->stats[1].mean - 100) < 5 * 5 / sqrt(YEARS));
    assert_int_equal(tables->ar_count, 8);
    assert_int_equal(model.lags, 1);
    for (size_t i = 0; i < 8; i++)
        assert_true(fabs(tables->ar[i].coefficient - 0.7) < 5 * sqrt(0.51 / YEARS));
    const hydro_fit *fits = tables->estimate->fits;
    assert_true(fits[1].of_season[0].coefficients[0] == tables->ar[5].coefficient);
    double december_std, psi = tables->ar[1].coefficient * tables->stats[1].std;
    mean_of(0, 11, &december_std);
    assert_true(fabs(model.psi[0] - psi / december_std) < 1e-12);
}

/* December is not among the stages: the estimate knows it all the same. */
static void lags_before_the_study_have_their_own_season(void **state)
{
    (void)state;
    double with = build().psi[0], base = build().base[0];
    kit.c.pre_stage_count = 0;
    inflow_model model = build();
    assert_int_equal(model.tables.stats_count, 6);
    assert_true(model.psi[0] == with && model.base[0] == base);
}

/* 720 residuals give a correlation of 0.8 to 5 * 0.36 / sqrt(720); 60 of one season to
 * 5 * 0.36 / sqrt(60). With 29 years no season has a profile of its own. */
static void residuals_correlate_hydros(void **state)
{
    (void)state;
    inflow_model model = build();
    const inflow_tables *tables = &model.tables;
    assert_int_equal(tables->profile_count, 4);
    assert_string_equal(tables->profiles[0].name, "default");
    assert_string_equal(tables->profiles[2].name, "season_01");
    assert_int_equal(tables->profile_of_stage[1], 2);
    const cobre_correlation_group *group = &tables->profiles[0].groups[0];
    assert_int_equal(group->count, 2);
    assert_true(group->matrix[0] == 1.0 && group->matrix[1] == group->matrix[2]);
    assert_true(fabs(group->matrix[1] - 0.8) < 5 * 0.36 / sqrt(MONTHS));
    assert_true(fabs(tables->profiles[1].groups[0].matrix[1] - 0.8) < 5 * 0.36 / sqrt(YEARS));
    size_t kept = 0;
    for (size_t i = 0; i < 2 * MONTHS; i++) {
        if (i % MONTHS < 12 * 29)
            history[kept++] = history[i];
    }
    kit.c.scenarios.history_count = kept;
    model = build();
    assert_int_equal(model.tables.profile_count, 1);
    assert_int_equal(model.tables.profile_of_stage[2], 0);
}

/* Given statistics are the model's; the coefficients still come from the history's own. */
static void given_statistics_stay(void **state)
{
    const cobre_inflow_stats rows[] = { { 0, -1, 50, 5 }, { 0, 0, 60, 10 }, { 0, 1, 70, 20 },
                                        { 0, 2, 80, 4 },  { 1, -1, 1, 1 },  { 1, 0, 1, 1 },
                                        { 1, 1, 1, 1 },   { 1, 2, 1, 1 } };

    (void)state;
    double phi = build().tables.ar[1].coefficient;
    kit.c.scenarios.inflow_stats = rows;
    kit.c.scenarios.inflow_stats_count = 8;
    inflow_model model = build();
    assert_false(model.tables.stats_estimated);
    assert_true(model.tables.ar_estimated && model.tables.stats == rows);
    assert_true(model.tables.ar[1].coefficient == phi);
    assert_true(fabs(model.psi[0] - phi * 2) < 1e-12);
    assert_true(fabs(model.base[0] - (60 - phi * 2 * 50)) < 1e-12);
    kit.c.scenarios.inflow_stats_count = 7;
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 1"));
    assert_non_null(strstr(err.message, "stage 2"));
}

static void given_coefficients_and_correlation_stay(void **state)
{
    const cobre_ar_row rows[] = { { 0, 0, 1, 0.25, 0.9 } };
    const cobre_correlation_profile none = { "default", NULL, 0 };
    const size_t of_stage[] = { 0, 0, 0 };

    (void)state;
    kit.c.scenarios.ar = rows;
    kit.c.scenarios.ar_count = 1;
    kit.c.scenarios.has_correlation = true;
    kit.c.scenarios.profiles = &none;
    kit.c.scenarios.profile_count = 1;
    kit.c.scenarios.profile_of_stage = of_stage;
    inflow_model model = build();
    assert_true(model.tables.stats_estimated);
    assert_false(model.tables.ar_estimated || model.tables.correlation_estimated);
    assert_true(model.tables.profiles == &none);
    assert_null(model.tables.estimate->fits);
    assert_true(fabs(model.sigma[0] - 0.9 * model.tables.stats[1].std) < 1e-12);
}

/* With both given the history estimates nothing. */
static void complete_cases_are_left_alone(void **state)
{
    const cobre_ar_row rows[] = { { 0, 0, 1, 0.25, 0.9 } };
    const cobre_inflow_stats stats[] = { { 0, 0, 60, 10 } };

    (void)state;
    kit.c.scenarios.ar = rows;
    kit.c.scenarios.ar_count = 1;
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = 1;
    inflow_model model = build();
    assert_null(model.tables.estimate);
    assert_null(model.tables.profile_of_stage);
}

static void annual_terms_are_exported(void **state)
{
    double lags[24];

    (void)state;
    kit.c.config.estimation.order = COBRE_ORDER_PACF_ANNUAL;
    inflow_model model = build();
    assert_int_equal(model.lags, 12);
    assert_int_equal(model.tables.annual_count, 8);
    assert_true(fabs(model.tables.annual[1].mean - 155) < 5);
    /* A mean year gives the mean, but for the rounding of twelve means to one. */
    for (size_t l = 0; l < 12; l++) {
        double std;
        for (size_t h = 0; h < 2; h++)
            lags[l * 2 + h] = mean_of(h, 11 - l, &std);
    }
    assert_true(fabs(inflow_certain(&model, 0, 0, lags) - model.tables.stats[1].mean) < 1.0);
}

static void short_histories_are_refused(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    inflow_model model;

    (void)state;
    kit.c.scenarios.history_count = MONTHS + 13;
    assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "hydro 1"));
    kit.stages[1].has_season = false;
    assert_int_equal(inflow_model_build(&model, arena, &kit.c, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "stage 1"));
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(a_known_process_is_found_again),
        EACH(lags_before_the_study_have_their_own_season),
        EACH(residuals_correlate_hydros),
        EACH(given_statistics_stay),
        EACH(given_coefficients_and_correlation_stay),
        EACH(complete_cases_are_left_alone),
        EACH(annual_terms_are_exported),
        EACH(short_histories_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
