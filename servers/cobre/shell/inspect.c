/*
 * inspect.c - cobre inspect: what a case directory contains, without validation.
 */
#include "case/read/inspect.h"
#include "shell/work.h"

static void print_words(const cobre_inspection *about, FILE *out)
{
    fprintf(out, "  stages:    %lld\n  buses:     %lld\n  hydros:    %lld\n  thermals:  %lld\n",
            (long long)about->stages, (long long)about->buses, (long long)about->hydros,
            (long long)about->thermals);
    fprintf(out, "  lines:     %lld\n  scenarios: %s\n  files:\n", (long long)about->lines,
            about->scenario_source);
    for (size_t i = 0; i < about->file_count; i++)
        fprintf(out, "    %s\n", about->files_present[i]);
}

static void write_members(const void *of, mcp_json_writer *writer)
{
    cobre_inspection_write(of, writer);
}

static int inspect_case(shell_work *work)
{
    cobre_inspection about;
    cobre_report *report = cobre_report_new(work->arena);
    shell_answer answer = { .report = report, .of = &about };
    if (!report ||
        cobre_case_inspect(&about, work->dir_fd, report, work->arena, &work->error) != MCP_OK)
        return shell_fail(work);
    if (cobre_report_count(report, COBRE_SEVERITY_ERROR)) {
        shell_print_findings(work, cli_err(work->line), report, COBRE_SEVERITY_ERROR);
        answer.exit_status = COBRE_EXIT_INVALID;
        return shell_print(work, &answer);
    }
    answer.members = write_members;
    if (work->format == SHELL_WORDS)
        print_words(&about, cli_out(work->line));
    return shell_print(work, &answer);
}

int cobre_command_inspect(const cli_line *line, void *data)
{
    shell_work work;
    (void)data;
    int exit_status = shell_begin(&work, line, "inspect", SHELL_CASE);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = inspect_case(&work);
    shell_end(&work);
    return exit_status;
}
