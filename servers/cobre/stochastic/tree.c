/*
 * tree.c - sampling of the opening tree and the choice of a path through it.
 *
 * Every opening has a generator of its own, so the tree does not depend on the order of work.
 * Stages of one season that start in the same year form a noise group and share their noise (weeks
 * of one month, say): a stage whose predecessor is of its group copies the raw values instead of
 * drawing; its openings beyond those of the predecessor stay zero. Method page, 4.3.
 */
#include "stochastic/tree.h"

#include <string.h>

#include "stochastic/generator.h"
#include "stochastic/normal.h"
#include "stochastic/seed.h"

static size_t dimension_of(const cobre_case *input)
{
    size_t dimension = input->hydro_count;

    for (size_t b = 0; b < input->bus_count; b++)
        dimension += input->bus_is_stochastic[b];
    return dimension;
}

double tree_bytes(const cobre_case *input)
{
    double vectors = 0;

    for (size_t t = 0; t < input->stage_count; t++)
        vectors += input->stages[t].openings;
    return vectors * (double)dimension_of(input) * sizeof(double) + (double)input->stage_count * 64;
}

/* Dates are YYYY-MM-DD: the year ends at the first dash. */
static bool same_year(const char *a, const char *b)
{
    size_t length = strcspn(a, "-");
    return length == strcspn(b, "-") && strncmp(a, b, length) == 0;
}

static bool same_group(const cobre_stage *a, const cobre_stage *b)
{
    return a->has_season && b->has_season && a->season_id == b->season_id &&
           same_year(a->start_date, b->start_date);
}

static void draw_stage(double *out, const cobre_stage *stage, size_t dimension, uint64_t seed)
{
    for (uint32_t w = 0; w < stage->openings; w++) {
        generator g = generator_seeded(seed_opening(seed, w, (uint32_t)stage->id));
        for (size_t i = 0; i < dimension; i++)
            out[w * dimension + i] = normal_draw(&g);
    }
}

static void fill_stage(double *const *noise, const cobre_case *input, size_t t, size_t dimension)
{
    const cobre_stage *stage = &input->stages[t], *before = stage - 1;

    if (t == 0 || !same_group(before, stage)) {
        draw_stage(noise[t], stage, dimension, input->config.seed);
        return;
    }
    size_t shared = stage->openings < before->openings ? stage->openings : before->openings;
    if (shared * dimension > 0)
        memcpy(noise[t], noise[t - 1], shared * dimension * sizeof(double));
}

mcp_status tree_sample(const noise_tree **out, mcp_arena *arena, const cobre_case *input,
                       mcp_error *err)
{
    size_t count = input->stage_count, dimension = dimension_of(input);
    noise_tree *made = mcp_arena_alloc(arena, sizeof *made);
    uint32_t *openings = mcp_arena_array(arena, count, sizeof *openings);
    double **noise = mcp_arena_array(arena, count, sizeof *noise);

    if (!made || !openings || !noise)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the opening tree");
    for (size_t t = 0; t < count; t++) {
        openings[t] = input->stages[t].openings;
        noise[t] = mcp_arena_array(arena, openings[t], dimension * sizeof(double));
        if (!noise[t])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the openings of stage %zu", t);
        fill_stage(noise, input, t, dimension);
    }
    *made = (noise_tree){ dimension, count, openings, noise };
    *out = made;
    return MCP_OK;
}

const double *tree_noise(const noise_tree *tree, size_t stage, uint32_t opening)
{
    return tree->noise[stage] + opening * tree->dimension;
}

uint32_t tree_choose(const noise_tree *tree, uint64_t seed, uint32_t iteration, uint32_t scenario,
                     size_t stage)
{
    generator g = generator_seeded(seed_forward(seed, iteration, scenario, (uint32_t)stage));
    return generator_below(&g, tree->openings[stage]);
}
