/*
 * rows.c - the working set as rows, and lazily added cuts.
 *
 * Before a group the program is brought to a state that only its input decides: the rows of the
 * working set in its order, a given basis. Each lane sets fresh bounds and starts where the
 * one before it ended. Then the whole pool is searched; the most violated cuts are added as rows
 * and the program is solved again, until none is violated. The next group deletes those rows.
 *
 * The solver itself lets a row be violated by its tolerance, times the unit of the row. A long
 * training has many cuts that are equal but for rounding, and so violated by less: each of them
 * would be a row and a solve for nothing. So cuts violated by less than that are none, and a solve
 * with new rows that has no pivot is the last one: no other cut is violated by more.
 *
 * The row of a cut holds storages and theta alone: what the rest of the outgoing state (state.h)
 * adds is known before the solve, and is a part of the right-hand side. What all lanes share of it
 * is computed once.
 */
#include "sddp/stage/rows.h"

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

/* Write the elements of a cut's row from place `at` of the worker's on; the end of them. */
static int write_elements(worker *w, const solve_input *in, uint32_t cut, int at)
{
    for (size_t j = 0; j < in->program->input->hydro_count; j++) {
        double slope = cuts_slope(in->pool, cut, j);
        if (slope == 0.0)
            continue;
        w->row_column[at] = stage_lp_storage(in->program, j);
        w->row_value[at++] = -slope;
    }
    w->row_column[at] = theta_of(in, cut);
    w->row_value[at++] = 1.0;
    return at;
}

static void append_batch(worker *w, const solve_input *in, const uint32_t *cuts, size_t count)
{
    double lower[ROW_BATCH], upper[ROW_BATCH];
    int start[ROW_BATCH + 1], at = 0;

    for (size_t i = 0; i < count; i++) {
        start[i] = at;
        lower[i] = w->fixed[cuts[i]];
        upper[i] = LP_INFINITY;
        at = write_elements(w, in, cuts[i], at);
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

static bool has_tail(const solve_input *in)
{
    return in->pool->dimension > in->program->input->hydro_count;
}

/* Whether an outgoing entry that is no storage may differ from lane to lane. */
static bool differs(const solve_input *in, size_t entry)
{
    const state_move *move = &in->program->context->state.moves[in->program->stage];

    return in->lanes.state_stride > 0 ||
           move->is_random[entry - in->program->input->hydro_count] != 0;
}

/* What outgoing entries add to the cuts that are no storages: those that differ, or those that all
 * lanes share. */
static void add_tail(const solve_input *in, const lp_group *group, size_t lane, bool differing,
                     double *outgoing, double *values)
{
    size_t n = in->program->input->hydro_count, dimension = in->pool->dimension;

    for (size_t from = n, to = n; from < dimension; from = to) {
        for (; to < dimension && differs(in, to) == differs(in, from); to++)
            outgoing[to] = group->tail[(to - n) * group->lanes + lane];
        if (differs(in, from) == differing)
            cuts_add(in->pool, from, to, outgoing, values);
    }
}

static void share_tail(worker *w, const solve_input *in, const lp_group *group)
{
    cuts_intercepts(in->pool, w->shared);
    if (has_tail(in))
        add_tail(in, group, 0, false, w->outgoing, w->shared);
    if (in->pool->count > 0)
        memcpy(w->fixed, w->shared, in->pool->count * sizeof *w->fixed);
}

/* The cuts as a lane has them, and the right-hand sides of all cut rows. */
static void set_right_sides(worker *w, const solve_input *in, const lp_group *group, size_t lane)
{
    const workspace *ws = workspace_of(w, in);
    int first = in->program->program.rows;
    size_t count = ws->set_count + ws->local_count;

    if (!has_tail(in) || in->pool->count == 0)
        return;
    memcpy(w->fixed, w->shared, in->pool->count * sizeof *w->fixed);
    add_tail(in, group, lane, true, w->outgoing, w->fixed);
    for (size_t i = 0; i < count; i++)
        lp_set_row(ws->model, first + (int)i, w->fixed[ws->rows[i]], LP_INFINITY);
}

/* The program with the working set, and its starting basis; false without memory. */
static bool load(worker *w, const solve_input *in, const lp_group *group)
{
    workspace *ws = workspace_of(w, in);

    if (!ws->model && lp_new(&ws->model, &in->program->program, NULL) != MCP_OK)
        return false;
    drop_local_rows(w, in);
    hold_working_set(w, in);
    lp_set_basis(ws->model, group->basis);
    return true;
}

static void note_tight_rows(const workspace *ws, const uint8_t *cut_rows, uint8_t *tight)
{
    size_t count = ws->set_count + ws->local_count;

    for (size_t i = 0; i < count; i++)
        if (cut_rows[i] != LP_BASIC)
            tight[ws->rows[i]] = 1;
}

/* Whether a cut is above theta by more than the solver would let its row be. */
static bool exceeds_tolerance(worker *w, const solve_input *in, uint32_t cut)
{
    const lp *model = workspace_of(w, in)->model;
    double excess = w->values[cut] - lp_primal(model)[theta_of(in, cut)];
    int count = write_elements(w, in, cut, 0);

    return excess > CUT_TOLERANCE * lp_row_unit(model, count, w->row_column, w->row_value);
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
    uint32_t *added = local + ws->local_count;
    size_t found = cuts_violated(pool, w->values, &search, added, CUTS_AT_ONCE), kept = 0;
    for (size_t i = 0; i < found; i++)
        if (exceeds_tolerance(w, in, added[i]))
            added[kept++] = added[i];
    append_rows(w, in, added, kept);
    ws->local_count += kept;
    return kept;
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

static lp_status solve_lane(worker *w, const solve_input *in, const lp_group *group, size_t lane,
                            lp_answers *out)
{
    workspace *ws = workspace_of(w, in);
    size_t fixed = stage_lp_lines(in->program);
    solve_work *work = in->work ? in->work + lane : NULL;
    bool keeps = lane == 0 && out->keep, is_first = true;
    int64_t pivots;

    set_right_sides(w, in, group, lane);
    items_enter(in->program, ws->model, group->values + lane, group->lanes);
    do {
        pivots = lp_work(ws->model)->pivots;
        lp_status end = solve_lp(ws->model, work);
        if (end != LP_OPTIMAL)
            return end;
        const uint8_t *basis = lp_basis(ws->model);
        if (keeps)
            memcpy(out->keep, basis, fixed + ws->set_count);
        keeps = false;
        note_tight_rows(ws, basis + fixed, out->tight);
        if (!is_first && lp_work(ws->model)->pivots == pivots)
            break;
        is_first = false;
    } while (bring_in_violated(w, in) > 0);
    return LP_OPTIMAL;
}

/* ---- the answer of a lane -------------------------------------------------------------------- */

static void count_active(const workspace *ws, const double *duals, double tolerance, uint32_t *hits)
{
    size_t count = ws->set_count + ws->local_count;

    for (size_t i = 0; i < count; i++)
        if (duals[i] > tolerance)
            hits[ws->rows[i]]++;
}

/* What outgoing entries without a column are worth: the sum over the tight cuts of dual times
 * slope. */
static void weigh_cuts(worker *w, const solve_input *in, const double *duals, double *by_tail)
{
    const cut_pool *pool = in->pool;
    const workspace *ws = workspace_of(w, in);
    size_t n = in->program->input->hydro_count, tight = 0;

    for (size_t i = 0; i < ws->set_count + ws->local_count; i++)
        if (duals[i] != 0.0) {
            w->gone[tight] = (int)ws->rows[i];
            w->values[tight++] = duals[i];
        }
    memset(by_tail, 0, (pool->dimension - n) * sizeof *by_tail);
    for (size_t i = 0; i < tight; i++) {
        size_t cut = (size_t)w->gone[i];
        const double *slope = pool->slope[cut / CUT_CHUNK] + cut % CUT_CHUNK;
        for (size_t j = n; j < pool->dimension; j++)
            by_tail[j - n] += w->values[i] * slope[j * CUT_CHUNK];
    }
}

static void read_gradient(worker *w, const solve_input *in, const double *duals, double *gradient)
{
    const lp_layout *layout = &in->program->layout;
    const double *reduced = lp_reduced_costs(workspace_of(w, in)->model);

    for (size_t i = 0; i < layout->gradients; i++)
        gradient[i] = reduced[layout->gradient[i]];
    if (has_tail(in))
        weigh_cuts(w, in, duals, gradient + layout->gradients);
}

static void read_lane(worker *w, const solve_input *in, size_t lane, const lp_group *group,
                      lp_answers *out)
{
    const lp_layout *layout = &in->program->layout;
    const workspace *ws = workspace_of(w, in);
    size_t columns = (size_t)in->program->program.columns;
    size_t rows = (size_t)in->program->program.rows;
    const double *duals = lp_duals(ws->model);

    out->objective[lane] = lp_objective(ws->model);
    if (out->which)
        out->which[lane] = (uint32_t)lane;
    if (out->hits)
        count_active(ws, duals + rows, group->activity_tolerance, out->hits);
    if (out->gradient)
        read_gradient(w, in, duals + rows,
                      out->gradient +
                          lane * (layout->gradients + layout->dimension - layout->states));
    if (out->primal)
        memcpy(out->primal + lane * columns, lp_primal(ws->model), columns * sizeof *out->primal);
    if (out->duals)
        memcpy(out->duals + lane * rows, duals, rows * sizeof *out->duals);
}

lp_status rows_solve(worker *w, const solve_input *in, const lp_group *group, lp_answers *out)
{
    lp_status end = LP_OPTIMAL;

    out->failed = 0;
    out->bases = group->lanes;
    share_tail(w, in, group);
    if (!load(w, in, group))
        return LP_NO_MEMORY;
    for (size_t i = 0; i < group->lanes && end == LP_OPTIMAL; i++) {
        out->failed = i;
        end = solve_lane(w, in, group, i, out);
        if (end == LP_OPTIMAL)
            read_lane(w, in, i, group, out);
    }
    return end;
}
