/*
 * convergence_tool.c - cobre/query-convergence: the bounds of each iteration.
 */
#include <unistd.h>

#include "features/charts.h"
#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
#include "query/filters.h"
#include "results/results.h"

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

static mcp_status refuse_output(mcp_call *call, mcp_status st, int fd, const char *file,
                                const mcp_error *cause)
{
    const cobre_record *record = cobre_output_record(mcp_call_arena(call), st,
                                                     mcp_arg_string(call, "output_dir"),
                                                     results_is_locked(fd), file, cause);

    return record ? cobre_refuse_record(call, record)
                  : mcp_error_set(mcp_call_error(call), st, "%s", cause->message);
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

static bool is_within(const sddp_iteration *row, const query_range *range)
{
    return !range->is_set || (row->iteration >= range->first && row->iteration <= range->last);
}

static mcp_status write_convergence(mcp_call *call, const results_convergence *history,
                                    const query_range *range)
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
    return cobre_chart_is_wanted(call) ? cobre_chart_convergence(call, history, range) : MCP_OK;
}

mcp_status cobre_tool_query_convergence(mcp_call *call, void *data)
{
    cobre_app *app = data;
    const cobre_record *refusal = NULL;
    mcp_error cause = MCP_ERROR_INIT;
    results_convergence history;
    query_range range;
    int fd = -1;
    mcp_status st = query_range_read(&range, &refusal, "iteration_range",
                                     mcp_arg_json(call, "iteration_range"), mcp_call_arena(call),
                                     mcp_call_error(call));
    if (refusal)
        return cobre_refuse_record(call, refusal);
    if (st != MCP_OK || !cobre_open_dir(call, app, "output_dir", &fd, NULL, &st))
        return st;
    st = results_read_convergence(&history, app->engine, fd, mcp_call_arena(call), &cause);
    st = st == MCP_OK ? write_convergence(call, &history, &range)
                      : refuse_output(call, st, fd, history.file, &cause);
    close(fd);
    return st;
}
