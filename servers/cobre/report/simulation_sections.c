/*
 * simulation_sections.c - costs, generation and deficit, averaged over the scenarios.
 */
#include <math.h>
#include <string.h>

#include "report/sections.h"

/* ---- costs ----------------------------------------------------------------------------------- */

/* The columns of the statement below, after the stage (the output page, 5.1). */
static const struct category {
    const char *name, *label;
} categories[] = {
    { "thermal", "Thermal generation" },
    { "contract", "Contracts" },
    { "deficit", "Deficit and excess" },
    { "violation", "Violated limits" },
    { "regularization", "Spillage and turbining" },
    { "curtailment", "Curtailment" },
    { "exchange", "Exchange" },
    { "pumping", "Pumping" },
};

#define CATEGORY_COUNT (sizeof categories / sizeof *categories)

static const char cost_statement[] =
    "SELECT stage_id::DOUBLE, avg(discount_factor * thermal_cost), "
    "avg(discount_factor * contract_cost), avg(discount_factor * (deficit_cost + excess_cost)), "
    "avg(discount_factor * (storage_violation_cost + filling_target_cost + hydro_violation_cost + "
    "inflow_penalty_cost + generic_violation_cost)), "
    "avg(discount_factor * (spillage_cost + fpha_turbined_cost)), "
    "avg(discount_factor * curtailment_cost), avg(discount_factor * exchange_cost), "
    "avg(discount_factor * pumping_cost) FROM files GROUP BY stage_id ORDER BY stage_id";

/* 51 quantiles of the cost of a scenario: of 0, 2, 4 ... 100 %. */
static const char distribution_statement[] =
    "SELECT p * 100.0::DOUBLE, c FROM (SELECT unnest(ps) AS p, unnest(quantile_cont) AS c FROM "
    "(SELECT ps, quantile_cont(c, [0, .02, .04, .06, .08, .1, .12, .14, .16, .18, .2, .22, .24, "
    ".26, .28, .3, .32, .34, .36, .38, .4, .42, .44, .46, .48, .5, .52, .54, .56, .58, .6, .62, "
    ".64, .66, .68, .7, .72, .74, .76, .78, .8, .82, .84, .86, .88, .9, .92, .94, .96, .98, 1]) "
    "AS quantile_cont FROM (SELECT sum(discount_factor * immediate_cost) AS c FROM files "
    "GROUP BY \"(file)\"), (SELECT [i / 50.0 FOR i IN range(51)] AS ps) GROUP BY ps))";

static double sum_of(const columns_table *table, size_t column)
{
    double sum = 0;
    for (size_t row = 0; row < table->rows; row++)
        sum += fabs(report_value(table, column, row));
    return sum;
}

/* A sum below this share of all is what rounding leaves. */
#define SHARE_MIN 1e-12

static void write_categories(const report_context *context, const columns_table *table)
{
    double all = 0;
    for (size_t i = 0; i < CATEGORY_COUNT; i++)
        all += sum_of(table, i + 1);
    mcp_write_member_array(context->writer, "categories");
    for (size_t i = 0; i < CATEGORY_COUNT; i++) {
        if (!(sum_of(table, i + 1) > SHARE_MIN * all))
            continue;
        mcp_write_object(context->writer);
        mcp_write_member_string(context->writer, "name", categories[i].name);
        mcp_write_member_string(context->writer, "label", categories[i].label);
        report_write_column(context, "mean", table, i + 1);
        mcp_write_end(context->writer);
    }
    mcp_write_end(context->writer);
}

mcp_status report_costs(const report_context *context, const char **absent, mcp_error *err)
{
    report_rows stages = { 0 }, costs = { 0 };
    mcp_status st = report_query(&stages, context, "costs", 0, cost_statement, absent, err);
    if (st == MCP_OK && !*absent)
        st = report_query(&costs, context, "costs", 0, distribution_statement, absent, err);
    if (st != MCP_OK || *absent)
        return st;
    report_write_column(context, "stages", stages.table, 0);
    write_categories(context, stages.table);
    mcp_write_member_object(context->writer, "distribution");
    report_write_column(context, "probability", costs.table, 0);
    report_write_column(context, "cost", costs.table, 1);
    mcp_write_end(context->writer);
    mcp_write_name(context->writer, "mean");
    report_write_number(context->writer,
                        report_number(context->output->simulation, "/cost_summary/mean", NAN));
    mcp_write_name(context->writer, "cvar");
    report_write_number(context->writer,
                        report_number(context->output->simulation, "/cost_summary/cvar", NAN));
    report_write_note(context, report_scenarios_note(context, &stages));
    return MCP_OK;
}

/* ---- generation ------------------------------------------------------------------------------ */

/* Gigawatt-hours of a stage over all entities; the sum over the scenarios, divided when written. */
static const struct source {
    const char *name, *label, *folder, *energy;
} sources[] = {
    { "hydro", "Hydro", "hydros", "sum(generation_mwh)" },
    { "thermal", "Thermal", "thermals", "sum(generation_mwh)" },
    { "non_controllable", "Wind and sun", "non_controllables", "sum(generation_mwh)" },
    { "contract", "Contracts", "contracts",
      "sum(CASE WHEN price_per_mwh < 0 THEN -energy_mwh ELSE energy_mwh END)" },
    { "deficit", "Deficit", "buses", "sum(deficit_mwh)" },
};

#define SOURCE_COUNT (sizeof sources / sizeof *sources)

static mcp_status query_energy(report_rows *out, const report_context *context, const char *folder,
                               const char *energy, const char **absent, mcp_error *err)
{
    const char *sql = report_format(
        context,
        "SELECT stage_id::DOUBLE, %s::DOUBLE / 1000 FROM files GROUP BY stage_id ORDER BY stage_id",
        energy);
    return report_query(out, context, folder, 0, sql, absent, err);
}

/* The values at the stages of the load, 0 where the source has no row. */
static void write_energy(const report_context *context, const char *name, const report_rows *energy,
                         const report_rows *load)
{
    size_t row = 0;
    mcp_write_member_array(context->writer, name);
    for (size_t i = 0; i < load->table->rows; i++) {
        double stage = report_value(load->table, 0, i);
        while (row < energy->table->rows && report_value(energy->table, 0, row) < stage)
            row++;
        bool is_there = row < energy->table->rows && report_value(energy->table, 0, row) == stage;
        report_write_number(context->writer, is_there ? report_value(energy->table, 1, row) /
                                                            (double)energy->scenarios
                                                      : 0.0);
    }
    mcp_write_end(context->writer);
}

mcp_status report_generation(const report_context *context, const char **absent, mcp_error *err)
{
    report_rows load = { 0 }, energy[SOURCE_COUNT] = { 0 };
    const char *note = NULL;
    mcp_status st = query_energy(&load, context, "buses", "sum(load_mwh)", absent, err);
    for (size_t i = 0; i < SOURCE_COUNT && st == MCP_OK && !*absent; i++) {
        const char *missing = NULL;
        st = query_energy(&energy[i], context, sources[i].folder, sources[i].energy, &missing, err);
        if (missing && strstr(missing, "cannot be read"))
            note = missing;
    }
    if (st != MCP_OK || *absent)
        return st;
    report_write_column(context, "stages", load.table, 0);
    mcp_write_member_array(context->writer, "sources");
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        if (!energy[i].table || !(sum_of(energy[i].table, 1) > 0))
            continue;
        mcp_write_object(context->writer);
        mcp_write_member_string(context->writer, "name", sources[i].name);
        mcp_write_member_string(context->writer, "label", sources[i].label);
        write_energy(context, "gwh", &energy[i], &load);
        mcp_write_end(context->writer);
    }
    mcp_write_end(context->writer);
    write_energy(context, "load", &load, &load);
    report_write_note(context, note ? note : report_scenarios_note(context, &load));
    return MCP_OK;
}

/* ---- deficit --------------------------------------------------------------------------------- */

/* Energy below a watt-hour is what the solver's tolerance leaves. */
static const char stage_statement[] =
    "SELECT stage_id::DOUBLE, avg(CASE WHEN d > 1e-6 THEN 1.0::DOUBLE ELSE 0 END), avg(d), "
    "quantile_cont(d, 0.95) FROM (SELECT stage_id, \"(file)\", sum(deficit_mwh) AS d FROM files "
    "GROUP BY ALL) GROUP BY stage_id ORDER BY stage_id";

static const char bus_statement[] =
    "SELECT bus_id::DOUBLE, avg(CASE WHEN d > 1e-6 THEN 1.0::DOUBLE ELSE 0 END), avg(d), avg(l) "
    "FROM (SELECT bus_id, \"(file)\", sum(deficit_mwh) AS d, sum(load_mwh) AS l FROM files "
    "GROUP BY ALL) GROUP BY bus_id ORDER BY 3 DESC, 1";

static void write_buses(const report_context *context, const columns_table *table)
{
    mcp_write_member_array(context->writer, "buses");
    for (size_t row = 0; row < table->rows && row < context->entities_max; row++) {
        int64_t id = (int64_t)report_value(table, 0, row);
        mcp_write_object(context->writer);
        mcp_write_member_int(context->writer, "id", id);
        mcp_write_member_string(context->writer, "name", report_name(context, QUERY_BUS, id));
        mcp_write_name(context->writer, "probability");
        report_write_number(context->writer, report_value(table, 1, row));
        mcp_write_name(context->writer, "expected");
        report_write_number(context->writer, report_value(table, 2, row));
        mcp_write_name(context->writer, "load");
        report_write_number(context->writer, report_value(table, 3, row));
        mcp_write_end(context->writer);
    }
    mcp_write_end(context->writer);
}

mcp_status report_deficit(const report_context *context, const char **absent, mcp_error *err)
{
    report_rows stages = { 0 }, buses = { 0 };
    mcp_status st = report_query(&stages, context, "buses", 0, stage_statement, absent, err);
    if (st == MCP_OK && !*absent)
        st = report_query(&buses, context, "buses", 0, bus_statement, absent, err);
    if (st != MCP_OK || *absent)
        return st;
    report_write_column(context, "stages", stages.table, 0);
    report_write_column(context, "probability", stages.table, 1);
    report_write_column(context, "expected", stages.table, 2);
    report_write_column(context, "p95", stages.table, 3);
    write_buses(context, buses.table);
    report_write_note(context, report_scenarios_note(context, &stages));
    return MCP_OK;
}
