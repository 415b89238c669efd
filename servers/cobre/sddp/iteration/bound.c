/*
 * bound.c - the lower bound: the first stage under each of its openings, with all cuts, those that
 * selection has deactivated too, so that the bound never falls.
 */
#include "sddp/iteration/iteration.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"
#include "sddp/risk.h"

static mcp_status solve_first(pass *p, worker *w, size_t opening, sddp_failure *where,
                              mcp_error *err)
{
    sddp *s = p->study;
    solve_input in = study_input(s, 0, s->initial, tree_noise(s->tree, 0, (uint32_t)opening),
                                 study_basis(s, 0, 0));
    lp *model = NULL;

    in.all_cuts = true;
    in.work = &w->opening_work[opening];
    where->opening = (int32_t)opening;
    mcp_status st = pass_solve(&model, p, w, &in, where, err);
    if (st == MCP_OK)
        s->objectives[opening] = lp_objective(model);
    return st;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    double *objectives = p->study->objectives;

    spans_add(all, objectives + begin, (end - begin) * sizeof *objectives);
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
    mcp_status st = pass_run(&p, solve_first, openings, run->failure, err);
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
