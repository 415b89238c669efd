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

#include "sddp/iteration/iteration.h"
#include "sddp/statistics.h"
#include "sddp/stop.h"

/* A cut that was slack in every solve of this many iterations leaves the working set. */
#define SET_MEMORY 8

#define FIRST_ROWS 128

typedef struct stopwatch {
    int64_t start_ns;
    int64_t reported_ms; /* since the start, at the end of the last iteration */
} stopwatch;

static int64_t rounded_ms(int64_t ns)
{
    return (ns + 500000) / 1000000;
}

const char *sddp_reason_name(sddp_reason reason)
{
    static const char *const names[] = { "iteration_limit", "time_limit", "bound_stalling",
                                         "shutdown", "error" };
    return names[reason];
}

static mcp_status reserve_row(sddp *s, mcp_error *err)
{
    size_t capacity = s->row_capacity ? 2 * s->row_capacity : FIRST_ROWS;

    if (s->row_count < s->row_capacity)
        return MCP_OK;
    sddp_iteration *rows = mcp_arena_array(s->arena, capacity, sizeof *rows);
    if (!rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu iteration records", capacity);
    if (s->row_count > 0)
        memcpy(rows, s->rows, s->row_count * sizeof *rows);
    s->rows = rows;
    s->row_capacity = capacity;
    return MCP_OK;
}

static int64_t cuts_of(const sddp *s)
{
    int64_t total = 0;

    for (size_t t = 0; t < s->stages; t++)
        total += (int64_t)s->pools[t].count;
    return total;
}

/* Drop the iteration: its cuts, one per scenario and stage, and the marks of its solves. */
static mcp_status take_back(sddp *s, size_t completed, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        for (unsigned i = 0; i < s->threads; i++)
            memset(s->workers[i].workspaces[t].tight, 0, s->pools[t].capacity);
        if (t + 1 < s->stages)
            cuts_truncate(&s->pools[t], completed * s->scenarios);
        st = study_follow(s, t, err);
    }
    return st;
}

static mcp_status prune_sets(sddp *s, uint32_t iteration, mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t t = 0; t < s->stages && st == MCP_OK; t++) {
        if (iteration > SET_MEMORY)
            cuts_prune(&s->pools[t], iteration - SET_MEMORY);
        st = study_follow(s, t, err);
    }
    return st;
}

/* The three steps; `row` receives bounds and times. */
static mcp_status run_steps(const iteration_run *run, sddp_iteration *row, mcp_error *err)
{
    int64_t begin = mcp_clock_mono_ns(), middle = 0, late = 0;
    mcp_status st = forward_run(run, err);

    if (st == MCP_OK) {
        middle = mcp_clock_mono_ns();
        st = backward_run(run, err);
    }
    if (st == MCP_OK) {
        late = mcp_clock_mono_ns();
        st = bound_run(run, &row->lower_bound, err);
    }
    if (st == MCP_OK)
        st = prune_sets(run->study, run->iteration, err);
    row->time_forward_ms = rounded_ms(middle - begin);
    row->time_backward_ms = rounded_ms(late - middle);
    row->lower_bound_ms = rounded_ms(mcp_clock_mono_ns() - late);
    return st;
}

static void finish_row(const sddp *s, sddp_iteration *row, stopwatch *watch, int64_t solves_before)
{
    statistics costs = statistics_of(s->path_cost, s->scenarios);
    int64_t elapsed_ms = rounded_ms(mcp_clock_mono_ns() - watch->start_ns);

    row->upper_bound = costs.mean;
    row->upper_bound_std = costs.std;
    row->ci_95 = costs.half_width;
    row->gap = (costs.mean - row->lower_bound) / fmax(1.0, fabs(costs.mean));
    row->cuts_added = (int32_t)((s->stages - 1) * s->scenarios);
    row->cuts_active = cuts_of(s);
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
    int64_t solves_before = study_solves(s);
    mcp_status st = reserve_row(s, err);

    if (st == MCP_OK)
        st = run_steps(run, &row, err);
    if (st != MCP_OK) {
        if (take_back(s, s->row_count, NULL) != MCP_OK)
            s->is_broken = true;
        return st;
    }
    finish_row(s, &row, watch, solves_before);
    s->rows[s->row_count++] = row;
    if (run->observer->iteration)
        run->observer->iteration(&row, run->observer->data);
    return MCP_OK;
}

static bool must_stop(const sddp_observer *observer)
{
    return observer->should_stop && observer->should_stop(observer->data) != SDDP_STOP_NONE;
}

static mcp_status train(iteration_run *run, stopwatch *watch, sddp_reason *reason, mcp_error *err)
{
    sddp *s = run->study;

    for (;;) {
        if (must_stop(run->observer)) {
            *reason = SDDP_SHUTDOWN;
            return MCP_OK;
        }
        run->iteration = (uint32_t)s->row_count + 1;
        mcp_error trouble = MCP_ERROR_INIT;
        mcp_status st = iterate(run, watch, &trouble);
        *reason = st == MCP_E_STOPPED ? SDDP_SHUTDOWN : SDDP_ERROR;
        if (st == MCP_E_STOPPED)
            return MCP_OK;
        if (st != MCP_OK)
            return mcp_error_set(err, st, "%s", trouble.message);
        double elapsed = (double)(mcp_clock_mono_ns() - watch->start_ns) * 1e-9;
        if (stop_by_rules(reason, &s->input->config, s->rows, s->row_count, elapsed)) {
            if (must_stop(run->observer))
                *reason = SDDP_SHUTDOWN;
            return MCP_OK;
        }
    }
}

static void summarise(const sddp *s, sddp_training *result, int64_t begin_ns)
{
    result->rows = s->rows;
    result->iterations = s->row_count;
    result->converged = result->reason == SDDP_BOUND_STALLING;
    result->total_cuts = result->active_cuts = result->peak_active_cuts = cuts_of(s);
    result->wall_time_ms = rounded_ms(mcp_clock_mono_ns() - begin_ns);
}

mcp_status sddp_train(sddp *study, const sddp_observer *observer, sddp_training *result,
                      sddp_failure *failure, mcp_error *err)
{
    static const sddp_observer nobody = { .data = NULL };
    iteration_run run = { study, observer ? observer : &nobody, failure, 0 };
    stopwatch watch = { mcp_clock_mono_ns(), 0 };
    int64_t solver_before = study_solver_ns(study), solves_before = study_solves(study);
    sddp_reason reason = SDDP_ERROR;
    mcp_status st;

    *failure = (sddp_failure){
        .phase = "forward", .stage = -1, .iteration = -1, .opening = -1, .scenario = -1
    };
    *result = (sddp_training){ .reason = SDDP_ERROR };
    if (study->is_broken)
        return mcp_error_set(err, MCP_E_NOMEM, "memory ran out in an earlier training");
    st = train(&run, &watch, &reason, err);
    result->reason = reason;
    summarise(study, result, watch.start_ns);
    result->solve_time_us = (study_solver_ns(study) - solver_before) / 1000;
    result->lp_solves = study_solves(study) - solves_before;
    return st;
}
