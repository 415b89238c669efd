/*
 * cuts.c - the pool of cuts and its working set.
 *
 * Holding all cuts as rows costs time in proportion to their number in every pivot, while few of
 * them are tight near the states that matter; one pass over the whole pool after a solve costs one
 * multiplication per coefficient. The set keeps its order: cuts are removed anywhere and appended
 * at its end, so a worker follows a change by deleting some rows and appending others.
 */
#include "sddp/stage/cuts.h"

#include <string.h>

#define FIRST_CAPACITY 64

void cuts_init(cut_pool *pool, size_t dimension)
{
    *pool = (cut_pool){ .dimension = dimension };
}

static void copy_into(cut_pool *to, const cut_pool *from)
{
    size_t n = from->count;

    if (n == 0)
        return;
    memcpy(to->intercept, from->intercept, n * sizeof *to->intercept);
    for (size_t j = 0; j < from->dimension; j++)
        memcpy(to->slope + j * to->capacity, from->slope + j * from->capacity,
               n * sizeof *to->slope);
    memcpy(to->last_tight, from->last_tight, n * sizeof *to->last_tight);
    memcpy(to->set, from->set, from->set_count * sizeof *to->set);
    memcpy(to->in_set, from->in_set, n);
}

size_t cuts_capacity_for(const cut_pool *pool, size_t extra)
{
    size_t capacity = pool->capacity < FIRST_CAPACITY ? FIRST_CAPACITY : pool->capacity;

    while (capacity < pool->count + extra)
        capacity *= 2;
    return capacity;
}

mcp_status cuts_grow(cut_pool *pool, mcp_arena *arena, size_t capacity, mcp_error *err)
{
    cut_pool larger = *pool;

    if (capacity <= pool->capacity)
        return MCP_OK;
    larger.capacity = capacity;
    larger.intercept = mcp_arena_array(arena, larger.capacity, sizeof *larger.intercept);
    larger.slope = mcp_arena_array(arena, larger.capacity, pool->dimension * sizeof *larger.slope);
    larger.last_tight = mcp_arena_array(arena, larger.capacity, sizeof *larger.last_tight);
    larger.set = mcp_arena_array(arena, larger.capacity, sizeof *larger.set);
    larger.in_set = mcp_arena_array(arena, larger.capacity, 1);
    if (!larger.intercept || !larger.slope || !larger.last_tight || !larger.set || !larger.in_set)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu cuts", larger.capacity);
    copy_into(&larger, pool);
    *pool = larger;
    return MCP_OK;
}

void cuts_append(cut_pool *pool, double intercept, const double *slope, uint32_t iteration)
{
    size_t cut = pool->count++;

    pool->intercept[cut] = intercept;
    for (size_t j = 0; j < pool->dimension; j++)
        pool->slope[j * pool->capacity + cut] = slope[j];
    pool->in_set[cut] = 0;
    cuts_touch(pool, (uint32_t)cut, iteration);
}

void cuts_touch(cut_pool *pool, uint32_t cut, uint32_t iteration)
{
    pool->last_tight[cut] = iteration;
    if (pool->in_set[cut])
        return;
    pool->in_set[cut] = 1;
    pool->set[pool->set_count++] = cut;
    pool->version++;
}

void cuts_prune(cut_pool *pool, uint32_t oldest)
{
    size_t kept = 0;

    for (size_t i = 0; i < pool->set_count; i++) {
        uint32_t cut = pool->set[i];
        if (cut < pool->count && pool->last_tight[cut] >= oldest)
            pool->set[kept++] = cut;
        else
            pool->in_set[cut] = 0;
    }
    if (kept != pool->set_count)
        pool->version++;
    pool->set_count = kept;
}

void cuts_truncate(cut_pool *pool, size_t count)
{
    if (count == pool->count)
        return;
    pool->count = count;
    pool->epoch++;
    cuts_prune(pool, 0);
}

size_t cuts_gone(const cut_pool *pool, const uint32_t *rows, size_t count, int *gone)
{
    size_t at = 0, found = 0;

    for (size_t i = 0; i < count; i++) {
        if (at < pool->set_count && pool->set[at] == rows[i])
            at++;
        else
            gone[found++] = (int)i;
    }
    return found;
}

void cuts_intercepts(const cut_pool *pool, double *values)
{
    if (pool->count > 0)
        memcpy(values, pool->intercept, pool->count * sizeof *values);
}

void cuts_values(const cut_pool *pool, const double *state, double *values)
{
    cuts_intercepts(pool, values);
    cuts_add(pool, 0, pool->dimension, state, values);
}

void cuts_add(const cut_pool *pool, size_t from, size_t to, const double *state, double *values)
{
    size_t n = pool->count;

    for (size_t j = from; j < to; j++) {
        const double *slope = pool->slope + j * pool->capacity;
        double x = state[j];
        for (size_t i = 0; i < n; i++)
            values[i] += slope[i] * x;
    }
}

static bool is_known(uint32_t cut, const uint32_t *known, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (known[i] == cut)
            return true;
    return false;
}

size_t cuts_violated(const cut_pool *pool, const double *values, double limit,
                     const uint32_t *known, size_t known_count, uint32_t *out, size_t most)
{
    size_t found = 0;

    for (size_t i = 0; i < pool->count; i++) {
        if (values[i] <= limit || pool->in_set[i] || is_known((uint32_t)i, known, known_count))
            continue;
        size_t at = found < most ? found++ : most;
        for (; at > 0 && values[out[at - 1]] < values[i]; at--)
            if (at < most)
                out[at] = out[at - 1];
        if (at < most)
            out[at] = (uint32_t)i;
    }
    return found;
}
