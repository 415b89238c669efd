/*
 * loop_clp.c - the bare loop over Clp, through Clp's own C interface.
 */
#include "support/loop.h"

#include <coin/Clp_C_Interface.h>

#include "support/program.h"

#define TOLERANCE 1e-9

static void *load(const lp_program *p)
{
    Clp_Simplex *model = Clp_newModel();

    Clp_setLogLevel(model, 0);
    Clp_scaling(model, 0); /* the program is scaled */
    Clp_setPrimalTolerance(model, TOLERANCE);
    Clp_setDualTolerance(model, TOLERANCE);
    Clp_setPerturbation(model, 100); /* none: it costs a tenth of the time and more */
    Clp_loadProblem(model, p->columns, p->rows, p->start, p->row, p->value, p->lower, p->upper,
                    p->cost, p->row_lower, p->row_upper);
    return model;
}

static void end(void *model)
{
    Clp_deleteModel(model);
}

static void fix(void *model, int column, double value)
{
    Clp_columnLower(model)[column] = value;
    Clp_columnUpper(model)[column] = value;
}

static void append(void *model, double lower, int count, const int *columns, const double *values)
{
    const int starts[] = { 0, count };
    const double upper = LP_INFINITY;

    Clp_addRows(model, 1, &lower, &upper, starts, columns, values);
}

static double solve(void *model)
{
    Clp_dual(model, 0);
    if (Clp_status(model) != 0)
        bench_give_up("Clp finds no optimum: status %d", Clp_status(model));
    return Clp_objectiveValue(model);
}

static double reduced_cost(void *model, int column)
{
    return Clp_dualColumnSolution(model)[column];
}

const loop_solver loop_clp = { "Clp", load, end, fix, append, solve, reduced_cost };
