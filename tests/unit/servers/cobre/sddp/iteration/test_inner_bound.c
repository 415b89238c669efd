/*
 * test_inner_bound.c - the upper bound by the inner approximation: hand-derived values, and what it
 * must be whatever the case: never below the optimum, never rising, the same for any thread count.
 *
 * In the small cases a stage has 1 / 0.0036 hours, so 1 m3/s over a stage is 1 hm3; their costs are
 * given per MW and hour and multiplied by those hours.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/sddp.h"
#include "sddp/start.h"
#include "sddp/view.h"

#define HOURS (1.0 / 0.0036)

static case_kit kit;

static void assert_near(double value, double expected, double relative)
{
    if (!(fabs(value - expected) <= relative * fmax(1.0, fabs(expected))))
        fail_msg("%.15g is not near %.15g", value, expected);
}

static sddp *train_with(unsigned threads, const sddp_observer *observer, sddp_training *result)
{
    sddp *study = NULL;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK)
        fail_msg("%s", err.message);
    if (sddp_train(study, observer, result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

static sddp *train(sddp_training *result)
{
    return train_with(1, NULL, result);
}

static void ask_for_bound(uint32_t first, uint32_t interval)
{
    kit.c.config.inner_bound = (cobre_inner_bound){
        .enabled = true, .first_iteration = first, .interval = interval, .fallback = NAN, .scale = 1
    };
}

/*
 * 10 MW of load in both stages, 10 hm3 and no inflow; 5 MW of power at a price of 1, then as much
 * as is needed at 4 in the first stage and at 3 in the second one.
 */
static void case_small(void)
{
    kit_begin(&kit, 2, 1, 2, 1, 0);
    kit_set_hydro(&kit, 0, 10.0, 100.0, 100.0, 0.0);
    kit_set_thermal(&kit, 0, 5.0, 1.0);
    kit_set_thermal(&kit, 1, 100.0, 4.0);
    kit_thermal(&kit, 1, 1)->cost_per_mwh = 3.0;
    for (size_t t = 0; t < 2; t++) {
        kit_set_hours(&kit, t, HOURS);
        kit_bus(&kit, t, 0)->load_mean = 10.0;
    }
    ask_for_bound(1, 1);
}

/* The cost of `need` MW in the second stage of the small case. */
static double second_stage(double need)
{
    double dear = fmax(0.0, need - 5.0);

    return fmax(0.0, need - dear) + 3.0 * dear;
}

/* The first path spends all water in the first stage. The future cost after it is 5 * 1 + 5 * 3,
 * and leaving more than nothing is charged at the steepest slope, more than it can save. The second
 * path keeps 5 hm3, since 3 is more than 1 and less than 4: 5 in each stage, the optimum. */
static void two_stages(void **state)
{
    sddp_training result;

    (void)state;
    case_small();
    sddp *study = train(&result);
    assert_true(result.rows[0].has_inner_bound && result.rows[1].has_inner_bound);
    assert_near(result.rows[0].inner_upper_bound, 20.0 * HOURS, 1e-9);
    assert_near(result.rows[1].inner_upper_bound, 10.0 * HOURS, 1e-9);
    assert_near(result.rows[9].inner_upper_bound, 10.0 * HOURS, 1e-9);
    assert_near(result.rows[9].lower_bound, 10.0 * HOURS, 1e-9);
    assert_near(sddp_training_inner_bound(&result), 10.0 * HOURS, 1e-9);
    sddp_free(study);
}

/* Multi-cut has another program in each stage, but the same vertices and so the same bound. */
static void two_stages_of_multi_cut(void **state)
{
    sddp_training result;

    (void)state;
    case_small();
    kit.c.config.is_multi_cut = true;
    sddp *study = train(&result);
    assert_near(result.rows[0].inner_upper_bound, 20.0 * HOURS, 1e-9);
    assert_near(result.rows[1].inner_upper_bound, 10.0 * HOURS, 1e-9);
    sddp_free(study);
}

/* Inflows of 0 or 8 in the second stage, which has the risk measure (1 - l) * E + l * CVaR_1/2 of
 * the first one: the worse of two equally likely outcomes has the weight (1 + l) / 2. */
static void check_two_openings(double lambda)
{
    static const double first[] = { 0.0 }, second[] = { -1.0, 1.0 };
    static const double *const openings[] = { first, second };
    static const uint32_t counts[] = { 1, 2 };
    double worse = (1.0 + lambda) / 2.0, at_once = 0.0, optimum = INFINITY;
    sddp_training result;

    case_small();
    kit.c.scenarios.openings = openings;
    kit.c.scenarios.opening_counts = counts;
    kit.stages[1].openings = 2;
    kit_hydro(&kit, 1, 0)->inflow_mean = kit_hydro(&kit, 1, 0)->inflow_std = 4.0;
    kit.stages[0].is_cvar = lambda > 0.0;
    kit.stages[0].cvar_alpha = 0.5;
    kit.stages[0].cvar_lambda = lambda;
    sddp *study = train(&result);
    for (int i = 0; i <= 100; i++) { /* of what is kept: the cost is linear between its corners */
        double kept = 0.1 * i, need = fmax(0.0, 2.0 - kept);
        double cost = fmax(0.0, kept - 5.0) * 3.0 + kept; /* 1 up to 5, then 4 */
        cost += worse * second_stage(10.0 - kept) + (1.0 - worse) * second_stage(need);
        at_once = i == 0 ? cost : at_once;
        optimum = fmin(optimum, cost);
    }
    assert_near(result.rows[0].inner_upper_bound, at_once * HOURS, 1e-9);
    assert_near(sddp_training_inner_bound(&result), optimum * HOURS, 1e-9);
    assert_near(result.rows[9].lower_bound, optimum * HOURS, 1e-9);
    sddp_free(study);
}

static void two_openings(void **state)
{
    (void)state;
    check_two_openings(0.0);
    check_two_openings(0.4);
    check_two_openings(1.0);
}

/* Whatever happens, the bound neither falls below `optimum` nor rises. */
static void check_record(const sddp_training *result, double optimum)
{
    double before = INFINITY;

    for (size_t i = 0; i < result->iterations; i++) {
        const sddp_iteration *row = &result->rows[i];
        if (!row->has_inner_bound)
            continue;
        if (row->inner_upper_bound < optimum * (1.0 - 1e-9))
            fail_msg("iteration %zu: %.15g is below the optimum %.15g", i + 1,
                     row->inner_upper_bound, optimum);
        if (row->inner_upper_bound > before * (1.0 + 1e-9))
            fail_msg("iteration %zu: %.15g is above the bound before, %.15g", i + 1,
                     row->inner_upper_bound, before);
        assert_true(row->inner_upper_bound >= row->lower_bound * (1.0 - 1e-9));
        before = row->inner_upper_bound;
    }
    assert_true(isfinite(before));
}

/* The optimum of the sample tree is known (method page, 15). The record of the training is that of
 * one without the bound. */
static void toy(void **state)
{
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    ask_for_bound(3, 25);
    sddp *study = train(&result);
    check_record(&result, 2605944.5860989215);
    for (size_t i = 0; i < 128; i++)
        assert_int_equal(result.rows[i].has_inner_bound, i >= 2 && (i - 2) % 25 == 0);
    assert_near(sddp_training_inner_bound(&result), 2605944.5860989215, 1e-2);
    assert_near(result.rows[127].lower_bound, 2605295.121009262, 1e-6);
    assert_int_equal(result.rows[2].lp_solves, 44);
    sddp_free(study);
}

/* Risk-averse, where the mean of the forward passes says nothing: both bounds meet. */
static void toy_averse_to_risk(void **state)
{
    sddp_training result;

    (void)state;
    case_1dtoy(&kit);
    ask_for_bound(1, 50);
    kit_set_limit(&kit, 151);
    for (size_t t = 0; t < 4; t++) {
        kit.stages[t].is_cvar = true;
        kit.stages[t].cvar_alpha = 0.3;
        kit.stages[t].cvar_lambda = 0.2 + 0.2 * (double)t;
    }
    sddp *study = train(&result);
    check_record(&result, result.rows[150].lower_bound);
    assert_near(sddp_training_inner_bound(&result), result.rows[150].lower_bound, 2e-2);
    sddp_free(study);
}

/* A cost of 3 * 4 a stage and the discount d in every stage: 12 / (1 - d), from the first round on;
 * with a stage before the cycle as well. */
static void cycles(void **state)
{
    sddp_training result;

    (void)state;
    for (size_t start = 0; start < 3; start++) {
        kit_begin(&kit, 3, start == 2, 1, 1, 0);
        kit_set_limit(&kit, 60);
        kit_set_thermal(&kit, 0, 100.0, 4.0);
        kit.c.is_cyclic = true;
        kit.c.cycle_start = start;
        kit.c.config.cycle_rounds = 2;
        for (size_t t = 0; t < 3; t++) {
            kit.stages[t].discount = 0.8;
            kit_set_hours(&kit, t, HOURS);
            kit_bus(&kit, t, 0)->load_mean = 3.0;
        }
        ask_for_bound(1, 59);
        sddp *study = train(&result);
        check_record(&result, 12.0 * HOURS / 0.2);
        assert_near(sddp_training_inner_bound(&result), 12.0 * HOURS / 0.2, 1e-9);
        sddp_free(study);
    }
}

/* The same bits for any number of threads. */
static void threads(void **state)
{
    double bound[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        sddp_training result;
        case_wide(&kit, 3, 4);
        kit_set_limit(&kit, 4);
        ask_for_bound(2, 2);
        sddp *study = train_with(i + 1, NULL, &result);
        check_record(&result, result.rows[3].lower_bound);
        bound[i] = sddp_training_inner_bound(&result);
        sddp_free(study);
    }
    assert_true(bound[0] == bound[1] && bound[0] == bound[2]);
}

/* A resumed training has the bounds before, and the same bits as an undisturbed one after. */
static void resumed(void **state)
{
    sddp_training whole, result;
    bool is_exact = false;
    mcp_error err = MCP_ERROR_INIT;
    sddp_failure failure;
    mcp_arena *arena = mcp_arena_new(0);
    policy saved;

    (void)state;
    case_1dtoy(&kit);
    ask_for_bound(1, 4);
    kit_set_limit(&kit, 13);
    sddp *undisturbed = train(&whole);
    kit_set_limit(&kit, 7);
    sddp *first = train(&result);
    assert_int_equal(sddp_view_policy(&saved, first, arena, &err), MCP_OK);
    kit_set_limit(&kit, 13);
    sddp *second = NULL;
    assert_int_equal(sddp_new(&second, &kit.c, 1, &err), MCP_OK);
    assert_int_equal(sddp_start(second, &saved, SDDP_START_RESUME, &is_exact, &err), MCP_OK);
    assert_true(is_exact);
    assert_int_equal(sddp_train(second, NULL, &result, &failure, &err), MCP_OK);
    for (size_t i = 0; i < 13; i++) {
        assert_int_equal(result.rows[i].has_inner_bound, i % 4 == 0);
        assert_true(result.rows[i].inner_upper_bound == whole.rows[i].inner_upper_bound);
    }
    sddp_free(second);
    sddp_free(first);
    sddp_free(undisturbed);
    mcp_arena_free(arena);
}

/* Inflows of -20 m3/s need the slack of the inflow where less than that is stored. The first path
 * has visited one state alone; what less water than there costs is the price of that slack. */
static void negative_inflows(void **state)
{
    sddp_training result;

    (void)state;
    kit_begin(&kit, 2, 1, 1, 1, 0);
    kit.c.config.inflow_method = COBRE_INFLOW_PENALTY;
    kit_set_hydro(&kit, 0, 0.0, 500.0, 0.0, 0.0);
    kit.hydros[0].inflow_nonnegativity_cost = 1e6;
    kit_set_thermal(&kit, 0, 100.0, 5.0);
    kit.stages[0].openings = 8;
    for (size_t t = 0; t < 2; t++) {
        kit_set_hours(&kit, t, HOURS);
        kit_hydro(&kit, t, 0)->max_outflow = INFINITY;
        kit_hydro(&kit, t, 0)->inflow_mean = t == 0 ? 20.0 : -20.0;
        kit_hydro(&kit, t, 0)->inflow_std = t == 0 ? 10.0 : 0.0;
    }
    ask_for_bound(1, 1);
    kit_set_limit(&kit, 30);
    sddp *study = train(&result);
    for (size_t i = 0; i < result.iterations; i++)
        assert_true(result.rows[i].inner_upper_bound >= result.rows[29].lower_bound * (1.0 - 1e-9));
    sddp_free(study);
}

/* Without a slope where one is needed, nothing is trained. */
static void needs_a_slope(void **state)
{
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    case_small();
    kit_add_term(&kit, COBRE_VAR_HYDRO_STORAGE, 0, 1.0);
    kit_set_constraint(&kit, COBRE_SENSE_GE, 1.0, 10.0);
    assert_int_equal(sddp_new(&study, &kit.c, 1, &err), MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "fallback_value"));
    assert_non_null(strstr(err.message, "generic constraints"));
    kit.c.config.inner_bound.fallback = 1e4;
    assert_int_equal(sddp_new(&study, &kit.c, 1, &err), MCP_OK);
    sddp_free(study);
}

/* Stops at the first solve of the bound: those before it are known in number. */
static sddp_stop stop_late(void *data)
{
    int *left = data;

    return --*left < 0 ? SDDP_STOP_NOW : SDDP_STOP_NONE;
}

/* A stop in the middle of the bound drops the iteration, as one in any other step does. */
static void stops(void **state)
{
    sddp_training result;
    int left = 0, asked = 0;
    const sddp_observer count = { .should_stop = stop_late, .data = &asked };

    (void)state;
    case_small();
    kit_set_limit(&kit, 2);
    ask_for_bound(2, 2);
    asked = 1000;
    sddp_free(train_with(1, &count, &result));
    assert_int_equal(result.iterations, 2);
    left = 1000 - asked - 2; /* the last question is before iteration 3, the one before the bound's
                                last solve */
    const sddp_observer early = { .should_stop = stop_late, .data = &left };
    sddp *study = train_with(1, &early, &result);
    assert_int_equal(result.reason, SDDP_SHUTDOWN);
    assert_int_equal(result.iterations, 1);
    sddp_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_stages),
        cmocka_unit_test(two_stages_of_multi_cut),
        cmocka_unit_test(two_openings),
        cmocka_unit_test(toy),
        cmocka_unit_test(toy_averse_to_risk),
        cmocka_unit_test(cycles),
        cmocka_unit_test(threads),
        cmocka_unit_test(resumed),
        cmocka_unit_test(negative_inflows),
        cmocka_unit_test(needs_a_slope),
        cmocka_unit_test(stops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
