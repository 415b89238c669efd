/*
 * rows.h - solves a group lane by lane with a solver that has no idea of cuts (lp.h): they are rows
 * of its program, brought in when a solution violates them.
 */
#ifndef SDDP_STAGE_ROWS_H
#define SDDP_STAGE_ROWS_H

#include "lp/group.h"
#include "sddp/stage/solve.h"

/* Answer a group of in->program. Each lane is a basis of its own. LP_OPTIMAL, or how the lane
 * `failed` ended. */
lp_status rows_solve(worker *w, const solve_input *in, const lp_group *group, lp_answers *out);

#endif
