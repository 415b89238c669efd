/*
 * lags.h - how the lags of the inflow model move from stage to stage, and where they start.
 *
 * Method page, 3.1.
 */
#ifndef STOCHASTIC_LAGS_H
#define STOCHASTIC_LAGS_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/inflow.h"

/*
 * Set the members of a model that describe its lags: initial, initial_sum, initial_weight, moves,
 * accumulates. Its stages, hydros and lags are known.
 *
 * means: by hydro, the mean inflow of the first stage, m3/s
 */
mcp_status lags_build(inflow_model *model, mcp_arena *arena, const cobre_case *input,
                      const double *means, mcp_error *err);

/*
 * Let the last stage's period end, or go on, as a study does that continues this one.
 *
 * spill: the share of that stage in the next period; read when it is the last of its own
 */
void lags_continue(lag_move *last, bool is_last, double spill);

#endif
