/*
 * dual.h - a dual simplex for small programs that are solved in groups: the openings of a stage.
 *
 * The basis is kept as the dense inverse of its kernel, the rows whose logicals are nonbasic by the
 * basic columns (kernel.h). One basis walks from optimum to optimum of the lanes, and the values of
 * all lanes follow each pivot; a lane whose values are within bounds is done. Cuts are read in
 * place from the pool: the working set is watched, and the whole pool is searched for each lane
 * that the watched rows have nothing against.
 *
 * Every number at this interface is in the units of lp_program; inside, the program is scaled
 * (scale.h). An answer depends on the program, the active cuts, the working set, the starting basis
 * and the lanes in their order, and on nothing else: a dual_work carries only memory from one call
 * to the next.
 *
 * The kept basis (lp_answers.keep) is that of lane 0's end. Its bytes cannot name a cut from
 * outside the working set; if such a cut is in that basis, the one kept is the last of the walk
 * before the first such cut entered. It is dual feasible, and the next visit starts a few pivots
 * away.
 *
 * Threads: a program is read by all of them, a work belongs to one.
 */
#ifndef LP_DUAL_DUAL_H
#define LP_DUAL_DUAL_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/group.h"
#include "mcp/error.h"

typedef struct dual_program dual_program;
typedef struct dual_work dual_work;

/* Running totals; never reset. */
typedef struct dual_totals {
    int64_t solver_ns; /* wall time inside dual_solve */
    int64_t solves;    /* lanes answered */
    int64_t pivots;
    int64_t refactors; /* inversions of a kernel */
    int64_t retries;   /* lanes solved alone from the slack basis, after trouble */
    int64_t fallbacks; /* lanes of the groups that ended without optimum */
} dual_totals;

/* Whether the program is of a size for which this method is the faster one. */
bool dual_fits(const lp_program *program, const lp_layout *layout);

/* Prepare a program. It is copied, and so is `layout`, whose arrays are borrowed until it is freed.
 * MCP_OK; MCP_E_NOMEM. */
mcp_status dual_program_new(dual_program **out, const lp_program *program, const lp_layout *layout,
                            mcp_error *err);

/* NULL is fine. */
void dual_program_free(dual_program *program);

/* MCP_OK; MCP_E_NOMEM. */
mcp_status dual_work_new(dual_work **out, mcp_error *err);

/* NULL is fine. */
void dual_work_free(dual_work *work);

const dual_totals *dual_work_totals(const dual_work *work);

/*
 * Answer a group. The numbers of `group` must be below LP_LARGEST, else the end is LP_FAILED; the
 * basis may be any bytes of lp_place, and a bad one costs pivots only.
 *
 * LP_OPTIMAL: all lanes are. LP_INFEASIBLE, LP_UNBOUNDED: answers->failed seems to be so, which
 * another method has to confirm. LP_FAILED: this method fails at it. LP_NO_MEMORY. Without an
 * optimum the arrays of `answers` are undefined, and `tight` and `hits` may have grown.
 */
lp_status dual_solve(const dual_program *program, dual_work *work, const lp_group *group,
                     lp_answers *answers);

#endif
