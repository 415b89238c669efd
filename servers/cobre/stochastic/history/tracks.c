/*
 * tracks.c - pairs of values of two seasons, and their product moments.
 *
 * A season and a lag name a season and so many years before. Values are paired by year. The
 * original pairs by position, which is the same for histories without gaps that begin with the
 * first season and for lags up to a cycle.
 */
#include "stochastic/history/tracks.h"

#include <math.h>

#define YEAR 12 /* observations */
#define ALIKE 1e-6

/* ---- statistics ------------------------------------------------------------------------------ */

static bool all_alike(const season_track *track)
{
    for (size_t i = 1; i < track->count; i++) {
        if (fabs(track->values[i] - track->values[0]) > ALIKE)
            return false;
    }
    return true;
}

static bool often_negative(const season_track *track)
{
    size_t negative = 0;

    for (size_t i = 0; i < track->count; i++)
        negative += track->values[i] < 0.0;
    return (double)negative > 0.1 * (double)track->count;
}

/* An integer to which more than half of the values round. */
static bool has_usual_value(const season_track *track, double *usual)
{
    /* A majority survives when pairs of different values cancel. */
    size_t votes = 0, count = 0;

    *usual = 0.0;
    for (size_t i = 0; i < track->count; i++) {
        double rounded = round(track->values[i]);
        if (votes == 0)
            *usual = rounded;
        votes = rounded == *usual ? votes + 1 : votes - 1;
    }
    for (size_t i = 0; i < track->count; i++)
        count += round(track->values[i]) == *usual;
    return 2 * count > track->count;
}

void tracks_moments(season_track *track)
{
    double sum = 0.0, squares = 0.0, usual;

    track->mean = track->std = 0.0;
    if (track->count == 0)
        return;
    for (size_t i = 0; i < track->count; i++)
        sum += track->values[i];
    track->mean = sum / (double)track->count;
    for (size_t i = 0; i < track->count; i++)
        squares += (track->values[i] - track->mean) * (track->values[i] - track->mean);
    track->std = sqrt(squares / (double)track->count);
    if (all_alike(track)) {
        track->mean = track->values[0];
        track->std = 0.0;
    } else if (!often_negative(track) && has_usual_value(track, &usual)) {
        track->mean = usual;
        track->std = 0.0;
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

static bool make_track(season_track *out, mcp_arena *arena, size_t capacity)
{
    out->count = 0;
    out->years = mcp_arena_array(arena, capacity, sizeof *out->years);
    out->values = mcp_arena_array(arena, capacity, sizeof *out->values);
    return out->years && out->values;
}

static void append(season_track *track, int32_t year, double value)
{
    ((int32_t *)track->years)[track->count] = year;
    ((double *)track->values)[track->count++] = value;
}

static bool make_flow(hydro_tracks *tracks, mcp_arena *arena, const history_series *series,
                      size_t hydro)
{
    for (uint32_t m = 0; m < tracks->seasons; m++) {
        size_t count;
        const series_value *const *values = series_of_season(series, hydro, m, &count);
        if (!make_track(&tracks->flow[m], arena, count))
            return false;
        for (size_t i = 0; i < count; i++)
            append(&tracks->flow[m], values[i]->year, values[i]->value);
        tracks_moments(&tracks->flow[m]);
    }
    return true;
}

static bool make_annual(hydro_tracks *tracks, mcp_arena *arena, const series_value *values,
                        size_t count)
{
    for (uint32_t m = 0; m < tracks->seasons; m++) {
        if (!make_track(&tracks->annual[m], arena, tracks->flow[m].count))
            return false;
    }
    for (size_t i = 0; i + YEAR < count; i++) {
        const series_value *last = &values[i + YEAR - 1];
        double sum = 0.0;
        for (size_t k = 0; k < YEAR; k++)
            sum += values[i + k].value;
        if (last->season < tracks->seasons)
            append(&tracks->annual[last->season], last->year, sum / YEAR);
    }
    for (uint32_t m = 0; m < tracks->seasons; m++)
        tracks_moments(&tracks->annual[m]);
    return true;
}

mcp_status tracks_make(hydro_tracks *out, mcp_arena *arena, const history_series *series,
                       size_t hydro, uint32_t seasons, bool with_annual, mcp_error *err)
{
    size_t first = series->first[hydro], count = series->first[hydro + 1] - first;
    hydro_tracks made = { .seasons = seasons };

    made.flow = mcp_arena_array(arena, seasons, sizeof *made.flow);
    if (with_annual)
        made.annual = mcp_arena_array(arena, seasons, sizeof *made.annual);
    if (!made.flow || (with_annual && !made.annual) || !make_flow(&made, arena, series, hydro) ||
        (with_annual && !make_annual(&made, arena, series->values + first, count)))
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow statistics");
    *out = made;
    return MCP_OK;
}

/* ---- correlations ---------------------------------------------------------------------------- */

uint32_t tracks_season_before(const hydro_tracks *tracks, uint32_t season, size_t lag)
{
    return (uint32_t)((season + tracks->seasons - lag % tracks->seasons) % tracks->seasons);
}

/* How many years lie between a season and that `lag` before it. */
static int32_t years_back(const hydro_tracks *tracks, uint32_t season, size_t lag)
{
    uint32_t before = tracks_season_before(tracks, season, lag);

    if (tracks->is_original && lag >= tracks->seasons)
        return (int32_t)(lag / tracks->seasons);
    return (int32_t)((before + lag - season) / tracks->seasons);
}

/* The sum of products of deviations over pairs of a's year and the year `back` before it in b. */
static double pair_by_year(const season_track *a, const season_track *b, int32_t back,
                           size_t *pairs)
{
    double sum = 0.0;
    size_t i = 0, k = 0;

    *pairs = 0;
    while (i < a->count && k < b->count) {
        int32_t wanted = a->years[i] - back;
        if (b->years[k] == wanted) {
            sum += (a->values[i++] - a->mean) * (b->values[k++] - b->mean);
            ++*pairs;
        } else if (b->years[k] < wanted) {
            k++;
        } else {
            i++;
        }
    }
    return sum;
}

/* The same by position: a's values from a0 on with b's from b0 on. */
static double pair_by_order(const season_track *a, size_t a0, const season_track *b, size_t b0,
                            size_t *pairs)
{
    double sum = 0.0;

    *pairs = 0;
    for (size_t i = 0; a0 + i < a->count && b0 + i < b->count; i++) {
        sum += (a->values[a0 + i] - a->mean) * (b->values[b0 + i] - b->mean);
        ++*pairs;
    }
    return sum;
}

static double correlation_of(double sum, size_t divisor, const season_track *a,
                             const season_track *b)
{
    if (divisor == 0 || a->std == 0.0 || b->std == 0.0)
        return 0.0;
    return fmax(-1.0, fmin(1.0, sum / (double)divisor / (a->std * b->std)));
}

double tracks_correlation(const hydro_tracks *tracks, uint32_t season, size_t lag)
{
    const season_track *a = &tracks->flow[season];
    const season_track *b = &tracks->flow[tracks_season_before(tracks, season, lag)];
    int32_t back = years_back(tracks, season, lag);
    size_t pairs;

    if (lag == 0)
        return 1.0;
    double sum = tracks->is_original ? pair_by_order(a, (size_t)back, b, 0, &pairs)
                                     : pair_by_year(a, b, back, &pairs);
    return correlation_of(sum, pairs, a, b);
}

/* The original pairs annual means by position too, from the first years on. */
static double annual_correlation(const hydro_tracks *tracks, const season_track *a,
                                 const season_track *b, int32_t back)
{
    size_t longer = a->count > b->count ? a->count : b->count, pairs;
    double sum;

    if (a->count == 0 || b->count == 0)
        return 0.0;
    if (tracks->is_original) {
        int32_t shift = a->years[0] - b->years[0] - back;
        sum = shift >= 0 ? pair_by_order(a, 0, b, (size_t)shift, &pairs)
                         : pair_by_order(a, (size_t)-shift, b, 0, &pairs);
    } else {
        sum = pair_by_year(a, b, back, &pairs);
    }
    return correlation_of(sum, longer, a, b);
}

double tracks_annual_correlation(const hydro_tracks *tracks, uint32_t season, size_t lag)
{
    const season_track *flow = &tracks->flow[tracks_season_before(tracks, season, lag)];

    return annual_correlation(tracks, &tracks->annual[season], flow,
                              years_back(tracks, season, lag));
}

double tracks_annual_with_next(const hydro_tracks *tracks, uint32_t season)
{
    uint32_t next = (season + 1) % tracks->seasons;

    return annual_correlation(tracks, &tracks->annual[season], &tracks->flow[next],
                              next == 0 ? -1 : 0);
}
