/*
 * run_tool.c - cobre/run: one run at a time, with progress.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "run/run.h"
#include "run/threads.h"

#define PROGRESS_META "causeway/convergence"

/* A run that a call began. */
struct observed {
    cobre_app *app;
    mcp_call *call;
    int64_t solves; /* that are counted */
};

static void count_solves(struct observed *run, int64_t solves)
{
    run->solves += solves;
    (void)atomic_fetch_add_explicit(&run->app->lp_solves, solves, memory_order_relaxed);
}

static void report_progress(mcp_call *call, const cobre_progress *progress, const char *message,
                            mcp_buf *metadata)
{
    const mcp_progress report = {
        .progress = (double)progress->done,
        .total = (double)progress->total,
        .message = message,
        .metadata = metadata->data,
        .meta_key = PROGRESS_META,
        .every = true,
    };
    if (metadata->status == MCP_OK)
        mcp_call_progress(call, &report);
}

static void on_iteration(const sddp_iteration *row, const cobre_progress *progress, void *data)
{
    struct observed *run = data;
    mcp_call *call = run->call;
    count_solves(run, row->lp_solves);
    if (!mcp_call_wants_progress(call))
        return;
    char message[160];
    snprintf(message, sizeof message,
             "iteration %d: lower bound %.6g, upper bound %.6g, gap %.1f %%", row->iteration,
             row->lower_bound, row->upper_bound, 100 * row->gap);
    mcp_buf metadata;
    mcp_json_writer writer;
    mcp_buf_init(&metadata, 4096);
    mcp_json_writer_init(&writer, &metadata);
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "iteration", row->iteration);
    mcp_write_member_double(&writer, "lower_bound", row->lower_bound);
    mcp_write_member_double(&writer, "upper_bound", row->upper_bound);
    mcp_write_member_double(&writer, "gap", row->gap);
    mcp_write_member_int(&writer, "wall_time_ms", row->wall_time_ms);
    mcp_write_end(&writer);
    report_progress(call, progress, message, &metadata);
    mcp_buf_clear(&metadata);
}

static void on_scenario(uint32_t done, uint32_t total, int64_t elapsed_ms,
                        const cobre_progress *progress, void *data)
{
    mcp_call *call = ((struct observed *)data)->call;
    if (!mcp_call_wants_progress(call))
        return;
    char message[80];
    snprintf(message, sizeof message, "simulation: %u of %u scenarios", done, total);
    mcp_buf metadata;
    mcp_json_writer writer;
    mcp_buf_init(&metadata, 4096);
    mcp_json_writer_init(&writer, &metadata);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "phase", "simulation");
    mcp_write_member_int(&writer, "scenarios_complete", done);
    mcp_write_member_int(&writer, "scenarios_total", total);
    mcp_write_member_int(&writer, "elapsed_ms", elapsed_ms);
    mcp_write_end(&writer);
    report_progress(call, progress, message, &metadata);
    mcp_buf_clear(&metadata);
}

/* Runs on the solver's threads. */
static sddp_stop should_stop(void *data)
{
    switch (mcp_call_stop(((struct observed *)data)->call)) {
    case MCP_STOP_NONE:
        return SDDP_STOP_NONE;
    case MCP_STOP_CANCELLED:
        return SDDP_STOP_NOW;
    default:
        return SDDP_STOP_AFTER_ITERATION;
    }
}

struct output_place {
    int case_fd;
    const char *case_dir;
    const char *output_dir;
};

static mcp_status open_output(int *fd, const char **path, mcp_arena *arena, void *data,
                              mcp_error *err)
{
    const struct output_place *place = data;
    (void)arena;
    *path = place->output_dir;
    return guard_make_dir(fd, place->case_fd, "output", err);
}

/* One run at a time; `running` receives the case of the other run. */
static bool begin_run(cobre_app *app, const char *case_dir, const char **running, mcp_arena *arena)
{
    pthread_mutex_lock(&app->run_lock);
    bool is_free = !app->is_running;
    if (is_free) {
        app->is_running = true;
        snprintf(app->running_case, sizeof app->running_case, "%s", case_dir);
    } else {
        *running = mcp_arena_strdup(arena, app->running_case);
    }
    pthread_mutex_unlock(&app->run_lock);
    return is_free;
}

static void end_run(cobre_app *app)
{
    pthread_mutex_lock(&app->run_lock);
    app->is_running = false;
    pthread_mutex_unlock(&app->run_lock);
}

static mcp_status answer_run(mcp_call *call, const cobre_run_result *result)
{
    switch (result->end) {
    case COBRE_RUN_COMPLETED:
    case COBRE_RUN_PARTIAL:
        cobre_run_write(result, mcp_call_result(call));
        return MCP_OK;
    case COBRE_RUN_INVALID:
        return cobre_refuse_case(call, result->report);
    case COBRE_RUN_REFUSED:
    case COBRE_RUN_SOLVER_FAILED:
    case COBRE_RUN_FAILED:
    case COBRE_RUN_RANK_LOST:
        break;
    }
    return cobre_refuse_record(call, result->record);
}

static cobre_phases phases_of(const char *name)
{
    if (name && strcmp(name, "training") == 0)
        return COBRE_PHASES_TRAINING;
    if (name && strcmp(name, "simulation") == 0)
        return COBRE_PHASES_SIMULATION;
    return COBRE_PHASES_BOTH;
}

static mcp_status refuse_second(mcp_call *call, const char *running)
{
    return cobre_refuse(call, "IncompatibleSettings", "Wait for it to end, or cancel it.",
                        COBRE_MEMBERS(COBRE_NULL("file"), COBRE_TEXT("settings", "cobre/run"),
                                      COBRE_TEXT("detail", running)),
                        "A run is in progress: %s", running ? running : "of another case");
}

static mcp_status run_begun(mcp_call *call, cobre_app *app, struct output_place *place)
{
    struct observed run = { .app = app, .call = call };
    const cobre_run_observer observer = {
        .iteration = on_iteration,
        .scenario = on_scenario,
        .should_stop = should_stop,
        .data = &run,
    };
    const cobre_run_order order = {
        .case_fd = place->case_fd,
        .case_dir = place->case_dir,
        .open_output = open_output,
        .guard = app->guard,
        .output_data = place,
        .output_name = place->output_dir,
        .phases = phases_of(mcp_arg_string(call, "phases")),
        .threads = cobre_threads_given(app->threads),
        .engine = app->engine,
        .observer = &observer,
    };
    cobre_run_result result;
    mcp_status st = cobre_run(&result, &order, mcp_call_arena(call), mcp_call_error(call));
    int64_t solves = st == MCP_OK ? result.training.lp_solves + result.simulation.lp_solves : 0;
    if (solves > run.solves) /* those of the simulation, and outside of iterations */
        count_solves(&run, solves - run.solves);
    return st == MCP_OK ? answer_run(call, &result) : st;
}

mcp_status cobre_tool_run(mcp_call *call, void *data)
{
    cobre_app *app = data;
    mcp_arena *arena = mcp_call_arena(call);
    mcp_status st = MCP_OK;
    const char *running = NULL;
    struct output_place place = { -1, NULL, NULL };
    if (!cobre_open_dir(call, app, "case_dir", &place.case_fd, &place.case_dir, &st))
        return st;
    place.output_dir = mcp_arena_printf(arena, "%s/output", place.case_dir);
    if (!place.output_dir) {
        st = mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for a path");
    } else if (begin_run(app, place.case_dir, &running, arena)) {
        st = run_begun(call, app, &place);
        end_run(app);
    } else {
        st = refuse_second(call, running);
    }
    close(place.case_fd);
    return st;
}
