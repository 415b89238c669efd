/*
 * model.h - what a hydro plant makes of water, stage by stage: its generation and its evaporation.
 *
 * Built once per case, never changed, read by all threads. Method page, 2.3 and 2.4.
 */
#ifndef HYDRO_MODEL_H
#define HYDRO_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"

/* An upper bound on generation, in MW:
 * G <= intercept + volume * (v_in + v_out) / 2 + turbined * q + spilled * s. */
typedef struct hydro_plane {
    double intercept, volume, turbined, spilled;
} hydro_plane;

typedef struct hydro_model {
    bool is_fpha;        /* generation is limited by planes; else it is productivity * q */
    double productivity; /* MW per m3/s; not fpha */
    const hydro_plane *planes;
    size_t plane_count;
    bool evaporates;
    /* Evaporation, m3/s: base + slope * (v_in + v_out) / 2. */
    double evaporation_base, evaporation_slope;
} hydro_model;

/* A computed fit of one plant, before kappa is applied: for hydro_models/fpha_hyperplanes. */
typedef struct production_fit {
    size_t hydro;
    const cobre_hyperplane *planes; /* stage COBRE_NONE, plane_id from 0 */
    size_t plane_count;
    double volume_min, volume_max, turbined_max; /* of the grid */
} production_fit;

typedef struct hydro_models {
    const hydro_model *at;      /* [stage * hydros + hydro] */
    const production_fit *fits; /* computed ones, by hydro */
    size_t fit_count;
    /* What to tell the user: one line each, naming the plant. */
    const char *const *warnings;
    size_t warning_count;
} hydro_models;

/* A computed fit whose kappa is lower than this is a warning: its planes are far above the
 * production function somewhere, so the scaled ones are far below it elsewhere. */
#define HYDRO_KAPPA_LOW 0.95

/*
 * Build the models of a case. Its arrays are the arena's.
 *
 * A plant's computed planes are fitted once, by the first stage that asks for them, and serve every
 * stage. MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS (planes that the case lacks, or that cannot be used: the
 * text names plant and stage); MCP_E_LIMIT (a grid of too many points)
 */
mcp_status hydro_models_build(hydro_models *out, mcp_arena *arena, const cobre_case *input,
                              mcp_error *err);

#endif
