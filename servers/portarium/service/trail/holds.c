/*
 * holds.c - legal holds: payloads of a run, or of the whole workspace, outlive their retention.
 *
 * A hold stays until an admin releases it. What it has kept beyond its retention is disposed of
 * then, by the upkeep. The chain tells who placed and who released it, and why.
 */
#include "model/identity.h"
#include "service/list.h"
#include "service/note.h"
#include "service/operations.h"

enum { HOLDS_MAX = 200 };

static mcp_status list_holds(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_legal_holds, request, NULL, err);
}

static mcp_status check_count(portarium_tx *tx, portarium_reply *reply, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT COUNT(*) FROM legal_holds WHERE workspace = $1", values, 1,
                             err);
    bool is_full = portarium_next(rows, &st, err) && db_int_at(rows, 0) >= HOLDS_MAX;
    db_rows_free(rows);
    return st == MCP_OK && is_full
               ? portarium_refuse(reply, tx, err, 409,
                                  "The workspace has %d legal holds already; release one, or hold "
                                  "the whole workspace.",
                                  HOLDS_MAX)
               : st;
}

static mcp_status place_hold(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_record run;
    const mcp_json *json = NULL;
    const char *id = NULL, *of_run = portarium_body_string(request, "runId");
    const char *rationale = portarium_body_string(request, "rationale");
    mcp_status st = check_count(tx, reply, err);
    if (st == MCP_OK && of_run)
        st = portarium_record_get(&run, tx, &portarium_runs, of_run, err);
    if (st == MCP_OK)
        st = portarium_id_new(&id, "lh-", tx->arena, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &json, err, "legalHoldId", id, "workspaceId", tx->workspace,
                              "runId", of_run, "rationale", rationale, "createdByUserId",
                              tx->actor->subject, "createdAtIso", tx->now, NULL);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_legal_holds, id, json, NULL, err);
    const portarium_event event = {
        .type = "LegalHoldPlaced", .kind = "legalhold", .id = id, .run_id = of_run, .data = json
    };
    if (st == MCP_OK)
        st = portarium_note(tx, &event, err, "Legal hold %s of %s%s placed: %s", id,
                            of_run ? "run " : "the workspace", of_run ? of_run : "", rationale);
    if (st != MCP_OK)
        return st;
    portarium_reply_location(reply, tx, "legal-holds", id);
    return portarium_reply_json(reply, tx, 201, json, err);
}

static mcp_status get_hold(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record hold;
    mcp_status st = portarium_record_get(&hold, tx, &portarium_legal_holds,
                                         portarium_argument(request, "legalHoldId"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, hold.json, err) : st;
}

static mcp_status release_hold(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record hold;
    const char *id = portarium_argument(request, "legalHoldId");
    mcp_status st = portarium_record_get(&hold, tx, &portarium_legal_holds, id, err);
    if (st == MCP_OK)
        st = portarium_check_if_match(reply, tx, request, hold.json, err);
    if (st == MCP_OK)
        st = portarium_record_delete(tx, &portarium_legal_holds, id, err);
    if (st != MCP_OK)
        return st;
    const portarium_event event = { .type = "LegalHoldReleased",
                                    .kind = "legalhold",
                                    .id = id,
                                    .run_id = mcp_json_get_string(hold.json, "runId") };
    st = portarium_note(tx, &event, err, "Legal hold %s released", id);
    return st == MCP_OK ? portarium_reply_none(reply) : st;
}

/* clang-format off */
const portarium_operation portarium_hold_operations[] = {
    { "listLegalHolds", "GET", "/legal-holds", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "LegalHold", "orders to keep payloads", list_holds },
    { "placeLegalHold", "POST", "/legal-holds", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_LegalHold, "LegalHold",
      "keep the payloads of a run, or of the workspace, beyond their retention", place_hold },
    { "getLegalHold", "GET", "/legal-holds/{legalHoldId}", PORTARIUM_MAY_READ, PORTARIUM_ETAG,
      PORTARIUM_NO_BODY, "LegalHold", "one legal hold", get_hold },
    { "releaseLegalHold", "DELETE", "/legal-holds/{legalHoldId}", PORTARIUM_MAY_ADMINISTER,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH, PORTARIUM_NO_BODY, NULL, "end a legal hold", release_hold },
    { 0 },
};
/* clang-format on */
