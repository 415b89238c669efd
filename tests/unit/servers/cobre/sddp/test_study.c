/*
 * test_study.c - creating a study: refused sizes, its values, and bases that follow their cuts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cases.h"
#include "oom.h"
#include "sddp/study.h"

static case_kit kit;

static mcp_status refused(const char *because)
{
    sddp *study = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = sddp_new(&study, &kit.c, 4, &err);

    assert_null(study);
    assert_non_null(strstr(err.message, because));
    return st;
}

static void one_stage_is_too_few(void **state)
{
    (void)state;
    kit_begin(&kit, 1, 1, 1, 1, 0);
    assert_int_equal(refused("two stages"), MCP_E_PARAMS);
}

static void nothing_to_walk(void **state)
{
    (void)state;
    case_1dtoy(&kit);
    kit.c.config.forward_passes = 0;
    assert_int_equal(refused("forward_passes"), MCP_E_PARAMS);
    case_1dtoy(&kit);
    kit.stages[2].openings = 0;
    assert_int_equal(refused("num_scenarios"), MCP_E_PARAMS);
}

/* 4 billion openings; as many forward passes; as many scenarios; a million plants in a million
   blocks. */
static void oversized_cases(void **state)
{
    (void)state;
    case_1dtoy(&kit);
    kit.stages[1].openings = UINT32_MAX;
    assert_int_equal(refused("GiB"), MCP_E_LIMIT);
    case_1dtoy(&kit);
    kit.c.config.forward_passes = UINT32_MAX;
    assert_int_equal(refused("GiB"), MCP_E_LIMIT);
    case_1dtoy(&kit);
    kit.c.config.simulation_enabled = true;
    kit.c.config.simulation_scenarios = UINT32_MAX;
    assert_int_equal(refused("GiB"), MCP_E_LIMIT);
    case_1dtoy(&kit);
    kit.rules[1] = (cobre_stopping_rule){ .kind = COBRE_RULE_SIMULATION,
                                          .replications = UINT32_MAX,
                                          .period = 1 };
    kit.c.config.rule_count = 2;
    assert_int_equal(refused("GiB"), MCP_E_LIMIT);
    case_1dtoy(&kit);
    kit.c.hydro_count = kit.stages[0].block_count = 1000000;
    assert_int_equal(refused("10 million"), MCP_E_LIMIT);
}

static void no_threads_means_one(void **state)
{
    sddp *study = NULL;

    (void)state;
    case_d02(&kit);
    assert_int_equal(sddp_new(&study, &kit.c, 0, NULL), MCP_OK);
    assert_int_equal(study->threads, 1);
    sddp_free(study);
    sddp_free(NULL);
}

/* Golden deviate of stage 0, opening 1 (method page, 4.2). */
static void openings_can_be_read(void **state)
{
    sddp *study = NULL;
    size_t dimension = 0;

    (void)state;
    case_1dtoy(&kit);
    assert_int_equal(sddp_new(&study, &kit.c, 1, NULL), MCP_OK);
    assert_true(sddp_opening(study, 0, 1, &dimension)[0] == -1.3954121776085244);
    assert_int_equal(dimension, 1);
    sddp_free(study);
}

/* D_0 = 1, D_t = D_(t-1) * d_(t-1): 31 days, then 29, at 12 % a year (method page, 6). */
static void discounts_multiply(void **state)
{
    sddp *study = NULL;

    (void)state;
    case_1dtoy(&kit);
    assert_int_equal(sddp_new(&study, &kit.c, 1, NULL), MCP_OK);
    assert_true(study->discount[0] == 1.0);
    assert_true(fabs(study->discount[1] - pow(1.12, -31.0 / 365.25)) < 1e-15);
    assert_true(fabs(study->discount[2] - pow(1.12, -60.0 / 365.25)) < 1e-15);
    sddp_free(study);
}

/* A basis for cuts a, b, c with b not basic: a can be removed, b only with a new basis. */
static void bases_follow_the_set(void **state)
{
    static const uint8_t tight[] = { LP_BASIC, LP_AT_LOWER, LP_BASIC };
    sddp *study = NULL;

    (void)state;
    case_d02(&kit);
    assert_int_equal(sddp_new(&study, &kit.c, 1, NULL), MCP_OK);
    const lp_program *program = &study->programs[0].program;
    size_t fixed = (size_t)(program->columns + program->rows);
    const double slope = -1.0;
    for (uint32_t i = 0; i < 3; i++) {
        cuts_begin_iteration(&study->pools[0]);
        assert_int_equal(
            cuts_append(&study->pools[0], 10.0, &slope, 0, &(cut_record){ .iteration = 1 }, NULL),
            MCP_OK);
        cuts_touch(&study->pools[0], i);
    }
    assert_int_equal(study_follow(study, 0, NULL), MCP_OK);
    uint8_t *basis = study_basis(study, 0, 0);
    memcpy(basis + fixed, tight, 3);
    basis[0] = LP_AT_UPPER;

    cuts_prune(&study->pools[0], 2);
    assert_int_equal(study_follow(study, 0, NULL), MCP_OK);
    assert_int_equal(basis[0], LP_AT_UPPER);
    assert_int_equal(basis[fixed], LP_AT_LOWER);
    assert_int_equal(basis[fixed + 1], LP_BASIC);

    cuts_prune(&study->pools[0], 1);
    assert_int_equal(study_follow(study, 0, NULL), MCP_OK);
    assert_memory_equal(basis, study->slack_basis[0], fixed);
    assert_int_equal(basis[fixed], LP_BASIC);
    sddp_free(study);
}

/* Many passes of a small case: its pool grows after 64 cuts and after 128. */
enum { WALK_PASSES = 16, WALK_ITERATIONS = 9 };

static mcp_status make_and_train(void *data)
{
    sddp *study = NULL;
    sddp_training result = { 0 };
    sddp_failure failure;

    (void)data;
    mcp_status st = sddp_new(&study, &kit.c, 2, NULL);
    if (st == MCP_OK)
        st = sddp_train(study, NULL, &result, &failure, NULL);
    assert_int_equal(result.total_cuts, WALK_PASSES * (int64_t)result.iterations);
    sddp_free(study);
    return st;
}

/* Memory may run out at any time; the completed iterations stay. */
static void memory_runs_out(void **state)
{
    (void)state;
    case_d02(&kit);
    kit_set_limit(&kit, WALK_ITERATIONS);
    kit.c.config.forward_passes = WALK_PASSES;
    kit.stages[1].openings = 2;
    kit_hydro(&kit, 1, 0)->inflow_std = 5.0;
    oom_walk(make_and_train, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_stage_is_too_few), cmocka_unit_test(nothing_to_walk),
        cmocka_unit_test(oversized_cases),      cmocka_unit_test(no_threads_means_one),
        cmocka_unit_test(openings_can_be_read), cmocka_unit_test(discounts_multiply),
        cmocka_unit_test(bases_follow_the_set), cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
