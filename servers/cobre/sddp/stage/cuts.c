/*
 * cuts.c - the pool of cuts and its working set.
 *
 * Holding all cuts as rows costs time in proportion to their number in every pivot, while few of
 * them are tight near the states that matter; one pass over the whole pool after a solve costs one
 * multiplication per coefficient. The set keeps its order: cuts are removed anywhere and appended
 * at its end, so a worker follows a change by deleting some rows and appending others.
 */
#include "sddp/stage/cuts.h"

#include <math.h>
#include <string.h>

#include "lp/lp.h"

#define FIRST_CAPACITY CUT_CHUNK

void cuts_init(cut_pool *pool, size_t dimension, size_t thetas)
{
    *pool = (cut_pool){ .dimension = dimension, .thetas = thetas };
}

static void copy_into(cut_pool *to, const cut_pool *from)
{
    size_t n = from->count;

    if (from->chunks > 0)
        memcpy(to->slope, from->slope, from->chunks * sizeof *to->slope);
    if (n == 0)
        return;
    memcpy(to->intercept, from->intercept, n * sizeof *to->intercept);
    memcpy(to->theta, from->theta, n * sizeof *to->theta);
    memcpy(to->is_active, from->is_active, n);
    memcpy(to->record, from->record, n * sizeof *to->record);
    memcpy(to->hits, from->hits, n * sizeof *to->hits);
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

static mcp_status grow(cut_pool *pool, mcp_arena *arena, size_t capacity, mcp_error *err)
{
    cut_pool larger = *pool;

    if (capacity <= pool->capacity)
        return MCP_OK;
    larger.capacity = capacity;
    larger.intercept = mcp_arena_array(arena, capacity, sizeof *larger.intercept);
    larger.slope = mcp_arena_array(arena, capacity / CUT_CHUNK, sizeof *larger.slope);
    larger.theta = mcp_arena_array(arena, capacity, sizeof *larger.theta);
    larger.is_active = mcp_arena_array(arena, capacity, 1);
    larger.record = mcp_arena_array(arena, capacity, sizeof *larger.record);
    larger.hits = mcp_arena_array(arena, capacity, sizeof *larger.hits);
    larger.set = mcp_arena_array(arena, capacity, sizeof *larger.set);
    larger.in_set = mcp_arena_array(arena, capacity, 1);
    if (!larger.intercept || !larger.slope || !larger.theta || !larger.is_active ||
        !larger.record || !larger.hits || !larger.set || !larger.in_set)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu cuts", capacity);
    copy_into(&larger, pool);
    *pool = larger;
    return MCP_OK;
}

mcp_status cuts_reserve(cut_pool *pool, mcp_arena *arena, size_t extra, mcp_error *err)
{
    mcp_status st = grow(pool, arena, cuts_capacity_for(pool, extra), err);

    while (st == MCP_OK && pool->chunks * CUT_CHUNK < pool->count + extra) {
        double *chunk = mcp_arena_array(arena, pool->dimension, CUT_CHUNK * sizeof *chunk);
        if (!chunk)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu cuts", pool->count + extra);
        pool->slope[pool->chunks++] = chunk;
    }
    return st;
}

double cuts_slope(const cut_pool *pool, size_t cut, size_t j)
{
    return pool->slope[cut / CUT_CHUNK][j * CUT_CHUNK + cut % CUT_CHUNK];
}

/* A search compares by > alone, which NaN never passes: such a cut would be overlooked. */
static mcp_status check_cut(const cut_pool *pool, double intercept, const double *slope,
                            mcp_error *err)
{
    if (!(fabs(intercept) <= LP_LARGEST))
        return mcp_error_set(err, MCP_E_PARAMS, "a cut has the intercept %g", intercept);
    for (size_t j = 0; j < pool->dimension; j++)
        if (!(fabs(slope[j]) <= LP_LARGEST))
            return mcp_error_set(err, MCP_E_PARAMS, "a cut has the coefficient %g", slope[j]);
    return MCP_OK;
}

mcp_status cuts_append(cut_pool *pool, double intercept, const double *slope, uint32_t theta,
                       const cut_record *record, mcp_error *err)
{
    mcp_status st = check_cut(pool, intercept, slope, err);

    if (st != MCP_OK)
        return st;
    size_t cut = pool->count++;
    double *chunk = pool->slope[cut / CUT_CHUNK];
    pool->intercept[cut] = intercept;
    for (size_t j = 0; j < pool->dimension; j++)
        chunk[j * CUT_CHUNK + cut % CUT_CHUNK] = slope[j];
    pool->theta[cut] = theta;
    pool->is_active[cut] = 1;
    pool->record[cut] = *record;
    pool->hits[cut] = 0;
    pool->in_set[cut] = 0;
    pool->active++;
    return MCP_OK;
}

void cuts_deactivate(cut_pool *pool, size_t cut)
{
    pool->active -= pool->is_active[cut];
    pool->is_active[cut] = 0;
}

void cuts_touch(cut_pool *pool, uint32_t cut)
{
    pool->record[cut].window |= 1;
    if (pool->in_set[cut])
        return;
    pool->in_set[cut] = 1;
    pool->set[pool->set_count++] = cut;
    pool->version++;
}

/* The set keeps its active cuts, and of those the ones with a bit of `window`. */
static void keep_tight(cut_pool *pool, uint32_t window)
{
    size_t kept = 0;

    for (size_t i = 0; i < pool->set_count; i++) {
        uint32_t cut = pool->set[i];
        bool is_there = cut < pool->count && pool->is_active[cut];
        if (is_there && (pool->record[cut].window & window) != 0)
            pool->set[kept++] = cut;
        else
            pool->in_set[cut] = 0;
    }
    if (kept != pool->set_count)
        pool->version++;
    pool->set_count = kept;
}

void cuts_prune(cut_pool *pool, unsigned iterations)
{
    keep_tight(pool, UINT32_MAX >> (32 - iterations));
}

void cuts_truncate(cut_pool *pool, size_t count)
{
    if (count == pool->count)
        return;
    for (size_t i = count; i < pool->count; i++)
        pool->active -= pool->is_active[i];
    pool->count = count;
    pool->epoch++;
    keep_tight(pool, UINT32_MAX);
}

void cuts_begin_iteration(cut_pool *pool)
{
    for (size_t i = 0; i < pool->count; i++)
        pool->record[i].window <<= 1;
}

void cuts_end_iteration(cut_pool *pool, uint32_t iteration)
{
    for (size_t i = 0; i < pool->count; i++) {
        cut_record *record = &pool->record[i];
        if (pool->hits[i] == 0)
            continue;
        uint32_t room = UINT32_MAX - record->active_count;
        record->active_count += pool->hits[i] < room ? pool->hits[i] : room;
        record->last_active = iteration;
        pool->hits[i] = 0;
    }
}

void cuts_take_back(cut_pool *pool, size_t count)
{
    cuts_truncate(pool, count);
    for (size_t i = 0; i < count; i++) {
        pool->hits[i] = 0;
        pool->record[i].window >>= 1;
    }
}

void cuts_set_rows(cut_pool *pool, const uint32_t *set, size_t count)
{
    for (size_t i = 0; i < pool->set_count; i++)
        pool->in_set[pool->set[i]] = 0;
    for (size_t i = 0; i < count; i++) {
        pool->set[i] = set[i];
        pool->in_set[set[i]] = 1;
    }
    pool->set_count = count;
    pool->version++;
    pool->epoch++;
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
    for (size_t at = 0; at < pool->count; at += CUT_CHUNK) {
        const double *slope = pool->slope[at / CUT_CHUNK];
        size_t left = pool->count - at, count = left < CUT_CHUNK ? left : CUT_CHUNK;
        for (size_t j = from; j < to; j++) {
            double x = state[j];
            for (size_t i = 0; i < count; i++)
                values[at + i] += slope[j * CUT_CHUNK + i] * x;
        }
    }
}

static bool is_known(uint32_t cut, const cut_search *search)
{
    for (size_t i = 0; i < search->known_count; i++)
        if (search->known[i] == cut)
            return true;
    return false;
}

static bool is_violated(const cut_pool *pool, uint32_t cut, double value, const cut_search *search)
{
    if (value <= search->limits[pool->theta[cut]])
        return false;
    return !pool->in_set[cut] && (pool->is_active[cut] || search->with_inactive) &&
           !is_known(cut, search);
}

/* By how much a cut is above the limit of its theta, up to a constant for all cuts. */
static double excess(const cut_pool *pool, const double *values, const cut_search *search,
                     size_t cut)
{
    return pool->thetas > 1 ? values[cut] - search->limits[pool->theta[cut]] : values[cut];
}

size_t cuts_violated(const cut_pool *pool, const double *values, const cut_search *search,
                     uint32_t *out, size_t most)
{
    double lowest = search->limits[0];
    size_t found = 0;

    for (size_t i = 1; i < pool->thetas; i++)
        lowest = search->limits[i] < lowest ? search->limits[i] : lowest;
    for (size_t i = 0; i < pool->count; i++) {
        if (values[i] <= lowest || !is_violated(pool, (uint32_t)i, values[i], search))
            continue;
        double size = excess(pool, values, search, i);
        size_t at = found < most ? found++ : most;
        for (; at > 0 && excess(pool, values, search, out[at - 1]) < size; at--)
            if (at < most)
                out[at] = out[at - 1];
        if (at < most)
            out[at] = (uint32_t)i;
    }
    return found;
}
