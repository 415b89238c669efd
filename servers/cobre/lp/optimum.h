/*
 * optimum.h - whether a solution that a solver calls optimal is so: bounds hold, and so do the
 * conditions on reduced costs and duals.
 */
#ifndef LP_OPTIMUM_H
#define LP_OPTIMUM_H

#include <stdbool.h>

/* A scaled program (scale.h) column by column, and its solution. */
typedef struct lp_claim {
    int columns, rows;
    const int *start, *length, *row; /* the elements of column j: `length` of them from `start` */
    const double *value;
    const double *lower, *upper, *cost;  /* by column */
    const double *row_lower, *row_upper; /* by row */
    const double *primal, *dual;         /* by column, by row */
    double *activity, *size;             /* scratch by row */
} lp_claim;

/* Whether the solution is feasible and dual feasible but for rounding. */
bool lp_claim_holds(const lp_claim *claim);

#endif
