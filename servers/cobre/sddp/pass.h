/*
 * pass.h - runs the independent solves of one step over the threads of the study's team, and of the
 * other ranks where the study has them (ranks/ranks.h).
 *
 * A task may run on any thread at any time, so it writes only to memory of its own. When tasks
 * fail, the failure of the lowest index is reported: tasks below a failed one still run, those
 * above are skipped, so that the result does not depend on timing. Only the number of threads that
 * share a pass does: the one that was faster so far.
 *
 * A pass lists what its tasks write, so that each rank can give the others what its own wrote. With
 * ranks every rank ends a pass in the same way.
 */
#ifndef SDDP_PASS_H
#define SDDP_PASS_H

#include <stdatomic.h>

#include "sddp/stage/solve.h"
#include "sddp/study.h"

/* How long passes took: sums over passes, in nanoseconds. */
typedef struct pass_times {
    int64_t *by_worker;
    int64_t imbalance_ns;  /* slowest worker - mean worker, of those that took part */
    int64_t scheduling_ns; /* wall time - slowest worker */
} pass_times;

struct pass;

/* Takes what tasks wrote, span by span. */
typedef struct spans spans;
void spans_add(spans *all, void *address, size_t bytes);

/* Add all that the tasks from `begin` to before `end` write: the same spans on every rank, in the
 * same order. */
typedef void pass_outputs(const struct pass *p, size_t begin, size_t end, spans *all);

/* How a pass ends. */
typedef struct pass_end {
    size_t index; /* of the failed task; SIZE_MAX: none failed */
    mcp_status status;
    sddp_failure where;
    mcp_error err;
} pass_end;

typedef struct pass {
    sddp *study;
    const sddp_observer *observer; /* never NULL */
    const char *phase;             /* for failures */
    int32_t iteration;             /* the same; -1 in simulation */
    sddp_stop halts_at;            /* the mildest stop that halts the pass */
    pass_pace *pace;               /* of passes of this kind; never NULL */
    pass_times *times;             /* receives more; may be NULL */
    void *data;                    /* the tasks' */
    pass_outputs *outputs;         /* never NULL with ranks */
    size_t notes_begin, notes_end; /* the stages whose cuts the tasks take note of */
    bool for_first_rank;           /* alone the outputs are */
    atomic_bool is_halted;
} pass;

/* Runs on any thread. `where` has the phase and the iteration set; it is read when the task
 * fails. */
typedef mcp_status pass_task(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err);

/* MCP_OK; MCP_E_STOPPED (the observer halted the pass); the status of the failed task. */
mcp_status pass_run(pass *p, pass_task *task, size_t tasks, sddp_failure *failure, mcp_error *err);

/* Before another solve of a task: MCP_OK; MCP_E_STOPPED (the observer stops the pass). */
mcp_status pass_go_on(pass *p, mcp_error *err);

/* The group of a task, unless the observer stops the pass: MCP_E_STOPPED. Else as solve_group.
 * `where` has the opening of the group's first lane, or -1. */
mcp_status pass_solve(solve_output *out, pass *p, worker *w, const solve_input *in,
                      sddp_failure *where, mcp_error *err);

#endif
