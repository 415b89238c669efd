/*
 * series.c - seasons of dates, and the mean of the observations of one season.
 */
#include "stochastic/history/series.h"

#include <inttypes.h>
#include <stdlib.h>

#include "stochastic/calendar.h"

#define LAST_WEEK 51

/* ---- seasons --------------------------------------------------------------------------------- */

static bool is_inside(cobre_day date, cobre_day start, cobre_day end)
{
    return date >= start && date < end;
}

static bool season_of_stage(const cobre_case *input, cobre_day date, uint32_t *season)
{
    for (size_t t = 0; t < input->stage_count; t++) {
        const cobre_stage *stage = &input->stages[t];
        if (stage->has_season && is_inside(date, stage->start, stage->end)) {
            *season = stage->season_id;
            return true;
        }
    }
    for (size_t i = 0; i < input->pre_stage_count; i++) {
        const cobre_pre_stage *stage = &input->pre_stages[i];
        if (stage->has_season && is_inside(date, stage->start, stage->end)) {
            *season = stage->season_id;
            return true;
        }
    }
    return false;
}

/* A day of the year as a number that grows with month and day. */
static uint32_t of_year(uint32_t month, uint32_t day)
{
    return month * 32 + day;
}

static bool contains(const cobre_season *season, calendar_date date)
{
    uint32_t start = of_year(season->month_start, season->day_start);
    uint32_t end = of_year(season->month_end, season->day_end);
    uint32_t at = of_year(date.month, date.day);

    return start <= end ? at >= start && at <= end : at >= start || at <= end;
}

static bool season_of_calendar(const cobre_case *input, cobre_day date, uint32_t *season)
{
    calendar_date at = calendar_date_of(date);
    uint32_t week = calendar_iso_week(date) - 1;

    for (size_t i = 0; input->has_seasons && i < input->season_count; i++) {
        const cobre_season *candidate = &input->seasons[i];
        bool fits = input->cycle == COBRE_CYCLE_MONTHLY ? candidate->month_start == at.month
                    : input->cycle == COBRE_CYCLE_WEEKLY
                        ? candidate->id == (week < LAST_WEEK ? week : LAST_WEEK)
                        : contains(candidate, at);
        if (fits) {
            *season = candidate->id;
            return true;
        }
    }
    return false;
}

static int32_t year_of(const cobre_case *input, uint32_t id, cobre_day date)
{
    calendar_date at = calendar_date_of(date);
    const cobre_season *season = calendar_season(input, id);

    if (!input->has_seasons || !season || input->config.original_arithmetic)
        return at.year;
    if (input->cycle == COBRE_CYCLE_WEEKLY)
        return calendar_iso_year(date);
    if (season->month_start <= season->month_end)
        return at.year;
    bool begun_before = at.month < season->month_start;
    if (id == input->seasons[0].id)
        return begun_before ? at.year : at.year + 1;
    return begun_before ? at.year - 1 : at.year;
}

/* ---- the series ------------------------------------------------------------------------------ */

static mcp_status place(series_value *out, const cobre_case *input, const cobre_observation *from,
                        mcp_error *err)
{
    uint32_t season = 0;

    if (!season_of_stage(input, from->date, &season) &&
        !season_of_calendar(input, from->date, &season)) {
        calendar_date at = calendar_date_of(from->date);
        return mcp_error_set(err, MCP_E_PARAMS,
                             "scenarios/inflow_history.parquet: hydro %" PRId32
                             " has an observation of %04" PRId32 "-%02" PRIu32 "-%02" PRIu32
                             ", a date of no season; add season_definitions to stages.json",
                             input->hydros[from->hydro].id, at.year, at.month, at.day);
    }
    *out = (series_value){ from->hydro, year_of(input, season, from->date), season, from->date,
                           from->value };
    return MCP_OK;
}

static bool same_occurrence(const series_value *a, const series_value *b)
{
    return a->hydro == b->hydro && a->season == b->season && a->year == b->year;
}

static int by_hydro_and_date(const void *a, const void *b)
{
    const series_value *x = a, *y = b;

    if (x->hydro != y->hydro)
        return x->hydro < y->hydro ? -1 : 1;
    return x->date < y->date ? -1 : x->date > y->date;
}

static int by_occurrence(const void *a, const void *b)
{
    const series_value *x = *(const series_value *const *)a, *y = *(const series_value *const *)b;

    if (x->hydro != y->hydro)
        return x->hydro < y->hydro ? -1 : 1;
    if (x->season != y->season)
        return x->season < y->season ? -1 : 1;
    if (x->year != y->year)
        return x->year < y->year ? -1 : 1;
    return x->date < y->date ? -1 : x->date > y->date;
}

static double month_days(const series_value *value)
{
    calendar_date at = calendar_date_of(value->date);
    return calendar_month_days(at.year, (int32_t)at.month);
}

/* The mean of `count` values of one occurrence in the place of the first. A single value keeps its
 * bits. */
static void merge(series_value *first, const series_value *const *values, size_t count)
{
    double sum = 0.0, days = 0.0;

    if (count == 1)
        return;
    for (size_t i = 0; i < count; i++) {
        sum += values[i]->value * month_days(values[i]);
        days += month_days(values[i]);
    }
    first->value = sum / days;
}

/* Merge the values of each occurrence; the merged ones become the first of `values`, in no order.
 * Returns their number. */
static size_t aggregate(series_value *values, const series_value **order, size_t count,
                        series_value *merged)
{
    size_t kept = 0;

    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && same_occurrence(order[i], order[next]);)
            next++;
        merged[kept] = *order[i];
        merge(&merged[kept++], order + i, next - i);
    }
    for (size_t i = 0; i < kept; i++)
        values[i] = merged[i];
    return kept;
}

static void sort(series_value *values, const series_value **order, size_t count)
{
    if (count == 0)
        return;
    qsort(values, count, sizeof *values, by_hydro_and_date);
    for (size_t i = 0; i < count; i++)
        order[i] = &values[i];
    qsort(order, count, sizeof *order, by_occurrence);
}

static uint32_t count_seasons(const cobre_case *input)
{
    uint32_t count = 0;

    for (size_t t = 0; t < input->stage_count; t++) {
        if (input->stages[t].has_season && input->stages[t].season_id >= count)
            count = input->stages[t].season_id + 1;
    }
    for (size_t i = 0; i < input->pre_stage_count; i++) {
        if (input->pre_stages[i].has_season && input->pre_stages[i].season_id >= count)
            count = input->pre_stages[i].season_id + 1;
    }
    return count;
}

mcp_status series_read(history_series *out, mcp_arena *arena, const cobre_case *input,
                       mcp_error *err)
{
    size_t count = input->scenarios.history_count, at = 0;
    series_value *values = mcp_arena_array(arena, count, 2 * sizeof *values);
    const series_value **order = mcp_arena_array(arena, count, sizeof *order);
    size_t *first = mcp_arena_array(arena, input->hydro_count + 1, sizeof *first);

    if (!values || !order || !first)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the inflow history");
    for (size_t i = 0; i < count; i++) {
        mcp_status st = place(&values[i], input, &input->scenarios.history[i], err);
        if (st != MCP_OK)
            return st;
    }
    sort(values, order, count);
    if (input->has_seasons) {
        count = aggregate(values, order, count, values + count);
        sort(values, order, count);
    }
    for (size_t h = 0; h <= input->hydro_count; h++) {
        while (at < count && values[at].hydro < h)
            at++;
        first[h] = at;
    }
    *out = (history_series){ values, first, count, order, count_seasons(input) };
    return MCP_OK;
}

/* ---- look-ups -------------------------------------------------------------------------------- */

/* The first value, by season, that does not come before the wanted one. */
static size_t lower_bound(const history_series *series, const series_value *wanted)
{
    size_t low = 0, high = series->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_occurrence(&series->by_season[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const series_value *const *series_of_season(const history_series *series, size_t hydro,
                                            uint32_t season, size_t *count)
{
    const series_value begin = { hydro, INT32_MIN, season, INT32_MIN, 0.0 };
    const series_value end = { hydro, INT32_MAX, season, INT32_MAX, 0.0 };
    size_t first = lower_bound(series, &begin);

    *count = lower_bound(series, &end) - first;
    return series->by_season + first;
}

const series_value *series_find(const history_series *series, size_t hydro, uint32_t season,
                                int32_t year)
{
    const series_value wanted = { hydro, year, season, INT32_MIN, 0.0 };
    size_t at = lower_bound(series, &wanted);

    return at < series->count && same_occurrence(series->by_season[at], &wanted)
               ? series->by_season[at]
               : NULL;
}
