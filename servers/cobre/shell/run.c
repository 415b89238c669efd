/*
 * run.c - cobre run: train and simulate a case directory.
 *
 * Signals are counted, and the run polls the count. The first ends it after the running iteration,
 * the second between two LP solves, the third kills the process. With ranks the signal of one stops
 * all.
 *
 * A stream of JSON lines takes the place of the progress for people. Its lines: `started`, one
 * `progress` an iteration and a scenario, `terminated` with the end of the training (where there is
 * none to be done, at its limit of no iteration), `result`.
 */
#include "run/run.h"

#include <signal.h>
#include <string.h>

#include "mcp/clock.h"
#include "report/console.h"
#include "run/threads.h"
#include "shell/work.h"

const cli_option cobre_run_options[] = {
    { .name = "output",
      .type = CLI_STRING,
      .argument = "DIR",
      .help = "where results go (default: CASE/output)" },
    { .name = "threads",
      .type = CLI_INT,
      .argument = "N",
      .help = "threads that solve",
      .env = "COBRE_THREADS",
      .standard = "1",
      .min = 1,
      .max = 1024 },
    COBRE_OPTION_JSON,
    COBRE_OPTION_FORMAT(cobre_stream_formats),
    { .name = "no-progress", .type = CLI_FLAG, .help = "leave progress out of json-lines" },
    { .name = "quiet", .type = CLI_FLAG, .help = "say nothing but errors" },
    { 0 },
};

static sddp_stop should_stop(void *data)
{
    (void)data;
    int seen = serve_signals();
    if (seen == 0)
        return SDDP_STOP_NONE;
    return seen == 1 ? SDDP_STOP_AFTER_ITERATION : SDDP_STOP_NOW;
}

/* A closed log (SIGPIPE) does not end a run. SIGUSR1 is what mpirun passes on at once and as it
 * is. */
static void watch_signals(bool has_ranks)
{
    const struct sigaction ignore = { .sa_handler = SIG_IGN };
    serve_count_signals(2, SA_RESTART);
    if (has_ranks)
        serve_count_signal(SIGUSR1, SA_RESTART);
    sigaction(SIGPIPE, &ignore, NULL);
}

/* ---- progress -------------------------------------------------------------------------------- */

struct watch {
    const shell_work *work;
    unsigned ranks;
    const char *output; /* the output directory, before it is opened */
    bool output_given;  /* by --output */
    unsigned threads;
    bool has_progress; /* of the stream */
    bool has_trained;
    sddp_training trained; /* for the line `terminated`, which follows all progress; zeros: at its
                              limit */
    console console;
};

struct count {
    uint32_t done, total;
    int64_t elapsed_ms;
};

static void write_started(const void *of, mcp_json_writer *writer)
{
    const struct watch *watch = of;
    const cobre_case *input = watch->console.input;
    char now[MCP_CLOCK_UTC_SIZE];
    mcp_clock_utc(now, mcp_clock_wall_ms(), 0);
    mcp_write_member_string(writer, "case", watch->work->dir);
    mcp_write_member_int(writer, "stages", (int64_t)input->stage_count);
    mcp_write_member_int(writer, "hydros", (int64_t)input->hydro_count);
    mcp_write_member_int(writer, "thermals", (int64_t)input->thermal_count);
    mcp_write_member_int(writer, "ranks", watch->ranks);
    mcp_write_member_int(writer, "threads_per_rank", watch->threads);
    mcp_write_member_string(writer, "timestamp", now);
    mcp_write_member_string(writer, "cobre_version", COBRE_VERSION);
}

static void write_iteration(const void *of, mcp_json_writer *writer)
{
    const sddp_iteration *row = of;
    mcp_write_member_int(writer, "iteration", row->iteration);
    mcp_write_member_double(writer, "lower_bound", row->lower_bound);
    mcp_write_member_double(writer, "upper_bound", row->upper_bound);
    mcp_write_member_double(writer, "upper_bound_std", row->upper_bound_std);
    mcp_write_member_double(writer, "ci_95", row->ci_95);
    mcp_write_member_double(writer, "gap", row->gap);
    mcp_write_member_int(writer, "wall_time_ms", row->wall_time_ms);
    mcp_write_member_int(writer, "iteration_time_ms", row->time_total_ms);
}

static void write_scenario(const void *of, mcp_json_writer *writer)
{
    const struct count *count = of;
    mcp_write_member_string(writer, "phase", "simulation");
    mcp_write_member_int(writer, "scenarios_complete", count->done);
    mcp_write_member_int(writer, "scenarios_total", count->total);
    mcp_write_member_int(writer, "elapsed_ms", count->elapsed_ms);
}

static void write_terminated(const void *of, mcp_json_writer *writer)
{
    const sddp_training *training = of;
    const sddp_iteration *last = training->iterations ? &training->rows[training->iterations - 1]
                                                      : NULL;
    mcp_write_member_string(writer, "reason", sddp_reason_name(training->reason));
    mcp_write_member_int(writer, "iterations", (int64_t)training->iterations);
    mcp_write_member_double(writer, "final_lb", last ? last->lower_bound : 0);
    mcp_write_member_double(writer, "final_ub", last ? last->upper_bound : 0);
    mcp_write_member_int(writer, "total_time_ms", training->wall_time_ms);
    mcp_write_member_int(writer, "total_cuts", training->total_cuts);
}

static void on_started(const cobre_run_result *so_far, void *data)
{
    struct watch *watch = data;
    console_describe(&watch->console, &so_far->models);
    if (!watch->console.is_quiet && !so_far->input->config.has_tree_seed)
        console_complain(watch->console.stream, "warning",
                         "training.tree_seed is not given: the openings are those of seed 42",
                         "Set it to choose the openings, or to 42 to keep them.");
    if (!watch->console.is_quiet)
        shell_print_findings(watch->work, watch->console.stream, so_far->report,
                             COBRE_SEVERITY_WARNING);
    for (size_t i = 0; !watch->console.is_quiet && i < so_far->warning_count; i++)
        console_complain(watch->console.stream, "warning", so_far->warnings[i], NULL);
    console_started(&watch->console, so_far->input);
    shell_print_line(watch->work, "started", write_started, watch);
}

static void on_iteration(const sddp_iteration *row, const cobre_progress *progress, void *data)
{
    struct watch *watch = data;
    (void)progress;
    console_iteration(&watch->console, row);
    if (watch->has_progress)
        shell_print_line(watch->work, "progress", write_iteration, row);
}

static void on_trained(const sddp_training *training, void *data)
{
    struct watch *watch = data;
    console_trained(&watch->console, training);
    watch->has_trained = true;
    watch->trained = *training;
}

static void on_scenario(uint32_t done, uint32_t total, int64_t elapsed_ms,
                        const cobre_progress *progress, void *data)
{
    struct watch *watch = data;
    const struct count count = { done, total, elapsed_ms };
    (void)progress;
    console_scenario(&watch->console, done, total);
    if (watch->has_progress)
        shell_print_line(watch->work, "progress", write_scenario, &count);
}

/* ---- the answer ------------------------------------------------------------------------------ */

/* Without a signal here another rank had one. */
static int stopped_status(void)
{
    return serve_signals() > 0 ? serve_signal_status() : 128 + SIGTERM;
}

static int run_exit_status(const cobre_run_result *result)
{
    switch (result->end) {
    case COBRE_RUN_COMPLETED:
        return COBRE_EXIT_DONE;
    case COBRE_RUN_PARTIAL:
        return stopped_status();
    case COBRE_RUN_INVALID:
    case COBRE_RUN_REFUSED:
        return COBRE_EXIT_INVALID;
    case COBRE_RUN_SOLVER_FAILED:
        return COBRE_EXIT_SOLVER;
    case COBRE_RUN_RANK_LOST:
        return COBRE_EXIT_INTERNAL;
    case COBRE_RUN_FAILED:
        break;
    }
    return COBRE_EXIT_FILES;
}

/* What solved the stage programs of the phases that ran. */
static void write_solver(const cobre_run_result *result, mcp_json_writer *writer)
{
    const char *name = result->has_training ? result->training.solver : result->simulation.solver;
    int64_t fallbacks = (result->has_training ? result->training.fallbacks : 0) +
                        (result->has_simulation ? result->simulation.fallbacks : 0);

    if (!name)
        return;
    mcp_write_member_object(writer, "solver");
    mcp_write_member_string(writer, "backend", name);
    mcp_write_member_int(writer, "fallbacks", fallbacks);
    mcp_write_end(writer);
}

static void write_members(const void *of, mcp_json_writer *writer)
{
    cobre_run_write(of, writer);
    write_solver(of, writer);
}

static void write_data(const void *of, mcp_json_writer *writer)
{
    const cobre_run_result *result = of;
    mcp_write_member_string(writer, "output_directory", result->output_dir);
    cobre_run_write_phases(result, writer);
    write_solver(result, writer);
}

static void write_summary(const void *of, mcp_json_writer *writer)
{
    const cobre_run_result *result = of;
    mcp_write_member_string(writer, "status", cobre_run_status(result));
    mcp_write_member_int(writer, "total_time_ms",
                         (result->has_training ? result->training.wall_time_ms : 0) +
                             (result->has_simulation ? result->simulation.wall_time_ms : 0));
}

/* The envelope wants an error whenever the exit status is not 0. */
static const cobre_record *stopped_record(const shell_work *work, int exit_status)
{
    const char *signal_name = exit_status == 128 + SIGINT    ? "SIGINT"
                              : exit_status == 128 + SIGHUP  ? "SIGHUP"
                              : exit_status == 128 + SIGUSR1 ? "SIGUSR1"
                                                             : "SIGTERM";
    if (work->format == SHELL_OBJECT || work->format == SHELL_WORDS)
        return NULL;
    return cobre_record_new(
        work->arena, "Interrupted", "The completed part is on disk; run again for the rest.",
        COBRE_MEMBERS(COBRE_TEXT("signal", signal_name)), "The run was stopped by %s", signal_name);
}

static bool is_complete(const cobre_run_result *result)
{
    return result->end == COBRE_RUN_COMPLETED || result->end == COBRE_RUN_PARTIAL;
}

static int print_run(const shell_work *work, const cobre_run_result *result)
{
    shell_answer answer = {
        .exit_status = run_exit_status(result),
        .record = result->record,
        .report = result->report,
        .of = result,
    };
    if (result->end == COBRE_RUN_INVALID)
        shell_print_findings(work, cli_err(work->line), result->report, COBRE_SEVERITY_ERROR);
    if (result->end == COBRE_RUN_PARTIAL)
        answer.record = stopped_record(work, answer.exit_status);
    if (is_complete(result)) {
        answer.members = write_members;
        answer.data = write_data;
        answer.summary = write_summary;
    }
    return shell_print(work, &answer);
}

/* ---- the run --------------------------------------------------------------------------------- */

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    const struct watch *watch = data;
    if (watch->output_given)
        return guard_open_or_make_dir(fd, path, watch->work->guard, watch->output, arena, err);
    *path = watch->output;
    return guard_make_dir(fd, watch->work->dir_fd, "output", err);
}

static mcp_status name_output(struct watch *watch, shell_work *work)
{
    watch->output = cli_string(work->line, "output");
    watch->output_given = watch->output != NULL;
    if (!watch->output_given)
        watch->output = mcp_arena_printf(work->arena, "%s/output", work->dir);
    if (!watch->output)
        return mcp_error_set(&work->error, MCP_E_NOMEM, "no memory for a path");
    return MCP_OK;
}

static int run_case(shell_work *work, const cobre_run_ranks *ranks)
{
    static const cobre_run_ranks one_process = { .ranks = NULL };
    const cli_line *line = work->line;
    struct watch watch = { .work = work, .has_progress = !cli_flag(line, "no-progress") };
    if (!ranks)
        ranks = &one_process;
    watch.ranks = ranks->distribution.ranks > 0 ? ranks->distribution.ranks : 1;
    const cobre_run_observer observer = { on_started,  on_iteration, on_trained,
                                          on_scenario, should_stop,  &watch };
    cobre_run_order order = {
        .case_fd = work->dir_fd,
        .case_dir = work->dir,
        .open_output = open_output,
        .guard = work->guard,
        .output_data = &watch,
        .phases = COBRE_PHASES_BOTH,
        .threads = cobre_threads_given((unsigned)cli_int(line, "threads", 1)),
        .ranks = ranks->ranks,
        .distribution = ranks->distribution,
        .engine = work->engine,
        .observer = &observer,
    };
    cobre_run_result result;
    if (name_output(&watch, work) != MCP_OK)
        return shell_fail(work);
    order.output_name = watch.output;
    watch.threads = order.threads;
    watch_signals(ranks->ranks != NULL);
    console_begin(&watch.console, cli_err(line),
                  cli_flag(line, "quiet") || work->format == SHELL_LINES,
                  shell_use_color(work, cli_err(line)), order.threads, work->dir);
    mcp_status st = cobre_run(&result, &order, work->arena, &work->error);
    console_end(&watch.console, st == MCP_OK ? &result : NULL);
    if (watch.has_trained || (st == MCP_OK && !result.has_training && is_complete(&result)))
        shell_print_line(work, "terminated", write_terminated, &watch.trained);
    return st == MCP_OK ? print_run(work, &result) : shell_fail(work);
}

int cobre_command_run(const cli_line *line, void *data)
{
    shell_work work;
    int exit_status = shell_begin(&work, line, "run", SHELL_CASE);
    if (exit_status == COBRE_EXIT_DONE)
        exit_status = run_case(&work, data);
    shell_end(&work);
    return exit_status;
}
