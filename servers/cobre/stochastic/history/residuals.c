/*
 * residuals.c - standardized inflows less their lags' part, and Pearson's coefficient over the
 * dates that two hydros share.
 *
 * The lags of an observation are the observations before it. The annual term does not count.
 */
#include "stochastic/history/residuals.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

#define ALL_SEASONS UINT32_MAX
#define COMMON_DATES 30 /* for a season's own profile */

typedef struct residual {
    cobre_day date;
    uint32_t season;
    double value;
} residual;

typedef struct hydro_residuals {
    residual *items; /* by date */
    size_t count;
} hydro_residuals;

static double standardized(const season_track *flow, double value)
{
    return flow->std > 0.0 ? (value - flow->mean) / flow->std : 0.0;
}

static mcp_status find_residuals(hydro_residuals *out, mcp_arena *arena,
                                 const history_series *series, size_t hydro,
                                 const hydro_tracks *tracks, const hydro_fit *fit)
{
    const series_value *values = series->values + series->first[hydro];
    size_t count = series->first[hydro + 1] - series->first[hydro];

    out->count = 0;
    out->items = mcp_arena_array(arena, count, sizeof *out->items);
    if (!out->items)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        uint32_t m = values[i].season;
        if (m >= tracks->seasons || i < fit->of_season[m].order)
            continue;
        double left = standardized(&tracks->flow[m], values[i].value);
        for (size_t l = 0; l < fit->of_season[m].order; l++) {
            const season_track *lag = &tracks->flow[tracks_season_before(tracks, m, l + 1)];
            left -= fit->of_season[m].coefficients[l] * standardized(lag, values[i - l - 1].value);
        }
        out->items[out->count++] = (residual){ values[i].date, m, left };
    }
    return MCP_OK;
}

/* ---- Pearson --------------------------------------------------------------------------------- */

typedef struct pair_sums {
    double n, a, b, aa, bb, ab; /* sums over pairs; of a and b less the shifts */
    double shift_a, shift_b;
} pair_sums;

/* Sums over the common dates of a season; deviations from the shifts. */
static void add_pairs(pair_sums *sums, const hydro_residuals *a, const hydro_residuals *b,
                      uint32_t season)
{
    size_t i = 0, k = 0;

    while (i < a->count && k < b->count) {
        const residual *x = &a->items[i], *y = &b->items[k];
        if (x->date == y->date) {
            i++;
            k++;
            if (season != ALL_SEASONS && x->season != season)
                continue;
            double u = x->value - sums->shift_a, v = y->value - sums->shift_b;
            sums->n += 1.0;
            sums->a += u;
            sums->b += v;
            sums->aa += u * u;
            sums->bb += v * v;
            sums->ab += u * v;
        } else if (x->date < y->date) {
            i++;
        } else {
            k++;
        }
    }
}

static double pearson(const hydro_residuals *a, const hydro_residuals *b, uint32_t season,
                      double *pairs)
{
    pair_sums first = { 0 }, centered = { 0 };

    add_pairs(&first, a, b, season);
    *pairs = first.n;
    if (first.n < 2.0)
        return 0.0;
    centered.shift_a = first.a / first.n;
    centered.shift_b = first.b / first.n;
    add_pairs(&centered, a, b, season);
    double std_a = sqrt(centered.aa / first.n), std_b = sqrt(centered.bb / first.n);
    if (std_a < DBL_EPSILON || std_b < DBL_EPSILON)
        return 0.0;
    return fmax(-1.0, fmin(1.0, centered.ab / first.n / (std_a * std_b)));
}

/* The matrix of a season; returns the least number of common dates of two hydros. */
static double correlate(double *matrix, const hydro_residuals *residuals, size_t hydros,
                        uint32_t season)
{
    double least = INFINITY, pairs;

    for (size_t i = 0; i < hydros; i++) {
        matrix[i * hydros + i] = 1.0;
        for (size_t k = 0; k < i; k++) {
            matrix[i * hydros + k] = matrix[k * hydros + i] = pearson(&residuals[i], &residuals[k],
                                                                      season, &pairs);
            least = fmin(least, pairs);
        }
    }
    return least;
}

/* ---- profiles -------------------------------------------------------------------------------- */

typedef struct builder {
    mcp_arena *arena;
    const cobre_case *input;
    const hydro_residuals *residuals;
    size_t *members;
    cobre_correlation_profile *profiles;
    size_t count;
    size_t *of_stage;
} builder;

static mcp_status add_profile(builder *b, const char *name, uint32_t season)
{
    size_t hydros = b->input->hydro_count;
    double *matrix = mcp_arena_array(b->arena, hydros, hydros * sizeof *matrix);
    cobre_correlation_group *group = mcp_arena_alloc(b->arena, sizeof *group);

    if (!name || !matrix || !group)
        return MCP_E_NOMEM;
    double common = correlate(matrix, b->residuals, hydros, season);
    if (season != ALL_SEASONS && (isinf(common) || common < COMMON_DATES))
        return MCP_OK;
    *group = (cobre_correlation_group){ COBRE_CLASS_INFLOW, "all_hydros", b->members, hydros,
                                        matrix };
    for (size_t t = 0; t < b->input->stage_count; t++) {
        if (season == ALL_SEASONS ||
            (b->input->stages[t].has_season && b->input->stages[t].season_id == season))
            b->of_stage[t] = b->count;
    }
    b->profiles[b->count++] = (cobre_correlation_profile){ name, group, 1 };
    return MCP_OK;
}

static bool is_used(const cobre_case *input, uint32_t season)
{
    for (size_t t = 0; t < input->stage_count; t++) {
        if (input->stages[t].has_season && input->stages[t].season_id == season)
            return true;
    }
    return false;
}

static mcp_status add_profiles(builder *b, uint32_t seasons)
{
    mcp_status st = add_profile(b, "default", ALL_SEASONS);

    for (uint32_t m = 0; m < seasons && st == MCP_OK; m++) {
        if (is_used(b->input, m))
            st = add_profile(b, mcp_arena_printf(b->arena, "season_%02" PRIu32, m), m);
    }
    return st;
}

mcp_status residuals_correlate(residual_profiles *out, mcp_arena *arena, const cobre_case *input,
                               const history_series *series, const hydro_tracks *tracks,
                               const hydro_fit *fits, mcp_error *err)
{
    size_t hydros = input->hydro_count;
    uint32_t seasons = hydros > 0 ? tracks[0].seasons : 0;
    hydro_residuals *residuals = mcp_arena_array(arena, hydros, sizeof *residuals);
    builder b = { .arena = arena, .input = input, .residuals = residuals };
    mcp_status st = MCP_OK;

    *out = (residual_profiles){ 0 };
    if (hydros == 0)
        return MCP_OK;
    b.members = mcp_arena_array(arena, hydros, sizeof *b.members);
    b.profiles = mcp_arena_array(arena, seasons + 1, sizeof *b.profiles);
    b.of_stage = mcp_arena_array(arena, input->stage_count, sizeof *b.of_stage);
    if (!residuals || !b.members || !b.profiles || !b.of_stage)
        st = MCP_E_NOMEM;
    for (size_t h = 0; h < hydros && st == MCP_OK; h++) {
        b.members[h] = h;
        st = find_residuals(&residuals[h], arena, series, h, &tracks[h], &fits[h]);
    }
    if (st == MCP_OK)
        st = add_profiles(&b, seasons);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory for the correlation of inflows");
    *out = (residual_profiles){ b.profiles, b.count, b.of_stage };
    return MCP_OK;
}
