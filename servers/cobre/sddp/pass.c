/*
 * pass.c - a parallel loop with one way to stop and one way to fail.
 *
 * OpenMP hands out tasks one by one, because their solves differ in length, and each thread gets
 * its tasks in ascending order, so a thread's first failure is its lowest; the lowest over the
 * threads is picked after the loop.
 */
#include "sddp/pass.h"

#include <omp.h>

/* A pass over fewer lines in all (some 200 us of work) is not worth waking threads for. */
#define LINES_WORTH_THREADS 2000

typedef struct outcome {
    size_t index; /* of the failed task; SIZE_MAX: none failed */
    mcp_status status;
    sddp_failure where;
    mcp_error err;
} outcome;

static bool must_halt(pass *p)
{
    const sddp_observer *observer = p->observer;

    if (atomic_load_explicit(&p->is_halted, memory_order_relaxed))
        return true;
    if (!observer->should_stop || observer->should_stop(observer->data) < p->halts_at)
        return false;
    atomic_store_explicit(&p->is_halted, true, memory_order_relaxed);
    return true;
}

mcp_status pass_solve(lp **model, pass *p, worker *w, const solve_input *in, sddp_failure *where,
                      mcp_error *err)
{
    if (must_halt(p))
        return mcp_error_set(err, MCP_E_STOPPED, "stopped between two LP solves");
    mcp_status st = solve_stage(model, w, in, err);
    if (st == MCP_E_INTERNAL) {
        where->stage = (int32_t)in->program->stage;
        where->solver_status = lp_status_name(w->end);
    }
    return st;
}

static void run_one(pass *p, pass_task *task, size_t index, worker *w, outcome *bad,
                    atomic_size_t *first_bad)
{
    sddp_failure where = { p->phase, NULL, -1, p->iteration, -1, -1 };
    mcp_error err = MCP_ERROR_INIT;

    if (index > atomic_load_explicit(first_bad, memory_order_relaxed))
        return;
    mcp_status st = task(p, w, index, &where, &err);
    if (st == MCP_OK || st == MCP_E_STOPPED || bad->index != SIZE_MAX)
        return;
    *bad = (outcome){ index, st, where, err };
    size_t lowest = atomic_load_explicit(first_bad, memory_order_relaxed);
    while (index < lowest && !atomic_compare_exchange_weak(first_bad, &lowest, index)) {
        /* `lowest` was reloaded */
    }
}

static void run_all(pass *p, pass_task *task, size_t tasks, outcome *lowest)
{
    sddp *study = p->study;
    atomic_size_t first_bad = SIZE_MAX;

    bool is_parallel = study->threads > 1 && tasks > 1 &&
                       tasks * p->task_lines >= LINES_WORTH_THREADS;

#pragma omp parallel num_threads(study->threads) if (is_parallel)
    {
        worker *w = &study->workers[omp_get_thread_num()];
        outcome bad = { .index = SIZE_MAX };

#pragma omp for schedule(monotonic : dynamic, 1)
        for (size_t i = 0; i < tasks; i++)
            run_one(p, task, i, w, &bad, &first_bad);
#pragma omp critical(sddp_pass_outcome)
        if (bad.index < lowest->index)
            *lowest = bad;
    }
}

mcp_status pass_run(pass *p, pass_task *task, size_t tasks, sddp_failure *failure, mcp_error *err)
{
    outcome lowest = { .index = SIZE_MAX };

    run_all(p, task, tasks, &lowest);
    if (lowest.index != SIZE_MAX) {
        *failure = lowest.where;
        return mcp_error_set(err, lowest.status, "%s", lowest.err.message);
    }
    if (atomic_load(&p->is_halted))
        return mcp_error_set(err, MCP_E_STOPPED, "stopped between two LP solves");
    return MCP_OK;
}
