/*
 * evaporation.c - the tangent of the evaporated flow at the reference volume.
 *
 * A coefficient of C mm over an area of A km2 is 1000 * C * A m3. Spread over the H hours of the
 * stage that is C * A / (3.6 * H) m3/s.
 */
#include "hydro/evaporation.h"

#include <math.h>

#include "hydro/geometry.h"

mcp_status evaporation_line(double *base, double *slope, const cobre_hydro *hydro,
                            const cobre_stage *stage, mcp_error *err)
{
    if (hydro->geometry_count == 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "hydro %d evaporates, but system/hydro_geometry.parquet has no rows "
                             "of it: add its volumes and areas",
                             hydro->id);
    if (!stage->has_season || stage->season_id > 11)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "hydro %d evaporates by month, but stage %d has no season from 0 to "
                             "11: give it a season_id",
                             hydro->id, stage->id);

    double reference = hydro->evaporation_reference[stage->season_id];
    if (isnan(reference))
        reference = (hydro->min_storage + hydro->max_storage) / 2.0;
    double rate = hydro->evaporation_mm[stage->season_id] / (3.6 * stage->hours);
    *slope = rate * geometry_area_slope(hydro->geometry, hydro->geometry_count, reference);
    *base = rate * geometry_area(hydro->geometry, hydro->geometry_count, reference) -
            *slope * reference;
    return MCP_OK;
}
