/*
 * inflow.c - from the case's statistics and standardized coefficients to base, psi and sigma.
 *
 * A coefficient a_l of the files relates standardized inflows: psi_l = a_l * sd / sd_lag, and
 * base = mean - sum psi_l * mean_lag. The statistics of a lag are those of the stage so many ids
 * before (of the period before, where stages are parts of periods); before the first stage that
 * has any, those of its season. An annual component weighs the
 * mean of the last twelve lags: a twelfth of it goes to each.
 *
 * Without coefficients base and sigma are mean and deviation bit for bit.
 */
#include "stochastic/inflow.h"

#include <inttypes.h>

#include "stochastic/history/estimate.h"
#include "stochastic/lags.h"

#define YEAR_LAGS 12

typedef struct builder {
    const cobre_case *input;
    mcp_arena *arena;
    inflow_model *model;
    double *base, *sigma, *psi;
    uint32_t *order;
    size_t seasons; /* distinct seasons of the study stages */
    uint32_t first_season;
    const cobre_inflow_stats **of_season; /* of one hydro: by season, its stats row or NULL */
} builder;

/* ---- tables ---------------------------------------------------------------------------------- */

/* A case without a statistics file has those of its stages. */
static mcp_status take_stats(builder *b, mcp_error *err)
{
    const cobre_case *input = b->input;
    inflow_tables *tables = &b->model->tables;

    size_t hydros = input->hydro_count, stages = input->stage_count;
    cobre_inflow_stats *rows = mcp_arena_array(b->arena, hydros, stages * sizeof *rows);
    if (!rows)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow statistics");
    for (size_t i = 0; i < hydros * stages; i++) {
        size_t h = i / stages, t = i % stages;
        const cobre_hydro_stage *at = &input->hydro_stages[t * hydros + h];
        rows[i] = (cobre_inflow_stats){ h, input->stages[t].id, at->inflow_mean, at->inflow_std };
    }
    tables->stats = rows;
    tables->stats_count = hydros * stages;
    return MCP_OK;
}

static mcp_status take_tables(builder *b, mcp_error *err)
{
    const cobre_scenarios *scenarios = &b->input->scenarios;
    inflow_tables *tables = &b->model->tables;

    tables->stats = scenarios->inflow_stats;
    tables->stats_count = scenarios->inflow_stats_count;
    tables->ar = scenarios->ar;
    tables->ar_count = scenarios->ar_count;
    tables->annual = scenarios->annual;
    tables->annual_count = scenarios->annual_count;
    if (scenarios->has_correlation) {
        tables->profiles = scenarios->profiles;
        tables->profile_count = scenarios->profile_count;
        tables->profile_of_stage = scenarios->profile_of_stage;
    }
    if (estimate_is_needed(b->input))
        return estimate_tables(tables, b->arena, b->input, err);
    return tables->stats_count > 0 ? MCP_OK : take_stats(b, err);
}

/* ---- statistics ------------------------------------------------------------------------------ */

typedef struct moments {
    double mean, std;
} moments;

static const cobre_inflow_stats *find_stats(const builder *b, size_t hydro, int32_t stage_id)
{
    const inflow_tables *tables = &b->model->tables;
    size_t low = 0, high = tables->stats_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const cobre_inflow_stats *at = &tables->stats[middle];
        if (at->hydro < hydro || (at->hydro == hydro && at->stage_id < stage_id))
            low = middle + 1;
        else
            high = middle;
    }
    const cobre_inflow_stats *found = &tables->stats[low];
    return low < tables->stats_count && found->hydro == hydro && found->stage_id == stage_id ? found
                                                                                             : NULL;
}

/* The index of a study stage; COBRE_NONE: there is none of this id. */
static size_t stage_of(const cobre_case *input, int32_t id)
{
    size_t low = 0, high = input->stage_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (input->stages[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < input->stage_count && input->stages[low].id == id ? low : COBRE_NONE;
}

static bool season_of(const cobre_case *input, int32_t id, uint32_t *season)
{
    size_t t = stage_of(input, id);

    if (t != COBRE_NONE) {
        *season = input->stages[t].season_id;
        return input->stages[t].has_season;
    }
    for (size_t i = 0; i < input->pre_stage_count; i++) {
        if (input->pre_stages[i].id == id) {
            *season = input->pre_stages[i].season_id;
            return input->pre_stages[i].has_season;
        }
    }
    return false;
}

static void count_seasons(builder *b)
{
    const cobre_case *input = b->input;

    for (size_t t = 0; t < input->stage_count; t++) {
        bool is_new = input->stages[t].has_season;
        if (is_new && b->seasons == 0)
            b->first_season = input->stages[t].season_id;
        for (size_t u = 0; u < t && is_new; u++)
            is_new = !input->stages[u].has_season ||
                     input->stages[u].season_id != input->stages[t].season_id;
        b->seasons += is_new;
    }
}

/* For each season the hydro's statistics in the last stage of the season that has any. */
static void collect_seasons(builder *b, size_t hydro)
{
    const inflow_tables *tables = &b->model->tables;
    uint32_t season = 0;

    for (size_t i = 0; i < b->seasons; i++)
        b->of_season[i] = NULL;
    for (size_t i = 0; i < tables->stats_count; i++) {
        const cobre_inflow_stats *row = &tables->stats[i];
        if (row->hydro == hydro && season_of(b->input, row->stage_id, &season) &&
            season < b->seasons)
            b->of_season[season] = row;
    }
}

/* The estimates know every season: that of a lag is so many seasons before the stage's. */
static moments estimated_before(const builder *b, size_t hydro, size_t stage, size_t lag)
{
    const inflow_estimate *estimate = b->model->tables.estimate;
    size_t seasons = estimate->seasons;
    size_t season = (b->input->stages[stage].season_id + seasons - lag % seasons) % seasons;
    size_t at = hydro * seasons + season;

    return (moments){ estimate->mean[at], estimate->std[at] };
}

/* The id of the stage that a lag is of: so many ids before, or where stages are parts of periods,
 * the last stage of the period so many periods before. */
static int64_t id_before(const builder *b, size_t stage, size_t lag)
{
    const cobre_stage *stages = b->input->stages;
    size_t u = stage;

    if (!b->model->accumulates || b->input->config.original_arithmetic)
        return (int64_t)stages[stage].id - (int64_t)lag;
    while (u > 0 && lag > 0)
        lag -= b->model->moves[--u].is_last;
    return (int64_t)stages[u].id - (int64_t)lag;
}

/* Mean and deviation of the inflow of a lag of a stage. */
static moments moments_before(const builder *b, size_t hydro, size_t stage, size_t lag)
{
    int64_t id = id_before(b, stage, lag);
    const cobre_inflow_stats *row = find_stats(b, hydro, (int32_t)id);

    if (!row && b->model->tables.stats_estimated)
        return estimated_before(b, hydro, stage, lag);
    if (!row && b->seasons > 0) {
        int64_t count = (int64_t)b->seasons;
        int64_t season = (id + b->first_season) % count;
        row = b->of_season[season < 0 ? season + count : season];
    }
    return row ? (moments){ row->mean, row->std } : (moments){ 0.0, 0.0 };
}

/* ---- coefficients ---------------------------------------------------------------------------- */

static size_t count_lags(const cobre_case *input, const inflow_tables *tables)
{
    size_t lags = 0;

    for (size_t i = 0; i < tables->ar_count; i++) {
        const cobre_ar_row *row = &tables->ar[i];
        if (row->lag > lags && stage_of(input, row->stage_id) != COBRE_NONE)
            lags = row->lag;
    }
    for (size_t i = 0; i < tables->annual_count && lags < YEAR_LAGS; i++) {
        if (stage_of(input, tables->annual[i].stage_id) != COBRE_NONE)
            lags = YEAR_LAGS;
    }
    return lags;
}

/* Put the standardized coefficients where psi will be, and the ratios where sigma will be. */
static void spread_coefficients(builder *b)
{
    const inflow_tables *tables = &b->model->tables;
    size_t hydros = b->model->hydros, lags = b->model->lags;

    for (size_t i = 0; i < b->model->stages * hydros; i++)
        b->sigma[i] = 1.0;
    for (size_t i = 0; i < tables->ar_count; i++) {
        const cobre_ar_row *row = &tables->ar[i];
        size_t t = stage_of(b->input, row->stage_id);
        if (t == COBRE_NONE || row->lag == 0)
            continue;
        size_t at = t * hydros + row->hydro;
        b->psi[at * lags + row->lag - 1] = row->coefficient;
        b->sigma[at] = row->residual_ratio;
        if (row->lag > b->order[at])
            b->order[at] = row->lag;
    }
}

static mcp_status refuse(const builder *b, size_t hydro, size_t stage, const char *why,
                         mcp_error *err)
{
    return mcp_error_set(err, MCP_E_PARAMS,
                         "scenarios/inflow_ar_coefficients.parquet: hydro %" PRId32
                         " has coefficients in stage %" PRId32 ", but %s",
                         b->input->hydros[hydro].id, b->input->stages[stage].id, why);
}

static mcp_status scale_coefficients(builder *b, size_t hydro, size_t stage, mcp_error *err)
{
    size_t at = stage * b->model->hydros + hydro;
    double *psi = b->psi + at * b->model->lags;
    const cobre_inflow_stats *row = find_stats(b, hydro, b->input->stages[stage].id);
    double std = row ? row->std : 0.0;

    b->base[at] = row ? row->mean : 0.0;
    b->sigma[at] *= std;
    if (b->order[at] > 0 && !b->input->stages[stage].has_season)
        return refuse(b, hydro, stage, "the stage has no season_id; give it one", err);
    if (b->order[at] > 0 && std == 0.0)
        return refuse(b, hydro, stage, "its std_m3s there is 0; remove them or give it one", err);
    for (size_t l = 0; l < b->order[at]; l++) {
        moments lag = moments_before(b, hydro, stage, l + 1);
        psi[l] = lag.std > 0.0 ? psi[l] * std / lag.std : 0.0;
        b->base[at] -= psi[l] * lag.mean;
    }
    return MCP_OK;
}

static void add_annual(builder *b, const cobre_annual_row *row)
{
    size_t t = stage_of(b->input, row->stage_id);

    if (t == COBRE_NONE)
        return;
    size_t at = t * b->model->hydros + row->hydro;
    const cobre_inflow_stats *stats = find_stats(b, row->hydro, row->stage_id);
    double psi = stats && row->std > 0.0 ? row->coefficient * stats->std / row->std : 0.0;
    for (size_t l = 0; l < YEAR_LAGS; l++)
        b->psi[at * b->model->lags + l] += psi / YEAR_LAGS;
    b->base[at] -= psi * row->mean;
    if (b->order[at] < YEAR_LAGS)
        b->order[at] = YEAR_LAGS;
}

static mcp_status make_coefficients(builder *b, mcp_error *err)
{
    const inflow_model *model = b->model;
    const inflow_tables *tables = &model->tables;

    spread_coefficients(b);
    count_seasons(b);
    b->of_season = mcp_arena_array(b->arena, b->seasons, sizeof *b->of_season);
    if (!b->of_season)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow model");
    for (size_t h = 0; h < model->hydros; h++) {
        if (model->lags > 0)
            collect_seasons(b, h);
        for (size_t t = 0; t < model->stages; t++) {
            mcp_status st = scale_coefficients(b, h, t, err);
            if (st != MCP_OK)
                return st;
        }
    }
    for (size_t i = 0; i < tables->annual_count; i++)
        add_annual(b, &tables->annual[i]);
    return MCP_OK;
}

/* ---- the model ------------------------------------------------------------------------------- */

static mcp_status make_arrays(builder *b, mcp_error *err)
{
    size_t places = b->model->stages * b->model->hydros;

    b->base = mcp_arena_array(b->arena, places, sizeof *b->base);
    b->sigma = mcp_arena_array(b->arena, places, sizeof *b->sigma);
    b->order = mcp_arena_array(b->arena, places, sizeof *b->order);
    b->psi = mcp_arena_array(b->arena, places, b->model->lags * sizeof *b->psi);
    if (!b->base || !b->sigma || !b->order || !b->psi)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow model");
    return MCP_OK;
}

static mcp_status make_lags(builder *b, mcp_error *err)
{
    double *means = mcp_arena_array(b->arena, b->model->hydros, sizeof *means);

    if (!means)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow model");
    for (size_t h = 0; h < b->model->hydros && b->model->stages > 0; h++) {
        const cobre_inflow_stats *row = find_stats(b, h, b->input->stages[0].id);
        means[h] = row ? row->mean : 0.0;
    }
    return lags_build(b->model, b->arena, b->input, means, err);
}

mcp_status inflow_model_build(inflow_model *out, mcp_arena *arena, const cobre_case *input,
                              mcp_error *err)
{
    inflow_model made = { .stages = input->stage_count, .hydros = input->hydro_count };
    builder b = { .input = input, .arena = arena, .model = &made };
    mcp_status st = take_tables(&b, err);

    made.lags = count_lags(input, &made.tables);
    if (st == MCP_OK)
        st = make_arrays(&b, err);
    if (st == MCP_OK)
        st = make_lags(&b, err);
    if (st == MCP_OK)
        st = make_coefficients(&b, err);
    if (st != MCP_OK)
        return st;
    made.base = b.base;
    made.sigma = b.sigma;
    made.psi = b.psi;
    made.order = b.order;
    *out = made;
    return MCP_OK;
}

double inflow_certain(const inflow_model *model, size_t stage, size_t hydro, const double *lags)
{
    size_t at = stage * model->hydros + hydro;
    const double *psi = model->psi + at * model->lags;
    double inflow = model->base[at];

    for (size_t l = 0; l < model->order[at]; l++)
        inflow += psi[l] * lags[l * model->hydros + hydro];
    return inflow;
}
