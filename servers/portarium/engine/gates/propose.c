/*
 * propose.c - proposals of agents, their judgement, and reservations of executions.
 */
#include "engine/gates/propose.h"

#include <string.h>

#include "engine/gate.h"
#include "engine/gates/budgets.h"
#include "engine/timers.h"
#include "engine/work.h"
#include "keys/canonical.h"
#include "model/identity.h"
#include "model/tool_classes.h"
#include "policy/exposure.h"
#include "store/journal.h"

/* A proposal on its way. */
typedef struct proposing {
    portarium_tx *tx;
    const portarium_proposal_request *request;
    portarium_proposal *out;
    const char *id, *hash, *evidence;
    const char *machine; /* of the agent, whatever the request says */
    portarium_tool_class tool_class;
    portarium_judgement judgement;
} proposing;

/* ---- the subject ----------------------------------------------------------------------------- */

static mcp_status hash_subject(const char **out, portarium_tx *tx,
                               const portarium_proposal_request *request, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *subject = NULL;
    char hex[KEYS_HEX_SIZE];
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "agentId", request->agent);
    mcp_write_member_string(&draft.json, "actionKind", request->kind);
    mcp_write_member_string(&draft.json, "toolName", request->tool);
    mcp_write_member_value(&draft.json, "parameters", request->parameters);
    mcp_status st = portarium_draft_read(&draft, tx, &subject, err);
    if (st == MCP_OK)
        st = keys_canonical_hash(hex, subject, err);
    if (st != MCP_OK)
        return st;
    *out = mcp_arena_strdup(tx->arena, hex);
    return *out ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a hash");
}

/* Whether evidence can have the parameters: what could not be recorded is not done. */
static mcp_status check_parameters(const mcp_json *parameters, mcp_error *err)
{
    mcp_buf text;
    mcp_buf_init(&text, PORTARIUM_STORED_PAYLOAD_MAX);
    mcp_status st = keys_canonical(&text, parameters, err);
    mcp_buf_clear(&text);
    return st == MCP_E_LIMIT
               ? mcp_error_set(err, MCP_E_PARAMS,
                               "The canonical form of the parameters is longer than 1 MiB.")
               : st;
}

/* ---- the same again -------------------------------------------------------------------------- */

static mcp_status read_approval(portarium_proposal *out, portarium_tx *tx, mcp_error *err)
{
    const char *id = mcp_json_get_string(out->record.json, "approvalId");
    return id ? portarium_record_get(&out->approval, tx, &portarium_approvals, id, err) : MCP_OK;
}

static bool is_open(const portarium_proposal *proposal)
{
    return proposal->approval.id &&
           !portarium_approval_is_final(portarium_approval_status_of(&proposal->approval));
}

/* A repeatable proposal that no approval answers any more. */
static bool is_over(const proposing *self)
{
    const portarium_record *approval = &self->out->approval;
    return self->request->is_repeatable &&
           (!approval->id || portarium_approval_status_of(approval) == PORTARIUM_APPROVAL_EXPIRED);
}

/* Move `last` to the time of a member, where that is later. */
static void take_later(int64_t *last, const mcp_json *json, const char *member)
{
    int64_t at_ms = 0;
    const char *text = mcp_json_get_string(json, member);
    if (text && portarium_time_read(&at_ms, text) && at_ms > *last)
        *last = at_ms;
}

/* When it ended: was performed, or decided, or judged where no approval was needed. */
static int64_t ended_ms(const portarium_proposal *proposal)
{
    int64_t last_ms = proposal->record.created_ms;
    take_later(&last_ms, proposal->approval.json, "decidedAtIso");
    take_later(&last_ms, mcp_json_get(proposal->approval.hidden, "execution"), "endedAtIso");
    return last_ms;
}

/* The proposal of that key, unless it has ended long ago. */
static mcp_status find_same(proposing *self, bool *found, mcp_error *err)
{
    db_rows *rows = NULL;
    portarium_tx *tx = self->tx;
    portarium_record *record = &self->out->record;
    db_value values[] = { db_text(tx->workspace), db_text(self->request->agent),
                          db_text(self->request->key) };
    *found = false;
    if (!self->request->key)
        return MCP_OK;
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT id, revision, created_at, json, hidden FROM proposals WHERE "
                             "workspace = $1 AND agent_id = $2 AND idempotency_key = $3 "
                             "ORDER BY created_at DESC, id LIMIT 1",
                             values, 3, err);
    if (portarium_next(rows, &st, err)) {
        *found = true;
        st = portarium_record_read(record, tx, rows, err);
    }
    db_rows_free(rows);
    if (st == MCP_OK && *found)
        st = read_approval(self->out, tx, err);
    if (st != MCP_OK || !*found)
        return st;
    *found = is_open(self->out) ||
             (tx->now_ms - ended_ms(self->out) < PORTARIUM_PROPOSAL_KEPT_MS && !is_over(self));
    if (*found && strcmp(mcp_json_get_string(record->json, "subjectHash"), self->hash) != 0)
        return mcp_error_set(err, MCP_E_EXISTS, "The key %.128s is that of another proposal.",
                             self->request->key);
    if (!*found)
        self->out->approval = (portarium_record){ .id = NULL };
    return MCP_OK;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* @param machine set to the agent's; NULL: it has none */
static mcp_status check_agent(const char **machine, portarium_tx *tx,
                              const portarium_proposal_request *request, mcp_error *err)
{
    portarium_record agent;
    mcp_status st = portarium_record_get(&agent, tx, &portarium_agents, request->agent, err);
    if (st != MCP_OK)
        return st;
    *machine = mcp_json_get_string(agent.json, "machineId");
    if (mcp_json_get(agent.json, "quarantinedAtIso"))
        return mcp_error_set(err, MCP_E_EXISTS, "Agent %s is quarantined.", agent.id);
    if (request->machine && *machine && strcmp(*machine, request->machine) != 0)
        return mcp_error_set(err, MCP_E_EXISTS, "Agent %s is of the machine %s.", agent.id,
                             *machine);
    if (!*machine)
        *machine = request->machine;
    return MCP_OK;
}

/* By the patterns of the workspace, the first that fits. */
static mcp_status classify(proposing *self, mcp_error *err)
{
    portarium_record exposure;
    self->tool_class = PORTARIUM_TOOL_UNKNOWN;
    mcp_status st = portarium_record_get(&exposure, self->tx, &portarium_policies,
                                         PORTARIUM_EXPOSURE_ID, err);
    if (st != MCP_OK)
        return st == MCP_E_NOT_FOUND ? MCP_OK : st;
    const mcp_json *classes = mcp_json_get(exposure.json, "toolClasses");
    for (size_t i = 0; i < mcp_json_count(classes); i++) {
        const mcp_json *item = mcp_json_item(classes, i);
        if (portarium_pattern_fits(mcp_json_get_string(item, "toolPattern"), self->request->tool)) {
            portarium_tool_class_read(&self->tool_class, mcp_json_get_string(item, "toolClass"));
            return MCP_OK;
        }
    }
    return MCP_OK;
}

static portarium_facts facts_of(const proposing *self, const mcp_json *initiator)
{
    const portarium_proposal_request *request = self->request;
    return (portarium_facts){ .actor = self->tx->actor->subject,
                              .roles = mcp_json_get(initiator, "roles"),
                              .operation = request->tool,
                              .tier = request->tier,
                              .parameters = request->parameters,
                              .agent_id = request->agent,
                              .machine_id = self->machine };
}

static const char *class_reason(const proposing *self)
{
    return mcp_arena_printf(self->tx->arena, "the tool's class is %s",
                            portarium_tool_class_text(self->tool_class));
}

static mcp_status judge(proposing *self, mcp_error *err)
{
    const mcp_json *initiator = NULL;
    portarium_effect effect = portarium_tool_class_effect(self->tool_class);
    portarium_ruling at_least = effect == PORTARIUM_EFFECT_ALLOW  ? PORTARIUM_RULING_GO
                                : effect == PORTARIUM_EFFECT_DENY ? PORTARIUM_RULING_DENY
                                                                  : PORTARIUM_RULING_GATE;
    const char *why = class_reason(self);
    mcp_status st = portarium_gate_initiator(&initiator, self->tx, err);
    portarium_facts facts = facts_of(self, initiator);
    if (st == MCP_OK)
        st = portarium_judge_and_store(&self->judgement, self->tx, &facts, at_least, why, err);
    if (st == MCP_OK && self->judgement.ruling == PORTARIUM_RULING_GO && self->tx->head.is_frozen)
        st = mcp_error_set(err, MCP_E_EXISTS, "The workspace is frozen.");
    return st;
}

static mcp_status spend(proposing *self, mcp_error *err)
{
    portarium_judgement spent;
    portarium_budget_metric metric = self->judgement.ruling == PORTARIUM_RULING_GO
                                         ? PORTARIUM_METRIC_TOOL_CALLS
                                         : PORTARIUM_METRIC_APPROVAL_REQUESTS;
    if (self->judgement.ruling == PORTARIUM_RULING_DENY)
        return MCP_OK;
    mcp_status st = portarium_budgets_spend_alone(&spent, self->tx, self->id, 1u << metric, err);
    if (st == MCP_OK && spent.ruling != PORTARIUM_RULING_GO)
        self->judgement = spent;
    return st;
}

/* ---- storing --------------------------------------------------------------------------------- */

static const char *decision_of(const proposing *self)
{
    return self->judgement.ruling == PORTARIUM_RULING_GO     ? "Allow"
           : self->judgement.ruling == PORTARIUM_RULING_GATE ? "NeedsApproval"
                                                             : "Denied";
}

static mcp_status add_evidence(proposing *self, mcp_error *err)
{
    bool is_denied = self->judgement.ruling == PORTARIUM_RULING_DENY;
    const portarium_evidence entry = {
        .category = is_denied ? "PolicyViolation" : "Action",
        .summary = mcp_arena_printf(self->tx->arena, "Agent %s proposed %s: %s%s%.200s",
                                    self->request->agent, self->request->tool, decision_of(self),
                                    self->judgement.reason ? ", " : "",
                                    self->judgement.reason ? self->judgement.reason : ""),
        .approval_id = self->out->approval.id,
        .id = &self->evidence,
    };
    return portarium_evidence_add(self->tx, &entry, err);
}

static mcp_status ask(proposing *self, mcp_error *err)
{
    portarium_tx *tx = self->tx;
    const portarium_proposal_request *request = self->request;
    portarium_draft draft;
    const char *plan = NULL;
    const mcp_json *subject = NULL;
    if (self->judgement.ruling != PORTARIUM_RULING_GATE)
        return MCP_OK;
    const portarium_plan_request effect = { .effect = self->id,
                                            .operation = request->tool,
                                            .sor_name = request->kind,
                                            .port_family = "SoftwareDev",
                                            .external_id = self->id,
                                            .key = self->id };
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "operation", request->tool);
    mcp_write_member_string(&draft.json, "agentId", request->agent);
    mcp_write_member_value(&draft.json, "input", request->parameters);
    mcp_write_member_string(&draft.json, "rationale", request->rationale);
    mcp_status st = portarium_draft_read(&draft, tx, &subject, err);
    if (st == MCP_OK)
        st = portarium_plan_create(&plan, tx, &effect, err);
    const portarium_approval_request approval = {
        .proposal = self->id,
        .agent = request->agent,
        .plan = plan,
        .title = mcp_arena_printf(tx->arena, "Approve %s of agent %s", request->tool,
                                  request->agent),
        .prompt = mcp_arena_printf(tx->arena, "Agent %s asks for %s: %s", request->agent,
                                   request->tool, request->rationale),
        .requested_by = tx->actor->subject,
        .owner = tx->actor->owner,
        .hash = self->hash,
        .subject = subject,
        .why = &self->judgement,
    };
    return st == MCP_OK ? portarium_approval_create(&self->out->approval, tx, &approval, err) : st;
}

static mcp_status write_proposal(proposing *self, const mcp_json **out, mcp_error *err)
{
    const portarium_proposal_request *request = self->request;
    portarium_draft draft;
    portarium_draft_object(&draft);
    const struct {
        const char *name, *value;
    } members[] = { { "proposalId", self->id },
                    { "workspaceId", self->tx->workspace },
                    { "agentId", request->agent },
                    { "machineId", self->machine },
                    { "actionKind", request->kind },
                    { "toolName", request->tool },
                    { "toolClass", portarium_tool_class_text(self->tool_class) },
                    { "executionTier", portarium_tier_text(request->tier) },
                    { "rationale", request->rationale },
                    { "idempotencyKey", request->key },
                    { "subjectHash", self->hash },
                    { "decision", decision_of(self) },
                    { "evidenceId", self->evidence },
                    { "approvalId", self->out->approval.id },
                    { "policyId", self->judgement.policy_id },
                    { "ruleId", self->judgement.rule_id },
                    { "message", self->judgement.reason },
                    { "proposedByUserId", self->tx->actor->subject },
                    { "createdAtIso", self->tx->now } };
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i].value)
            mcp_write_member_string(&draft.json, members[i].name, members[i].value);
    }
    mcp_write_member_value(&draft.json, "parameters", request->parameters);
    mcp_write_member_value(&draft.json, "policyIds", request->policy_ids);
    return portarium_draft_read(&draft, self->tx, out, err);
}

static mcp_status store(proposing *self, mcp_error *err)
{
    const mcp_json *json = NULL, *data = NULL;
    mcp_status st = add_evidence(self, err);
    if (st == MCP_OK)
        st = write_proposal(self, &json, err);
    if (st == MCP_OK)
        st = portarium_record_insert(&self->out->record, self->tx, &portarium_proposals, self->id,
                                     json, NULL, err);
    if (st == MCP_OK)
        st = portarium_object(self->tx, &data, err, "agentId", self->request->agent, "toolName",
                              self->request->tool, "decision", decision_of(self), NULL);
    const portarium_event event = {
        .type = "AgentActionProposed", .kind = "proposal", .id = self->id, .data = data
    };
    self->out->is_new = true;
    return st == MCP_OK ? portarium_event_add(self->tx, &event, err) : st;
}

mcp_status portarium_propose(portarium_proposal *out, portarium_tx *tx,
                             const portarium_proposal_request *request, mcp_error *err)
{
    proposing self = { .tx = tx, .request = request, .out = out };
    bool found = false;
    *out = (portarium_proposal){ .is_new = false };
    mcp_status st = check_agent(&self.machine, tx, request, err);
    if (st == MCP_OK)
        st = check_parameters(request->parameters, err);
    if (st == MCP_OK)
        st = hash_subject(&self.hash, tx, request, err);
    if (st == MCP_OK)
        st = find_same(&self, &found, err);
    if (st != MCP_OK || found)
        return st;
    st = portarium_id_new(&self.id, "prop-", tx->arena, err);
    if (st == MCP_OK)
        st = classify(&self, err);
    if (st == MCP_OK)
        st = judge(&self, err);
    if (st == MCP_OK)
        st = spend(&self, err);
    if (st == MCP_OK)
        st = ask(&self, err);
    return st == MCP_OK ? store(&self, err) : st;
}

/* ---- the ends of actions --------------------------------------------------------------------- */

/* Evidence of a call, with its parameters and its output as payloads. @param approval NULL: none */
static mcp_status add_call(portarium_tx *tx, const char *approval, const char *summary,
                           const mcp_json *parameters, const mcp_json *output, mcp_error *err)
{
    portarium_evidence entry = { .category = "Action",
                                 .summary = summary,
                                 .approval_id = approval };
    mcp_status st = summary ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for evidence");
    if (st == MCP_OK && parameters)
        st = portarium_payload_add(tx, &entry.payloads[0], NULL, "Operational", parameters, err);
    if (st == MCP_OK && output)
        st = portarium_payload_add(tx, &entry.payloads[parameters ? 1 : 0], NULL, "Operational",
                                   output, err);
    return st == MCP_OK ? portarium_evidence_add(tx, &entry, err) : st;
}

/* The proposal, if it is the caller's and was allowed. */
static mcp_status read_allowed(portarium_record *out, portarium_tx *tx, const char *proposal,
                               mcp_error *err)
{
    mcp_status st = portarium_record_get(out, tx, &portarium_proposals, proposal, err);
    if (st != MCP_OK)
        return st;
    const char *agent = mcp_json_get_string(out->json, "agentId");
    if (tx->actor->agent_id && strcmp(tx->actor->agent_id, agent) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "Proposal %s is of another agent.", proposal);
    return strcmp(mcp_json_get_string(out->json, "decision"), "Allow") == 0
               ? MCP_OK
               : mcp_error_set(err, MCP_E_EXISTS, "Proposal %s was not allowed.", proposal);
}

mcp_status portarium_proposal_end(portarium_record *out, portarium_tx *tx, const char *proposal,
                                  const char *outcome, const mcp_json *output, const char *message,
                                  mcp_error *err)
{
    const mcp_json *patch = NULL;
    mcp_status st = read_allowed(out, tx, proposal, err);
    if (st != MCP_OK)
        return st;
    const char *before = mcp_json_get_string(out->json, "outcome");
    if (before)
        return strcmp(before, outcome) == 0
                   ? MCP_OK
                   : mcp_error_set(err, MCP_E_EXISTS, "Proposal %s has ended: %s.", proposal,
                                   before);
    st = portarium_object(tx, &patch, err, "outcome", outcome, "errorMessage", message,
                          "endedAtIso", tx->now, NULL);
    if (st == MCP_OK)
        st = portarium_record_patch(out, tx, &portarium_proposals, patch, NULL, err);
    const char *tool = mcp_json_get_string(out->json, "toolName");
    if (st == MCP_OK)
        st = add_call(tx, NULL,
                      mcp_arena_printf(tx->arena, "Call of %s by agent %s: %s%s%.200s", tool,
                                       mcp_json_get_string(out->json, "agentId"), outcome,
                                       message ? ", " : "", message ? message : ""),
                      mcp_json_get(out->json, "parameters"), output, err);
    const portarium_event event = { .type = strcmp(outcome, "executed") == 0
                                                ? "AgentActionExecuted"
                                                : "AgentActionExecutionFailed",
                                    .kind = "proposal",
                                    .id = proposal,
                                    .data = patch };
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* ---- executing ------------------------------------------------------------------------------- */

/* An approval of a proposal, with both of its records. */
static mcp_status read_both(portarium_proposal *out, portarium_tx *tx, const char *approval,
                            mcp_error *err)
{
    *out = (portarium_proposal){ .is_new = false };
    mcp_status st = portarium_record_get(&out->approval, tx, &portarium_approvals, approval, err);
    if (st != MCP_OK)
        return st;
    const char *proposal = mcp_json_get_string(out->approval.json, "proposalId");
    if (!proposal)
        return mcp_error_set(err, MCP_E_EXISTS, "Approval %s is of no agent's action.", approval);
    st = portarium_record_get(&out->record, tx, &portarium_proposals, proposal, err);
    const char *agent = mcp_json_get_string(out->record.json, "agentId");
    if (st == MCP_OK && tx->actor->agent_id && strcmp(tx->actor->agent_id, agent) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "Approval %s is of another agent.", approval);
    return st;
}

static mcp_status check_decider(const portarium_proposal *proposal, portarium_tx *tx,
                                mcp_error *err)
{
    const mcp_json *decisions = mcp_json_get(proposal->approval.json, "decisions");
    for (size_t i = 0; i < mcp_json_count(decisions); i++) {
        const char *user = mcp_json_get_string(mcp_json_item(decisions, i), "userId");
        if (user && strcmp(user, tx->actor->subject) == 0)
            return mcp_error_set(err, MCP_E_DENIED,
                                 "Who has decided approval %s may not execute it.",
                                 proposal->approval.id);
    }
    return MCP_OK;
}

static mcp_status check_same(const portarium_proposal *proposal, const char *flow,
                             const mcp_json *payload, mcp_error *err)
{
    const mcp_json *parameters = mcp_json_get(proposal->record.json, "parameters");
    char asked[KEYS_HEX_SIZE], proposed[KEYS_HEX_SIZE];
    bool is_same = strcmp(flow, mcp_json_get_string(proposal->record.json, "toolName")) == 0;
    if (is_same && payload) {
        mcp_status st = keys_canonical_hash(asked, payload, err);
        if (st == MCP_OK)
            st = keys_canonical_hash(proposed, parameters, err);
        if (st != MCP_OK)
            return st;
        is_same = strcmp(asked, proposed) == 0;
    }
    return is_same
               ? MCP_OK
               : mcp_error_set(err, MCP_E_EXISTS, "Approval %s is of another action than this one.",
                               proposal->approval.id);
}

/* What denies it meanwhile. @param refusal NULL: nothing */
static mcp_status check_policies(const char **refusal, const portarium_proposal *proposal,
                                 portarium_tx *tx, mcp_error *err)
{
    portarium_judgement judgement;
    const mcp_json *json = proposal->record.json, *initiator = NULL;
    portarium_proposal_request request = { .agent = mcp_json_get_string(json, "agentId"),
                                           .machine = mcp_json_get_string(json, "machineId"),
                                           .tool = mcp_json_get_string(json, "toolName"),
                                           .parameters = mcp_json_get(json, "parameters") };
    proposing again = { .tx = tx, .request = &request };
    *refusal = NULL;
    portarium_tier_read(&request.tier, mcp_json_get_string(json, "executionTier"));
    mcp_status st = check_agent(&again.machine, tx, &request, err);
    if (st == MCP_OK)
        st = portarium_gate_initiator(&initiator, tx, err);
    portarium_facts facts = facts_of(&again, initiator);
    facts.actor = mcp_json_get_string(json, "proposedByUserId");
    if (st == MCP_OK)
        st = classify(&again, err);
    bool is_denied = portarium_tool_class_effect(again.tool_class) == PORTARIUM_EFFECT_DENY;
    if (st == MCP_OK)
        st = portarium_judge(&judgement, tx, &facts,
                             is_denied ? PORTARIUM_RULING_DENY : PORTARIUM_RULING_GATE,
                             class_reason(&again), err);
    if (st == MCP_OK && judgement.ruling != PORTARIUM_RULING_DENY)
        st = portarium_budgets_spend_alone(&judgement, tx, proposal->record.id,
                                           1u << PORTARIUM_METRIC_TOOL_CALLS, err);
    if (st == MCP_OK && judgement.ruling == PORTARIUM_RULING_DENY)
        *refusal = judgement.reason ? judgement.reason : "A policy denies it.";
    return st;
}

static const mcp_json *reservation_of(const portarium_record *approval)
{
    return mcp_json_get(approval->hidden, "execution");
}

static void describe(portarium_execution *out, const portarium_record *approval)
{
    const mcp_json *reservation = reservation_of(approval);
    *out = (portarium_execution){ .id = mcp_json_get_string(reservation, "executionId"),
                                  .approval = approval->id,
                                  .status = mcp_json_get_string(reservation, "status"),
                                  .output = mcp_json_get(reservation, "output"),
                                  .message = mcp_json_get_string(reservation, "errorMessage") };
}

/* @param output,message NULL: none */
static mcp_status reserve(const mcp_json **out, portarium_tx *tx, const char *id, const char *state,
                          const char *status, const mcp_json *output, const char *message,
                          mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_object(&draft.json, "execution");
    mcp_write_member_string(&draft.json, "executionId", id);
    mcp_write_member_string(&draft.json, "state", state);
    mcp_write_member_string(&draft.json, "status", status);
    mcp_write_member_string(&draft.json, "byUserId", tx->actor->subject);
    if (strcmp(state, "Completed") == 0)
        mcp_write_member_string(&draft.json, "endedAtIso", tx->now);
    if (output)
        mcp_write_member_value(&draft.json, "output", output);
    if (message)
        mcp_write_member_string(&draft.json, "errorMessage", message);
    mcp_write_end(&draft.json);
    return portarium_draft_read(&draft, tx, out, err);
}

static mcp_status claim(portarium_execution *out, portarium_proposal *proposal, portarium_tx *tx,
                        mcp_error *err)
{
    const char *id = NULL;
    const mcp_json *hidden = NULL;
    portarium_record *approval = &proposal->approval;
    mcp_status st = tx->head.is_frozen
                        ? mcp_error_set(err, MCP_E_EXISTS, "The workspace is frozen.")
                        : check_policies(&out->refusal, proposal, tx, err);
    if (st == MCP_OK && out->refusal)
        return portarium_approval_evidence(approval, tx, "PolicyViolation", err,
                                           "Execution refused: %s", out->refusal);
    if (st == MCP_OK)
        st = portarium_id_new(&id, "exec-", tx->arena, err);
    if (st == MCP_OK)
        st = reserve(&hidden, tx, id, "InProgress", "Executing", NULL, NULL, err);
    if (st == MCP_OK)
        st = portarium_approval_become(approval, tx, PORTARIUM_APPROVAL_EXECUTING, NULL, hidden,
                                       err);
    if (st == MCP_OK)
        st = portarium_approval_evidence(approval, tx, "Action", err, "Execution %s of %s begun",
                                         id,
                                         mcp_json_get_string(proposal->record.json, "toolName"));
    if (st == MCP_OK)
        st = portarium_approval_event(approval, tx, "AgentActionExecuting", NULL, err);
    describe(out, approval);
    out->is_claimed = true;
    return st;
}

mcp_status portarium_execute(portarium_execution *out, portarium_tx *tx, const char *approval,
                             const char *flow, const mcp_json *payload, mcp_error *err)
{
    portarium_proposal proposal;
    *out = (portarium_execution){ .id = NULL };
    mcp_status st = read_both(&proposal, tx, approval, err);
    if (st == MCP_OK)
        st = check_decider(&proposal, tx, err);
    if (st == MCP_OK)
        st = check_same(&proposal, flow, payload, err);
    if (st != MCP_OK)
        return st;
    portarium_approval_status status = portarium_approval_status_of(&proposal.approval);
    if (status == PORTARIUM_APPROVAL_APPROVED)
        return claim(out, &proposal, tx, err);
    if (status != PORTARIUM_APPROVAL_EXECUTING && status != PORTARIUM_APPROVAL_EXECUTED)
        return mcp_error_set(err, MCP_E_EXISTS, "Approval %s is %s.", approval,
                             portarium_approval_status_text(status));
    describe(out, &proposal.approval);
    return MCP_OK;
}

mcp_status portarium_execution_finish(portarium_execution *out, portarium_tx *tx,
                                      const char *approval, const char *execution,
                                      portarium_execution_end end, const mcp_json *output,
                                      const char *message, mcp_error *err)
{
    static const struct {
        const char *state, *status, *event;
        portarium_approval_status approval;
    } ends[] = {
        [PORTARIUM_EXECUTION_DONE] = { "Completed", "Executed", "AgentActionExecuted",
                                       PORTARIUM_APPROVAL_EXECUTED },
        [PORTARIUM_EXECUTION_FAILED] = { "Completed", "Failed", "AgentActionExecutionFailed",
                                         PORTARIUM_APPROVAL_EXECUTED },
        [PORTARIUM_EXECUTION_RELEASED] = { "Released", "Failed", "AgentActionReleased",
                                           PORTARIUM_APPROVAL_APPROVED },
    };
    portarium_proposal proposal;
    const mcp_json *hidden = NULL;
    mcp_status st = read_both(&proposal, tx, approval, err);
    if (st != MCP_OK)
        return st;
    const mcp_json *reservation = reservation_of(&proposal.approval);
    const char *id = mcp_json_get_string(reservation, "executionId");
    const char *state = mcp_json_get_string(reservation, "state");
    bool is_this = id && strcmp(id, execution) == 0;
    if (is_this && strcmp(state, ends[end].state) == 0 &&
        strcmp(mcp_json_get_string(reservation, "status"), ends[end].status) == 0) {
        describe(out, &proposal.approval);
        return MCP_OK;
    }
    if (!is_this || strcmp(state, "InProgress") != 0)
        return mcp_error_set(err, MCP_E_EXISTS, "Execution %.128s is not under way.", execution);
    st = reserve(&hidden, tx, id, ends[end].state, ends[end].status, output, message, err);
    if (st == MCP_OK)
        st = portarium_approval_become(&proposal.approval, tx, ends[end].approval, NULL, hidden,
                                       err);
    if (st == MCP_OK)
        st = add_call(tx, proposal.approval.id,
                      mcp_arena_printf(tx->arena, "Execution %s ended: %s%s%.200s", id,
                                       ends[end].status, message ? ", " : "",
                                       message ? message : ""),
                      mcp_json_get(proposal.record.json, "parameters"), output, err);
    if (st == MCP_OK)
        st = portarium_approval_event(&proposal.approval, tx, ends[end].event, NULL, err);
    if (st == MCP_OK && output)
        st = portarium_timer_set(tx, PORTARIUM_OUTPUT_TIMER, proposal.approval.id,
                                 tx->now_ms + PORTARIUM_PROPOSAL_KEPT_MS, err);
    describe(out, &proposal.approval);
    return st;
}

mcp_status portarium_execution_forget(portarium_tx *tx, const char *approval, mcp_error *err)
{
    portarium_record record;
    portarium_draft draft;
    const mcp_json *no_output = NULL, *left = NULL, *hidden = NULL;
    mcp_status st = portarium_record_get(&record, tx, &portarium_approvals, approval, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &no_output, err, "output", portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_assign(tx, &left, reservation_of(&record), no_output, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_value(&draft.json, "execution", left);
    st = portarium_draft_read(&draft, tx, &hidden, err);
    return st == MCP_OK
               ? portarium_record_patch(&record, tx, &portarium_approvals, NULL, hidden, err)
               : st;
}
