/*
 * iteration.h - the three steps of an iteration. Run by the calling thread; each is one or more
 * passes.
 *
 * All return MCP_OK; MCP_E_STOPPED (the caller drops the iteration's cuts); MCP_E_INTERNAL (an LP
 * without optimum, see `failure`); MCP_E_NOMEM. Method page, 5.
 */
#ifndef SDDP_ITERATION_H
#define SDDP_ITERATION_H

#include "sddp/study.h"

typedef struct iteration_run {
    sddp *study;
    const sddp_observer *observer;
    sddp_failure *failure;
    uint32_t iteration; /* 1-based */
} iteration_run;

/* Walk every scenario through the stages: fills the study's trial states and path costs. */
mcp_status forward_run(const iteration_run *run, mcp_error *err);

/* From the last position to the second: solve every opening at every trial state, and add one cut
 * per scenario to the stage before. */
mcp_status backward_run(const iteration_run *run, mcp_error *err);

/* The lower bound in currency: the risk of the first stage's openings. */
mcp_status bound_run(const iteration_run *run, double *out, mcp_error *err);

#endif
