/*
 * while.c - tools that send messages while they work: log messages and progress, and what they
 * require of the client.
 */
#include <stdatomic.h>
#include <time.h>

#include "everything.h"

static void pause_ms(long ms)
{
    struct timespec span = { ms / 1000, (ms % 1000) * 1000000 };

    nanosleep(&span, NULL);
}

mcp_status test_tool_with_logging(mcp_call *call, void *data)
{
    static const char *const steps[] = { "Tool execution started", "Tool processing data",
                                         "Tool execution completed" };

    (void)data;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (i > 0)
            pause_ms(50);
        mcp_call_log(call, MCP_LEVEL_INFO, NULL, "%s", steps[i]);
    }
    return mcp_call_text(call, "Three messages were logged.");
}

mcp_status test_logging_tool(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_log(call, MCP_LEVEL_INFO, "everything", "A message for those who asked");
    return mcp_call_text(call, "One message was logged.");
}

/* The number of the newest report that a client has acknowledged; -1: none. One run at a time uses
 * it. */
static atomic_int acknowledged = -1;

mcp_status test_acknowledge_progress(mcp_call *call, void *data)
{
    (void)data;
    atomic_store(&acknowledged, (int)mcp_arg_int(call, "progress", 0));
    return mcp_call_text(call, "Acknowledged.");
}

/* Until the report of that number was acknowledged; the tool's time limit bounds the wait. */
static void await_acknowledgement(const mcp_call *call, int number)
{
    while (atomic_load(&acknowledged) < number && mcp_call_stop(call) == MCP_STOP_NONE)
        pause_ms(1);
}

mcp_status test_tool_with_progress(mcp_call *call, void *data)
{
    bool in_steps = mcp_arg_bool(call, "acknowledged", false);

    (void)data;
    if (in_steps)
        atomic_store(&acknowledged, -1);
    for (int done = 0; done <= 100; done += 50) {
        mcp_progress progress = { .progress = done, .total = 100, .every = true };
        mcp_call_progress(call, &progress);
        if (in_steps)
            await_acknowledgement(call, done);
        else if (done < 100)
            pause_ms(50);
        if (mcp_call_stop(call) != MCP_STOP_NONE)
            return mcp_error_set(mcp_call_error(call), MCP_E_STOPPED, "stopped at %d", done);
    }
    return mcp_call_text(call, "Done, after three reports.");
}

mcp_status test_reconnection(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_close_stream(call);
    pause_ms(100);
    return mcp_call_text(call, "The answer was fetched on another connection.");
}

mcp_status test_missing_capability(mcp_call *call, void *data)
{
    mcp_status st = mcp_call_require(call, MCP_CLIENT_SAMPLING);

    (void)data;
    return st == MCP_OK ? mcp_call_text(call, "The client can sample.") : st;
}
