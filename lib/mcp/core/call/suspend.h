/*
 * suspend.h - the state of a call: the only place that changes it.
 *
 *     state                 start      suspend                      resume     close
 *     QUEUED                RUNNING    TASK, SUBSCRIPTION           -          CLOSED
 *     RUNNING               -          INPUT, DEFERRED              -          CLOSED
 *     SUSPENDED, INPUT      -          -                            QUEUED     CLOSED
 *     SUSPENDED, DEFERRED   -          -                            RUNNING    CLOSED
 *     SUSPENDED, TASK       -          -                            -          CLOSED
 *     SUSPENDED, SUBSCRIPTION  -       -                            -          CLOSED
 *     CLOSED                -          -                            -          -
 *
 * A dash: the function returns false and nothing changes.
 *
 * The loop starts, closes and suspends. The thread that runs the handler suspends for DEFERRED, and
 * the thread that has the task then resumes it (net's mcp__work_leave and mcp__work_resume hand it
 * over), so of these two there is one at a time. The loop may close a call at any moment; so a
 * change that comes late is refused, and the work continues until it is given back: CLOSED says
 * that no answer is sent, not that the memory may go.
 */
#ifndef MCP_CORE_CALL_SUSPEND_H
#define MCP_CORE_CALL_SUSPEND_H

#include <stdbool.h>

#include "mcp/call.h"

typedef enum mcp__call_state {
    MCP__CALL_QUEUED,    /* prepared, or waits in line */
    MCP__CALL_RUNNING,   /* the executor has it */
    MCP__CALL_SUSPENDED, /* waits for something else, see mcp__call_wait */
    MCP__CALL_CLOSED     /* answered, or it will never be */
} mcp__call_state;

/** What a suspended call waits for. */
typedef enum mcp__call_wait {
    MCP__WAIT_INPUT,       /* responses of the client; the handler then runs again */
    MCP__WAIT_DEFERRED,    /* mcp_call_resume; it keeps its place among the running calls */
    MCP__WAIT_TASK,        /* the end of a task, which is the answer */
    MCP__WAIT_SUBSCRIPTION /* nothing: it stays open for notifications */
} mcp__call_wait;

/** Each returns whether the table above allows it; if not, nothing changes. */
bool mcp__call_start(mcp_call *call);
bool mcp__call_suspend(mcp_call *call, mcp__call_wait reason);
bool mcp__call_resume(mcp_call *call);
bool mcp__call_close(mcp_call *call);

/** Any thread. */
mcp__call_state mcp__call_state_of(const mcp_call *call);

/** Any thread. Whether the call is suspended for that reason. */
bool mcp__call_waits_for(const mcp_call *call, mcp__call_wait reason);

#endif
