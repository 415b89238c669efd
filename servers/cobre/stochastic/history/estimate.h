/*
 * estimate.h - the tables of the inflow model from the inflow history, as far as the case does not
 * give them.
 *
 * Estimation runs when there is a history and statistics and coefficients are not both given. What
 * is given goes into the tables as it is: given statistics replace those estimated, and a given
 * correlation always wins. Method page, 14.
 */
#ifndef STOCHASTIC_HISTORY_ESTIMATE_H
#define STOCHASTIC_HISTORY_ESTIMATE_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/history/fit.h"
#include "stochastic/tables.h"

/* What was estimated, for fitting_report.json and the lags before the study. */
typedef struct inflow_estimate {
    uint32_t seasons;
    const double *mean, *std; /* [hydro * seasons + season], m3/s */
    const hydro_fit *fits;    /* by hydro; NULL: the coefficients were given */
} inflow_estimate;

/* Whether the case leaves something to estimate, and has a history for it. */
bool estimate_is_needed(const cobre_case *input);

/*
 * Set the tables of a case that needs an estimate.
 *
 * out's arrays are the arena's and the case's. MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (max_order is too
 * high); MCP_E_PARAMS (too few observations, a stage without a season, ...: the text names the
 * hydro and the season or the stage)
 */
mcp_status estimate_tables(inflow_tables *out, mcp_arena *arena, const cobre_case *input,
                           mcp_error *err);

#endif
