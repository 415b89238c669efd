/*
 * forward.c - the forward pass: one task per scenario, which solves all positions in order.
 *
 * The opening of a scenario at a position is drawn from (seed, iteration, scenario, position), so
 * the walk does not depend on the thread. Each solve starts from the basis of its (position,
 * scenario) and leaves its own there: for the backward solves of this iteration, and for the next
 * forward pass.
 */
#include <string.h>

#include "sddp/iteration/groups.h"
#include "sddp/iteration/iteration.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"

/* One stage of a walk: solves at `state`, which then becomes the next stage's; adds the cost. */
static mcp_status walk_stage(pass *p, worker *w, size_t position, size_t scenario, double *cost,
                             sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    size_t t = study_stage_at(s, position);
    const stage_lp *program = &s->programs[t];
    study_path path = study_training_path(s, (uint32_t)p->iteration, scenario);
    const double *noise = study_draw(s, w, &path, position, w->state, &where->opening);
    uint8_t *basis = study_basis_at(s, position, scenario);
    solve_input in = groups_path_input(s, w, t, noise, basis);
    double objective;
    solve_output out = { .objective = &objective };

    in.keep_basis = basis;
    in.work = &w->stage_work[t];
    mcp_status st = pass_solve(&out, p, w, &in, where, err);
    if (st != MCP_OK)
        return st;
    double stage_cost = objective - stage_lp_future(program, out.primal);
    *cost += s->discount[position] * stage_cost * COST_SCALE;
    solve_leave(w, &in, &out, 0, w->state);
    return MCP_OK;
}

static mcp_status walk(pass *p, worker *w, size_t scenario, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    size_t bytes = s->dimension * sizeof *w->state;
    double cost = 0.0;

    where->scenario = (int32_t)scenario;
    study_path path = study_training_path(s, (uint32_t)p->iteration, scenario);
    study_begin_path(s, &path, w->state);
    for (size_t i = 0; i < s->trials; i++) {
        memcpy(study_trial(s, i, scenario), w->state, bytes);
        if (i == s->positions)
            break;
        mcp_status st = walk_stage(p, w, i, scenario, &cost, where, err);
        if (st != MCP_OK)
            return st;
    }
    s->path_cost[scenario] = cost;
    return MCP_OK;
}

/* Trial states, bases and costs of the scenarios. */
static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    sddp *s = p->study;
    size_t state = s->dimension * sizeof *s->trial;

    for (size_t i = 0; i < s->trials; i++)
        spans_add(all, study_trial(s, i, begin), (end - begin) * state);
    for (size_t i = 0; i < s->positions; i++) {
        size_t t = study_stage_at(s, i);
        size_t lines = stage_lp_lines(&s->programs[t]) + s->basis_stores[t].row_count;
        for (size_t m = begin; m < end; m++)
            spans_add(all, study_basis_at(s, i, m), lines);
    }
    spans_add(all, s->path_cost + begin, (end - begin) * sizeof *s->path_cost);
}

mcp_status forward_run(const iteration_run *run, mcp_error *err)
{
    sddp *s = run->study;
    pass p = { .study = s,
               .observer = run->observer,
               .phase = "forward",
               .iteration = (int32_t)run->iteration,
               .halts_at = SDDP_STOP_NOW,
               .pace = &s->forward_pace,
               .times = &s->recorder->forward,
               .outputs = list_outputs,
               .notes_end = s->stages };
    mcp_status st = pass_run(&p, walk, s->scenarios, run->failure, err);

    for (size_t t = 0; st == MCP_OK && t < s->stages; t++)
        st = study_settle(s, t, err);
    recorder_take_forward(s);
    return st;
}
