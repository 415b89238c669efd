/*
 * summary.c - cobre summary: the training and the simulation of an output directory, in the words
 * of the run.
 */
#include <math.h>

#include "report/console.h"
#include "report/output.h"
#include "shell/work.h"

struct summary {
    const shell_work *work;
    const report_output *output;
};

static void write_training(const report_output *output, mcp_json_writer *writer)
{
    if (!output->training) {
        mcp_write_member_null(writer, "training");
        return;
    }
    sddp_training training = report_output_training(output);
    const sddp_iteration *last = training.iterations ? &training.rows[training.iterations - 1]
                                                     : NULL;
    mcp_write_member_object(writer, "training");
    mcp_write_member_int(writer, "iterations", (int64_t)training.iterations);
    mcp_write_name(writer, "final_lower_bound");
    mcp_write_double_or_null(writer, last ? last->lower_bound : NAN);
    mcp_write_name(writer, "final_upper_bound");
    mcp_write_double_or_null(writer, last ? last->upper_bound : NAN);
    mcp_write_name(writer, "inner_upper_bound");
    mcp_write_double_or_null(writer, sddp_training_inner_bound(&training));
    mcp_write_name(writer, "final_gap");
    mcp_write_double_or_null(writer, last ? last->gap : NAN);
    mcp_write_member_string(writer, "termination_reason", output->reason);
    mcp_write_member_int(writer, "total_cuts", training.total_cuts);
    mcp_write_member_int(writer, "active_cuts", training.active_cuts);
    mcp_write_member_int(writer, "lp_solves", training.lp_solves);
    mcp_write_member_int(writer, "wall_time_ms", training.wall_time_ms);
    mcp_write_end(writer);
}

static void write_simulation(const report_output *output, mcp_json_writer *writer)
{
    sddp_simulation simulation = report_output_simulation(output);
    const mcp_json *costs = mcp_json_get(output->simulation, "cost_summary");
    if (!output->simulation) {
        mcp_write_member_null(writer, "simulation");
        return;
    }
    mcp_write_member_object(writer, "simulation");
    mcp_write_member_int(writer, "scenarios", simulation.scenarios_completed);
    mcp_write_member_string(writer, "status",
                            report_text(output->simulation, "/status", "unknown"));
    if (costs)
        mcp_write_member_value(writer, "cost_summary", costs);
    else
        mcp_write_member_null(writer, "cost_summary");
    mcp_write_member_int(writer, "wall_time_ms", simulation.wall_time_ms);
    mcp_write_end(writer);
}

static void write_members(const void *of, mcp_json_writer *writer)
{
    const struct summary *summary = of;
    mcp_write_member_string(writer, "output_directory", summary->work->dir);
    mcp_write_member_string(writer, "status", report_output_status(summary->output));
    write_training(summary->output, writer);
    write_simulation(summary->output, writer);
}

static void print_words(const shell_work *work, const report_output *output)
{
    const console words = { .stream = cli_err(work->line),
                            .use_color = shell_use_color(work, cli_err(work->line)) };
    sddp_training training = report_output_training(output);
    sddp_simulation simulation = report_output_simulation(output);
    if (output->training)
        console_say_training(&words, &training, output->reason);
    if (output->simulation)
        console_say_simulation(&words, &simulation);
}

static int summarize(shell_work *work)
{
    report_output output;
    const struct summary summary = { work, &output };
    const shell_answer answer = { .members = write_members, .of = &summary };
    mcp_status st = report_output_read(&output, work->engine, work->dir_fd, work->arena,
                                       &work->error);
    if (st != MCP_OK)
        return shell_refuse_output(work, work->dir, st);
    if (work->format == SHELL_WORDS)
        print_words(work, &output);
    return shell_print(work, &answer);
}

int cobre_command_summary(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "summary", SHELL_OUTPUT);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = summarize(&work);
    shell_end(&work);
    return exit_status;
}
