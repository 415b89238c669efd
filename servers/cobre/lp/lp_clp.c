/*
 * lp_clp.c - the port over COIN-OR Clp; with lp_clp_seed.cpp the only file that includes it.
 *
 * Bounds are written straight into Clp's live arrays, and so is the basis: Clp_copyinStatus would
 * allocate each time. The pointers move when rows come or go, so they are fetched again then.
 * Scaling and perturbation are off, since the stage programs are well scaled. A solve depends on
 * bounds, rows and basis only, because Clp throws its work away at the end of each and its random
 * numbers are seeded at the start.
 *
 * That work memory is freed at the top of the heap, and glibc gives such a block back to the kernel
 * at once, which costs four times what a small solve does; keep_heap() tells it not to, once a
 * process.
 *
 * Traps: Clp asserts, in Debian's build too, and a large number in a case must not end a server: so
 * every number is looked at before a solve. Infinity is 1e30; a new model has no status array before its first solve; the upper five
 * bits of a status byte are Clp's own.
 */
#include "lp/lp.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <coin/Clp_C_Interface.h>

#include "lp/lp_clp_seed.h"
#include "mcp/clock.h"

#define PLACE_BITS 7

struct lp {
    Clp_Simplex *clp;
    int columns, rows;
    double *lower, *upper, *row_lower, *row_upper; /* Clp's, live */
    uint8_t *status;                               /* Clp's, live */
    bool is_beyond; /* a cost or an element is; nothing takes that back */
    lp_totals work;
};

static pthread_once_t heap_once = PTHREAD_ONCE_INIT;

static void keep_heap(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, 32 << 20);
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
#endif
}

static void fetch_pointers(lp *model)
{
    model->lower = Clp_columnLower(model->clp);
    model->upper = Clp_columnUpper(model->clp);
    model->row_lower = Clp_rowLower(model->clp);
    model->row_upper = Clp_rowUpper(model->clp);
    model->status = Clp_statusArray(model->clp);
}

/* ---- numbers that Clp would end the process over --------------------------------------------- */

/* Not a number, too. */
static bool is_beyond(double value)
{
    return !(fabs(value) <= LP_LARGEST);
}

static bool any_beyond(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (is_beyond(values[i]))
            return true;
    return false;
}

/* A bound that is none leads away from the values. */
static bool bounds_beyond(const double *lower, const double *upper, int count)
{
    for (int i = 0; i < count; i++) {
        if ((is_beyond(lower[i]) && !(lower[i] <= -LP_INFINITY)) ||
            (is_beyond(upper[i]) && !(upper[i] >= LP_INFINITY)))
            return true;
    }
    return false;
}

/* ---- the program ----------------------------------------------------------------------------- */

/* Rows basic, columns at a finite bound: the basis that always exists. */
static void reset_basis(lp *model)
{
    for (int j = 0; j < model->columns; j++) {
        if (model->lower[j] > -LP_INFINITY)
            model->status[j] = LP_AT_LOWER;
        else
            model->status[j] = model->upper[j] < LP_INFINITY ? LP_AT_UPPER : LP_FREE;
    }
    memset(model->status + model->columns, LP_BASIC, (size_t)model->rows);
}

static mcp_status give_first_basis(lp *model, mcp_error *err)
{
    uint8_t *basis = calloc((size_t)(model->columns + model->rows), 1);

    if (!basis)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP basis");
    Clp_copyinStatus(model->clp, basis);
    free(basis);
    fetch_pointers(model);
    reset_basis(model);
    return MCP_OK;
}

/* No solve goes on for ever: fifty pivots a column, and never fewer than a hundred thousand
 * (method page, 12). */
static int pivots_max(int columns)
{
    return columns > 2000 ? (columns < INT_MAX / 50 ? 50 * columns : INT_MAX) : 100000;
}

mcp_status lp_new(lp **out, const lp_program *program, mcp_error *err)
{
    lp *model = calloc(1, sizeof *model);

    pthread_once(&heap_once, keep_heap);
    if (model)
        model->clp = Clp_newModel();
    if (!model || !model->clp) {
        free(model);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    }
    Clp_setLogLevel(model->clp, 0);
    Clp_scaling(model->clp, 0);
    Clp_setPerturbation(model->clp, 100);
    Clp_loadProblem(model->clp, program->columns, program->rows, program->start, program->row,
                    program->value, program->lower, program->upper, program->cost,
                    program->row_lower, program->row_upper);
    Clp_setMaximumIterations(model->clp, pivots_max(program->columns));
    model->columns = program->columns;
    model->rows = program->rows;
    model->is_beyond = any_beyond(program->cost, program->columns) ||
                       any_beyond(program->value, program->start[program->columns]);
    mcp_status st = give_first_basis(model, err);
    if (st != MCP_OK) {
        lp_free(model);
        return st;
    }
    *out = model;
    return MCP_OK;
}

void lp_free(lp *model)
{
    if (!model)
        return;
    Clp_deleteModel(model->clp);
    free(model);
}

void lp_set_column(lp *model, int column, double lower, double upper)
{
    model->lower[column] = lower;
    model->upper[column] = upper;
}

void lp_set_row(lp *model, int row, double lower, double upper)
{
    model->row_lower[row] = lower;
    model->row_upper[row] = upper;
}

void lp_add_rows(lp *model, const lp_rows *rows)
{
    if (rows->count == 0)
        return;
    model->is_beyond = model->is_beyond || any_beyond(rows->value, rows->start[rows->count]);
    Clp_addRows(model->clp, rows->count, rows->lower, rows->upper, rows->start, rows->column,
                rows->value);
    fetch_pointers(model);
    memset(model->status + model->columns + model->rows, LP_BASIC, (size_t)rows->count);
    model->rows += rows->count;
}

void lp_delete_rows(lp *model, int count, const int *rows)
{
    if (count == 0)
        return;
    Clp_deleteRows(model->clp, count, rows);
    model->rows -= count;
    fetch_pointers(model);
}

int lp_columns(const lp *model)
{
    return model->columns;
}

int lp_rows_count(const lp *model)
{
    return model->rows;
}

void lp_set_basis(lp *model, const uint8_t *basis)
{
    memcpy(model->status, basis, (size_t)(model->columns + model->rows));
}

const uint8_t *lp_basis(lp *model)
{
    size_t length = (size_t)(model->columns + model->rows);

    for (size_t i = 0; i < length; i++)
        model->status[i] &= PLACE_BITS;
    return model->status;
}

static lp_status status_of(const lp *model)
{
    switch (Clp_status(model->clp)) {
    case 0:
        return isfinite(Clp_objectiveValue(model->clp)) ? LP_OPTIMAL : LP_FAILED;
    case 1:
        return LP_INFEASIBLE;
    case 2:
        return LP_UNBOUNDED;
    case 3:
        return LP_LIMIT;
    default:
        return LP_FAILED;
    }
}

/* From scratch by the dual, by the primal, and by the primal with scaling. The last one's end
 * counts: a status that survives all of them is the program's, not the method's. */
static lp_status solve_again(lp *model)
{
    lp_status end = LP_FAILED;

    for (int attempt = 0; attempt < 3 && end != LP_OPTIMAL; attempt++) {
        reset_basis(model);
        lp_clp_seed(model->clp);
        Clp_scaling(model->clp, attempt == 2 ? 3 : 0);
        if (attempt == 0)
            Clp_dual(model->clp, 0);
        else
            Clp_primal(model->clp, 0);
        end = status_of(model);
        model->work.pivots += Clp_numberIterations(model->clp);
        model->work.retries++;
    }
    Clp_scaling(model->clp, 0);
    return end;
}

lp_status lp_solve(lp *model)
{
    int64_t begin = mcp_clock_mono_ns();

    if (model->is_beyond || bounds_beyond(model->lower, model->upper, model->columns) ||
        bounds_beyond(model->row_lower, model->row_upper, model->rows))
        return LP_FAILED;
    lp_clp_seed(model->clp);
    Clp_dual(model->clp, 0);
    model->work.pivots += Clp_numberIterations(model->clp);
    lp_status end = status_of(model);
    if (end != LP_OPTIMAL)
        end = solve_again(model);
    model->work.solves++;
    model->work.solver_ns += mcp_clock_mono_ns() - begin;
    return end;
}

double lp_objective(const lp *model)
{
    return Clp_objectiveValue(model->clp);
}

const double *lp_primal(const lp *model)
{
    return Clp_primalColumnSolution(model->clp);
}

const double *lp_reduced_costs(const lp *model)
{
    return Clp_dualColumnSolution(model->clp);
}

const double *lp_duals(const lp *model)
{
    return Clp_dualRowSolution(model->clp);
}

const lp_totals *lp_work(const lp *model)
{
    return &model->work;
}

const char *lp_status_name(lp_status status)
{
    static const char *const names[] = { "optimal", "infeasible", "unbounded", "iteration_limit",
                                         "numerical_difficulty" };
    return names[status];
}

const char *lp_solver_name(void)
{
    return "clp";
}

const char *lp_solver_version(void)
{
    return Clp_Version();
}
