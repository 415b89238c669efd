/*
 * recorder.c - the rows of an iteration, in the order of the output page, 3.4.
 */
#include "sddp/iteration/recorder.h"

#include <string.h>

_Static_assert(SOLVE_RETRY_LEVELS == SDDP_RETRY_LEVELS, "each attempt has its level");

/* A row a stage, one a backward opening and worker, one for the bound. */
static size_t most_rows(const sddp *study, unsigned threads)
{
    size_t rows = study->stages + 1;

    for (size_t i = 0; i < study->trials; i++)
        rows += (size_t)threads * study->tree->openings[study_stage_at(study, i)];
    return rows;
}

mcp_status recorder_new(recorder **out, sddp *study, mcp_error *err)
{
    recorder *made = mcp_arena_alloc(study->arena, sizeof *made);

    if (made) {
        made->solver = mcp_arena_array(study->arena, most_rows(study, study->threads),
                                       sizeof *made->solver);
        made->selection = mcp_arena_array(study->arena, study->stages, sizeof *made->selection);
        made->workers = mcp_arena_array(study->arena, study->threads, sizeof *made->workers);
    }
    if (!made || !made->solver || !made->selection || !made->workers)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the study");
    made->forward.by_worker = mcp_arena_array(study->arena, study->threads, sizeof(int64_t));
    made->backward.by_worker = mcp_arena_array(study->arena, study->threads, sizeof(int64_t));
    if (!made->forward.by_worker || !made->backward.by_worker)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the study");
    *out = made;
    return study->ranks ? rank_records_make(&made->all_ranks, study->ranks,
                                            most_rows(study, study->all_threads),
                                            study->all_threads, study->arena, err)
                        : MCP_OK;
}

static void clear_times(pass_times *times, unsigned threads)
{
    memset(times->by_worker, 0, threads * sizeof *times->by_worker);
    times->imbalance_ns = times->scheduling_ns = 0;
}

void recorder_begin(sddp *study)
{
    recorder *r = study->recorder;

    r->solver_count = r->selection_count = 0;
    r->times = (recorder_times){ .selection = 0 };
    r->exchange = ranks_times(study->ranks);
    r->moved_ns = 0;
    r->solves = study_own_solves(study);
    clear_times(&r->forward, study->threads);
    clear_times(&r->backward, study->threads);
    for (unsigned i = 0; i < study->threads; i++) {
        worker *w = &study->workers[i];
        memset(w->stage_work, 0, study->stages * sizeof *w->stage_work);
        memset(w->opening_work, 0, study->openings_max * sizeof *w->opening_work);
    }
}

static void write_row(sddp_solver_row *row, const solve_work *work, sddp_phase phase, int32_t stage)
{
    uint32_t solved = work->solves - work->failed;

    *row = (sddp_solver_row){ .phase = phase,
                              .stage = stage,
                              .opening = SDDP_NO_INDEX,
                              .rank = SDDP_NO_INDEX,
                              .worker = SDDP_NO_INDEX,
                              .solves = work->solves,
                              .first_try = work->retried < solved ? solved - work->retried : 0,
                              .retried = work->retried,
                              .failed = work->failed,
                              .attempts = work->attempts,
                              .bases_offered = work->bases,
                              .pivots = work->pivots,
                              .solve_ms = (double)work->solver_ns * 1e-6 };
    memcpy(row->levels, work->levels, sizeof work->levels);
}

/* Add a row of what was counted, which begins at zero again. */
static sddp_solver_row *take(recorder *r, solve_work *work, sddp_phase phase, int32_t stage)
{
    sddp_solver_row *row = &r->solver[r->solver_count++];

    write_row(row, work, phase, stage);
    *work = (solve_work){ .solves = 0 };
    return row;
}

/* The time of moving bytes since the last call in this iteration. */
static int64_t moved(sddp *study)
{
    recorder *r = study->recorder;
    int64_t before = r->moved_ns;

    r->moved_ns = ranks_times(study->ranks).moving_ns - r->exchange.moving_ns;
    return r->moved_ns - before;
}

void recorder_take_forward(sddp *study)
{
    for (size_t t = 0; t < study->stages; t++) {
        solve_work *sum = &study->workers[0].stage_work[t];
        for (unsigned i = 1; i < study->threads; i++) {
            solve_work *more = &study->workers[i].stage_work[t];
            solve_work_add(sum, more);
            *more = (solve_work){ .solves = 0 };
        }
        take(study->recorder, sum, SDDP_PHASE_FORWARD, (int32_t)t);
    }
    study->recorder->times.states += moved(study);
}

void recorder_take_backward(sddp *study, size_t stage)
{
    for (unsigned i = 0; i < study->threads; i++)
        for (uint32_t w = 0; w < study->tree->openings[stage]; w++) {
            solve_work *work = &study->workers[i].opening_work[w];
            if (work->solves == 0)
                continue;
            sddp_solver_row *row = take(study->recorder, work, SDDP_PHASE_BACKWARD, (int32_t)stage);
            row->opening = (int32_t)w;
            row->rank = (int32_t)ranks_own(study->ranks);
            row->worker = (int32_t)i;
        }
    study->recorder->times.sync += moved(study);
}

void recorder_take_bound(sddp *study)
{
    solve_work sum = { .solves = 0 };

    for (unsigned i = 0; i < study->threads; i++)
        for (uint32_t w = 0; w < study->tree->openings[0]; w++) {
            solve_work *work = &study->workers[i].opening_work[w];
            solve_work_add(&sum, work);
            *work = (solve_work){ .solves = 0 };
        }
    take(study->recorder, &sum, SDDP_PHASE_LOWER_BOUND, -1);
}

void recorder_add_selection(sddp *study, const sddp_selection_row *row)
{
    study->recorder->selection[study->recorder->selection_count++] = *row;
}

static int64_t rounded_ms(int64_t ns)
{
    return (ns + 500000) / 1000000;
}

/* Words of the ranks are agreements: sums, stops and failures. */
static sddp_process_times process_times(const recorder *r, const rank_times *exchange)
{
    return (sddp_process_times){ .allreduce_ms = rounded_ms(exchange->waiting_ns),
                                 .state_exchange_ms = rounded_ms(r->times.states),
                                 .cut_selection_ms = rounded_ms(r->times.selection),
                                 .cut_sync_ms = rounded_ms(r->times.sync),
                                 .lower_bound_ms = rounded_ms(r->times.bound),
                                 .cut_batch_ms = rounded_ms(r->times.batch),
                                 .backward_imbalance_ms = rounded_ms(r->backward.imbalance_ns),
                                 .backward_scheduling_ms = rounded_ms(r->backward.scheduling_ns),
                                 .forward_imbalance_ms = rounded_ms(r->forward.imbalance_ns),
                                 .forward_scheduling_ms = rounded_ms(r->forward.scheduling_ns),
                                 .overhead_ms = rounded_ms(r->times.overhead) };
}

/* Of this process: what it exchanged in the iteration. */
static rank_times exchange_of(const sddp *study)
{
    rank_times now = ranks_times(study->ranks), before = study->recorder->exchange;

    return (rank_times){ now.waiting_ns - before.waiting_ns, now.moving_ns - before.moving_ns };
}

static mcp_status collect(sddp *study, sddp_records *records, const sddp_iteration *row,
                          const rank_times *exchange, mcp_error *err)
{
    const ranks *all = study->ranks;
    unsigned rank = ranks_own(all);
    size_t first = ranks_first_task(all, study->scenarios, rank);
    const sddp_rank_times own = {
        .rank = (int32_t)rank,
        .forward_ms = row->time_forward_ms,
        .backward_ms = row->time_backward_ms,
        .exchange_ms = rounded_ms(exchange->moving_ns),
        .waiting_ms = rounded_ms(exchange->waiting_ns),
        .lp_solves = study_own_solves(study) - study->recorder->solves,
        .scenarios = (int32_t)(ranks_first_task(all, study->scenarios, rank + 1) - first),
    };

    return rank_records_collect(&study->recorder->all_ranks, study->ranks, records, &own, err);
}

mcp_status recorder_report(sddp *study, const sddp_observer *observer, const sddp_iteration *row,
                           mcp_error *err)
{
    recorder *r = study->recorder;
    const rank_times exchange = exchange_of(study);
    int32_t rank = (int32_t)ranks_own(study->ranks);

    for (unsigned i = 0; i < study->threads; i++)
        r->workers[i] = (sddp_worker_times){ .rank = rank,
                                             .worker = (int32_t)i,
                                             .forward_ms = rounded_ms(r->forward.by_worker[i]),
                                             .backward_ms = rounded_ms(r->backward.by_worker[i]) };
    sddp_records all = { .number = (uint32_t)row->iteration,
                         .solver = r->solver,
                         .solver_count = r->solver_count,
                         .selection = r->selection,
                         .selection_count = r->selection_count,
                         .workers = r->workers,
                         .worker_count = study->threads,
                         .times = process_times(r, &exchange) };
    mcp_status st = study->ranks ? collect(study, &all, row, &exchange, err) : MCP_OK;
    if (st == MCP_OK && observer->records)
        observer->records(&all, observer->data);
    return st;
}

void recorder_report_scenario(const sddp_observer *observer, uint32_t scenario,
                              const solve_work *work)
{
    if (!observer->records)
        return;
    sddp_solver_row row;
    write_row(&row, work, SDDP_PHASE_SIMULATION, -1);
    const sddp_records all = { .number = scenario, .solver = &row, .solver_count = 1 };
    observer->records(&all, observer->data);
}
