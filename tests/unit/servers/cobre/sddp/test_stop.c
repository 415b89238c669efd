/*
 * test_stop.c - the stopping rules of the method page, 10, on made-up histories.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sddp/stop.h"

static sddp_iteration rows[20];
static const bool none[4];

static void history(const double *bounds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = (sddp_iteration){ .iteration = (int32_t)i + 1, .lower_bound = bounds[i] };
}

static const cobre_stopping_rule limit_3 = { .kind = COBRE_RULE_ITERATION_LIMIT, .limit = 3 };
static const cobre_stopping_rule ten_seconds = { .kind = COBRE_RULE_TIME_LIMIT, .seconds = 10.0 };
static const cobre_stopping_rule stalled_3 = { .kind = COBRE_RULE_BOUND_STALLING,
                                               .limit = 3,
                                               .tolerance = 0.01 };
static const cobre_stopping_rule stalled_1 = { .kind = COBRE_RULE_BOUND_STALLING,
                                               .limit = 1,
                                               .tolerance = 0.01 };

static cobre_config config_of(const cobre_stopping_rule *rules, size_t count, bool all)
{
    return (cobre_config){
        .rules = rules, .rule_count = count, .stop_when_all = all, .max_iterations = 100
    };
}

static void iteration_limit(void **state)
{
    cobre_config config = config_of(&limit_3, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 1, 2, 3 }, 3);
    assert_false(stop_by_rules(&reason, &config, rows, 2, 0.0, none));
    assert_true(stop_by_rules(&reason, &config, rows, 3, 0.0, none));
    assert_int_equal(reason, SDDP_ITERATION_LIMIT);
}

static void time_limit(void **state)
{
    cobre_config config = config_of(&ten_seconds, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 1 }, 1);
    assert_false(stop_by_rules(&reason, &config, rows, 1, 9.99, none));
    assert_true(stop_by_rules(&reason, &config, rows, 1, 10.0, none));
    assert_int_equal(reason, SDDP_TIME_LIMIT);
}

/* Window 3 compares with the bound two iterations ago, and not before three bounds exist. */
static void bound_stalling(void **state)
{
    cobre_config config = config_of(&stalled_3, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 100, 100, 100.5, 103 }, 4);
    assert_false(stop_by_rules(&reason, &config, rows, 2, 0.0, none));
    assert_true(stop_by_rules(&reason, &config, rows, 3, 0.0, none));
    assert_int_equal(reason, SDDP_BOUND_STALLING);
    assert_false(stop_by_rules(&reason, &config, rows, 4, 0.0, none));
}

static void window_of_one_fires_at_once(void **state)
{
    cobre_config config = config_of(&stalled_1, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 7 }, 1);
    assert_true(stop_by_rules(&reason, &config, rows, 1, 0.0, none));
}

/* Bounds below 1 are compared absolutely. */
static void small_bounds(void **state)
{
    cobre_config config = config_of(&stalled_3, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 0.001, 0.002, 0.009 }, 3);
    assert_true(stop_by_rules(&reason, &config, rows, 3, 0.0, none));
}

static void first_rule_names_the_reason(void **state)
{
    const cobre_stopping_rule both[] = { ten_seconds, limit_3 };
    cobre_config config = config_of(both, 2, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 1, 2, 3 }, 3);
    assert_true(stop_by_rules(&reason, &config, rows, 3, 11.0, none));
    assert_int_equal(reason, SDDP_TIME_LIMIT);
    assert_true(stop_by_rules(&reason, &config, rows, 3, 1.0, none));
    assert_int_equal(reason, SDDP_ITERATION_LIMIT);
}

/* Mode all waits for every rule, but not beyond the largest iteration limit. */
static void all_rules_together(void **state)
{
    const cobre_stopping_rule both[] = { ten_seconds, stalled_3 };
    cobre_config config = config_of(both, 2, true);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 100, 100, 100, 105 }, 4);
    assert_false(stop_by_rules(&reason, &config, rows, 3, 1.0, none));
    assert_false(stop_by_rules(&reason, &config, rows, 4, 11.0, none));
    assert_true(stop_by_rules(&reason, &config, rows, 3, 11.0, none));
    assert_int_equal(reason, SDDP_TIME_LIMIT);
    config.max_iterations = 4;
    assert_true(stop_by_rules(&reason, &config, rows, 4, 1.0, none));
    assert_int_equal(reason, SDDP_ITERATION_LIMIT);
}

/* Every second iteration, if the bound is stable over two; the simulation's word counts then. */
static void simulation(void **state)
{
    const cobre_stopping_rule rule = { .kind = COBRE_RULE_SIMULATION,
                                       .limit = 2,
                                       .tolerance = 0.01,
                                       .replications = 10,
                                       .period = 2 };
    const bool yes[] = { true };
    cobre_config config = config_of(&rule, 1, false);
    sddp_reason reason = SDDP_ERROR;

    (void)state;
    history((double[]){ 50, 100, 100, 100.5 }, 4);
    assert_false(stop_simulates(&rule, rows, 1));
    assert_false(stop_simulates(&rule, rows, 2)); /* not stable */
    assert_false(stop_simulates(&rule, rows, 3)); /* not the second */
    assert_true(stop_simulates(&rule, rows, 4));
    assert_false(stop_by_rules(&reason, &config, rows, 4, 0.0, none));
    assert_true(stop_by_rules(&reason, &config, rows, 4, 0.0, yes));
    assert_int_equal(reason, SDDP_SIMULATION);
}

/* (3 / 10)^2 + (0.4 / 1)^2 = 0.5^2: a mean below one counts as one. */
static void distance_of_means(void **state)
{
    (void)state;
    double distance = stop_distance((double[]){ 10.0, 0.5 }, (double[]){ 13.0, 0.1 }, 2);
    assert_true(distance > 0.5 - 1e-12 && distance < 0.5 + 1e-12);
    assert_true(stop_distance((double[]){ 7.0 }, (double[]){ 7.0 }, 1) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulation),         cmocka_unit_test(distance_of_means),
        cmocka_unit_test(iteration_limit),    cmocka_unit_test(time_limit),
        cmocka_unit_test(bound_stalling),     cmocka_unit_test(window_of_one_fires_at_once),
        cmocka_unit_test(small_bounds),       cmocka_unit_test(first_rule_names_the_reason),
        cmocka_unit_test(all_rules_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
