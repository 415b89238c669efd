/*
 * run.c - a call's handler, on a worker.
 *
 * A handler that waits for something need not keep its worker: it returns MCP_E_LATER, and whoever has what
 * it waits for resumes the call with a function that goes on. For the loop nothing changes meanwhile: the call
 * counts as a worker's, its deadline and cancellations find it, and a server that goes down waits for it. Only
 * the thread is free. The call must not be looked at once its task was left: it may be over by then.
 *
 * What goes on always runs, also where the call was closed: it may have something to give back.
 */
#include "mcp/core/call/run.h"

#include "mcp/core/call/reply.h"
#include "mcp/core/dispatch.h"

static mcp_call *call_of(mcp__task *task)
{
    return (mcp_call *)((char *)task - offsetof(mcp_call, task));
}

void mcp__run_render(mcp_call *call)
{
    if (call->render)
        call->render(call);
    else
        mcp__reply_render(call);
}

/* Nobody waits for the answer. */
static bool is_closed(const mcp_call *call)
{
    mcp_stop stop = mcp_call_stop(call);

    return stop == MCP_STOP_CANCELLED || stop == MCP_STOP_DEADLINE;
}

/* What the loop left over: large arguments, and answers that the client sent along. */
static mcp_status check_rest(mcp_call *call)
{
    mcp_status st = call->check ? call->check(call) : MCP_OK;

    call->check = NULL;
    if (st == MCP_OK && call->asking.is_allowed && !call->is_refused)
        st = mcp__asking_read(call);
    return st;
}

static void run(mcp_call *call)
{
    mcp_handler *go_on = call->go_on;

    call->go_on = NULL;
    if (go_on) {
        call->status = go_on(call, call->go_on_data);
        return;
    }
    call->status = check_rest(call);
    if (call->status == MCP_OK && !call->is_refused)
        call->status = call->run(call, call->data);
}

bool mcp__run_step(mcp_call *call)
{
    if (is_closed(call) && !call->go_on)
        return false; /* before it began */
    run(call);
    if (call->status == MCP_E_LATER)
        return true;
    if (!is_closed(call))
        mcp__run_render(call);
    return false;
}

bool mcp__run_work(mcp__task *task)
{
    while (mcp__run_step(call_of(task))) {
        if (mcp__work_leave(task))
            return false;
    }
    return true;
}

void mcp_call_resume(mcp_call *call, mcp_handler *go_on, void *data)
{
    call->go_on = go_on;
    call->go_on_data = data;
    call->goes_on_quickly = false;
    if (mcp__work_resume(&call->task))
        call->executor->again(call->executor, &call->task);
}

void mcp_call_resume_quick(mcp_call *call, mcp_handler *go_on, void *data)
{
    if (!call->pace) {
        mcp_call_resume(call, go_on, data);
        return;
    }
    call->go_on = go_on;
    call->go_on_data = data;
    call->goes_on_quickly = true;
    if (!mcp__work_resume(&call->task))
        return;
    call->task.node.run = mcp__dispatch_go_on;
    call->executor->post(call->executor, &call->task.node);
}
