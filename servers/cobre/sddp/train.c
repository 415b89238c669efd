/*
 * train.c - the training loop: forward, backward, lower bound, record, rules.
 *
 * An iteration counts when all three steps are complete. When it is abandoned, because the observer
 * stops it or an LP has no optimum, its cuts are dropped, so the policy is that of the iteration
 * before. Milder stops are checked after an iteration.
 */
#include <math.h>
#include <string.h>

#include "mcp/clock.h"

#include "sddp/iteration/inner_bound.h"
#include "sddp/iteration/iteration.h"
#include "sddp/iteration/management.h"
#include "sddp/iteration/recorder.h"
#include "sddp/iteration/rollback.h"
#include "sddp/iteration/simulation_rule.h"
#include "sddp/ranks/share.h"
#include "sddp/statistics.h"
#include "sddp/stop.h"

typedef struct stopwatch {
    int64_t start_ns;    /* as if all iterations so far had come without a pause */
    int64_t session_ns;  /* the start of this call */
    int64_t reported_ms; /* since start_ns, at the end of the last iteration */
    int64_t elapsed_ns;  /* since session_ns, before the iteration; by the clock of rank 0 */
} stopwatch;

static int64_t rounded_ms(int64_t ns)
{
    return (ns + 500000) / 1000000;
}

const char *sddp_reason_name(sddp_reason reason)
{
    static const char *const names[] = { "iteration_limit", "time_limit", "bound_stalling",
                                         "simulation",      "shutdown",   "error" };
    return names[reason];
}

double sddp_training_inner_bound(const sddp_training *training)
{
    for (size_t i = training->iterations; i-- > 0;)
        if (training->rows[i].has_inner_bound)
            return training->rows[i].inner_upper_bound;
    return NAN;
}

/* The cuts of all stages; the active ones. */
static int64_t cuts_of(const sddp *s)
{
    int64_t total = 0;

    for (size_t t = 0; t < s->stages; t++)
        if (study_leads_node(s, t))
            total += (int64_t)s->pools[t].count;
    return total;
}

static int64_t active_cuts_of(const sddp *s)
{
    int64_t total = 0;

    for (size_t t = 0; t < s->stages; t++)
        if (study_leads_node(s, t))
            total += (int64_t)s->pools[t].active;
    return total;
}

/* The steps; `row` receives bounds and times. */
static mcp_status run_steps(const iteration_run *run, sddp_iteration *row, mcp_error *err)
{
    int64_t begin = mcp_clock_mono_ns(), middle = 0, late = 0;
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < run->study->stages; t++)
        cuts_begin_iteration(&run->study->pools[t]); /* nothing where the pool is not used */
    recorder_begin(run->study);
    st = forward_run(run, err);
    if (st == MCP_OK) {
        middle = mcp_clock_mono_ns();
        st = backward_run(run, err);
    }
    if (st == MCP_OK) {
        late = mcp_clock_mono_ns();
        st = bound_run(run, &row->lower_bound, err);
    }
    int64_t bounded = mcp_clock_mono_ns(), removed = 0;
    if (st == MCP_OK && inner_bound_is_due(run->study, run->iteration)) {
        st = inner_bound_run(run, &row->inner_upper_bound, err);
        row->has_inner_bound = st == MCP_OK;
    }
    if (st == MCP_OK)
        st = management_run(run, &removed, err);
    row->cuts_removed = (int32_t)removed;
    row->time_forward_ms = rounded_ms(middle - begin);
    row->time_backward_ms = rounded_ms(late - middle);
    row->lower_bound_ms = rounded_ms(bounded - late);
    run->study->recorder->times.bound = bounded - late;
    return st;
}

static void finish_row(const sddp *s, sddp_iteration *row, stopwatch *watch, int64_t solves_before,
                       int64_t cuts_before)
{
    statistics costs = statistics_of(s->path_cost, s->scenarios);
    int64_t elapsed_ms = rounded_ms(mcp_clock_mono_ns() - watch->start_ns);

    row->upper_bound = costs.mean;
    row->upper_bound_std = costs.std;
    row->ci_95 = costs.half_width;
    row->gap = (costs.mean - row->lower_bound) / fmax(1.0, fabs(costs.mean));
    row->cuts_added = (int32_t)(cuts_of(s) - cuts_before);
    row->cuts_active = active_cuts_of(s);
    row->time_total_ms = elapsed_ms - watch->reported_ms;
    row->wall_time_ms = elapsed_ms;
    int64_t known = row->time_forward_ms + row->time_backward_ms + row->lower_bound_ms;
    row->overhead_ms = row->time_total_ms > known ? row->time_total_ms - known : 0;
    row->forward_passes = (int32_t)s->scenarios;
    row->lp_solves = study_solves(s) - solves_before;
    watch->reported_ms = elapsed_ms;
}

/* One iteration, recorded and reported; dropped when it is abandoned. */
static mcp_status iterate(const iteration_run *run, stopwatch *watch, mcp_error *err)
{
    sddp *s = run->study;
    sddp_iteration row = { .iteration = (int32_t)run->iteration };
    int64_t solves_before = study_solves(s), cuts_before = cuts_of(s);
    mcp_status st = study_reserve_row(s, err);

    if (st == MCP_OK)
        st = rollback_mark(s, err);
    if (st != MCP_OK)
        return st;
    st = run_steps(run, &row, err);
    if (st != MCP_OK) {
        rollback_return(s);
        return st;
    }
    finish_row(s, &row, watch, solves_before, cuts_before);
    s->rows[s->row_count++] = row;
    s->completed = run->iteration;
    if (row.cuts_active > s->peak_active)
        s->peak_active = row.cuts_active;
    s->recorder->times.overhead = row.overhead_ms * 1000000;
    st = recorder_report(s, run->observer, &row, err);
    if (st != MCP_OK)
        return st;
    if (run->observer->iteration)
        run->observer->iteration(&row, run->observer->data);
    return MCP_OK;
}

/* Before an iteration: whether to stop, and the time. */
static mcp_status look_up(const iteration_run *run, stopwatch *watch, bool *stops, mcp_error *err)
{
    const sddp_observer *observer = run->observer;
    sddp_stop stop = observer->should_stop ? observer->should_stop(observer->data) : SDDP_STOP_NONE;

    watch->elapsed_ns = mcp_clock_mono_ns() - watch->session_ns;
    mcp_status st = share_stop(run->study, &stop, &watch->elapsed_ns, err);
    *stops = stop != SDDP_STOP_NONE;
    return st;
}

/* Whether the rules end the training after the last iteration. */
static mcp_status check_rules(const iteration_run *run, const stopwatch *watch, bool *ends,
                              sddp_reason *reason, mcp_error *err)
{
    const sddp *s = run->study;
    double elapsed = (double)watch->elapsed_ns * 1e-9;
    mcp_status st = simulation_rule_check(run, err);

    *ends = st == MCP_OK &&
            stop_by_rules(reason, &s->input->config, s->rows, s->row_count, elapsed, s->rule_fires);
    return st;
}

/* The rules on the iteration before, then the next iteration; `ends` the training. */
static mcp_status step(iteration_run *run, stopwatch *watch, bool *ends, sddp_reason *reason,
                       mcp_error *err)
{
    sddp *s = run->study;
    mcp_status st = MCP_OK;

    if (simulation_rule_is_pending(s)) {
        st = check_rules(run, watch, ends, reason, err);
    } else if (s->completed >= s->input->config.max_iterations) {
        *reason = SDDP_ITERATION_LIMIT;
        *ends = true;
    }
    if (st != MCP_OK || *ends)
        return st;
    run->iteration = s->completed + 1;
    return iterate(run, watch, err);
}

static mcp_status train(iteration_run *run, stopwatch *watch, sddp_reason *reason, mcp_error *err)
{
    bool ends = false;

    while (!ends) {
        mcp_error trouble = MCP_ERROR_INIT;
        *reason = SDDP_SHUTDOWN;
        mcp_status st = look_up(run, watch, &ends, &trouble);
        if (st == MCP_OK && ends)
            return MCP_OK;
        if (st == MCP_OK)
            st = step(run, watch, &ends, reason, &trouble);
        if (st == MCP_OK)
            continue;
        *reason = st == MCP_E_STOPPED ? SDDP_SHUTDOWN : SDDP_ERROR;
        return st == MCP_E_STOPPED ? MCP_OK : mcp_error_set(err, st, "%s", trouble.message);
    }
    return MCP_OK;
}

/* What the first training needs. */
static mcp_status prepare(sddp *s, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!s->recorder)
        st = recorder_new(&s->recorder, s, err);
    if (st == MCP_OK && !s->rollback)
        st = rollback_new(&s->rollback, s, err);
    if (st == MCP_OK)
        st = simulation_rule_prepare(s, err);
    return st;
}

static void summarise(const sddp *s, sddp_training *result, int64_t begin_ns)
{
    result->rows = s->rows;
    result->iterations = s->row_count;
    result->converged = result->reason == SDDP_BOUND_STALLING || result->reason == SDDP_SIMULATION;
    result->total_cuts = cuts_of(s);
    result->active_cuts = active_cuts_of(s);
    result->peak_active_cuts = s->peak_active;
    result->wall_time_ms = rounded_ms(mcp_clock_mono_ns() - begin_ns);
}

mcp_status sddp_train(sddp *study, const sddp_observer *observer, sddp_training *result,
                      sddp_failure *failure, mcp_error *err)
{
    static const sddp_observer nobody = { .data = NULL };
    iteration_run run = { study, observer ? observer : &nobody, failure, 0 };
    /* A resumed training has the time of the iterations before. */
    int64_t before_ms = study->row_count > 0 ? study->rows[study->row_count - 1].wall_time_ms : 0;
    int64_t now = mcp_clock_mono_ns();
    stopwatch watch = { now - before_ms * 1000000, now, before_ms, 0 };
    int64_t solver_before = study_solver_ns(study), solves_before = study_solves(study);
    int64_t fallbacks_before = study_fallbacks(study);
    sddp_reason reason = SDDP_ERROR;
    mcp_status st;

    *failure = (sddp_failure){
        .phase = "forward", .stage = -1, .iteration = -1, .opening = -1, .scenario = -1
    };
    *result = (sddp_training){ .reason = SDDP_ERROR };
    st = prepare(study, err);
    if (st == MCP_OK)
        st = train(&run, &watch, &reason, err);
    result->reason = reason;
    summarise(study, result, watch.session_ns);
    result->solve_time_us = (study_solver_ns(study) - solver_before) / 1000;
    result->lp_solves = study_solves(study) - solves_before;
    result->fallbacks = study_fallbacks(study) - fallbacks_before;
    result->solver = sddp_solver(study);
    return st;
}
