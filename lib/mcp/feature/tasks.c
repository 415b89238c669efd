/*
 * tasks.c - which calls become tasks, and tasks/get, update, result, cancel and list.
 *
 * The two eras differ in who decides. In 2025-11-25 the client asks for a task, and a tool may
 * allow, want or forbid it. From 2026-07-28 the tool decides, for clients that say with the request
 * that they know tasks; a client's `task` there is an unknown member like any other.
 *
 * An id that is somebody else's is answered as one that never was.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/core/dispatch.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task.h"
#include "mcp/features.h"

#define PAGE 50
#define WAITING_MAX 16 /* for the end of one task */

/* ---- tools/call ----------------------------------------------------------------------------- */

static mcp_status decide_stateless(mcp_call *call)
{
    if ((call->plan.flags & MCP_TASK_REQUIRED) &&
        mcp_call_require(call, MCP_CLIENT_TASKS) != MCP_OK)
        return call->err.status;
    if (mcp_call_client_can(call, MCP_CLIENT_TASKS) && !(call->plan.flags & MCP_TASK_DEFERRED))
        call->task.begins = MCP__TASK_BEFORE_RUN;
    return MCP_OK;
}

/* How long the client wants it kept: no longer than we would. */
static mcp_status read_ttl(mcp_call *call, const mcp_json *wish)
{
    const mcp_json *ttl = mcp_json_get(wish, "ttl");
    double ms = 0;

    if (!mcp_json_is_object(wish))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.task must be an object");
    if (!ttl || mcp_json_is_null(ttl))
        return MCP_OK;
    if (!mcp_json_double(ttl, &ms) || !(ms >= 0))
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.task.ttl must be a number of milliseconds");
    if (ms < (double)call->task.ttl_ms)
        call->task.ttl_ms = (int64_t)ms;
    return MCP_OK;
}

static mcp_status decide_in_session(mcp_call *call, bool may, const mcp_json *wish)
{
    if (call->plan.flags & MCP_TASK_REQUIRED && !wish)
        return mcp_error_set(&call->err, MCP_E_METHOD, "%s can only be called as a task",
                             call->request.name);
    if (!wish)
        return MCP_OK;
    if (!may)
        return mcp_error_set(&call->err, MCP_E_METHOD, "%s cannot be called as a task",
                             call->request.name);
    call->task.begins = MCP__TASK_BEFORE_RUN;
    return read_ttl(call, wish);
}

mcp_status mcp__tasks_decide(mcp_call *call)
{
    bool may = call->plan.flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED);
    const mcp_json *wish = NULL;

    call->task.ttl_ms = call->context->options->limits.task_ttl_ms;
    if (mcp__call_is_stateless(call))
        return may ? decide_stateless(call) : MCP_OK;
    if (call->request.revision >= MCP_2025_11_25)
        wish = mcp_json_get(call->request.params, "task");
    return decide_in_session(call, may, wish);
}

/* ---- looking at one ------------------------------------------------------------------------- */

/* NULL: call->err says why. */
static mcp__task_entry *find(mcp_call *call)
{
    const mcp__task_table *tasks = call->context->tasks;
    size_t length = 0;
    const char *id = mcp_json_string(mcp_json_get(call->request.params, "taskId"), &length);
    mcp__task_entry *entry = NULL;

    if (mcp__call_is_stateless(call) && mcp_call_require(call, MCP_CLIENT_TASKS) != MCP_OK)
        return NULL;
    if (id && tasks)
        entry = mcp__task_table_find(tasks, id, length, call);
    if (!entry)
        (void)mcp_error_set(&call->err, MCP_E_PARAMS,
                            id ? "there is no such task"
                               : "params.taskId must be the id of a task");
    return entry;
}

mcp_status mcp__tasks_get(mcp_call *call)
{
    const mcp__task_entry *entry = find(call);

    if (!entry)
        return call->err.status;
    if (entry->is_stateless)
        mcp__task_write_detailed(entry, mcp_call_result(call));
    else
        mcp__task_write(entry, mcp_call_result(call));
    return MCP_OK;
}

/* Answers to what is not asked, or no longer, are passed over: they cross each other all the
 * time. */
mcp_status mcp__tasks_update(mcp_call *call)
{
    const mcp_json *answers = mcp_json_get(call->request.params, "inputResponses");
    mcp__task_entry *entry = find(call);
    bool is_ready = false;
    mcp_status st = MCP_OK;

    if (!entry)
        return call->err.status;
    if (!mcp_json_is_object(answers))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.inputResponses must be an object");
    if (entry->status == MCP__TASK_INPUT_REQUIRED)
        st = mcp__input_responses_take_named(&is_ready, entry->call, answers, call->request.steps,
                                             &call->err);
    if (st != MCP_OK)
        return st;
    if (is_ready)
        mcp__dispatch_resume(entry->call);
    (void)mcp_call_result(call);
    return MCP_OK;
}

static size_t count_waiting(const mcp__task_entry *entry)
{
    size_t count = 0;

    for (const mcp_call *call = TAILQ_FIRST(&entry->waiting); call;
         call = TAILQ_NEXT(call, loop.waiting))
        count++;
    return count;
}

mcp_status mcp__tasks_result(mcp_call *call)
{
    mcp__task_entry *entry = find(call);

    if (!entry)
        return call->err.status;
    if (count_waiting(entry) >= WAITING_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "%d calls wait for this task already",
                             WAITING_MAX);
    mcp__task_await(call, entry);
    return MCP_OK;
}

mcp_status mcp__tasks_cancel(mcp_call *call)
{
    mcp__task_entry *entry = find(call);

    if (!entry)
        return call->err.status;
    if (mcp__task_is_over(entry) && !entry->is_stateless)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "the task is over already");
    if (!mcp__task_is_over(entry))
        mcp__task_cancel(entry);
    (void)mcp_call_result(call);
    if (!entry->is_stateless)
        mcp__task_write(entry, mcp_call_result(call));
    return MCP_OK;
}

/* ---- all of a client's ---------------------------------------------------------------------- */

/* The number of the last task of the page before. */
static mcp_status read_cursor(uint64_t *out, mcp_call *call)
{
    const mcp_json *cursor = mcp_json_get(call->request.params, "cursor");
    size_t length = 0;
    const char *text = mcp_json_string(cursor, &length);

    if (!cursor)
        return MCP_OK;
    if (!text || length == 0 || length > 19 || strspn(text, "0123456789") != length)
        return mcp_error_set(&call->err, MCP_E_PARAMS, "invalid cursor");
    *out = strtoull(text, NULL, 10);
    return MCP_OK;
}

mcp_status mcp__tasks_list(mcp_call *call)
{
    const mcp__task_table *tasks = call->context->tasks;
    mcp_json_writer *result = NULL;
    uint64_t before = UINT64_MAX;
    mcp_status st = read_cursor(&before, call);
    const mcp__task_entry *entry = NULL;

    if (st != MCP_OK)
        return st;
    result = mcp_call_result(call);
    mcp_write_member_array(result, "tasks");
    if (tasks && (call->principal || !call->session->is_once))
        entry = mcp__task_table_older(tasks, before, call);
    for (int i = 0; i < PAGE && entry; i++) {
        mcp_write_object(result);
        mcp__task_write(entry, result);
        mcp_write_end(result);
        before = entry->number;
        entry = mcp__task_table_older(tasks, before, call);
    }
    mcp_write_end(result);
    if (entry)
        mcp_write_member_string(result, "nextCursor",
                                mcp_arena_printf(call->arena, "%" PRIu64, before));
    return MCP_OK;
}
