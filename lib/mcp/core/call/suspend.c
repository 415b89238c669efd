/*
 * suspend.c - the transitions of a call's state, as a table.
 *
 * State and reason are one atomic number, so a change is one exchange: the loop may close a call
 * while its worker suspends it, and one of the two is refused.
 */
#include "mcp/core/call/suspend.h"

#include <stddef.h>

#include "mcp/core/call/call_int.h"

#define STATE(state) ((int)(state))
#define SUSPENDED(reason) ((int)MCP__CALL_SUSPENDED | (int)(reason) << 8)
#define STATE_MASK 0xff

static const struct transition {
    int from, to;
    enum event { START, SUSPEND, RESUME, CLOSE } event;
} transitions[] = {
    { STATE(MCP__CALL_QUEUED), STATE(MCP__CALL_RUNNING), START },
    { STATE(MCP__CALL_QUEUED), SUSPENDED(MCP__WAIT_TASK), SUSPEND },
    { STATE(MCP__CALL_QUEUED), SUSPENDED(MCP__WAIT_SUBSCRIPTION), SUSPEND },
    { STATE(MCP__CALL_RUNNING), SUSPENDED(MCP__WAIT_INPUT), SUSPEND },
    { STATE(MCP__CALL_RUNNING), SUSPENDED(MCP__WAIT_DEFERRED), SUSPEND },
    { SUSPENDED(MCP__WAIT_INPUT), STATE(MCP__CALL_QUEUED), RESUME },
    { SUSPENDED(MCP__WAIT_DEFERRED), STATE(MCP__CALL_RUNNING), RESUME },
};

/* Where an event leads; -1: it is refused. `reason` matters to SUSPEND alone. */
static int next_state(int from, enum event event, int reason)
{
    if (event == CLOSE)
        return from == STATE(MCP__CALL_CLOSED) ? -1 : STATE(MCP__CALL_CLOSED);
    for (size_t i = 0; i < sizeof transitions / sizeof transitions[0]; i++)
        if (transitions[i].from == from && transitions[i].event == event &&
            (event != SUSPEND || transitions[i].to == SUSPENDED(reason)))
            return transitions[i].to;
    return -1;
}

static bool change(mcp_call *call, enum event event, int reason)
{
    int from = atomic_load(&call->state);
    int to;

    do {
        to = next_state(from, event, reason);
    } while (to >= 0 && !atomic_compare_exchange_weak(&call->state, &from, to));
    return to >= 0;
}

bool mcp__call_start(mcp_call *call)
{
    return change(call, START, 0);
}

bool mcp__call_suspend(mcp_call *call, mcp__call_wait reason)
{
    return change(call, SUSPEND, (int)reason);
}

bool mcp__call_resume(mcp_call *call)
{
    return change(call, RESUME, 0);
}

bool mcp__call_close(mcp_call *call)
{
    return change(call, CLOSE, 0);
}

mcp__call_state mcp__call_state_of(const mcp_call *call)
{
    return (mcp__call_state)(atomic_load(&call->state) & STATE_MASK);
}

bool mcp__call_waits_for(const mcp_call *call, mcp__call_wait reason)
{
    return atomic_load(&call->state) == SUSPENDED(reason);
}
