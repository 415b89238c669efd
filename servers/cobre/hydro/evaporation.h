/*
 * evaporation.h - the evaporation of a reservoir at a stage, linear in its storage.
 *
 * Method page, 2.4.
 */
#ifndef HYDRO_EVAPORATION_H
#define HYDRO_EVAPORATION_H

#include "mcp/error.h"

#include "case/case.h"

/*
 * The coefficients of evaporation = base + slope * mean storage, in m3/s and m3/s per hm3.
 *
 * hydro: one that evaporates. base and slope change only on success. MCP_OK; MCP_E_PARAMS (no
 * geometry, or the stage has no season from 0 to 11)
 */
mcp_status evaporation_line(double *base, double *slope, const cobre_hydro *hydro,
                            const cobre_stage *stage, mcp_error *err);

#endif
