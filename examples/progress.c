/*
 * progress.c - a tool that takes its time: it says how far it is, and stops when nobody waits.
 *
 *     {"method":"tools/call","params":{"name":"count","arguments":{"to":5},
 *                                      "_meta":{"progressToken":"t"}}}
 *
 * The client sees a notification a step, then the answer. When it cancels the request,
 * mcp_call_stop says so and the handler returns; the answer goes nowhere. The tool "stopped" tells
 * how often that has happened. `--revision 2025-03-26` makes the server speak that revision alone.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mcp/mcp.h"

static const char count_json[] =
    "{\"name\":\"count\",\"description\":\"Counts, and reports each step\","
    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"to\"],\"properties\":{"
    "\"to\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":10000},"
    "\"step_ms\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000,\"default\":25}},"
    "\"additionalProperties\":false},"
    "\"outputSchema\":{\"type\":\"object\",\"required\":[\"counted\"],"
    "\"properties\":{\"counted\":{\"type\":\"integer\"}}}}";

static const char stopped_json[] =
    "{\"name\":\"stopped\",\"description\":\"How many counts were stopped\","
    "\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false},"
    "\"outputSchema\":{\"type\":\"object\",\"required\":[\"stopped\"],"
    "\"properties\":{\"stopped\":{\"type\":\"integer\"}}}}";

static const mcp_file files[] = { { "tools/count.json", count_json, sizeof count_json - 1 },
                                  { "tools/stopped.json", stopped_json, sizeof stopped_json - 1 },
                                  { 0 } };

static mcp_status count(mcp_call *call, void *data)
{
    atomic_int *stopped = data;
    int64_t to = mcp_arg_int(call, "to", 0);
    int64_t step_ms = mcp_arg_int(call, "step_ms", 0);
    struct timespec step = { 0, (long)(step_ms % 1000) * 1000000 };

    step.tv_sec = (time_t)(step_ms / 1000);
    for (int64_t i = 1; i <= to; i++) {
        mcp_progress progress = { .progress = (double)i, .total = (double)to, .every = true };
        if (mcp_call_stop(call) != MCP_STOP_NONE) {
            atomic_fetch_add(stopped, 1);
            return mcp_error_set(mcp_call_error(call), MCP_E_STOPPED, "stopped at %d", (int)i);
        }
        progress.message = mcp_arena_printf(mcp_call_arena(call), "counting %d", (int)i);
        mcp_call_progress(call, &progress);
        nanosleep(&step, NULL);
    }
    mcp_write_member_int(mcp_call_result(call), "counted", to);
    return MCP_OK;
}

static mcp_status stopped(mcp_call *call, void *data)
{
    mcp_write_member_int(mcp_call_result(call), "stopped", atomic_load((atomic_int *)data));
    return MCP_OK;
}

/* clang-format off */
static const mcp_tool tools[] = {
    /* name      run      flags                 timeout_ms  max_running */
    { "count",   count,   MCP_READS | MCP_LONG, 0,          4 },
    { "stopped", stopped, MCP_READS,            0,          0 },
    { 0 }
};
/* clang-format on */

/* False when the arguments are not "--revision R" or none. */
static bool read_arguments(mcp_server_options *options, int argc, char **argv)
{
    if (argc == 1)
        return true;
    if (argc != 3 || strcmp(argv[1], "--revision") != 0)
        return false;
    options->oldest = options->newest = mcp_revision_find(argv[2]);
    return options->oldest != MCP_REVISION_NONE;
}

int main(int argc, char **argv)
{
    static atomic_int stops;
    mcp_features features = { .files = files, .tools = tools, .data = &stops };
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st;

    options.name = "progress";
    options.version = "1.0.0";
    if (!read_arguments(&options, argc, argv)) {
        fprintf(stderr, "usage: %s [--revision REVISION]\n", argv[0]);
        return 2;
    }
    st = mcp_server_new(&server, &options, &err);
    if (st == MCP_OK)
        st = mcp_server_add(server, &features, &err);
    if (st == MCP_OK)
        st = mcp_server_stdio(server, &err);
    if (st != MCP_OK)
        fprintf(stderr, "progress: %s\n", err.message);
    mcp_server_free(server);
    return st == MCP_OK ? 0 : 1;
}
