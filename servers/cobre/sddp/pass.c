/*
 * pass.c - a parallel loop with one way to stop and one way to fail.
 *
 * Threads take tasks one by one, because their solves differ in length, and each gets its tasks in
 * ascending order, so a thread's first failure is its lowest; the lowest over the threads is picked
 * under the lock.
 *
 * A team is not always faster: tasks may be too few or too short to be worth waking threads for,
 * and where other programs want the processors, the end of each pass waits for a thread that has
 * none. So both ways are measured: the team goes first, and the slower way is tried at growing
 * intervals.
 */
#include "sddp/pass.h"

#include <pthread.h>

#include "mcp/clock.h"
#include "sddp/ranks/share.h"
#include "sddp/stage/elastic.h"

/* Passes until the slower way is tried again. */
#define FIRST_INTERVAL 16
#define LAST_INTERVAL 1024

/* The weight of the newest pass in the average. */
#define NEWEST 0.25

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

/* Of an infeasible program: the hydros whose balance and the constraints that cannot hold. */
static void name_causes(const worker *w, const solve_input *in, sddp_failure *where)
{
    elastic_gap hydros[SDDP_FAILURE_NAMES], rows[SDDP_FAILURE_NAMES];
    elastic_gaps gaps = { .most = SDDP_FAILURE_NAMES, .hydros = hydros, .rows = rows };
    const stage_lp *stage = in->program;

    elastic_find(&gaps, stage, w->lane_values + w->failed, in->lanes.count);
    where->hydro_count = gaps.hydro_count;
    for (size_t i = 0; i < gaps.hydro_count; i++) {
        where->hydros[i] = hydros[i].at;
        where->missing_hm3[i] = hydros[i].amount;
    }
    where->row_count = gaps.row_count;
    for (size_t i = 0; i < gaps.row_count; i++) {
        where->rows[i] = stage->context->constraint[stage->stage] + rows[i].at;
        where->missing[i] = rows[i].amount;
    }
}

mcp_status pass_go_on(pass *p, mcp_error *err)
{
    if (!must_halt(p))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_STOPPED, "stopped between two LP solves");
}

mcp_status pass_solve(solve_output *out, pass *p, worker *w, const solve_input *in,
                      sddp_failure *where, mcp_error *err)
{
    mcp_status st = pass_go_on(p, err);

    if (st == MCP_OK)
        st = solve_group(w, in, out, err);
    if (st == MCP_E_INTERNAL) {
        where->opening += (int32_t)w->failed;
        where->stage = (int32_t)in->program->stage;
        where->solver_status = lp_status_name(w->end);
        if (w->end == LP_INFEASIBLE)
            name_causes(w, in, where);
    }
    return st;
}

static void run_one(pass *p, pass_task *task, size_t index, worker *w, pass_end *bad,
                    atomic_size_t *first_bad)
{
    sddp_failure where = {
        .phase = p->phase, .stage = -1, .iteration = p->iteration, .opening = -1, .scenario = -1
    };
    mcp_error err = MCP_ERROR_INIT;

    if (index > atomic_load_explicit(first_bad, memory_order_relaxed))
        return;
    mcp_status st = task(p, w, index, &where, &err);
    if (st == MCP_OK || st == MCP_E_STOPPED || bad->index != SIZE_MAX)
        return;
    *bad = (pass_end){ index, st, where, err };
    size_t lowest = atomic_load_explicit(first_bad, memory_order_relaxed);
    while (index < lowest && !atomic_compare_exchange_weak(first_bad, &lowest, index)) {
        /* `lowest` was reloaded */
    }
}

/* One pass, shared by the members of the team. */
typedef struct shared {
    pass *p;
    pass_task *task;
    size_t end;
    atomic_size_t next, first_bad;
    pthread_mutex_t lock; /* guards `lowest` */
    pass_end *lowest;
} shared;

static void take_tasks(void *data, unsigned member)
{
    shared *all = data;
    worker *w = &all->p->study->workers[member];
    pass_end bad = { .index = SIZE_MAX };
    int64_t begin = mcp_clock_mono_ns();

    for (;;) {
        size_t index = atomic_fetch_add_explicit(&all->next, 1, memory_order_relaxed);
        if (index >= all->end)
            break;
        run_one(all->p, all->task, index, w, &bad, &all->first_bad);
    }
    w->busy_ns = mcp_clock_mono_ns() - begin;
    pthread_mutex_lock(&all->lock);
    if (bad.index < all->lowest->index)
        *all->lowest = bad;
    pthread_mutex_unlock(&all->lock);
}

/* Until the caller alone has been measured, the team is. */
static bool is_faster_together(const pass_pace *pace)
{
    return pace->alone_ns == 0.0 || pace->together_ns <= pace->alone_ns;
}

static bool goes_together(pass_pace *pace)
{
    bool is_faster = is_faster_together(pace);

    if (pace->interval == 0)
        pace->interval = FIRST_INTERVAL;
    if (++pace->passes < pace->interval)
        return is_faster;
    pace->passes = 0;
    pace->interval = pace->interval < LAST_INTERVAL ? 2 * pace->interval : LAST_INTERVAL;
    return !is_faster;
}

static void measure(pass_pace *pace, bool is_together, double ns)
{
    double *average = is_together ? &pace->together_ns : &pace->alone_ns;
    bool was_faster = is_faster_together(pace);

    *average = *average == 0.0 ? ns : *average + NEWEST * (ns - *average);
    if (was_faster != is_faster_together(pace))
        pace->interval = FIRST_INTERVAL;
}

static void add_times(const pass *p, unsigned members, int64_t wall_ns)
{
    int64_t slowest = 0, sum = 0;

    for (unsigned i = 0; i < members; i++) {
        int64_t busy = p->study->workers[i].busy_ns;
        p->times->by_worker[i] += busy;
        slowest = busy > slowest ? busy : slowest;
        sum += busy;
    }
    p->times->imbalance_ns += slowest - sum / members;
    p->times->scheduling_ns += wall_ns > slowest ? wall_ns - slowest : 0;
}

/* The tasks from `begin` to before `end`. */
static void run_all(pass *p, pass_task *task, size_t begin, size_t end, pass_end *lowest)
{
    shared all = {
        .p = p, .task = task, .end = end, .next = begin, .first_bad = SIZE_MAX, .lowest = lowest
    };
    bool has_choice = p->study->threads > 1 && end - begin > 1;
    bool is_together = has_choice && goes_together(p->pace);
    int64_t start_ns = mcp_clock_mono_ns();

    pthread_mutex_init(&all.lock, NULL);
    if (is_together)
        thread_team_run(p->study->team, take_tasks, &all);
    else
        take_tasks(&all, 0);
    pthread_mutex_destroy(&all.lock);
    int64_t wall_ns = mcp_clock_mono_ns() - start_ns;
    if (p->times)
        add_times(p, is_together ? p->study->threads : 1, wall_ns);
    if (has_choice && lowest->index == SIZE_MAX && !atomic_load(&p->is_halted))
        measure(p->pace, is_together, (double)wall_ns / (double)(end - begin));
}

mcp_status pass_run(pass *p, pass_task *task, size_t tasks, sddp_failure *failure, mcp_error *err)
{
    const ranks *all = p->study->ranks;
    unsigned rank = ranks_own(all);
    pass_end lowest = { .index = SIZE_MAX };

    run_all(p, task, ranks_first_task(all, tasks, rank), ranks_first_task(all, tasks, rank + 1),
            &lowest);
    mcp_status st = share_pass(p, tasks, &lowest, err);
    if (st != MCP_OK)
        return st;
    if (lowest.index != SIZE_MAX) {
        *failure = lowest.where;
        return mcp_error_set(err, lowest.status, "%s", lowest.err.message);
    }
    if (atomic_load(&p->is_halted))
        return mcp_error_set(err, MCP_E_STOPPED, "stopped between two LP solves");
    return MCP_OK;
}
