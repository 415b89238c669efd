/*
 * test_solve.c - a solve gives the same to the last bit whatever was solved before, and the
 * optimum is that over all cuts of the pool, not of the working set.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../cases.h"
#include "sddp/study.h"
#include "stochastic/generator.h"

enum { STAGE = 2, HYDROS = 8, SOLVES = 24, REPEATS = 80, COLUMNS_MAX = 400 };

typedef struct answer {
    double objective, primal[COLUMNS_MAX], reduced[COLUMNS_MAX];
} answer;

static case_kit kit;
static double states[SOLVES][HYDROS];

static sddp *trained(unsigned threads)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;
    generator g = generator_seeded(3);

    case_wide(&kit, 4, HYDROS);
    kit_set_limit(&kit, 9);
    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK ||
        sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    for (size_t v = 0; v < SOLVES; v++)
        for (size_t h = 0; h < HYDROS; h++)
            states[v][h] = 200.0 * generator_uniform(&g);
    return study;
}

static lp *solve_case(sddp *study, worker *w, size_t v)
{
    solve_input in = study_input(study, STAGE, states[v],
                                 tree_noise(study->tree, STAGE, (uint32_t)(v % 6)),
                                 study_basis(study, STAGE, v % 3));
    lp *model = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (solve_stage(&model, w, &in, &err) != MCP_OK)
        fail_msg("%s", err.message);
    return model;
}

static void read_answer(answer *out, const sddp *study, const lp *model)
{
    size_t bytes = sizeof(double) * (size_t)study->programs[STAGE].program.columns;

    assert_true(bytes <= sizeof out->primal);
    memset(out, 0, sizeof *out);
    out->objective = lp_objective(model);
    memcpy(out->primal, lp_primal(model), bytes);
    memcpy(out->reduced, lp_reduced_costs(model), bytes);
}

/* Solves in order by one worker, then in random order by it and by a new one. */
static void history_does_not_show(void **state)
{
    static answer first[SOLVES], again;
    sddp *study = trained(2);
    generator g = generator_seeded(9);

    (void)state;
    for (size_t v = 0; v < SOLVES; v++)
        read_answer(&first[v], study, solve_case(study, &study->workers[0], v));
    for (size_t i = 0; i < REPEATS; i++) {
        size_t v = generator_below(&g, SOLVES);
        read_answer(&again, study, solve_case(study, &study->workers[i % 2], v));
        assert_memory_equal(&again, &first[v], sizeof again);
    }
    sddp_free(study);
}

/* No cut lies above theta; and with an empty working set the optimum is the same. */
static void all_cuts_hold(void **state)
{
    sddp *study = trained(1);
    worker *w = &study->workers[0];
    cut_pool *pool = &study->pools[STAGE];
    const stage_lp *program = &study->programs[STAGE];
    double objective[SOLVES], outgoing[HYDROS];

    (void)state;
    assert_int_equal(pool->count, 27);
    for (size_t v = 0; v < SOLVES; v++) {
        lp *model = solve_case(study, w, v);
        objective[v] = lp_objective(model);
        for (size_t j = 0; j < HYDROS; j++)
            outgoing[j] = lp_primal(model)[stage_lp_storage(program, j)];
        cuts_values(pool, outgoing, w->values);
        for (size_t c = 0; c < pool->count; c++)
            assert_true(w->values[c] <= lp_primal(model)[program->theta] + 2e-7);
    }
    cuts_set_rows(pool, NULL, 0);
    assert_int_equal(pool->set_count, 0);
    assert_int_equal(study_follow(study, STAGE, NULL), MCP_OK);
    for (size_t v = 0; v < SOLVES; v++)
        assert_true(fabs(lp_objective(solve_case(study, w, v)) - objective[v]) <=
                    1e-6 * fmax(1.0, objective[v]));
    sddp_free(study);
}

/* A solve of a stage counts once, however many LP solves the violated cuts make of it. */
static void a_stage_solve_counts_once(void **state)
{
    sddp *study = trained(1);
    worker *w = &study->workers[0];

    (void)state;
    cuts_set_rows(&study->pools[STAGE], NULL, 0);
    assert_int_equal(study_follow(study, STAGE, NULL), MCP_OK);
    int64_t before = w->solves, lp_before = lp_work(w->workspaces[STAGE].model)->solves;
    for (size_t v = 0; v < SOLVES; v++)
        solve_case(study, w, v);
    assert_int_equal(w->solves - before, SOLVES);
    assert_true(lp_work(w->workspaces[STAGE].model)->solves - lp_before > SOLVES);
    sddp_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_does_not_show),
        cmocka_unit_test(all_cuts_hold),
        cmocka_unit_test(a_stage_solve_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
