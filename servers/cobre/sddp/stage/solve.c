/*
 * solve.c - what the solves of a group have in common: values, the outgoing state, counts, and the
 * gradient by the incoming state.
 */
#include "sddp/stage/solve.h"

#include <string.h>

#include "lp/group.h"
#include "sddp/stage/rows.h"

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

static lp_cuts view_of(const solve_input *in)
{
    const cut_pool *pool = in->pool;
    bool is_whole = in->all_cuts || pool->active == pool->count;

    return (lp_cuts){ .count = pool->count,
                      .intercept = pool->intercept,
                      .slope = (const double *const *)pool->slope,
                      .chunk = CUT_CHUNK,
                      .theta = pool->thetas > 1 ? pool->theta : NULL,
                      .active = is_whole ? NULL : pool->is_active,
                      .set = pool->set,
                      .set_count = pool->set_count };
}

static size_t tail_of(const solve_input *in)
{
    return in->program->layout.dimension - in->program->layout.states;
}

/* The values and outgoing entries of all lanes. */
static lp_group group_of(worker *w, const solve_input *in, const lp_cuts *cuts)
{
    const stage_lp *program = in->program;
    size_t lanes = in->lanes.count;
    const double *inflow = w->lane_values + items_inflow(program) * lanes;

    items_of_state(program, in->state, &in->lanes, w->lane_values);
    if (tail_of(in) > 0)
        state_advance(&program->context->state, program->stage, in->state, in->lanes.state_stride,
                      inflow, lanes, w->lane_tail);
    return (lp_group){ .lanes = lanes,
                       .values = w->lane_values,
                       .tail = tail_of(in) > 0 ? w->lane_tail : NULL,
                       .cuts = cuts,
                       .basis = in->basis,
                       .activity_tolerance = in->activity_tolerance };
}

/* Where the answers go; a gradient by storages alone is what the caller wants. */
static lp_answers answers_of(worker *w, const solve_input *in, const solve_output *out)
{
    workspace *ws = &w->workspaces[in->program->stage];
    lp_answers answers = {
        .objective = out->objective, .which = out->which, .keep = in->keep_basis, .tight = ws->tight
    };

    if (out->gradient)
        answers.gradient = tail_of(in) > 0 ? w->reduced : out->gradient;
    if (in->counts_hits)
        answers.hits = ws->hits;
    if (in->wants_solution) {
        answers.primal = w->primal;
        answers.duals = w->duals;
    }
    return answers;
}

static void pull_back(worker *w, const solve_input *in, size_t bases, double *gradient)
{
    const state_table *table = &in->program->context->state;
    const lp_layout *layout = &in->program->layout;
    size_t n = layout->states, length = layout->gradients + tail_of(in);

    for (size_t i = 0; i < bases; i++) {
        const double *reduced = w->reduced + i * length;
        /* by storage, by inflow, then by the outgoing entries from n on */
        memcpy(w->by_inflow, reduced + n, n * sizeof *w->by_inflow);
        state_pull_back(table, in->program->stage, reduced, w->by_inflow, reduced + n,
                        gradient + i * layout->dimension);
    }
}

static void count(worker *w, const solve_input *in, size_t solved, bool is_failed)
{
    size_t tried = solved + is_failed;

    w->solves += (int64_t)tried;
    if (!in->work)
        return;
    for (size_t i = 0; i < tried; i++)
        in->work[i].solves++;
    in->work[0].bases++;
    if (is_failed)
        in->work[solved].failed++;
}

static mcp_status no_optimum(const worker *w, const solve_input *in, mcp_error *err)
{
    if (w->end == LP_NO_MEMORY)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the LP of stage %zu",
                             in->program->stage);
    return mcp_error_set(err, MCP_E_INTERNAL, "the LP of stage %zu has no optimum: %s",
                         in->program->stage, lp_status_name(w->end));
}

/* By the dual simplex. What it finds no optimum of, the other solver has to answer: it confirms
 * that there is none, or finds one. */
static lp_status solve_by_dual(worker *w, const solve_input *in, const lp_group *group,
                               lp_answers *answers)
{
    const dual_totals *totals = dual_work_totals(w->dual);
    const dual_totals before = *totals;
    lp_status end = dual_solve(in->dual, w->dual, group, answers);

    if (in->work) {
        uint32_t retries = (uint32_t)(totals->retries - before.retries);
        in->work[0].pivots += (uint64_t)(totals->pivots - before.pivots);
        in->work[0].solver_ns += totals->solver_ns - before.solver_ns;
        in->work[0].attempts += retries;
        in->work[0].retried += end == LP_OPTIMAL ? retries : 0;
        in->work[0].levels[0] += end == LP_OPTIMAL ? retries : 0;
    }
    if (end == LP_OPTIMAL || end == LP_NO_MEMORY)
        return end;
    return rows_solve(w, in, group, answers);
}

mcp_status solve_group(worker *w, const solve_input *in, solve_output *out, mcp_error *err)
{
    const lp_cuts cuts = view_of(in);
    const lp_group group = group_of(w, in, &cuts);
    lp_answers answers = answers_of(w, in, out);

    w->end = in->dual ? solve_by_dual(w, in, &group, &answers)
                      : rows_solve(w, in, &group, &answers);
    w->failed = answers.failed;
    if (w->end != LP_OPTIMAL) {
        count(w, in, w->failed, true);
        return no_optimum(w, in, err);
    }
    count(w, in, group.lanes, false);
    out->bases = answers.bases;
    out->primal = answers.primal;
    out->duals = answers.duals;
    if (out->gradient && tail_of(in) > 0)
        pull_back(w, in, answers.bases, out->gradient);
    return MCP_OK;
}

const double *solve_primal(const solve_input *in, const solve_output *out, size_t lane)
{
    return out->primal + lane * (size_t)in->program->program.columns;
}

const double *solve_duals(const solve_input *in, const solve_output *out, size_t lane)
{
    return out->duals + lane * (size_t)in->program->program.rows;
}

void solve_leave(const worker *w, const solve_input *in, const solve_output *out, size_t lane,
                 double *state)
{
    const state_table *table = &in->program->context->state;
    const double *before = in->state + lane * in->lanes.state_stride;
    size_t n = table->hydros, more = tail_of(in);
    bool is_frozen = more > 0 && table->model->moves[in->program->stage].is_frozen;

    for (size_t j = 0; !is_frozen && j < more; j++)
        state[n + j] = w->lane_tail[j * in->lanes.count + lane];
    if (is_frozen && state != before)
        memcpy(state + n, before + n, more * sizeof *state);
    stage_lp_leave(in->program, solve_primal(in, out, lane), state);
}
