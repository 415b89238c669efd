/*
 * estimate.c - season by season estimates, spread over the stages of each season.
 */
#include "stochastic/history/estimate.h"

#include <inttypes.h>

#include "stochastic/history/residuals.h"
#include "stochastic/history/series.h"
#include "stochastic/history/tracks.h"

#define PATH "scenarios/inflow_history.parquet"
#define YEAR_LAGS 12

typedef struct estimator {
    const cobre_case *input;
    mcp_arena *arena;
    inflow_tables *tables;
    history_series series;
    uint32_t seasons;
    hydro_tracks *tracks; /* by hydro */
    hydro_fit *fits;      /* by hydro; of given coefficients as well */
    bool gives_stats, gives_ar, with_annual;
} estimator;

bool estimate_is_needed(const cobre_case *input)
{
    const cobre_scenarios *scenarios = &input->scenarios;

    return scenarios->history_count > 0 &&
           (scenarios->inflow_stats_count == 0 || scenarios->ar_count == 0);
}

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "no memory to estimate inflows");
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* A stage of either kind: pre-study stages first, then those of the study, so by id. */
typedef struct any_stage {
    int32_t id;
    bool has_season;
    uint32_t season;
} any_stage;

static size_t stages_of(const cobre_case *input)
{
    return input->pre_stage_count + input->stage_count;
}

static any_stage stage_at(const cobre_case *input, size_t i)
{
    if (i < input->pre_stage_count) {
        const cobre_pre_stage *at = &input->pre_stages[i];
        return (any_stage){ at->id, at->has_season, at->season_id };
    }
    const cobre_stage *at = &input->stages[i - input->pre_stage_count];
    return (any_stage){ at->id, at->has_season, at->season_id };
}

/* The seasons of a whole cycle. The original knows those that the stages name, and so takes the
 * last of these for the one before the first. */
static uint32_t cycle_seasons(const cobre_case *input, uint32_t named)
{
    uint32_t cycle = input->cycle == COBRE_CYCLE_MONTHLY  ? 12
                     : input->cycle == COBRE_CYCLE_WEEKLY ? 52
                                                          : (uint32_t)input->season_count;

    if (!input->has_seasons || input->config.original_arithmetic || cycle < named)
        return named;
    return cycle;
}

static mcp_status check_seasons(const estimator *e, mcp_error *err)
{
    for (size_t t = 0; t < e->input->stage_count; t++) {
        if (!e->input->stages[t].has_season)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "stages.json: stage %" PRId32 " has no season_id, which the "
                                 "estimation of inflows from " PATH " needs",
                                 e->input->stages[t].id);
    }
    return MCP_OK;
}

/* ---- fits ------------------------------------------------------------------------------------ */

static mcp_status check_values(const estimator *e, size_t hydro, mcp_error *err)
{
    const hydro_tracks *tracks = &e->tracks[hydro];
    size_t count = e->series.first[hydro + 1] - e->series.first[hydro];

    for (size_t i = 0; i < stages_of(e->input); i++) {
        any_stage stage = stage_at(e->input, i);
        if (stage.has_season && tracks->flow[stage.season].count < 2)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 PATH ": hydro %" PRId32 " has %zu observations of season %" PRIu32
                                      " (stage %" PRId32 "); statistics need 2",
                                 e->input->hydros[hydro].id, tracks->flow[stage.season].count,
                                 stage.season, stage.id);
    }
    if (e->with_annual && count <= YEAR_LAGS)
        return mcp_error_set(err, MCP_E_PARAMS,
                             PATH ": hydro %" PRId32 " has %zu observations; pacf_annual needs 13",
                             e->input->hydros[hydro].id, count);
    return MCP_OK;
}

static size_t stage_season(const cobre_case *input, int32_t id)
{
    for (size_t i = 0; i < stages_of(input); i++) {
        any_stage stage = stage_at(input, i);
        if (stage.id == id)
            return stage.has_season ? stage.season : COBRE_NONE;
    }
    return COBRE_NONE;
}

/* The given coefficients by season, for the residuals: those of the season's last stage. */
static mcp_status take_given(estimator *e, size_t hydro, mcp_error *err)
{
    const cobre_scenarios *scenarios = &e->input->scenarios;
    hydro_fit *fit = &e->fits[hydro];
    uint32_t highest = 0;

    for (size_t i = 0; i < scenarios->ar_count; i++) {
        if (scenarios->ar[i].hydro == hydro && scenarios->ar[i].lag > highest)
            highest = scenarios->ar[i].lag;
    }
    fit->seasons = e->seasons;
    fit->of_season = mcp_arena_array(e->arena, e->seasons, sizeof *fit->of_season);
    double *values = mcp_arena_array(e->arena, e->seasons, highest * sizeof *values);
    if (!fit->of_season || !values)
        return no_memory(err);
    for (uint32_t m = 0; m < e->seasons; m++)
        fit->of_season[m] = (season_fit){ .coefficients = values + (size_t)m * highest,
                                          .residual_ratio = 1.0 };
    for (size_t i = 0; i < scenarios->ar_count; i++) {
        const cobre_ar_row *row = &scenarios->ar[i];
        size_t season = row->hydro == hydro ? stage_season(e->input, row->stage_id) : COBRE_NONE;
        if (season == COBRE_NONE || season >= e->seasons || row->lag == 0)
            continue;
        season_fit *at = &fit->of_season[season];
        at->coefficients[row->lag - 1] = row->coefficient;
        at->order = row->lag;
    }
    return MCP_OK;
}

static mcp_status fit_all(estimator *e, mcp_error *err)
{
    size_t hydros = e->input->hydro_count;
    mcp_status st = MCP_OK;

    e->tracks = mcp_arena_array(e->arena, hydros, sizeof *e->tracks);
    e->fits = mcp_arena_array(e->arena, hydros, sizeof *e->fits);
    if (!e->tracks || !e->fits)
        return no_memory(err);
    for (size_t h = 0; h < hydros && st == MCP_OK; h++) {
        st = tracks_make(&e->tracks[h], e->arena, &e->series, h, e->seasons, e->with_annual, err);
        e->tracks[h].is_original = e->input->config.original_arithmetic;
        if (st == MCP_OK)
            st = check_values(e, h, err);
        if (st == MCP_OK)
            st = e->gives_ar ? take_given(e, h, err)
                             : fit_hydro(&e->fits[h], e->arena, &e->tracks[h],
                                         &e->input->config.estimation, err);
    }
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static mcp_status spread_stats(estimator *e, mcp_error *err)
{
    size_t hydros = e->input->hydro_count, stages = stages_of(e->input), count = 0;
    cobre_inflow_stats *rows = mcp_arena_array(e->arena, hydros * stages, sizeof *rows);

    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < hydros * stages; i++) {
        any_stage stage = stage_at(e->input, i % stages);
        if (!stage.has_season)
            continue;
        const season_track *flow = &e->tracks[i / stages].flow[stage.season];
        rows[count++] = (cobre_inflow_stats){ i / stages, stage.id, flow->mean, flow->std };
    }
    e->tables->stats = rows;
    e->tables->stats_count = count;
    e->tables->stats_estimated = true;
    return MCP_OK;
}

static size_t count_coefficients(const estimator *e)
{
    size_t stages = stages_of(e->input), count = 0;

    for (size_t i = 0; i < e->input->hydro_count * stages; i++) {
        any_stage stage = stage_at(e->input, i % stages);
        if (stage.has_season)
            count += e->fits[i / stages].of_season[stage.season].order;
    }
    return count;
}

static mcp_status spread_coefficients(estimator *e, mcp_error *err)
{
    size_t hydros = e->input->hydro_count, stages = stages_of(e->input), count = 0;
    cobre_ar_row *rows = mcp_arena_array(e->arena, count_coefficients(e), sizeof *rows);

    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < hydros * stages; i++) {
        any_stage stage = stage_at(e->input, i % stages);
        if (!stage.has_season)
            continue;
        const season_fit *fit = &e->fits[i / stages].of_season[stage.season];
        for (uint32_t l = 0; l < fit->order; l++)
            rows[count++] = (cobre_ar_row){ i / stages, stage.id, l + 1, fit->coefficients[l],
                                            fit->residual_ratio };
    }
    e->tables->ar = rows;
    e->tables->ar_count = count;
    e->tables->ar_estimated = true;
    return MCP_OK;
}

static mcp_status spread_annual(estimator *e, mcp_error *err)
{
    size_t hydros = e->input->hydro_count, stages = stages_of(e->input), count = 0;
    cobre_annual_row *rows = mcp_arena_array(e->arena, hydros * stages, sizeof *rows);

    if (!rows)
        return no_memory(err);
    for (size_t i = 0; i < hydros * stages; i++) {
        any_stage stage = stage_at(e->input, i % stages);
        if (!stage.has_season)
            continue;
        const hydro_tracks *tracks = &e->tracks[i / stages];
        const season_track *year = &tracks->annual[tracks_season_before(tracks, stage.season, 1)];
        double annual = e->fits[i / stages].of_season[stage.season].annual;
        if (year->std > 0.0)
            rows[count++] = (cobre_annual_row){ i / stages, stage.id, annual, year->mean,
                                                year->std };
    }
    e->tables->annual = rows;
    e->tables->annual_count = count;
    return MCP_OK;
}

/* Estimated coefficients go with given statistics: each needs one. */
static mcp_status check_given_stats(const estimator *e, mcp_error *err)
{
    const inflow_tables *tables = e->tables;
    size_t at = 0;

    for (size_t i = 0; i < tables->ar_count; i++) {
        const cobre_ar_row *row = &tables->ar[i];
        if (row->stage_id < 0)
            continue;
        while (at < tables->stats_count && (tables->stats[at].hydro < row->hydro ||
                                            (tables->stats[at].hydro == row->hydro &&
                                             tables->stats[at].stage_id < row->stage_id)))
            at++;
        if (at == tables->stats_count || tables->stats[at].hydro != row->hydro ||
            tables->stats[at].stage_id != row->stage_id)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "scenarios/inflow_seasonal_stats.parquet: hydro %" PRId32
                                 " has no row for stage %" PRId32
                                 ", for which coefficients were estimated from " PATH,
                                 e->input->hydros[row->hydro].id, row->stage_id);
    }
    return MCP_OK;
}

static mcp_status keep_estimate(estimator *e, mcp_error *err)
{
    size_t hydros = e->input->hydro_count;
    inflow_estimate *made = mcp_arena_alloc(e->arena, sizeof *made);
    double *mean = mcp_arena_array(e->arena, hydros, e->seasons * sizeof *mean);
    double *std = mcp_arena_array(e->arena, hydros, e->seasons * sizeof *std);

    if (!made || !mean || !std)
        return no_memory(err);
    for (size_t i = 0; i < hydros * e->seasons; i++) {
        mean[i] = e->tracks[i / e->seasons].flow[i % e->seasons].mean;
        std[i] = e->tracks[i / e->seasons].flow[i % e->seasons].std;
    }
    *made = (inflow_estimate){ e->seasons, mean, std, e->gives_ar ? NULL : e->fits };
    e->tables->estimate = made;
    return MCP_OK;
}

static mcp_status correlate(estimator *e, mcp_error *err)
{
    residual_profiles found;
    mcp_status st = residuals_correlate(&found, e->arena, e->input, &e->series, e->tracks, e->fits,
                                        err);

    if (st != MCP_OK || found.count == 0)
        return st;
    e->tables->profiles = found.profiles;
    e->tables->profile_count = found.count;
    e->tables->profile_of_stage = found.of_stage;
    e->tables->correlation_estimated = true;
    return MCP_OK;
}

static mcp_status set_tables(estimator *e, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (!e->gives_stats)
        st = spread_stats(e, err);
    if (st == MCP_OK && !e->gives_ar)
        st = spread_coefficients(e, err);
    if (st == MCP_OK && e->with_annual)
        st = spread_annual(e, err);
    if (st == MCP_OK && e->gives_stats)
        st = check_given_stats(e, err);
    if (st == MCP_OK && !e->input->scenarios.has_correlation)
        st = correlate(e, err);
    return st == MCP_OK ? keep_estimate(e, err) : st;
}

mcp_status estimate_tables(inflow_tables *out, mcp_arena *arena, const cobre_case *input,
                           mcp_error *err)
{
    inflow_tables tables = *out;
    estimator e = { .input = input, .arena = arena, .tables = &tables };
    mcp_status st = series_read(&e.series, arena, input, err);

    e.gives_stats = input->scenarios.inflow_stats_count > 0;
    e.gives_ar = input->scenarios.ar_count > 0;
    e.with_annual = !e.gives_ar && input->config.estimation.order == COBRE_ORDER_PACF_ANNUAL;
    e.seasons = cycle_seasons(input, e.series.seasons);
    if (st == MCP_OK)
        st = check_seasons(&e, err);
    if (st == MCP_OK)
        st = fit_all(&e, err);
    if (st == MCP_OK)
        st = set_tables(&e, err);
    if (st == MCP_OK)
        *out = tables;
    return st;
}
