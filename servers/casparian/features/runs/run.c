/*
 * run.c - casparian_backtest_start and casparian_run_request.
 */
#include "features/answer.h"
#include "features/runs/prepare.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "jobs/approval.h"
#include "jobs/job.h"
#include "jobs/state/rows.h"

enum { POLL_FIRST_MS = 200 };

/* ---- backtests ------------------------------------------------------------------------------- */

static mcp_status refuse_full(casparian_request *request)
{
    return casparian_refuse(request, CASPARIAN_CODE_QUEUE_FULL,
                            "Wait until a job has ended, or cancel one.",
                            "the queue of jobs is full");
}

/* "running" where a runner has claimed it already. */
static const char *status_of(casparian_request *request, int64_t id)
{
    casparian_job job;
    mcp_status st = casparian_job_read(&job, request->app->store, mcp_call_arena(request->call), id,
                                       mcp_call_error(request->call));
    return st == MCP_OK && job.state == CASPARIAN_JOB_QUEUED ? "queued" : "running";
}

static mcp_status start(casparian_request *request, const casparian_prepared_call *prepared)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    const casparian_job_request what = { .type = CASPARIAN_JOB_BACKTEST,
                                         .plugin = prepared->work.job_plugin,
                                         .input_dir = prepared->how.input,
                                         .spec = &prepared->spec,
                                         .timeout_ms = mcp_arg_int(request->call, "timeout_ms",
                                                                   0) };
    int64_t id = 0;
    mcp_status st = casparian_job_create(&id, NULL, request->app->store, &what,
                                         mcp_call_error(request->call));
    if (st == MCP_E_LIMIT)
        return refuse_full(request);
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "job_id", mcp_arena_printf(arena, "%lld", (long long)id));
    mcp_write_member_string(json, "status", status_of(request, id));
    mcp_write_member_int(json, "poll_after_ms", POLL_FIRST_MS);
    return MCP_OK;
}

mcp_status casparian_backtest_start_tool(casparian_request *request)
{
    casparian_prepared_call *prepared = mcp_arena_alloc(mcp_call_arena(request->call),
                                                        sizeof *prepared);
    if (!prepared)
        return MCP_E_NOMEM;
    if (!casparian_prepare_read(prepared, request) || !casparian_prepare_input(prepared, request))
        return MCP_OK;
    if (!casparian_request_permits(request, "plugins", prepared->work.plugin.id))
        return MCP_OK;
    return start(request, prepared);
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* The folder of Parquet and CSV, or the file of a database: a link is followed here, once. */
static mcp_status move_sink(casparian_sink_uri *uri, mcp_arena *arena, const char *path,
                            mcp_error *err)
{
    casparian_sink_uri found = *uri;
    if (uri->kind != CASPARIAN_SINK_DUCKDB)
        return casparian_sink_uri_move(uri, arena, uri, path, err);
    found.path = path;
    size_t length = (size_t)(strrchr(path, '/') - path);
    const char *dir = mcp_arena_strndup(arena, path, length > 0 ? length : 1);
    return dir ? casparian_sink_uri_move(uri, arena, &found, dir, err)
               : mcp_error_set(err, MCP_E_NOMEM, "no memory for a sink");
}

/* What is written to must be below a root; it may be missing yet. */
static bool check_target(casparian_sink_uri *uri, casparian_request *request)
{
    bool is_file = uri->kind == CASPARIAN_SINK_DUCKDB;
    mcp_error *err = mcp_call_error(request->call);
    guard_target target;
    if (!casparian_request_target(&target, request, uri->path))
        return false;
    close(target.dir_fd);
    if (target.exists && target.is_dir == is_file) {
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                         "/output: %s is a %s, and a %s is required", target.path,
                         is_file ? "folder" : "file", is_file ? "file" : "folder");
        return false;
    }
    mcp_status st = move_sink(uri, mcp_call_arena(request->call), target.path, err);
    if (st != MCP_OK)
        casparian_request_fail(request, st, err);
    return st == MCP_OK;
}

/* The words of kit/guard: uri.h takes ".." out before it sees the path. */
static bool refuse_parent_step(casparian_request *request, const char *text)
{
    casparian_refuse(request, CASPARIAN_CODE_PATH_TRAVERSAL, NULL,
                     "Path traversal attempt detected: %.500s", text);
    return false;
}

static bool refuse_folder(casparian_request *request)
{
    casparian_refuse(request, CASPARIAN_CODE_STORE_ERROR, NULL,
                     "the server's directory has been removed");
    return false;
}

/* The sink of the argument `output`, or the folder "output" of the home. */
static bool read_sink(casparian_sink_uri *out, casparian_request *request)
{
    mcp_arena *arena = mcp_call_arena(request->call);
    mcp_error *err = mcp_call_error(request->call);
    const char *text = mcp_arg_string(request->call, "output");
    char folder[PATH_MAX];
    if (!getcwd(folder, sizeof folder))
        return refuse_folder(request);
    mcp_status st = casparian_sink_uri_read(out, arena, text ? text : request->app->output,
                                            mcp_arena_strdup(arena, folder), err);
    if (st == MCP_E_PARAMS || st == MCP_E_LIMIT)
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL, "/output: %s",
                         err->message);
    else if (st != MCP_OK)
        casparian_request_fail(request, st, err);
    else if (text && out->has_parent_step)
        return refuse_parent_step(request, text);
    return st == MCP_OK && check_target(out, request) &&
           casparian_request_permits(request, "sinks", casparian_sink_kind_text(out->kind));
}

static void write_warning(mcp_json_writer *json, const char *warning)
{
    if (!warning)
        return;
    mcp_write_member_array(json, "warnings");
    mcp_write_string(json, warning);
    mcp_write_end(json);
}

static mcp_status request_run(casparian_request *request, const casparian_prepared_call *prepared,
                              const casparian_sink_uri *sink)
{
    const casparian_prepared *work = &prepared->work;
    mcp_arena *arena = mcp_call_arena(request->call);
    const casparian_run_request what = { .plugin = work->job_plugin,
                                         .input_dir = prepared->how.input,
                                         .sink_uri = sink->text,
                                         .target_path = sink->path,
                                         .files = work->files,
                                         .file_count = work->file_count,
                                         .schemas = work->schemas,
                                         .schema_count = work->schema_count,
                                         .quarantine = work->quarantine,
                                         .spec = &prepared->spec,
                                         .reason = mcp_arg_string(request->call, "reason"),
                                         .requested_by = casparian_request_client(request),
                                         .estimated_rows = work->estimated_rows };
    casparian_approval approval;
    mcp_status st = casparian_approval_request_run(&approval, request->app->store, arena, &what,
                                                   mcp_call_error(request->call));
    if (st != MCP_OK)
        return st;
    mcp_json_writer *json = casparian_request_result(request);
    mcp_write_member_string(json, "approval_id", approval.id);
    mcp_write_member_string(json, "status", "pending_approval");
    mcp_write_member_value(json, "summary", approval.summary);
    casparian_write_time(json, "expires_at", approval.expires_ms);
    mcp_write_member_string(json, "approve_command",
                            mcp_arena_printf(arena, "casparian approvals approve %s", approval.id));
    write_warning(json, sink->warning);
    return MCP_OK;
}

/* Quarantine tables have a folder of theirs, and the sink is a database. */
static bool check_quarantine(casparian_request *request, const casparian_prepared_call *prepared,
                             const casparian_sink_uri *sink)
{
    if (!prepared->spec.quarantine_dir || !prepared->work.quarantine.allow ||
        sink->kind != CASPARIAN_SINK_DUCKDB)
        return true;
    casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                     "/output: " CASPARIAN_QUARANTINE_IN_DUCKDB, sink->path);
    return false;
}

mcp_status casparian_run_request_tool(casparian_request *request)
{
    casparian_prepared_call *prepared = mcp_arena_alloc(mcp_call_arena(request->call),
                                                        sizeof *prepared);
    casparian_sink_uri sink;
    if (!prepared)
        return MCP_E_NOMEM;
    if (!casparian_prepare_read(prepared, request) || !read_sink(&sink, request))
        return MCP_OK;
    prepared->how.sink = &sink;
    prepared->how.lists_files = true;
    prepared->spec.quarantine_dir = request->app->quarantine;
    if (!casparian_prepare_input(prepared, request) ||
        !casparian_request_permits(request, "plugins", prepared->work.plugin.id) ||
        !check_quarantine(request, prepared, &sink))
        return MCP_OK;
    return request_run(request, prepared, &sink);
}
