/*
 * convergence_tool.c - cobre/query-convergence: the bounds of each iteration.
 */
#include <unistd.h>

#include "features/tools.h"
#include "gateway/directory.h"
#include "gateway/errors.h"
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

mcp_status cobre_tool_query_convergence(mcp_call *call, void *data)
{
    const cobre_app *app = data;
    int fd = -1;
    int64_t range[2];
    mcp_status st = MCP_OK;
    mcp_error cause = MCP_ERROR_INIT;
    results_convergence history;
    if (!iteration_range(call, range, &st) ||
        !cobre_open_dir(call, app, "output_dir", &fd, NULL, &st))
        return st;
    st = results_read_convergence(&history, app->engine, fd, mcp_call_arena(call), &cause);
    close(fd);
    if (st != MCP_OK)
        return refuse_output(call, st, "training/convergence.parquet", &cause);
    return write_convergence(call, &history, range);
}
