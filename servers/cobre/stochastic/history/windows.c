/*
 * windows.c - from observed inflows to the noises that the inflow model needs to give them.
 *
 * A window is walked stage by stage as a path would be: the noise is what the inflow is above the
 * model's, in deviations, and the observed inflow moves the lags.
 */
#include "stochastic/history/windows.h"

#include <string.h>

#include "stochastic/history/series.h"

/* A season of a year, relative to the year of the first stage. */
typedef struct moment {
    uint32_t season;
    int32_t offset;
} moment;

typedef struct walk {
    const cobre_case *input;
    const inflow_model *model;
    history_series series;
    moment *stages, *before; /* by stage; by lag */
    double *inflow;          /* [stage * hydros + hydro] of the window at work */
    double *lags, *sums;
} walk;

static uint32_t cycle_length(const cobre_case *input, const history_series *series)
{
    if (!input->has_seasons)
        return series->seasons;
    if (input->cycle == COBRE_CYCLE_MONTHLY)
        return 12;
    return input->cycle == COBRE_CYCLE_WEEKLY ? 52 : (uint32_t)input->season_count;
}

/* Where stages and lags lie; false when a stage has no season. */
static bool place_moments(walk *w)
{
    int32_t offset = 0;
    int64_t cycle = cycle_length(w->input, &w->series);

    for (size_t t = 0; t < w->model->stages; t++) {
        const cobre_stage *stage = &w->input->stages[t];
        if (!stage->has_season)
            return false;
        if (t > 0 && stage->season_id < w->stages[t - 1].season)
            offset++;
        w->stages[t] = (moment){ stage->season_id, offset };
    }
    for (size_t l = 0; l < w->model->lags && w->model->stages > 0; l++) {
        int64_t at = (int64_t)w->stages[0].season - (int64_t)l - 1;
        int64_t years = at / cycle - (at % cycle < 0);
        w->before[l] = (moment){ (uint32_t)(at - years * cycle), (int32_t)years };
    }
    return true;
}

static bool observed(const walk *w, const moment *moments, size_t count, int32_t year, double *out)
{
    size_t hydros = w->model->hydros;

    for (size_t i = 0; i < count * hydros; i++) {
        const moment *at = &moments[i / hydros];
        const series_value *value = series_find(&w->series, i % hydros, at->season,
                                                year + at->offset);
        if (!value)
            return false;
        out[i] = value->value;
    }
    return true;
}

/* ---- the walk of a window -------------------------------------------------------------------- */

static void rebuild(walk *w, const lag_rebuild *rebuild)
{
    size_t hydros = w->model->hydros;

    for (size_t i = 0; i < rebuild->lags * hydros; i++) {
        size_t l = i / hydros, h = i % hydros;
        w->lags[i] = 0.0;
        for (size_t k = 0; k < rebuild->count[l]; k++)
            w->lags[i] += rebuild->share[l][k] * w->inflow[(rebuild->first[l] + k) * hydros + h];
    }
}

/* Move the lags past a stage; returns the accumulated weight. */
static double move(walk *w, const lag_move *move, const double *inflow, double weight)
{
    size_t hydros = w->model->hydros;

    if (w->model->lags == 0 || move->is_frozen)
        return weight;
    weight += move->weight;
    for (size_t h = 0; h < hydros; h++)
        w->sums[h] += move->weight * inflow[h];
    if (!move->is_last)
        return weight;
    memmove(w->lags + hydros, w->lags, (w->model->lags - 1) * hydros * sizeof *w->lags);
    for (size_t h = 0; h < hydros; h++) {
        w->lags[h] = w->sums[h] / weight;
        w->sums[h] = move->spill * inflow[h];
    }
    return move->spill;
}

static void find_noise(walk *w, double *noise)
{
    const inflow_model *model = w->model;
    size_t hydros = model->hydros;
    double weight = model->initial_weight;

    if (hydros > 0)
        memcpy(w->sums, model->initial_sum, hydros * sizeof *w->sums);
    for (size_t t = 0; t < model->stages; t++) {
        const double *inflow = w->inflow + t * hydros;
        if (model->moves[t].rebuild)
            rebuild(w, model->moves[t].rebuild);
        for (size_t h = 0; h < hydros; h++) {
            double sigma = model->sigma[t * hydros + h];
            double above = inflow[h] - inflow_certain(model, t, h, w->lags);
            noise[t * hydros + h] = sigma > 0.0 ? above / sigma : 0.0;
        }
        weight = move(w, &model->moves[t], inflow, weight);
    }
}

/* ---- the windows ----------------------------------------------------------------------------- */

static bool is_allowed(int32_t year, const int32_t *years, size_t count)
{
    bool allowed = !years;

    for (size_t i = 0; years && i < count; i++)
        allowed = allowed || years[i] == year;
    return allowed;
}

static mcp_status make_walk(walk *w, mcp_arena *arena, mcp_error *err)
{
    size_t hydros = w->model->hydros, stages = w->model->stages, lags = w->model->lags;

    w->stages = mcp_arena_array(arena, stages, sizeof *w->stages);
    w->before = mcp_arena_array(arena, lags, sizeof *w->before);
    w->inflow = mcp_arena_array(arena, stages, hydros * sizeof *w->inflow);
    w->lags = mcp_arena_array(arena, lags, hydros * sizeof *w->lags);
    w->sums = mcp_arena_array(arena, hydros, sizeof *w->sums);
    if (!w->stages || !w->before || !w->inflow || !w->lags || !w->sums)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the historical years");
    return MCP_OK;
}

/* Write the window of a year, or find that the history does not cover it. */
static bool take_year(walk *w, int32_t year, double *lags, double *noise)
{
    size_t lag_count = w->model->lags * w->model->hydros;

    if (!observed(w, w->before, w->model->lags, year, w->lags) ||
        !observed(w, w->stages, w->model->stages, year, w->inflow))
        return false;
    if (lag_count > 0)
        memcpy(lags, w->lags, lag_count * sizeof *lags);
    find_noise(w, noise);
    return true;
}

/* The years in which hydro 0 has values, ascending; `out` NULL: count them. */
static size_t candidate_years(const walk *w, int32_t *out)
{
    size_t count = 0, end = w->model->hydros > 0 ? w->series.first[1] : 0;

    for (size_t i = 0; i < end; i++) {
        int32_t year = w->series.values[i].year;
        if (i > 0 && year <= w->series.values[i - 1].year)
            continue;
        if (out)
            out[count] = year;
        count++;
    }
    return count;
}

static mcp_status refuse(bool has_seasons, mcp_error *err)
{
    return mcp_error_set(
        err, MCP_E_PARAMS, "scenarios/inflow_history.parquet: %s",
        has_seasons ? "no allowed year has observations of all hydros for all stages and the lags "
                      "before them; add observations or years"
                    : "historical inflows need a season_id in every stage");
}

mcp_status windows_build(history_windows *out, mcp_arena *arena, const cobre_case *input,
                         const inflow_model *model, const int32_t *years, size_t year_count,
                         mcp_error *err)
{
    walk w = { .input = input, .model = model };
    size_t lag_count = model->lags * model->hydros, noises = model->stages * model->hydros;
    size_t count = 0;
    mcp_status st = series_read(&w.series, arena, input, err);

    if (st == MCP_OK)
        st = make_walk(&w, arena, err);
    if (st != MCP_OK)
        return st;
    size_t candidates = candidate_years(&w, NULL);
    int32_t *names = mcp_arena_array(arena, candidates, sizeof *names);
    double *lags = mcp_arena_array(arena, candidates, lag_count * sizeof *lags);
    double *noise = mcp_arena_array(arena, candidates, noises * sizeof *noise);
    if (!names || !lags || !noise)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the historical years");
    bool has_seasons = place_moments(&w);
    candidate_years(&w, names);
    for (size_t i = 0; has_seasons && i < candidates; i++) {
        int32_t year = names[i];
        if (is_allowed(year, years, year_count) &&
            take_year(&w, year, lags + count * lag_count, noise + count * noises))
            names[count++] = year;
    }
    if (count == 0)
        return refuse(has_seasons, err);
    *out = (history_windows){ count, names, lag_count, lags, noise };
    return MCP_OK;
}
