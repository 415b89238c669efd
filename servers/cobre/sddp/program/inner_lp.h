/*
 * inner_lp.h - a stage's program whose future cost is approximated from above: by a convex
 * combination of known states instead of by cuts.
 *
 * With vertices x_i of a future cost no higher than v_i, theta becomes
 *     sum a_i * v_i + sum_j S_j * (more_j + less_j)
 *     sum a_i = 1,  X_j = sum a_i * x_ij + more_j - less_j,  all >= 0
 * where X is the outgoing state and S_j the steepest slope of the future cost in entry j. The
 * future cost is convex, so its optimum is never below the true one. Method page, 16.
 *
 * The columns and rows of the stage's own program come first, so what is said by column or row of
 * it holds here too.
 */
#ifndef SDDP_PROGRAM_INNER_LP_H
#define SDDP_PROGRAM_INNER_LP_H

#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "lp/lp.h"
#include "sddp/program/stage_lp.h"

/* States at the end of a stage and what follows them costs at most. */
typedef struct inner_vertices {
    size_t count;               /* >= 1 */
    const double *const *state; /* by vertex: in the order of the state */
    const double *value;        /* by vertex: thousands */
} inner_vertices;

typedef struct inner_lp {
    const stage_lp *stage;
    lp_program program;
} inner_lp;

/*
 * Build the program of a stage with a single theta. Its arrays are the arena's.
 *
 * slopes: by entry of the state, currency
 *
 * MCP_OK; MCP_E_LIMIT (more than 100 million elements); MCP_E_NOMEM
 */
mcp_status inner_lp_build(inner_lp *out, mcp_arena *arena, const stage_lp *stage,
                          const inner_vertices *vertices, const double *slopes, mcp_error *err);

/* Put the outgoing entries that no column holds into an lp with this program: those of `outgoing`
 * from the number of hydros on. */
void inner_lp_enter(const inner_lp *self, lp *model, const double *outgoing);

#endif
