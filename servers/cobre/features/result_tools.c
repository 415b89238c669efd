/*
 * result_tools.c - cobre/query-results and cobre/export-results: rows of the output directory.
 */
#include <string.h>
#include <unistd.h>

#include "features/charts.h"
#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "query/entities.h"
#include "query/export.h"
#include "query/filters.h"
#include "query/text.h"
#include "results/results.h"

/* A question of a call, and the directory that it is about. */
struct asked {
    const query_table *table;
    query_filters filters;
    query_question question;
    int fd;
    const char *directory; /* canonical */
};

static mcp_status refuse_results(mcp_call *call, mcp_status st, int fd, const char *file,
                                 const mcp_error *cause)
{
    const cobre_record *record = cobre_output_record(mcp_call_arena(call), st,
                                                     mcp_arg_string(call, "output_dir"),
                                                     results_is_locked(fd), file, cause);

    return record ? cobre_refuse_record(call, record)
                  : mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
}

/* Ends with the directory open when true is returned; else `*answer` was written. */
static bool ask(struct asked *out, mcp_call *call, cobre_app *app, mcp_status *answer)
{
    mcp_arena *arena = mcp_call_arena(call);
    const cobre_record *refusal = NULL;
    mcp_error cause = MCP_ERROR_INIT;

    out->table = query_table_find(mcp_arg_string(call, "entity_type"));
    mcp_status st = query_filters_read(&out->filters, &refusal, mcp_arg_json(call, "filters"),
                                       out->table, arena, mcp_call_error(call));
    if (st != MCP_OK || refusal) {
        *answer = refusal ? cobre_refuse_record(call, refusal) : st;
        return false;
    }
    if (!cobre_open_dir(call, app, "output_dir", &out->fd, &out->directory, answer))
        return false;
    st = query_filters_resolve(&out->question, &refusal, &out->filters, out->table, out->fd, arena,
                               &cause);
    if (st == MCP_OK && !refusal)
        return true;
    *answer = refusal ? cobre_refuse_record(call, refusal)
                      : refuse_results(call, st, out->fd, QUERY_ENTITIES, &cause);
    close(out->fd);
    return false;
}

static bool is_stopped(void *data)
{
    return mcp_call_stop(data) != MCP_STOP_NONE;
}

/* ---- cobre/query-results --------------------------------------------------------------------- */

struct answering {
    mcp_call *call;
    bool wants_chart;
    cobre_stage_values values;
};

static bool is_answer_stopped(void *data)
{
    return is_stopped(((struct answering *)data)->call);
}

static mcp_status write_rows(const columns_table *rows, void *data, mcp_error *err)
{
    struct answering *answering = data;
    mcp_json_writer *out = mcp_call_result(answering->call);

    for (size_t row = 0; row < rows->rows; row++) {
        mcp_write_array(out);
        for (size_t i = 0; i < rows->column_count; i++)
            query_json_value(out, &rows->columns[i], row);
        mcp_write_end(out);
    }
    mcp_status st = mcp_json_writer_status(out);
    if (st != MCP_OK)
        return mcp_error_set(err, st, "the rows exceed the longest answer");
    return answering->wants_chart ? cobre_chart_gather(&answering->values, answering->call, rows)
                                  : MCP_OK;
}

static mcp_status query(mcp_call *call, const cobre_app *app, const struct asked *asked)
{
    struct answering answering = { .call = call,
                                   .wants_chart = cobre_chart_is_wanted(call),
                                   .values = { .table = asked->table } };
    const query_sink sink = { .take = write_rows,
                              .should_stop = is_answer_stopped,
                              .data = &answering };
    mcp_json_writer *out = mcp_call_result(call);
    mcp_error cause = MCP_ERROR_INIT;
    query_answer answer;

    mcp_write_member_array(out, "columns");
    for (size_t i = 0; i < asked->filters.name_count; i++)
        mcp_write_string(out, asked->filters.shown[i]);
    mcp_write_end(out);
    mcp_write_member_array(out, "rows");
    mcp_status st = query_rows(&answer, app->engine, asked->fd, &asked->question, &sink,
                               mcp_call_arena(call), &cause);
    if (st != MCP_OK)
        return refuse_results(call, st, asked->fd, answer.file, &cause);
    mcp_write_end(out);
    mcp_write_member_int(out, "total_rows", (int64_t)answer.total);
    mcp_write_member_bool(out, "truncated", answer.total > asked->question.rows_max);
    mcp_write_member_bool(out, "complete", answer.is_complete);
    return answering.wants_chart ? cobre_chart_stages(call, &answering.values) : MCP_OK;
}

mcp_status cobre_tool_query_results(mcp_call *call, void *data)
{
    cobre_app *app = data;
    struct asked asked;
    mcp_status st = MCP_OK;

    if (!ask(&asked, call, app, &st))
        return st;
    st = query(call, app, &asked);
    close(asked.fd);
    return st;
}

/* ---- cobre/export-results -------------------------------------------------------------------- */

static mcp_status refuse_write(mcp_call *call, const struct asked *asked, const mcp_error *cause)
{
    const char *path = mcp_arena_printf(mcp_call_arena(call), "%s/" QUERY_EXPORTS,
                                        asked->directory);

    return cobre_refuse(
        call, "CheckpointFailed", "Check that the output directory can be written and has room.",
        COBRE_MEMBERS(COBRE_TEXT("checkpoint_path", path), COBRE_TEXT("operation", "write"),
                      COBRE_TEXT("detail", cause->message)),
        "The export cannot be written: %s", cause->message);
}

static query_format format_of(const char *name)
{
    if (strcmp(name, "arrow") == 0)
        return QUERY_ARROW;
    return strcmp(name, "json") == 0 ? QUERY_JSON : QUERY_CSV;
}

static mcp_status export(mcp_call *call, const cobre_app *app, struct asked *asked)
{
    mcp_json_writer *out = mcp_call_result(call);
    mcp_arena *arena = mcp_call_arena(call);
    mcp_error cause = MCP_ERROR_INIT;
    query_export_result result;

    asked->question.rows_max = UINT64_MAX;
    mcp_status st = query_export(&result, app->engine, asked->fd, &asked->question, &asked->filters,
                                 format_of(mcp_arg_string(call, "format")), is_stopped, call, arena,
                                 &cause);
    if (!result.answer.file && (st == MCP_E_IO || st == MCP_E_STORAGE))
        return refuse_write(call, asked, &cause);
    if (st != MCP_OK)
        return refuse_results(call, st, asked->fd,
                              result.answer.file ? result.answer.file : "such table", &cause);
    mcp_write_member_string(
        out, "file_path",
        mcp_arena_printf(arena, "%s/" QUERY_EXPORTS "/%s", asked->directory, result.name));
    mcp_write_member_int(out, "rows", (int64_t)result.rows);
    mcp_write_member_int(out, "size_bytes", result.size_bytes);
    return MCP_OK;
}

mcp_status cobre_tool_export_results(mcp_call *call, void *data)
{
    cobre_app *app = data;
    struct asked asked;
    mcp_status st = MCP_OK;

    if (!ask(&asked, call, app, &st))
        return st;
    st = export(call, app, &asked);
    close(asked.fd);
    return st;
}
