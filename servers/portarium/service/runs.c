/*
 * runs.c - runs: start, look, list, cancel, intervene; their actions: complete, resolve.
 */
#include <string.h>

#include "engine/control/control.h"
#include "engine/control/manual.h"
#include "engine/start.h"
#include "model/states.h"
#include "service/list.h"
#include "service/operations.h"

/* ---- views ----------------------------------------------------------------------------------- */

/* A run as clients see it: its document, and its revision. */
static mcp_status write_run(mcp_json_writer *json, portarium_tx *tx, const portarium_record *run,
                            mcp_error *err)
{
    (void)tx;
    (void)err;
    mcp_write_object(json);
    for (size_t i = 0; i < mcp_json_count(run->json); i++)
        mcp_write_member_value(json, mcp_json_name(run->json, i, NULL),
                               mcp_json_item(run->json, i));
    mcp_write_member_int(json, "revision", run->revision);
    mcp_write_end(json);
    return MCP_OK;
}

static mcp_status reply_run(portarium_reply *reply, portarium_tx *tx, int status,
                            const portarium_record *run, mcp_error *err)
{
    mcp_status st = portarium_reply_view(reply, tx, run, write_run, err);
    if (st == MCP_OK)
        reply->status = status;
    return st;
}

static mcp_status list_runs(portarium_tx *tx, const portarium_request *request,
                            portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_runs, request, write_run, err);
}

enum { RUN, ACTION, APPROVAL };

/* A run, its actions, and the approvals that it waits for, in this order. */
#define FULL_RUN                                                                                           \
    "SELECT json, 0 AS part, 0 AS ord, id, revision FROM runs WHERE workspace = $1 AND id = $2 UNION ALL " \
    "SELECT json, 1, ord, id, 0 FROM run_actions WHERE workspace = $1 AND run_id = $2 UNION ALL "          \
    "SELECT json, 2, created_at, id, 0 FROM approvals WHERE workspace = $1 AND run_id = $2 AND "           \
    "status IN ($3, $4) ORDER BY part, ord, id"

/* An approval within a run. @param state what it waits for is added */
static mcp_status write_approval(portarium_draft *draft, const char **state, portarium_tx *tx,
                                 const char *text, size_t length, mcp_error *err)
{
    static const char *const members[] = { "approvalId", "actionId", "prompt", "status",
                                           "dueAtIso" };
    const mcp_json *approval = NULL;
    mcp_status st = portarium_tx_json(tx, &approval, text, length, err);
    if (st != MCP_OK)
        return st;
    mcp_write_object(&draft->json);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        const mcp_json *value = mcp_json_get(approval, members[i]);
        if (value)
            mcp_write_member_value(&draft->json, members[i], value);
    }
    mcp_write_end(&draft->json);
    *state = mcp_arena_printf(tx->arena, "%s %s %s", *state,
                              mcp_json_get_string(approval, "approvalId"),
                              mcp_json_get_string(approval, "status"));
    return *state ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a run");
}

/* Write the actions and approvals of the rows. @param run the run itself; NULL: there is none */
static mcp_status write_rows(portarium_draft *draft, const mcp_json **run, const char **state,
                             portarium_tx *tx, db_rows *rows, mcp_error *err)
{
    int64_t part = ACTION, revision = 0;
    mcp_status st = MCP_OK;
    *run = NULL;
    mcp_write_member_array(&draft->json, "actions");
    while (portarium_next(rows, &st, err)) {
        size_t length = 0;
        const char *text = db_text_at(rows, 0, &length);
        int64_t of = db_int_at(rows, 1);
        if (of == RUN) {
            st = portarium_tx_json(tx, run, text, length, err);
            *state = st == MCP_OK ? mcp_json_get_string(*run, "status") : NULL;
            revision = db_int_at(rows, 4);
            continue;
        }
        if (of != part) {
            part = of;
            mcp_write_end(&draft->json);
            mcp_write_member_array(&draft->json, "pendingApprovals");
        }
        if (of == ACTION)
            mcp_write_raw(&draft->json, text, length);
        else
            st = write_approval(draft, state, tx, text, length, err);
    }
    if (part == ACTION) {
        mcp_write_end(&draft->json);
        mcp_write_member_array(&draft->json, "pendingApprovals");
    }
    mcp_write_end(&draft->json);
    mcp_write_member_int(&draft->json, "revision", revision);
    return st;
}

/* @param state the run's status, and the approvals that it waits for, as a text to compare */
static mcp_status read_full(const mcp_json **out, const char **state, portarium_tx *tx,
                            const char *id, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *run = NULL, *more = NULL;
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(id),
                          db_text(portarium_approval_status_text(PORTARIUM_APPROVAL_PENDING)),
                          db_text(
                              portarium_approval_status_text(PORTARIUM_APPROVAL_REQUEST_CHANGES)) };
    mcp_status st = db_query(&rows, tx->session, FULL_RUN, values, 4, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    st = write_rows(&draft, &run, state, tx, rows, err);
    db_rows_free(rows);
    if (st == MCP_OK && !run)
        st = mcp_error_set(err, MCP_E_NOT_FOUND, "%s %.128s not found.", portarium_runs.noun, id);
    if (st != MCP_OK) {
        portarium_draft_clear(&draft);
        return st;
    }
    st = portarium_draft_read(&draft, tx, &more, err);
    return st == MCP_OK ? portarium_merge(tx, out, run, more, err) : st;
}

static mcp_status get_run(portarium_tx *tx, const portarium_request *request,
                          portarium_reply *reply, mcp_error *err)
{
    const char *id = portarium_argument(request, "runId");
    const char *view = portarium_argument(request, "view");
    const mcp_json *json = NULL;
    portarium_record run = { .json = NULL };
    portarium_run_status status;
    if (view && strcmp(view, "full") != 0) {
        portarium_fields_add(&reply->fields, "view", "must be full");
        return portarium_fields_status(&reply->fields, err);
    }
    mcp_status st = view ? read_full(&json, &reply->state, tx, id, err)
                         : portarium_record_get(&run, tx, &portarium_runs, id, err);
    if (st != MCP_OK)
        return st;
    json = view ? json : run.json;
    reply->state = view ? reply->state : mcp_json_get_string(json, "status");
    const char *text = mcp_json_get_string(json, "status");
    reply->may_change = text && portarium_run_status_read(&status, text) &&
                        !portarium_run_is_final(status);
    return view ? portarium_reply_json(reply, tx, 200, json, err)
                : reply_run(reply, tx, 200, &run, err);
}

/* ---- commands -------------------------------------------------------------------------------- */

static mcp_status start_run(portarium_tx *tx, const portarium_request *request,
                            portarium_reply *reply, mcp_error *err)
{
    portarium_record run;
    const portarium_start start = { .workflow = portarium_body_string(request, "workflowId"),
                                    .parameters = mcp_json_get(request->body, "parameters") };
    mcp_status st = portarium_start_run(&run, tx, &start, &reply->fields, err);
    if (st != MCP_OK)
        return st;
    portarium_reply_location(reply, tx, "runs", run.id);
    return reply_run(reply, tx, 201, &run, err);
}

static mcp_status cancel_run(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    portarium_run run;
    bool compensates = false;
    mcp_status st = portarium_run_load(&run, tx, portarium_argument(request, "runId"), err);
    if (st != MCP_OK)
        return st;
    const char *initiator = mcp_json_get_string(run.record.json, "initiatedByUserId");
    bool is_initiator = initiator && strcmp(initiator, tx->actor->subject) == 0;
    if (!portarium_may_cancel(tx->actor->roles, is_initiator, tx->settings->compat_cancel))
        return portarium_refuse(reply, tx, err, 403, "cancelRun requires another role.");
    if (tx->actor->agent_id && !is_initiator)
        return portarium_refuse(reply, tx, err, 403,
                                "An agent may cancel no run that somebody else has started.");
    st = portarium_check_if_match_view(reply, tx, request, &run.record, write_run, err);
    if (st != MCP_OK)
        return st;
    mcp_json_bool(mcp_json_get(request->body, "compensate"), &compensates);
    const char *rationale = portarium_body_string(request, "rationale");
    st = compensates ? portarium_run_cancel_and_undo(&run, tx, rationale, err)
                     : portarium_run_cancel(&run, tx, rationale, err);
    return st == MCP_OK ? reply_run(reply, tx, 200, &run.record, err) : st;
}

static mcp_status refuse_intervention(portarium_tx *tx, portarium_reply *reply, const char *type,
                                      portarium_intervention_verdict verdict,
                                      const portarium_run *run, mcp_error *err)
{
    const char *status = portarium_run_status_text(run->status);
    switch (verdict) {
    case PORTARIUM_INTERVENTION_FORBIDDEN:
        return portarium_refuse(reply, tx, err, 403, "%s requires another role.", type);
    case PORTARIUM_INTERVENTION_UNKNOWN:
        return portarium_refuse(reply, tx, err, 422, "There is no intervention %s.", type);
    case PORTARIUM_INTERVENTION_NO_TARGET:
        portarium_fields_add(&reply->fields, "/target", "missing: %s needs one", type);
        return portarium_fields_status(&reply->fields, err);
    case PORTARIUM_INTERVENTION_GATED:
        return portarium_refuse(reply, tx, err, 409,
                                "Run %s has an approval that is not decided: decide it.",
                                run->record.id);
    default:
        return portarium_refuse(reply, tx, err, 409, "%s is not possible: run %s is %s.", type,
                                run->record.id, status);
    }
}

static mcp_status intervene(portarium_tx *tx, const portarium_request *request,
                            portarium_reply *reply, mcp_error *err)
{
    portarium_run run;
    portarium_intervention_verdict verdict;
    const portarium_intervention what = { .type = portarium_body_string(request,
                                                                        "interventionType"),
                                          .rationale = portarium_body_string(request, "rationale"),
                                          .target = portarium_body_string(request, "target"),
                                          .body = request->body };
    mcp_status st = portarium_run_load(&run, tx, portarium_argument(request, "runId"), err);
    if (st == MCP_OK)
        st = portarium_check_if_match_view(reply, tx, request, &run.record, write_run, err);
    if (st == MCP_OK)
        st = portarium_run_intervene(&verdict, &run, tx, &what, err);
    if (st != MCP_OK)
        return st;
    if (verdict != PORTARIUM_INTERVENTION_DONE)
        return refuse_intervention(tx, reply, what.type, verdict, &run, err);
    return reply_run(reply, tx, 200, &run.record, err);
}

/* ---- actions --------------------------------------------------------------------------------- */

static mcp_status load(portarium_run *run, portarium_run_action **action, portarium_tx *tx,
                       const portarium_request *request, mcp_error *err)
{
    const char *id = portarium_argument(request, "actionId");
    mcp_status st = portarium_run_load(run, tx, portarium_argument(request, "runId"), err);
    *action = st == MCP_OK ? portarium_run_action_find(run, id) : NULL;
    return st == MCP_OK && !*action
               ? mcp_error_set(err, MCP_E_NOT_FOUND, "Action %s not found.", id)
               : st;
}

/* A member of the body that repeats the path must agree with it. */
static void must_agree(portarium_reply *reply, const portarium_request *request, const char *name)
{
    const char *said = portarium_body_string(request, name);
    if (said && strcmp(said, portarium_argument(request, name)) != 0)
        portarium_fields_add(&reply->fields, mcp_arena_printf(reply->fields.arena, "/%s", name),
                             "is not the %s of the path", name);
}

static mcp_status complete_action(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    portarium_run run;
    portarium_run_action *action = NULL;
    const portarium_completion what = { .token = portarium_body_string(request, "completionToken"),
                                        .outcome = portarium_body_string(request, "outcome"),
                                        .body = request->body };
    must_agree(reply, request, "runId");
    must_agree(reply, request, "actionId");
    mcp_status st = portarium_fields_status(&reply->fields, err);
    if (st == MCP_OK)
        st = load(&run, &action, tx, request, err);
    if (st == MCP_OK)
        st = portarium_manual_complete(&run, action, tx, &what, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, action->record.json, err) : st;
}

static mcp_status resolve_action(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_run run;
    portarium_run_action *action = NULL;
    const portarium_resolution what = { .outcome = portarium_body_string(request, "outcome"),
                                        .rationale = portarium_body_string(request, "rationale"),
                                        .output = mcp_json_get(request->body, "output") };
    mcp_status st = load(&run, &action, tx, request, err);
    if (st == MCP_OK)
        st = portarium_run_resolve(&run, action, tx, &what, err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, action->record.json, err) : st;
}

/* ---- freeze ---------------------------------------------------------------------------------- */

static mcp_status set_frozen(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, bool is_frozen, mcp_error *err)
{
    portarium_record workspace;
    mcp_status st = portarium_workspace_freeze(&workspace, tx, is_frozen,
                                               portarium_body_string(request, "rationale"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, workspace.json, err) : st;
}

static mcp_status freeze(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    return set_frozen(tx, request, reply, true, err);
}

static mcp_status unfreeze(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    return set_frozen(tx, request, reply, false, err);
}

/* clang-format off */
const portarium_operation portarium_run_operations[] = {
    { "listRuns", "GET", "/runs", PORTARIUM_MAY_READ, PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "Run", "runs, the newest first", list_runs },
    { "startRun", "POST", "/runs", PORTARIUM_MAY_START_RUN,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_RunStart, "Run", "start a run of a workflow", start_run },
    { "getRun", "GET", "/runs/{runId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG | PORTARIUM_WAITS | PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "Run", "one run; view=full: with its actions and undecided approvals",
      get_run },
    { "cancelRun", "POST", "/runs/{runId}/cancel", PORTARIUM_MAY_INTERVENE,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH | PORTARIUM_MAY_LACK_BODY | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_RunCancel, "Run", "cancel a run", cancel_run },
    { "interveneInRun", "POST", "/runs/{runId}/interventions", PORTARIUM_MAY_INTERVENE,
      PORTARIUM_COMMAND | PORTARIUM_IF_MATCH,
      PORTARIUM_SHAPE_Intervention, "Run", "pause, resume, hand off, ... a run", intervene },
    { "completeAction", "POST", "/runs/{runId}/actions/{actionId}/complete",
      PORTARIUM_MAY_COMPLETE_TASK, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_CompletionSignal, "RunAction", "say that a manual action is done",
      complete_action },
    { "resolveAction", "POST", "/runs/{runId}/actions/{actionId}/resolve",
      PORTARIUM_MAY_CANCEL_RUN, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_ActionResolution, "RunAction", "say how an unknown outcome ended",
      resolve_action },
    { "freezeWorkspace", "POST", "/freeze", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Rationale, "Workspace", "dispatch nothing more", freeze },
    { "unfreezeWorkspace", "POST", "/unfreeze", PORTARIUM_MAY_ADMINISTER, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Rationale, "Workspace", "dispatch again", unfreeze },
    { 0 },
};
/* clang-format on */
