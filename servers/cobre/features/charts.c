/*
 * charts.c - see charts.h.
 */
#include "features/charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "chart/plot.h"

#define CHART_META "causeway/chart"
#define IMAGE_MAX ((size_t)2 << 20)

bool cobre_chart_is_wanted(const mcp_call *call)
{
    bool is_wanted = false;

    return mcp_json_bool(mcp_json_get(mcp_call_meta(call), CHART_META), &is_wanted) && is_wanted;
}

static mcp_status no_memory(mcp_call *call)
{
    return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a chart");
}

static mcp_status add_image(mcp_call *call, const plot *chart)
{
    mcp_buf image;

    mcp_buf_init(&image, IMAGE_MAX);
    mcp_status st = plot_png(&image, chart, mcp_call_arena(call));
    if (st == MCP_OK)
        st = mcp_call_image(call, image.data, image.length, "image/png");
    else
        mcp_error_set(mcp_call_error(call), st, "the chart cannot be drawn");
    mcp_buf_clear(&image);
    return st;
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static bool is_in(const query_range *range, int64_t value)
{
    return !range->is_set || (value >= range->first && value <= range->last);
}

mcp_status cobre_chart_convergence(mcp_call *call, const results_convergence *history,
                                   const query_range *range)
{
    double *at = mcp_arena_array(mcp_call_arena(call), 5 * history->count + 1, sizeof *at);
    size_t count = 0;

    if (!at)
        return no_memory(call);
    double *lower = at + history->count;
    double *upper = lower + history->count;
    double *low = upper + history->count;
    double *high = low + history->count;
    for (size_t i = 0; i < history->count; i++) {
        const sddp_iteration *row = &history->rows[i];
        if (!is_in(range, row->iteration))
            continue;
        at[count] = row->iteration;
        lower[count] = row->lower_bound;
        upper[count] = row->upper_bound;
        low[count] = row->upper_bound - row->ci_95;
        high[count] = row->upper_bound + row->ci_95;
        count++;
    }
    const plot chart = {
        .title = "convergence",
        .x_name = "iteration",
        .x = at,
        .count = count,
        .curves = { { .name = "lower bound", .y = lower },
                    { .name = "upper bound, 95 % band", .y = upper, .low = low, .high = high } },
        .curve_count = 2,
    };
    return add_image(call, &chart);
}

/* ---- values by stage ------------------------------------------------------------------------- */

static const char *usual_column(const query_table *table)
{
    switch (table->schema) {
    case RESULTS_HYDROS:
        return "storage_final_hm3";
    case RESULTS_BUSES:
        return "spot_price";
    case RESULTS_EXCHANGES:
        return "net_flow_mw";
    case RESULTS_COSTS:
        return "immediate_cost";
    default:
        return "generation_mw";
    }
}

static const columns_column *find_values(const query_table *table, const columns_table *rows)
{
    const columns_column *usual = columns_find(rows, usual_column(table));

    for (size_t i = 0; !usual && i < rows->column_count; i++)
        if (rows->columns[i].type == COLUMNS_F64)
            usual = &rows->columns[i];
    return usual && usual->type == COLUMNS_F64 ? usual : NULL;
}

static bool make_room(cobre_stage_values *values, mcp_call *call, size_t more)
{
    size_t room = 2 * values->room + more;

    if (values->count + more <= values->room)
        return true;
    struct cobre_stage_value *items = mcp_arena_array(mcp_call_arena(call), room, sizeof *items);
    if (!items)
        return false;
    if (values->count > 0)
        memcpy(items, values->items, values->count * sizeof *items);
    values->items = items;
    values->room = room;
    return true;
}

mcp_status cobre_chart_gather(cobre_stage_values *values, mcp_call *call, const columns_table *rows)
{
    const columns_column *stage = columns_find(rows, "stage_id");
    const columns_column *value = find_values(values->table, rows);

    if (!stage || !value || stage->type != COLUMNS_I32)
        return MCP_OK;
    if (!make_room(values, call, rows->rows))
        return no_memory(call);
    values->name = value->name;
    for (size_t i = 0; i < rows->rows; i++)
        if (columns_is_valid(stage, i) && columns_is_valid(value, i) &&
            isfinite(((const double *)value->values)[i]))
            values->items[values->count++] = (struct cobre_stage_value){
                ((const int32_t *)stage->values)[i], ((const double *)value->values)[i]
            };
    return MCP_OK;
}

static int by_stage(const void *a, const void *b)
{
    const struct cobre_stage_value *first = a;
    const struct cobre_stage_value *second = b;

    if (first->stage != second->stage)
        return first->stage < second->stage ? -1 : 1;
    return (first->value > second->value) - (first->value < second->value);
}

/* The percentile of sorted values, between its two neighbours. */
static double percentile(const struct cobre_stage_value *sorted, size_t count, double share)
{
    double at = share * (double)(count - 1);
    size_t below = (size_t)at;
    size_t above = below + 1 < count ? below + 1 : below;

    return sorted[below].value + (at - (double)below) * (sorted[above].value - sorted[below].value);
}

mcp_status cobre_chart_stages(mcp_call *call, cobre_stage_values *values)
{
    struct cobre_stage_value *items = values->items;
    size_t count = 0;

    if (!values->name || values->count == 0)
        return mcp_call_text(call, "No chart: the rows have no stage_id with a column of numbers.");
    double *stage = mcp_arena_array(mcp_call_arena(call), 4 * values->count, sizeof *stage);
    if (!stage)
        return no_memory(call);
    double *mean = stage + values->count;
    double *low = mean + values->count;
    double *high = low + values->count;
    qsort(items, values->count, sizeof *items, by_stage);
    for (size_t first = 0, end; first < values->count; first = end, count++) {
        double sum = 0;
        for (end = first; end < values->count && items[end].stage == items[first].stage; end++)
            sum += items[end].value;
        stage[count] = items[first].stage;
        mean[count] = sum / (double)(end - first);
        low[count] = percentile(items + first, end - first, 0.1);
        high[count] = percentile(items + first, end - first, 0.9);
    }
    const plot chart = {
        .title = values->name,
        .x_name = "stage",
        .x = stage,
        .count = count,
        .curves = { { .name = "mean, band from 10 % to 90 %",
                      .y = mean,
                      .low = low,
                      .high = high } },
        .curve_count = 1,
    };
    return add_image(call, &chart);
}
