/*
 * plans.c - plans: what approvals are of, and what a run would do.
 */
#include <string.h>

#include "check/check.h"
#include "engine/builtin.h"
#include "engine/gate.h"
#include "engine/gates/budgets.h"
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

/* What the action would use: an approval where there is a gate, and what its dispatch uses. */
static mcp_status find_metrics(portarium_metrics *out, portarium_tx *tx,
                               const portarium_action *action, mcp_error *err)
{
    portarium_record adapter;
    portarium_run_action planned = { .definition = action };
    *out = 0;
    if (portarium_is_builtin(action->operation))
        return MCP_OK;
    mcp_status st = portarium_gate_adapter(&adapter, &planned, tx, err);
    if (st == MCP_OK)
        *out = portarium_metrics_of(mcp_json_get(adapter.json, "binding"));
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

/* A budget that is used up denies it. What is dispatched behind a gate is judged when that opens,
 * and is counted here for what follows. */
static mcp_status judge_budgets(portarium_judgement *judgement, portarium_foreseen *before,
                                portarium_tx *tx, const portarium_action *action, mcp_error *err)
{
    portarium_judgement gate = { .ruling = PORTARIUM_RULING_GO }, dispatch = gate;
    portarium_metrics metrics = 0;
    bool is_gated = judgement->ruling == PORTARIUM_RULING_GATE;
    if (!is_gated && judgement->ruling != PORTARIUM_RULING_GO)
        return MCP_OK;
    mcp_status st = find_metrics(&metrics, tx, action, err);
    if (st == MCP_OK && is_gated)
        st = portarium_budgets_foresee(&gate, before, tx, 1u << PORTARIUM_METRIC_APPROVAL_REQUESTS,
                                       err);
    if (st == MCP_OK && gate.ruling == PORTARIUM_RULING_GO)
        st = portarium_budgets_foresee(&dispatch, before, tx, metrics, err);
    if (gate.ruling == PORTARIUM_RULING_DENY)
        *judgement = gate;
    else if (dispatch.ruling == PORTARIUM_RULING_DENY && !is_gated)
        *judgement = dispatch;
    return st;
}

static mcp_status write_forecast(mcp_json_writer *json, portarium_tx *tx,
                                 const portarium_workflow *workflow, const portarium_action *action,
                                 const mcp_json *parameters, portarium_foreseen *before,
                                 mcp_error *err)
{
    portarium_judgement judgement;
    bool certain = false;
    mcp_status st = is_certain(&certain, tx, action, parameters, err);
    if (st == MCP_OK)
        st = portarium_gate_forecast(&judgement, tx, workflow, action, parameters, err);
    if (st == MCP_OK && certain)
        st = judge_budgets(&judgement, before, tx, action, err);
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

/* While the workspace is frozen nothing of the run would be dispatched. */
static mcp_status write_frozen(mcp_json_writer *json, portarium_tx *tx, mcp_error *err)
{
    portarium_record workspace;
    bool is_frozen = false;
    mcp_status st = portarium_record_get(&workspace, tx, &portarium_workspaces, tx->workspace, err);
    if (st != MCP_OK)
        return st;
    mcp_json_bool(mcp_json_get(workspace.json, "frozen"), &is_frozen);
    mcp_write_member_bool(json, "frozen", is_frozen);
    return MCP_OK;
}

static mcp_status plan_run(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, mcp_error *err)
{
    portarium_draft draft;
    const portarium_workflow *workflow = NULL;
    const mcp_json *parameters = NULL; /* as conditions of the run would see them */
    const char *sealed = NULL;
    portarium_foreseen before = { .uses = { 0 } };
    const portarium_start start = { .workflow = portarium_body_string(request, "workflowId"),
                                    .parameters = mcp_json_get(request->body, "parameters") };
    mcp_status st = portarium_start_check(&workflow, tx, &start, &reply->fields, err);
    if (st == MCP_OK)
        st = portarium_secrets_hide(&parameters, &sealed, tx, "plan", workflow->parameters_schema,
                                    start.parameters, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    st = write_frozen(&draft.json, tx, err);
    mcp_write_member_array(&draft.json, "actions");
    for (size_t i = 0; st == MCP_OK && i < workflow->action_count; i++)
        st = write_forecast(&draft.json, tx, workflow, &workflow->actions[i], parameters, &before,
                            err);
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
