/*
 * elastic.h - why a stage program has no solution: the hydros whose water balance cannot hold.
 */
#ifndef SDDP_STAGE_ELASTIC_H
#define SDDP_STAGE_ELASTIC_H

#include <stddef.h>

#include "sddp/program/stage_lp.h"

typedef struct elastic_gap {
    size_t hydro; /* its index */
    double hm3;   /* the water that it lacks; negative: that it cannot get rid of */
} elastic_gap;

/*
 * Solve the program of a lane, values[item * stride] (items.h), again with balances that may be
 * violated, for the least violation, and find the hydros where one remains, at most `most`, the
 * largest first.
 *
 * Returns their number; 0: every balance can hold, or the memory or the solver does not suffice.
 */
size_t elastic_gaps(const stage_lp *stage, const double *values, size_t stride, elastic_gap *gaps,
                    size_t most);

#endif
