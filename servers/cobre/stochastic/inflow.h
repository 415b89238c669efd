/*
 * inflow.h - the inflow model PAR(p): the inflow of each hydro at each stage as a function of the
 * inflows before and of a noise.
 *
 * inflow = base + sum over l of psi[l] * lag(l + 1) + sigma * noise, in m3/s. Built once per case,
 * from the case's statistics or estimated from its history; never changed, read by all threads.
 * Method page, 3 and 14.
 */
#ifndef STOCHASTIC_INFLOW_H
#define STOCHASTIC_INFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/tables.h"

/* How a stage's realized inflow z moves the lags (method page, 3.1). A stage that is a whole period
 * has weight 1, spill 0 and is_last. */
typedef struct lag_move {
    double weight; /* of the stage in the mean of the period: its share, or 1 where it is alone */
    double share;  /* of the period that the stage covers */
    double spill;  /* share of the next period */
    bool begins;   /* no stage before has a share in the period */
    bool is_last;  /* the period ends: its mean becomes lag 1 */
    bool
        is_frozen; /* "cobre-0.5" without months: a path's lags stay, cuts move them all the same */
    /* The first stage of longer periods (quarters after months): the lags become these means of
     * earlier stages' inflows, most recent first; NULL elsewhere. */
    const struct lag_rebuild *rebuild;
} lag_move;

/* Lag l becomes the sum over the stages from `first` on of share[i] * z(first + i). */
typedef struct lag_rebuild {
    size_t lags;
    const size_t *first, *count; /* by lag */
    const double *const *share;  /* by lag: [count] */
} lag_rebuild;

typedef struct inflow_model {
    size_t stages, hydros;
    size_t lags;                /* L: 0 when no inflow depends on another */
    const double *base, *sigma; /* [stage * hydros + hydro], m3/s */
    const double *psi;          /* [(stage * hydros + hydro) * lags + l] */
    const uint32_t *order;      /* [stage * hydros + hydro]: lags that psi uses */
    const double *initial;      /* [l * hydros + hydro]: the lags before the first stage */
    /* The accumulator before the first stage: sum of weight * inflow, and the weight. */
    const double *initial_sum; /* by hydro */
    double initial_weight;
    const lag_move *moves; /* by stage */
    bool accumulates;      /* some stage is a part of a period: accumulators are states */
    inflow_tables tables;
} inflow_model;

/*
 * Build the model of a case, estimating what its files leave out. Its arrays are the arena's.
 *
 * MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS (too few observations, an order without a season, ...: the
 * text names hydro and stage)
 */
mcp_status inflow_model_build(inflow_model *out, mcp_arena *arena, const cobre_case *input,
                              mcp_error *err);

/* The inflow of a hydro without its noise: base and lags. `lags` is [l * hydros + hydro]. */
double inflow_certain(const inflow_model *model, size_t stage, size_t hydro, const double *lags);

#endif
