/*
 * residuals.h - the correlation of inflows across hydros, from what their models leave unexplained.
 *
 * Method page, 14.
 */
#ifndef STOCHASTIC_HISTORY_RESIDUALS_H
#define STOCHASTIC_HISTORY_RESIDUALS_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/history/fit.h"
#include "stochastic/history/series.h"
#include "stochastic/history/tracks.h"

/* The correlation of a case as correlation.json would give it. */
typedef struct residual_profiles {
    const cobre_correlation_profile *profiles; /* `default`, then season_XX */
    size_t count;                              /* 0 without hydros */
    const size_t *of_stage;
} residual_profiles;

/*
 * Correlate the residuals of all hydros: one profile of all seasons, and one for each season in
 * which every two hydros have 30 common dates.
 *
 * tracks, fits: by hydro
 * out's arrays are the arena's. MCP_OK; MCP_E_NOMEM
 */
mcp_status residuals_correlate(residual_profiles *out, mcp_arena *arena, const cobre_case *input,
                               const history_series *series, const hydro_tracks *tracks,
                               const hydro_fit *fits, mcp_error *err);

#endif
