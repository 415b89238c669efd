/*
 * elastic.h - why a stage program has no solution: the hydros whose water balance cannot hold, and
 * the rows of generic constraints without a slack.
 */
#ifndef SDDP_STAGE_ELASTIC_H
#define SDDP_STAGE_ELASTIC_H

#include <stddef.h>

#include "sddp/program/stage_lp.h"

typedef struct elastic_gap {
    size_t at;     /* the index of a hydro, or of a constraint row among those of the stage */
    double amount; /* the water that the hydro lacks, hm3, or what the left side of the row lacks;
                      negative: what is too much */
} elastic_gap;

/* The places for at most `most` gaps of each kind, and those that were found, the largest first. */
typedef struct elastic_gaps {
    size_t most, hydro_count, row_count;
    elastic_gap *hydros, *rows;
} elastic_gaps;

/*
 * Solve the program of a lane, values[item * stride] (items.h), again with balances and constraint
 * rows that may be violated, for the least violation, and find where one remains. Where a row or
 * water would do, it is the row, because balances are physics.
 *
 * Nothing is found where all of them can hold, or the memory or the solver does not suffice.
 */
void elastic_find(elastic_gaps *out, const stage_lp *stage, const double *values, size_t stride);

#endif
