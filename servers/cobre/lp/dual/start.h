/*
 * start.h - between the bytes of a basis and the kernel.
 *
 * A basis as bytes: lp_place by column, row and cut of the working set.
 */
#ifndef LP_DUAL_START_H
#define LP_DUAL_START_H

#include "lp/dual/task.h"

/*
 * Start from the group's basis, or from the slack basis where that cannot be mended. Prices are
 * computed, and every row that can fail outside the kernel is watched; values are not computed.
 */
void start_from_basis(dual_work *w);

/* Start from the slack basis: the kernel is empty, columns are at the bound that suits their cost.
 * One without such a bound gets a far one (is_boxed: which side). */
void start_from_slack(dual_work *w);

/* At an optimum of a lane: far bounds that stand for missing ones. */
typedef enum box_end {
    BOX_NONE,      /* none is in force */
    BOX_MOVED,     /* columns without reduced cost have left theirs; values are to be computed */
    BOX_UNBOUNDED, /* one is in force: the lane seems unbounded */
} box_end;

box_end start_unbox(dual_work *w);

/* Invert the present kernel again and compute prices; false: it has become singular. */
bool start_refactor(dual_work *w);

/* Move boxed columns with a reduced cost of the wrong sign to their other bound; false: another
 * column has one. */
bool start_mend(dual_work *w);

/* Write the present basis, whose kernel holds no cut from outside the working set. */
void start_write(const dual_work *w, uint8_t *basis);

/* The first cut from outside enters the kernel now: note the basis, if it is wanted. */
void start_note_before_outside(dual_work *w);

/* Write the basis of lane 0's end, as the head of the room describes. */
void start_keep(const dual_work *w);

#endif
