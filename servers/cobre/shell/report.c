/*
 * report.c - cobre report: an output directory as one HTML file, or its metadata as JSON.
 */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "mcp/files.h"
#include "report/console.h"
#include "report/page.h"
#include "shell/work.h"

/* report.html, made by the build; empty where Node.js was missing. */
extern const mcp_file cobre_page_files[];

struct report {
    shell_work *work;
    report_output output;
    report_order order;
    mcp_status status; /* of the sections, while they are written */
};

/* ---- JSON ------------------------------------------------------------------------------------ */

static void write_members(const void *of, mcp_json_writer *writer)
{
    struct report *report = *(struct report *const *)of;
    mcp_write_member_string(writer, "output_directory", report->work->dir);
    mcp_write_member_string(writer, "status", report_output_status(&report->output));
    report_output_write(writer, "training", report->output.training);
    report_output_write(writer, "simulation", report->output.simulation);
    if (report->order.sections)
        report->status = report_sections_write(writer, report->work->engine, &report->order,
                                               report->work->arena, &report->work->error);
}

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
    mcp_write_double_or_null(writer, last ? last->lower_bound : (double)NAN);
    mcp_write_name(writer, "final_upper_bound");
    mcp_write_double_or_null(writer, last ? last->upper_bound : (double)NAN);
    mcp_write_name(writer, "final_gap");
    mcp_write_double_or_null(writer, last ? last->gap : (double)NAN);
    mcp_write_member_string(writer, "termination_reason", output->reason);
    mcp_write_member_int(writer, "total_cuts", training.total_cuts);
    mcp_write_member_int(writer, "wall_time_ms", training.wall_time_ms);
    mcp_write_member_int(writer, "ranks",
                         (int64_t)report_number(output->training, "/distribution/world_size", 1));
    mcp_write_member_int(
        writer, "threads_per_rank",
        (int64_t)report_number(output->training, "/distribution/threads_per_rank", 1));
    mcp_write_end(writer);
}

static void write_data(const void *of, mcp_json_writer *writer)
{
    struct report *report = *(struct report *const *)of;
    const report_output *output = &report->output;
    const mcp_json *about = output->training ? output->training : output->simulation;
    const char *name = report_case_name(report->work->dir, report->work->arena);
    mcp_write_member_string(writer, "output_directory", report->work->dir);
    mcp_write_member_string(writer, "case_name", name ? name : "");
    mcp_write_member_string(writer, "status", report_output_status(output));
    mcp_write_member_string(writer, "cobre_version",
                            report_text(about, "/cobre_version", "unknown"));
    write_training(output, writer);
    report_output_write(writer, "simulation", output->simulation);
    mcp_write_member_object(writer, "metadata");
    mcp_write_member_null(writer, "config_hash");
    mcp_write_member_null(writer, "system_hash");
    mcp_write_member_string(writer, "started_at", report_text(about, "/started_at", "unknown"));
    mcp_write_member_string(writer, "finished_at", report_text(about, "/completed_at", "unknown"));
    mcp_write_end(writer);
    if (report->order.sections)
        report->status = report_sections_write(writer, report->work->engine, &report->order,
                                               report->work->arena, &report->work->error);
}

static int print_json(struct report *report)
{
    const struct report *const of = report;
    const shell_answer answer = { .members = write_members, .data = write_data, .of = &of };
    return shell_print(report->work, &answer);
}

/* ---- HTML ------------------------------------------------------------------------------------ */

static int refuse_place(const struct report *report, const char *path, const char *message)
{
    return shell_refuse(report->work, COBRE_EXIT_FILES,
                        cobre_record_new(report->work->arena, "CheckpointFailed",
                                         "Name a file that can be written with --output.",
                                         COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", path),
                                                       COBRE_TEXT("operation", "write"),
                                                       COBRE_TEXT("detail", message)),
                                         "The report cannot be written to %s: %s", path, message));
}

/* The folder and the name of the file; the folder must exist. */
static mcp_status open_place(int *fd, const char **folder, const char **name,
                             const struct report *report, mcp_error *err)
{
    const shell_work *work = report->work;
    const char *given = cli_string(work->line, "output");
    const char *slash = given ? strrchr(given, '/') : NULL;
    *name = given ? (slash ? slash + 1 : given) : REPORT_PAGE;
    if (!given) {
        *fd = fcntl(work->dir_fd, F_DUPFD_CLOEXEC, 0);
        *folder = work->dir;
        return *fd >= 0 ? MCP_OK : mcp_error_set(err, MCP_E_IO, "no descriptor is left");
    }
    const char *path = slash ? mcp_arena_strndup(work->arena, given,
                                                 slash == given ? 1 : (size_t)(slash - given))
                             : ".";
    return guard_open_dir(fd, folder, work->guard, path ? path : "", work->arena, err);
}

static int print_page(struct report *report)
{
    shell_work *work = report->work;
    const char *folder = NULL, *name = NULL;
    const mcp_file *page = mcp_files_find(cobre_page_files, REPORT_PAGE);
    int fd = -1;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = open_place(&fd, &folder, &name, report, &err);
    if (st != MCP_OK)
        return refuse_place(report, cli_string(work->line, "output"), err.message);
    st = report_page_write(fd, name, page, work->engine, &report->order, work->arena, &work->error);
    close(fd);
    const char *path = mcp_arena_printf(work->arena, "%s/%s",
                                        strcmp(folder, "/") == 0 ? "" : folder, name);
    if (st == MCP_E_IO || st == MCP_E_DENIED || st == MCP_E_STORAGE || st == MCP_E_PARAMS)
        return refuse_place(report, path ? path : name, work->error.message);
    if (st != MCP_OK || !path)
        return shell_fail(work);
    console_put(cli_out(work->line), path);
    fputc('\n', cli_out(work->line));
    return COBRE_EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int refuse_section(const shell_work *work, const char *wrong)
{
    return shell_refuse(
        work, COBRE_EXIT_INVALID,
        cobre_record_new(work->arena, "InvalidEnum", "Names of sections go between commas.",
                         COBRE_MEMBERS(COBRE_TEXT("field", "--section"), COBRE_TEXT("value", wrong),
                                       COBRE_LIST("allowed_values", report_section_names)),
                         "The report has no section '%s'", wrong));
}

static int report_on(shell_work *work)
{
    const char *wrong = NULL;
    struct report report = {
        .work = work,
        .order = { .out_fd = work->dir_fd,
                   .output_dir = work->dir,
                   .entities_max = (size_t)cli_int(work->line, "entities", 12),
                   .sections = cli_string(work->line, "section") },
    };
    if (report.order.sections && !report_sections_exist(report.order.sections, &wrong, work->arena))
        return refuse_section(work, wrong);
    mcp_status st = report_output_read(&report.output, work->engine, work->dir_fd, work->arena,
                                       &work->error);
    if (st != MCP_OK)
        return shell_refuse_output(work, work->dir, st);
    report.order.output = &report.output;
    if (work->format == SHELL_WORDS)
        return print_page(&report);
    int exit_status = print_json(&report);
    return report.status == MCP_OK ? exit_status : COBRE_EXIT_INTERNAL;
}

int cobre_command_report(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "report", SHELL_OUTPUT);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = report_on(&work);
    shell_end(&work);
    return exit_status;
}
