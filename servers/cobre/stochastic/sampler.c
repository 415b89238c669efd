/*
 * sampler.c - one noise vector, class by class, each by its scheme.
 *
 * In sample, all classes take their part of one opening. Out of sample, a class draws by the
 * method of the stage: points of a hypercube, of Sobol or Halton are spread over the paths of an
 * iteration, which share a seed and differ in their index. Stages of one noise group draw the same.
 * External and historical classes follow one scenario or year along the whole path.
 *
 * Simulations count as iteration 0, with scenario numbers from 2^31 - 1 on in the seeds, so that
 * they share no draw with training; the index of a point is the plain number. The original seeds
 * all classes alike, which makes their deviates equal: here each has a seed and dimensions of its
 * own, unless "cobre-0.5" is set.
 */
#include "stochastic/sampler.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
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

#define SIMULATION_OFFSET 2147483647u
#define HISTORY_SEED 0x686973746f726963u  /* "historic" */
#define EXTERNAL_SEED 0x65787465726e616cu /* "external" */

typedef struct noise_class {
    cobre_scheme scheme;
    noise_range range;
    uint64_t seed;              /* out of sample */
    size_t first_dimension;     /* of Sobol and Halton points */
    const cobre_external *file; /* external */
    uint32_t scenarios;         /* external: of its longest stage */
    size_t *entities;           /* by place in the range: hydro, bus or source */
} noise_class;

struct sampler {
    const cobre_case *input;
    const inflow_model *model;
    const noise_tree *tree;
    noise_class classes[NOISE_CLASSES];
    const correlation *correlation;
    const uint32_t *groups; /* by stage */
    history_windows windows;
    bool is_in_sample; /* a class with places is in sample, or no class has any */
};

/* ---- making ---------------------------------------------------------------------------------- */

static mcp_status find_entities(noise_class *c, cobre_noise_class class, mcp_arena *arena,
                                const cobre_case *input, mcp_error *err)
{
    const size_t counts[] = { input->hydro_count, input->bus_count, input->source_count };

    c->entities = mcp_arena_array(arena, c->range.count, sizeof *c->entities);
    if (!c->entities)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the sampler");
    for (size_t i = 0; i < counts[class]; i++) {
        size_t place = noise_place(input, class, i);
        if (place != COBRE_NONE)
            c->entities[place - c->range.first] = i;
    }
    return MCP_OK;
}

/* The mean without lags and the deviation of an external class; an inflow's mean is not used. */
static void moments_of(const sampler *s, size_t class, size_t stage, size_t entity, double *mean,
                       double *std)
{
    const cobre_case *input = s->input;

    *mean = 0.0;
    if (class == COBRE_CLASS_INFLOW) {
        *std = s->model->sigma[stage * input->hydro_count + entity];
    } else if (class == COBRE_CLASS_LOAD) {
        *mean = input->bus_stages[stage * input->bus_count + entity].load_mean;
        *std = input->bus_stages[stage * input->bus_count + entity].load_std;
    } else {
        *mean = input->source_stages[stage * input->source_count + entity].mean;
        *std = input->source_stages[stage * input->source_count + entity].std;
    }
}

static const char *const external_paths[] = { "scenarios/external_inflow_scenarios.parquet",
                                              "scenarios/external_load_scenarios.parquet",
                                              "scenarios/external_ncs_scenarios.parquet" };

/* Every stochastic entity needs a value in every scenario of every stage. */
static mcp_status check_values(const sampler *s, size_t class, size_t t, mcp_error *err)
{
    const noise_class *c = &s->classes[class];
    const cobre_stage *stage = &s->input->stages[t];
    double mean, std;

    if (c->file->counts[t] == 0)
        return mcp_error_set(err, MCP_E_PARAMS, "%s: no scenario for stage %" PRId32,
                             external_paths[class], stage->id);
    for (size_t i = 0; i < c->file->counts[t] * c->range.count; i++) {
        size_t entity = c->entities[i % c->range.count], scenario = i / c->range.count;
        moments_of(s, class, t, entity, &mean, &std);
        if (std > 0.0 && isnan(c->file->values[t][scenario * c->file->entities + entity]))
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "%s: scenario %zu of stage %" PRId32
                                 " lacks a value of %s %" PRId32,
                                 external_paths[class], scenario, stage->id,
                                 class == COBRE_CLASS_INFLOW ? "hydro"
                                 : class == COBRE_CLASS_LOAD ? "bus"
                                                             : "source",
                                 class == COBRE_CLASS_INFLOW ? s->input->hydros[entity].id
                                 : class == COBRE_CLASS_LOAD ? s->input->buses[entity].id
                                                             : s->input->sources[entity].id);
    }
    return MCP_OK;
}

static mcp_status open_external(sampler *s, size_t class, mcp_error *err)
{
    const cobre_external *const files[] = { &s->input->scenarios.inflow, &s->input->scenarios.load,
                                            &s->input->scenarios.ncs };
    noise_class *c = &s->classes[class];

    c->file = files[class];
    if (!c->file->counts)
        return mcp_error_set(err, MCP_E_PARAMS, "%s: a scheme 'external' needs this file",
                             external_paths[class]);
    for (size_t t = 0; t < s->input->stage_count; t++) {
        mcp_status st = check_values(s, class, t, err);
        if (st != MCP_OK)
            return st;
        if (c->file->counts[t] > c->scenarios)
            c->scenarios = c->file->counts[t];
    }
    return MCP_OK;
}

/* Whether the methods of the stages can give the points that the case asks for. */
static mcp_status check_methods(const sampler *s, mcp_error *err)
{
    const cobre_config *config = &s->input->config;
    uint32_t most = config->forward_passes;

    if (config->simulation_enabled && config->simulation_scenarios > most)
        most = config->simulation_scenarios;
    for (size_t t = 0; t < s->input->stage_count; t++) {
        cobre_sampling method = s->input->stages[t].sampling;
        if (method == COBRE_SAMPLING_LHS && most > HYPERCUBE_POINTS_MAX)
            return mcp_error_set(err, MCP_E_LIMIT,
                                 "stages.json: stage %" PRId32
                                 ": lhs out of sample takes at most %d scenarios; take qmc_sobol "
                                 "or saa",
                                 s->input->stages[t].id, HYPERCUBE_POINTS_MAX);
        if ((method == COBRE_SAMPLING_SOBOL && s->tree->dimension > sobol_dimensions()) ||
            (method == COBRE_SAMPLING_HALTON && s->tree->dimension > HALTON_DIMENSIONS))
            return mcp_error_set(err, MCP_E_LIMIT,
                                 "stages.json: stage %" PRId32
                                 ": qmc_sobol and qmc_halton take at most 1000 stochastic entities",
                                 s->input->stages[t].id);
    }
    return MCP_OK;
}

static mcp_status open_class(sampler *s, size_t class, mcp_arena *arena,
                             const cobre_scenario_source *source, mcp_error *err)
{
    noise_class *c = &s->classes[class];
    bool original = s->input->config.original_arithmetic;
    mcp_status st = find_entities(c, (cobre_noise_class) class, arena, s->input, err);

    c->seed = s->input->config.training_source.seed;
    if (class > 0 && !original)
        c->seed = seed_stage(c->seed, (uint32_t) class);
    c->first_dimension = original ? 0 : c->range.first;
    if (st != MCP_OK || c->range.count == 0)
        return st;
    if (c->scheme == COBRE_SCHEME_OUT_OF_SAMPLE)
        return check_methods(s, err);
    if (c->scheme == COBRE_SCHEME_EXTERNAL)
        return open_external(s, class, err);
    if (c->scheme == COBRE_SCHEME_HISTORICAL)
        return windows_build(&s->windows, arena, s->input, s->model, source->years,
                             source->year_count, err);
    return MCP_OK;
}

mcp_status sampler_new(const sampler **out, mcp_arena *arena, const cobre_case *input,
                       const cobre_scenario_source *source, const inflow_model *model,
                       const noise_tree *tree, mcp_error *err)
{
    const cobre_scheme schemes[] = { source->inflow, source->load, source->ncs };
    sampler *made = mcp_arena_alloc(arena, sizeof *made);

    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the sampler");
    *made = (sampler){ .input = input, .model = model, .tree = tree };
    made->is_in_sample = tree->dimension == 0;
    made->groups = noise_groups(input, arena);
    if (!made->groups)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the sampler");
    mcp_status st = correlation_new(&made->correlation, arena, input, &model->tables, err);
    for (size_t c = 0; c < NOISE_CLASSES && st == MCP_OK; c++) {
        made->classes[c].scheme = schemes[c];
        made->classes[c].range = noise_of_class(input, (cobre_noise_class)c);
        if (made->classes[c].range.count > 0 && schemes[c] == COBRE_SCHEME_IN_SAMPLE)
            made->is_in_sample = true;
        st = open_class(made, c, arena, source, err);
    }
    if (st == MCP_OK)
        *out = made;
    return st;
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* The scenario's number in seeds. */
static uint32_t scenario_number(const sampler_path *path)
{
    if (path->iteration > 0)
        return path->scenario;
    return path->scenario > UINT32_MAX - SIMULATION_OFFSET ? UINT32_MAX
                                                           : path->scenario + SIMULATION_OFFSET;
}

static void draw_normals(double *out, size_t count, uint64_t seed)
{
    generator g = generator_seeded(seed);

    for (size_t i = 0; i < count; i++)
        out[i] = normal_draw(&g);
}

/* `group`: the stage's noise group, further on in each round of a cycle. */
static void draw_method(const sampler *s, const noise_class *c, const sampler_path *path,
                        size_t stage, uint32_t group, double *out)
{
    uint32_t scenario = scenario_number(path);
    uint64_t shared = seed_opening(c->seed, path->iteration, group);

    switch (s->input->stages[stage].sampling) {
    case COBRE_SAMPLING_LHS:
        assert(path->scenarios <= HYPERCUBE_POINTS_MAX);
        hypercube_point(out, c->range.count, path->scenario, path->scenarios, shared,
                        seed_forward(c->seed, path->iteration, scenario, group));
        break;
    case COBRE_SAMPLING_SOBOL:
        sobol_point(out, c->first_dimension, c->range.count, path->scenario, shared);
        break;
    case COBRE_SAMPLING_HALTON:
        halton_point(out, c->first_dimension, c->range.count, path->scenario, path->scenarios,
                     shared);
        break;
    default:
        draw_normals(out, c->range.count, seed_grouped(c->seed, path->iteration, scenario, group));
    }
}

static void draw_external(const sampler *s, size_t class, const sampler_path *path, size_t stage,
                          const double *lags, double *out)
{
    const noise_class *c = &s->classes[class];
    uint64_t hash = seed_forward(EXTERNAL_SEED, path->iteration, scenario_number(path), 0);
    size_t scenario = hash % c->scenarios % c->file->counts[stage];
    const double *values = c->file->values[stage] + scenario * c->file->entities;

    for (size_t i = 0; i < c->range.count; i++) {
        size_t entity = c->entities[i];
        double mean, std;
        moments_of(s, class, stage, entity, &mean, &std);
        if (class == COBRE_CLASS_INFLOW)
            mean = inflow_certain(s->model, stage, entity, lags);
        out[i] = std > 0.0 ? (values[entity] - mean) / std : 0.0;
    }
}

static size_t window_of(const sampler *s, const sampler_path *path)
{
    return seed_forward(HISTORY_SEED, path->iteration, scenario_number(path), 0) % s->windows.count;
}

static void draw_class(const sampler *s, size_t class, const sampler_path *path, size_t stage,
                       size_t position, const double *lags, double *noise)
{
    const noise_class *c = &s->classes[class];
    double *out = noise + c->range.first;

    if (c->scheme == COBRE_SCHEME_EXTERNAL) {
        draw_external(s, class, path, stage, lags, out);
    } else if (c->scheme == COBRE_SCHEME_HISTORICAL) {
        size_t hydros = c->range.count, at = window_of(s, path) * s->input->stage_count + stage;
        memcpy(out, s->windows.noise + at * hydros, hydros * sizeof *out);
    } else {
        draw_method(s, c, path, stage, s->groups[stage] + (uint32_t)(position - stage), out);
        correlation_apply(s->correlation, stage, (cobre_noise_class) class, noise);
    }
}

/* As tree_choose, but the seed takes the position: each round of a cycle has its own choice. */
static uint32_t choose(const sampler *s, const sampler_path *path, size_t stage, size_t position)
{
    generator g = generator_seeded(seed_forward(s->input->config.seed, path->iteration,
                                                scenario_number(path), (uint32_t)position));
    return generator_below(&g, s->tree->openings[stage]);
}

int32_t sampler_draw(const sampler *s, const sampler_path *path, size_t stage, size_t position,
                     const double *lags, double *noise)
{
    int32_t opening = s->is_in_sample ? (int32_t)choose(s, path, stage, position) : -1;

    for (size_t i = 0; i < NOISE_CLASSES; i++) {
        const noise_class *c = &s->classes[i];
        if (c->range.count == 0)
            continue;
        if (c->scheme != COBRE_SCHEME_IN_SAMPLE)
            draw_class(s, i, path, stage, position, lags, noise);
        else
            memcpy(noise + c->range.first,
                   tree_noise(s->tree, stage, (uint32_t)opening) + c->range.first,
                   c->range.count * sizeof *noise);
    }
    return opening;
}

bool sampler_initial_lags(const sampler *s, const sampler_path *path, double *lags)
{
    if (s->windows.count == 0)
        return false;
    if (s->windows.lag_count > 0)
        memcpy(lags, s->windows.lags + window_of(s, path) * s->windows.lag_count,
               s->windows.lag_count * sizeof *lags);
    return true;
}
