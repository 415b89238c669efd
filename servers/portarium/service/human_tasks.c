/*
 * human_tasks.c - what people do by hand: list, assign, complete, escalate.
 */
#include "engine/control/manual.h"
#include "service/list.h"
#include "service/operations.h"

/* The token that completes a task is for those who may complete it. */
static mcp_status write_task(mcp_json_writer *json, portarium_tx *tx, const portarium_record *task,
                             mcp_error *err)
{
    const mcp_json *patch = NULL, *view = task->json;
    mcp_status st = MCP_OK;
    if (!portarium_may(tx->actor->roles, PORTARIUM_MAY_COMPLETE_TASK) || tx->actor->agent_id) {
        st = portarium_object(tx, &patch, err, "completionToken", portarium_null, NULL);
        if (st == MCP_OK)
            st = portarium_merge(tx, &view, view, patch, err);
    }
    if (st == MCP_OK)
        mcp_write_value(json, view);
    return st;
}

static mcp_status reply_task(portarium_reply *reply, portarium_tx *tx, const portarium_record *task,
                             mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *whole = NULL;
    portarium_draft_object(&draft);
    mcp_write_name(&draft.json, "task");
    mcp_status st = write_task(&draft.json, tx, task, err);
    if (st != MCP_OK) {
        portarium_draft_clear(&draft);
        return st;
    }
    st = portarium_draft_read(&draft, tx, &whole, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, mcp_json_get(whole, "task"), err)
                        : st;
}

static mcp_status get(portarium_record *task, portarium_tx *tx, const portarium_request *request,
                      mcp_error *err)
{
    return portarium_record_get(task, tx, &portarium_human_tasks,
                                portarium_argument(request, "humanTaskId"), err);
}

static mcp_status list_tasks(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_human_tasks, request, write_task, err);
}

static mcp_status get_task(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record task;
    mcp_status st = get(&task, tx, request, err);
    return st == MCP_OK ? reply_task(reply, tx, &task, err) : st;
}

static mcp_status assign_task(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record task;
    mcp_status st = get(&task, tx, request, err);
    if (st == MCP_OK)
        st = portarium_manual_assign(&task, tx, portarium_body_string(request, "workforceMemberId"),
                                     err);
    return st == MCP_OK ? reply_task(reply, tx, &task, err) : st;
}

static mcp_status escalate_task(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    portarium_record task;
    mcp_status st = get(&task, tx, request, err);
    if (st == MCP_OK)
        st = portarium_manual_escalate(&task, tx, portarium_body_string(request, "rationale"), err);
    return st == MCP_OK ? reply_task(reply, tx, &task, err) : st;
}

static mcp_status complete_task(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    portarium_run run;
    portarium_record task;
    const portarium_completion what = { .token = portarium_body_string(request, "completionToken"),
                                        .outcome = portarium_body_string(request, "outcome"),
                                        .body = request->body };
    mcp_status st = get(&task, tx, request, err);
    if (st == MCP_OK)
        st = portarium_run_load(&run, tx, mcp_json_get_string(task.json, "runId"), err);
    if (st != MCP_OK)
        return st;
    portarium_run_action *action = portarium_run_action_find(
        &run, mcp_json_get_string(task.json, "stepId"));
    if (!action)
        return mcp_error_set(err, MCP_E_INTERNAL, "human task %s has no action", task.id);
    st = portarium_manual_complete(&run, action, tx, &what, err);
    if (st == MCP_OK)
        st = get(&task, tx, request, err);
    return st == MCP_OK ? reply_task(reply, tx, &task, err) : st;
}

/* clang-format off */
const portarium_operation portarium_human_task_operations[] = {
    { "listHumanTasks", "GET", "/human-tasks", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "HumanTask", "human tasks, the newest first", list_tasks },
    { "getHumanTask", "GET", "/human-tasks/{humanTaskId}", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "HumanTask", "one human task", get_task },
    { "assignHumanTask", "POST", "/human-tasks/{humanTaskId}/assign", PORTARIUM_MAY_ASSIGN_TASK,
      PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Assignment, "HumanTask", "say who is to do it", assign_task },
    { "completeHumanTask", "POST", "/human-tasks/{humanTaskId}/complete",
      PORTARIUM_MAY_COMPLETE_TASK, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_CompletionSignal, "HumanTask", "say that it is done", complete_task },
    { "escalateHumanTask", "POST", "/human-tasks/{humanTaskId}/escalate",
      PORTARIUM_MAY_ASSIGN_TASK, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Rationale, "HumanTask", "say that somebody else must do it",
      escalate_task },
    { 0 },
};
/* clang-format on */
