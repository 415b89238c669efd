/*
 * approvals.c - approvals: ask, look, decide, ask again.
 */
#include <string.h>

#include "check/check.h"
#include "engine/gate.h"
#include "engine/gates/decide.h"
#include "keys/canonical.h"
#include "service/list.h"
#include "service/operations.h"

static mcp_status list_approvals(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    return portarium_reply_list(reply, tx, &portarium_approvals, request, NULL, err);
}

/* Whether an agent has asked for it: by a proposal, or by a run that it started. */
static bool is_own(const mcp_json *approval, const portarium_actor *actor)
{
    const char *agent = mcp_json_get_string(approval, "agentId");
    const char *requester = mcp_json_get_string(approval, "requestedByUserId");
    return (agent && strcmp(agent, actor->agent_id) == 0) ||
           (requester && strcmp(requester, actor->subject) == 0);
}

static mcp_status get_approval(portarium_tx *tx, const portarium_request *request,
                               portarium_reply *reply, mcp_error *err)
{
    portarium_record approval;
    const char *id = portarium_argument(request, "approvalId");
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals, id, err);
    if (st != MCP_OK)
        return st;
    if (tx->actor->agent_id && !is_own(approval.json, tx->actor))
        return mcp_error_set(err, MCP_E_NOT_FOUND, "Approval %s not found.", id);
    portarium_approval_status status = portarium_approval_status_of(&approval);
    reply->state = mcp_json_get_string(approval.json, "status");
    reply->may_change = status == PORTARIUM_APPROVAL_PENDING ||
                        status == PORTARIUM_APPROVAL_EXECUTING;
    return portarium_reply_json(reply, tx, 200, approval.json, err);
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* The hash of the plan, which is what is approved. */
static mcp_status hash_plan(const char **out, portarium_tx *tx, const portarium_record *plan,
                            mcp_error *err)
{
    char hex[KEYS_HEX_SIZE];
    mcp_status st = keys_canonical_hash(hex, plan->json, err);
    if (st != MCP_OK)
        return st;
    *out = mcp_arena_strdup(tx->arena, hex);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a hash");
}

/* The parts of an approval of a whole run. */
typedef struct asking {
    portarium_run run;
    portarium_record plan, item;
    const char *hash;
} asking;

static mcp_status read_parts(asking *out, portarium_tx *tx, const portarium_request *request,
                             mcp_error *err)
{
    const char *item = portarium_body_string(request, "workItemId");
    mcp_status st = portarium_run_load(&out->run, tx, portarium_body_string(request, "runId"), err);
    if (st == MCP_OK && portarium_run_is_final(out->run.status))
        return mcp_error_set(err, MCP_E_EXISTS, "Run %s is %s.", out->run.record.id,
                             portarium_run_status_text(out->run.status));
    if (st == MCP_OK)
        st = portarium_record_get(&out->plan, tx, &portarium_plans,
                                  portarium_body_string(request, "planId"), err);
    if (st == MCP_OK && item)
        st = portarium_record_get(&out->item, tx, &portarium_work_items, item, err);
    return st == MCP_OK ? hash_plan(&out->hash, tx, &out->plan, err) : st;
}

static mcp_status create_approval(portarium_tx *tx, const portarium_request *request,
                                  portarium_reply *reply, mcp_error *err)
{
    asking parts = { .hash = NULL };
    portarium_record approval;
    mcp_status st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_ApprovalCreate,
                                         request->body, tx->now_ms, &reply->fields, err);
    if (st == MCP_OK)
        st = read_parts(&parts, tx, request, err);
    if (st != MCP_OK)
        return st;
    const portarium_approval_request ask = {
        .run = parts.run.record.id,
        .workflow = parts.run.workflow->id,
        .plan = parts.plan.id,
        .work_item = parts.item.id,
        .title = mcp_arena_printf(tx->arena, "Approve run of %s", parts.run.workflow->name),
        .prompt = portarium_body_string(request, "prompt"),
        .requested_by = tx->actor->subject,
        .owner = tx->actor->owner,
        .hash = parts.hash,
        .subject = parts.plan.json,
        .body = request->body,
    };
    st = portarium_approval_create(&approval, tx, &ask, err);
    if (st == MCP_OK)
        st = portarium_gate_hold_run(&parts.run, tx, err);
    if (st != MCP_OK)
        return st;
    portarium_reply_location(reply, tx, "approvals", approval.id);
    return portarium_reply_json(reply, tx, 201, approval.json, err);
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* That there is no such approval, or that it is decided, is said before what is wrong with the
 * body. */
static mcp_status check_decision(portarium_tx *tx, const portarium_request *request,
                                 portarium_reply *reply, mcp_error *err)
{
    portarium_record approval;
    mcp_status unfit = portarium_shape_check(tx->settings->shapes, PORTARIUM_SHAPE_ApprovalDecision,
                                             request->body, &reply->fields, err);
    if (unfit != MCP_E_SCHEMA)
        return unfit;
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals,
                                         portarium_argument(request, "approvalId"), err);
    if (st == MCP_OK && portarium_approval_status_of(&approval) != PORTARIUM_APPROVAL_PENDING)
        st = mcp_error_set(err, MCP_E_EXISTS, "Approval %s is already decided.", approval.id);
    if (st == MCP_OK)
        return portarium_fields_status(&reply->fields, err);
    portarium_fields_init(&reply->fields, tx->arena);
    return st;
}

static mcp_status decide(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    portarium_decided decided;
    portarium_decision_request ask = {
        .approval = portarium_argument(request, "approvalId"),
        .rationale = portarium_body_string(request, "rationale"),
        .subject_hash = portarium_body_string(request, "subjectHash"),
        .feedback = mcp_json_get(request->body, "feedback"),
        .inputs = mcp_json_get(request->body, "inputs"),
    };
    mcp_status st = check_decision(tx, request, reply, err);
    if (st != MCP_OK)
        return st;
    portarium_decision_read(&ask.decision, portarium_body_string(request, "decision"));
    st = portarium_decide(&decided, tx, &ask, &reply->fields, err);
    if (st != MCP_OK)
        return st;
    if (decided.refusal)
        return portarium_refuse_kept(reply, tx, err, decided.is_forbidden ? 403 : 409, "%s",
                                     decided.refusal);
    return portarium_reply_json(reply, tx, 200, decided.approval.json, err);
}

static mcp_status resubmit(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record approval;
    const portarium_resubmission ask = {
        .approval = portarium_argument(request, "approvalId"),
        .note = portarium_body_string(request, "note"),
        .prompt = portarium_body_string(request, "prompt"),
        .plan = portarium_body_string(request, "planId"),
        .input = mcp_json_get(request->body, "input"),
    };
    mcp_status st = portarium_resubmit(&approval, tx, &ask, err);
    if (st == MCP_OK && portarium_approval_status_of(&approval) == PORTARIUM_APPROVAL_EXPIRED)
        return portarium_refuse_kept(reply, tx, err, 409, "Approval %s has expired.", approval.id);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, approval.json, err) : st;
}

/* clang-format off */
const portarium_operation portarium_approval_operations[] = {
    { "listApprovals", "GET", "/approvals", PORTARIUM_MAY_READ, 0,
      PORTARIUM_NO_BODY, "Approval", "approvals, the newest first", list_approvals },
    { "createApproval", "POST", "/approvals", PORTARIUM_MAY_CREATE_APPROVAL, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_ApprovalCreate, "Approval", "put an approval before a whole run",
      create_approval },
    { "getApproval", "GET", "/approvals/{approvalId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG | PORTARIUM_WAITS | PORTARIUM_AGENTS, PORTARIUM_NO_BODY, "Approval",
      "one approval",
      get_approval },
    { "decideApproval", "POST", "/approvals/{approvalId}/decide", PORTARIUM_MAY_DECIDE_APPROVAL,
      PORTARIUM_COMMAND | PORTARIUM_JUDGES_BODY, PORTARIUM_SHAPE_ApprovalDecision, "Approval", "decide an approval",
      decide },
    { "resubmitApproval", "POST", "/approvals/{approvalId}/resubmit",
      PORTARIUM_MAY_CREATE_APPROVAL, PORTARIUM_COMMAND | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_ApprovalResubmission, "Approval", "ask again after the changes asked for",
      resubmit },
    { 0 },
};
/* clang-format on */
