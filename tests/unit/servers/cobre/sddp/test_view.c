/*
 * test_view.c - what a view of a policy carries is all that a training needs to continue with the
 * same bits, whatever the case; and boundary cuts. Method page, 11.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "sddp/start.h"
#include "sddp/view.h"

enum { ITERATIONS = 7 };

static case_kit kit;

static sddp *fresh(unsigned threads)
{
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return study;
}

static sddp_training train_on(sddp *study, uint32_t limit)
{
    sddp_training result;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    kit_set_limit(&kit, limit);
    if (sddp_train(study, NULL, &result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return result;
}

static double simulated_mean(sddp *study)
{
    sddp_simulation result;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;

    if (sddp_simulate(study, NULL, &result, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return result.mean;
}

/* A study that takes what another has learned. */
static sddp *started(const sddp *from, unsigned threads, sddp_start_mode mode, bool *is_exact)
{
    mcp_arena *arena = mcp_arena_new(0);
    sddp *study = fresh(threads);
    mcp_error err = MCP_ERROR_INIT;
    policy saved;

    assert_int_equal(sddp_view_policy(&saved, from, arena, &err), MCP_OK);
    if (sddp_start(study, &saved, mode, is_exact, &err) != MCP_OK)
        fail_msg("%s", err.message);
    mcp_arena_free(arena);
    return study;
}

static void check_same(const sddp_training *a, const sddp_training *b)
{
    assert_int_equal(a->iterations, b->iterations);
    assert_int_equal(a->reason, b->reason);
    assert_int_equal(a->total_cuts, b->total_cuts);
    assert_int_equal(a->active_cuts, b->active_cuts);
    assert_int_equal(a->peak_active_cuts, b->peak_active_cuts);
    for (size_t i = 0; i < a->iterations; i++) {
        const sddp_iteration *x = &a->rows[i], *y = &b->rows[i];
        assert_int_equal(x->iteration, y->iteration);
        assert_true(x->lower_bound == y->lower_bound);
        assert_true(x->upper_bound == y->upper_bound);
        assert_true(x->upper_bound_std == y->upper_bound_std);
        assert_int_equal(x->cuts_removed, y->cuts_removed);
        assert_int_equal(x->cuts_active, y->cuts_active);
    }
}

/* Every cut, record, basis and state of two studies. */
static void check_same_policy(const sddp *a, const sddp *b)
{
    mcp_arena *arena = mcp_arena_new((size_t)256 << 20);
    policy one, two;

    assert_int_equal(sddp_view_policy(&one, a, arena, NULL), MCP_OK);
    assert_int_equal(sddp_view_policy(&two, b, arena, NULL), MCP_OK);
    for (size_t t = 0; t < one.stage_count; t++) {
        const policy_stage *x = &one.stages[t], *y = &two.stages[t];
        size_t bytes = x->bases.columns + x->bases.rows + x->bases.set_count;
        assert_int_equal(x->cut_count, y->cut_count);
        assert_int_equal(x->warm_count, y->warm_count);
        for (size_t i = 0; i < x->cut_count; i++) {
            assert_memory_equal(&x->cuts[i], &y->cuts[i], sizeof x->cuts[i]);
            for (size_t j = 0; j < one.dimension; j++)
                assert_true(policy_coefficient(x, i, j) == policy_coefficient(y, i, j));
            if (i > 0)
                assert_true(x->cuts[i].slot > x->cuts[i - 1].slot);
        }
        assert_int_equal(x->bases.set_count, y->bases.set_count);
        for (size_t i = 0; i < x->bases.set_count; i++)
            assert_int_equal(x->bases.set[i], y->bases.set[i]);
        for (size_t i = 0; i < x->bases.count; i++)
            assert_memory_equal(x->bases.bytes + i * x->bases.stride,
                                y->bases.bytes + i * y->bases.stride, bytes);
        assert_int_equal(x->state_count, y->state_count);
        for (size_t i = 0; i < x->state_count; i++)
            assert_memory_equal(policy_state(x, i, one.dimension),
                                policy_state(y, i, one.dimension), one.dimension * sizeof(double));
    }
    mcp_arena_free(arena);
}

/* Undisturbed, and stopped after each iteration by a new study, with one to three threads. */
static void resume_everywhere(void (*make)(void))
{
    make();
    sddp *whole = fresh(1);
    sddp_training expected = train_on(whole, ITERATIONS);
    double mean = simulated_mean(whole);

    for (uint32_t k = 1; k < ITERATIONS; k++) {
        bool is_exact = false;
        make();
        sddp *first = fresh(1 + k % 3);
        train_on(first, k);
        sddp *second = started(first, 1 + (k + 1) % 3, SDDP_START_RESUME, &is_exact);
        sddp_free(first);
        assert_true(is_exact);
        sddp_training result = train_on(second, ITERATIONS);
        check_same(&expected, &result);
        check_same_policy(whole, second);
        assert_true(simulated_mean(second) == mean);
        sddp_free(second);
    }
    sddp_free(whole);
}

static void wide(void)
{
    case_wide(&kit, 4, 5);
}

static void selecting(void)
{
    case_wide(&kit, 4, 5);
    kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_DOMINATION,
                                                    .check_frequency = 2,
                                                    .max_active = 8 };
}

/* The inflows of a hydro follow those of the last two stages. */
static void autoregressive(void)
{
    static cobre_inflow_stats stats[4 * 5];
    static cobre_ar_row rows[4 * 5 * 2];
    static double past[5][2];
    size_t ar = 0;

    case_wide(&kit, 4, 5);
    kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_LML1,
                                                    .memory_window = 2,
                                                    .check_frequency = 1 };
    for (size_t h = 0; h < 5; h++) {
        past[h][0] = 20.0 + (double)h;
        past[h][1] = 25.0 - (double)h;
        kit.hydros[h].past_inflow = past[h];
        kit.hydros[h].past_inflow_count = 2;
        for (size_t t = 0; t < 4; t++) {
            const cobre_hydro_stage *at = kit_hydro(&kit, t, h);
            kit.stages[t].has_season = true;
            kit.stages[t].season_id = (uint32_t)t;
            stats[h * 4 + t] = (cobre_inflow_stats){ h, (int32_t)t, at->inflow_mean,
                                                     at->inflow_std };
            rows[ar++] = (cobre_ar_row){ h, (int32_t)t, 1, 0.5, 0.8 };
            rows[ar++] = (cobre_ar_row){ h, (int32_t)t, 2, -0.1, 0.8 };
        }
    }
    kit.c.scenarios.inflow_stats = stats;
    kit.c.scenarios.inflow_stats_count = 20;
    kit.c.scenarios.ar = rows;
    kit.c.scenarios.ar_count = ar;
}

static void cyclic(void)
{
    selecting();
    kit.c.is_cyclic = true;
    kit.c.cycle_start = 1;
    kit.c.config.cycle_rounds = 3;
    for (size_t t = 0; t < 4; t++)
        kit.stages[t].discount = 0.9;
}

static void multi_cut(void)
{
    case_wide(&kit, 3, 4);
    kit.c.config.is_multi_cut = true;
    kit.c.config.selection = (cobre_cut_selection){ .method = COBRE_SELECTION_LEVEL1,
                                                    .check_frequency = 3 };
    kit.stages[0].is_cvar = true;
    kit.stages[0].cvar_alpha = 0.5;
    kit.stages[0].cvar_lambda = 0.4;
}

static void ruled_by_simulation(void)
{
    case_wide(&kit, 3, 4);
    kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                          .limit = 1,
                                          .tolerance = 1.0,
                                          .replications = 5,
                                          .period = 2,
                                          .distance_tolerance = 0.06 };
    kit.c.config.rule_count = 2;
}

static void resumes_to_the_same_bits(void **state)
{
    void (*const makes[])(void) = { wide, selecting, autoregressive, cyclic, multi_cut };

    (void)state;
    for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++)
        resume_everywhere(makes[i]);
}

/* The rule looks back on a simulation before the stop. */
static void rules_resume(void **state)
{
    (void)state;
    ruled_by_simulation();
    sddp *whole = fresh(1);
    sddp_training expected = train_on(whole, 12);
    assert_int_equal(expected.reason, SDDP_SIMULATION);
    ruled_by_simulation();
    sddp *first = fresh(1);
    train_on(first, (uint32_t)expected.iterations - 1);
    sddp *second = started(first, 2, SDDP_START_RESUME, NULL);
    sddp_training result = train_on(second, 12);
    check_same(&expected, &result);
    sddp_free(whole);
    sddp_free(first);
    sddp_free(second);
}

/* At the limit nothing is left to do. */
static void a_resume_at_the_limit(void **state)
{
    (void)state;
    wide();
    sddp *first = fresh(1);
    sddp_training before = train_on(first, 3);
    sddp *second = started(first, 1, SDDP_START_RESUME, NULL);
    sddp_training after = train_on(second, 3);
    check_same(&before, &after);
    sddp_free(first);
    sddp_free(second);
}

/* ---- boundary -------------------------------------------------------------------------------- */

/*
 * The last stage of d02 ends at will; with a boundary cut "1000 - 5 v" thousands water left in it
 * is worth 5,000 an hm3, less than the 50 / 0.0036 of burning it now, so nothing is kept: the bound
 * grows by the 1,000 thousand. At 20,000 an hm3 all is kept that can be.
 */
static double bound_with_boundary(double intercept, double slope)
{
    const double *chunk = &slope;
    const policy_cut cut = { .is_active = true, .intercept = intercept };
    const policy_stage stage = { .cuts = &cut,
                                 .cut_count = 1,
                                 .coefficients = &chunk,
                                 .cuts_a_chunk = 1,
                                 .cut_stride = 1,
                                 .state_stride = 1 };
    const policy other = { .dimension = 1, .stages = &stage, .stage_count = 1 };
    mcp_error err = MCP_ERROR_INIT;

    case_d02(&kit);
    kit.c.config.policy.boundary_path = "elsewhere";
    sddp *study = fresh(1);
    if (sddp_set_boundary(study, &other, 0, &err) != MCP_OK)
        fail_msg("%s", err.message);
    sddp_training result = train_on(study, 5);
    double bound = result.rows[4].lower_bound;
    mcp_arena *arena = mcp_arena_new(0);
    sddp *again = fresh(1);
    bool is_exact = false;
    policy saved;
    assert_int_equal(sddp_view_policy(&saved, study, arena, &err), MCP_OK);
    assert_int_equal(sddp_set_boundary(again, &other, 1, &err), MCP_E_PARAMS);
    assert_int_equal(sddp_set_boundary(again, &other, 0, &err), MCP_OK);
    assert_int_equal(sddp_start(again, &saved, SDDP_START_RESUME, &is_exact, &err), MCP_OK);
    assert_true(is_exact);
    check_same_policy(study, again);
    mcp_arena_free(arena);
    sddp_free(study);
    sddp_free(again);
    return bound;
}

static void boundary_cuts(void **state)
{
    const double plain = 23635000.0 / 9.0;

    (void)state;
    assert_true(fabs(bound_with_boundary(1000.0, -5.0) - plain - 1e6) < 1e-3);
    /* 200 hm3 fit in; 100 + 2.628 (40 + 10) = 231.4 come: 31.4 hm3 are turbined in all. */
    double thermal = (2.0 * 80.0 - 31.4 / 2.628) * 50.0 * 730.0;
    assert_true(fabs(bound_with_boundary(10000.0, -20.0) - thermal - (10000.0 - 4000.0) * 1e3) <
                1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumes_to_the_same_bits),
        cmocka_unit_test(rules_resume),
        cmocka_unit_test(a_resume_at_the_limit),
        cmocka_unit_test(boundary_cuts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
