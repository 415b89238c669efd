/*
 * workflows.c - definitions of workflows: stored versions that never change.
 */
#include <string.h>

#include "model/identity.h"
#include "service/list.h"
#include "service/operations.h"
#include "store/definitions.h"
#include "store/journal.h"

static mcp_status list_workflows(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_workflows, request, NULL, err);
}

/* The newest version, or the one that is asked for: a run keeps the version that it began with. */
static mcp_status get_workflow(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record workflow;
    int64_t version = 0, newest = 0;
    if (!portarium_argument_number(&version, reply, request, "version"))
        return portarium_fields_status(&reply->fields, err);
    mcp_status st = portarium_record_get(&workflow, tx, &portarium_workflows,
                                         portarium_argument(request, "workflowId"), err);
    if (st != MCP_OK)
        return st;
    mcp_json_int(mcp_json_get(workflow.json, "version"), &newest);
    if (version > 0 && version != newest)
        st = portarium_definition_json(&workflow.json, tx, workflow.id, version, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, workflow.json, err) : st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static mcp_status note(portarium_tx *tx, const char *type, const char *id, const char *what,
                       mcp_error *err)
{
    const portarium_evidence entry = {
        .category = "OperatorSurface",
        .summary = mcp_arena_printf(tx->arena, "Workflow %s %s", id, what),
    };
    const portarium_event event = { .type = type, .kind = "workflow", .id = id };
    mcp_status st = portarium_evidence_add(tx, &entry, err);
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* The body as a definition of that id and version, in its stored form. */
static mcp_status read_body(const mcp_json **out, portarium_tx *tx, const mcp_json *body,
                            const char *id, int64_t version, portarium_reply *reply, mcp_error *err)
{
    const portarium_workflow *workflow = NULL;
    const portarium_workflow_origin origin = { .id = id,
                                               .workspace_id = tx->workspace,
                                               .version = version };
    portarium_draft draft;
    mcp_status st = portarium_workflow_read(&workflow, tx->arena, tx->settings->shapes, body,
                                            &origin, &reply->fields, err);
    if (st != MCP_OK)
        return st;
    mcp_buf_init(&draft.buf, 4 << 20);
    mcp_json_writer_init(&draft.json, &draft.buf);
    portarium_workflow_write(&draft.json, workflow);
    st = mcp_json_writer_status(&draft.json);
    if (st == MCP_OK)
        st = mcp_json_read(out, tx->arena, draft.buf.data, draft.buf.length, err);
    mcp_buf_clear(&draft.buf);
    return st;
}

static mcp_status create_workflow(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL;
    const char *id = portarium_body_string(request, "workflowId");
    mcp_status st = id ? MCP_OK : portarium_id_new(&id, "wf-", tx->arena, err);
    if (st == MCP_OK)
        st = read_body(&json, tx, request->body, id, 1, reply, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_workflows, id, json, NULL, err);
    if (st == MCP_OK)
        st = portarium_definition_add(tx, id, 1, json, err);
    if (st == MCP_OK)
        st = note(tx, "WorkflowCreated", id, "created", err);
    portarium_reply_location(reply, tx, "workflows", id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 201, json, err) : st;
}

/* Store the next version of a workflow. */
static mcp_status store_version(portarium_record *workflow, portarium_tx *tx, const mcp_json *body,
                                portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL;
    int64_t version = 0;
    mcp_json_int(mcp_json_get(workflow->json, "version"), &version);
    mcp_status st = read_body(&json, tx, body, workflow->id, version + 1, reply, err);
    if (st == MCP_OK)
        st = portarium_record_replace(workflow, tx, &portarium_workflows, json, err);
    return st == MCP_OK ? portarium_definition_add(tx, workflow->id, version + 1, json, err) : st;
}

/* The document with the patch, except for the version, which is the plane's. */
static mcp_status patched(portarium_tx *tx, const mcp_json **out, const mcp_json *document,
                          const mcp_json *patch, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *version = NULL;
    portarium_draft_object(&draft);
    mcp_write_member_value(&draft.json, "version", mcp_json_get(document, "version"));
    mcp_status st = portarium_draft_read(&draft, tx, &version, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, out, document, patch, err);
    return st == MCP_OK ? portarium_merge(tx, out, *out, version, err) : st;
}

static mcp_status patch_workflow(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record workflow;
    const mcp_json *body = NULL, *without = NULL;
    const char *id = portarium_argument(request, "workflowId");
    mcp_status st = portarium_record_get(&workflow, tx, &portarium_workflows, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, workflow.json, err);
    if (st == MCP_OK) /* the version is the plane's */
        st = portarium_object(tx, &without, err, "version", portarium_null, NULL);
    if (st == MCP_OK)
        st = patched(tx, &body, workflow.json, request->body, err);
    if (st == MCP_OK && mcp_json_equal(body, workflow.json))
        return portarium_reply_json(reply, tx, 200, workflow.json, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, &body, body, without, err);
    if (st == MCP_OK)
        st = store_version(&workflow, tx, body, reply, err);
    if (st == MCP_OK)
        st = note(tx, "WorkflowUpdated", id, "changed", err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, workflow.json, err) : st;
}

static mcp_status archive_workflow(portarium_tx *tx, const portarium_request *request,
                                   portarium_reply *reply, mcp_error *err)
{
    portarium_record workflow;
    const mcp_json *patch = NULL;
    const char *id = portarium_argument(request, "workflowId");
    mcp_status st = portarium_record_get(&workflow, tx, &portarium_workflows, id, err);
    if (st == MCP_OK)
        st = mcp_json_read(&patch, tx->arena, "{\"active\":false}", 16, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&workflow, tx, &portarium_workflows, patch, NULL, err);
    if (st == MCP_OK)
        st = note(tx, "WorkflowDeactivated", id, "archived", err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, workflow.json, err) : st;
}

/* clang-format off */
const portarium_operation portarium_workflow_operations[] = {
    { "listWorkflows", "GET", "/workflows", PORTARIUM_MAY_READ, PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "Workflow", "the workflows of the workspace", list_workflows },
    { "createWorkflow", "POST", "/workflows", PORTARIUM_MAY_WRITE_WORKFLOW, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Workflow, "Workflow", "store a workflow", create_workflow },
    { "getWorkflow", "GET", "/workflows/{workflowId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG | PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "Workflow", "one workflow", get_workflow },
    { "updateWorkflow", "PATCH", "/workflows/{workflowId}", PORTARIUM_MAY_WRITE_WORKFLOW,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH | PORTARIUM_PATCH,
      PORTARIUM_NO_BODY, "Workflow", "store the next version of a workflow", patch_workflow },
    { "archiveWorkflow", "POST", "/workflows/{workflowId}/archive", PORTARIUM_MAY_WRITE_WORKFLOW,
      PORTARIUM_COMMAND, PORTARIUM_NO_BODY, "Workflow", "no run of it may start any more",
      archive_workflow },
    { 0 },
};
/* clang-format on */
