/*
 * tree.c - sampling of the opening tree and the choice of a path through it.
 *
 * The noises of a stage depend on the seed and the stage's id alone, so the tree does not depend on
 * the order of work. A stage whose predecessor is of its noise group copies the raw values instead
 * of drawing; its openings beyond those of the predecessor stay zero. Then the deviates are
 * correlated, but for those of historical years, which are as correlated as history was. Method
 * page, 4.3.
 */
#include "stochastic/tree.h"

#include <inttypes.h>
#include <string.h>

#include "stochastic/correlation.h"
#include "stochastic/generator.h"
#include "stochastic/history/windows.h"
#include "stochastic/noise.h"
#include "stochastic/normal.h"
#include "stochastic/points/halton.h"
#include "stochastic/points/hypercube.h"
#include "stochastic/points/sobol.h"
#include "stochastic/seed.h"

typedef struct planter {
    const cobre_case *input;
    const inflow_model *model;
    mcp_arena *arena;
    size_t dimension;
    uint32_t *openings;       /* by stage */
    double **noise;           /* by stage */
    uint32_t *scratch;        /* of the largest stage */
    history_windows windows;  /* count 0: no stage is historical */
    cobre_sampling *drawn_by; /* by stage: the method that the raw values come from */
    const uint32_t *groups;
    const correlation *correlation;
} planter;

uint32_t tree_openings_most(const cobre_case *input, size_t stage)
{
    return input->scenarios.openings ? input->scenarios.opening_counts[stage]
                                     : input->stages[stage].openings;
}

double tree_bytes(const cobre_case *input)
{
    double vectors = 0, most = 0;

    for (size_t t = 0; t < input->stage_count; t++) {
        double openings = tree_openings_most(input, t);
        vectors += openings;
        most = openings > most ? openings : most;
    }
    return vectors * (double)noise_dimension(input) * sizeof(double) + most * sizeof(uint32_t) +
           (double)input->stage_count * 64;
}

/* ---- how many openings ----------------------------------------------------------------------- */

static uint32_t limit_by(uint32_t openings, const cobre_external *file, size_t t)
{
    return file->counts && file->counts[t] > 0 && file->counts[t] < openings ? file->counts[t]
                                                                             : openings;
}

/* A stage has no more openings than there are historical years, or external scenarios where the
 * training draws those. */
static uint32_t openings_of(const planter *p, size_t t)
{
    const cobre_scenarios *scenarios = &p->input->scenarios;
    const cobre_scenario_source *source = &p->input->config.training_source;
    uint32_t openings = tree_openings_most(p->input, t);

    if (scenarios->openings)
        return openings;
    if (p->input->stages[t].sampling == COBRE_SAMPLING_HISTORICAL && p->windows.count < openings)
        openings = (uint32_t)p->windows.count;
    if (source->inflow == COBRE_SCHEME_EXTERNAL)
        openings = limit_by(openings, &scenarios->inflow, t);
    if (source->load == COBRE_SCHEME_EXTERNAL)
        openings = limit_by(openings, &scenarios->load, t);
    if (source->ncs == COBRE_SCHEME_EXTERNAL)
        openings = limit_by(openings, &scenarios->ncs, t);
    return openings;
}

/* ---- raw values ------------------------------------------------------------------------------ */

static void draw_openings(double *out, const planter *p, size_t t)
{
    uint32_t id = (uint32_t)p->input->stages[t].id;

    for (uint32_t w = 0; w < p->openings[t]; w++) {
        generator g = generator_seeded(seed_opening(p->input->config.seed, w, id));
        for (size_t i = 0; i < p->dimension; i++)
            out[w * p->dimension + i] = normal_draw(&g);
    }
}

static void copy_history(double *out, const planter *p, size_t t)
{
    size_t hydros = p->input->hydro_count;
    uint32_t id = (uint32_t)p->input->stages[t].id;

    for (uint32_t w = 0; w < p->openings[t]; w++) {
        uint64_t window = seed_opening(p->input->config.seed, w, id) % p->windows.count;
        const double *residuals = p->windows.noise + (window * p->input->stage_count + t) * hydros;
        for (size_t h = 0; h < hydros; h++)
            out[w * p->dimension + h] = residuals[h];
    }
}

static mcp_status refuse(const planter *p, size_t t, mcp_status st, const char *why, mcp_error *err)
{
    return mcp_error_set(err, st, "stages.json: stage %" PRId32 ": %s", p->input->stages[t].id,
                         why);
}

static mcp_status draw_stage(planter *p, size_t t, mcp_error *err)
{
    const cobre_stage *stage = &p->input->stages[t];
    uint64_t seed = seed_stage(p->input->config.seed, (uint32_t)stage->id);
    double *out = p->noise[t];

    p->drawn_by[t] = stage->sampling;
    switch (stage->sampling) {
    case COBRE_SAMPLING_SAA:
        draw_openings(out, p, t);
        return MCP_OK;
    case COBRE_SAMPLING_LHS:
        hypercube_fill(out, p->openings[t], p->dimension, seed, p->scratch);
        return MCP_OK;
    case COBRE_SAMPLING_SOBOL:
        if (p->dimension > sobol_dimensions())
            return refuse(p, t, MCP_E_LIMIT, "qmc_sobol takes at most 1000 stochastic entities",
                          err);
        sobol_fill(out, p->openings[t], p->dimension, seed);
        return MCP_OK;
    case COBRE_SAMPLING_HALTON:
        if (p->dimension > HALTON_DIMENSIONS)
            return refuse(p, t, MCP_E_LIMIT, "qmc_halton takes at most 1000 stochastic entities",
                          err);
        halton_fill(out, p->openings[t], p->dimension, seed);
        return MCP_OK;
    case COBRE_SAMPLING_HISTORICAL:
        copy_history(out, p, t);
        return MCP_OK;
    default:
        return refuse(p, t, MCP_E_PARAMS,
                      "sampling_method 'selective' has no algorithm; take saa, lhs, qmc_sobol, "
                      "qmc_halton or historical_residuals",
                      err);
    }
}

static mcp_status fill_stage(planter *p, size_t t, mcp_error *err)
{
    if (t == 0 || p->groups[t] != p->groups[t - 1])
        return draw_stage(p, t, err);
    uint32_t shared = p->openings[t] < p->openings[t - 1] ? p->openings[t] : p->openings[t - 1];
    if (shared * p->dimension > 0)
        memcpy(p->noise[t], p->noise[t - 1], shared * p->dimension * sizeof(double));
    p->drawn_by[t] = p->drawn_by[t - 1];
    return MCP_OK;
}

static void correlate_stage(const planter *p, size_t t)
{
    if (p->drawn_by[t] == COBRE_SAMPLING_HISTORICAL)
        return;
    for (uint32_t w = 0; w < p->openings[t]; w++) {
        for (int c = 0; c < NOISE_CLASSES; c++)
            correlation_apply(p->correlation, t, (cobre_noise_class)c,
                              p->noise[t] + w * p->dimension);
    }
}

/* ---- the case's own openings ----------------------------------------------------------------- */

/* They hold hydros and buses, final as they stand; sources have no noise then. */
static void copy_openings(const planter *p)
{
    size_t given = noise_of_class(p->input, COBRE_CLASS_NCS).first;

    for (size_t t = 0; t < p->input->stage_count; t++) {
        const double *from = p->input->scenarios.openings[t];
        for (size_t i = 0; i < p->openings[t] * given; i++)
            p->noise[t][i / given * p->dimension + i % given] = from[i];
    }
}

/* ---- the tree -------------------------------------------------------------------------------- */

static mcp_status make_arrays(planter *p, mcp_error *err)
{
    size_t count = p->input->stage_count;
    uint32_t most = 0;

    p->openings = mcp_arena_array(p->arena, count, sizeof *p->openings);
    p->noise = mcp_arena_array(p->arena, count, sizeof *p->noise);
    p->drawn_by = mcp_arena_array(p->arena, count, sizeof *p->drawn_by);
    p->groups = noise_groups(p->input, p->arena);
    if (!p->openings || !p->noise || !p->drawn_by || !p->groups)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the opening tree");
    for (size_t t = 0; t < count; t++) {
        p->openings[t] = openings_of(p, t);
        most = p->openings[t] > most ? p->openings[t] : most;
        p->noise[t] = mcp_arena_array(p->arena, p->openings[t], p->dimension * sizeof(double));
        if (!p->noise[t])
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for the openings of stage %" PRId32,
                                 p->input->stages[t].id);
    }
    p->scratch = mcp_arena_array(p->arena, most, sizeof *p->scratch);
    return p->scratch ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for the opening tree");
}

static mcp_status find_windows(planter *p, mcp_error *err)
{
    const cobre_scenario_source *source = &p->input->config.training_source;

    for (size_t t = 0; t < p->input->stage_count; t++) {
        if (p->input->stages[t].sampling == COBRE_SAMPLING_HISTORICAL)
            return windows_build(&p->windows, p->arena, p->input, p->model, source->years,
                                 source->year_count, err);
    }
    return MCP_OK;
}

static mcp_status plant(planter *p, mcp_error *err)
{
    bool given = p->input->scenarios.openings;
    mcp_status st = given ? MCP_OK : find_windows(p, err);

    if (st == MCP_OK)
        st = make_arrays(p, err);
    if (st == MCP_OK && given)
        copy_openings(p);
    if (st == MCP_OK && !given)
        st = correlation_new(&p->correlation, p->arena, p->input, &p->model->tables, err);
    for (size_t t = 0; t < p->input->stage_count && st == MCP_OK && !given; t++)
        st = fill_stage(p, t, err);
    for (size_t t = 0; t < p->input->stage_count && st == MCP_OK && !given; t++)
        correlate_stage(p, t);
    return st;
}

mcp_status tree_sample(const noise_tree **out, mcp_arena *arena, const cobre_case *input,
                       const inflow_model *model, mcp_error *err)
{
    planter p = {
        .input = input, .model = model, .arena = arena, .dimension = noise_dimension(input)
    };
    noise_tree *made = mcp_arena_alloc(arena, sizeof *made);

    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the opening tree");
    mcp_status st = plant(&p, err);
    if (st != MCP_OK)
        return st;
    *made = (noise_tree){ p.dimension, input->stage_count, p.openings, p.noise };
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
