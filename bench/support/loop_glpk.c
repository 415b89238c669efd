/*
 * loop_glpk.c - the bare loop over GLPK, where the build found it.
 */
#include "support/loop.h"

#include <stddef.h>

#ifdef BENCH_GLPK
#include <glpk.h>

#include <stdlib.h>

#include "mcp/alloc.h"
#include "support/program.h"

#define TOLERANCE 1e-9
#define PIVOTS_MAX 5000

static int kind_of(double lower, double upper)
{
    if (lower <= -LP_INFINITY)
        return upper >= LP_INFINITY ? GLP_FR : GLP_UP;
    if (upper >= LP_INFINITY)
        return GLP_LO;
    return lower < upper ? GLP_DB : GLP_FX;
}

/* Indices are from 1. */
static void *load(const lp_program *p)
{
    glp_prob *model = glp_create_prob();
    int *rows = mcp_alloc(((size_t)p->rows + 1) * sizeof *rows);

    if (!rows)
        bench_give_up("no memory for GLPK");
    glp_term_out(GLP_OFF);
    glp_add_rows(model, p->rows);
    glp_add_cols(model, p->columns);
    for (int i = 0; i < p->rows; i++)
        glp_set_row_bnds(model, i + 1, kind_of(p->row_lower[i], p->row_upper[i]), p->row_lower[i],
                         p->row_upper[i]);
    for (int j = 0; j < p->columns; j++) {
        int first = p->start[j], count = p->start[j + 1] - first;
        for (int e = 0; e < count; e++)
            rows[e + 1] = p->row[first + e] + 1;
        glp_set_mat_col(model, j + 1, count, rows, p->value + first - 1);
        glp_set_col_bnds(model, j + 1, kind_of(p->lower[j], p->upper[j]), p->lower[j], p->upper[j]);
        glp_set_obj_coef(model, j + 1, p->cost[j]);
    }
    free(rows);
    glp_adv_basis(model, 0);
    return model;
}

static void end(void *model)
{
    glp_delete_prob(model);
}

static void fix(void *model, int column, double value)
{
    glp_set_col_bnds(model, column + 1, GLP_FX, value, value);
}

static void append(void *model, double lower, int count, const int *columns, const double *values)
{
    int row = glp_add_rows(model, 1);
    int *from_one = mcp_alloc(((size_t)count + 1) * sizeof *from_one);

    if (!from_one)
        bench_give_up("no memory for GLPK");
    for (int e = 0; e < count; e++)
        from_one[e + 1] = columns[e] + 1;
    glp_set_mat_row(model, row, count, from_one, values - 1);
    glp_set_row_bnds(model, row, GLP_LO, lower, 0.0);
    free(from_one);
}

static bool try_method(glp_prob *model, int method, double tolerance)
{
    glp_smcp how;

    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = method;
    how.tol_bnd = how.tol_dj = tolerance;
    how.it_lim = PIVOTS_MAX;
    return glp_simplex(model, &how) == 0 && glp_get_status(model) == GLP_OPT;
}

/* The dual simplex circles for ever in a few programs of 20 plants; the primal does not. */
static double solve(void *model)
{
    if (try_method(model, GLP_DUALP, TOLERANCE))
        return glp_get_obj_val(model);
    glp_adv_basis(model, 0);
    if (!try_method(model, GLP_PRIMAL, TOLERANCE) && !try_method(model, GLP_PRIMAL, 1e-7))
        bench_give_up("GLPK finds no optimum: status %d", glp_get_status(model));
    return glp_get_obj_val(model);
}

static double reduced_cost(void *model, int column)
{
    return glp_get_col_dual(model, column + 1);
}

static const loop_solver glpk = { "GLPK", load, end, fix, append, solve, reduced_cost };
const loop_solver *const loop_glpk = &glpk;
#else
const loop_solver *const loop_glpk = NULL;
#endif
