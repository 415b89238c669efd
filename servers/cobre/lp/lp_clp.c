/*
 * lp_clp.c - the port over COIN-OR Clp; this file and lp_clp_guard.cpp are the only ones that
 * include Clp.
 *
 * Bounds and the basis are written directly into Clp's arrays, because Clp_copyinStatus allocates
 * on each call. Adding or deleting rows moves the arrays, so the pointers are fetched again after
 * it. Scaling and perturbation are off, since the stage programs are well scaled. A solve depends
 * on bounds, rows and basis only, because Clp discards its work at the end of each and its random
 * numbers are seeded at the start.
 *
 * That work memory is freed at the top of the heap, and glibc returns such a block to the kernel at
 * once, which costs four times as much as a small solve; keep_heap() turns that off, once per
 * process.
 *
 * Traps: Clp asserts on large numbers, in Debian's build too, which would end the server, so every
 * number is checked before a solve. Infinity is 1e30; a new model has no status array before its
 * first solve; the upper five bits of a status byte are Clp's own.
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

#include "lp/lp_clp_guard.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

#define PLACE_BITS 7

struct lp {
    Clp_Simplex *clp;
    int columns, rows;
    double *lower, *upper, *row_lower, *row_upper; /* Clp's, live */
    uint8_t *status;                               /* Clp's, live */
    bool is_beyond;                                /* a cost or an element is; permanent */
    bool is_out_of_memory;                         /* Clp has thrown; permanent */
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

/* Also true for NaN. */
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

/* An infinite bound points away from the values. */
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

/* Every solve ends: at most fifty pivots a column, or a hundred thousand if that is more (method
 * page, 12). */
static int pivots_max(int columns)
{
    return columns > 2000 ? (columns < INT_MAX / 50 ? 50 * columns : INT_MAX) : 100000;
}

/* Work for lp_clp_run. */
struct job {
    lp *model;
    const lp_program *program;
    const uint8_t *basis; /* of the program */
    const lp_rows *rows;
    const int *deleted;
    int count;
    lp_status end;
};

static void load(void *data)
{
    const struct job *job = data;
    const lp_program *program = job->program;
    lp *model = job->model;

    model->clp = Clp_newModel();
    Clp_setLogLevel(model->clp, 0);
    Clp_scaling(model->clp, 0);
    Clp_setPerturbation(model->clp, 100);
    Clp_loadProblem(model->clp, program->columns, program->rows, program->start, program->row,
                    program->value, program->lower, program->upper, program->cost,
                    program->row_lower, program->row_upper);
    Clp_setMaximumIterations(model->clp, pivots_max(program->columns));
    Clp_copyinStatus(model->clp, job->basis);
}

mcp_status lp_new(lp **out, const lp_program *program, mcp_error *err)
{
    lp *model = mcp_alloc_zeroed(1, sizeof *model);
    uint8_t *basis = mcp_alloc_zeroed((size_t)(program->columns + program->rows), 1);
    struct job job = { .model = model, .program = program, .basis = basis };

    pthread_once(&heap_once, keep_heap);
    bool is_loaded = model && basis && lp_clp_run(load, &job);
    free(basis);
    if (!is_loaded) {
        free(model); /* without Clp's model, see lp_free */
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    }
    model->columns = program->columns;
    model->rows = program->rows;
    model->is_beyond = any_beyond(program->cost, program->columns) ||
                       any_beyond(program->value, program->start[program->columns]);
    fetch_pointers(model);
    reset_basis(model);
    *out = model;
    return MCP_OK;
}

void lp_free(lp *model)
{
    if (!model)
        return;
    /* A model that has thrown frees the same memory twice when it is deleted, so it stays. */
    if (!model->is_out_of_memory)
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

/* Run a job that changes the program; false: without memory, now or before. */
static bool change(void (*work)(void *data), struct job *job)
{
    lp *model = job->model;

    if (!model->is_out_of_memory)
        model->is_out_of_memory = !lp_clp_run(work, job);
    fetch_pointers(model);
    return !model->is_out_of_memory;
}

static void add_rows(void *data)
{
    const struct job *job = data;
    const lp_rows *rows = job->rows;

    Clp_addRows(job->model->clp, rows->count, rows->lower, rows->upper, rows->start, rows->column,
                rows->value);
}

static void delete_rows(void *data)
{
    const struct job *job = data;

    Clp_deleteRows(job->model->clp, job->count, job->deleted);
}

void lp_add_rows(lp *model, const lp_rows *rows)
{
    struct job job = { .model = model, .rows = rows };

    if (rows->count == 0)
        return;
    model->is_beyond = model->is_beyond || any_beyond(rows->value, rows->start[rows->count]);
    if (!change(add_rows, &job))
        return;
    memset(model->status + model->columns + model->rows, LP_BASIC, (size_t)rows->count);
    model->rows += rows->count;
}

void lp_delete_rows(lp *model, int count, const int *rows)
{
    struct job job = { .model = model, .count = count, .deleted = rows };

    if (count > 0 && change(delete_rows, &job))
        model->rows -= count;
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

/* From scratch by the dual, by the primal, and by the primal with scaling. The status of the
 * last one counts: a failure of all methods is a property of the program. */
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

static void solve(void *data)
{
    struct job *job = data;
    lp *model = job->model;

    lp_clp_seed(model->clp);
    Clp_dual(model->clp, 0);
    model->work.pivots += Clp_numberIterations(model->clp);
    job->end = status_of(model);
    if (job->end != LP_OPTIMAL)
        job->end = solve_again(model);
}

lp_status lp_solve(lp *model)
{
    int64_t begin = mcp_clock_mono_ns();
    struct job job = { .model = model };

    if (model->is_out_of_memory)
        return LP_NO_MEMORY;
    if (model->is_beyond || bounds_beyond(model->lower, model->upper, model->columns) ||
        bounds_beyond(model->row_lower, model->row_upper, model->rows))
        return LP_FAILED;
    if (!lp_clp_run(solve, &job)) {
        model->is_out_of_memory = true;
        job.end = LP_NO_MEMORY;
    }
    model->work.solves++;
    model->work.solver_ns += mcp_clock_mono_ns() - begin;
    return job.end;
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
    static const char *const names[] = {
        "optimal",         "infeasible",           "unbounded",
        "iteration_limit", "numerical_difficulty", "out_of_memory"
    };
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
