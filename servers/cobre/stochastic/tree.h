/*
 * tree.h - the opening tree: the finite set of noises of each stage.
 *
 * Built once before training, never changed, read by all threads. A noise is one vector per stage
 * and opening; noise.h says whose deviates it holds. The openings of a stage are equally likely.
 * Method page, 4.3 and 4.4.
 */
#ifndef STOCHASTIC_TREE_H
#define STOCHASTIC_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/inflow.h"

typedef struct noise_tree {
    size_t dimension; /* of a noise vector */
    size_t stage_count;
    const uint32_t *openings; /* by stage */
    double *const *noise;     /* by stage: [opening * dimension + i] */
} noise_tree;

/*
 * Sample the tree of a case by the method of each stage, or take the case's own openings.
 *
 * model: gives the residuals of historical years, and the correlation
 * out is the arena's; the others are not kept. MCP_OK; MCP_E_NOMEM (also when the arena's bound is
 * reached); MCP_E_PARAMS (a method that cannot be used: the text names the stage); MCP_E_LIMIT
 */
mcp_status tree_sample(const noise_tree **out, mcp_arena *arena, const cobre_case *input,
                       const inflow_model *model, mcp_error *err);

/* The most openings that a stage's tree can have: the case's own, else num_scenarios, of which
 * history and external files may leave fewer. */
uint32_t tree_openings_most(const cobre_case *input, size_t stage);

/* The number of bytes that tree_sample needs at most, history apart; a double, so that it cannot
 * overflow. */
double tree_bytes(const cobre_case *input);

/* The noise of one opening. */
const double *tree_noise(const noise_tree *tree, size_t stage, uint32_t opening);

/* The opening of a forward path at a stage: in-sample choice by (seed, iteration, scenario,
 * stage). */
uint32_t tree_choose(const noise_tree *tree, uint64_t seed, uint32_t iteration, uint32_t scenario,
                     size_t stage);

#endif
