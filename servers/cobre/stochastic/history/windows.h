/*
 * windows.h - years of the history as paths: for each year from which the history covers the whole
 * study, the lags that it starts with and the noises that reproduce it.
 *
 * A window is named by the year of the first stage. It covers the lags before the first stage and
 * all study stages, for all hydros. Method page, 4.3 and 4.4.
 */
#ifndef STOCHASTIC_HISTORY_WINDOWS_H
#define STOCHASTIC_HISTORY_WINDOWS_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"
#include "stochastic/inflow.h"

typedef struct history_windows {
    size_t count;         /* >= 1 */
    const int32_t *years; /* ascending */
    size_t lag_count;     /* lags * hydros */
    const double *lags;   /* [window * lag_count + l * hydros + hydro], m3/s */
    const double *noise;  /* [(window * stages + stage) * hydros + hydro] */
} history_windows;

/*
 * The windows of a case among the years allowed.
 *
 * years: NULL: all years
 * out's arrays are the arena's. MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS (no year of the history covers
 * the study)
 */
mcp_status windows_build(history_windows *out, mcp_arena *arena, const cobre_case *input,
                         const inflow_model *model, const int32_t *years, size_t year_count,
                         mcp_error *err);

#endif
