/*
 * solve.c - solves stage programs so that the answer depends on (stage, state, noise, cuts) alone.
 *
 * Before a solve the program is brought to a state that only these decide: the rows of the working
 * set in its order, fresh bounds, a given basis. Then the whole pool is searched; the most violated
 * cuts are added as rows and the program is solved again, until none is violated. The next solve of
 * the stage deletes those rows, unless it continues this one: then the answer depends on the solves
 * of the group before it too, which one worker makes in a fixed order. So neither the order of
 * groups nor the number of workers changes any bit of the results, and the optimum is that over all
 * cuts.
 *
 * The row of a cut holds storages and theta alone: what the rest of the outgoing state (state.h)
 * adds is known before the solve, and is a part of the right-hand side.
 */
#include "sddp/stage/solve.h"

#include <math.h>
#include <string.h>

/* Cuts added at once: more cost rows, fewer cost solves. */
#define CUTS_AT_ONCE 3

/* A cut outside the working set counts as violated when it is above theta by more: what the solver
 * tells apart, or the rounding of the cut's value. */
#define CUT_TOLERANCE 1e-9
#define CUT_ROUNDING 1e-12

static workspace *workspace_of(worker *w, const solve_input *in)
{
    return &w->workspaces[in->program->stage];
}

/* The future cost that a cut bounds. */
static int theta_of(const solve_input *in, uint32_t cut)
{
    return in->program->theta + (int)in->pool->theta[cut];
}

static void append_batch(worker *w, const solve_input *in, const uint32_t *cuts, size_t count)
{
    const cut_pool *pool = in->pool;
    const stage_lp *program = in->program;
    double lower[ROW_BATCH], upper[ROW_BATCH];
    int start[ROW_BATCH + 1], at = 0;

    for (size_t i = 0; i < count; i++) {
        start[i] = at;
        lower[i] = w->fixed[cuts[i]];
        upper[i] = LP_INFINITY;
        for (size_t j = 0; j < program->input->hydro_count; j++) {
            double slope = cuts_slope(pool, cuts[i], j);
            if (slope == 0.0)
                continue;
            w->row_column[at] = stage_lp_storage(program, j);
            w->row_value[at++] = -slope;
        }
        w->row_column[at] = theta_of(in, cuts[i]);
        w->row_value[at++] = 1.0;
    }
    start[count] = at;
    lp_add_rows(workspace_of(w, in)->model,
                &(lp_rows){ (int)count, lower, upper, start, w->row_column, w->row_value });
}

static void append_rows(worker *w, const solve_input *in, const uint32_t *cuts, size_t count)
{
    for (size_t i = 0; i < count; i += ROW_BATCH)
        append_batch(w, in, cuts + i, count - i < ROW_BATCH ? count - i : ROW_BATCH);
}

/* Delete the rows whose positions among the cut rows are w->gone. */
static void delete_rows(worker *w, const solve_input *in, size_t count)
{
    int first = in->program->program.rows;

    for (size_t i = 0; i < count; i++)
        w->gone[i] += first;
    lp_delete_rows(workspace_of(w, in)->model, (int)count, w->gone);
}

static void drop_local_rows(worker *w, const solve_input *in)
{
    workspace *ws = workspace_of(w, in);

    if (ws->local_count == 0)
        return;
    for (size_t i = 0; i < ws->local_count; i++)
        w->gone[i] = (int)(ws->set_count + i);
    delete_rows(w, in, ws->local_count);
    ws->local_count = 0;
}

static void hold_working_set(worker *w, const solve_input *in)
{
    const cut_pool *pool = in->pool;
    workspace *ws = workspace_of(w, in);

    if (ws->version == pool->version && ws->epoch == pool->epoch)
        return;
    size_t gone = 0;
    if (ws->epoch == pool->epoch)
        gone = cuts_gone(pool, ws->rows, ws->set_count, w->gone);
    else
        for (; gone < ws->set_count; gone++)
            w->gone[gone] = (int)gone;
    delete_rows(w, in, gone);
    size_t kept = ws->set_count - gone;
    append_rows(w, in, pool->set + kept, pool->set_count - kept);
    if (pool->set_count > 0)
        memcpy(ws->rows, pool->set, pool->set_count * sizeof *ws->rows);
    ws->set_count = pool->set_count;
    ws->version = pool->version;
    ws->epoch = pool->epoch;
}

static bool has_fixed_part(const solve_input *in)
{
    return in->pool->dimension > in->program->input->hydro_count;
}

/* The right-hand sides of all cut rows, where they vary. */
static void set_right_sides(const worker *w, const workspace *ws, const solve_input *in)
{
    int first = in->program->program.rows;
    size_t count = ws->set_count + ws->local_count;

    for (size_t i = 0; has_fixed_part(in) && i < count; i++)
        lp_set_row(ws->model, first + (int)i, w->fixed[ws->rows[i]], LP_INFINITY);
}

/* Realized inflows, the outgoing state but for the storages, and what it adds to the cuts. */
static void look_ahead(worker *w, const solve_input *in)
{
    const cut_pool *pool = in->pool;
    const state_table *table = &in->program->context->state;

    stage_lp_inflow(in->program, in->state, in->noise, w->inflow);
    state_advance(table, in->program->stage, in->state, w->inflow, w->outgoing);
    cuts_intercepts(pool, w->fixed);
    cuts_add(pool, table->hydros, pool->dimension, w->outgoing, w->fixed);
}

static mcp_status load(worker *w, const solve_input *in, mcp_error *err)
{
    workspace *ws = workspace_of(w, in);

    if (!ws->model) {
        mcp_status st = lp_new(&ws->model, &in->program->program, err);
        if (st != MCP_OK)
            return st;
    }
    drop_local_rows(w, in);
    hold_working_set(w, in);
    return MCP_OK;
}

/* Bring the program to the state that the input alone decides, or, to continue, the group. */
static mcp_status prepare(worker *w, const solve_input *in, mcp_error *err)
{
    workspace *ws = workspace_of(w, in);
    mcp_status st = MCP_OK;

    look_ahead(w, in);
    if (in->basis)
        st = load(w, in, err);
    if (st != MCP_OK)
        return st;
    set_right_sides(w, ws, in);
    stage_lp_enter(in->program, ws->model, in->state, w->inflow, in->noise);
    if (in->basis)
        lp_set_basis(ws->model, in->basis);
    w->solves++;
    if (in->work) {
        in->work->solves++;
        in->work->bases += in->basis != NULL;
    }
    return MCP_OK;
}

static mcp_status no_optimum(worker *w, const solve_input *in, lp_status end, mcp_error *err)
{
    w->end = end;
    if (in->work)
        in->work->failed++;
    if (end == LP_NO_MEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the LP of stage %zu",
                             in->program->stage);
    return mcp_error_set(err, MCP_E_INTERNAL, "the LP of stage %zu has no optimum: %s",
                         in->program->stage, lp_status_name(end));
}

static void note_tight_rows(workspace *ws, const uint8_t *cut_rows)
{
    size_t count = ws->set_count + ws->local_count;

    for (size_t i = 0; i < count; i++)
        if (cut_rows[i] != LP_BASIC)
            ws->tight[ws->rows[i]] = 1;
}

/* Append the most violated cuts of the solution as rows; the number of them. */
static size_t bring_in_violated(worker *w, const solve_input *in)
{
    const cut_pool *pool = in->pool;
    const stage_lp *program = in->program;
    workspace *ws = workspace_of(w, in);
    const double *primal = lp_primal(ws->model);
    uint32_t *local = ws->rows + ws->set_count;
    cut_search search = { w->limits, local, ws->local_count, in->all_cuts };

    size_t hydros = program->input->hydro_count;
    if (ws->set_count + ws->local_count >= (in->all_cuts ? pool->count : pool->active))
        return 0;
    for (size_t i = 0; i < pool->thetas; i++) {
        double theta = primal[program->theta + (int)i];
        double unit = lp_column_unit(ws->model, program->theta + (int)i);
        w->limits[i] = theta + CUT_TOLERANCE * unit + CUT_ROUNDING * fabs(theta);
    }
    for (size_t j = 0; j < hydros; j++)
        w->outgoing[j] = primal[stage_lp_storage(program, j)];
    memcpy(w->values, w->fixed, pool->count * sizeof *w->values);
    cuts_add(pool, 0, hydros, w->outgoing, w->values);
    size_t found = cuts_violated(pool, w->values, &search, local + ws->local_count, CUTS_AT_ONCE);
    append_rows(w, in, local + ws->local_count, found);
    ws->local_count += found;
    return found;
}

void solve_work_add(solve_work *sum, const solve_work *more)
{
    sum->solves += more->solves;
    sum->failed += more->failed;
    sum->retried += more->retried;
    sum->attempts += more->attempts;
    sum->bases += more->bases;
    for (size_t i = 0; i < SOLVE_RETRY_LEVELS; i++)
        sum->levels[i] += more->levels[i];
    sum->pivots += more->pivots;
    sum->solver_ns += more->solver_ns;
}

/* One solve of the LP, counted. */
static lp_status solve_lp(lp *model, solve_work *work)
{
    lp_totals before = *lp_work(model);
    lp_status end = lp_solve(model);

    if (!work)
        return end;
    int64_t attempts = lp_work(model)->retries - before.retries;
    work->pivots += (uint64_t)(lp_work(model)->pivots - before.pivots);
    work->solver_ns += lp_work(model)->solver_ns - before.solver_ns;
    work->attempts += (uint32_t)attempts;
    if (attempts > 0 && end == LP_OPTIMAL) {
        int64_t last = attempts < SOLVE_RETRY_LEVELS ? attempts : SOLVE_RETRY_LEVELS;
        work->retried++;
        work->levels[last - 1]++;
    }
    return end;
}

mcp_status solve_stage(lp **model, worker *w, const solve_input *in, mcp_error *err)
{
    workspace *ws = workspace_of(w, in);
    size_t fixed = stage_lp_lines(in->program);
    bool is_first = true;
    mcp_status st = prepare(w, in, err);

    if (st != MCP_OK)
        return st;
    do {
        lp_status end = solve_lp(ws->model, in->work);
        if (end != LP_OPTIMAL)
            return no_optimum(w, in, end, err);
        const uint8_t *basis = lp_basis(ws->model);
        if (is_first && in->keep_basis)
            memcpy(in->keep_basis, basis, fixed + ws->set_count);
        is_first = false;
        note_tight_rows(ws, basis + fixed);
    } while (bring_in_violated(w, in) > 0);
    *model = ws->model;
    return MCP_OK;
}

void solve_leave(const worker *w, const solve_input *in, const lp *model, double *state)
{
    const state_table *table = &in->program->context->state;
    size_t n = table->hydros, more = table->dimension - n;

    if (more > 0 && !table->model->moves[in->program->stage].is_frozen)
        memcpy(state + n, w->outgoing + n, more * sizeof *state);
    else if (more > 0 && state != in->state)
        memcpy(state + n, in->state + n, more * sizeof *state);
    stage_lp_leave(in->program, lp_primal(model), state);
}

/* What an outgoing entry that is no storage is worth: the sum over the tight cuts of dual times
 * slope. */
static void weigh_cuts(worker *w, const solve_input *in, const lp *model)
{
    const cut_pool *pool = in->pool;
    const workspace *ws = workspace_of(w, in);
    const double *duals = lp_duals(model) + in->program->program.rows;
    size_t n = in->program->input->hydro_count, tight = 0;

    for (size_t i = 0; i < ws->set_count + ws->local_count; i++)
        if (duals[i] != 0.0) {
            w->gone[tight] = (int)ws->rows[i];
            w->values[tight++] = duals[i];
        }
    memset(w->slopes + n, 0, (pool->dimension - n) * sizeof *w->slopes);
    for (size_t i = 0; i < tight; i++) {
        size_t cut = (size_t)w->gone[i];
        const double *slope = pool->slope[cut / CUT_CHUNK] + cut % CUT_CHUNK;
        for (size_t j = n; j < pool->dimension; j++)
            w->slopes[j] += w->values[i] * slope[j * CUT_CHUNK];
    }
}

void solve_gradient(worker *w, const solve_input *in, const lp *model, double *gradient)
{
    const stage_lp *program = in->program;
    const double *reduced = lp_reduced_costs(model);
    size_t n = program->input->hydro_count;

    if (!has_fixed_part(in)) {
        memcpy(gradient, reduced + program->first[REGION_INCOMING], n * sizeof *gradient);
        return;
    }
    weigh_cuts(w, in, model);
    memcpy(w->by_inflow, reduced + program->first[REGION_INFLOW], n * sizeof *w->by_inflow);
    state_pull_back(&program->context->state, program->stage,
                    reduced + program->first[REGION_INCOMING], w->by_inflow, w->slopes, gradient);
}

void solve_count_active(worker *w, const solve_input *in, double tolerance)
{
    workspace *ws = workspace_of(w, in);
    const double *duals = lp_duals(ws->model) + in->program->program.rows;
    size_t count = ws->set_count + ws->local_count;

    for (size_t i = 0; i < count; i++)
        if (duals[i] > tolerance)
            ws->hits[ws->rows[i]]++;
}
