/*
 * tracks.h - the values of one hydro season by season, and how they correlate across seasons.
 *
 * A track is the inflows of one season, a value a year; an annual track is the means of the twelve
 * observations that end in a season. Statistics divide by the number of values. Method page, 14.
 */
#ifndef STOCHASTIC_HISTORY_TRACKS_H
#define STOCHASTIC_HISTORY_TRACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "stochastic/history/series.h"

typedef struct season_track {
    size_t count;
    const int32_t *years;
    const double *values; /* m3/s */
    double mean, std;
} season_track;

typedef struct hydro_tracks {
    uint32_t seasons;
    season_track *flow;   /* by season */
    season_track *annual; /* by season; NULL: not made */
    bool is_original;     /* pair values by their order, as the original does, not by year */
} hydro_tracks;

/*
 * The tracks of a hydro, from its history by `seasons` seasons.
 *
 * out's arrays are the arena's. MCP_OK; MCP_E_NOMEM
 */
mcp_status tracks_make(hydro_tracks *out, mcp_arena *arena, const history_series *series,
                       size_t hydro, uint32_t seasons, bool with_annual, mcp_error *err);

/* Mean and deviation of values, with the page's rules: values all alike, or more than half of them
 * rounding to one integer, have no deviation. */
void tracks_moments(season_track *track);

/* The season so many before another. */
uint32_t tracks_season_before(const hydro_tracks *tracks, uint32_t season, size_t lag);

/* The correlation of a season's inflow with that `lag` seasons before; 1 for lag 0. */
double tracks_correlation(const hydro_tracks *tracks, uint32_t season, size_t lag);

/* The correlation of the year that ends in a season with the inflow `lag` seasons before its end,
 * and with the inflow of the season after it. */
double tracks_annual_correlation(const hydro_tracks *tracks, uint32_t season, size_t lag);
double tracks_annual_with_next(const hydro_tracks *tracks, uint32_t season);

#endif
