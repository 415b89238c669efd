/*
 * pass.h - runs the independent solves of one step over all threads; the only user of OpenMP.
 *
 * A task may run on any thread at any time, so it must write to places of its own. When tasks fail,
 * the failure of the lowest index is reported: tasks below a failed one still run, those above are
 * skipped, so that the answer does not depend on timing.
 */
#ifndef SDDP_PASS_H
#define SDDP_PASS_H

#include <stdatomic.h>

#include "sddp/stage/visit.h"
#include "sddp/study.h"

typedef struct pass {
    sddp *study;
    const sddp_observer *observer; /* never NULL */
    const char *phase;             /* for failures */
    int32_t iteration;             /* the same; -1 in simulation */
    bool any_stop_halts;           /* else only MCP_STOP_CANCELLED does */
    size_t task_lines;             /* columns and rows that one task solves: what it costs */
    void *data;                    /* the tasks' */
    atomic_bool is_halted;
} pass;

/* Runs on any thread. `where` comes filled with phase and iteration and is read when it fails. */
typedef mcp_status pass_task(pass *p, worker *w, size_t index, sddp_failure *where, mcp_error *err);

/* MCP_OK; MCP_E_STOPPED (the observer halted it); what a task returned. */
mcp_status pass_run(pass *p, pass_task *task, size_t tasks, sddp_failure *failure, mcp_error *err);

/* Ask the observer, then solve: what tasks do. MCP_E_STOPPED besides visit_solve's. */
mcp_status pass_visit(lp **model, pass *p, worker *w, const visit *v, sddp_failure *where,
                      mcp_error *err);

#endif
