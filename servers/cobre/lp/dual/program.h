/*
 * program.h - a program as the dual simplex reads it: scaled, by columns and by rows.
 */
#ifndef LP_DUAL_PROGRAM_H
#define LP_DUAL_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "lp/dual/dual.h"

/* Numbers are scaled: column j is divided by its scale, row i multiplied by its scale, costs
 * multiplied by column and objective scale. A missing bound is an infinity. */
struct dual_program {
    int columns, rows, states;
    lp_layout layout;
    double *column_scale, *row_scale, objective_scale;

    double *lower, *upper, *cost; /* by column */
    double *low, *high;           /* the bounds less and plus the feasibility tolerance */
    double *row_lower, *row_upper, *row_low, *row_high;

    int *start, *row; /* by column: start[j] to start[j + 1] */
    double *value;
    int *row_start, *row_fixed; /* by row: elements of movable columns from row_start[i], of */
    int *column;                /* fixed ones from row_fixed[i] to row_start[i + 1] */
    double *element;

    uint8_t *is_fixed; /* by column: it never enters a basis */
    int *state_of;     /* by column: its entry of the outgoing state, or -1 */
    int *unbounded;    /* columns without any bound */
    int unbounded_count;
    bool is_beyond;        /* a number is beyond LP_LARGEST, or NaN */
    bool is_contradictory; /* a lower bound is above its upper bound */
};

/* What a value may violate a bound by, in scaled numbers: 1e-9 of the objective has to remain after
 * duals have multiplied it. */
#define FEASIBILITY 1e-10
#define FEASIBILITY_RELATIVE 1e-12

/* The tolerance for a pair of bounds. */
double dual_tolerance(double lower, double upper);

#endif
