/*
 * series.h - the inflow history by hydro, season and year.
 *
 * An observation belongs to the season of the stage, study or not, that contains its date, else to
 * the season that the calendar of season_definitions gives. With season_definitions the
 * observations of a hydro in one season of one year become one, their mean weighted by the days of
 * their months. The year of a season that runs over new year is the one it ends in when it is the
 * first of the cycle, else the one it begins in; a week belongs to the year of its Thursday. Method
 * page, 14.
 */
#ifndef STOCHASTIC_HISTORY_SERIES_H
#define STOCHASTIC_HISTORY_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

#include "case/case.h"

typedef struct series_value {
    size_t hydro;
    int32_t year;
    uint32_t season;
    cobre_day date; /* of the first observation */
    double value;   /* m3/s */
} series_value;

typedef struct history_series {
    const series_value *values; /* by hydro, then date */
    const size_t *first;        /* [hydros + 1]: where the values of a hydro begin */
    size_t count;
    const series_value *const *by_season; /* the same by hydro, season, year, date */
    uint32_t seasons;                     /* highest season of the stages + 1 */
} history_series;

/*
 * Read the history of a case.
 *
 * out's arrays are the arena's. MCP_OK; MCP_E_NOMEM; MCP_E_PARAMS (a date without a season)
 */
mcp_status series_read(history_series *out, mcp_arena *arena, const cobre_case *input,
                       mcp_error *err);

/* The values of a hydro in a season, by year; *count may be 0. */
const series_value *const *series_of_season(const history_series *series, size_t hydro,
                                            uint32_t season, size_t *count);

/* The value of a hydro in a season of a year; NULL: none. */
const series_value *series_find(const history_series *series, size_t hydro, uint32_t season,
                                int32_t year);

#endif
