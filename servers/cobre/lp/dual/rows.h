/*
 * rows.h - the rows of a task: those of the program, and the cuts that were brought in as slots.
 */
#ifndef LP_DUAL_ROWS_H
#define LP_DUAL_ROWS_H

#include "lp/dual/task.h"

/* Load the program's rows, and the working set as the first slots; those that are gone or
 * deactivated become slots without a cut. LP_OPTIMAL; LP_FAILED: a number is beyond LP_LARGEST. */
lp_status rows_load(dual_work *w);

/* Bring in a cut of the pool as the next slot, outside the kernel and not watched yet. LP_OPTIMAL;
 * LP_FAILED; LP_NO_MEMORY. */
lp_status rows_join(dual_work *w, uint32_t cut);

/* Forget all slots. */
void rows_forget(dual_work *w);

void rows_watch(dual_work *w, int row);
void rows_unwatch(dual_work *w, int row);

/* Whether a row outside the kernel can become infeasible. */
bool rows_can_fail(const dual_work *w, int row);

/* The sum of a row's elements in movable columns times `by_column`; over fixed columns too. */
double rows_dot(const dual_work *w, int row, const double *by_column);
double rows_dot_all(const dual_work *w, int row, const double *by_column);

/* The sum of the magnitudes of a row's elements, in all columns, times those of `by_column`. */
double rows_size(const dual_work *w, int row, const double *by_column);

/* by_column += factor times the row, in movable columns; in those of more than one element. */
void rows_add_others(const dual_work *w, int row, double factor, double *by_column);
void rows_add(const dual_work *w, int row, double factor, double *by_column);

/* by_position = the row's elements in the basic columns. */
void rows_gather(const dual_work *w, int row, double *by_position);

/* by_position += factor times a column, in the rows of the kernel. */
void rows_add_column(const dual_work *w, int column, double factor, double *by_position);

/* What the outgoing state without columns adds to a cut in each lane, in scaled numbers; false: the
 * layout has none. */
bool rows_tail(const dual_work *w, int slot, double *by_lane);

/* The element of a slot in a column. */
double rows_slot_element(const dual_work *w, int slot, int column);

#endif
