/*
 * query.c - casparian_query: read-only SQL over the committed outputs.
 */
#include "features/answer.h"
#include "features/tools.h"
#include "jobs/state/control.h"
#include "jobs/state/rows.h"

#include <string.h>

#include "jobs/catalog.h"
#include "mcp/clock.h"
#include "query/query.h"

enum { WARNINGS_MAX = 1 << 20 };

/* A file counts while it is below an allowed root. */
static int open_output(void *data, const char *location)
{
    casparian_request *request = data;
    guard_named named;
    mcp_status st = guard_open_named(&named, NULL, request->app->roots, location, GUARD_FILES,
                                     mcp_call_arena(request->call), NULL);
    if (st == MCP_OK)
        return named.fd;
    return st == MCP_E_DENIED ? CASPARIAN_CATALOG_DENIED : CASPARIAN_CATALOG_GONE;
}

static bool has_stopped(void *call)
{
    return mcp_call_stop(call) != MCP_STOP_NONE;
}

/* Refuse, with the names of views where a table does not exist. */
static mcp_status refuse(casparian_request *request, const casparian_query_failure *failure,
                         const char *message)
{
    mcp_json_writer json;
    mcp_buf details;
    const casparian_refusal refusal = { .code = casparian_code_find(failure->code),
                                        .message = message,
                                        .suggestion = failure->suggestion };
    casparian_refusal full = refusal;
    if (failure->available_count == 0)
        return casparian_refuse_with(request, &refusal);
    mcp_buf_init(&details, WARNINGS_MAX);
    mcp_json_writer_init(&json, &details);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "available");
    for (size_t i = 0; i < failure->available_count; i++)
        mcp_write_string(&json, failure->available[i]);
    mcp_write_end(&json);
    mcp_write_end(&json);
    full.details = mcp_json_writer_status(&json) == MCP_OK ? details.data : NULL;
    mcp_status st = casparian_refuse_with(request, &full);
    mcp_buf_clear(&details);
    return st;
}

/* The arguments; false: the call was refused. */
static bool read_request(casparian_query_request *out, casparian_request *request)
{
    mcp_call *call = request->call;
    const mcp_json *sql = mcp_arg_json(call, "sql");
    int64_t limit = mcp_arg_int(call, "limit", CASPARIAN_QUERY_LIMIT);
    int64_t max_rows = request->app->config->mcp.max_rows;
    *out = (casparian_query_request){ .params = mcp_arg_json(call, "params"),
                                      .cursor = mcp_arg_string(call, "cursor"),
                                      .limit = (size_t)(limit < max_rows ? limit : max_rows),
                                      .timeout_ms = mcp_arg_int(call, "timeout_ms",
                                                                CASPARIAN_QUERY_TIMEOUT_MS),
                                      .should_stop = has_stopped,
                                      .data = call };
    if (!sql == !out->cursor) {
        casparian_refuse(request, CASPARIAN_CODE_INVALID_ARGUMENTS, NULL,
                         "either sql or cursor is required");
        return false;
    }
    out->sql = mcp_json_string(sql, &out->length);
    return true;
}

static void write_columns(mcp_json_writer *json, const casparian_query_facts *facts)
{
    mcp_write_member_array(json, "columns");
    for (size_t i = 0; i < facts->column_count; i++) {
        mcp_write_object(json);
        mcp_write_member_string(json, "name", facts->columns[i].name);
        mcp_write_member_string(json, "type", facts->columns[i].type);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

/* Warnings are those of the redaction, as an array without its brackets, and those of the query. */
static void write_warnings(mcp_json_writer *json, const casparian_query_facts *facts,
                           const mcp_buf *of_redaction)
{
    mcp_write_member_array(json, "warnings");
    if (of_redaction->length > 0)
        mcp_write_raw(json, of_redaction->data, of_redaction->length);
    for (size_t i = 0; i < facts->warning_count; i++)
        mcp_write_string(json, facts->warnings[i]);
    mcp_write_end(json);
}

static void write_truncation(mcp_json_writer *json, const char *reason, size_t omitted)
{
    mcp_write_member_object(json, "truncation");
    mcp_write_member_string(json, "reason", reason);
    if (omitted > 0)
        mcp_write_member_int(json, "omitted", (int64_t)omitted);
    mcp_write_end(json);
}

static void write_answer(casparian_request *request, const casparian_query_result *result,
                         const casparian_redaction *redaction, const mcp_buf *warnings)
{
    mcp_json_writer *json = casparian_request_result(request);
    const casparian_query_facts *facts = casparian_query_result_facts(result);
    char cursor[CASPARIAN_QUERY_CURSOR_SIZE];
    casparian_query_written written = { 0 };
    const casparian_query_room room = { casparian_request_room(request),
                                        request->app->config->mcp.max_cell_bytes };
    write_columns(json, facts);
    if (facts->warning_count > 0 || warnings->length > 0)
        write_warnings(json, facts, warnings);
    mcp_write_name(json, "rows");
    casparian_query_write_rows(&written, json, result, redaction, &room);
    mcp_write_member_int(json, "row_count", (int64_t)written.rows);
    mcp_write_member_bool(json, "truncated", facts->is_truncated || written.is_out_of_room);
    mcp_write_member_int(json, "elapsed_ms", facts->elapsed_ms);
    mcp_write_member_bool(json, "cached", facts->is_cached);
    if (written.cut_cells > 0)
        mcp_write_member_int(json, "truncated_cells", (int64_t)written.cut_cells);
    if (written.is_out_of_room)
        write_truncation(json, "bytes", facts->row_count - written.rows);
    else if (facts->is_truncated)
        write_truncation(json, "rows", 0);
    if (casparian_query_result_cursor(cursor, result, written.rows))
        mcp_write_member_string(json, "cursor", cursor);
    request->rows = (int64_t)written.rows;
}

mcp_status casparian_query_tool(casparian_request *request)
{
    casparian_app *app = request->app;
    mcp_arena *arena = mcp_call_arena(request->call);
    mcp_error *err = mcp_call_error(request->call);
    casparian_query_failure failure = { 0 };
    casparian_query_result *result = NULL;
    casparian_query_request what;
    casparian_redaction redaction;
    casparian_catalog catalog;
    mcp_buf warnings;
    if (!read_request(&what, request))
        return MCP_OK;
    mcp_buf_init(&warnings, WARNINGS_MAX);
    casparian_request_redaction(&redaction, &warnings, request);
    mcp_status st = casparian_catalog_read(&catalog, app->store, arena, err);
    catalog.open = open_output;
    catalog.data = request;
    if (st == MCP_OK && app->config->query_exposes_control)
        st = casparian_control_add(&catalog, app->store, arena, err);
    if (st == MCP_OK)
        st = casparian_query_run(&result, app->query, &catalog, &what, &failure, arena, err);
    if (st == MCP_OK)
        write_answer(request, result, &redaction, &warnings);
    else if (failure.code)
        st = refuse(request, &failure,
                    redaction.mode == CASPARIAN_REDACTION_NONE ? failure.message
                                                               : failure.redacted);
    casparian_query_result_free(result);
    mcp_buf_clear(&warnings);
    return st;
}
