/*
 * manual.c - human tasks: assignment, escalation, completion.
 */
#include "engine/control/manual.h"

#include <string.h>

#include "engine/attempt.h"
#include "engine/timers.h"
#include "engine/work.h"
#include "fault/fault.h"
#include "mcp/hash.h"
#include "model/identity.h"
#include "store/journal.h"

/* Evidence and event of a change. */
static mcp_status record(const portarium_record *task, portarium_tx *tx, const char *type,
                         const char *summary, mcp_error *err)
{
    const char *run = mcp_json_get_string(task->json, "runId");
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = summary,
        .run_id = run,
        .work_item_id = mcp_json_get_string(task->json, "workItemId"),
    };
    const portarium_event event = { .type = type,
                                    .kind = "humantask",
                                    .id = task->id,
                                    .run_id = run,
                                    .action_id = mcp_json_get_string(task->json, "stepId") };
    mcp_status st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* ---- completion ------------------------------------------------------------------------------ */

static bool has_token(const portarium_run_action *action, const char *token)
{
    const char *own = mcp_json_get_string(action->record.hidden, "completionToken");
    size_t length = own ? strlen(own) : 0;
    return own && strlen(token) == length && mcp_hash_equal(own, token, length);
}

/* A signal that was accepted before, or a wrong one. */
static mcp_status judge_again(portarium_run *run, const portarium_run_action *action,
                              const char *outcome, mcp_error *err)
{
    const char *before = mcp_json_get_string(action->record.hidden, "completedAs");
    if (before && strcmp(before, outcome) == 0)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_EXISTS, "Action %s of run %s is %s.", action->id,
                         run->record.id, portarium_action_state_text(action->state));
}

static mcp_status output_of(const mcp_json **out, portarium_tx *tx, const mcp_json *body,
                            mcp_error *err)
{
    static const char *const members[] = { "notes", "evidenceRefs" };
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "completedByUserId", tx->actor->subject);
    if (mcp_json_get(body, "completedAtIso"))
        portarium_time_copy(&draft.json, "completedAtIso", mcp_json_get(body, "completedAtIso"));
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const mcp_json *value = mcp_json_get(body, members[i]);
        if (value)
            mcp_write_member_value(&draft.json, members[i], value);
    }
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status end_action(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                             const portarium_completion *what, mcp_error *err)
{
    const mcp_json *hidden = NULL, *output = NULL;
    const char *notes = mcp_json_get_string(what->body, "notes");
    const char *by = mcp_arena_printf(tx->arena, "%s by %s%s%s", what->outcome, tx->actor->subject,
                                      notes ? ": " : "", notes ? notes : "");
    mcp_status st = portarium_object(tx, &hidden, err, "completedAs", what->outcome, NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(&action->record, tx, &portarium_actions, NULL, hidden, err);
    if (st == MCP_OK)
        st = output_of(&output, tx, what->body, err);
    if (st != MCP_OK)
        return st;
    if (strcmp(what->outcome, "Succeeded") == 0)
        return portarium_action_succeed(run, action, tx, output, err);
    if (strcmp(what->outcome, "Failed") == 0)
        return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_CONFLICT, by, err);
    st = portarium_object(tx, &hidden, err, "errorClass",
                          portarium_error_class_text(PORTARIUM_CLASS_CONFLICT), "errorMessage", by,
                          NULL);
    if (st == MCP_OK)
        st = portarium_action_become(run, action, tx, PORTARIUM_ACTION_CANCELLED, hidden, NULL,
                                     err);
    return st;
}

static mcp_status end_task(portarium_run_action *action, portarium_tx *tx, const char *outcome,
                           mcp_error *err)
{
    portarium_record task;
    const mcp_json *patch = NULL;
    const char *id = mcp_json_get_string(action->record.json, "humanTaskId");
    bool is_done = strcmp(outcome, "Succeeded") == 0;
    mcp_status st = portarium_record_get(&task, tx, &portarium_human_tasks, id, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "outcome", outcome, "completedByUserId",
                              tx->actor->subject, NULL);
    if (st == MCP_OK)
        st = portarium_human_task_become(&task, tx, PORTARIUM_HUMAN_TASK_COMPLETED, patch, err);
    if (st == MCP_OK)
        st = portarium_work_item_become(
            tx, mcp_json_get_string(task.json, "workItemId"),
            is_done ? PORTARIUM_WORK_ITEM_RESOLVED : PORTARIUM_WORK_ITEM_BLOCKED, err);
    return st == MCP_OK
               ? record(&task, tx, "HumanTaskCompleted",
                        mcp_arena_printf(tx->arena, "Human task completed: %s", outcome), err)
               : st;
}

mcp_status portarium_manual_complete(portarium_run *run, portarium_run_action *action,
                                     portarium_tx *tx, const portarium_completion *what,
                                     mcp_error *err)
{
    if (!has_token(action, what->token))
        return mcp_error_set(err, MCP_E_DENIED, "The completion token does not fit action %s.",
                             action->id);
    if (action->state != PORTARIUM_ACTION_WAITING_FOR_MANUAL_COMPLETION)
        return judge_again(run, action, what->outcome, err);
    mcp_status st = end_action(run, action, tx, what, err);
    if (st == MCP_OK)
        st = end_task(action, tx, what->outcome, err);
    FAULT_POINT("completion-made");
    return st == MCP_OK ? portarium_run_due(run, tx, 0, err) : st;
}

/* ---- who does it ----------------------------------------------------------------------------- */

static portarium_human_task_status status_of(const portarium_record *task)
{
    portarium_human_task_status status = PORTARIUM_HUMAN_TASK_COMPLETED;
    portarium_human_task_status_read(&status, mcp_json_get_string(task->json, "status"));
    return status;
}

static mcp_status set_owner(const portarium_record *task, portarium_tx *tx, const mcp_json *owner,
                            mcp_error *err)
{
    portarium_record item;
    const char *id = mcp_json_get_string(task->json, "workItemId");
    mcp_status st = portarium_record_get(&item, tx, &portarium_work_items, id, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&item, tx, &portarium_work_items, owner, NULL, err);
    return st;
}

mcp_status portarium_manual_assign(portarium_record *task, portarium_tx *tx, const char *assignee,
                                   mcp_error *err)
{
    const mcp_json *patch = NULL, *owner = NULL;
    const char *name = assignee ? assignee : portarium_null;
    portarium_human_task_status status = status_of(task);
    if (status == PORTARIUM_HUMAN_TASK_COMPLETED)
        return mcp_error_set(err, MCP_E_EXISTS, "Human task %s is completed.", task->id);
    mcp_status st = portarium_object(tx, &patch, err, "assigneeId", name, NULL);
    if (st == MCP_OK)
        st = portarium_object(tx, &owner, err, "ownerUserId", name, NULL);
    if (st == MCP_OK)
        st = assignee && portarium_human_task_may_become(status, PORTARIUM_HUMAN_TASK_ASSIGNED)
                 ? portarium_human_task_become(task, tx, PORTARIUM_HUMAN_TASK_ASSIGNED, patch, err)
                 : portarium_record_patch(task, tx, &portarium_human_tasks, patch, NULL, err);
    if (st == MCP_OK)
        st = set_owner(task, tx, owner, err);
    return st == MCP_OK ? record(task, tx, "HumanTaskAssigned",
                                 mcp_arena_printf(tx->arena, "Human task assigned to %s",
                                                  assignee ? assignee : "nobody"),
                                 err)
                        : st;
}

mcp_status portarium_manual_escalate(portarium_record *task, portarium_tx *tx,
                                     const char *rationale, mcp_error *err)
{
    mcp_status st = portarium_human_task_become(task, tx, PORTARIUM_HUMAN_TASK_ESCALATED, NULL,
                                                err);
    return st == MCP_OK
               ? record(task, tx, "HumanTaskEscalated",
                        mcp_arena_printf(tx->arena, "Human task escalated: %s", rationale), err)
               : st;
}

/* ---- time limits ----------------------------------------------------------------------------- */

/* The tasks of a run are few: those that belong to the work item are picked here. */
static mcp_status find_task(portarium_record *out, bool *found, portarium_tx *tx, const char *item,
                            mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(item) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT t.id, t.revision, t.created_at, t.json, t.hidden FROM "
                             "work_item_links AS l JOIN human_tasks AS t ON t.workspace = "
                             "l.workspace AND t.run_id = l.ref WHERE l.workspace = $1 AND "
                             "l.kind = 'run' AND l.work_item_id = $2",
                             values, 2, err);
    *found = false;
    while (!*found && portarium_next(rows, &st, err)) {
        st = portarium_record_read(out, tx, rows, err);
        const char *of = st == MCP_OK ? mcp_json_get_string(out->json, "workItemId") : NULL;
        *found = of && strcmp(of, item) == 0;
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_manual_schedule(const portarium_record *item, portarium_tx *tx, mcp_error *err)
{
    portarium_record task;
    int64_t at = 0;
    bool found = false;
    const char *due = mcp_json_string(mcp_json_pointer(item->json, "/sla/dueAtIso"), NULL);
    mcp_status st = find_task(&task, &found, tx, item->id, err);
    if (st != MCP_OK || !found || status_of(&task) == PORTARIUM_HUMAN_TASK_COMPLETED)
        return st;
    return due && portarium_time_read(&at, due)
               ? portarium_timer_set(tx, PORTARIUM_TASK_TIMER, item->id, at, err)
               : portarium_timer_cancel(tx, PORTARIUM_TASK_TIMER, item->id, err);
}

mcp_status portarium_manual_tick(portarium_tx *tx, const char *item, mcp_error *err)
{
    portarium_record task;
    bool found = false;
    mcp_status st = find_task(&task, &found, tx, item, err);
    if (st != MCP_OK || !found ||
        !portarium_human_task_may_become(status_of(&task), PORTARIUM_HUMAN_TASK_ESCALATED))
        return st;
    return portarium_manual_escalate(&task, tx, "its time limit has come", err);
}
