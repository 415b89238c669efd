/*
 * backward.c - the backward pass: adds cuts to the future cost function of each stage.
 *
 * One pass per position, from the last to the second, with a task for every group of openings of a
 * trial state. The openings of a group are solved in order, each from the basis of the one before:
 * neighbours end near one another, which saves a third of the pivots of many openings. Groups are
 * cut by the case alone, never by the number of threads, since an answer depends on its group. A
 * solve gives the objective and its gradient by the incoming state; weighted by the risk measure of
 * the stage before, these become one cut of that stage per trial state, appended in scenario order
 * after all solves. So the programs of a stage hold the cuts of the same iteration.
 */
#include "mcp/clock.h"

#include "sddp/iteration/iteration.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"
#include "sddp/risk.h"

/* Openings of a group, about. An lp that solves a whole group at once wants larger ones. */
#define GROUP_OPENINGS 10

static size_t groups_of(size_t openings)
{
    return (openings + GROUP_OPENINGS - 1) / GROUP_OPENINGS;
}

/* The place of a backward step. */
typedef struct step {
    size_t position, stage; /* whose openings are solved */
    size_t before;          /* the stage before, which gets the cuts */
    size_t visit;           /* of its node, from the path's last one on */
} step;

/* One opening; `leads` its group. */
static mcp_status solve_opening(pass *p, worker *w, size_t scenario, size_t opening, bool leads,
                                sddp_failure *where, mcp_error *err)
{
    sddp *s = p->study;
    const step *at = p->data;
    size_t t = at->stage;
    const double *noise = tree_noise(s->tree, t, (uint32_t)opening);
    solve_input in = study_input(s, t, study_trial(s, at->position, scenario), noise,
                                 leads ? study_basis_at(s, at->position, scenario) : NULL);
    double *outcome = s->outcome + (scenario * s->tree->openings[t] + opening) * (s->dimension + 1);
    lp *model = NULL;

    in.work = &w->opening_work[opening];
    where->opening = (int32_t)opening;
    mcp_status st = pass_solve(&model, p, w, &in, where, err);
    if (st != MCP_OK)
        return st;
    solve_count_active(w, &in, s->input->config.selection.activity_tolerance);
    outcome[0] = lp_objective(model);
    solve_gradient(w, &in, model, outcome + 1);
    return MCP_OK;
}

static mcp_status solve_group(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err)
{
    size_t openings = p->study->tree->openings[((const step *)p->data)->stage];
    size_t groups = groups_of(openings), scenario = index / groups, group = index % groups;
    size_t first = openings * group / groups, end = openings * (group + 1) / groups;
    mcp_status st = MCP_OK;

    where->scenario = (int32_t)scenario;
    for (size_t i = first; i < end && st == MCP_OK; i++)
        st = solve_opening(p, w, scenario, i, i == first, where, err);
    return st;
}

/* The first outcome of a group; after the last one for the group after it. */
static size_t first_outcome(size_t openings, size_t index)
{
    size_t groups = groups_of(openings);

    return index / groups * openings + openings * (index % groups) / groups;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    sddp *s = p->study;
    size_t openings = s->tree->openings[((const step *)p->data)->stage], each = s->dimension + 1;
    size_t first = first_outcome(openings, begin), last = first_outcome(openings, end);

    spans_add(all, s->outcome + first * each, (last - first) * each * sizeof *s->outcome);
}

static void append(sddp *s, const step *at, double intercept, uint32_t theta,
                   const cut_record *record)
{
    cut_pool *pool = study_pool(s, at->before);

    cuts_append(pool, intercept, s->slope, theta, record);
    cuts_touch(pool, (uint32_t)pool->count - 1);
}

/* Multi-cut: one cut for each opening at one trial state. */
static void add_cuts_by_opening(sddp *s, const step *at, size_t scenario, const cut_record *record)
{
    size_t n = s->dimension, openings = s->tree->openings[at->stage];
    const double *state = study_trial(s, at->position, scenario);

    for (size_t w = 0; w < openings; w++) {
        const double *outcome = s->outcome + (scenario * openings + w) * (n + 1);
        double intercept = outcome[0];
        for (size_t j = 0; j < n; j++) {
            s->slope[j] = outcome[1 + j];
            intercept -= outcome[1 + j] * state[j];
        }
        append(s, at, intercept, (uint32_t)w, record);
    }
}

/* The cut at one trial state. */
static void add_cut(sddp *s, const step *at, size_t scenario, const cut_record *record)
{
    size_t n = s->dimension, openings = s->tree->openings[at->stage];
    const double *outcome = s->outcome + scenario * openings * (n + 1);
    const double *state = study_trial(s, at->position, scenario);
    double intercept = 0.0;

    for (size_t w = 0; w < openings; w++)
        s->objectives[w] = outcome[w * (n + 1)];
    risk_weights(s->weights, &s->input->stages[at->before], s->input->config.original_arithmetic,
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
    append(s, at, intercept, 0, record);
}

static mcp_status add_cuts(const iteration_run *run, const step *at, mcp_error *err)
{
    sddp *s = run->study;
    int64_t begin = mcp_clock_mono_ns();
    mcp_status st = study_settle(s, at->stage, err);
    int64_t settled = mcp_clock_mono_ns();

    if (st == MCP_OK)
        st = study_reserve_cuts(s, at->before, s->scenarios * study_pool(s, at->before)->thetas,
                                err);
    if (st != MCP_OK)
        return st;
    for (size_t m = 0; m < s->scenarios; m++) {
        cut_record record = { .iteration = run->iteration,
                              .forward = (uint32_t)(at->visit * s->scenarios + m),
                              .last_active = run->iteration };
        if (s->is_multi_cut)
            add_cuts_by_opening(s, at, m, &record);
        else
            add_cut(s, at, m, &record);
    }
    int64_t built = mcp_clock_mono_ns();
    st = study_follow(s, at->before, err);
    s->recorder->times.batch += built - settled;
    s->recorder->times.sync += settled - begin + mcp_clock_mono_ns() - built;
    return st;
}

static mcp_status step_back(const iteration_run *run, size_t position, mcp_error *err)
{
    sddp *s = run->study;
    size_t t = study_stage_at(s, position);
    size_t before = study_stage_at(s, position - 1), stride = study_node_stride(s);
    size_t visit = study_node_visits(s, s->node[before]) - 1;
    if (stride > 0)
        visit -= (position - 1 - s->node[before]) / stride;
    step at = { position, t, before, visit };
    pass p = { .study = s,
               .observer = run->observer,
               .phase = "backward",
               .iteration = (int32_t)run->iteration,
               .halts_at = SDDP_STOP_NOW,
               .pace = &s->backward_pace[t],
               .times = &s->recorder->backward,
               .data = &at,
               .outputs = list_outputs,
               .notes_begin = t,
               .notes_end = t + 1 };
    size_t tasks = s->scenarios * groups_of(s->tree->openings[t]);
    mcp_status st = pass_run(&p, solve_group, tasks, run->failure, err);

    recorder_take_backward(s, t);
    return st == MCP_OK ? add_cuts(run, &at, err) : st;
}

mcp_status backward_run(const iteration_run *run, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t i = run->study->trials - 1; i > 0 && st == MCP_OK; i--)
        st = step_back(run, i, err);
    return st;
}
