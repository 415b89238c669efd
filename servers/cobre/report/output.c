/*
 * output.c - reading metadata and the convergence record.
 */
#include "report/output.h"

#include <math.h>

#include "guard/paths.h"

#define METADATA_MAX ((size_t)1 << 20)

double report_number(const mcp_json *object, const char *pointer, double fallback)
{
    double number;
    return object && mcp_json_double(mcp_json_pointer(object, pointer), &number) ? number
                                                                                 : fallback;
}

const char *report_text(const mcp_json *object, const char *pointer, const char *fallback)
{
    const char *text = object ? mcp_json_string(mcp_json_pointer(object, pointer), NULL) : NULL;
    return text ? text : fallback;
}

static mcp_status read_metadata(const mcp_json **out, int out_fd, const char *path,
                                mcp_arena *arena, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const char *bytes = NULL;
    size_t length = 0;
    mcp_status st = guard_read_file(&bytes, &length, out_fd, path, METADATA_MAX, arena, err);
    if (st == MCP_E_NOT_FOUND && guard_is_taken(out_fd, path))
        return mcp_error_set(err, MCP_E_PARSE, "%s is not a regular file", path);
    if (st != MCP_OK)
        return st;
    st = mcp_json_read(out, arena, bytes, length, &why);
    if (st == MCP_OK && !mcp_json_is_object(*out))
        return mcp_error_set(err, MCP_E_PARSE, "%s is not an object", path);
    return st == MCP_OK ? MCP_OK : mcp_error_set(err, st, "%s: %s", path, why.message);
}

mcp_status report_output_read(report_output *out, columns *engine, int out_fd, mcp_arena *arena,
                              mcp_error *err)
{
    report_output found = { 0 };
    mcp_status st = read_metadata(&found.training, out_fd, REPORT_TRAINING, arena, err);
    if (st == MCP_OK || st == MCP_E_NOT_FOUND) {
        mcp_error none = MCP_ERROR_INIT;
        mcp_status other = read_metadata(&found.simulation, out_fd, REPORT_SIMULATION, arena,
                                         &none);
        if (other == MCP_OK)
            st = MCP_OK;
        else if (other != MCP_E_NOT_FOUND)
            st = mcp_error_set(err, other, "%s", none.message);
    }
    if (st == MCP_OK) {
        st = results_read_convergence(&found.convergence, engine, out_fd, arena, err);
        st = st == MCP_E_NOT_FOUND ? MCP_OK : st;
    }
    if (st != MCP_OK)
        return st;
    found.reason = results_reason(
        report_text(found.training, "/convergence/termination_reason", NULL));
    *out = found;
    return MCP_OK;
}

const char *report_output_status(const report_output *output)
{
    return report_text(output->training ? output->training : output->simulation, "/status",
                       "unknown");
}

void report_output_write(mcp_json_writer *writer, const char *name, const mcp_json *metadata)
{
    if (metadata)
        mcp_write_member_value(writer, name, metadata);
    else
        mcp_write_member_null(writer, name);
}

sddp_training report_output_training(const report_output *output)
{
    const mcp_json *about = output->training;
    sddp_training training = {
        .rows = output->convergence.rows,
        .iterations = output->convergence.count,
        .total_cuts = (int64_t)report_number(about, "/row_pool/total_generated", 0),
        .active_cuts = (int64_t)report_number(about, "/row_pool/total_active", 0),
        .peak_active_cuts = (int64_t)report_number(about, "/row_pool/peak_active", 0),
        .wall_time_ms = (int64_t)(1000 * report_number(about, "/duration_seconds", 0)),
        .fallbacks = (int64_t)report_number(about, "/solver_fallbacks", 0),
        .solver = report_text(about, "/solver", NULL),
    };
    for (size_t i = 0; i < training.iterations; i++)
        training.lp_solves += training.rows[i].lp_solves;
    return training;
}

sddp_simulation report_output_simulation(const report_output *output)
{
    const mcp_json *about = output->simulation;
    sddp_simulation simulation = {
        .scenarios_total = (uint32_t)report_number(about, "/scenarios/total", 0),
        .scenarios_completed = (uint32_t)report_number(about, "/scenarios/completed", 0),
        .mean = report_number(about, "/cost_summary/mean", 0),
        .std = report_number(about, "/cost_summary/std", 0),
        .min = report_number(about, "/cost_summary/min", 0),
        .max = report_number(about, "/cost_summary/max", 0),
        .cvar = report_number(about, "/cost_summary/cvar", 0),
        .wall_time_ms = (int64_t)(1000 * report_number(about, "/duration_seconds", 0)),
    };
    simulation.stopped = simulation.scenarios_completed < simulation.scenarios_total;
    if (simulation.scenarios_completed)
        simulation.ci_95 = 1.96 * simulation.std / sqrt((double)simulation.scenarios_completed);
    return simulation;
}
