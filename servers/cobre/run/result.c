/*
 * result.c - what a run answers, as JSON.
 */
#include <math.h>

#include "run/run.h"

/* A training that had nothing left to do, and no records, has the bounds of the policy. */
static sddp_iteration last_iteration(const cobre_run_result *result)
{
    const sddp_training *training = &result->training;
    const policy_metadata *from = &result->resumed;
    sddp_iteration last = { .iteration = (int32_t)from->completed_iterations };
    if (training->iterations)
        return training->rows[training->iterations - 1];
    if (isfinite(from->final_lower_bound) && isfinite(from->best_upper_bound)) {
        last.lower_bound = from->final_lower_bound;
        last.upper_bound = from->best_upper_bound;
        last.gap = (last.upper_bound - last.lower_bound) / fmax(1.0, fabs(last.upper_bound));
    }
    return last;
}

static void write_training(const cobre_run_result *result, mcp_json_writer *writer)
{
    const sddp_training *training = &result->training;
    const sddp_iteration last = last_iteration(result);
    mcp_write_member_object(writer, "training");
    mcp_write_member_int(writer, "iterations", last.iteration);
    mcp_write_member_double(writer, "final_lower_bound", last.lower_bound);
    mcp_write_member_double(writer, "final_upper_bound", last.upper_bound);
    mcp_write_member_double(writer, "final_gap", last.gap);
    mcp_write_member_string(writer, "termination_reason", sddp_reason_name(training->reason));
    mcp_write_member_int(writer, "total_cuts", training->total_cuts);
    mcp_write_member_int(writer, "wall_time_ms", training->wall_time_ms);
    mcp_write_end(writer);
}

static void write_simulation(const cobre_run_result *result, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "simulation");
    mcp_write_member_int(writer, "scenarios", result->simulation.scenarios_completed);
    mcp_write_member_array(writer, "output_files");
    for (size_t i = 0; result->simulation_folders[i]; i++)
        mcp_write_string(writer, result->simulation_folders[i]);
    mcp_write_end(writer);
    mcp_write_member_int(writer, "wall_time_ms", result->simulation.wall_time_ms);
    mcp_write_end(writer);
}

const char *cobre_run_status(const cobre_run_result *result)
{
    return result->end == COBRE_RUN_PARTIAL ? "partial" : "completed";
}

void cobre_run_write_phases(const cobre_run_result *result, mcp_json_writer *writer)
{
    if (result->has_training)
        write_training(result, writer);
    else
        mcp_write_member_null(writer, "training");
    if (result->has_simulation)
        write_simulation(result, writer);
    else
        mcp_write_member_null(writer, "simulation");
}

void cobre_run_write(const cobre_run_result *result, mcp_json_writer *writer)
{
    mcp_write_member_string(writer, "status", cobre_run_status(result));
    mcp_write_member_string(writer, "output_dir", result->output_dir);
    cobre_run_write_phases(result, writer);
}
