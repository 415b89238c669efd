/*
 * decide.c - the checks of a decision, and its consequences.
 */
#include "engine/gates/decide.h"

#include <string.h>

#include "engine/gate.h"
#include "engine/timers.h"
#include "engine/work.h"
#include "fault/fault.h"
#include "store/journal.h"

enum { RESUBMITTERS = 64 }; /* people, and owners of agents */
enum { REQUESTERS = 4 + RESUBMITTERS, DEEDS = 200, APPROVERS = 64, ROLE_NAMES = 16 };

/* A decision on its way. */
typedef struct deciding {
    portarium_tx *tx;
    const portarium_decision_request *request;
    portarium_decided *out;
    portarium_record run; /* id NULL: the approval has none */
    portarium_policy_set policies;
    portarium_duty_facts facts;
    const char *requesters[REQUESTERS];
    const char *approvers[APPROVERS];
    const char *roles[ROLE_NAMES];
    portarium_deed deeds[DEEDS];
    size_t needed; /* approvers */
} deciding;

/* ---- facts ----------------------------------------------------------------------------------- */

static void add_requester(deciding *self, const char *user)
{
    if (user && self->facts.requester_count < REQUESTERS)
        self->requesters[self->facts.requester_count++] = user;
}

static void add_deed(deciding *self, const char *user, const char *duty)
{
    if (user && self->facts.deed_count < DEEDS)
        self->deeds[self->facts.deed_count++] = (portarium_deed){ user, duty };
}

static void add_role(deciding *self, const char *name)
{
    if (name && self->facts.decider_role_count < ROLE_NAMES)
        self->roles[self->facts.decider_role_count++] = name;
}

/* Roles of the token and those that the user's record has. */
static mcp_status read_roles(deciding *self, mcp_error *err)
{
    portarium_record user;
    const portarium_actor *actor = self->tx->actor;
    for (unsigned role = 0; role < PORTARIUM_COUNT(PORTARIUM_ROLE_NAME_MAP); role++) {
        if (actor->roles >> role & 1)
            add_role(self, portarium_role_name_text((portarium_role_name)role));
    }
    mcp_status st = portarium_record_get_kept(&user, self->tx, &portarium_users, actor->subject,
                                              err);
    if (st == MCP_OK) {
        const mcp_json *roles = mcp_json_get(user.json, "roles");
        for (size_t i = 0; i < mcp_json_count(roles); i++)
            add_role(self, mcp_json_string(mcp_json_item(roles, i), NULL));
    }
    return st == MCP_E_NOT_FOUND ? MCP_OK : st;
}

/* Who has decided it since it was last asked for. */
static void read_approvers(deciding *self)
{
    const mcp_json *decisions = mcp_json_get(self->out->approval.json, "decisions");
    for (size_t i = 0; i < mcp_json_count(decisions) && i < APPROVERS; i++)
        self->approvers[self->facts.approver_count++] = mcp_json_get_string(
            mcp_json_item(decisions, i), "userId");
}

/* Human tasks of the run that somebody has completed. */
static mcp_status read_completions(deciding *self, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(self->tx->workspace), db_text(self->run.id) };
    mcp_status st = db_query(&rows, self->tx->session,
                             "SELECT id, revision, created_at, json, hidden FROM human_tasks WHERE "
                             "workspace = $1 AND run_id = $2 AND status = 'completed' LIMIT 100",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        portarium_record task;
        st = portarium_record_read(&task, self->tx, rows, err);
        if (st == MCP_OK)
            add_deed(self, mcp_json_get_string(task.json, "completedByUserId"),
                     "workforce:complete");
    }
    db_rows_free(rows);
    return st;
}

static mcp_status read_run(deciding *self, mcp_error *err)
{
    const char *run = mcp_json_get_string(self->out->approval.json, "runId");
    if (!run)
        return MCP_OK;
    mcp_status st = portarium_record_get(&self->run, self->tx, &portarium_runs, run, err);
    if (st != MCP_OK)
        return st;
    const char *initiator = mcp_json_get_string(self->run.json, "initiatedByUserId");
    const mcp_json *origin = mcp_json_get(self->run.hidden, "initiator");
    add_requester(self, initiator);
    add_requester(self, mcp_json_get_string(origin, "owner"));
    add_deed(self, initiator, "run:start");
    return read_completions(self, err);
}

static mcp_status read_facts(deciding *self, mcp_error *err)
{
    const portarium_record *approval = &self->out->approval;
    const char *requester = mcp_json_get_string(approval->json, "requestedByUserId");
    bool is_proposal = mcp_json_get(approval->json, "proposalId") != NULL;
    bool is_gate = mcp_json_get(approval->json, "actionId") != NULL;
    self->facts = (portarium_duty_facts){ .decider_id = self->tx->actor->subject,
                                          .decider_roles = self->roles,
                                          .requesters = self->requesters,
                                          .approvers = self->approvers,
                                          .deeds = self->deeds };
    add_requester(self, requester);
    add_requester(self, mcp_json_get_string(approval->hidden, "owner"));
    const mcp_json *resubmitters = mcp_json_get(approval->hidden, "resubmitters");
    for (size_t i = 0; i < mcp_json_count(resubmitters); i++)
        add_requester(self, mcp_json_string(mcp_json_item(resubmitters, i), NULL));
    if (!is_gate)
        add_deed(self, requester, is_proposal ? "agent-action:propose" : "approval:create");
    mcp_status st = read_run(self, err);
    if (st == MCP_OK)
        st = read_roles(self, err);
    read_approvers(self);
    return st == MCP_OK ? portarium_policies_active(&self->policies, self->tx, err) : st;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static mcp_status note_violation(deciding *self, const char *policy, const char *kind,
                                 const char *refusal, mcp_error *err)
{
    portarium_tx *tx = self->tx;
    const mcp_json *data = NULL;
    self->out->refusal = refusal;
    self->out->is_forbidden = true;
    mcp_status st = refusal ? portarium_object(tx, &data, err, "kind", kind, "policyId", policy,
                                               "userId", tx->actor->subject, NULL)
                            : mcp_error_set(err, MCP_E_NOMEM, "no memory for a refusal");
    if (st == MCP_OK)
        st = portarium_approval_evidence(&self->out->approval, tx, "PolicyViolation", err,
                                         "Decision of %s refused: %s", tx->actor->subject, refusal);
    return st == MCP_OK ? portarium_approval_event(&self->out->approval, tx, "SodViolationDetected",
                                                   data, err)
                        : st;
}

static mcp_status check_duties(deciding *self, mcp_error *err)
{
    static const portarium_duty maker_checker = { .kind = PORTARIUM_DUTY_MAKER_CHECKER };
    if (portarium_duty_is_violated(&maker_checker, &self->facts))
        return note_violation(self, NULL, "MakerChecker",
                              "Maker-checker: who has asked for an approval may not decide it.",
                              err);
    self->needed = 1;
    for (size_t i = 0; i < self->policies.count; i++) {
        const portarium_policy *policy = self->policies.items[i];
        const portarium_duty *broken = portarium_duties_violated(policy->duties, policy->duty_count,
                                                                 &self->facts);
        size_t needed = portarium_duties_approvers(policy->duties, policy->duty_count);
        if (needed > self->needed)
            self->needed = needed;
        if (!broken)
            continue;
        const char *kind = portarium_duty_kind_text(broken->kind);
        return note_violation(self, policy->id, kind,
                              mcp_arena_printf(self->tx->arena, "SoD violation: %sViolation", kind),
                              err);
    }
    for (size_t i = 0; i < self->facts.approver_count; i++) {
        if (strcmp(self->approvers[i], self->tx->actor->subject) == 0)
            return mcp_error_set(err, MCP_E_EXISTS, "You have decided approval %s already.",
                                 self->out->approval.id);
    }
    return MCP_OK;
}

static mcp_status check_assignee(deciding *self, mcp_error *err)
{
    const portarium_actor *actor = self->tx->actor;
    const mcp_json *approval = self->out->approval.json;
    const char *assignee = mcp_json_get_string(approval, "assigneeUserId");
    if (!assignee || strcmp(assignee, actor->subject) == 0 ||
        (actor->roles & PORTARIUM_ROLE(ADMIN)) ||
        portarium_approval_has_reached(approval, self->tx->now_ms, actor->subject))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_DENIED, "Approval %s is assigned to %s.",
                         self->out->approval.id, assignee);
}

static mcp_status check_subject(deciding *self, mcp_error *err)
{
    const char *seen = self->request->subject_hash;
    const char *now = mcp_json_get_string(self->out->approval.json, "subjectHash");
    if (!seen || (now && strcmp(seen, now) == 0))
        return MCP_OK;
    return mcp_error_set(err, MCP_E_EXISTS,
                         "stale: approval %s is of another subject now; look at it again.",
                         self->out->approval.id);
}

static mcp_status check_inputs(deciding *self, portarium_fields *fields, mcp_error *err)
{
    const mcp_json *form = mcp_json_get(self->out->approval.json, "approvalForm");
    const mcp_json *inputs = self->request->inputs;
    if (self->request->decision != PORTARIUM_DECISION_APPROVED)
        return MCP_OK;
    if (form)
        return portarium_form_check(form, inputs, fields, err);
    if (mcp_json_count(inputs) == 0)
        return MCP_OK;
    portarium_fields_add(fields, "/inputs", "the approval has no form");
    return portarium_fields_status(fields, err);
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* The document of the approval has it, too (patch_of). The key of this table allows a person one
 * decision, whatever else goes wrong, and an auditor finds it with SQL. */
static mcp_status store_decision(deciding *self, mcp_error *err)
{
    portarium_tx *tx = self->tx;
    const portarium_decision_request *request = self->request;
    const char *roles = "";
    for (size_t i = 0; i < self->facts.decider_role_count && roles; i++)
        roles = mcp_arena_printf(tx->arena, "%s%s%s", roles, i ? "," : "", self->roles[i]);
    db_value values[] = {
        db_text(tx->workspace),      db_text(request->approval),
        db_text(tx->actor->subject), db_text(portarium_decision_text(request->decision)),
        db_text(request->rationale), db_text(roles ? roles : ""),
        db_int(tx->now_ms)
    };
    return db_defer(tx->session, MCP_OK,
                    "INSERT INTO approval_decisions (workspace, approval_id, user_id, decision, "
                    "rationale, roles, decided_at) VALUES ($1, $2, $3, $4, $5, $6, $7)",
                    values, 7, err);
}

static void write_decision(mcp_json_writer *json, const deciding *self)
{
    mcp_write_object(json);
    mcp_write_member_string(json, "userId", self->tx->actor->subject);
    mcp_write_member_string(json, "decision", portarium_decision_text(self->request->decision));
    mcp_write_member_string(json, "rationale", self->request->rationale);
    mcp_write_member_string(json, "decidedAtIso", self->tx->now);
    mcp_write_end(json);
}

/* @param is_last whether it resolves the approval */
static mcp_status patch_of(deciding *self, const mcp_json **out, bool is_last, mcp_error *err)
{
    portarium_draft draft;
    const portarium_decision_request *request = self->request;
    const mcp_json *before = mcp_json_get(self->out->approval.json, "decisions");
    portarium_draft_object(&draft);
    mcp_json_writer *json = &draft.json;
    mcp_write_member_array(json, "decisions");
    for (size_t i = 0; i < mcp_json_count(before); i++)
        mcp_write_value(json, mcp_json_item(before, i));
    write_decision(json, self);
    mcp_write_end(json);
    if (self->needed > 1)
        mcp_write_member_int(json, "minimumApprovers", (int64_t)self->needed);
    if (request->inputs && request->decision == PORTARIUM_DECISION_APPROVED)
        mcp_write_member_value(json, "inputs", request->inputs);
    if (is_last) {
        mcp_write_member_string(json, "decidedAtIso", self->tx->now);
        mcp_write_member_string(json, "decidedByUserId", self->tx->actor->subject);
        mcp_write_member_string(json, "rationale", request->rationale);
    }
    if (is_last && request->feedback)
        mcp_write_member_value(json, "feedback", request->feedback);
    return portarium_draft_read(&draft, self->tx, out, err);
}

/* One of several approvals that are needed. */
static mcp_status collect(deciding *self, mcp_error *err)
{
    const mcp_json *patch = NULL;
    size_t count = self->facts.approver_count + 1;
    mcp_status st = patch_of(self, &patch, false, err);
    if (st == MCP_OK)
        st = portarium_approval_become(&self->out->approval, self->tx, PORTARIUM_APPROVAL_PENDING,
                                       patch, NULL, err);
    if (st == MCP_OK)
        st = portarium_approval_evidence(&self->out->approval, self->tx, "Approval", err,
                                         "Approved by %s, %zu of %zu", self->tx->actor->subject,
                                         count, self->needed);
    return st == MCP_OK ? portarium_approval_event(&self->out->approval, self->tx,
                                                   "ApprovalDecisionRecorded", NULL, err)
                        : st;
}

/* A run waits for the requester as blocked, unless a person holds it already. */
static mcp_status block(portarium_run *run, portarium_tx *tx, const char *approval, mcp_error *err)
{
    const mcp_json *patch = NULL, *hidden = NULL;
    if (portarium_run_is_held(run))
        return MCP_OK;
    mcp_status st = portarium_object(tx, &hidden, err, "heldBy", approval, NULL);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "controlState",
                              portarium_control_state_text(PORTARIUM_CONTROL_BLOCKED), NULL);
    return st == MCP_OK
               ? portarium_record_patch(&run->record, tx, &portarium_runs, patch, hidden, err)
               : st;
}

/* The run continues, or waits for the requester. */
static mcp_status tell_run(deciding *self, mcp_error *err)
{
    portarium_run run = { .record = self->run };
    if (!self->run.id)
        return MCP_OK;
    return self->request->decision == PORTARIUM_DECISION_REQUEST_CHANGES
               ? block(&run, self->tx, self->out->approval.id, err)
               : portarium_run_due(&run, self->tx, 0, err);
}

static mcp_status resolve(deciding *self, mcp_error *err)
{
    static const struct {
        const char *event;
        portarium_work_item_status item;
    } after[] = {
        [PORTARIUM_DECISION_APPROVED] = { "ApprovalGranted", PORTARIUM_WORK_ITEM_RESOLVED },
        [PORTARIUM_DECISION_DENIED] = { "ApprovalDenied", PORTARIUM_WORK_ITEM_CLOSED },
        [PORTARIUM_DECISION_REQUEST_CHANGES] = { "ApprovalChangesRequested",
                                                 PORTARIUM_WORK_ITEM_BLOCKED },
    };
    portarium_tx *tx = self->tx;
    portarium_record *approval = &self->out->approval;
    portarium_decision decision = self->request->decision;
    const mcp_json *patch = NULL;
    mcp_status st = patch_of(self, &patch, true, err);
    if (st == MCP_OK)
        st = portarium_approval_become(approval, tx, portarium_approval_of(decision), patch, NULL,
                                       err);
    if (st == MCP_OK)
        st = portarium_timer_cancel(tx, PORTARIUM_APPROVAL_TIMER, approval->id, err);
    if (st == MCP_OK)
        st = portarium_work_item_become(tx, mcp_json_get_string(approval->json, "workItemId"),
                                        after[decision].item, err);
    if (st == MCP_OK)
        st = portarium_approval_evidence(approval, tx, "Approval", err, "%s by %s: %.200s",
                                         portarium_decision_text(decision), tx->actor->subject,
                                         self->request->rationale);
    if (st == MCP_OK)
        st = portarium_approval_event(approval, tx, after[decision].event, NULL, err);
    return st == MCP_OK ? tell_run(self, err) : st;
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* An approval whose time is over expires here, when its timer has not come to it yet. */
static mcp_status check_pending(deciding *self, mcp_error *err)
{
    portarium_record *approval = &self->out->approval;
    portarium_approval_moments moments = portarium_approval_moments_at(approval->json,
                                                                       self->tx->now_ms);
    if (portarium_approval_status_of(approval) != PORTARIUM_APPROVAL_PENDING)
        return mcp_error_set(err, MCP_E_EXISTS, "Approval %s is already decided.", approval->id);
    if (moments.end_ms > self->tx->now_ms)
        return MCP_OK;
    self->out->refusal = mcp_arena_printf(self->tx->arena, "Approval %s has expired.",
                                          approval->id);
    return portarium_approval_expire(approval, self->tx, "nobody has decided in time", err);
}

mcp_status portarium_decide(portarium_decided *out, portarium_tx *tx,
                            const portarium_decision_request *request, portarium_fields *fields,
                            mcp_error *err)
{
    deciding *self = mcp_arena_alloc(tx->arena, sizeof *self);
    *out = (portarium_decided){ .refusal = NULL };
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a decision");
    *self = (deciding){ .tx = tx, .request = request, .out = out };
    mcp_status st = portarium_record_get(&out->approval, tx, &portarium_approvals,
                                         request->approval, err);
    if (st == MCP_OK)
        st = check_pending(self, err);
    if (st == MCP_OK && !out->refusal)
        st = read_facts(self, err);
    if (st == MCP_OK && !out->refusal)
        st = check_duties(self, err);
    if (st != MCP_OK || out->refusal)
        return st;
    st = check_assignee(self, err);
    if (st == MCP_OK)
        st = check_subject(self, err);
    if (st == MCP_OK)
        st = check_inputs(self, fields, err);
    if (st == MCP_OK)
        st = store_decision(self, err);
    FAULT_POINT("decision-made");
    if (st != MCP_OK)
        return st;
    return request->decision == PORTARIUM_DECISION_APPROVED &&
                   self->facts.approver_count + 1 < self->needed
               ? collect(self, err)
               : resolve(self, err);
}

/* ---- asking again ---------------------------------------------------------------------------- */

static mcp_status forget_decisions(portarium_tx *tx, const char *approval, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(approval) };
    return db_defer(tx->session, MCP_OK,
                    "DELETE FROM approval_decisions WHERE workspace = $1 AND approval_id = $2",
                    values, 2, err);
}

/* The run is no longer blocked by the changes that were asked for. One that a person holds, or that
 * has an unknown outcome, stays held. */
static mcp_status unblock(portarium_tx *tx, const char *id, const char *approval, mcp_error *err)
{
    portarium_run run;
    bool is_unknown = false;
    const mcp_json *patch = NULL, *hidden = NULL;
    mcp_status st = id ? portarium_run_load(&run, tx, id, err) : MCP_OK;
    if (st != MCP_OK || !id)
        return st;
    const char *by = mcp_json_get_string(run.record.hidden, "heldBy");
    for (size_t i = 0; i < run.action_count + run.hook_count; i++)
        is_unknown = is_unknown || portarium_action_is_unknown(&run.actions[i]);
    if (by && strcmp(by, approval) == 0) {
        st = portarium_object(tx, &hidden, err, "heldBy",
                              is_unknown ? "unknown-outcome" : portarium_null, NULL);
        if (st == MCP_OK)
            st = portarium_object(tx, &patch, err, "controlState",
                                  is_unknown ? NULL : portarium_null, NULL);
        if (st == MCP_OK)
            st = portarium_record_patch(&run.record, tx, &portarium_runs, patch, hidden, err);
    }
    return st == MCP_OK ? portarium_run_due(&run, tx, 0, err) : st;
}

static bool has_text(const mcp_json *list, const char *text)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        if (strcmp(mcp_json_string(mcp_json_item(list, i), NULL), text) == 0)
            return true;
    }
    return false;
}

/* Who resubmits asks for the approval, too, and may not decide it: the hidden document names them
 * all. @param out a patch of it */
static mcp_status add_resubmitter(const mcp_json **out, const portarium_record *approval,
                                  portarium_tx *tx, mcp_error *err)
{
    const char *people[] = { tx->actor->subject, tx->actor->owner };
    const mcp_json *known = mcp_json_get(approval->hidden, "resubmitters");
    size_t count = mcp_json_count(known);
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_write_member_array(&draft.json, "resubmitters");
    for (size_t i = 0; i < count; i++)
        mcp_write_value(&draft.json, mcp_json_item(known, i));
    for (size_t i = 0; i < sizeof people / sizeof people[0]; i++) {
        if (people[i] && !has_text(known, people[i])) {
            mcp_write_string(&draft.json, people[i]);
            count++;
        }
    }
    mcp_write_end(&draft.json);
    if (count <= RESUBMITTERS)
        return portarium_draft_read(&draft, tx, out, err);
    portarium_draft_clear(&draft);
    return mcp_error_set(
        err, MCP_E_EXISTS,
        "Approval %s was resubmitted by %d people; cancel its run and start another.", approval->id,
        RESUBMITTERS);
}

/* @param subject members of the new subject; NULL: it is the same */
static mcp_status ask_again(portarium_record *approval, portarium_tx *tx,
                            const portarium_resubmission *request, const mcp_json *subject,
                            mcp_error *err)
{
    const mcp_json *removed = NULL, *patch = NULL, *hidden = NULL;
    mcp_status st = portarium_object(tx, &removed, err, "decisions", portarium_null, "decidedAtIso",
                                     portarium_null, "decidedByUserId", portarium_null, "rationale",
                                     portarium_null, "feedback", portarium_null, "inputs",
                                     portarium_null, NULL);
    if (st == MCP_OK)
        st = portarium_object(tx, &patch, err, "resubmissionNote", request->note, "prompt",
                              request->prompt, "planId", request->plan, NULL);
    if (st == MCP_OK)
        st = portarium_assign(tx, &approval->json, approval->json, removed, err);
    if (st == MCP_OK && subject)
        st = portarium_assign(tx, &patch, subject, patch, err);
    if (st == MCP_OK)
        st = add_resubmitter(&hidden, approval, tx, err);
    return st == MCP_OK ? portarium_approval_become(approval, tx, PORTARIUM_APPROVAL_PENDING, patch,
                                                    hidden, err)
                        : st;
}

/* Its time was over while the changes were made: nobody could decide it any more. */
static mcp_status expire_late(portarium_record *approval, portarium_tx *tx, mcp_error *err)
{
    mcp_status st = portarium_approval_expire(approval, tx, "nobody has decided in time", err);
    return st == MCP_OK
               ? unblock(tx, mcp_json_get_string(approval->json, "runId"), approval->id, err)
               : st;
}

mcp_status portarium_resubmit(portarium_record *out, portarium_tx *tx,
                              const portarium_resubmission *request, mcp_error *err)
{
    portarium_record plan;
    const portarium_actor *actor = tx->actor;
    const mcp_json *subject = NULL;
    mcp_status st = portarium_record_get(out, tx, &portarium_approvals, request->approval, err);
    if (st != MCP_OK)
        return st;
    const char *agent = mcp_json_get_string(out->json, "agentId");
    if (actor->agent_id && (!agent || strcmp(agent, actor->agent_id) != 0))
        return mcp_error_set(err, MCP_E_DENIED, "Approval %s is not this agent's.", out->id);
    if (portarium_approval_status_of(out) != PORTARIUM_APPROVAL_REQUEST_CHANGES)
        return mcp_error_set(err, MCP_E_EXISTS, "No changes of approval %s are asked for.",
                             out->id);
    if (portarium_approval_moments_at(out->json, tx->now_ms).end_ms <= tx->now_ms)
        return expire_late(out, tx, err);
    if (request->plan)
        st = portarium_record_get(&plan, tx, &portarium_plans, request->plan, err);
    if (st == MCP_OK && request->input)
        st = portarium_gate_rebind(out, tx, request->input, &subject, err);
    if (st == MCP_OK)
        st = ask_again(out, tx, request, subject, err);
    if (st == MCP_OK)
        st = forget_decisions(tx, out->id, err);
    if (st == MCP_OK)
        st = portarium_approval_schedule(out, tx, err);
    if (st == MCP_OK)
        st = portarium_work_item_become(tx, mcp_json_get_string(out->json, "workItemId"),
                                        PORTARIUM_WORK_ITEM_OPEN, err);
    if (st == MCP_OK)
        st = portarium_approval_evidence(out, tx, "Approval", err, "Resubmitted by %s: %.200s",
                                         actor->subject, request->note);
    if (st == MCP_OK)
        st = portarium_approval_event(out, tx, "ApprovalRequested", NULL, err);
    return st == MCP_OK ? unblock(tx, mcp_json_get_string(out->json, "runId"), out->id, err) : st;
}
