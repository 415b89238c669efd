/*
 * work_items.c - work items: what people and agents see that they are to do.
 */
#include <string.h>

#include "check/check.h"
#include "engine/control/manual.h"
#include "engine/work.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"
#include "store/journal.h"

static mcp_status list_items(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_work_items, request, NULL, err);
}

static mcp_status get(portarium_record *out, portarium_tx *tx, const portarium_request *request,
                      mcp_error *err)
{
    return portarium_record_get(out, tx, &portarium_work_items,
                                portarium_argument(request, "workItemId"), err);
}

static mcp_status get_item(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record item;
    mcp_status st = get(&item, tx, request, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, item.json, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* @param sla as it was given; null removes a member */
static void write_sla(mcp_json_writer *json, const mcp_json *sla)
{
    if (!mcp_json_is_object(sla)) {
        mcp_write_member_value(json, "sla", sla);
        return;
    }
    mcp_write_member_object(json, "sla");
    for (size_t i = 0; i < mcp_json_count(sla); i++)
        portarium_time_copy(json, mcp_json_name(sla, i, NULL), mcp_json_item(sla, i));
    mcp_write_end(json);
}

/* The body as a patch of the document, whose external references are among its links. */
static mcp_status patch_of(portarium_tx *tx, const mcp_json **out, const mcp_json *body,
                           mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    for (size_t i = 0; i < mcp_json_count(body); i++) {
        const char *name = mcp_json_name(body, i, NULL);
        bool is_link = strcmp(name, "externalRefs") == 0;
        if (strcmp(name, "sla") == 0) {
            write_sla(&draft.json, mcp_json_item(body, i));
            continue;
        }
        if (is_link)
            mcp_write_member_object(&draft.json, "links");
        mcp_write_member_value(&draft.json, name, mcp_json_item(body, i));
        if (is_link)
            mcp_write_end(&draft.json);
    }
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status create_item(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record item;
    const portarium_work_links links = { .run = NULL };
    const mcp_json *patch = NULL, *changed = NULL;
    const char *id = NULL;
    mcp_status st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_WorkItemCreate,
                                         request->body, tx->now_ms, &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_work_item_create(&id, tx, portarium_body_string(request, "title"),
                                        portarium_body_string(request, "ownerUserId"), &links, err);
    if (st == MCP_OK)
        st = portarium_record_get(&item, tx, &portarium_work_items, id, err);
    if (st == MCP_OK)
        st = patch_of(tx, &patch, request->body, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, &changed, item.json, patch, err);
    if (st == MCP_OK && !mcp_json_equal(changed, item.json))
        st = portarium_record_replace(&item, tx, &portarium_work_items, changed, err);
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "Work item %s created", id ? id : ""),
        .work_item_id = id,
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    portarium_reply_location(reply, tx, "work-items", id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 201, item.json, err) : st;
}

/* Store a change. Nothing leads out of Closed. */
static mcp_status change(portarium_record *item, portarium_tx *tx, const mcp_json *patch,
                         portarium_reply *reply, mcp_error *err)
{
    portarium_work_item_status from = PORTARIUM_WORK_ITEM_OPEN, to = PORTARIUM_WORK_ITEM_OPEN;
    const mcp_json *changed = NULL;
    mcp_status st = portarium_merge(tx, &changed, item->json, patch, err);
    if (st != MCP_OK || mcp_json_equal(changed, item->json))
        return st;
    portarium_work_item_status_read(&from, mcp_json_get_string(item->json, "status"));
    portarium_work_item_status_read(&to, mcp_json_get_string(changed, "status"));
    if (from != to && !portarium_work_item_may_become(from, to))
        return portarium_refuse(reply, tx, err, 409, "Work item %.128s is %s and cannot become %s.",
                                item->id, portarium_work_item_status_text(from),
                                portarium_work_item_status_text(to));
    bool is_due_else = !mcp_json_equal(mcp_json_get(item->json, "sla"),
                                       mcp_json_get(changed, "sla"));
    st = portarium_record_replace(item, tx, &portarium_work_items, changed, err);
    if (st == MCP_OK && is_due_else)
        st = portarium_manual_schedule(item, tx, err);
    const portarium_event event = { .type = from != to ? "WorkItemTransitioned" : "WorkItemUpdated",
                                    .kind = "workitem",
                                    .id = item->id,
                                    .data = patch };
    if (st != MCP_OK)
        return st;
    return from == to ? portarium_note(tx, &event, err, "Work item %s changed", item->id)
                      : portarium_note(tx, &event, err, "Work item %s: %s to %s", item->id,
                                       portarium_work_item_status_text(from),
                                       portarium_work_item_status_text(to));
}

static mcp_status patch_item(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record item;
    const mcp_json *patch = NULL;
    mcp_status st = get(&item, tx, request, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, item.json, err);
    if (st == MCP_OK)
        st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_WorkItemPatch,
                                  request->body, item.created_ms, &reply->fields, err);
    if (st == MCP_OK)
        st = patch_of(tx, &patch, request->body, err);
    if (st == MCP_OK)
        st = change(&item, tx, patch, reply, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, item.json, err) : st;
}

/* ---- assignment ------------------------------------------------------------------------------ */

/* The assignment as a document: a member of the workforce is a user. */
static mcp_status assignment_of(portarium_tx *tx, const mcp_json **out,
                                const portarium_record *item, mcp_error *err)
{
    const char *owner = mcp_json_get_string(item->json, "ownerUserId");
    return portarium_object(tx, out, err, "workItemId", item->id, "workforceMemberId",
                            owner ? owner : portarium_null, NULL);
}

static mcp_status get_assignment(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record item;
    const mcp_json *assignment = NULL;
    mcp_status st = get(&item, tx, request, err);
    if (st == MCP_OK)
        st = assignment_of(tx, &assignment, &item, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, assignment, err) : st;
}

static mcp_status assign(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    portarium_record item;
    const mcp_json *assignment = NULL, *patch = NULL;
    const char *owner = portarium_body_string(request, "workforceMemberId");
    mcp_status st = get(&item, tx, request, err);
    if (st == MCP_OK)
        st = assignment_of(tx, &assignment, &item, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, assignment, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "ownerUserId", owner ? owner : portarium_null, NULL);
    if (st == MCP_OK)
        st = change(&item, tx, patch, reply, err);
    if (st == MCP_OK)
        st = assignment_of(tx, &assignment, &item, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, assignment, err) : st;
}

/* clang-format off */
const portarium_operation portarium_work_item_operations[] = {
    { "listWorkItems", "GET", "/work-items", PORTARIUM_MAY_READ, PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "WorkItem", "work items, the newest first", list_items },
    { "createWorkItem", "POST", "/work-items", PORTARIUM_MAY_ASSIGN_TASK, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_WorkItemCreate, "WorkItem", "add a work item", create_item },
    { "getWorkItem", "GET", "/work-items/{workItemId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG | PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "WorkItem", "one work item", get_item },
    { "updateWorkItem", "PATCH", "/work-items/{workItemId}", PORTARIUM_MAY_ASSIGN_TASK,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_SHAPE_WorkItemPatch, "WorkItem", "change a work item",
      patch_item },
    { "getAssignment", "GET", "/work-items/{workItemId}/assignment", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG, PORTARIUM_NO_BODY, "Assignment", "whose it is", get_assignment },
    { "putAssignment", "PUT", "/work-items/{workItemId}/assignment", PORTARIUM_MAY_ASSIGN_TASK,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_SHAPE_Assignment, "Assignment", "give it to somebody", assign },
    { "updateAssignment", "PATCH", "/work-items/{workItemId}/assignment",
      PORTARIUM_MAY_ASSIGN_TASK, PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_SHAPE_Assignment, "Assignment",
      "give it to somebody", assign },
    { 0 },
};
/* clang-format on */
