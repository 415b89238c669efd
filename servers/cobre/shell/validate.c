/*
 * validate.c - cobre validate: the findings of the five layers.
 */
#include "mcp/clock.h"
#include "report/console.h"
#include "shell/work.h"
#include "validate/load.h"

struct verdict {
    const shell_work *work;
    const cobre_report *report;
    const cobre_case *input; /* NULL when the case has errors */
};

static void print_counts(FILE *out, const cobre_case *input)
{
    fprintf(out, "Valid case: %zu buses, %zu hydros, %zu thermals, %zu lines\n", input->bus_count,
            input->hydro_count, input->thermal_count, input->line_count);
    fprintf(out, "  buses: %zu\n  hydros: %zu\n  thermals: %zu\n  lines: %zu\n", input->bus_count,
            input->hydro_count, input->thermal_count, input->line_count);
}

static void print_verdict(const struct verdict *verdict)
{
    const shell_work *work = verdict->work;
    FILE *out = cli_out(work->line);
    size_t errors = cobre_report_count(verdict->report, COBRE_SEVERITY_ERROR);
    size_t warnings = cobre_report_count(verdict->report, COBRE_SEVERITY_WARNING);
    if (verdict->input)
        print_counts(out, verdict->input);
    if (errors || warnings) {
        fprintf(out, "Validation: %zu errors, %zu warnings in ", errors, warnings);
        console_put(out, work->dir);
        fputc('\n', out);
    }
    shell_print_findings(work, out, verdict->report, COBRE_SEVERITY_ERROR);
    shell_print_findings(work, out, verdict->report, COBRE_SEVERITY_WARNING);
    if (errors)
        fprintf(cli_err(work->line), "error: the case has %zu error%s\n", errors,
                errors == 1 ? "" : "s");
}

static void write_members(const void *of, mcp_json_writer *writer)
{
    cobre_report_write_verdict(((const struct verdict *)of)->report, writer);
}

static void write_data(const void *of, mcp_json_writer *writer)
{
    const struct verdict *verdict = of;
    const cobre_coverage *coverage = cobre_report_coverage(verdict->report);
    char now[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(now, mcp_clock_wall_ms(), 0);
    mcp_write_member_string(writer, "case_directory", verdict->work->dir);
    mcp_write_member_string(writer, "timestamp", now);
    mcp_write_member_int(writer, "layers_completed", coverage->layers_completed);
    mcp_write_member_int(writer, "files_checked", coverage->files_checked);
    if (verdict->input)
        mcp_write_member_int(writer, "entities_validated", coverage->entities_validated);
    else
        mcp_write_member_null(writer, "entities_validated");
}

static void write_summary(const void *of, mcp_json_writer *writer)
{
    const struct verdict *verdict = of;
    const cobre_coverage *coverage = cobre_report_coverage(verdict->report);
    mcp_write_member_int(writer, "files_checked", coverage->files_checked);
    mcp_write_member_int(writer, "entities_validated", coverage->entities_validated);
    mcp_write_member_int(writer, "error_count",
                         (int64_t)cobre_report_count(verdict->report, COBRE_SEVERITY_ERROR));
    mcp_write_member_int(writer, "warning_count",
                         (int64_t)cobre_report_count(verdict->report, COBRE_SEVERITY_WARNING));
}

static int validate_case(shell_work *work)
{
    struct verdict verdict = { .work = work };
    cobre_report *report = cobre_report_new(work->arena);
    if (!report)
        return shell_fail(work);
    if (cobre_case_load(&verdict.input, work->dir_fd, work->dir, work->engine, report, work->arena,
                        &work->error) != MCP_OK)
        return shell_fail(work);
    verdict.report = report;
    const shell_answer answer = {
        .exit_status = cobre_report_count(report, COBRE_SEVERITY_ERROR) ? COBRE_EXIT_INVALID
                                                                        : COBRE_EXIT_DONE,
        .report = report,
        .members = write_members,
        .data = write_data,
        .summary = write_summary,
        .of = &verdict,
    };
    if (work->format == SHELL_WORDS)
        print_verdict(&verdict);
    return shell_print(work, &answer);
}

int cobre_command_validate(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "validate", SHELL_CASE);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = validate_case(&work);
    shell_end(&work);
    return exit_status;
}
