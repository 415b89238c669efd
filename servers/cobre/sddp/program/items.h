/*
 * items.h - what varies from solve to solve in a stage's program: the incoming storages, the
 * realized inflows, the loads and sources that depend on the noise, and the rows that these move.
 *
 * The program's layout (lp/group.h) lists them in this order. A lane is one solve; its values are
 * made in two steps, since only the second one needs the state: what the noise alone gives, which
 * for the openings of the tree is computed once per run, then the state's part.
 */
#ifndef SDDP_PROGRAM_ITEMS_H
#define SDDP_PROGRAM_ITEMS_H

#include <stddef.h>

#include "lp/lp.h"
#include "sddp/program/stage_lp.h"

/* What a noise gives: values[item * stride]. Of inflows the random part; of storages nothing. */
void items_of_noise(const stage_lp *stage, const double *noise, double *values, size_t stride);

/* The lanes of a group. */
typedef struct item_lanes {
    size_t count;
    const double *noise; /* [item * stride + lane]: items_of_noise of each */
    size_t stride;
    size_t state_stride; /* from a lane's incoming state to the next one's; 0: all share one */
} item_lanes;

/* The whole values: [item * lanes->count + lane]; `state` is that of the first lane. The realized
 * inflows are by the model, raised to zero where the case wants that and there is noise (method
 * page, 3.2). */
void items_of_state(const stage_lp *stage, const double *state, const item_lanes *lanes,
                    double *values);

/* Put the values of a lane, values[item * stride], into an lp that holds the program. */
void items_enter(const stage_lp *stage, lp *model, const double *values, size_t stride);

/* The first item of the inflows, which are by hydro, in values. */
static inline size_t items_inflow(const stage_lp *stage)
{
    return stage->input->hydro_count;
}

#endif
