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
#include "sddp/iteration/groups.h"
#include "stochastic/generator.h"

enum { STAGE = 2, HYDROS = 8, SOLVES = 24, REPEATS = 80, COLUMNS_MAX = 400 };

typedef struct answer {
    double objective, primal[COLUMNS_MAX], gradient[HYDROS];
} answer;

static case_kit kit;
static cobre_backend backend; /* of the tests that run now */
static double states[SOLVES][HYDROS];

static sddp *trained(unsigned threads)
{
    sddp *study = NULL;
    sddp_training training;
    sddp_failure failure;
    mcp_error err = MCP_ERROR_INIT;
    generator g = generator_seeded(3);

    case_wide(&kit, 4, HYDROS);
    kit.c.config.backend = backend;
    kit_set_limit(&kit, 9);
    if (sddp_new(&study, &kit.c, threads, &err) != MCP_OK ||
        sddp_train(study, NULL, &training, &failure, &err) != MCP_OK)
        fail_msg("%s", err.message);
    for (size_t v = 0; v < SOLVES; v++)
        for (size_t h = 0; h < HYDROS; h++)
            states[v][h] = 200.0 * generator_uniform(&g);
    return study;
}

/* One opening from one state. */
static void solve_case(answer *out, sddp *study, worker *w, size_t v)
{
    size_t bytes = sizeof(double) * (size_t)study->programs[STAGE].program.columns;
    solve_output answers = { .objective = &out->objective, .gradient = out->gradient };
    mcp_error err = MCP_ERROR_INIT;

    memset(out, 0, sizeof *out);
    memcpy(w->state, states[v], sizeof states[v]);
    solve_input in = groups_path_input(study, w, STAGE,
                                       tree_noise(study->tree, STAGE, (uint32_t)(v % 6)),
                                       study_basis(study, STAGE, v % 3));
    assert_true(bytes <= sizeof out->primal);
    if (solve_group(w, &in, &answers, &err) != MCP_OK)
        fail_msg("%s", err.message);
    memcpy(out->primal, answers.primal, bytes);
}

/* Solves in order by one worker, then in random order by it and by a new one. */
static void history_does_not_show(void **state)
{
    static answer first[SOLVES], again;
    sddp *study = trained(2);
    generator g = generator_seeded(9);

    (void)state;
    for (size_t v = 0; v < SOLVES; v++)
        solve_case(&first[v], study, &study->workers[0], v);
    for (size_t i = 0; i < REPEATS; i++) {
        size_t v = generator_below(&g, SOLVES);
        solve_case(&again, study, &study->workers[i % 2], v);
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
    answer one;

    (void)state;
    assert_int_equal(pool->count, 27);
    for (size_t v = 0; v < SOLVES; v++) {
        solve_case(&one, study, w, v);
        objective[v] = one.objective;
        for (size_t j = 0; j < HYDROS; j++)
            outgoing[j] = one.primal[stage_lp_storage(program, j)];
        cuts_values(pool, outgoing, w->values);
        for (size_t c = 0; c < pool->count; c++)
            assert_true(w->values[c] <= one.primal[program->theta] + 2e-7);
    }
    cuts_set_rows(pool, NULL, 0);
    assert_int_equal(pool->set_count, 0);
    assert_int_equal(study_follow(study, STAGE, NULL), MCP_OK);
    for (size_t v = 0; v < SOLVES; v++) {
        solve_case(&one, study, w, v);
        assert_true(fabs(one.objective - objective[v]) <= 1e-6 * fmax(1.0, objective[v]));
    }
    sddp_free(study);
}

/* A solve of a stage counts once, however many LP solves the violated cuts make of it. */
static void a_stage_solve_counts_once(void **state)
{
    sddp *study = trained(1);
    worker *w = &study->workers[0];
    answer one;

    (void)state;
    cuts_set_rows(&study->pools[STAGE], NULL, 0);
    assert_int_equal(study_follow(study, STAGE, NULL), MCP_OK);
    int64_t before = w->solves;
    const lp *model = w->workspaces[STAGE].model;
    int64_t lp_before = model ? lp_work(model)->solves : 0;
    for (size_t v = 0; v < SOLVES; v++)
        solve_case(&one, study, w, v);
    assert_int_equal(w->solves - before, SOLVES);
    assert_true((model != NULL) == (backend == COBRE_BACKEND_CLP));
    if (model)
        assert_true(lp_work(model)->solves - lp_before > SOLVES);
    sddp_free(study);
}

/* What the solver tells apart of a cut's row. */
static double unit_of(const sddp *study, const lp *model, size_t cut)
{
    const stage_lp *program = &study->programs[STAGE];
    int columns[HYDROS + 1] = { program->theta };
    double values[HYDROS + 1] = { 1.0 };

    for (size_t j = 0; j < HYDROS; j++) {
        columns[j + 1] = stage_lp_storage(program, j);
        values[j + 1] = -cuts_slope(&study->pools[STAGE], cut, j);
    }
    return lp_row_unit(model, HYDROS + 1, columns, values);
}

/* A long training has many cuts that are equal but for rounding. They are no rows: those that the
 * solver cannot tell from the first of them would each be a solve for nothing. */
static void cuts_within_the_tolerance_are_no_rows(void **state)
{
    enum { COPIES = 60 };
    sddp *study = trained(1);
    worker *w = &study->workers[0];
    cut_pool *pool = &study->pools[STAGE];
    size_t count = pool->count, larger = 0;
    answer one;

    (void)state;
    solve_case(&one, study, w, 0);
    const lp *model = w->workspaces[STAGE].model;
    if (!model) { /* the dual simplex reads cuts in place */
        sddp_free(study);
        return;
    }
    double theta_unit = lp_column_unit(model, study->programs[STAGE].theta);
    assert_int_equal(study_reserve_cuts(study, STAGE, count * COPIES, NULL), MCP_OK);
    for (size_t c = 0; c < count; c++) {
        const cut_record record = pool->record[c];
        double slope[HYDROS], unit = unit_of(study, model, c);
        larger += unit > 4.0 * theta_unit;
        for (size_t j = 0; j < HYDROS; j++)
            slope[j] = cuts_slope(pool, c, j);
        for (int k = 0; k < COPIES; k++)
            assert_int_equal(
                cuts_append(pool, pool->intercept[c] + 0.5e-9 * unit, slope, 0, &record, NULL),
                MCP_OK);
    }
    assert_true(larger > 0);
    int64_t before = lp_work(model)->solves;
    for (size_t v = 0; v < SOLVES; v++)
        solve_case(&one, study, w, v);
    print_message("%lld solves of %d programs\n", (long long)(lp_work(model)->solves - before),
                  SOLVES);
    assert_true(lp_work(model)->solves - before <= 3 * SOLVES);
    sddp_free(study);
}

/* A group answers as its lanes one by one, and each gradient is a subgradient: the objective at
 * another state is no less than the line through it says. */
static void groups_answer_as_their_lanes(void **state)
{
    sddp *study = trained(1);
    worker *w = &study->workers[0];
    double objective[6], gradient[6 * HYDROS];
    uint32_t which[6];
    answer one;

    (void)state;
    for (size_t v = 0; v < SOLVES; v++) {
        opening_group all = { 0, 6 };
        solve_output out = { .objective = objective, .which = which, .gradient = gradient };
        solve_input in = groups_input(study, STAGE, states[v], &all, study_basis(study, STAGE, 0));
        assert_int_equal(solve_group(w, &in, &out, NULL), MCP_OK);
        assert_in_range(out.bases, 1, 6);
        solve_case(&one, study, w, v);
        assert_true(fabs(objective[v % 6] - one.objective) <= 1e-9 * (1.0 + one.objective));
        for (size_t u = 0; u < SOLVES; u++) {
            const double *slope = gradient + which[u % 6] * HYDROS;
            double line = objective[u % 6];
            assert_true(which[u % 6] < out.bases);
            for (size_t h = 0; h < HYDROS; h++)
                line += slope[h] * (states[u][h] - states[v][h]);
            solve_case(&one, study, w, u);
            assert_true(line <= one.objective + 1e-9 * (1.0 + one.objective));
        }
    }
    sddp_free(study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(history_does_not_show),
        cmocka_unit_test(all_cuts_hold),
        cmocka_unit_test(a_stage_solve_counts_once),
        cmocka_unit_test(cuts_within_the_tolerance_are_no_rows),
        cmocka_unit_test(groups_answer_as_their_lanes),
    };
    int failed = 0;

    for (backend = COBRE_BACKEND_OWN; backend <= COBRE_BACKEND_CLP; backend++)
        failed += cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}
