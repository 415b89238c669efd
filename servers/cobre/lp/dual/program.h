/*
 * program.h - a program as the dual simplex reads it: scaled, by columns and by rows.
 */
#ifndef LP_DUAL_PROGRAM_H
#define LP_DUAL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/dual/dual.h"

/* Numbers are scaled: column j is divided by its scale, row i multiplied by its scale, costs
 * multiplied by column and objective scale. A missing bound is an infinity.
 *
 * Columns have an order of their own: those with a single element, by row and cost a unit; the
 * other movable ones; those that are fixed, which never enter a basis. So loops over elements of a
 * row run along memory, and the first part is searched by price (price.c). */
struct dual_program {
    int columns, rows, states;
    int singles, movable; /* columns of the first part; those that are not fixed */
    int *order, *number;  /* the caller's number by column, and back */
    lp_layout layout;     /* of columns in this order, but for theta */
    lp_item *item;
    int *state, *gradient;
    double *column_scale, *row_scale, objective_scale;

    double *lower, *upper, *cost; /* by column */
    double *low, *high;           /* the bounds less and plus the feasibility tolerance */
    double *row_lower, *row_upper, *row_low, *row_high;

    int *start, *row; /* by column: start[j] to start[j + 1] */
    double *value;
    int *run;             /* by row: its columns with a single element, from run[i] on */
    double *single, *key; /* by column: that element; the cost divided by it */
    int *row_start,
        *row_fixed; /* by row: other elements of movable columns from row_start[i], of */
    int *column;    /* fixed ones from row_fixed[i] to row_start[i + 1] */
    double *element;

    int *state_of;  /* by column: its entry of the outgoing state, or -1 */
    int *unbounded; /* columns without any bound */
    int unbounded_count;
    bool is_beyond;        /* a number is beyond LP_LARGEST, or NaN */
    bool is_contradictory; /* a lower bound is above its upper bound */
};

/* What a value may violate a bound by, in scaled numbers: 1e-9 of the objective has to remain after
 * duals have multiplied it. */
#define FEASIBILITY 1e-10
#define FEASIBILITY_RELATIVE 1e-12

static inline bool program_is_fixed(const dual_program *p, int column)
{
    return column >= p->movable;
}

/* The column of a future cost. */
static inline int program_theta(const dual_program *p, int theta)
{
    return p->number[p->layout.theta + theta];
}

/* The tolerance of one bound: a far bound on the other side must not loosen it. */
double dual_tolerance(double bound);

#endif
