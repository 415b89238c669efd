/*
 * fit.h - a periodic autoregressive model for one hydro: Yule-Walker equations, orders by partial
 * autocorrelation, and reductions that keep every contribution of a lag positive.
 *
 * Coefficients relate standardized inflows. With annual tracks every season has an annual
 * coefficient as well, that of the year which ends with the season before. Method page, 14.
 */
#ifndef STOCHASTIC_HISTORY_FIT_H
#define STOCHASTIC_HISTORY_FIT_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/history/tracks.h"

/* The highest order that can be asked for. */
#define FIT_ORDER_MAX 60

typedef struct season_fit {
    uint32_t order;
    double *coefficients;  /* [order] */
    double annual;         /* 0 without annual tracks */
    double residual_ratio; /* deviation of the noise / deviation of the inflow */
} season_fit;

/* A season whose order was lowered. */
typedef struct fit_reduction {
    uint32_t season;
    uint32_t original_order, reduced_order;
    const double *contributions; /* of the lags at the original order; NULL: not the reason */
    size_t contribution_count;
    const char *reason;
} fit_reduction;

typedef struct hydro_fit {
    uint32_t seasons;
    season_fit *of_season;
    const fit_reduction *reductions; /* by season */
    size_t reduction_count;
} hydro_fit;

/*
 * Fit all seasons of a hydro.
 *
 * out's arrays are the arena's. MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (max_order is too high)
 */
mcp_status fit_hydro(hydro_fit *out, mcp_arena *arena, const hydro_tracks *tracks,
                     const cobre_estimation *settings, mcp_error *err);

/*
 * Solve a x = b by Gaussian elimination with partial pivoting; `a` [row * count + column] and `b`
 * are overwritten, b with x. false: a pivot is below 2.2e-16.
 */
bool fit_solve(double *a, double *b, size_t count);

#endif
