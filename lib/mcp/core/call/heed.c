/*
 * heed.c - handlers that do not heed that they were told to stop.
 *
 * Nothing can end a handler from outside. Its client was answered or is gone, but its thread is not free,
 * and a few such handlers would take all threads of a lane. So one that goes on for heed_ms is given up: it
 * is counted and logged with its name, and its lane may have another thread until it ends. An MCP_LONG one
 * does not count as running any more, so that its tool can be called again.
 *
 * How many are replaced has a bound (spare_threads), since each costs a thread; beyond it they are still
 * counted and logged.
 */
#include "mcp/core/call/heed.h"

#include "mcp/clock.h"
#include "mcp/core/session/session.h"

void mcp__heed_watch(mcp__call_table *calls, mcp_call *call)
{
    if (call->loop.heed_due_ms != 0 || !call->executor->give_up)
        return;
    call->loop.heed_due_ms = mcp_clock_mono_ms() + call->options->heed_ms;
    call->loop.next_told = calls->told;
    call->loop.previous_told = NULL;
    if (calls->told)
        calls->told->loop.previous_told = call;
    calls->told = call;
    mcp__call_table_due(calls, call->loop.heed_due_ms);
}

void mcp__heed_forget(mcp__call_table *calls, mcp_call *call)
{
    if (call->loop.heed_due_ms == 0)
        return;
    call->loop.heed_due_ms = 0;
    if (call->loop.is_given_up)
        mcp_log_write(&call->options->log, MCP_LOG_INFO, "%s has ended at last",
                      mcp_call_name(call));
    call->loop.is_given_up = false;
    if (call->loop.previous_told)
        call->loop.previous_told->loop.next_told = call->loop.next_told;
    else
        calls->told = call->loop.next_told;
    if (call->loop.next_told)
        call->loop.next_told->loop.previous_told = call->loop.previous_told;
}

static void give_up(mcp_call *call)
{
    mcp__given_up what = call->executor->give_up(call->executor, &call->task);

    if (what == MCP__UNBEGUN) { /* whoever keeps it waiting is given up in its turn */
        call->loop.heed_due_ms += call->options->heed_ms;
        return;
    }
    call->loop.is_given_up = true;
    if (what == MCP__REPLACED && call->tally) {
        (*call->tally)--;
        call->tally = NULL;
    }
    mcp_log_write(&call->options->log, MCP_LOG_WARNING,
                  "%s was told to stop %d ms ago and goes on: %s", mcp_call_name(call),
                  call->options->heed_ms,
                  what == MCP__REPLACED ? "another thread takes its place"
                                        : "no further thread may take its place");
}

void mcp__heed_tick(mcp__call_table *calls, int64_t now_ms)
{
    for (mcp_call *call = calls->told; call; call = call->loop.next_told) {
        if (!call->loop.is_given_up && call->loop.heed_due_ms <= now_ms)
            give_up(call);
        if (!call->loop.is_given_up)
            mcp__call_table_due(calls, call->loop.heed_due_ms);
    }
}
