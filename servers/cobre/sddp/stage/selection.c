/*
 * selection.c - the rules by which cuts are deactivated, on the records that backward passes leave.
 *
 * Level 1 and lml1 follow de Matos, Philpott and Finardi (2015); domination keeps what is highest
 * at one of the visited states.
 */
#include "sddp/stage/selection.h"

#include <math.h>
#include <string.h>

static bool is_old(const cut_pool *pool, size_t cut, uint32_t iteration)
{
    return pool->is_active[cut] && pool->record[cut].iteration != iteration;
}

/* The deactivated cuts leave the working set. */
static size_t finish(cut_pool *pool, size_t removed)
{
    if (removed > 0)
        cuts_prune(pool, 32);
    return removed;
}

size_t selection_level1(cut_pool *pool, uint32_t iteration, uint64_t threshold)
{
    size_t removed = 0;

    for (size_t i = 0; i < pool->count; i++) {
        const cut_record *record = &pool->record[i];
        if (!is_old(pool, i, iteration) || record->active_count > threshold)
            continue;
        cuts_deactivate(pool, i);
        removed++;
    }
    return finish(pool, removed);
}

size_t selection_lml1(cut_pool *pool, uint32_t iteration, uint32_t window)
{
    size_t removed = 0;

    for (size_t i = 0; i < pool->count; i++) {
        const cut_record *record = &pool->record[i];
        if (!is_old(pool, i, iteration) || iteration - record->last_active <= window)
            continue;
        cuts_deactivate(pool, i);
        removed++;
    }
    return finish(pool, removed);
}

/* Mark the active cuts that are near the highest at one state. */
static void mark_needed(const cut_pool *pool, const double *state, double epsilon,
                        const domination_scratch *scratch)
{
    cuts_values(pool, state, scratch->values);
    for (size_t i = 0; i < pool->thetas; i++)
        scratch->highest[i] = -INFINITY;
    for (size_t i = 0; i < pool->count; i++) {
        double *highest = &scratch->highest[pool->theta[i]];
        if (pool->is_active[i] && scratch->values[i] > *highest)
            *highest = scratch->values[i];
    }
    for (size_t i = 0; i < pool->count; i++)
        if (scratch->values[i] >= scratch->highest[pool->theta[i]] - epsilon)
            scratch->needed[i] = 1;
}

size_t selection_domination(cut_pool *pool, uint32_t iteration, double epsilon,
                            const visited_states *visited, const domination_scratch *scratch)
{
    size_t removed = 0;

    if (pool->active < 2 || visited->block_count == 0)
        return 0;
    memset(scratch->needed, 0, pool->count);
    for (size_t b = 0; b < visited->block_count; b++)
        for (size_t r = 0; r < visited->repeats; r++) {
            const double *states = visited->blocks[b] + visited->first + r * visited->stride;
            for (size_t i = 0; i < visited->states; i++)
                mark_needed(pool, states + i * pool->dimension, epsilon, scratch);
        }
    for (size_t i = 0; i < pool->count; i++) {
        if (scratch->needed[i] || !is_old(pool, i, iteration))
            continue;
        cuts_deactivate(pool, i);
        removed++;
    }
    return finish(pool, removed);
}

/* Whether a should go before b, which is younger. */
static bool goes_before(const cut_record *a, const cut_record *b)
{
    if (a->last_active != b->last_active)
        return a->last_active < b->last_active;
    return a->active_count <= b->active_count;
}

size_t selection_budget(cut_pool *pool, uint32_t iteration, size_t most)
{
    size_t removed = 0;

    while (pool->active > most) {
        size_t worst = SIZE_MAX;
        for (size_t i = 0; i < pool->count; i++) {
            const cut_record *record = &pool->record[i];
            if (is_old(pool, i, iteration) &&
                (worst == SIZE_MAX || !goes_before(&pool->record[worst], record)))
                worst = i;
        }
        if (worst == SIZE_MAX)
            break;
        cuts_deactivate(pool, worst);
        removed++;
    }
    return finish(pool, removed);
}
