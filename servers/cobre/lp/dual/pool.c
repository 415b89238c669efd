/*
 * pool.c - values of every active cut at the outgoing states of lanes, in the units of the pool.
 *
 * Many lanes at once: for each cut a loop over a block of lanes, which only tells the lanes that
 * violate one. Few lanes, and those: for each lane a loop over cuts. Both add the terms of a cut in
 * the same order, so they agree to the bit.
 */
#include "lp/dual/pool.h"

#include <math.h>
#include <string.h>

#include "lp/dual/lanes.h"
#include "lp/dual/rows.h"

/* From this many lanes on, they are searched in blocks. */
#define LANES_MANY 4
#define BLOCK 8

/* Cuts whose values are computed at once. */
#define STRIP 64

/* Watched cuts may be violated by half of it. */
#define SEARCH_TOLERANCE (2.0 * FEASIBILITY)
#define SEARCH_RELATIVE (2.0 * FEASIBILITY_RELATIVE)

/* ---- states ---------------------------------------------------------------------------------- */

/* A line is by done lane, padded to whole blocks: entries of the state, then thetas. */
static double *line_of(const dual_work *w, size_t line)
{
    return w->state + line * w->lane_stride;
}

static void write_column(dual_work *w, int column, double *line)
{
    double scale = w->program->column_scale[column];

    if (w->position[column] < 0) {
        for (size_t i = 0; i < w->done_count; i++)
            line[i] = lanes_nonbasic_of(w, column, w->done[i]) * scale;
        return;
    }
    const double *values = task_values(w, w->position[column]);
    for (size_t i = 0; i < w->done_count; i++)
        line[i] = values[w->done[i]] * scale;
}

static void pad(const dual_work *w, double *line)
{
    for (size_t i = w->done_count; i % BLOCK != 0; i++)
        line[i] = 0.0;
}

static void write_states(dual_work *w)
{
    const lp_layout *layout = &w->program->layout;
    size_t lines = layout->dimension + (size_t)w->thetas;

    for (size_t j = 0; j < layout->states; j++)
        write_column(w, layout->state[j], line_of(w, j));
    for (size_t j = layout->states; j < layout->dimension; j++) {
        const double *tail = w->group->tail + (j - layout->states) * w->group->lanes;
        for (size_t i = 0; i < w->done_count; i++)
            line_of(w, j)[i] = tail[w->lane[w->done[i]]];
    }
    for (int k = 0; k < w->thetas; k++)
        write_column(w, program_theta(w->program, k), line_of(w, layout->dimension + (size_t)k));
    for (size_t line = 0; line < lines; line++)
        pad(w, line_of(w, line));
}

/* ---- search ---------------------------------------------------------------------------------- */

static bool is_searched(const dual_work *w, size_t cut)
{
    return !w->is_known[cut] && (!w->cuts->active || w->cuts->active[cut]);
}

static double tolerance_of(const dual_work *w, double intercept, int theta)
{
    return SEARCH_TOLERANCE * w->program->column_scale[theta] + SEARCH_RELATIVE * fabs(intercept);
}

/* What a cut is above theta by in a block of lanes, as far as that is more than in `worst`. */
static void raise_worst(const dual_work *w, size_t cut, size_t block, double *worst)
{
    const lp_cuts *cuts = w->cuts;
    size_t dimension = w->program->layout.dimension;
    int number = cuts->theta ? (int)cuts->theta[cut] : 0;
    const double *slope = cuts->slope[cut / cuts->chunk] + cut % cuts->chunk;
    const double *theta = line_of(w, dimension + (size_t)number) + block;
    double intercept = cuts->intercept[cut], value[BLOCK];
    double tolerance = tolerance_of(w, intercept, program_theta(w->program, number));

    for (int i = 0; i < BLOCK; i++)
        value[i] = intercept;
    for (size_t j = 0; j < dimension; j++) {
        double factor = slope[j * cuts->chunk];
        const double *state = line_of(w, j) + block;
#pragma omp simd
        for (int i = 0; i < BLOCK; i++)
            value[i] += factor * state[i];
    }
#pragma omp simd
    for (int i = 0; i < BLOCK; i++) {
        double excess = (value[i] - theta[i]) - tolerance;
        worst[i] = excess > worst[i] ? excess : worst[i];
    }
}

/* By done lane: above zero where a cut is violated. */
static void find_violating(dual_work *w)
{
    for (size_t block = 0; block < w->done_count; block += BLOCK) {
        double *worst = w->worst + block;
        for (int i = 0; i < BLOCK; i++)
            worst[i] = 0.0;
        for (size_t cut = 0; cut < w->cuts->count; cut++)
            if (is_searched(w, cut))
                raise_worst(w, cut, block, worst);
    }
}

/* The values of a strip of cuts, which is a part of one chunk, at the state of a done lane. */
static void strip_values(const dual_work *w, size_t first, size_t count, size_t at, double *values)
{
    const lp_cuts *cuts = w->cuts;
    const double *slope = cuts->slope[first / cuts->chunk] + first % cuts->chunk;

    for (size_t c = 0; c < count; c++)
        values[c] = cuts->intercept[first + c];
    for (size_t j = 0; j < w->program->layout.dimension; j++) {
        double factor = line_of(w, j)[at];
        const double *from = slope + j * cuts->chunk;
#pragma omp simd
        for (size_t c = 0; c < count; c++)
            values[c] += from[c] * factor;
    }
}

/* Whether a cut of a strip may be above theta by more than `limit`. */
static bool may_exceed(const double *values, size_t count, double theta, double limit)
{
    int found = 0;

#pragma omp simd reduction(| : found)
    for (size_t c = 0; c < count; c++)
        found |= values[c] - theta > limit;
    return found != 0;
}

/* The most violated cut of a done lane, the lowest on ties; NO_CUT: none is. */
static uint32_t most_violated(const dual_work *w, size_t at)
{
    const lp_cuts *cuts = w->cuts;
    size_t dimension = w->program->layout.dimension, count = 0;
    uint32_t best = NO_CUT;
    double worst = 0.0, values[STRIP], only = line_of(w, dimension)[at];
    double least = SEARCH_TOLERANCE * w->program->column_scale[program_theta(w->program, 0)];

    for (size_t first = 0; first < cuts->count; first += count) {
        size_t rest = cuts->chunk - first % cuts->chunk;
        count = cuts->count - first < rest ? cuts->count - first : rest;
        count = count < STRIP ? count : STRIP;
        strip_values(w, first, count, at, values);
        if (w->thetas == 1 && !may_exceed(values, count, only, worst + least))
            continue;
        for (size_t c = 0; c < count; c++) {
            size_t cut = first + c;
            int number = cuts->theta ? (int)cuts->theta[cut] : 0;
            double theta = line_of(w, dimension + (size_t)number)[at];
            double excess = values[c] - theta;
            if (excess <= worst || !is_searched(w, cut))
                continue;
            excess -= tolerance_of(w, cuts->intercept[cut], program_theta(w->program, number));
            if (excess > worst) {
                worst = excess;
                best = (uint32_t)cut;
            }
        }
    }
    return best;
}

static lp_status join(dual_work *w, uint32_t cut)
{
    if (w->is_known[cut])
        return LP_OPTIMAL;
    lp_status end = rows_join(w, cut);
    if (end != LP_OPTIMAL)
        return end;
    int row = w->program->rows + w->slots - 1;
    rows_watch(w, row);
    lanes_compute_row(w, row);
    return LP_OPTIMAL;
}

lp_status pool_search(dual_work *w)
{
    size_t kept = 0, lines;
    lp_status end = LP_OPTIMAL;

    if (!w->cuts || w->cuts->count == 0)
        return LP_OPTIMAL;
    lines = w->program->layout.dimension + (size_t)w->thetas;
    if (!task_reserve_reals(&w->state, &w->state_room, lines * w->lane_stride) ||
        !task_reserve_reals(&w->worst, &w->worst_room, w->lane_stride))
        return LP_NO_MEMORY;
    write_states(w);
    bool in_blocks = w->done_count >= LANES_MANY;
    if (in_blocks)
        find_violating(w);
    for (size_t i = 0; i < w->done_count && end == LP_OPTIMAL; i++) {
        /* It violates a cut that has just joined for another lane, and is not done. */
        if (w->violation[w->done[i]] > 0.0)
            continue;
        uint32_t cut = !in_blocks || w->worst[i] > 0.0 ? most_violated(w, i) : NO_CUT;
        if (cut == NO_CUT)
            w->done[kept++] = w->done[i];
        else
            end = join(w, cut);
    }
    w->done_count = kept;
    return end;
}
