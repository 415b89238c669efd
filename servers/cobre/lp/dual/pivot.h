/*
 * pivot.h - one pivot of the dual simplex, for the target lane; the values of all lanes follow.
 */
#ifndef LP_DUAL_PIVOT_H
#define LP_DUAL_PIVOT_H

#include "lp/dual/task.h"

typedef enum pivot_end {
    PIVOT_DONE,
    PIVOT_BLOCKED,  /* nothing can enter: the target lane is infeasible */
    PIVOT_EXCUSED,  /* nor has anything to: the miss is within rounding, and no longer counts */
    PIVOT_UNSTABLE, /* the row and the column of the pivot differ; nothing has changed */
} pivot_end;

pivot_end pivot_once(dual_work *w, size_t target);

#endif
