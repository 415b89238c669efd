/*
 * test_forward.c - paths through a cycle of stages: bounds and costs derived by hand. Method page,
 * 16, "cyclic".
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/study.h"

static case_kit kit;

static sddp *train(unsigned threads, uint32_t iterations, sddp_training *result)
{
    sddp *study = NULL;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    kit_set_limit(&kit, iterations);
    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK ||
        sddp_train(study, NULL, result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

static bool is_near(double value, double expected)
{
    bool near = fabs(value - expected) <= 1e-9 * fmax(1.0, fabs(expected));

    if (!near)
        fprintf(stderr, "%.17g is not near %.17g\n", value, expected);
    return near;
}

/* Thermal load alone: stage t costs load[t] * 10 * 730; what follows it counts d[t] times. */
static void thermal_cycle(size_t stages, size_t start, uint32_t rounds, const double *load,
                          const double *d)
{
    kit_begin(&kit, stages, 0, 1, 1, 0);
    kit_set_thermal(&kit, 0, 1000.0, 10.0);
    kit.c.is_cyclic = true;
    kit.c.cycle_start = start;
    kit.c.config.cycle_rounds = rounds;
    for (size_t t = 0; t < stages; t++) {
        kit_bus(&kit, t, 0)->load_mean = load[t];
        kit.stages[t].discount = d[t];
    }
}

static double last_bound(uint32_t iterations)
{
    sddp_training result;
    sddp *study = train(1, iterations, &result);
    double bound = result.rows[result.iterations - 1].lower_bound;

    sddp_free(study);
    return bound;
}

/* c + d c + d^2 c + ... = c / (1 - d), wherever the cycle begins, however often it is walked. */
static void a_perpetuity(void **state)
{
    const double load[] = { 20.0, 20.0, 20.0 }, d[] = { 0.8, 0.8, 0.8 };

    (void)state;
    for (size_t start = 0; start < 3; start++)
        for (uint32_t rounds = 1; rounds <= 3; rounds++) {
            thermal_cycle(3, start, rounds, load, d);
            assert_true(is_near(last_bound(110), 20.0 * 7300.0 / (1.0 - 0.8)));
        }
}

/* Stage 0 once, then 1, 2, 1, 2, ...: W = b + d1 (c + d2 W). */
static void stages_that_differ(void **state)
{
    const double load[] = { 20.0, 50.0, 30.0 }, d[] = { 0.9, 0.8, 0.7 };
    double unit = 7300.0, ring = (50.0 + 0.8 * 30.0) / (1.0 - 0.8 * 0.7) * unit;
    sddp_training result;

    (void)state;
    thermal_cycle(3, 1, 2, load, d);
    assert_true(is_near(last_bound(60), 20.0 * unit + 0.9 * ring));
    thermal_cycle(3, 1, 2, load, d);
    sddp *study = train(1, 2, &result);
    double path = 20.0 + 0.9 * (50.0 + 0.8 * (30.0 + 0.7 * (50.0 + 0.8 * 30.0)));
    assert_true(is_near(result.rows[0].upper_bound, path * unit));
    assert_int_equal(study->positions, 5);
    assert_int_equal(result.rows[0].lp_solves, 5 + 5 + 1);
    assert_int_equal(result.rows[0].cuts_added, 5);
    assert_int_equal(study_pool(study, 0)->count, 6); /* the node before stage 1: 3 an iteration */
    assert_ptr_equal(study_pool(study, 2), study_pool(study, 0));
    sddp_free(study);
}

/* In the arithmetic of the original the cycle is not closed. */
static void compatibility_walks_a_chain(void **state)
{
    const double load[] = { 20.0, 50.0, 30.0 }, d[] = { 0.9, 0.8, 0.7 };

    (void)state;
    thermal_cycle(3, 0, 2, load, d);
    kit.c.config.original_arithmetic = true;
    kit.c.is_cyclic = true;
    assert_true(is_near(last_bound(5), 7300.0 * (20.0 + 0.9 * (50.0 + 0.8 * 30.0))));
}

/* A risk measure of the last stage that differs from that before the cycle: pools of their own. */
static void risks_that_differ(void **state)
{
    const double load[] = { 20.0, 50.0, 30.0 }, d[] = { 0.9, 0.8, 0.7 };

    (void)state;
    thermal_cycle(3, 1, 2, load, d);
    kit.stages[2].is_cvar = true;
    kit.stages[2].cvar_alpha = 0.5;
    kit.stages[2].cvar_lambda = 1.0;
    sddp_training result;
    sddp *study = train(1, 60, &result);
    double ring = (50.0 + 0.8 * 30.0) / (1.0 - 0.8 * 0.7);
    assert_true(is_near(result.rows[59].lower_bound, 7300.0 * (20.0 + 0.9 * ring)));
    assert_ptr_not_equal(study_pool(study, 2), study_pool(study, 0));
    sddp_free(study);
}

/* A reservoir in a cycle with chance: the bound rises, and is the same with any threads. */
static void cycles_with_chance(void **state)
{
    sddp_training one, more;

    (void)state;
    for (size_t start = 0; start < 3; start++) {
        case_1dtoy(&kit);
        kit.c.is_cyclic = true;
        kit.c.cycle_start = start;
        kit.c.config.cycle_rounds = 3;
        kit.c.config.forward_passes = 2;
        kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_DOMINATION,
                                                        .check_frequency = 3 };
        for (size_t t = 0; t < 4; t++)
            kit.stages[t].discount = 0.9;
        sddp *study = train(1, 12, &one), *again = train(3, 12, &more);
        int64_t removed = 0;
        for (size_t i = 0; i < 12; i++) {
            assert_true(one.rows[i].lower_bound == more.rows[i].lower_bound);
            assert_true(one.rows[i].upper_bound == more.rows[i].upper_bound);
            removed += one.rows[i].cuts_removed;
        }
        assert_true(removed > 0);
        assert_true(one.rows[11].lower_bound > one.rows[0].lower_bound);
        sddp_free(study);
        sddp_free(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_perpetuity),
        cmocka_unit_test(stages_that_differ),
        cmocka_unit_test(compatibility_walks_a_chain),
        cmocka_unit_test(risks_that_differ),
        cmocka_unit_test(cycles_with_chance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
