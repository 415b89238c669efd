/*
 * backward.c - the backward pass: adds cuts to the future cost function of each stage.
 *
 * One pass per stage, from the last to the second, with a task for every (trial state, opening). A
 * solve gives the objective and its gradient by the incoming state; weighted by the risk measure of
 * the stage before, these become one cut of that stage per trial state, appended in scenario order
 * after all solves. So the programs of a stage hold the cuts of the same iteration.
 */
#include "sddp/iteration/iteration.h"
#include "sddp/pass.h"
#include "sddp/risk.h"

static mcp_status solve_opening(pass *p, worker *w, size_t index, sddp_failure *where,
                                mcp_error *err)
{
    sddp *s = p->study;
    size_t t = *(const size_t *)p->data, openings = s->tree->openings[t];
    size_t scenario = index / openings;
    uint32_t opening = (uint32_t)(index % openings);
    solve_input in = study_input(s, t, study_trial(s, t, scenario), tree_noise(s->tree, t, opening),
                                 study_basis(s, t, scenario));
    double *outcome = s->outcome + index * (s->dimension + 1);
    lp *model = NULL;

    where->scenario = (int32_t)scenario;
    where->opening = (int32_t)opening;
    mcp_status st = pass_solve(&model, p, w, &in, where, err);
    if (st != MCP_OK)
        return st;
    outcome[0] = lp_objective(model);
    solve_gradient(w, &in, model, outcome + 1);
    return MCP_OK;
}

/* The cut of stage t - 1 at one trial state of stage t. */
static void add_cut(sddp *s, size_t t, size_t scenario, uint32_t iteration)
{
    size_t n = s->dimension, openings = s->tree->openings[t];
    const double *outcome = s->outcome + scenario * openings * (n + 1);
    const double *state = study_trial(s, t, scenario);
    double intercept = 0.0;

    for (size_t w = 0; w < openings; w++)
        s->objectives[w] = outcome[w * (n + 1)];
    risk_weights(s->weights, &s->input->stages[t - 1], s->input->config.original_arithmetic,
                 s->objectives, openings, s->order);
    for (size_t j = 0; j < n; j++)
        s->slope[j] = 0.0;
    for (size_t w = 0; w < openings; w++) {
        const double *gradient = outcome + w * (n + 1) + 1;
        double at_zero = s->objectives[w];
        for (size_t j = 0; j < n; j++) {
            at_zero -= gradient[j] * state[j];
            s->slope[j] += s->weights[w] * gradient[j];
        }
        intercept += s->weights[w] * at_zero;
    }
    cuts_append(&s->pools[t - 1], intercept, s->slope, iteration);
}

static mcp_status step_back(const iteration_run *run, size_t t, mcp_error *err)
{
    sddp *s = run->study;
    pass p = { .study = s,
               .observer = run->observer,
               .phase = "backward",
               .iteration = (int32_t)run->iteration,
               .halts_at = SDDP_STOP_NOW,
               .pace = &s->backward_pace[t],
               .data = &t };
    size_t tasks = s->scenarios * s->tree->openings[t];
    mcp_status st = pass_run(&p, solve_opening, tasks, run->failure, err);

    if (st == MCP_OK)
        st = study_settle(s, t, run->iteration, err);
    if (st == MCP_OK)
        st = study_reserve_cuts(s, t - 1, s->scenarios, err);
    if (st != MCP_OK)
        return st;
    for (size_t m = 0; m < s->scenarios; m++)
        add_cut(s, t, m, run->iteration);
    return study_follow(s, t - 1, err);
}

mcp_status backward_run(const iteration_run *run, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = run->study->stages - 1; t > 0 && st == MCP_OK; t--)
        st = step_back(run, t, err);
    return st;
}
