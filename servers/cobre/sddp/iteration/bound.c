/*
 * bound.c - the lower bound: the first stage under each of its openings, with all cuts, those that
 * selection has deactivated too, so that the bound never falls.
 */
#include "sddp/iteration/groups.h"
#include "sddp/iteration/iteration.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"
#include "sddp/risk.h"

/* One group of openings. */
static mcp_status solve_first(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    opening_group group = groups_get(s, 0, index);
    solve_input in = groups_input(s, 0, s->initial, &group, study_basis(s, 0, 0));
    solve_output out = { .objective = s->objectives + group.first };

    in.all_cuts = true;
    in.work = w->opening_work + group.first;
    where->opening = (int32_t)group.first;
    return pass_solve(&out, p, w, &in, where, err);
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    double *objectives = p->study->objectives;

    for (size_t i = begin; i < end; i++) {
        opening_group group = groups_get(p->study, 0, i);
        spans_add(all, objectives + group.first, group.count * sizeof *objectives);
    }
}

mcp_status bound_run(const iteration_run *run, double *out, mcp_error *err)
{
    sddp *s = run->study;
    size_t openings = s->tree->openings[0];
    pass p = { .study = s,
               .observer = run->observer,
               .phase = "lower_bound",
               .iteration = (int32_t)run->iteration,
               .halts_at = SDDP_STOP_NOW,
               .pace = &s->bound_pace,
               .outputs = list_outputs,
               .notes_end = 1 };
    mcp_status st = pass_run(&p, solve_first, groups_count(s, 0), run->failure, err);
    double bound = 0.0;

    if (st == MCP_OK)
        st = study_settle(s, 0, err);
    recorder_take_bound(s);
    if (st != MCP_OK)
        return st;
    risk_weights(s->weights, &s->input->stages[0], s->input->config.original_arithmetic,
                 s->objectives, openings, s->order);
    for (size_t w = 0; w < openings; w++)
        bound += s->weights[w] * s->objectives[w];
    *out = bound * COST_SCALE;
    return MCP_OK;
}
