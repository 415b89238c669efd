/*
 * lanes.h - the values of all lanes: of basic columns and of watched rows, side by side by lane, so
 * that every loop over lanes is a vector loop.
 *
 * A basis is dual feasible for every lane, since lanes differ in right-hand sides only; it is
 * optimal for each lane without violation.
 */
#ifndef LP_DUAL_LANES_H
#define LP_DUAL_LANES_H

#include "lp/dual/task.h"

/* How values move in a pivot: those of a line by u times delta, by lane, plus a constant. */
typedef struct lanes_step {
    double u, constant;
} lanes_step;

/* Bounds of the columns, of the program and of the items that all lanes share; all lanes are there.
 * LP_OPTIMAL; LP_INFEASIBLE (answers->failed: contradictory bounds); LP_FAILED. After rows_load. */
lp_status lanes_load(dual_work *w);

/* The value of a nonbasic column in a lane. */
double lanes_nonbasic_of(const dual_work *w, int column, size_t lane);

/* All columns in a lane. */
void lanes_point(const dual_work *w, size_t lane, double *by_column);

/* Compute values and violations from the inverse. */
void lanes_compute(dual_work *w);

/* Compute the values of one watched row from those of the columns. */
void lanes_compute_row(dual_work *w, int row);

/* The values of the line minus its step; what they violate their limits by adds to violation. */
void lanes_move_column(dual_work *w, int position, lanes_step step);
void lanes_move_row(dual_work *w, int watched, lanes_step step);

/* A nonbasic column moves by `by` in each lane: its part in all values. */
void lanes_shift(dual_work *w, int column, const double *by);

/* Take out a lane; the last one moves to its number. */
void lanes_remove(dual_work *w, size_t lane);

#endif
