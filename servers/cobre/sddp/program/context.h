/*
 * context.h - what the programs of a case are built from, and one stage of it.
 *
 * Made once per study, never changed, read by all threads.
 */
#ifndef SDDP_PROGRAM_CONTEXT_H
#define SDDP_PROGRAM_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "hydro/model.h"
#include "sddp/program/state.h"
#include "stochastic/inflow.h"

#define COST_SCALE 1000.0
#define HM3_PER_M3S_HOUR 0.0036

typedef struct program_context {
    const cobre_case *input;
    const hydro_model *models; /* [stage * hydros + hydro] */
    const inflow_model *inflow;
    state_table state;
    const size_t *openings;   /* multi-cut: by stage, of the stage that follows; else NULL */
    const double *floor;      /* by stage: the future cost is no less, currency */
    const size_t *constraint; /* by stage, stages + 1: its first constraint row */
    bool extends;             /* method page, 16, is in effect: not compatibility "cobre-0.5" */
} program_context;

/* The models of a case; borrowed by its context. */
typedef struct program_models {
    inflow_model inflow;
    hydro_models hydro;
} program_models;

/* MCP_OK; otherwise as inflow_model_build and hydro_models_build. */
mcp_status program_models_build(program_models *out, mcp_arena *arena, const cobre_case *input,
                                mcp_error *err);

/*
 * Collect what all stages need. Everything but the context itself is the arena's.
 *
 * openings: with multi-cut, by stage: those of the stage itself; NULL: one theta a stage
 *
 * MCP_OK; MCP_E_NOMEM
 */
mcp_status program_context_make(program_context *out, mcp_arena *arena, const cobre_case *input,
                                const program_models *models, const uint32_t *openings,
                                mcp_error *err);

/*
 * The study continues behind its last stage, at a future cost of no less than `least`, which is
 * zero or negative, in currency: all floors are lower by so much.
 *
 * MCP_OK; MCP_E_NOMEM
 */
mcp_status program_context_lower_floors(program_context *context, mcp_arena *arena, double least,
                                        mcp_error *err);

/* The stage that follows on stage t; COBRE_NONE at the end of a finite horizon. */
size_t program_next_stage(const cobre_case *input, size_t t);

/* One stage, as the rules of regions.h look at it. */
typedef struct program_site {
    const program_context *context;
    const cobre_case *input;
    const cobre_stage *stage;
    size_t t, blocks;
    size_t segments, planes; /* the largest numbers of a bus and of a plant */
    size_t balances;         /* water balances of a plant: blocks when chronological, else 1 */
    size_t openings;         /* of the next stage with multi-cut; 0: one theta */
    bool has_future;         /* a stage or a boundary policy follows */
    const cobre_constraint_row *constraints;
    size_t constraint_count;
} program_site;

program_site program_site_of(const program_context *context, size_t t);

static inline const cobre_hydro_stage *site_hydro(const program_site *site, size_t hydro)
{
    return &site->input->hydro_stages[site->t * site->input->hydro_count + hydro];
}

static inline const cobre_bus_stage *site_bus(const program_site *site, size_t bus)
{
    return &site->input->bus_stages[site->t * site->input->bus_count + bus];
}

static inline double site_hours(const program_site *site, size_t block)
{
    return site->stage->blocks[block].hours;
}

/* How a plant takes part in the stage. */
cobre_hydro_phase site_phase(const program_site *site, size_t hydro);

const hydro_model *site_model(const program_site *site, size_t hydro);

bool site_is_fpha(const program_site *site, size_t hydro);
bool site_evaporates(const program_site *site, size_t hydro);

/* MW per m3/s, of a plant without production function. */
double site_productivity(const program_site *site, size_t hydro);

#endif
