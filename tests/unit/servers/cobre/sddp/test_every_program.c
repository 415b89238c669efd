/*
 * test_every_program.c - every program of whole trainings and of simulations of their policies,
 * solved by the dual simplex, against Clp.
 *
 * The linker puts __wrap_solve_group into the place of solve_group (tests/CMakeLists.txt): after
 * each group, Clp at tolerance 1e-11 solves the program of each lane with all active cuts as rows.
 * The optima agree to 1e-9 (1 + |optimum|). Bounds are not compared: two right solvers make
 * different cuts where an optimum has several bases. With COBRE_WHOLE_RUN=1 the Brazilian shape is
 * trained whole, 60 stages by 82 openings for 30 iterations, which takes minutes.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <coin/Clp_C_Interface.h>

#include "sddp/iteration/groups.h"
#include "sddp/stage/solve.h"
#include "support/studies.h"

enum { ENTRIES_MAX = 1200 };

static case_kit kit;
static size_t compared;
static double worst; /* difference, by 1 + |optimum| */

mcp_status __real_solve_group(worker *w, const solve_input *in, solve_output *out, mcp_error *err);
mcp_status __wrap_solve_group(worker *w, const solve_input *in, solve_output *out, mcp_error *err);

/* The slope of a cut by the columns of the state, and its theta, as one row. */
static void add_cut(Clp_Simplex *clp, const solve_input *in, size_t cut)
{
    const lp_layout *layout = &in->program->layout;
    int column[ENTRIES_MAX], start[2] = { 0, (int)layout->states + 1 };
    double value[ENTRIES_MAX], lower = in->pool->intercept[cut], upper = LP_INFINITY;

    for (size_t j = 0; j < layout->states; j++) {
        column[j] = layout->state[j];
        value[j] = -cuts_slope(in->pool, cut, j);
    }
    column[layout->states] = layout->theta;
    if (in->pool->thetas > 1)
        column[layout->states] += (int)in->pool->theta[cut];
    value[layout->states] = 1.0;
    Clp_addRows(clp, 1, &lower, &upper, start, column, value);
}

static bool is_row(const solve_input *in, size_t cut)
{
    return in->all_cuts || in->pool->is_active[cut];
}

static Clp_Simplex *model_of(const solve_input *in)
{
    const lp_program *p = &in->program->program;
    Clp_Simplex *clp = Clp_newModel();

    Clp_setLogLevel(clp, 0);
    Clp_loadProblem(clp, p->columns, p->rows, p->start, p->row, p->value, p->lower, p->upper,
                    p->cost, p->row_lower, p->row_upper);
    for (size_t c = 0; c < in->pool->count; c++)
        if (is_row(in, c))
            add_cut(clp, in, c);
    Clp_setPerturbation(clp, 100); /* none */
    Clp_scaling(clp, 0);
    Clp_setPrimalTolerance(clp, 1e-11);
    Clp_setDualTolerance(clp, 1e-11);
    return clp;
}

static void set_items(Clp_Simplex *clp, const worker *w, const solve_input *in, size_t lane)
{
    const lp_layout *layout = &in->program->layout;
    const lp_program *p = &in->program->program;

    for (size_t i = 0; i < layout->items; i++) {
        double value = w->lane_values[i * in->lanes.count + lane];
        int at = layout->item[i].index;
        if (layout->item[i].kind == LP_ITEM_SHIFT) {
            Clp_rowLower(clp)[at] = p->row_lower[at] + value;
            Clp_rowUpper(clp)[at] = p->row_upper[at] + value;
            continue;
        }
        Clp_columnUpper(clp)[at] = value;
        if (layout->item[i].kind == LP_ITEM_FIXED)
            Clp_columnLower(clp)[at] = value;
    }
}

/* The entries of the outgoing state that no column has move the cuts. */
static void set_tail(Clp_Simplex *clp, const worker *w, const solve_input *in, size_t lane)
{
    const lp_layout *layout = &in->program->layout;
    size_t row = (size_t)in->program->program.rows;

    for (size_t c = 0; c < in->pool->count; c++) {
        if (!is_row(in, c))
            continue;
        double lower = in->pool->intercept[c];
        for (size_t j = layout->states; j < layout->dimension; j++)
            lower += cuts_slope(in->pool, c, j) *
                     w->lane_tail[(j - layout->states) * in->lanes.count + lane];
        Clp_rowLower(clp)[row++] = lower;
    }
}

static void compare(const worker *w, const solve_input *in, const solve_output *out)
{
    Clp_Simplex *clp = model_of(in);

    for (size_t l = 0; l < in->lanes.count; l++) {
        set_items(clp, w, in, l);
        set_tail(clp, w, in, l);
        Clp_dual(clp, 0);
        if (Clp_status(clp) != 0)
            Clp_primal(clp, 0);
        assert_int_equal(Clp_status(clp), 0);
        double expected = Clp_objectiveValue(clp);
        double off = fabs(out->objective[l] - expected) / (1.0 + fabs(expected));
        if (!(off <= 1e-9))
            fail_msg("stage %zu, lane %zu: %.17g is not %.17g", in->program->stage, l,
                     out->objective[l], expected);
        worst = fmax(worst, off);
        compared++;
    }
    Clp_deleteModel(clp);
}

mcp_status __wrap_solve_group(worker *w, const solve_input *in, solve_output *out, mcp_error *err)
{
    mcp_status st = __real_solve_group(w, in, out, err);

    if (st == MCP_OK && in->dual)
        compare(w, in, out);
    return st;
}

/* More than one scenario of the simulation is walked at a time. */
static void train(uint32_t iterations, uint32_t passes, bool is_multi_cut)
{
    sddp_training training;
    sddp_simulation simulation;
    sddp_failure failure;
    sddp *study = NULL;

    kit.c.config.backend = COBRE_BACKEND_OWN;
    kit.c.config.forward_passes = passes;
    kit.c.config.is_multi_cut = is_multi_cut;
    kit.c.config.simulation_scenarios = 26;
    kit_set_limit(&kit, iterations);
    compared = 0;
    worst = 0.0;
    assert_int_equal(sddp_new(&study, &kit.c, 1, NULL), MCP_OK);
    assert_int_equal(sddp_train(study, NULL, &training, &failure, NULL), MCP_OK);
    assert_int_equal(training.fallbacks, 0);
    assert_int_equal(compared, training.lp_solves);
    assert_true(groups_paths(study) > 1);
    assert_int_equal(sddp_simulate(study, NULL, &simulation, &failure, NULL), MCP_OK);
    assert_int_equal(simulation.fallbacks, 0);
    assert_int_equal(compared, training.lp_solves + simulation.lp_solves);
    print_message("%zu optima, at most %.1e (1 + |optimum|) from those of Clp\n", compared, worst);
    sddp_free(study);
}

static void brazilian_shape(void **state)
{
    const char *whole = getenv("COBRE_WHOLE_RUN");
    bool is_whole = whole && whole[0] == '1';
    const study_shape shape = { is_whole ? 60 : 6, 4, 95, 5, is_whole ? 82 : 20, 1, 0 };

    (void)state;
    study_brazil(&kit, &shape);
    train(is_whole ? 30 : 8, 1, false);
}

static void the_toy(void **state)
{
    const study_shape shape = { 0 };

    (void)state;
    study_toy(&kit, &shape);
    train(30, 2, true);
}

/* With multi-cut and CVaR a row of the program holds the future costs too. */
static void the_toy_with_risk(void **state)
{
    const study_shape shape = { 0 };

    (void)state;
    study_toy(&kit, &shape);
    for (size_t t = 0; t < kit.c.stage_count; t++) {
        kit.stages[t].is_cvar = true;
        kit.stages[t].cvar_alpha = 0.4;
        kit.stages[t].cvar_lambda = 0.5;
    }
    train(30, 2, true);
}

/* Three blocks, and lags: entries of the state without a column. */
static void cascades(void **state)
{
    const study_shape shape = { 4, 8, 6, 2, 6, 3, 2 };

    (void)state;
    study_cascades(&kit, &shape);
    train(6, 2, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brazilian_shape),
        cmocka_unit_test(the_toy),
        cmocka_unit_test(the_toy_with_risk),
        cmocka_unit_test(cascades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
