/*
 * case_commands.c - the commands that work on a case directory: run and validate.
 *
 * Standard output has only results: text, or with --json exactly one object, the tool's result or
 * an error record. Messages for people go to standard error, with control characters replaced in
 * names from files.
 *
 * Signals are counted, and the run polls the count. The first ends it after the running iteration,
 * the second between two LP solves, the third kills the process.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns/columns.h"
#include "commands.h"
#include "guard/paths.h"
#include "report/console.h"
#include "run/run.h"
#include "run/threads.h"
#include "validate/load.h"

#define JSON_MAX ((size_t)64 << 20)

static sddp_stop should_stop(void *data)
{
    (void)data;
    int seen = serve_signals();
    if (seen == 0)
        return SDDP_STOP_NONE;
    return seen == 1 ? SDDP_STOP_AFTER_ITERATION : SDDP_STOP_NOW;
}

/* A closed log (SIGPIPE) does not end a run. */
static void watch_signals(void)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    serve_count_signals(2, SA_RESTART);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- what a command works with --------------------------------------------------------------- */

/* Everything is released by work_end. */
struct work {
    const cli_line *line;
    mcp_arena *arena;
    guard *guard; /* of the whole file system: the user's permissions are the limit */
    columns *engine;
    int case_fd;
    const char *case_dir;
    const char *output; /* the output directory */
    bool output_given;  /* by --output */
    mcp_error error;
};

/* One JSON object for standard output. */
struct answer {
    mcp_buf text;
    mcp_json_writer writer;
};

static void answer_begin(struct answer *answer)
{
    mcp_buf_init(&answer->text, JSON_MAX);
    mcp_json_writer_init(&answer->writer, &answer->text);
}

/* main checks standard output for write errors, once for all commands. */
static int answer_print(struct answer *answer, const struct work *work, int exit_status)
{
    static const char failed[] = "{\"kind\":\"InternalError\",\"message\":\"the answer cannot be "
                                 "written\",\"context\":{},\"suggestion\":null}";
    bool is_whole = mcp_json_writer_status(&answer->writer) == MCP_OK;
    if (is_whole)
        fwrite(answer->text.data, 1, answer->text.length, cli_out(work->line));
    else
        fputs(failed, cli_out(work->line));
    fputc('\n', cli_out(work->line));
    mcp_buf_clear(&answer->text);
    return is_whole ? exit_status : COBRE_EXIT_INTERNAL;
}

static int print_record(const struct work *work, const cobre_record *record, int exit_status)
{
    struct answer answer;
    console_complain(cli_err(work->line), "error", record->message, record->suggestion);
    if (!cli_flag(work->line, "json"))
        return exit_status;
    answer_begin(&answer);
    cobre_record_write(record, &answer.writer);
    return answer_print(&answer, work, exit_status);
}

/* An internal failure, described by work->error. The contract has no kind for it, and there may
 * be no memory for a record in the arena. */
static int fail(const struct work *work)
{
    static const cobre_member none = { 0 };
    const cobre_record record = { "InternalError", work->error.message, NULL, &none };
    return print_record(work, &record, COBRE_EXIT_INTERNAL);
}

static void work_end(struct work *work)
{
    if (work->case_fd >= 0)
        close(work->case_fd);
    columns_close(work->engine);
    guard_free(work->guard);
    mcp_arena_free(work->arena);
}

static int open_case(struct work *work)
{
    const char *path = cli_argument(work->line, 0);
    mcp_status st = guard_open_dir(&work->case_fd, &work->case_dir, work->guard, path, work->arena,
                                   &work->error);
    if (st == MCP_OK)
        return COBRE_EXIT_DONE;
    const cobre_record *record = cobre_record_new(
        work->arena, "MissingFile", "Check the path and that it is a directory.",
        COBRE_MEMBERS(COBRE_TEXT("file", path)), "%s", work->error.message);
    return record && st != MCP_E_NOMEM ? print_record(work, record, COBRE_EXIT_FILES) : fail(work);
}

/* COBRE_EXIT_DONE, or the exit status after the error was printed. */
static int work_begin(struct work *work, const cli_line *line)
{
    static const char *const roots[] = { "/" };
    memset(work, 0, sizeof *work);
    work->line = line;
    work->case_fd = -1;
    work->error.offset = -1;
    work->arena = mcp_arena_new(COBRE_CASE_ARENA_MAX);
    if (!work->arena) {
        mcp_error_set(&work->error, MCP_E_NOMEM, "out of memory");
        return fail(work);
    }
    if (guard_new(&work->guard, roots, 1, &work->error) != MCP_OK ||
        columns_open(&work->engine, &work->error) != MCP_OK)
        return fail(work);
    return open_case(work);
}

static void print_findings(const struct work *work, FILE *stream, const cobre_report *report,
                           cobre_severity severity)
{
    const char *word = severity == COBRE_SEVERITY_ERROR ? "error" : "warning";
    const cobre_finding *finding;
    size_t count = cobre_report_count(report, severity), i = 0;
    for (finding = cobre_report_finding(report, severity, i); finding != NULL;
         finding = cobre_report_finding(report, severity, i)) {
        console_complain(stream, word, cobre_finding_line(finding, work->arena),
                         finding->suggestion);
        i++;
    }
    if (i < count)
        fprintf(stream, "%s: %zu more are not listed\n", word, count - i);
}

/* ---- cobre validate -------------------------------------------------------------------------- */

static void print_counts(FILE *out, const cobre_case *input)
{
    fprintf(out, "Valid case: %zu buses, %zu hydros, %zu thermals, %zu lines\n", input->bus_count,
            input->hydro_count, input->thermal_count, input->line_count);
    fprintf(out, "  buses: %zu\n  hydros: %zu\n  thermals: %zu\n  lines: %zu\n", input->bus_count,
            input->hydro_count, input->thermal_count, input->line_count);
}

static void print_verdict(const struct work *work, const cobre_case *input,
                          const cobre_report *report)
{
    FILE *out = cli_out(work->line);
    size_t errors = cobre_report_count(report, COBRE_SEVERITY_ERROR);
    size_t warnings = cobre_report_count(report, COBRE_SEVERITY_WARNING);
    if (input)
        print_counts(out, input);
    if (errors || warnings) {
        fprintf(out, "Validation: %zu errors, %zu warnings in ", errors, warnings);
        console_put(out, work->case_dir);
        fputc('\n', out);
    }
    print_findings(work, out, report, COBRE_SEVERITY_ERROR);
    print_findings(work, out, report, COBRE_SEVERITY_WARNING);
}

static int print_verdict_json(const struct work *work, const cobre_report *report, int exit_status)
{
    struct answer answer;
    answer_begin(&answer);
    mcp_write_object(&answer.writer);
    cobre_report_write_verdict(report, &answer.writer);
    mcp_write_end(&answer.writer);
    return answer_print(&answer, work, exit_status);
}

static int validate_case(struct work *work)
{
    const cobre_case *input = NULL;
    cobre_report *report = cobre_report_new(work->arena);
    if (!report) {
        mcp_error_set(&work->error, MCP_E_NOMEM, "no memory for the report");
        return fail(work);
    }
    if (cobre_case_load(&input, work->case_fd, work->case_dir, work->engine, report, work->arena,
                        &work->error) != MCP_OK)
        return fail(work);
    size_t errors = cobre_report_count(report, COBRE_SEVERITY_ERROR);
    int exit_status = errors ? COBRE_EXIT_INVALID : COBRE_EXIT_DONE;
    if (cli_flag(work->line, "json"))
        return print_verdict_json(work, report, exit_status);
    print_verdict(work, input, report);
    if (errors)
        fprintf(cli_err(work->line), "error: the case has %zu error%s\n", errors,
                errors == 1 ? "" : "s");
    return exit_status;
}

int cobre_command_validate(const cli_line *line, void *data)
{
    struct work work;
    (void)data;
    int exit_status = work_begin(&work, line);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = validate_case(&work);
    work_end(&work);
    return exit_status;
}

/* ---- cobre run ------------------------------------------------------------------------------- */

struct watch {
    const struct work *work;
    console console;
};

static void on_started(const cobre_run_result *so_far, void *data)
{
    struct watch *watch = data;
    if (!watch->console.is_quiet)
        print_findings(watch->work, watch->console.stream, so_far->report, COBRE_SEVERITY_WARNING);
    console_started(&watch->console, so_far->input);
}

static void on_iteration(const sddp_iteration *row, const cobre_progress *progress, void *data)
{
    (void)progress;
    console_iteration(&((struct watch *)data)->console, row);
}

static void on_trained(const sddp_training *training, void *data)
{
    console_trained(&((struct watch *)data)->console, training);
}

static void on_scenario(uint32_t done, uint32_t total, int64_t elapsed_ms,
                        const cobre_progress *progress, void *data)
{
    (void)elapsed_ms;
    (void)progress;
    console_scenario(&((struct watch *)data)->console, done, total);
}

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    const struct work *work = data;
    if (work->output_given)
        return guard_open_or_make_dir(fd, path, work->guard, work->output, arena, err);
    *path = work->output;
    return guard_make_dir(fd, work->case_fd, "output", err);
}

static int run_exit_status(const cobre_run_result *result)
{
    switch (result->end) {
    case COBRE_RUN_COMPLETED:
        return COBRE_EXIT_DONE;
    case COBRE_RUN_PARTIAL:
        return serve_signal_status();
    case COBRE_RUN_INVALID:
    case COBRE_RUN_REFUSED:
        return COBRE_EXIT_INVALID;
    case COBRE_RUN_SOLVER_FAILED:
        return COBRE_EXIT_SOLVER;
    case COBRE_RUN_FAILED:
        break;
    }
    return COBRE_EXIT_FILES;
}

static int print_run(const struct work *work, const cobre_run_result *result)
{
    int exit_status = run_exit_status(result);
    struct answer answer;
    if (result->record)
        return print_record(work, result->record, exit_status);
    if (result->end == COBRE_RUN_INVALID)
        print_findings(work, cli_err(work->line), result->report, COBRE_SEVERITY_ERROR);
    if (!cli_flag(work->line, "json"))
        return exit_status;
    answer_begin(&answer);
    if (result->end == COBRE_RUN_INVALID) {
        cobre_report_write_failure(result->report, &answer.writer);
    } else {
        mcp_write_object(&answer.writer);
        cobre_run_write(result, &answer.writer);
        mcp_write_end(&answer.writer);
    }
    return answer_print(&answer, work, exit_status);
}

static mcp_status name_output(struct work *work)
{
    work->output = cli_string(work->line, "output");
    work->output_given = work->output != NULL;
    if (!work->output_given)
        work->output = mcp_arena_printf(work->arena, "%s/output", work->case_dir);
    if (!work->output)
        return mcp_error_set(&work->error, MCP_E_NOMEM, "no memory for a path");
    return MCP_OK;
}

static int run_case(struct work *work)
{
    const cli_line *line = work->line;
    struct watch watch = { .work = work };
    const cobre_run_observer observer = { on_started,  on_iteration, on_trained,
                                          on_scenario, should_stop,  &watch };
    cobre_run_order order = {
        .case_fd = work->case_fd,
        .case_dir = work->case_dir,
        .open_output = open_output,
        .output_data = work,
        .phases = COBRE_PHASES_BOTH,
        .threads = cobre_threads_given((unsigned)cli_int(line, "threads", 1)),
        .engine = work->engine,
        .observer = &observer,
    };
    cobre_run_result result;
    if (name_output(work) != MCP_OK)
        return fail(work);
    order.output_name = work->output;
    watch_signals();
    console_begin(&watch.console, cli_err(line), cli_flag(line, "quiet"),
                  cli_use_color(cli_string(line, "color"), cli_err(line)), order.threads,
                  work->case_dir);
    mcp_status st = cobre_run(&result, &order, work->arena, &work->error);
    console_end(&watch.console, st == MCP_OK ? &result : NULL);
    return st == MCP_OK ? print_run(work, &result) : fail(work);
}

int cobre_command_run(const cli_line *line, void *data)
{
    struct work work;
    (void)data;
    int exit_status = work_begin(&work, line);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = run_case(&work);
    work_end(&work);
    return exit_status;
}
