/*
 * fit.c - one season at a time, then the reductions over all seasons of the hydro.
 *
 * The equations of order p for season m equate the correlations of Z(m) with Z(m-1) .. Z(m-p), and
 * with the annual mean that ends at m-1, to those that the model has. A contribution is the weight
 * that an inflow i seasons back has in Z(m) after the lags in between have carried it: a negative
 * one would let a wet month make a later one dry, and cuts bend the wrong way.
 */
#include "stochastic/history/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SIZE_MAX_SYSTEM (FIT_ORDER_MAX + 2)
#define SIGNIFICANT 1.96

typedef struct fitter {
    const hydro_tracks *tracks;
    const cobre_estimation *settings;
    hydro_fit *fit;
    /* by season */
    bool *is_frozen;
    uint32_t *ceiling;
    fit_reduction *noted; /* reason NULL: none */
    /* work */
    double *matrix, *right;
} fitter;

bool fit_solve(double *a, double *b, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        size_t pivot = k;
        for (size_t i = k + 1; i < count; i++) {
            if (fabs(a[i * count + k]) > fabs(a[pivot * count + k]))
                pivot = i;
        }
        if (fabs(a[pivot * count + k]) < DBL_EPSILON)
            return false;
        for (size_t i = 0; i < count; i++) {
            double kept = a[k * count + i];
            a[k * count + i] = a[pivot * count + i];
            a[pivot * count + i] = kept;
        }
        double kept = b[k];
        b[k] = b[pivot];
        b[pivot] = kept;
        for (size_t i = k + 1; i < count; i++) {
            double factor = a[i * count + k] / a[k * count + k];
            for (size_t j = k; j < count; j++)
                a[i * count + j] -= factor * a[k * count + j];
            b[i] -= factor * b[k];
        }
    }
    for (size_t k = count; k-- > 0;) {
        for (size_t j = k + 1; j < count; j++)
            b[k] -= a[k * count + j] * b[j];
        b[k] /= a[k * count + k];
    }
    return true;
}

/* ---- equations ------------------------------------------------------------------------------- */

static bool has_annual(const fitter *f)
{
    return f->tracks->annual;
}

static uint32_t before(const fitter *f, uint32_t season, size_t lag)
{
    return tracks_season_before(f->tracks, season, lag);
}

/* Solve the equations of order p for a season: f->right holds the coefficients, the annual one
 * last, and *explained the share of the variance that they explain. */
static bool solve_order(const fitter *f, uint32_t season, size_t p, double *explained)
{
    size_t count = p + has_annual(f);
    double right[SIZE_MAX_SYSTEM];

    for (size_t i = 0; i < p; i++) {
        for (size_t j = 0; j < p; j++) {
            size_t low = i < j ? i : j, high = i < j ? j : i;
            f->matrix[i * count + j] = tracks_correlation(f->tracks, before(f, season, low + 1),
                                                          high - low);
        }
        right[i] = tracks_correlation(f->tracks, season, i + 1);
    }
    if (has_annual(f)) {
        uint32_t year_end = before(f, season, 1);
        for (size_t i = 0; i < p; i++)
            f->matrix[i * count + p] = f->matrix[p * count + i] = tracks_annual_correlation(
                f->tracks, year_end, i);
        f->matrix[p * count + p] = 1.0;
        right[p] = tracks_annual_with_next(f->tracks, year_end);
    }
    memcpy(f->right, right, count * sizeof *right);
    if (!fit_solve(f->matrix, f->right, count))
        return false;
    *explained = 0.0;
    for (size_t i = 0; i < count; i++)
        *explained += f->right[i] * right[i];
    return true;
}

static double ratio_of(double explained)
{
    double left = 1.0 - explained;

    return left <= 0.0 ? 1.0 : fmin(1.0, fmax(DBL_EPSILON, sqrt(left)));
}

static void make_white(fitter *f, uint32_t season)
{
    season_fit *fit = &f->fit->of_season[season];

    fit->order = 0;
    fit->annual = 0.0;
    fit->residual_ratio = 1.0;
}

static bool can_fit(const fitter *f, uint32_t season)
{
    const season_track *flow = &f->tracks->flow[season];

    if (flow->count < 2 || flow->std == 0.0)
        return false;
    return !has_annual(f) || f->tracks->annual[before(f, season, 1)].std > 0.0;
}

/* Give a season the coefficients of an order. White noise of a model with annual terms keeps its
 * annual coefficient. */
static void refit(fitter *f, uint32_t season, uint32_t order)
{
    season_fit *fit = &f->fit->of_season[season];
    double explained;

    make_white(f, season);
    if ((order == 0 && !has_annual(f)) || !can_fit(f, season) ||
        !solve_order(f, season, order, &explained))
        return;
    fit->order = order;
    memcpy(fit->coefficients, f->right, order * sizeof *fit->coefficients);
    if (has_annual(f))
        fit->annual = f->right[order];
    fit->residual_ratio = ratio_of(explained);
}

/* ---- orders ---------------------------------------------------------------------------------- */

static double threshold(const fitter *f, uint32_t season)
{
    return SIGNIFICANT / sqrt((double)f->tracks->flow[season].count);
}

static uint32_t select_plain(const fitter *f, uint32_t season, uint32_t ceiling)
{
    uint32_t selected = 0;
    double explained;

    for (uint32_t k = 1; k <= ceiling && solve_order(f, season, k, &explained); k++) {
        if (fabs(f->right[k - 1]) > threshold(f, season))
            selected = k;
    }
    return selected;
}

/* The correlation of two of the variables Z(m), Z(m-k), Z(m-1) .. Z(m-k+1), A(m-1), numbered in
 * that order. */
static double correlation_between(const fitter *f, uint32_t season, size_t k, size_t a, size_t b)
{
    size_t lags[2] = { a, b };
    uint32_t year_end = before(f, season, 1);

    for (int i = 0; i < 2; i++) {
        size_t number = i == 0 ? a : b;
        lags[i] = number == 0 ? 0 : number == 1 ? k : number - 1;
    }
    if (a == b)
        return 1.0;
    if (a == k + 1 || b == k + 1) {
        size_t lag = a == k + 1 ? lags[1] : lags[0];
        return lag == 0 ? tracks_annual_with_next(f->tracks, year_end)
                        : tracks_annual_correlation(f->tracks, year_end, lag - 1);
    }
    size_t near = lags[0] < lags[1] ? lags[0] : lags[1];
    size_t far = lags[0] < lags[1] ? lags[1] : lags[0];
    return tracks_correlation(f->tracks, before(f, season, near), far - near);
}

/* The correlation of Z(m) and Z(m-k) given the variables in between: of the Schur complement of
 * theirs in the matrix of all. */
static double partial(const fitter *f, uint32_t season, size_t k)
{
    size_t given = k; /* k - 1 inflows and the year */
    double schur[2][2], x[SIZE_MAX_SYSTEM];

    for (size_t i = 0; i < 2; i++) {
        for (size_t row = 0; row < given; row++) {
            for (size_t column = 0; column < given; column++)
                f->matrix[row * given + column] = correlation_between(f, season, k, row + 2,
                                                                      column + 2);
            x[row] = correlation_between(f, season, k, row + 2, i);
        }
        if (!fit_solve(f->matrix, x, given))
            return 0.0;
        for (size_t j = 0; j < 2; j++) {
            schur[i][j] = correlation_between(f, season, k, i, j);
            for (size_t row = 0; row < given; row++)
                schur[i][j] -= x[row] * correlation_between(f, season, k, row + 2, j);
        }
    }
    if (schur[0][0] * schur[1][1] <= 0.0)
        return 0.0;
    return fmax(-1.0, fmin(1.0, schur[0][1] / sqrt(schur[0][0] * schur[1][1])));
}

static uint32_t select_annual(const fitter *f, uint32_t season, uint32_t ceiling)
{
    uint32_t selected = 1;

    if (ceiling == 0 || partial(f, season, 1) == 0.0)
        return 0;
    for (uint32_t k = 2; k <= ceiling; k++) {
        if (fabs(partial(f, season, k)) > threshold(f, season))
            selected = k;
    }
    return selected;
}

static void select_and_fit(fitter *f, uint32_t season, uint32_t ceiling)
{
    uint32_t order = 0;

    if (can_fit(f, season))
        order = has_annual(f) ? select_annual(f, season, ceiling)
                              : select_plain(f, season, ceiling);
    refit(f, season, order);
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* The weight of lag l + 1 in a season, in inflows, not standardized ones. */
static double weight(const fitter *f, uint32_t season, size_t l)
{
    const season_fit *fit = &f->fit->of_season[season];
    double std = f->tracks->flow[before(f, season, l + 1)].std;

    if (l >= fit->order || std == 0.0)
        return 0.0;
    return fit->coefficients[l] * f->tracks->flow[season].std / std;
}

/* The contributions of the lags of a season; returns whether one is negative. */
static bool contributions(const fitter *f, uint32_t season, double *out)
{
    size_t p = f->fit->of_season[season].order;
    double row[FIT_ORDER_MAX + 1] = { 0 };
    bool negative = false;

    for (size_t j = 0; j < p; j++)
        row[j] = weight(f, season, j);
    for (size_t i = 0; i < p; i++) {
        double first = row[0];
        out[i] = first;
        negative = negative || first < 0.0;
        for (size_t j = 0; i + 1 < p && j < p - i - 1; j++)
            row[j] = first * weight(f, before(f, season, i + 1), j) + row[j + 1];
    }
    return negative;
}

static void note(fitter *f, uint32_t season, uint32_t original, const double *values,
                 const char *reason)
{
    fit_reduction *noted = &f->noted[season];

    if (!noted->reason)
        *noted = (fit_reduction){ season, original, 0, values, values ? original : 0, reason };
}

static void lower_to_white(fitter *f, uint32_t season, const char *reason)
{
    note(f, season, f->fit->of_season[season].order, NULL, reason);
    refit(f, season, 0);
    f->is_frozen[season] = true;
}

static bool is_too_large(const fitter *f, const season_fit *fit)
{
    for (size_t l = 0; l < fit->order; l++) {
        if (fabs(fit->coefficients[l]) > f->settings->max_coefficient)
            return true;
    }
    return false;
}

static bool starts_negative(const season_fit *fit)
{
    return fit->order > 0 && fit->coefficients[0] < 0.0;
}

/* Returns false when white noise is what remains. */
static bool lower(fitter *f, uint32_t season)
{
    const season_fit *fit = &f->fit->of_season[season];

    f->ceiling[season]--;
    if (f->ceiling[season] > 0)
        select_and_fit(f, season, f->ceiling[season]);
    else
        refit(f, season, 0);
    if (starts_negative(fit))
        refit(f, season, 0);
    f->is_frozen[season] = fit->order == 0;
    return !f->is_frozen[season];
}

/* Find all failing seasons first: a refit changes the contributions of the others. *refitted:
 * whether one of them has coefficients again. */
static mcp_status lower_once(fitter *f, mcp_arena *arena, bool *failing, bool *refitted)
{
    *refitted = false;
    for (uint32_t m = 0; m < f->fit->seasons; m++) {
        uint32_t order = f->fit->of_season[m].order;
        double values[FIT_ORDER_MAX];
        failing[m] = !f->is_frozen[m] && contributions(f, m, values);
        if (!failing[m])
            continue;
        double *kept = mcp_arena_array(arena, order, sizeof *kept);
        if (!kept)
            return MCP_E_NOMEM;
        memcpy(kept, values, order * sizeof *kept);
        note(f, m, order, kept, "a lag contributes negatively");
    }
    for (uint32_t m = 0; m < f->fit->seasons; m++) {
        if (failing[m] && lower(f, m))
            *refitted = true;
    }
    return MCP_OK;
}

static mcp_status reduce(fitter *f, mcp_arena *arena, bool *failing)
{
    mcp_status st = MCP_OK;

    for (uint32_t m = 0; m < f->fit->seasons; m++) {
        const season_fit *fit = &f->fit->of_season[m];
        if (is_too_large(f, fit))
            lower_to_white(f, m, "a coefficient exceeds max_coefficient_magnitude");
        else if (starts_negative(fit))
            lower_to_white(f, m, "the coefficient of lag 1 is negative");
        f->ceiling[m] = f->settings->max_order;
        f->is_frozen[m] = fit->order == 0;
    }
    /* Each round lowers a ceiling. While it is above the order, the season waits for the others. */
    for (bool refitted = true; refitted && st == MCP_OK;)
        st = lower_once(f, arena, failing, &refitted);
    return st;
}

static mcp_status make_arrays(fitter *f, mcp_arena *arena, uint32_t highest, mcp_error *err)
{
    uint32_t seasons = f->tracks->seasons;
    bool made = true;

    f->fit->seasons = seasons;
    f->fit->of_season = mcp_arena_array(arena, seasons, sizeof *f->fit->of_season);
    f->is_frozen = mcp_arena_array(arena, seasons, 2 * sizeof *f->is_frozen);
    f->ceiling = mcp_arena_array(arena, seasons, sizeof *f->ceiling);
    f->noted = mcp_arena_array(arena, seasons, sizeof *f->noted);
    f->matrix = mcp_arena_array(arena, SIZE_MAX_SYSTEM, SIZE_MAX_SYSTEM * sizeof *f->matrix);
    f->right = mcp_arena_array(arena, SIZE_MAX_SYSTEM, sizeof *f->right);
    if (!f->fit->of_season || !f->is_frozen || !f->ceiling || !f->noted || !f->matrix || !f->right)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to fit inflows");
    for (uint32_t m = 0; m < seasons; m++) {
        season_fit *fit = &f->fit->of_season[m];
        fit->coefficients = mcp_arena_array(arena, highest, sizeof *fit->coefficients);
        made = made && fit->coefficients;
    }
    return made ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory to fit inflows");
}

mcp_status fit_hydro(hydro_fit *out, mcp_arena *arena, const hydro_tracks *tracks,
                     const cobre_estimation *settings, mcp_error *err)
{
    hydro_fit made = { 0 };
    fitter f = { .tracks = tracks, .settings = settings, .fit = &made };

    if (settings->max_order > FIT_ORDER_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "config.json: estimation.max_order is at most %d",
                             FIT_ORDER_MAX);
    mcp_status st = make_arrays(&f, arena, settings->max_order, err);
    if (st != MCP_OK)
        return st;
    for (uint32_t m = 0; m < made.seasons; m++)
        select_and_fit(&f, m, settings->max_order);
    st = reduce(&f, arena, f.is_frozen + made.seasons);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "no memory to fit inflows");
    for (uint32_t m = 0; m < made.seasons; m++) {
        if (!f.noted[m].reason || f.noted[m].original_order == made.of_season[m].order)
            continue; /* or its ceiling fell, and not as far as its order */
        f.noted[m].reduced_order = made.of_season[m].order;
        f.noted[made.reduction_count++] = f.noted[m];
    }
    made.reductions = f.noted;
    *out = made;
    return MCP_OK;
}
