/*
 * ladder.h - what is tried after a solve that gave no optimum: twelve levels, each further from the
 * usual way.
 *
 * The first five start from no basis, and each adds something to the one before; the others start
 * with presolve alone and change the scales. Every answer is checked alike (optimum.h), however
 * loose the tolerance that it was found with. Source: the method page, 12.
 */
#ifndef LP_LADDER_H
#define LP_LADDER_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/lp.h"

#define LP_LEVELS 12

typedef enum lp_method { LP_DUAL, LP_PRIMAL, LP_INTERIOR } lp_method;

typedef struct lp_level {
    lp_method method;
    bool presolves;
    bool is_relaxed; /* feasible within 1e-6 */
    int scaling;     /* the solver's own, 0: none; 3 and 4 are strategies */
    double objective_scale, bound_scale;
    double seconds;
} lp_level;

extern const lp_level lp_levels[LP_LEVELS];

/* Solve from scratch as a level says, within `seconds`. */
typedef lp_status lp_attempt(void *data, const lp_level *level, double seconds);

/*
 * Climb until an attempt ends in LP_OPTIMAL, LP_INFEASIBLE, LP_UNBOUNDED or LP_NO_MEMORY, the
 * levels are used up, or `seconds` have passed in all.
 *
 * attempts: receives their number; the last one was of that level less 1
 *
 * How the last attempt ended; LP_LIMIT without one.
 */
lp_status lp_climb(lp_attempt *attempt, void *data, double seconds, int64_t *attempts);

/* The seconds of lp_solve for all levels together. */
#define LP_CLIMB_SECONDS 120.0

/* Solve from scratch as one level of lp_solve does. */
lp_status lp_solve_at_level(lp *model, unsigned level);

#endif
