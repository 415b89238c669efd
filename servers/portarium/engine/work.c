/*
 * work.c - work items that the engine makes and closes, and the end of what people have to do.
 */
#include "engine/work.h"

#include "engine/timers.h"
#include "model/identity.h"
#include "store/journal.h"

static mcp_status add_event(portarium_tx *tx, const char *type, const char *id, const char *run,
                            const mcp_json *data, mcp_error *err)
{
    const portarium_event event = {
        .type = type, .kind = "workitem", .id = id, .run_id = run, .data = data
    };
    return portarium_event_add(tx, &event, err);
}

static void write_link(mcp_json_writer *json, const char *name, const char *id)
{
    if (!id)
        return;
    mcp_write_member_array(json, name);
    mcp_write_string(json, id);
    mcp_write_end(json);
}

static mcp_status add_link(portarium_tx *tx, const char *item, const char *kind, const char *ref,
                           mcp_error *err)
{
    return ref ? portarium_link_add(tx, item, kind, ref, err) : MCP_OK;
}

mcp_status portarium_work_item_create(const char **id, portarium_tx *tx, const char *title,
                                      const char *owner, const portarium_work_links *links,
                                      mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *json = NULL;
    mcp_status st = portarium_id_new(id, "wi-", tx->arena, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "workItemId", *id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    mcp_write_member_string(&draft.json, "createdByUserId", tx->actor->subject);
    mcp_write_member_string(&draft.json, "title", title);
    mcp_write_member_string(&draft.json, "status",
                            portarium_work_item_status_text(PORTARIUM_WORK_ITEM_OPEN));
    if (owner)
        mcp_write_member_string(&draft.json, "ownerUserId", owner);
    if (links->due) {
        mcp_write_member_object(&draft.json, "sla");
        mcp_write_member_string(&draft.json, "dueAtIso", links->due);
        mcp_write_end(&draft.json);
    }
    mcp_write_member_object(&draft.json, "links");
    write_link(&draft.json, "runIds", links->run);
    write_link(&draft.json, "workflowIds", links->workflow);
    write_link(&draft.json, "approvalIds", links->approval);
    mcp_write_end(&draft.json);
    st = portarium_draft_read(&draft, tx, &json, err);
    if (st == MCP_OK)
        st = portarium_record_make(NULL, tx, &portarium_work_items, *id, json, NULL, err);
    if (st == MCP_OK)
        st = add_link(tx, *id, "run", links->run, err);
    if (st == MCP_OK)
        st = add_link(tx, *id, "workflow", links->workflow, err);
    if (st == MCP_OK)
        st = add_link(tx, *id, "approval", links->approval, err);
    if (st == MCP_OK)
        st = add_link(tx, *id, "agent", links->agent, err);
    return st == MCP_OK ? add_event(tx, "WorkItemCreated", *id, links->run, NULL, err) : st;
}

mcp_status portarium_work_item_link(portarium_tx *tx, const char *id, const char *approval,
                                    mcp_error *err)
{
    portarium_record item;
    portarium_draft draft;
    const mcp_json *patch = NULL, *before = NULL;
    mcp_status st = portarium_record_get(&item, tx, &portarium_work_items, id, err);
    if (st != MCP_OK)
        return st;
    before = mcp_json_pointer(item.json, "/links/approvalIds");
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "links");
    mcp_write_member_array(&draft.json, "approvalIds");
    for (size_t i = 0; i < mcp_json_count(before); i++)
        mcp_write_value(&draft.json, mcp_json_item(before, i));
    mcp_write_string(&draft.json, approval);
    mcp_write_end(&draft.json);
    mcp_write_end(&draft.json);
    st = portarium_draft_read(&draft, tx, &patch, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&item, tx, &portarium_work_items, patch, NULL, err);
    return st == MCP_OK ? add_link(tx, id, "approval", approval, err) : st;
}

mcp_status portarium_work_item_become(portarium_tx *tx, const char *id,
                                      portarium_work_item_status status, mcp_error *err)
{
    portarium_record item;
    const mcp_json *patch = NULL;
    portarium_work_item_status now = PORTARIUM_WORK_ITEM_CLOSED;
    if (!id)
        return MCP_OK;
    mcp_status st = portarium_record_get(&item, tx, &portarium_work_items, id, err);
    if (st != MCP_OK)
        return st;
    portarium_work_item_status_read(&now, mcp_json_get_string(item.json, "status"));
    if (now == status || !portarium_work_item_may_become(now, status))
        return MCP_OK;
    st = portarium_object(tx, &patch, err, "status", portarium_work_item_status_text(status), NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(&item, tx, &portarium_work_items, patch, NULL, err);
    return st == MCP_OK ? add_event(tx, "WorkItemTransitioned", id, NULL, patch, err) : st;
}

/* ---- human tasks ----------------------------------------------------------------------------- */

mcp_status portarium_human_task_become(portarium_record *task, portarium_tx *tx,
                                       portarium_human_task_status status, const mcp_json *patch,
                                       mcp_error *err)
{
    const mcp_json *change = NULL;
    portarium_human_task_status now = PORTARIUM_HUMAN_TASK_COMPLETED;
    const char *assignee = mcp_json_get_string(task->json, "assigneeId");
    portarium_human_task_status_read(&now, mcp_json_get_string(task->json, "status"));
    bool passes = now == PORTARIUM_HUMAN_TASK_PENDING && status == PORTARIUM_HUMAN_TASK_COMPLETED;
    if (!passes && !portarium_human_task_may_become(now, status))
        return mcp_error_set(err, MCP_E_EXISTS, "Human task %s is %s and cannot become %s.",
                             task->id, portarium_human_task_status_text(now),
                             portarium_human_task_status_text(status));
    mcp_status st = portarium_object(tx, &change, err, "status",
                                     portarium_human_task_status_text(status), "assigneeId",
                                     passes && !assignee ? tx->actor->subject : NULL, NULL);
    if (st == MCP_OK && patch)
        st = portarium_merge(tx, &change, change, patch, err);
    if (st == MCP_OK && status == PORTARIUM_HUMAN_TASK_COMPLETED)
        st = portarium_timer_cancel(tx, PORTARIUM_TASK_TIMER,
                                    mcp_json_get_string(task->json, "workItemId"), err);
    return st == MCP_OK
               ? portarium_record_patch(task, tx, &portarium_human_tasks, change, NULL, err)
               : st;
}

/* ---- the end of a run ------------------------------------------------------------------------ */

/* Ids that a query has found. In the transaction's arena. */
typedef struct id_list {
    struct id_list *next;
    const char *id;
} id_list;

static mcp_status ids_of(id_list **out, portarium_tx *tx, const char *sql, const char *run,
                         mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(run) };
    mcp_status st = db_query(&rows, tx->session, sql, values, 2, err);
    *out = NULL;
    while (portarium_next(rows, &st, err)) {
        id_list *made = mcp_arena_alloc(tx->arena, sizeof *made);
        const char *id = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
        if (!made || !id) {
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the end of a run");
            break;
        }
        *made = (id_list){ .next = *out, .id = id };
        *out = made;
    }
    db_rows_free(rows);
    return st;
}

/* One in RequestChanges passes through Pending. */
static mcp_status expire(portarium_run *run, portarium_tx *tx, const char *id,
                         const char *rationale, mcp_error *err)
{
    portarium_record approval;
    const mcp_json *patch = NULL;
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals, id, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "status",
                              portarium_approval_status_text(PORTARIUM_APPROVAL_EXPIRED),
                              "decidedAtIso", tx->now, "decidedByUserId", tx->actor->subject,
                              "rationale", rationale, NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(&approval, tx, &portarium_approvals, patch, NULL, err);
    const portarium_evidence entry = {
        .category = "Approval",
        .summary = mcp_arena_printf(tx->arena, "Approval expired: %s", rationale),
        .run_id = run->record.id,
        .approval_id = id,
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    const portarium_event event = {
        .type = "ApprovalExpired", .kind = "approval", .id = id, .run_id = run->record.id
    };
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

static mcp_status end_task(portarium_run *run, portarium_tx *tx, const char *id, mcp_error *err)
{
    portarium_record task;
    const mcp_json *patch = NULL;
    mcp_status st = portarium_record_get(&task, tx, &portarium_human_tasks, id, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "outcome", "Cancelled", NULL);
    if (st == MCP_OK)
        st = portarium_human_task_become(&task, tx, PORTARIUM_HUMAN_TASK_COMPLETED, patch, err);
    if (st == MCP_OK)
        st = portarium_work_item_become(tx, mcp_json_get_string(task.json, "workItemId"),
                                        PORTARIUM_WORK_ITEM_CLOSED, err);
    const portarium_event event = { .type = "HumanTaskCompleted",
                                    .kind = "humantask",
                                    .id = id,
                                    .run_id = run->record.id,
                                    .data = patch };
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

mcp_status portarium_work_close(portarium_run *run, portarium_tx *tx, const char *rationale,
                                mcp_error *err)
{
    id_list *approvals = NULL, *tasks = NULL, *items = NULL;
    mcp_status st = ids_of(&approvals, tx,
                           "SELECT id FROM approvals WHERE workspace = $1 AND run_id = $2 AND "
                           "status IN ('Pending', 'RequestChanges') ORDER BY id DESC",
                           run->record.id, err);
    for (; st == MCP_OK && approvals; approvals = approvals->next)
        st = expire(run, tx, approvals->id, rationale, err);
    if (st == MCP_OK)
        st = ids_of(&tasks, tx,
                    "SELECT id FROM human_tasks WHERE workspace = $1 AND run_id = $2 AND "
                    "status <> 'completed' ORDER BY id DESC",
                    run->record.id, err);
    for (; st == MCP_OK && tasks; tasks = tasks->next)
        st = end_task(run, tx, tasks->id, err);
    bool is_cancelled = run->status == PORTARIUM_RUN_CANCELLED || portarium_run_is_cancelling(run);
    if (st == MCP_OK && is_cancelled)
        st = ids_of(&items, tx,
                    "SELECT i.id FROM work_item_links AS l JOIN work_items AS i ON "
                    "i.workspace = l.workspace AND i.id = l.work_item_id WHERE l.workspace = $1 "
                    "AND l.kind = 'run' AND l.ref = $2 AND i.status NOT IN "
                    "('Resolved', 'Closed') ORDER BY i.id DESC",
                    run->record.id, err);
    for (; st == MCP_OK && items; items = items->next)
        st = portarium_work_item_become(tx, items->id, PORTARIUM_WORK_ITEM_CLOSED, err);
    return st;
}
