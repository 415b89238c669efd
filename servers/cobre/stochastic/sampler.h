/*
 * sampler.h - draws the noises of forward paths: per class, in sample, out of sample, external or
 * historical.
 *
 * Built once per case and never changed; a draw depends on its arguments alone, so threads share
 * it. Noise vectors have a deviate per hydro, then one per stochastic bus, then one per stochastic
 * source, in id order. Method page, 4.4 and 9.
 */
#ifndef STOCHASTIC_SAMPLER_H
#define STOCHASTIC_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/inflow.h"
#include "stochastic/tree.h"

typedef struct sampler sampler;

/* Which path, and where on it. */
typedef struct sampler_path {
    uint32_t iteration; /* from 1; 0: a simulation */
    uint32_t scenario;  /* from 0 */
    uint32_t scenarios; /* of the iteration or the simulation */
} sampler_path;

/*
 * A sampler by a scenario source of the case.
 *
 * out is the arena's; the others are borrowed while it lives. MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS (no
 * valid historical year, an external file without a stage, ...)
 */
mcp_status sampler_new(const sampler **out, mcp_arena *arena, const cobre_case *input,
                       const cobre_scenario_source *source, const inflow_model *model,
                       const noise_tree *tree, mcp_error *err);

/*
 * The noise of a path at a stage.
 *
 * position: the stage's place on the path; the stage's index unless a cycle repeats stages
 * lags:     the path's lags there, [l * hydros + hydro]; read by the external scheme alone
 * noise:    receives `dimension` of the tree values
 * return:   the opening drawn, or -1 when no class is in sample
 */
int32_t sampler_draw(const sampler *s, const sampler_path *path, size_t stage, size_t position,
                     const double *lags, double *noise);

/* The lags that a path starts with where its scheme (historical) sets them; false: the model's. */
bool sampler_initial_lags(const sampler *s, const sampler_path *path, double *lags);

#endif
