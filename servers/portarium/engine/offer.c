/*
 * offer.c - work items of actions that agents fetch.
 */
#include "engine/offer.h"

#include <string.h>

#include "engine/attempt.h"
#include "engine/work.h"
#include "store/journal.h"

bool portarium_is_offered(const portarium_record *adapter)
{
    const char *kind = mcp_json_get_string(mcp_json_get(adapter->json, "binding"), "kind");
    return kind && strcmp(kind, "pull") == 0;
}

const char *portarium_offer_capability(const portarium_action *definition)
{
    return definition->capability ? definition->capability : definition->operation;
}

mcp_status portarium_offer_end(portarium_tx *tx, const char *item,
                               portarium_work_item_status status, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(item) };
    if (!item)
        return MCP_OK;
    mcp_status st = db_defer(tx->session, MCP_OK,
                             "DELETE FROM work_item_links WHERE workspace = $1 AND "
                             "work_item_id = $2 AND kind = 'capability'",
                             values, 2, err);
    return st == MCP_OK ? portarium_work_item_become(tx, item, status, err) : st;
}

/* What the agent that claims it gets. */
static mcp_status hide(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                       const char *id, const mcp_json *input, mcp_error *err)
{
    portarium_record item;
    portarium_draft draft;
    const mcp_json *hidden = NULL;
    mcp_status st = portarium_record_get(&item, tx, &portarium_work_items, id, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "runId", run->record.id);
    mcp_write_member_string(&draft.json, "actionId", action->id);
    if (input)
        mcp_write_member_value(&draft.json, "input", input);
    st = portarium_draft_read(&draft, tx, &hidden, err);
    item.hidden = NULL;
    return st == MCP_OK
               ? portarium_record_patch(&item, tx, &portarium_work_items, NULL, hidden, err)
               : st;
}

mcp_status portarium_offer(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                           const portarium_record *adapter, const mcp_json *input, mcp_error *err)
{
    bool is_idempotent = false;
    const mcp_json *hidden = NULL;
    const char *id = NULL;
    const char *capability = portarium_offer_capability(action->definition);
    const portarium_work_links links = { .run = run->record.id, .workflow = run->workflow->id };
    mcp_json_bool(mcp_json_get(mcp_json_get(adapter->json, "binding"), "idempotent"),
                  &is_idempotent);
    mcp_status st = portarium_offer_end(tx, mcp_json_get_string(action->record.hidden, "offer"),
                                        PORTARIUM_WORK_ITEM_CLOSED, err);
    if (st == MCP_OK)
        st = portarium_attempt_open(run, action, tx, is_idempotent, err);
    if (st == MCP_OK)
        st = portarium_work_item_create(&id, tx,
                                        mcp_arena_printf(tx->arena, "%s of %s",
                                                         action->definition->operation,
                                                         run->workflow->name),
                                        NULL, &links, err);
    if (st == MCP_OK)
        st = hide(run, action, tx, id, input, err);
    if (st == MCP_OK)
        st = portarium_link_add(tx, id, "capability", capability, err);
    if (st == MCP_OK)
        st = portarium_link_add(tx, id, "action", action->record.id, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &hidden, err, "offer", id, NULL);
    return st == MCP_OK
               ? portarium_record_patch(&action->record, tx, &portarium_actions, NULL, hidden, err)
               : st;
}
