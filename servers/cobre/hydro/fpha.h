/*
 * fpha.h - planes fitted to the production function of a plant.
 *
 * Generation in MW is 0.00981 * efficiency * turbined flow * net head. The head depends on the
 * volume (forebay), on turbined and spilled flow (tailrace), and on hydraulic losses. The planes
 * are tangents of this function at the points of a grid. Those that the envelope does not need are
 * dropped until the plant's limit holds, and kappa scales the rest down so that the envelope does
 * not exceed the function. Method page, 2.3.
 */
#ifndef HYDRO_FPHA_H
#define HYDRO_FPHA_H

#include "mcp/arena.h"
#include "mcp/error.h"

#include "hydro/model.h"

/* The most points of a grid: the time to fit grows with their square. */
#define FPHA_GRID_MAX 20000

/*
 * Fit the planes of a plant.
 *
 * hydro: its index in the case; options: a computed fit. The arrays of out are the arena's; out
 * changes only on success. MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (more than FPHA_GRID_MAX points);
 * MCP_E_PARAMS (no geometry, tailrace or efficiency; an empty fitting window; a function that has
 * no valid planes: the text names the plant)
 */
mcp_status fpha_fit(production_fit *out, mcp_arena *arena, const cobre_case *input, size_t hydro,
                    const cobre_fpha_fit *options, mcp_error *err);

#endif
