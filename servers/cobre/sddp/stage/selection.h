/*
 * selection.h - deactivates the cuts of a pool that no longer seem to matter. Method page, 8.
 *
 * Each function returns the number of cuts it deactivated; they stay in the pool, and leave the
 * working set. Runs on the calling thread, between passes, after cuts_end_iteration.
 */
#ifndef SDDP_STAGE_SELECTION_H
#define SDDP_STAGE_SELECTION_H

#include <stddef.h>
#include <stdint.h>

#include "case/case.h"
#include "sddp/stage/cuts.h"

/* Cuts that were active in at most `threshold` solves; never one of this iteration. */
size_t selection_level1(cut_pool *pool, uint32_t iteration, uint64_t threshold);

/* Cuts that were last active more than `window` iterations ago. */
size_t selection_lml1(cut_pool *pool, uint32_t iteration, uint32_t window);

/* The outgoing states that a stage has visited. */
typedef struct visited_states {
    const double *const *blocks; /* by iteration: [offset + place * dimension] */
    size_t block_count;
    size_t first, stride, repeats; /* offsets: `repeats` of them, `stride` apart */
    size_t states;                 /* places at each offset */
} visited_states;

/* Scratch of selection_domination. */
typedef struct domination_scratch {
    double *values;  /* by cut */
    double *highest; /* by theta */
    uint8_t *needed; /* by cut */
} domination_scratch;

/* Cuts that at each visited state are more than `epsilon` below the highest active cut of their
 * theta; never one of this iteration, and none where no state was visited. */
size_t selection_domination(cut_pool *pool, uint32_t iteration, double epsilon,
                            const visited_states *visited, const domination_scratch *scratch);

/* While more than `most` cuts are active: the one active longest ago, and of those the least often;
 * never one of this iteration. */
size_t selection_budget(cut_pool *pool, uint32_t iteration, size_t most);

#endif
