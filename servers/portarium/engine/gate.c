/*
 * gate.c - judgements, approvals and human tasks of actions.
 */
#include "engine/gate.h"

#include <stdio.h>
#include <string.h>

#include "engine/attempt.h"
#include "engine/builtin.h"
#include "engine/timers.h"
#include "engine/work.h"
#include "keys/canonical.h"
#include "mcp/random.h"
#include "model/identity.h"
#include "store/journal.h"

/* ---- the subject ----------------------------------------------------------------------------- */

mcp_status portarium_gate_adapter(portarium_record *out, portarium_run_action *action,
                                  portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    bool found = false;
    const char *family = action->definition->port_family;
    db_value values[] = { db_text(tx->workspace), db_text(family) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id, revision, created_at, json, hidden FROM adapters WHERE "
                             "workspace = $1 AND port_family = $2 AND enabled = 1 LIMIT 1",
                             values, 2, err);
    if (st == MCP_OK)
        st = db_next(rows, &found, err);
    if (st == MCP_OK && found)
        st = portarium_record_read(out, tx, rows, err);
    db_rows_free(rows);
    return st == MCP_OK && !found
               ? mcp_error_set(err, MCP_E_NOT_FOUND, "No enabled adapter serves %s.", family)
               : st;
}

mcp_status portarium_gate_subject(const char **hash, portarium_run *run,
                                  portarium_run_action *action, portarium_tx *tx,
                                  const portarium_record *adapter, const mcp_json *input,
                                  mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *subject = NULL;
    char hex[KEYS_HEX_SIZE];
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "runId", run->record.id);
    mcp_write_member_int(&draft.json, "workflowVersion", run->workflow->version);
    mcp_write_member_string(&draft.json, "actionId", action->id);
    mcp_write_member_string(&draft.json, "operation", action->definition->operation);
    mcp_write_member_string(&draft.json, "adapterId", adapter ? adapter->id : NULL);
    mcp_write_member_int(&draft.json, "adapterRevision", adapter ? adapter->revision : 0);
    mcp_write_member_value(&draft.json, "input", input);
    mcp_status st = portarium_draft_read(&draft, tx, &subject, err);
    if (st == MCP_OK)
        st = keys_canonical_hash(hex, subject, err);
    if (st != MCP_OK)
        return st;
    *hash = mcp_arena_strdup(tx->arena, hex);
    return *hash ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a hash");
}

/* ---- judging --------------------------------------------------------------------------------- */

static void write_known(mcp_json_writer *json, const char *name, const char *value)
{
    if (value)
        mcp_write_member_string(json, name, value);
}

mcp_status portarium_gate_initiator(const mcp_json **out, portarium_tx *tx, mcp_error *err)
{
    portarium_draft draft;
    const portarium_actor *actor = tx->actor;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "roles");
    for (unsigned role = 0; role < PORTARIUM_COUNT(PORTARIUM_ROLE_NAME_MAP); role++) {
        if (actor->roles >> role & 1)
            mcp_write_string(&draft.json, portarium_role_name_text((portarium_role_name)role));
    }
    mcp_write_end(&draft.json);
    write_known(&draft.json, "agentId", actor->agent_id);
    write_known(&draft.json, "machineId", actor->machine_id);
    write_known(&draft.json, "owner", actor->owner);
    return portarium_draft_read(&draft, tx, out, err);
}

static portarium_facts facts_of(const portarium_workflow *workflow,
                                const portarium_action *definition, const mcp_json *initiator)
{
    return (portarium_facts){ .roles = mcp_json_get(initiator, "roles"),
                              .workflow_id = workflow->id,
                              .workflow_name = workflow->name,
                              .operation = definition->operation,
                              .port_family = definition->port_family,
                              .tier = definition->tier,
                              .agent_id = mcp_json_get_string(initiator, "agentId"),
                              .machine_id = mcp_json_get_string(initiator, "machineId"),
                              .action_id = definition->id };
}

static portarium_facts facts_of_run(const portarium_run *run, const portarium_run_action *action)
{
    portarium_facts facts = facts_of(run->workflow, action->definition,
                                     mcp_json_get(run->record.hidden, "initiator"));
    facts.actor = mcp_json_get_string(run->record.json, "initiatedByUserId");
    facts.parameters = mcp_json_get(run->record.json, "parameters");
    facts.run_id = run->record.id;
    return facts;
}

/* What the tier asks for. */
static portarium_ruling ruling_of(const portarium_action *definition, const char **why)
{
    *why = "the tier is HumanApprove";
    if (definition->tier == PORTARIUM_TIER_HUMAN_APPROVE)
        return PORTARIUM_RULING_GATE;
    *why = "the operation always asks for approval";
    return portarium_is_always_gated(definition->operation) ? PORTARIUM_RULING_GATE
                                                            : PORTARIUM_RULING_GO;
}

/* A person does it, unless policies deny it. */
static void hand_over(portarium_judgement *out, const portarium_action *definition)
{
    bool is_manual = definition->is_manual || definition->tier == PORTARIUM_TIER_MANUAL_ONLY;
    if (is_manual && out->ruling != PORTARIUM_RULING_DENY)
        *out = (portarium_judgement){ .ruling = PORTARIUM_RULING_MANUAL,
                                      .reason = "the action is for a person" };
}

mcp_status portarium_gate_judge(portarium_judgement *out, portarium_run *run,
                                portarium_run_action *action, portarium_tx *tx, mcp_error *err)
{
    const char *why = NULL;
    portarium_facts facts = facts_of_run(run, action);
    portarium_ruling at_least = ruling_of(action->definition, &why);
    mcp_status st = portarium_judge_and_store(out, tx, &facts, at_least, why, err);
    hand_over(out, action->definition);
    return st;
}

mcp_status portarium_gate_forecast(portarium_judgement *out, portarium_tx *tx,
                                   const portarium_workflow *workflow,
                                   const portarium_action *definition, const mcp_json *parameters,
                                   mcp_error *err)
{
    const char *why = NULL;
    const mcp_json *initiator = NULL;
    portarium_ruling at_least = ruling_of(definition, &why);
    mcp_status st = portarium_gate_initiator(&initiator, tx, err);
    portarium_facts facts = facts_of(workflow, definition, initiator);
    facts.actor = tx->actor->subject;
    facts.parameters = parameters;
    if (st == MCP_OK)
        st = portarium_judge(out, tx, &facts, at_least, why, err);
    hand_over(out, definition);
    return st;
}

/* ---- approvals ------------------------------------------------------------------------------- */

static mcp_status add_event(portarium_tx *tx, const char *type, const char *kind, const char *id,
                            const portarium_run *run, const char *action, mcp_error *err)
{
    const portarium_event event = {
        .type = type, .kind = kind, .id = id, .run_id = run->record.id, .action_id = action
    };
    return portarium_event_add(tx, &event, err);
}

/* What a gate is bound to. */
typedef struct binding {
    const char *plan, *hash;
    const mcp_json *subject;
} binding;

static mcp_status write_subject(binding *out, portarium_run_action *action, portarium_tx *tx,
                                const portarium_record *adapter, const mcp_json *input,
                                mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "operation", action->definition->operation);
    mcp_write_member_string(&draft.json, "adapterId", adapter ? adapter->id : NULL);
    mcp_write_member_value(&draft.json, "input", input);
    return portarium_draft_read(&draft, tx, &out->subject, err);
}

/* A new plan, and the subject of what would be done now. */
static mcp_status bind(binding *out, portarium_run *run, portarium_run_action *action,
                       portarium_tx *tx, const mcp_json *input, mcp_error *err)
{
    portarium_record found;
    bool is_builtin = portarium_is_builtin(action->definition->operation);
    const portarium_record *adapter = is_builtin ? NULL : &found;
    mcp_status st = is_builtin ? MCP_OK : portarium_gate_adapter(&found, action, tx, err);
    if (st == MCP_OK)
        st = portarium_gate_subject(&out->hash, run, action, tx, adapter, input, err);
    if (st == MCP_OK)
        st = write_subject(out, action, tx, adapter, input, err);
    if (st != MCP_OK)
        return st;
    const portarium_plan_request plan = {
        .effect = action->id,
        .operation = action->definition->operation,
        .sor_name = adapter ? adapter->id : "portarium",
        .port_family = action->definition->port_family,
        .external_id = run->record.id,
        .key = mcp_arena_printf(tx->arena, "%s:%s", run->record.id, action->id),
        .run = run->record.id,
        .action = action->id,
    };
    return portarium_plan_create(&out->plan, tx, &plan, err);
}

/* What the action keeps of its gate. */
static mcp_status kept_of(const mcp_json **out, portarium_tx *tx, const binding *bound,
                          const mcp_json *input, mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "subjectHash", bound->hash);
    mcp_write_member_value(&draft.json, "input", input);
    return portarium_draft_read(&draft, tx, out, err);
}

mcp_status portarium_gate_open(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                               const portarium_judgement *why, const mcp_json *input,
                               mcp_error *err)
{
    binding bound = { .plan = NULL };
    portarium_record approval;
    const mcp_json *patch = NULL, *hidden = NULL;
    const char *operation = action->definition->operation;
    mcp_status st = bind(&bound, run, action, tx, input, err);
    if (st != MCP_OK)
        return st;
    const portarium_approval_request request = {
        .run = run->record.id,
        .workflow = run->workflow->id,
        .action = action->id,
        .plan = bound.plan,
        .title = mcp_arena_printf(tx->arena, "Approve %s of %s", operation, run->workflow->name),
        .prompt = mcp_arena_printf(tx->arena, "%s: %s", run->workflow->name, operation),
        .requested_by = mcp_json_get_string(run->record.json, "initiatedByUserId"),
        .owner = mcp_json_get_string(mcp_json_get(run->record.hidden, "initiator"), "owner"),
        .hash = bound.hash,
        .subject = bound.subject,
        .why = why,
        .form = action->definition->approval_form,
    };
    st = portarium_approval_create(&approval, tx, &request, err);
    if (st == MCP_OK)
        st = kept_of(&hidden, tx, &bound, input, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "approvalId", approval.id, NULL);
    return st == MCP_OK
               ? portarium_action_become(run, action, tx, PORTARIUM_ACTION_WAITING_FOR_APPROVAL,
                                         patch, hidden, err)
               : st;
}

mcp_status portarium_gate_rebind(const portarium_record *approval, portarium_tx *tx,
                                 const mcp_json *input, const mcp_json **subject, mcp_error *err)
{
    portarium_run run;
    portarium_draft draft;
    const mcp_json *hidden = NULL;
    binding bound = { .plan = NULL };
    const char *action_id = mcp_json_get_string(approval->json, "actionId");
    if (!action_id)
        return mcp_error_set(err, MCP_E_PARAMS, "Approval %s has no input that could be changed.",
                             approval->id);
    mcp_status st = portarium_run_load(&run, tx, mcp_json_get_string(approval->json, "runId"), err);
    if (st != MCP_OK)
        return st;
    portarium_run_action *action = portarium_run_action_find(&run, action_id);
    if (!action)
        return mcp_error_set(err, MCP_E_INTERNAL, "approval %s is of no action", approval->id);
    st = bind(&bound, &run, action, tx, input, err);
    if (st == MCP_OK)
        st = kept_of(&hidden, tx, &bound, input, err);
    if (st == MCP_OK)
        st = portarium_record_patch(&action->record, tx, &portarium_actions, NULL, hidden, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "planId", bound.plan);
    mcp_write_member_string(&draft.json, "subjectHash", bound.hash);
    mcp_write_member_value(&draft.json, "subject", bound.subject);
    return portarium_draft_read(&draft, tx, subject, err);
}

/* ---- after the decision ---------------------------------------------------------------------- */

/* Whether what would be dispatched now is what was approved. */
static mcp_status is_subject(bool *out, portarium_run *run, portarium_run_action *action,
                             portarium_tx *tx, const mcp_json *input, mcp_error *err)
{
    portarium_record adapter;
    const char *hash = NULL;
    const char *approved = mcp_json_get_string(action->record.hidden, "subjectHash");
    bool is_builtin = portarium_is_builtin(action->definition->operation);
    mcp_status st = is_builtin ? MCP_OK : portarium_gate_adapter(&adapter, action, tx, err);
    *out = false;
    if (st == MCP_E_NOT_FOUND)
        return MCP_OK;
    if (st == MCP_OK)
        st = portarium_gate_subject(&hash, run, action, tx, is_builtin ? NULL : &adapter, input,
                                    err);
    *out = st == MCP_OK && strcmp(hash, approved) == 0;
    return st;
}

mcp_status portarium_gate_judge_again(portarium_judgement *out, portarium_run *run,
                                      portarium_run_action *action, portarium_tx *tx,
                                      mcp_error *err)
{
    portarium_facts facts = facts_of_run(run, action);
    return portarium_judge(out, tx, &facts, PORTARIUM_RULING_GATE, NULL, err);
}

static mcp_status release(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                          portarium_record *approval, bool *is_released, const mcp_json **input,
                          mcp_error *err)
{
    portarium_judgement judgement;
    *input = mcp_json_get(action->record.hidden, "input");
    mcp_status st = is_subject(is_released, run, action, tx, *input, err);
    if (st == MCP_OK)
        st = portarium_gate_judge_again(&judgement, run, action, tx, err);
    if (st != MCP_OK)
        return st;
    if (*is_released && judgement.ruling != PORTARIUM_RULING_DENY)
        return portarium_approval_become(approval, tx, PORTARIUM_APPROVAL_EXECUTING, NULL, NULL,
                                         err);
    if (!*is_released)
        return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_APPROVAL_STALE,
                                     "what would be done is not what was approved", err);
    *is_released = false;
    return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_POLICY_DENY, judgement.reason,
                                 err);
}

/* Executing here: it was released, and then held before the dispatch. */
mcp_status portarium_gate_look(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                               bool *is_released, bool *has_changed, const mcp_json **input,
                               mcp_error *err)
{
    portarium_record approval;
    const char *id = mcp_json_get_string(action->record.json, "approvalId");
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals, id, err);
    *is_released = false;
    if (st != MCP_OK)
        return st;
    switch (portarium_approval_status_of(&approval)) {
    case PORTARIUM_APPROVAL_APPROVED:
    case PORTARIUM_APPROVAL_EXECUTING:
        *has_changed = true;
        return release(run, action, tx, &approval, is_released, input, err);
    case PORTARIUM_APPROVAL_DENIED:
        *has_changed = true;
        return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_APPROVAL_DENIED,
                                     "the approval was denied", err);
    case PORTARIUM_APPROVAL_EXPIRED:
        *has_changed = true;
        return portarium_action_fail(run, action, tx, PORTARIUM_CLASS_APPROVAL_EXPIRED,
                                     "the approval has expired", err);
    default:
        return MCP_OK;
    }
}

/* The output with the answers of the form: {..., "approval": answers}. */
static mcp_status add_answers(portarium_tx *tx, const mcp_json **output, const mcp_json *answers,
                              mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *patch = NULL;
    portarium_draft_object(&draft);
    if (*output && !mcp_json_is_object(*output))
        mcp_write_member_value(&draft.json, "value", *output);
    mcp_write_member_value(&draft.json, "approval", answers);
    mcp_status st = portarium_draft_read(&draft, tx, &patch, err);
    if (st == MCP_OK && mcp_json_is_object(*output))
        return portarium_assign(tx, output, *output, patch, err);
    *output = patch;
    return st;
}

mcp_status portarium_gate_end(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                              const mcp_json **output, mcp_error *err)
{
    portarium_record approval;
    const char *id = mcp_json_get_string(action->record.json, "approvalId");
    (void)run;
    if (!id)
        return MCP_OK;
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals, id, err);
    if (st != MCP_OK || portarium_approval_status_of(&approval) != PORTARIUM_APPROVAL_EXECUTING)
        return st;
    const mcp_json *answers = mcp_json_get(approval.json, "inputs");
    if (output && answers)
        st = add_answers(tx, output, answers, err);
    return st == MCP_OK ? portarium_approval_become(&approval, tx, PORTARIUM_APPROVAL_EXECUTED,
                                                    NULL, NULL, err)
                        : st;
}

/* ---- gates of whole runs --------------------------------------------------------------------- */

static mcp_status set_gated(portarium_run *run, portarium_tx *tx, bool is_gated, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *hidden = NULL;
    portarium_draft_object(&draft);
    mcp_write_member_bool(&draft.json, "isGated", is_gated);
    mcp_status st = portarium_draft_read(&draft, tx, &hidden, err);
    return st == MCP_OK
               ? portarium_record_patch(&run->record, tx, &portarium_runs, NULL, hidden, err)
               : st;
}

mcp_status portarium_gate_hold_run(portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    mcp_status st = set_gated(run, tx, true, err);
    return st == MCP_OK ? portarium_run_due(run, tx, 0, err) : st;
}

static portarium_run_gate gate_of(portarium_approval_status status)
{
    switch (status) {
    case PORTARIUM_APPROVAL_DENIED:
        return PORTARIUM_RUN_GATE_DENIED;
    case PORTARIUM_APPROVAL_EXPIRED:
        return PORTARIUM_RUN_GATE_EXPIRED;
    case PORTARIUM_APPROVAL_PENDING:
    case PORTARIUM_APPROVAL_REQUEST_CHANGES:
        return PORTARIUM_RUN_GATE_WAITS;
    default:
        return PORTARIUM_RUN_GATE_OPEN;
    }
}

mcp_status portarium_gate_look_run(portarium_run_gate *out, portarium_run *run, portarium_tx *tx,
                                   mcp_error *err)
{
    db_rows *rows = NULL;
    bool is_gated = false;
    db_value values[] = { db_text(tx->workspace), db_text(run->record.id) };
    *out = PORTARIUM_RUN_GATE_OPEN;
    if (!mcp_json_bool(mcp_json_get(run->record.hidden, "isGated"), &is_gated) || !is_gated)
        return MCP_OK;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id, revision, created_at, json, hidden FROM approvals WHERE "
                             "workspace = $1 AND run_id = $2",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        portarium_record approval;
        st = portarium_record_read(&approval, tx, rows, err);
        if (st != MCP_OK || mcp_json_get(approval.json, "actionId"))
            continue;
        portarium_run_gate gate = gate_of(portarium_approval_status_of(&approval));
        if (gate > *out)
            *out = gate;
    }
    db_rows_free(rows);
    return st == MCP_OK && *out == PORTARIUM_RUN_GATE_OPEN ? set_gated(run, tx, false, err) : st;
}

/* ---- human tasks ----------------------------------------------------------------------------- */

mcp_status portarium_gate_hand_over(portarium_run *run, portarium_run_action *action,
                                    portarium_tx *tx, const mcp_json *input, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *json = NULL, *hidden = NULL, *patch = NULL;
    const char *id = NULL, *item = NULL, *operation = action->definition->operation;
    char token[MCP_RANDOM_ID_SIZE];
    portarium_work_links links = { .run = run->record.id, .workflow = run->workflow->id };
    char due[MCP_CLOCK_UTC_SIZE];
    int64_t due_ms = tx->now_ms + action->definition->limit_ms;
    portarium_time_write(due, due_ms);
    if (action->definition->limit_ms > 0)
        links.due = due;
    mcp_status st = portarium_id_new(&id, "ht-", tx->arena, err);
    if (st == MCP_OK)
        st = mcp_random_id(token, err);
    if (st == MCP_OK)
        st = portarium_work_item_create(
            &item, tx, mcp_arena_printf(tx->arena, "Do %s of %s", operation, run->workflow->name),
            NULL, &links, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "humanTaskId", id);
    mcp_write_member_string(&draft.json, "workItemId", item);
    mcp_write_member_string(&draft.json, "runId", run->record.id);
    mcp_write_member_string(&draft.json, "stepId", action->id);
    mcp_write_member_string(&draft.json, "description", operation);
    mcp_write_member_array(&draft.json, "requiredCapabilities");
    if (action->definition->capability)
        mcp_write_string(&draft.json, action->definition->capability);
    mcp_write_end(&draft.json);
    mcp_write_member_string(&draft.json, "status",
                            portarium_human_task_status_text(PORTARIUM_HUMAN_TASK_PENDING));
    mcp_write_member_string(&draft.json, "completionToken", token);
    if (input)
        mcp_write_member_value(&draft.json, "input", input);
    st = portarium_draft_read(&draft, tx, &json, err);
    if (st == MCP_OK)
        st = portarium_record_make(NULL, tx, &portarium_human_tasks, id, json, NULL, err);
    if (st == MCP_OK && links.due)
        st = portarium_timer_set(tx, PORTARIUM_TASK_TIMER, item, due_ms, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &hidden, err, "completionToken", token, NULL);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "humanTaskId", id, NULL);
    if (st == MCP_OK)
        st = portarium_action_become(
            run, action, tx, PORTARIUM_ACTION_WAITING_FOR_MANUAL_COMPLETION, patch, hidden, err);
    return st == MCP_OK ? add_event(tx, "HumanTaskCreated", "humantask", id, run, action->id, err)
                        : st;
}
