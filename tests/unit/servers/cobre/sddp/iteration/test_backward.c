/*
 * test_backward.c - cuts and bounds of one iteration against values derived by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/study.h"

static case_kit kit;

static sddp *train(uint32_t iterations)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    kit_set_limit(&kit, iterations);
    if (sddp_new(&study, &kit.c, 1, &err) != MCP_OK ||
        sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

static bool is_near(double value, double expected)
{
    return fabs(value - expected) <= 1e-9 * fmax(1.0, fabs(expected));
}

/*
 * d02, first forward pass: nothing is known of the future, so stage 0 turbines its limit of 50
 * m3/s and leaves 100 + 2.628 * (40 - 50) = 73.72 hm3. Stage 1 with incoming storage x makes 10 +
 * x/2.628 MW of 80, the rest thermally at 50: 70*50*730 = 2 555 000 less 50/0.0036 an hm3.
 */
static void cut_of_d02(void **state)
{
    (void)state;
    case_d02(&kit);
    sddp *study = train(1);
    assert_true(is_near(*study_trial(study, 1, 0), 73.72));
    assert_int_equal(study->pools[0].count, 1);
    assert_true(is_near(study->pools[0].intercept[0], 2555.0));
    assert_true(is_near(cuts_slope(&study->pools[0], 0, 0), -0.05 / 0.0036));
    assert_int_equal(study->pools[1].count, 0);
    sddp_free(study);
}

/* Two openings of the last stage with thermal load 30 and 50 at price 10, weighed 1/2 each; with
 * CVaR of the worst half only the second counts. The stage before has no cost of its own. */
static void two_openings(bool is_cvar, double expected)
{
    kit_begin(&kit, 2, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 1000.0, 10.0);
    kit.stages[1].openings = 2;
    kit.stages[0].is_cvar = is_cvar;
    kit.stages[0].cvar_alpha = 0.5;
    kit.stages[0].cvar_lambda = 1.0;
    kit.bus_is_stochastic[0] = true;
    kit_bus(&kit, 1, 0)->load_mean = 40.0;
    sddp *probe = train(1);
    size_t dimension;
    double a = sddp_opening(probe, 1, 0, &dimension)[0];
    double b = sddp_opening(probe, 1, 1, &dimension)[0];
    sddp_free(probe);
    assert_int_equal(dimension, 1);
    kit_bus(&kit, 1, 0)->load_std = 20.0 / fabs(a - b);
    kit_bus(&kit, 1, 0)->load_mean = 40.0 - kit_bus(&kit, 1, 0)->load_std * (a + b) / 2.0;

    sddp *study = train(1);
    assert_true(is_near(study->pools[0].intercept[0], expected * 10.0 * 730.0 / COST_SCALE));
    assert_true(is_near(study->rows[0].lower_bound, expected * 10.0 * 730.0));
    sddp_free(study);
}

static void risk_of_the_stage_before(void **state)
{
    (void)state;
    two_openings(false, 40.0);
    two_openings(true, 50.0);
}

/* The lower bound weighs the openings of the first stage by that stage's own risk measure. */
static void bound_is_the_risk_of_the_first_stage(void **state)
{
    (void)state;
    kit_begin(&kit, 2, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 1000.0, 10.0);
    kit.stages[0].openings = 4;
    kit.stages[0].is_cvar = true;
    kit.stages[0].cvar_alpha = 0.25;
    kit.stages[0].cvar_lambda = 1.0;
    kit.bus_is_stochastic[0] = true;
    kit_bus(&kit, 0, 0)->load_mean = 40.0;
    kit_bus(&kit, 0, 0)->load_std = 5.0;
    sddp *study = train(1);
    double worst = -1e30;
    for (uint32_t w = 0; w < 4; w++) {
        size_t dimension;
        worst = fmax(worst, sddp_opening(study, 0, w, &dimension)[0]);
    }
    assert_true(is_near(study->rows[0].lower_bound, (40.0 + 5.0 * worst) * 10.0 * 730.0));
    sddp_free(study);
}

/* d = 0.5: the second stage's 20 MW at 10 count half, in the bound as in the trajectory. */
static void future_is_discounted(void **state)
{
    (void)state;
    kit_begin(&kit, 2, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 100.0, 10.0);
    kit.stages[0].discount = 0.5;
    kit_bus(&kit, 0, 0)->load_mean = 5.0;
    kit_bus(&kit, 1, 0)->load_mean = 20.0;
    sddp *study = train(2);
    assert_true(is_near(study->rows[1].lower_bound, (5.0 + 0.5 * 20.0) * 10.0 * 730.0));
    assert_true(is_near(study->rows[1].upper_bound, (5.0 + 0.5 * 20.0) * 10.0 * 730.0));
    sddp_free(study);
}

/* (1 - lambda) * mean + lambda * mean of the worst of four, as many as alpha says. */
static double risk_of_four(const double *sorted, size_t worst, double lambda)
{
    double mean = (sorted[0] + sorted[1] + sorted[2] + sorted[3]) / 4.0, tail = 0.0;

    for (size_t i = 0; i < worst; i++)
        tail += sorted[i] / (double)worst;
    return (1.0 - lambda) * mean + lambda * tail;
}

/* Loads of a stage under its four openings, the highest first. */
static void loads_of(const sddp *study, size_t t, double *out)
{
    size_t dimension;

    for (uint32_t w = 0; w < 4; w++) {
        double load = 60.0 + 8.0 * sddp_opening(study, t, w, &dimension)[0];
        size_t at = w;
        for (; at > 0 && out[at - 1] < load; at--)
            out[at] = out[at - 1];
        out[at] = load;
    }
}

/*
 * Thermal load alone, at 10 a MWh: the stages do not touch each other, so the nested risk is the
 * sum of theirs. That of stage 0 is by its own measure, that of stage 1 by stage 0's too, that of
 * stage 2 by stage 1's; the measure of stage 2 weighs nothing.
 */
static void measures_that_differ(bool is_multi_cut)
{
    kit_begin(&kit, 3, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 1000.0, 10.0);
    kit.c.config.is_multi_cut = is_multi_cut;
    kit.bus_is_stochastic[0] = true;
    for (size_t t = 0; t < 3; t++) {
        kit.stages[t].openings = 4;
        kit.stages[t].discount = 0.9;
        kit.stages[t].is_cvar = true;
        kit_bus(&kit, t, 0)->load_mean = 60.0;
        kit_bus(&kit, t, 0)->load_std = 8.0;
    }
    kit.stages[0].cvar_alpha = 0.5;
    kit.stages[0].cvar_lambda = 0.3;
    kit.stages[1].cvar_alpha = 0.25;
    kit.stages[1].cvar_lambda = 0.8;
    kit.stages[2].cvar_alpha = 0.75;
    kit.stages[2].cvar_lambda = 1.0;
    sddp *study = train(3);
    double loads[3][4];
    for (size_t t = 0; t < 3; t++)
        loads_of(study, t, loads[t]);
    double last = 0.9 * risk_of_four(loads[2], 1, 0.8);
    double rest = 0.9 * (risk_of_four(loads[1], 2, 0.3) + last);
    double expected = 7300.0 * (risk_of_four(loads[0], 2, 0.3) + rest);
    assert_true(is_near(study->rows[2].lower_bound, expected));
    sddp_free(study);
}

static void risk_by_stage(void **state)
{
    (void)state;
    measures_that_differ(false);
    measures_that_differ(true);
}

/* Single and multi-cut have one optimum, and neither bound is ever above it. */
static void both_formulations_agree(void **state)
{
    double bounds[2][60];

    (void)state;
    for (int multi = 0; multi < 2; multi++) {
        case_1dtoy(&kit);
        kit.c.config.is_multi_cut = multi == 1;
        for (size_t t = 0; t < 4; t++) {
            kit.stages[t].openings = 3;
            kit.stages[t].is_cvar = t != 1;
            kit.stages[t].cvar_alpha = t == 0 ? 0.5 : 0.34;
            kit.stages[t].cvar_lambda = 0.4;
        }
        sddp *study = train(60);
        for (size_t i = 0; i < 60; i++)
            bounds[multi][i] = study->rows[i].lower_bound;
        assert_int_equal(study->pools[0].count, multi ? 180 : 60);
        sddp_free(study);
    }
    assert_true(is_near(bounds[0][59], bounds[1][59]));
    for (size_t i = 0; i < 60; i++) {
        assert_true(bounds[0][i] <= bounds[1][59] * (1.0 + 1e-9));
        assert_true(bounds[1][i] <= bounds[0][59] * (1.0 + 1e-9));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(risk_by_stage),
        cmocka_unit_test(both_formulations_agree),
        cmocka_unit_test(cut_of_d02),
        cmocka_unit_test(risk_of_the_stage_before),
        cmocka_unit_test(bound_is_the_risk_of_the_first_stage),
        cmocka_unit_test(future_is_discounted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
