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

#endif
