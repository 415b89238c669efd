/*
 * proposals.c - actions of agents: proposed, executed, ended.
 */
#include <string.h>

#include "engine/gates/propose.h"
#include "service/list.h"
#include "service/operations.h"

/* ---- proposing ------------------------------------------------------------------------------- */

static void copy(mcp_json_writer *json, const mcp_json *from, const char *name)
{
    if (mcp_json_get(from, name))
        mcp_write_member_value(json, name, mcp_json_get(from, name));
}

static mcp_status reply_proposal(portarium_reply *reply, portarium_tx *tx,
                                 const portarium_proposal *proposal, mcp_error *err)
{
    static const char *const members[] = { "proposalId", "evidenceId", "decision", "approvalId",
                                           "policyId",   "ruleId",     "message",  "toolClass" };
    portarium_draft draft;
    portarium_draft_object(&draft);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        copy(&draft.json, proposal->record.json, members[i]);
    if (proposal->approval.id) {
        copy(&draft.json, proposal->approval.json, "status");
        copy(&draft.json, proposal->approval.json, "rationale");
        copy(&draft.json, mcp_json_get(proposal->approval.hidden, "execution"), "output");
        copy(&draft.json, mcp_json_get(proposal->approval.hidden, "execution"), "errorMessage");
    }
    return portarium_reply_draft(reply, tx, proposal->is_new ? 201 : 200, &draft, err);
}

static mcp_status propose(portarium_tx *tx, const portarium_request *request,
                          portarium_reply *reply, mcp_error *err)
{
    portarium_proposal proposal;
    const portarium_actor *actor = tx->actor;
    portarium_proposal_request ask = {
        .agent = portarium_body_string(request, "agentId"),
        .machine = portarium_body_string(request, "machineId"),
        .kind = portarium_body_string(request, "actionKind"),
        .tool = portarium_body_string(request, "toolName"),
        .parameters = mcp_json_get(request->body, "parameters"),
        .policy_ids = mcp_json_get(request->body, "policyIds"),
        .rationale = portarium_body_string(request, "rationale"),
        .key = portarium_body_string(request, "idempotencyKey"),
    };
    mcp_json_bool(mcp_json_get(request->body, "repeatable"), &ask.is_repeatable);
    mcp_status st = MCP_OK;
    portarium_tier_read(&ask.tier, portarium_body_string(request, "executionTier"));
    if (actor->agent_id && strcmp(actor->agent_id, ask.agent) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "The token is of another agent.");
    if (!ask.parameters)
        st = mcp_json_read(&ask.parameters, tx->arena, "{}", 2, err);
    if (st == MCP_OK)
        st = portarium_propose(&proposal, tx, &ask, err);
    return st == MCP_OK ? reply_proposal(reply, tx, &proposal, err) : st;
}

/* ---- executing ------------------------------------------------------------------------------- */

static mcp_status reply_execution(portarium_reply *reply, portarium_tx *tx,
                                  const portarium_execution *execution, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "executionId", execution->id);
    mcp_write_member_string(&draft.json, "approvalId", execution->approval);
    mcp_write_member_string(&draft.json, "status", execution->status);
    mcp_write_member_bool(&draft.json, "claimed", execution->is_claimed);
    if (execution->output)
        mcp_write_member_value(&draft.json, "output", execution->output);
    if (execution->message)
        mcp_write_member_string(&draft.json, "errorMessage", execution->message);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

static mcp_status execute(portarium_tx *tx, const portarium_request *request,
                          portarium_reply *reply, mcp_error *err)
{
    portarium_execution execution;
    mcp_status st = portarium_execute(&execution, tx, portarium_argument(request, "approvalId"),
                                      portarium_body_string(request, "flowRef"),
                                      mcp_json_get(request->body, "payload"), err);
    if (st == MCP_OK && execution.refusal)
        return portarium_refuse_kept(reply, tx, err, 403, "%s", execution.refusal);
    return st == MCP_OK ? reply_execution(reply, tx, &execution, err) : st;
}

static mcp_status complete(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    static const char *const outcomes[] = {
        [PORTARIUM_EXECUTION_DONE] = "executed",
        [PORTARIUM_EXECUTION_FAILED] = "failed",
        [PORTARIUM_EXECUTION_RELEASED] = "released",
    };
    portarium_execution execution;
    portarium_execution_end end = PORTARIUM_EXECUTION_DONE;
    const char *outcome = portarium_body_string(request, "outcome");
    while (strcmp(outcomes[end], outcome) != 0) /* the shape allows these three */
        end++;
    mcp_status st = portarium_execution_finish(
        &execution, tx, portarium_argument(request, "approvalId"),
        portarium_body_string(request, "executionId"), end, mcp_json_get(request->body, "output"),
        portarium_body_string(request, "errorMessage"), err);
    return st == MCP_OK ? reply_execution(reply, tx, &execution, err) : st;
}

static mcp_status record(portarium_tx *tx, const portarium_request *request, portarium_reply *reply,
                         mcp_error *err)
{
    portarium_record proposal;
    mcp_status st = portarium_proposal_end(&proposal, tx, portarium_argument(request, "proposalId"),
                                           portarium_body_string(request, "outcome"),
                                           mcp_json_get(request->body, "output"),
                                           portarium_body_string(request, "errorMessage"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, proposal.json, err) : st;
}

/* clang-format off */
const portarium_operation portarium_proposal_operations[] = {
    { "proposeAction", "POST", "/agent-actions:propose", PORTARIUM_MAY_USE_AGENT_ACTIONS,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS, PORTARIUM_SHAPE_ActionProposal, "AgentAction",
      "ask whether an agent may do something", propose },
    { "recordAction", "POST", "/agent-actions/{proposalId}/record",
      PORTARIUM_MAY_USE_AGENT_ACTIONS, PORTARIUM_COMMAND | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_ActionRecord, "AgentAction", "say how an allowed action has ended", record },
    { "executeAction", "POST", "/agent-actions/{approvalId}/execute",
      PORTARIUM_MAY_USE_AGENT_ACTIONS, PORTARIUM_COMMAND | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_ActionExecution, "Execution", "reserve the execution of what was approved",
      execute },
    { "completeExecution", "POST", "/agent-actions/{approvalId}/complete",
      PORTARIUM_MAY_USE_AGENT_ACTIONS, PORTARIUM_COMMAND | PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_ExecutionEnd, "Execution", "say how an execution has ended", complete },
    { 0 },
};
/* clang-format on */
