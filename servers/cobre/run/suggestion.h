/*
 * suggestion.h - what to look at in a case whose program the solver cannot solve.
 */
#ifndef COBRE_RUN_SUGGESTION_H
#define COBRE_RUN_SUGGESTION_H

#include "mcp/arena.h"

#include "case/case.h"
#include "sddp/sddp.h"
#include "stochastic/inflow.h"

/* The suggestion of a SolverFailure. It names the largest cost, load, inflow, storage or duration
 * where one is far out of scale. NULL: no memory. */
const char *suggestion_of_failure(mcp_arena *arena, const cobre_case *input,
                                  const inflow_model *inflow, const sddp_failure *where);

/* A sentence on each hydro whose water balance cannot hold, and on each generic constraint; the
 * list ends with NULL. NULL: no memory. */
const char *const *suggestion_hydros(mcp_arena *arena, const cobre_case *input,
                                     const sddp_failure *where);
const char *const *suggestion_constraints(mcp_arena *arena, const cobre_case *input,
                                          const sddp_failure *where);

#endif
