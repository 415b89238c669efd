/*
 * inner_bound.h - an upper bound of the optimum that holds for certain, with CVaR too: by an inner
 * approximation of the future cost.
 *
 * The vertices of a stage's future cost are the states that all training paths so far have left it
 * with. From the last stage back, the value of a vertex is the risk of the next stage's openings
 * there, each with the future cost of that stage in its turn taken from its vertices (inner_lp.h).
 * The bound is the risk of the first stage's openings. It falls or stays as vertices come, and
 * depends on them alone. Method page, 16.
 */
#ifndef SDDP_ITERATION_INNER_BOUND_H
#define SDDP_ITERATION_INNER_BOUND_H

#include "sddp/iteration/iteration.h"

/* Whether the case asks for the bound after this iteration. */
bool inner_bound_is_due(const sddp *study, uint32_t iteration);

/*
 * The bound in currency: over the archived states and the study's present trial states. Changes
 * nothing that the training depends on.
 *
 * MCP_OK; MCP_E_STOPPED; MCP_E_INTERNAL (an LP without optimum, see `failure`);
 * MCP_E_LIMIT (see inner_lp_build); MCP_E_NOMEM
 */
mcp_status inner_bound_run(const iteration_run *run, double *out, mcp_error *err);

#endif
