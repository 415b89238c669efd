/*
 * visit.h - one solve of one stage's program: state, noise and basis in, optimum over all cuts out.
 */
#ifndef SDDP_VISIT_H
#define SDDP_VISIT_H

#include "sddp/study.h"

typedef struct visit {
    size_t stage;
    const double *state, *noise;
    const uint8_t *basis; /* where the solve starts: for the stage's rows and its working set */
    uint8_t
        *keep_basis; /* where it ended, before cuts from outside the set; may be NULL or `basis` */
} visit;

/*
 * Solve. Runs on the worker's thread, inside a pass or outside.
 *
 * model receives the lp with the solution, valid until the worker's next visit to the stage.
 * MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (no optimum; w->end says how it ended).
 */
mcp_status visit_solve(lp **model, const sddp *study, worker *w, const visit *v, mcp_error *err);

#endif
