/*
 * backward.c - the backward pass: adds cuts to the future cost function of each stage.
 *
 * One pass per position, from the last to the second, with a task for every group of openings of a
 * trial state. A solve gives the objectives and their gradients by the incoming state; weighted by
 * the risk measure of the stage before, these become one cut of that stage per trial state,
 * appended in scenario order after all solves. So the programs of a stage hold the cuts of the same
 * iteration.
 */
#include <string.h>

#include "mcp/clock.h"

#include "sddp/iteration/groups.h"
#include "sddp/iteration/iteration.h"
#include "sddp/iteration/recorder.h"
#include "sddp/pass.h"
#include "sddp/risk.h"

/* The place of a backward step. */
typedef struct step {
    size_t position, stage; /* whose openings are solved */
    size_t before;          /* the stage before, which gets the cuts */
    size_t visit;           /* of its node, from the path's last one on */
} step;

/* The places of a scenario's outcomes: by opening, and by basis, which has the number of the first
 * opening that may end with it. */
static size_t place_of(const sddp *s, const step *at, size_t scenario)
{
    return scenario * s->tree->openings[at->stage];
}

static mcp_status solve_openings(pass *p, worker *w, size_t index, sddp_failure *where,
                                 mcp_error *err)
{
    sddp *s = p->study;
    const step *at = p->data;
    size_t t = at->stage, scenario = index / groups_count(s, t);
    opening_group group = groups_get(s, t, index % groups_count(s, t));
    size_t place = place_of(s, at, scenario) + group.first;
    solve_input in = groups_input(s, t, study_trial(s, at->position, scenario), &group,
                                  study_basis_at(s, at->position, scenario));
    solve_output out = { .objective = s->outcome.objective + place,
                         .which = s->outcome.which + place,
                         .gradient = s->outcome.gradient + place * s->dimension };

    in.counts_hits = true;
    in.activity_tolerance = s->input->config.selection.activity_tolerance;
    in.work = w->opening_work + group.first;
    where->scenario = (int32_t)scenario;
    where->opening = (int32_t)group.first;
    mcp_status st = pass_solve(&out, p, w, &in, where, err);
    for (size_t i = 0; st == MCP_OK && i < group.count; i++)
        out.which[i] += (uint32_t)group.first;
    return st;
}

/* The first outcome of a task; of the number of tasks: the end of all. */
static size_t first_outcome(const sddp *s, const step *at, size_t index)
{
    size_t groups = groups_count(s, at->stage);

    return place_of(s, at, index / groups) + groups_get(s, at->stage, index % groups).first;
}

static void list_outputs(const pass *p, size_t begin, size_t end, spans *all)
{
    const sddp *s = p->study;
    const backward_outcome *outcome = &s->outcome;
    size_t first = first_outcome(s, p->data, begin);
    size_t count = first_outcome(s, p->data, end) - first;

    spans_add(all, outcome->objective + first, count * sizeof *outcome->objective);
    spans_add(all, outcome->which + first, count * sizeof *outcome->which);
    spans_add(all, outcome->gradient + first * s->dimension,
              count * s->dimension * sizeof *outcome->gradient);
}

static mcp_status append(sddp *s, const step *at, double intercept, uint32_t theta,
                         const cut_record *record, mcp_error *err)
{
    cut_pool *pool = study_pool(s, at->before);
    mcp_status st = cuts_append(pool, intercept, s->slope, theta, record, err);

    if (st == MCP_OK)
        cuts_touch(pool, (uint32_t)pool->count - 1);
    return st;
}

/* The intercept of a cut with the study's slope and this value at the trial state. */
static double intercept_of(const sddp *s, double value, const double *state)
{
    for (size_t j = 0; j < s->dimension; j++)
        value -= s->slope[j] * state[j];
    return value;
}

/* Multi-cut: one cut for each opening at one trial state. */
static mcp_status add_cuts_by_opening(sddp *s, const step *at, size_t scenario,
                                      const cut_record *record, mcp_error *err)
{
    size_t n = s->dimension, place = place_of(s, at, scenario);
    const double *state = study_trial(s, at->position, scenario);
    mcp_status st = MCP_OK;

    for (size_t w = 0; w < s->tree->openings[at->stage] && st == MCP_OK; w++) {
        const double *gradient = s->outcome.gradient + (place + s->outcome.which[place + w]) * n;
        if (n > 0)
            memcpy(s->slope, gradient, n * sizeof *gradient);
        st = append(s, at, intercept_of(s, s->outcome.objective[place + w], state), (uint32_t)w,
                    record, err);
    }
    return st;
}

/* The cut at one trial state: openings that ended with one basis have one gradient. */
static mcp_status add_cut(sddp *s, const step *at, size_t scenario, const cut_record *record,
                          mcp_error *err)
{
    size_t n = s->dimension, openings = s->tree->openings[at->stage];
    size_t place = place_of(s, at, scenario);
    const double *objectives = s->outcome.objective + place;
    double *by_basis = s->objectives, value = 0.0;

    risk_weights(s->weights, &s->input->stages[at->before], s->input->config.original_arithmetic,
                 objectives, openings, s->order);
    memset(by_basis, 0, openings * sizeof *by_basis);
    for (size_t w = 0; w < openings; w++) {
        by_basis[s->outcome.which[place + w]] += s->weights[w];
        value += s->weights[w] * objectives[w];
    }
    for (size_t j = 0; j < n; j++)
        s->slope[j] = 0.0;
    for (size_t b = 0; b < openings; b++) {
        const double *gradient = s->outcome.gradient + (place + b) * n;
        for (size_t j = 0; by_basis[b] != 0.0 && j < n; j++)
            s->slope[j] += by_basis[b] * gradient[j];
    }
    return append(s, at, intercept_of(s, value, study_trial(s, at->position, scenario)), 0, record,
                  err);
}

/* A failed solve in all but name: the optima of this stage make no cut. */
static void note_failure(const iteration_run *run, const step *at, size_t scenario)
{
    *run->failure = (sddp_failure){ .phase = "backward",
                                    .solver_status = lp_status_name(LP_FAILED),
                                    .stage = (int32_t)at->stage,
                                    .iteration = (int32_t)run->iteration,
                                    .opening = -1,
                                    .scenario = (int32_t)scenario };
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
    for (size_t m = 0; m < s->scenarios && st == MCP_OK; m++) {
        cut_record record = { .iteration = run->iteration,
                              .forward = (uint32_t)(at->visit * s->scenarios + m),
                              .last_active = run->iteration };
        st = s->is_multi_cut ? add_cuts_by_opening(s, at, m, &record, err)
                             : add_cut(s, at, m, &record, err);
        if (st != MCP_OK)
            note_failure(run, at, m);
    }
    if (st != MCP_OK)
        return st;
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
               .pace = &s->backward_pace,
               .times = &s->recorder->backward,
               .data = &at,
               .outputs = list_outputs,
               .notes_begin = t,
               .notes_end = t + 1 };
    size_t tasks = s->scenarios * groups_count(s, t);
    mcp_status st = pass_run(&p, solve_openings, tasks, run->failure, err);

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
