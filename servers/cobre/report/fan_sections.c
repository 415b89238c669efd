/*
 * fan_sections.c - storage and marginal cost: quantiles over the scenarios, by entity and stage.
 *
 * A large study has more entities than a page can show. The largest are chosen, by their size in
 * the first scenarios; the note says how many are left out and how to see them.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "mcp/buf.h"
#include "report/sections.h"

#define RANKING_FILES 20
#define QUANTILES 5 /* after the columns id and stage; then comes the mean */

struct fan {
    const char *folder, *noun;
    int64_t code;               /* of the entity in the dictionary */
    const char *size_name;      /* as in "by storage" */
    const char *ranking;        /* a statement: id, size; the largest first */
    const char *before, *after; /* a statement around the ids: id, stage, quantiles, mean */
};

static const struct fan storage = {
    .folder = "hydros",
    .noun = "hydros",
    .code = QUERY_HYDRO,
    .size_name = "storage",
    .ranking = "SELECT hydro_id::DOUBLE, max(storage_final_hm3) FROM files GROUP BY hydro_id "
               "ORDER BY 2 DESC, 1",
    .before =
        "SELECT hydro_id::DOUBLE, stage_id::DOUBLE, q[1], q[2], q[3], q[4], q[5], m FROM (SELECT "
        "hydro_id, stage_id, quantile_cont(storage_final_hm3, [0.05, 0.25, 0.5, 0.75, 0.95]) AS q, "
        "avg(storage_final_hm3) AS m FROM files WHERE hydro_id IN (",
    .after = ") AND coalesce(block_id, 0) = "
             "0 GROUP BY hydro_id, stage_id) ORDER BY 1, 2",
};

static const struct fan marginal_cost = {
    .folder = "buses",
    .noun = "buses",
    .code = QUERY_BUS,
    .size_name = "load",
    .ranking = "SELECT bus_id::DOUBLE, sum(load_mwh) FROM files GROUP BY bus_id ORDER BY 2 DESC, 1",
    .before =
        "SELECT bus_id::DOUBLE, stage_id::DOUBLE, q[1], q[2], q[3], q[4], q[5], m FROM (SELECT "
        "bus_id, stage_id, quantile_cont(p, [0.05, 0.25, 0.5, 0.75, 0.95]) AS q, avg(p) AS m FROM "
        "(SELECT bus_id, stage_id, CASE WHEN sum(load_mwh) > 0 THEN sum(spot_price * load_mwh) / "
        "sum(load_mwh) ELSE avg(spot_price) END AS p FROM files WHERE bus_id IN (",
    .after = ") GROUP BY "
             "bus_id, stage_id, \"(file)\") GROUP BY bus_id, stage_id) ORDER BY 1, 2",
};

static const char *list_ids(const report_context *context, const columns_table *ranking,
                            size_t count)
{
    mcp_buf text;
    mcp_buf_init(&text, (size_t)1 << 20);
    for (size_t i = 0; i < count; i++)
        mcp_buf_printf(&text, "%s%" PRId64, i > 0 ? "," : "", (int64_t)report_value(ranking, 0, i));
    const char *list = text.data ? mcp_arena_strdup(context->arena, text.data) : NULL;
    mcp_buf_clear(&text);
    return list;
}

/* The rows of one entity lie together, in the order of the stages. */
static size_t first_row(const columns_table *table, double id)
{
    size_t row = 0;
    while (row < table->rows && report_value(table, 0, row) != id)
        row++;
    return row;
}

/* One value a stage, null where the entity does not exist. */
static void write_values(const report_context *context, const columns_table *table, size_t first,
                         size_t column, size_t stages)
{
    double id = first < table->rows ? report_value(table, 0, first) : (double)NAN;
    size_t row = first;
    mcp_write_array(context->writer);
    for (size_t stage = 0; stage < stages; stage++) {
        bool is_there = row < table->rows && report_value(table, 0, row) == id &&
                        report_value(table, 1, row) == (double)stage;
        report_write_number(context->writer,
                            is_there ? report_value(table, column, row) : (double)NAN);
        row += is_there;
    }
    mcp_write_end(context->writer);
}

static void write_entity(const report_context *context, const struct fan *fan,
                         const columns_table *table, double id, size_t stages)
{
    size_t first = first_row(table, id);
    mcp_write_object(context->writer);
    mcp_write_member_int(context->writer, "id", (int64_t)id);
    mcp_write_member_string(context->writer, "name", report_name(context, fan->code, (int64_t)id));
    mcp_write_member_array(context->writer, "quantiles");
    for (size_t q = 0; q < QUANTILES; q++)
        write_values(context, table, first, q + 2, stages);
    mcp_write_end(context->writer);
    mcp_write_name(context->writer, "mean");
    write_values(context, table, first, QUANTILES + 2, stages);
    mcp_write_end(context->writer);
}

static size_t count_stages(const columns_table *table)
{
    double last = -1;
    for (size_t row = 0; row < table->rows; row++)
        last = fmax(last, report_value(table, 1, row));
    return last < REPORT_STAGES_MAX ? (size_t)(last + 1) : REPORT_STAGES_MAX;
}

static const char *note_of(const report_context *context, const struct fan *fan, size_t shown,
                           size_t all, const report_rows *rows)
{
    if (shown == all)
        return report_scenarios_note(context, rows);
    return report_format(context,
                         "The %zu largest of %zu %s are shown, by %s. `cobre report --entities N` "
                         "shows more.",
                         shown, all, fan->noun, fan->size_name);
}

static mcp_status write_fan(const report_context *context, const struct fan *fan,
                            const char **absent, mcp_error *err)
{
    report_rows ranking = { 0 }, rows = { 0 };
    char sql[8192];
    mcp_status st = report_query(&ranking, context, fan->folder, RANKING_FILES, fan->ranking,
                                 absent, err);
    if (st != MCP_OK || *absent)
        return st;
    size_t all = ranking.table->rows;
    size_t shown = all < context->entities_max ? all : context->entities_max;
    const char *ids = list_ids(context, ranking.table, shown);
    if (!ids) {
        *absent = report_format(context, "simulation/%s has no row.", fan->folder);
        return MCP_OK;
    }
    snprintf(sql, sizeof sql, "%s%s%s", fan->before, ids, fan->after);
    st = report_query(&rows, context, fan->folder, 0, sql, absent, err);
    if (st != MCP_OK || *absent)
        return st;
    size_t stages = count_stages(rows.table);
    mcp_write_member_array(context->writer, "stages");
    for (size_t stage = 0; stage < stages; stage++)
        mcp_write_int(context->writer, (int64_t)stage);
    mcp_write_end(context->writer);
    mcp_write_member_array(context->writer, "entities");
    for (size_t i = 0; i < shown; i++)
        write_entity(context, fan, rows.table, report_value(ranking.table, 0, i), stages);
    mcp_write_end(context->writer);
    report_write_note(context, note_of(context, fan, shown, all, &rows));
    return MCP_OK;
}

mcp_status report_storage(const report_context *context, const char **absent, mcp_error *err)
{
    return write_fan(context, &storage, absent, err);
}

mcp_status report_marginal_cost(const report_context *context, const char **absent, mcp_error *err)
{
    return write_fan(context, &marginal_cost, absent, err);
}
