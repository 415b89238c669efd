/*
 * test_state.c - lags move as the method page, 3.1, says; gradients are the transpose of that; and
 * a study whose cost is linear in the inflows has the expected cost as its bound, by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/program/state.h"
#include "sddp/sddp.h"
#include "stochastic/generator.h"

#define DAYS_2024 19723 /* from 1970-01-01 to 2024-01-01 */

static case_kit kit;
static mcp_arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

enum { HYDROS = 2, LAGS = 2, STAGES = 4, PLACES = 24 };

static const double no_psi[STAGES * HYDROS * LAGS];
static const uint32_t no_order[STAGES * HYDROS];
static const double starts[] = { 7.0, 8.0, 3.0, 4.0 }, sums[] = { 5.0, 6.0 };

/* Two plants with two lags, which move like this. */
static inflow_model model_of(const lag_move *moves, bool accumulates, double weight)
{
    return (inflow_model){ .stages = STAGES,
                           .hydros = HYDROS,
                           .lags = LAGS,
                           .psi = no_psi,
                           .order = no_order,
                           .initial = starts,
                           .initial_sum = sums,
                           .initial_weight = weight,
                           .moves = moves,
                           .accumulates = accumulates };
}

static void expect(const double *values, size_t first, const double *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fabs(values[first + i] - expected[i]) > 1e-12)
            fail_msg("entry %zu is %.12g and not %.12g", first + i, values[first + i], expected[i]);
}

static const lag_move whole[STAGES] = {
    { .weight = 1.0, .is_last = true },
    { .weight = 1.0, .is_last = true },
    { .weight = 1.0, .is_last = true },
    { .weight = 1.0, .is_last = true },
};

/* Whole periods: lag 1 becomes the inflow, lag 2 what lag 1 was. */
static void lags_move_up(void **state)
{
    static const double in[] = { 1.0, 2.0, 7.0, 8.0, 3.0, 4.0 }, inflow[] = { 11.0, 12.0 };
    static const double expected[] = { 11.0, 12.0, 7.0, 8.0 };
    inflow_model model = model_of(whole, false, 0.0);
    state_table table;
    double out[PLACES];

    (void)state;
    assert_int_equal(state_table_build(&table, arena, &model, NULL), MCP_OK);
    assert_int_equal(table.dimension, 6);
    assert_int_equal(table.entries[5].kind, STATE_LAG);
    assert_int_equal(table.entries[5].lag, 2);
    assert_int_equal(table.entries[5].hydro, 1);
    state_advance(&table, 1, in, 0, inflow, 1, out + 2);
    expect(out, 2, expected, 4);
}

static void the_first_state(void **state)
{
    static const double expected[] = { 100.0, 50.0, 7.0, 8.0, 3.0, 4.0, 5.0, 6.0 };
    static const lag_move parts[STAGES] = { { .weight = 0.5 },
                                            { .weight = 0.25, .is_last = true },
                                            { .weight = 1.0, .is_last = true },
                                            { .weight = 1.0, .is_last = true } };
    inflow_model model = model_of(parts, true, 0.25);
    state_table table;
    double out[PLACES];

    (void)state;
    kit_begin(&kit, STAGES, HYDROS, 0, 1, 0);
    kit.hydros[0].initial_storage_hm3 = 100.0;
    kit.hydros[1].initial_storage_hm3 = 50.0;
    assert_int_equal(state_table_build(&table, arena, &model, NULL), MCP_OK);
    assert_int_equal(table.dimension, 8);
    state_start(&table, &kit.c, out);
    expect(out, 0, expected, 8);
}

/*
 * A quarter of the period is over before the study (sum 5 at weight 0.25), stage 0 is another half:
 * the lags stay, the sum grows by 0.5 * 10. Stage 1 ends it with weight 0.25 and covers 0.1 of the
 * next: the mean is (5 + 5 + 0.25 * 20) / 1 = 15, the new sum 0.1 * 20.
 */
static void parts_of_a_period_add_up(void **state)
{
    static const lag_move parts[STAGES] = { { .weight = 0.5 },
                                            { .weight = 0.25, .spill = 0.1, .is_last = true },
                                            { .weight = 0.9, .is_last = true },
                                            { .weight = 1.0, .is_last = true } };
    static const double in[] = { 0.0, 0.0, 7.0, 8.0, 3.0, 4.0, 5.0, 6.0 };
    static const double first[] = { 10.0, 12.0 }, second[] = { 20.0, 0.0 }, third[] = { 30.0, 0.0 };
    static const double running[] = { 7.0, 8.0, 3.0, 4.0, 10.0, 12.0 };
    static const double ended[] = { 15.0, 12.0, 7.0, 8.0, 2.0, 0.0 };
    inflow_model model = model_of(parts, true, 0.25);
    state_table table;
    double a[PLACES] = { 0 }, b[PLACES] = { 0 };

    (void)state;
    assert_int_equal(state_table_build(&table, arena, &model, NULL), MCP_OK);
    state_advance(&table, 0, in, 0, first, 1, a + 2);
    expect(a, 2, running, 6);
    state_advance(&table, 1, a, 0, second, 1, b + 2);
    expect(b, 2, ended, 6);
    state_advance(&table, 2, b, 0, third, 1, a + 2); /* (2 + 0.9 * 30) / (0.1 + 0.9) */
    assert_true(fabs(a[2] - 29.0) < 1e-12);
}

/* Before stage 3 longer periods begin: lag 1 becomes 0.25 z0 + 0.75 z1, lag 2 half of z2. */
static void longer_periods_take_their_lags(void **state)
{
    static const size_t first[] = { 0, 2 }, count[] = { 2, 1 };
    static const double early[] = { 0.25, 0.75 }, late[] = { 0.5 };
    static const double *const shares[] = { early, late };
    static const lag_rebuild rebuild = { 2, first, count, shares };
    static const lag_move moves[STAGES] = {
        { .weight = 1.0, .is_last = true },
        { .weight = 1.0, .is_last = true },
        { .weight = 1.0, .is_last = true },
        { .weight = 1.0, .is_last = true, .rebuild = &rebuild },
    };
    static const double inflow[3][2] = { { 4.0, 8.0 }, { 40.0, 80.0 }, { 6.0, 10.0 } };
    static const double expected[] = { 31.0, 62.0, 3.0, 5.0 };
    inflow_model model = model_of(moves, false, 0.0);
    state_table table;
    double a[PLACES] = { 0 }, b[PLACES];

    (void)state;
    assert_int_equal(state_table_build(&table, arena, &model, NULL), MCP_OK);
    assert_int_equal(table.dimension, 10);
    for (size_t t = 0; t < 3; t++) {
        state_advance(&table, t, a, 0, inflow[t], 1, b + 2);
        memcpy(a, b, sizeof a);
        a[0] = a[1] = 0.0;
    }
    expect(a, 2, expected, 4);
    state_advance(&table, 3, a, 0, inflow[0], 1, b + 2);
    assert_true(b[2] == 4.0 && b[4] == 31.0);
}

/* g . (A x + B z) = (A' g) . x + (B' g) . z at any x, z and g. */
static void gradients_are_the_transpose(void **state)
{
    static const lag_move parts[STAGES] = { { .weight = 0.5 },
                                            { .weight = 0.25, .spill = 0.1, .is_last = true },
                                            { .weight = 0.9, .is_last = true },
                                            { .weight = 1.0, .is_last = true } };
    inflow_model model = model_of(parts, true, 0.25);
    generator g = generator_seeded(5);
    state_table table;

    (void)state;
    assert_int_equal(state_table_build(&table, arena, &model, NULL), MCP_OK);
    for (size_t t = 0; t < STAGES; t++) {
        double x[PLACES], z[HYDROS], weight[PLACES], out[PLACES] = { 0 }, gradient[PLACES];
        double by_inflow[HYDROS] = { 0 }, none[HYDROS] = { 0 }, left = 0.0, right = 0.0;
        for (size_t j = 0; j < table.dimension; j++) {
            x[j] = generator_uniform(&g);
            weight[j] = generator_uniform(&g);
        }
        for (size_t h = 0; h < HYDROS; h++)
            z[h] = generator_uniform(&g);
        state_advance(&table, t, x, 0, z, 1, out + 2);
        state_pull_back(&table, t, none, by_inflow, weight, gradient);
        for (size_t j = HYDROS; j < table.dimension; j++) {
            left += weight[j] * out[j];
            right += gradient[j] * x[j];
        }
        for (size_t h = 0; h < HYDROS; h++)
            right += by_inflow[h] * z[h];
        assert_true(fabs(left - right) < 1e-12);
    }
}

/* ---- a study --------------------------------------------------------------------------------- */

static cobre_ar_row ar[KIT_STAGES * 2];
static const double past[] = { 55.0, 35.0 };

/*
 * One plant that can store nothing: its inflow z replaces thermal energy at 50 from a load of 500,
 * so the stage costs (500 - z) * 50 * 730 and all expected costs follow from expected inflows.
 */
static void linear_case(size_t stages, double first, double second)
{
    size_t rows = 0;

    kit_begin(&kit, stages, 1, 1, 1, 0);
    kit_set_limit(&kit, (uint32_t)stages + 2);
    kit_set_thermal(&kit, 0, 1000.0, 50.0);
    kit.hydros[0].past_inflow = past;
    kit.hydros[0].past_inflow_count = 2;
    for (size_t t = 0; t < stages; t++) {
        kit.stages[t].openings = 4;
        kit.stages[t].has_season = true;
        kit_hydro(&kit, t, 0)->max_storage = 0.0;
        kit_hydro(&kit, t, 0)->inflow_mean = 100.0;
        kit_hydro(&kit, t, 0)->inflow_std = 10.0;
        kit_bus(&kit, t, 0)->load_mean = 500.0;
        ar[rows++] = (cobre_ar_row){ 0, (int32_t)t, 1, first, 0.5 };
        if (second != 0.0)
            ar[rows++] = (cobre_ar_row){ 0, (int32_t)t, 2, second, 0.5 };
    }
    kit.c.scenarios.ar = ar;
    kit.c.scenarios.ar_count = rows;
}

/* Train; the bound must be the expected cost of these expected inflows. */
static void assert_bound(sddp *study, const double *inflow)
{
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;
    double cost = 0.0;

    if (sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    for (size_t t = 0; t < kit.c.stage_count; t++)
        cost += (500.0 - inflow[t]) * 50.0 * 730.0;
    double bound = training.rows[training.iterations - 1].lower_bound;
    if (fabs(bound - cost) > 1e-9 * cost)
        fail_msg("bound %.12g and not %.12g", bound, cost);
    for (size_t i = 0; i < training.iterations; i++)
        assert_true(training.rows[i].lower_bound <= cost * (1.0 + 1e-9));
    sddp_free(study);
}

static double mean_noise(const sddp *study, size_t t)
{
    size_t dimension;
    double sum = 0.0;

    for (uint32_t w = 0; w < 4; w++)
        sum += sddp_opening(study, t, w, &dimension)[0];
    return sum / 4.0;
}

static sddp *new_study(void)
{
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, 2, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

/* All deviations are 10, so psi are the coefficients: z = 0.5 lag1 + 0.2 lag2 + 30 + 5 noise. */
static void an_autoregressive_study(void **state)
{
    double inflow[5], one = past[0], two = past[1];

    (void)state;
    linear_case(5, 0.5, 0.2);
    sddp *study = new_study();
    for (size_t t = 0; t < 5; t++) {
        inflow[t] = 0.5 * one + 0.2 * two + 30.0 + 5.0 * mean_noise(study, t);
        two = one;
        one = inflow[t];
    }
    assert_bound(study, inflow);
}

/*
 * Two stages a month: January 1 to 15 and 16 to 31, February 1 to 14 and 15 to 29. Lag 1 is the
 * mean of the month before: through January it stays, then it is (15 z0 + 16 z1) / 31.
 */
static void halves_of_months(void **state)
{
    static const cobre_season seasons[] = { { 0, "January", 1, 1, 1, 31 },
                                            { 1, "February", 2, 1, 2, 29 } };
    static const cobre_day ends[] = { 15, 31, 45, 60 };
    double inflow[4], lag = past[0];

    (void)state;
    linear_case(4, 0.5, 0.0);
    kit.c.seasons = seasons;
    kit.c.season_count = 2;
    kit.c.has_seasons = true;
    for (size_t t = 0; t < 4; t++) {
        kit.stages[t].season_id = t / 2;
        kit.stages[t].start = DAYS_2024 + (t > 0 ? ends[t - 1] : 0);
        kit.stages[t].end = DAYS_2024 + ends[t];
    }
    sddp *study = new_study();
    for (size_t t = 0; t < 4; t++) {
        inflow[t] = 0.5 * lag + 50.0 + 5.0 * mean_noise(study, t);
        if (t == 1)
            lag = (15.0 * inflow[0] + 16.0 * inflow[1]) / 31.0;
    }
    assert_int_equal(sddp_state(study)->dimension, 3);
    assert_bound(study, inflow);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(lags_move_up),
        TEST(the_first_state),
        TEST(parts_of_a_period_add_up),
        TEST(longer_periods_take_their_lags),
        TEST(gradients_are_the_transpose),
        TEST(an_autoregressive_study),
        TEST(halves_of_months),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
