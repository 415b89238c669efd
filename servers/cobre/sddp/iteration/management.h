/*
 * management.h - the end of an iteration: activity, cut selection, budget, working sets. Method
 * page, 8.
 */
#ifndef SDDP_ITERATION_MANAGEMENT_H
#define SDDP_ITERATION_MANAGEMENT_H

#include "sddp/iteration/iteration.h"

/* Record the activity of the iteration, deactivate what the case's rules say, and let the working
 * sets and bases follow. `removed` receives the number of cuts deactivated. MCP_OK; MCP_E_NOMEM:
 * nothing has changed. */
mcp_status management_run(const iteration_run *run, int64_t *removed, mcp_error *err);

#endif
