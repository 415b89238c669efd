/*
 * plans.c - plans: what approvals are of, and what a run would do.
 */
#include <string.h>

#include "check/check.h"
#include "engine/gate.h"
#include "engine/sealed/secrets.h"
#include "engine/start.h"
#include "model/identity.h"
#include "service/list.h"
#include "service/operations.h"
#include "store/journal.h"

static mcp_status get_plan(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_record plan;
    mcp_status st = portarium_record_get(&plan, tx, &portarium_plans,
                                         portarium_argument(request, "planId"), err);
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, plan.json, err) : st;
}

static mcp_status write_plan(const mcp_json **out, portarium_tx *tx, const char *id,
                             const mcp_json *body, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "planId", id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    mcp_write_member_string(&draft.json, "createdByUserId", tx->actor->subject);
    mcp_write_member_value(&draft.json, "plannedEffects", mcp_json_get(body, "plannedEffects"));
    if (mcp_json_get(body, "predictedEffects"))
        mcp_write_member_value(&draft.json, "predictedEffects",
                               mcp_json_get(body, "predictedEffects"));
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status create_plan(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    const mcp_json *json = NULL;
    const char *id = portarium_body_string(request, "planId");
    mcp_status st = portarium_body_check(tx->settings->shapes, PORTARIUM_SHAPE_Plan, request->body,
                                         tx->now_ms, &reply->fields, err);
    if (st == MCP_OK && !id)
        st = portarium_id_new(&id, "plan-", tx->arena, err);
    if (st == MCP_OK)
        st = write_plan(&json, tx, id, request->body, err);
    if (st == MCP_OK)
        st = portarium_record_insert(NULL, tx, &portarium_plans, id, json, NULL, err);
    const portarium_evidence entry = { .category = "Plan",
                                       .summary = "Plan stored",
                                       .plan_id = id };
    const portarium_event event = { .type = "PlanGenerated", .kind = "plan", .id = id };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    if (st == MCP_OK)
        st = portarium_event_add(tx, &event, err);
    if (st != MCP_OK)
        return st;
    portarium_reply_location(reply, tx, "plans", id);
    return portarium_reply_json(reply, tx, 201, json, err);
}

/* ---- what a run would do --------------------------------------------------------------------- */

/* The context of a `when` before the run: parameters, and no action. */
static mcp_status context_of(const mcp_json **out, portarium_tx *tx, const mcp_json *parameters,
                             mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "run");
    if (parameters)
        mcp_write_member_value(&draft.json, "parameters", parameters);
    mcp_write_end(&draft.json);
    return portarium_draft_read(&draft, tx, out, err);
}

/* Whether the action is certain to be judged: no `when`, or one that is true already. */
static mcp_status is_certain(bool *out, portarium_tx *tx, const portarium_action *action,
                             const mcp_json *parameters, mcp_error *err)
{
    const mcp_json *context = NULL;
    mcp_error why = MCP_ERROR_INIT;
    *out = !action->test;
    if (*out)
        return MCP_OK;
    mcp_status st = context_of(&context, tx, parameters, err);
    if (st == MCP_OK && portarium_condition_judge(out, action->test, portarium_condition_get_member,
                                                  (void *)context, &why) != MCP_OK)
        *out = false;
    return st;
}

static const char *const decisions[] = {
    [PORTARIUM_RULING_GO] = "Allow",      [PORTARIUM_RULING_GATE] = "NeedsApproval",
    [PORTARIUM_RULING_MANUAL] = "Manual", [PORTARIUM_RULING_HOLD] = "Denied",
    [PORTARIUM_RULING_DENY] = "Denied",
};

static mcp_status write_forecast(mcp_json_writer *json, portarium_tx *tx,
                                 const portarium_workflow *workflow, const portarium_action *action,
                                 const mcp_json *parameters, mcp_error *err)
{
    portarium_judgement judgement;
    bool certain = false;
    mcp_status st = is_certain(&certain, tx, action, parameters, err);
    if (st == MCP_OK)
        st = portarium_gate_forecast(&judgement, tx, workflow, action, parameters, err);
    if (st != MCP_OK)
        return st;
    mcp_write_object(json);
    mcp_write_member_string(json, "actionId", action->id);
    mcp_write_member_string(json, "effectiveTier", portarium_tier_text(action->tier));
    mcp_write_member_string(json, "decision", certain ? decisions[judgement.ruling] : "Depends");
    if (certain && judgement.policy_id)
        mcp_write_member_string(json, "policyId", judgement.policy_id);
    if (certain && judgement.rule_id)
        mcp_write_member_string(json, "ruleId", judgement.rule_id);
    mcp_write_end(json);
    return MCP_OK;
}

static mcp_status plan_run(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    const portarium_workflow *workflow = NULL;
    const mcp_json *parameters = NULL; /* as conditions of the run would see them */
    const char *sealed = NULL;
    const portarium_start start = { .workflow = portarium_body_string(request, "workflowId"),
                                    .parameters = mcp_json_get(request->body, "parameters") };
    mcp_status st = portarium_start_check(&workflow, tx, &start, &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_secrets_hide(&parameters, &sealed, tx, "plan", workflow->parameters_schema,
                                    start.parameters, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "actions");
    for (size_t i = 0; st == MCP_OK && i < workflow->action_count; i++)
        st = write_forecast(&draft.json, tx, workflow, &workflow->actions[i], parameters, err);
    mcp_write_end(&draft.json);
    if (st == MCP_OK)
        return portarium_reply_draft(reply, tx, 200, &draft, err);
    portarium_draft_clear(&draft);
    return st;
}

/* clang-format off */
const portarium_operation portarium_plan_operations[] = {
    { "planRun", "POST", "/runs:plan", PORTARIUM_MAY_START_RUN, PORTARIUM_AGENTS,
      PORTARIUM_SHAPE_RunStart, "RunPlan", "what a run would do; stores nothing", plan_run },
    { "createPlan", "POST", "/plans", PORTARIUM_MAY_CREATE_APPROVAL, PORTARIUM_COMMAND,
      PORTARIUM_SHAPE_Plan, "Plan", "store a plan, to be approved", create_plan },
    { "getPlan", "GET", "/plans/{planId}", PORTARIUM_MAY_READ,
      PORTARIUM_ETAG | PORTARIUM_AGENTS,
      PORTARIUM_NO_BODY, "Plan", "one plan", get_plan },
    { 0 },
};
/* clang-format on */
