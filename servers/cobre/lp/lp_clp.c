/*
 * lp_clp.c - the port over COIN-OR Clp; this file and lp_clp_guard.cpp are the only ones that
 * include Clp.
 *
 * Bounds and the basis are written directly into Clp's arrays, because Clp_copyinStatus allocates
 * on each call. Adding or deleting rows moves the arrays, so the pointers are fetched again after
 * it. Clp holds the program scaled by powers of two (scale.h), so that its tolerances mean the same
 * in any unit of money or water; its own scaling and perturbation are off. A solve depends on
 * bounds, rows and basis only, because Clp discards its work at the end of each and its random
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

#include "lp/ladder.h"
#include "lp/lp_clp_guard.h"
#include "lp/optimum.h"
#include "lp/scale.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

#define PLACE_BITS 7

/* Of the scaled program. */
#define TOLERANCE 1e-9
#define RELAXED_TOLERANCE 1e-6

#define INTERIOR_STEPS 10000

#define FIRST_ROW_ROOM 64

struct lp {
    Clp_Simplex *clp;
    int columns, rows;
    double *lower, *upper, *row_lower, *row_upper; /* Clp's, live */
    uint8_t *status;                               /* Clp's, live */
    bool is_beyond;                                /* a cost or an element is; permanent */
    bool is_out_of_memory;                         /* a change or a solve was; permanent */
    bool has_thrown;                               /* Clp has, for lack of memory */
    lp_totals work;

    double *column_scale; /* by column */
    double objective_scale;
    double objective, *primal, *reduced; /* the solution in the units of the program */
    int row_room;                        /* rows that the next arrays have room for */
    double *row_scale, *duals;
    double *activity, *size; /* scratch of the check of a solution */
    size_t number_room;
    double *numbers; /* scratch of lp_add_rows */
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

/* Elements next to nothing too: Clp's presolve ends the process over programs with them. */
static bool elements_beyond(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (is_beyond(values[i]) || (values[i] != 0.0 && fabs(values[i]) < LP_SMALLEST))
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

/* ---- scaling --------------------------------------------------------------------------------- */

/* A bound times a power of two. A number that is neither infinite nor fit for Clp becomes NaN. */
static double scaled_lower(double value, double scale)
{
    if (value <= -LP_INFINITY)
        return -LP_INFINITY;
    return is_beyond(value) ? NAN : value * scale;
}

static double scaled_upper(double value, double scale)
{
    return -scaled_lower(-value, scale);
}

/* Room for `rows` rows; false without memory. */
static bool reserve_rows(lp *model, int rows)
{
    int room = model->row_room ? model->row_room : FIRST_ROW_ROOM;
    double **arrays[] = { &model->row_scale, &model->duals, &model->activity, &model->size };

    if (rows <= model->row_room)
        return true;
    while (room < rows)
        room += room / 2;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        double *larger = mcp_realloc(*arrays[i], (size_t)room * sizeof *larger);
        if (!larger)
            return false;
        *arrays[i] = larger;
    }
    model->row_room = room;
    return true;
}

/* The arrays by column: one allocation, with column_scale at its start. */
static bool reserve_columns(lp *model, int columns)
{
    double *all = mcp_alloc_zeroed((size_t)columns, 3 * sizeof *all);

    if (!all)
        return false;
    model->column_scale = all;
    model->primal = all + columns;
    model->reduced = all + 2 * (size_t)columns;
    return true;
}

/* The program in scaled numbers: its costs, bounds and elements, in one allocation. */
static double *scaled_copy(const lp *model, const lp_program *p, lp_program *out)
{
    size_t n = (size_t)p->columns, m = (size_t)p->rows, elements = (size_t)p->start[n];
    double *all = mcp_alloc((3 * n + 2 * m + elements + 1) * sizeof *all);

    if (!all)
        return NULL;
    double *lower = all, *upper = lower + n, *cost = upper + n;
    double *row_lower = cost + n, *row_upper = row_lower + m, *value = row_upper + m;
    for (size_t j = 0; j < n; j++) {
        double scale = model->column_scale[j];
        lower[j] = scaled_lower(p->lower[j], 1.0 / scale);
        upper[j] = scaled_upper(p->upper[j], 1.0 / scale);
        cost[j] = p->cost[j] * scale * model->objective_scale;
        for (int e = p->start[j]; e < p->start[j + 1]; e++)
            value[e] = p->value[e] * scale * model->row_scale[p->row[e]];
    }
    for (size_t i = 0; i < m; i++) {
        row_lower[i] = scaled_lower(p->row_lower[i], model->row_scale[i]);
        row_upper[i] = scaled_upper(p->row_upper[i], model->row_scale[i]);
    }
    *out = *p;
    out->lower = lower;
    out->upper = upper;
    out->cost = cost;
    out->row_lower = row_lower;
    out->row_upper = row_upper;
    out->value = value;
    return all;
}

static bool reserve_numbers(lp *model, size_t count)
{
    if (count <= model->number_room)
        return true;
    double *larger = mcp_realloc(model->numbers, 2 * count * sizeof *larger);
    if (!larger)
        return false;
    model->numbers = larger;
    model->number_room = 2 * count;
    return true;
}

/* The rows in scaled numbers, in the scratch memory; they are to be the last ones of the model.
 * False without memory. */
static bool scaled_rows(lp *model, const lp_rows *rows, lp_rows *out)
{
    size_t count = (size_t)rows->count, elements = (size_t)rows->start[rows->count];

    if (!reserve_numbers(model, 2 * count + elements) ||
        !reserve_rows(model, model->rows + rows->count))
        return false;
    double *lower = model->numbers, *upper = lower + count, *value = upper + count;
    for (int i = 0; i < rows->count; i++) {
        int first = rows->start[i], length = rows->start[i + 1] - first;
        double scale = lp_scale_row(length, rows->column + first, rows->value + first,
                                    model->column_scale);
        model->row_scale[model->rows + i] = scale;
        lower[i] = scaled_lower(rows->lower[i], scale);
        upper[i] = scaled_upper(rows->upper[i], scale);
        for (int e = first; e < rows->start[i + 1]; e++)
            value[e] = rows->value[e] * scale * model->column_scale[rows->column[e]];
    }
    *out = *rows;
    out->lower = lower;
    out->upper = upper;
    out->value = value;
    return true;
}

/* The solution of the scaled program, in `clp`, in the units of the program. */
static void fetch_solution(lp *model, Clp_Simplex *clp)
{
    const double *primal = Clp_primalColumnSolution(clp);
    const double *reduced = Clp_dualColumnSolution(clp);
    const double *duals = Clp_dualRowSolution(clp);

    model->objective = Clp_objectiveValue(clp) / model->objective_scale;
    for (int j = 0; j < model->columns; j++) {
        model->primal[j] = primal[j] * model->column_scale[j];
        model->reduced[j] = reduced[j] / (model->column_scale[j] * model->objective_scale);
    }
    for (int i = 0; i < model->rows; i++)
        model->duals[i] = duals[i] * (model->row_scale[i] / model->objective_scale);
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
    Clp_setPrimalTolerance(model->clp, TOLERANCE);
    Clp_setDualTolerance(model->clp, TOLERANCE);
    Clp_loadProblem(model->clp, program->columns, program->rows, program->start, program->row,
                    program->value, program->lower, program->upper, program->cost,
                    program->row_lower, program->row_upper);
    Clp_setMaximumIterations(model->clp, pivots_max(program->columns));
    Clp_copyinStatus(model->clp, job->basis);
}

static void free_arrays(lp *model)
{
    free(model->column_scale);
    free(model->row_scale);
    free(model->duals);
    free(model->activity);
    free(model->size);
    free(model->numbers);
    free(model);
}

/* The scaled program into Clp; false without memory. */
static bool load_scaled(lp *model, const lp_program *program)
{
    lp_program scaled;
    bool is_loaded = false;

    if (!reserve_columns(model, program->columns) || !reserve_rows(model, program->rows))
        return false;
    lp_scale_program(program, model->column_scale, model->row_scale, &model->objective_scale);
    double *numbers = scaled_copy(model, program, &scaled);
    uint8_t *basis = mcp_alloc_zeroed((size_t)(program->columns + program->rows), 1);
    struct job job = { .model = model, .program = &scaled, .basis = basis };
    if (numbers && basis) {
        pthread_once(&heap_once, keep_heap);
        is_loaded = lp_clp_run(load, &job);
    }
    free(numbers);
    free(basis);
    return is_loaded;
}

mcp_status lp_new(lp **out, const lp_program *program, mcp_error *err)
{
    lp *model = mcp_alloc_zeroed(1, sizeof *model);

    if (!model || !load_scaled(model, program)) {
        if (model)
            free_arrays(model); /* without Clp's model, see lp_free */
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an LP");
    }
    model->columns = program->columns;
    model->rows = program->rows;
    model->is_beyond = any_beyond(program->cost, program->columns) ||
                       elements_beyond(program->value, program->start[program->columns]);
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
    if (!model->has_thrown)
        Clp_deleteModel(model->clp);
    free_arrays(model);
}

void lp_set_column(lp *model, int column, double lower, double upper)
{
    double inverse = 1.0 / model->column_scale[column];

    model->lower[column] = scaled_lower(lower, inverse);
    model->upper[column] = scaled_upper(upper, inverse);
}

void lp_set_row(lp *model, int row, double lower, double upper)
{
    model->row_lower[row] = scaled_lower(lower, model->row_scale[row]);
    model->row_upper[row] = scaled_upper(upper, model->row_scale[row]);
}

/* Run a job that changes the program; false: without memory, now or before. */
static bool change(void (*work)(void *data), struct job *job)
{
    lp *model = job->model;

    if (!model->is_out_of_memory)
        model->is_out_of_memory = model->has_thrown = !lp_clp_run(work, job);
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
    lp_rows scaled;
    struct job job = { .model = model, .rows = &scaled };

    if (rows->count == 0)
        return;
    model->is_beyond = model->is_beyond || any_beyond(rows->value, rows->start[rows->count]);
    if (!scaled_rows(model, rows, &scaled) || !change(add_rows, &job)) {
        model->is_out_of_memory = true;
        return;
    }
    memset(model->status + model->columns + model->rows, LP_BASIC, (size_t)rows->count);
    model->rows += rows->count;
}

void lp_delete_rows(lp *model, int count, const int *rows)
{
    struct job job = { .model = model, .count = count, .deleted = rows };

    if (count == 0 || !change(delete_rows, &job))
        return;
    for (int i = 0, from = rows[0], to = rows[0]; from < model->rows; from++) {
        if (i < count && rows[i] == from)
            i++;
        else
            model->row_scale[to++] = model->row_scale[from];
    }
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

/* Whether what Clp calls optimal is so; `clp` is the model's, or a copy of it. */
static bool is_optimal(const lp *model, Clp_Simplex *clp)
{
    const lp_claim claim = {
        .columns = model->columns,
        .rows = model->rows,
        .start = Clp_getVectorStarts(clp),
        .length = Clp_getVectorLengths(clp),
        .row = Clp_getIndices(clp),
        .value = Clp_getElements(clp),
        .lower = model->lower,
        .upper = model->upper,
        .cost = Clp_getObjCoefficients(clp),
        .row_lower = model->row_lower,
        .row_upper = model->row_upper,
        .primal = Clp_primalColumnSolution(clp),
        .dual = Clp_dualRowSolution(clp),
        .activity = model->activity,
        .size = model->size,
    };

    return isfinite(Clp_objectiveValue(clp)) && lp_claim_holds(&claim);
}

static lp_status status_of(const lp *model, Clp_Simplex *clp)
{
    switch (Clp_status(clp)) {
    case 0:
        return is_optimal(model, clp) ? LP_OPTIMAL : LP_FAILED;
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

/* ---- again ----------------------------------------------------------------------------------- */

/* The bits of the model's own next solves must not depend on a retry, so it works on a copy. */

static void set_up_level(Clp_Simplex *clp, const lp_level *level, double seconds)
{
    double tolerance = level->is_relaxed ? RELAXED_TOLERANCE : TOLERANCE;

    lp_clp_seed(clp);
    Clp_setLogLevel(clp, 0); /* a copy does not inherit it, and would print */
    Clp_setMaximumSeconds(clp, seconds);
    Clp_scaling(clp, level->scaling);
    Clp_setPrimalTolerance(clp, tolerance);
    Clp_setDualTolerance(clp, tolerance);
    lp_clp_scale(clp, level->objective_scale, level->bound_scale);
    if (level->method == LP_INTERIOR)
        Clp_setMaximumIterations(clp, INTERIOR_STEPS);
}

static void solve_presolved(Clp_Simplex *clp, lp_method method)
{
    static const int types[] = { [LP_DUAL] = 0, [LP_PRIMAL] = 1, [LP_INTERIOR] = 3 };
    Clp_Solve *options = ClpSolve_new();

    ClpSolve_setSolveType(options, types[method], -1);
    ClpSolve_setPresolveType(options, 0, -1);
    Clp_initialSolveWithOptions(clp, options);
    ClpSolve_delete(options);
}

/* The solution and the basis of a copy become the model's. */
static void take_over(lp *model, Clp_Simplex *from)
{
    size_t columns = (size_t)model->columns, rows = (size_t)model->rows;

    memcpy(model->status, Clp_statusArray(from), columns + rows);
    memcpy(Clp_primalColumnSolution(model->clp), Clp_primalColumnSolution(from),
           columns * sizeof(double));
    memcpy(Clp_dualColumnSolution(model->clp), Clp_dualColumnSolution(from),
           columns * sizeof(double));
    memcpy(Clp_primalRowSolution(model->clp), Clp_primalRowSolution(from), rows * sizeof(double));
    memcpy(Clp_dualRowSolution(model->clp), Clp_dualRowSolution(from), rows * sizeof(double));
    fetch_solution(model, from);
}

static lp_status attempt(void *data, const lp_level *level, double seconds)
{
    lp *model = data;

    reset_basis(model);
    Clp_Simplex *copy = lp_clp_copy(model->clp);
    set_up_level(copy, level, seconds);
    if (level->presolves)
        solve_presolved(copy, level->method);
    else
        Clp_dual(copy, 0);
    lp_status end = status_of(model, copy);
    model->work.pivots += Clp_numberIterations(copy);
    if (end == LP_OPTIMAL)
        take_over(model, copy);
    Clp_deleteModel(copy);
    return end;
}

static void solve(void *data)
{
    struct job *job = data;
    lp *model = job->model;
    int64_t attempts = 0;

    lp_clp_seed(model->clp);
    Clp_dual(model->clp, 0);
    model->work.pivots += Clp_numberIterations(model->clp);
    job->end = status_of(model, model->clp);
    if (job->end == LP_OPTIMAL)
        fetch_solution(model, model->clp);
    else /* even what is infeasible from a basis may not be so from scratch */
        job->end = lp_climb(attempt, model, LP_CLIMB_SECONDS, &attempts);
    model->work.retries += attempts;
}

static void solve_at_level(void *data)
{
    struct job *job = data;

    job->end = attempt(job->model, &lp_levels[job->count], lp_levels[job->count].seconds);
}

/* Solve by `work`, which sets the end of its job. */
static lp_status solve_by(lp *model, void (*work)(void *data), int count)
{
    int64_t begin = mcp_clock_mono_ns();
    struct job job = { .model = model, .count = count };

    if (model->is_out_of_memory)
        return LP_NO_MEMORY;
    if (model->is_beyond || bounds_beyond(model->lower, model->upper, model->columns) ||
        bounds_beyond(model->row_lower, model->row_upper, model->rows))
        return LP_FAILED;
    if (!lp_clp_run(work, &job)) {
        model->is_out_of_memory = model->has_thrown = true;
        job.end = LP_NO_MEMORY;
    }
    model->work.solves++;
    model->work.solver_ns += mcp_clock_mono_ns() - begin;
    return job.end;
}

lp_status lp_solve(lp *model)
{
    return solve_by(model, solve, 0);
}

lp_status lp_solve_at_level(lp *model, unsigned level)
{
    return solve_by(model, solve_at_level, (int)level);
}

double lp_column_unit(const lp *model, int column)
{
    return model->column_scale[column];
}

double lp_row_unit(const lp *model, int count, const int *columns, const double *values)
{
    return 1.0 / lp_scale_row(count, columns, values, model->column_scale);
}

double lp_objective(const lp *model)
{
    return model->objective;
}

const double *lp_primal(const lp *model)
{
    return model->primal;
}

const double *lp_reduced_costs(const lp *model)
{
    return model->reduced;
}

const double *lp_duals(const lp *model)
{
    return model->duals;
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
