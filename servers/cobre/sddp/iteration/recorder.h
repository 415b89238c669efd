/*
 * recorder.h - collects the records of an iteration (records.h) on the calling thread, from what
 * the workers counted. Its memory is made with the first training, so it cannot fail later.
 */
#ifndef SDDP_ITERATION_RECORDER_H
#define SDDP_ITERATION_RECORDER_H

#include "sddp/pass.h"
#include "sddp/ranks/rank_records.h"
#include "sddp/records.h"
#include "sddp/study.h"

/* Times of an iteration outside its passes, in nanoseconds. */
typedef struct recorder_times {
    int64_t selection, sync, bound, batch, overhead;
    int64_t states; /* giving the other ranks what the forward pass wrote */
} recorder_times;

typedef struct recorder {
    sddp_solver_row *solver;
    size_t solver_count;
    sddp_selection_row *selection;
    size_t selection_count;
    sddp_worker_times *workers; /* by worker */
    recorder_times times;
    pass_times forward, backward;
    rank_times exchange;    /* of this process, when the iteration began */
    int64_t moved_ns;       /* the part of moving bytes since then that has a place above */
    int64_t solves;         /* of this process, before the iteration */
    rank_records all_ranks; /* not used without ranks */
} recorder;

/* The study's own. MCP_OK; MCP_E_NOMEM. */
mcp_status recorder_new(recorder **out, sddp *study, mcp_error *err);

/* Forget the last iteration, and what workers counted since. */
void recorder_begin(sddp *study);

/* After the forward pass; after the backward pass over a stage; after the lower bound. */
void recorder_take_forward(sddp *study);
void recorder_take_backward(sddp *study, size_t stage);
void recorder_take_bound(sddp *study);

void recorder_add_selection(sddp *study, const sddp_selection_row *row);

/* Give the records of the iteration to the observer, on rank 0 those of all ranks. MCP_OK; as
 * ranks_speak. */
mcp_status recorder_report(sddp *study, const sddp_observer *observer, const sddp_iteration *row,
                           mcp_error *err);

/* Give the record of one simulated scenario to the observer. */
void recorder_report_scenario(const sddp_observer *observer, uint32_t scenario,
                              const solve_work *work);

#endif
