/*
 * adapters.c - registrations of adapters: which systems serve a port family, and how they are
 * reached.
 */
#include "check/check.h"
#include "executors/executor.h"
#include "model/identity.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"

static mcp_status list_adapters(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_adapters, request, NULL, err);
}

static mcp_status get_adapter(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record adapter;
    mcp_status st = portarium_record_get(&adapter, tx, &portarium_adapters,
                                         portarium_argument(request, "adapterId"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, adapter.json, err) : st;
}

/* A binding is held by its executor against the configuration of this host. */
static mcp_status check_binding(portarium_tx *tx, const mcp_json *body, portarium_fields *fields,
                                mcp_error *err)
{
    void *data = NULL;
    const portarium_executors *all = tx->settings->executors;
    const mcp_json *binding = mcp_json_get(body, "binding");
    if (!binding || !all)
        return MCP_OK;
    const portarium_executor *executor = portarium_executor_find(all, binding, &data);
    if (!executor || !executor->check)
        return MCP_OK;
    mcp_status st = executor->check(binding, data, err);
    if (st != MCP_E_SCHEMA && st != MCP_E_DENIED)
        return st;
    portarium_fields_add(fields, "/binding", "%s", err->message);
    return portarium_fields_status(fields, err);
}

/* The document that is stored: the client's, with the members that are the plane's. */
static mcp_status document_of(const mcp_json **out, portarium_tx *tx, const mcp_json *body,
                              const char *id, int64_t revision, portarium_fields *fields,
                              mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *own = NULL;
    mcp_status st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_AdapterRegistration,
                                         body, tx->now_ms, fields, err);
    if (st == MCP_OK)
        st = check_binding(tx, body, fields, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "adapterId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_int(&draft.json, "revision", revision);
    st = portarium_draft_read(&draft, tx, &own, err);
    return st == MCP_OK ? portarium_merge(tx, out, body, own, err) : st;
}

static mcp_status create_adapter(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL;
    const char *id = portarium_body_string(request, "adapterId");
    mcp_status st = id ? MCP_OK : portarium_id_new(&id, "adapter-", tx->arena, err);
    if (st == MCP_OK)
        st = document_of(&json, tx, request->body, id, 1, &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_adapters, id, json, NULL, err);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Adapter %s registered", id);
    portarium_reply_location(reply, tx, "adapter-registrations", id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 201, json, err) : st;
}

static mcp_status patch_adapter(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    portarium_record adapter;
    const mcp_json *merged = NULL, *json = NULL;
    const char *id = portarium_argument(request, "adapterId");
    mcp_status st = portarium_record_get(&adapter, tx, &portarium_adapters, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, adapter.json, err);
    if (st == MCP_OK)
        st = portarium_merge(tx, &merged, adapter.json, request->body, err);
    if (st == MCP_OK && mcp_json_equal(merged, adapter.json))
        return portarium_reply_json(reply, tx, 200, adapter.json, err);
    if (st == MCP_OK)
        st = document_of(&json, tx, merged, id, adapter.revision + 1, &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_record_replace(&adapter, tx, &portarium_adapters, json, err);
    if (st == MCP_OK)
        st = portarium_note(tx, NULL, err, "Adapter %s changed to revision %lld", id,
                            (long long)adapter.revision);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, json, err) : st;
}

/* clang-format off */
const portarium_operation portarium_adapter_operations[] = {
    { "listAdapters", "GET", "/adapter-registrations", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "AdapterRegistration", "the registrations of adapters", list_adapters },
    { "createAdapter", "POST", "/adapter-registrations", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND, PORTARIUM_SHAPE_AdapterRegistration, "AdapterRegistration",
      "register an adapter", create_adapter },
    { "getAdapter", "GET", "/adapter-registrations/{adapterId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG, PORTARIUM_NO_BODY, "AdapterRegistration", "one registration", get_adapter },
    { "updateAdapter", "PATCH", "/adapter-registrations/{adapterId}", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH | PORTARIUM_PATCH, PORTARIUM_NO_BODY, "AdapterRegistration",
      "store the next revision of a registration", patch_adapter },
    { 0 },
};
/* clang-format on */
