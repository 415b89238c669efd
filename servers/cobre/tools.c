/*
 * tools.c - the tool handlers: arguments, a domain function, the result.
 *
 * Each handler opens its directory through the guard, so nothing outside the allowed directories is
 * read or written, calls the domain, and writes the result. A failure becomes an error record.
 */
#include "tools.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "case/read/inspect.h"
#include "errors.h"
#include "results/results.h"
#include "run/run.h"
#include "run/threads.h"
#include "validate/load.h"

#define PROGRESS_META "causeway/convergence"

/* ---- directories ----------------------------------------------------------------------------- */

static mcp_status refuse_nul(mcp_call *call, const char *argument)
{
    return cobre_refuse(call, "SchemaViolation", "Give the path without NUL bytes.",
                        COBRE_MEMBERS(COBRE_TEXT("field", argument),
                                      COBRE_TEXT("expected", "a path without NUL bytes"),
                                      COBRE_TEXT("actual", "a path with a NUL byte")),
                        "%s holds a NUL byte", argument);
}

/* The message is the same for every path outside, whether it exists or not. */
static mcp_status refuse_outside(mcp_call *call, const char *path)
{
    return cobre_refuse(call, "MissingFile",
                        "Provide a path within the server's configured allowed directories.",
                        COBRE_MEMBERS(COBRE_TEXT("path", path)),
                        "Path '%s' is not within the allowed directories", path);
}

static mcp_status refuse_absent(mcp_call *call, bool is_case, const char *path,
                                const mcp_error *cause)
{
    return cobre_refuse(call, is_case ? "MissingFile" : "OutputNotFound",
                        "Check the path and that it is a directory.",
                        is_case
                            ? COBRE_MEMBERS(COBRE_TEXT("file", path))
                            : COBRE_MEMBERS(COBRE_TEXT("path", path),
                                            COBRE_TEXT("expected_content", "an output directory")),
                        "%s", cause->message);
}

/*
 * Open the directory that `argument` names: "case_dir", or an output directory. When that fails,
 * writes the error record and returns false. `canonical` may be NULL.
 */
static bool open_dir(mcp_call *call, const cobre_app *app, const char *argument, int *fd,
                     const char **canonical, mcp_status *answer)
{
    const char *path = mcp_arg_string(call, argument);
    mcp_error cause = MCP_ERROR_INIT;
    if (!path) {
        *answer = refuse_nul(call, argument);
        return false;
    }
    mcp_status st = guard_open_dir(fd, canonical, app->guard, path, mcp_call_arena(call), &cause);
    if (st == MCP_OK)
        return true;
    if (st == MCP_E_NOMEM)
        *answer = mcp_error_set(mcp_call_error(call), st, "%s", cause.message);
    else if (st == MCP_E_DENIED)
        *answer = refuse_outside(call, path);
    else
        *answer = refuse_absent(call, strcmp(argument, "case_dir") == 0, path, &cause);
    return false;
}

/* ---- cobre/validate, cobre/inspect-case ------------------------------------------------------ */

static mcp_status load_report(mcp_call *call, const cobre_app *app, int fd, const char *directory,
                              cobre_report **report)
{
    const cobre_case *input = NULL;
    *report = cobre_report_new(mcp_call_arena(call));
    if (!*report)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the report");
    return cobre_case_load(&input, fd, directory, app->engine, *report, mcp_call_arena(call),
                           mcp_call_error(call));
}

static mcp_status validate(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    int fd = -1;
    const char *directory = NULL;
    mcp_status st = MCP_OK;
    cobre_report *report = NULL;
    if (!open_dir(call, app, "case_dir", &fd, &directory, &st))
        return st;
    st = load_report(call, app, fd, directory, &report);
    close(fd);
    if (st == MCP_OK)
        cobre_report_write_verdict(report, mcp_call_result(call));
    return st;
}

static void write_inspection(const cobre_inspection *about, mcp_json_writer *out)
{
    mcp_write_member_value(out, "config", about->config);
    mcp_write_member_object(out, "entities");
    mcp_write_member_int(out, "hydros", about->hydros);
    mcp_write_member_int(out, "thermals", about->thermals);
    mcp_write_member_int(out, "buses", about->buses);
    mcp_write_member_int(out, "lines", about->lines);
    mcp_write_end(out);
    mcp_write_member_int(out, "stages", about->stages);
    mcp_write_member_string(out, "scenario_source", about->scenario_source);
    mcp_write_member_array(out, "files_present");
    for (size_t i = 0; i < about->file_count; i++)
        mcp_write_string(out, about->files_present[i]);
    mcp_write_end(out);
}

static mcp_status inspect_case(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    mcp_arena *arena = mcp_call_arena(call);
    int fd = -1;
    mcp_status st = MCP_OK;
    cobre_inspection about;
    cobre_report *report = cobre_report_new(arena);
    if (!report)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the report");
    if (!open_dir(call, app, "case_dir", &fd, NULL, &st))
        return st;
    st = cobre_case_inspect(&about, fd, report, arena, mcp_call_error(call));
    close(fd);
    if (st != MCP_OK)
        return st;
    if (cobre_report_count(report, COBRE_SEVERITY_ERROR))
        return cobre_refuse_case(call, report);
    write_inspection(&about, mcp_call_result(call));
    return MCP_OK;
}

/* ---- cobre/run ------------------------------------------------------------------------------- */

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
    mcp_call *call = data;
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
    mcp_call *call = data;
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
    switch (mcp_call_stop(data)) {
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

static mcp_status run_begun(mcp_call *call, const cobre_app *app, struct output_place *place)
{
    const cobre_run_observer observer = {
        .iteration = on_iteration,
        .scenario = on_scenario,
        .should_stop = should_stop,
        .data = call,
    };
    const cobre_run_order order = {
        .case_fd = place->case_fd,
        .case_dir = place->case_dir,
        .open_output = open_output,
        .output_data = place,
        .output_name = place->output_dir,
        .phases = phases_of(mcp_arg_string(call, "phases")),
        .threads = cobre_threads_given(app->threads),
        .engine = app->engine,
        .observer = &observer,
    };
    cobre_run_result result;
    mcp_status st = cobre_run(&result, &order, mcp_call_arena(call), mcp_call_error(call));
    return st == MCP_OK ? answer_run(call, &result) : st;
}

static mcp_status run_case(mcp_call *call, void *data)
{
    cobre_app *app = data;
    mcp_arena *arena = mcp_call_arena(call);
    mcp_status st = MCP_OK;
    const char *running = NULL;
    struct output_place place = { -1, NULL, NULL };
    if (!open_dir(call, app, "case_dir", &place.case_fd, &place.case_dir, &st))
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

/* ---- cobre/query-convergence ----------------------------------------------------------------- */

static void write_iteration(mcp_json_writer *out, const sddp_iteration *row)
{
    mcp_write_object(out);
    mcp_write_member_int(out, "iteration", row->iteration);
    mcp_write_member_double(out, "lower_bound", row->lower_bound);
    mcp_write_member_double(out, "upper_bound", row->upper_bound);
    mcp_write_member_double(out, "upper_bound_std", row->upper_bound_std);
    mcp_write_member_double(out, "ci_95", row->ci_95);
    mcp_write_member_double(out, "gap", row->gap);
    mcp_write_member_int(out, "wall_time_ms", row->wall_time_ms);
    mcp_write_member_int(out, "iteration_time_ms", row->time_total_ms);
    mcp_write_end(out);
}

/* An integer may lie beyond 64 bits (1e30), and so beyond every iteration. */
static int64_t iteration_bound(const mcp_json *value)
{
    int64_t bound = 0;
    double number = 0;
    if (mcp_json_int(value, &bound))
        return bound;
    mcp_json_double(value, &number);
    if (number >= (double)INT32_MAX)
        return INT32_MAX;
    return number <= (double)INT32_MIN ? INT32_MIN : (int64_t)number;
}

/* The `iteration_range` of the call; false with an error record when its ends are swapped. */
static bool iteration_range(mcp_call *call, int64_t range[static 2], mcp_status *answer)
{
    const mcp_json *given = mcp_arg_json(call, "iteration_range");
    range[0] = INT64_MIN;
    range[1] = INT64_MAX;
    if (!given)
        return true;
    range[0] = iteration_bound(mcp_json_item(given, 0));
    range[1] = iteration_bound(mcp_json_item(given, 1));
    if (range[0] <= range[1])
        return true;
    *answer = cobre_refuse(call, "OutOfRange", "Give the smaller iteration first.",
                           COBRE_MEMBERS(COBRE_TEXT("field", "iteration_range"),
                                         COBRE_INT("value", range[0]), COBRE_NULL("min"),
                                         COBRE_INT("max", range[1])),
                           "iteration_range begins at %lld, after its end %lld",
                           (long long)range[0], (long long)range[1]);
    return false;
}

static mcp_status refuse_output(mcp_call *call, mcp_status st, const char *file,
                                const mcp_error *cause)
{
    const char *path = mcp_arg_string(call, "output_dir");
    if (st == MCP_E_NOT_FOUND)
        return cobre_refuse(
            call, "OutputNotFound", "Run the case first, or check the path.",
            COBRE_MEMBERS(COBRE_TEXT("path", path), COBRE_TEXT("expected_content", file)),
            "'%s' has no %s", path, file);
    if (st == MCP_E_PARSE || st == MCP_E_DENIED || st == MCP_E_LIMIT || st == MCP_E_IO)
        return cobre_refuse(
            call, "OutputCorrupted", "Run the case again.",
            COBRE_MEMBERS(COBRE_TEXT("file", file), COBRE_TEXT("detail", cause->message)),
            "%s cannot be read: %s", file, cause->message);
    return mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
}

/* More would exceed the longest reply, which holds a result twice. */
#define ITERATIONS_MAX 25000

static mcp_status refuse_long(mcp_call *call, size_t count)
{
    return cobre_refuse(call, "OutOfRange", "Ask for a part of them by iteration_range.",
                        COBRE_MEMBERS(COBRE_TEXT("field", "iteration_range"),
                                      COBRE_INT("value", (int64_t)count), COBRE_INT("min", 0),
                                      COBRE_INT("max", ITERATIONS_MAX)),
                        "%zu iterations exceed the %d of one answer", count, ITERATIONS_MAX);
}

static bool is_within(const sddp_iteration *row, const int64_t range[static 2])
{
    return row->iteration >= range[0] && row->iteration <= range[1];
}

static mcp_status write_convergence(mcp_call *call, const results_convergence *history,
                                    const int64_t range[static 2])
{
    mcp_json_writer *out = mcp_call_result(call);
    size_t count = 0;
    for (size_t i = 0; i < history->count; i++)
        count += is_within(&history->rows[i], range);
    if (count > ITERATIONS_MAX)
        return refuse_long(call, count);

    mcp_write_member_array(out, "iterations");
    for (size_t i = 0; i < history->count; i++)
        if (is_within(&history->rows[i], range))
            write_iteration(out, &history->rows[i]);
    mcp_write_end(out);
    mcp_write_member_int(out, "total_iterations", (int64_t)history->count);
    mcp_write_member_string(out, "termination_reason", history->termination_reason);
    return MCP_OK;
}

static mcp_status query_convergence(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    int fd = -1;
    int64_t range[2];
    mcp_status st = MCP_OK;
    mcp_error cause = MCP_ERROR_INIT;
    results_convergence history;
    if (!iteration_range(call, range, &st) || !open_dir(call, app, "output_dir", &fd, NULL, &st))
        return st;
    st = results_read_convergence(&history, app->engine, fd, mcp_call_arena(call), &cause);
    close(fd);
    if (st != MCP_OK)
        return refuse_output(call, st, "training/convergence.parquet", &cause);
    return write_convergence(call, &history, range);
}

/* ---- cobre/get-config-schema ----------------------------------------------------------------- */

static mcp_status get_config_schema(mcp_call *call, void *data)
{
    (void)data;
    const mcp_file *file = mcp_files_find(cobre_files, "schemas/config.schema.json");
    if (!file)
        return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL,
                             "schemas/config.schema.json is not embedded");
    const mcp_json *schema = NULL;
    mcp_status st = mcp_json_read(&schema, mcp_call_arena(call), file->bytes, file->length,
                                  mcp_call_error(call));
    if (st == MCP_OK)
        mcp_write_member_value(mcp_call_result(call), "schema", schema);
    return st;
}

/* ---- what this version does not do yet ------------------------------------------------------- */

/* Tools that this version lists and does not support, and the alternative to each. */
static const struct unsupported {
    const char *tool, *suggestion;
} unsupported[] = {
    { "cobre/query-results", "Read the Parquet files below simulation/ of the output directory." },
    { "cobre/export-results", "Read the Parquet files below simulation/ of the output directory." },
    { "cobre/inspect-policy", "cobre/query-convergence tells how good the policy of a run is." },
    { "cobre/compare-policies", "Compare the runs' bounds by cobre/query-convergence." },
    { "cobre/list-scenarios",
      "cobre/inspect-case tells where scenarios come from; the branching of "
      "each stage is num_scenarios in stages.json." },
    { NULL, NULL },
};

static mcp_status unsupported_tool(mcp_call *call, void *data)
{
    (void)data;
    const char *name = mcp_call_name(call);
    const struct unsupported *row = unsupported;
    while (row->tool && strcmp(row->tool, name) != 0)
        row++;
    const char *message = mcp_arena_printf(mcp_call_arena(call),
                                           "This version of cobre does not serve %s yet", name);
    if (!message)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the error record");
    return cobre_refuse_use(call, name, row->suggestion, message);
}

/* More than one, so that the handler refuses a second run with a record. */
#define RUNS_MAX 4

/* clang-format off */
const mcp_tool cobre_tools[] = {
    /* name                      run                flags         timeout_ms, max_running */
    { "cobre/validate",          validate,          MCP_READS,                     60000, 0 },
    { "cobre/run",               run_case,          MCP_WRITES | MCP_LONG | MCP_STOP_ON_HANGUP,
                                                                                   0, RUNS_MAX },
    { "cobre/query-results",     unsupported_tool,        MCP_READS,                     30000, 0 },
    { "cobre/query-convergence", query_convergence, MCP_READS,                     10000, 0 },
    { "cobre/inspect-policy",    unsupported_tool,        MCP_READS,                     10000, 0 },
    { "cobre/compare-policies",  unsupported_tool,        MCP_READS,                     30000, 0 },
    { "cobre/inspect-case",      inspect_case,      MCP_READS,                     10000, 0 },
    { "cobre/list-scenarios",    unsupported_tool,        MCP_READS,                     10000, 0 },
    { "cobre/export-results",    unsupported_tool,        MCP_WRITES,                    60000, 0 },
    { "cobre/get-config-schema", get_config_schema, MCP_READS,                      5000, 0 },
    { 0 }
};
/* clang-format on */
