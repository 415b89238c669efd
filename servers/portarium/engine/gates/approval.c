/*
 * approval.c - documents of approvals and plans, and their timers.
 */
#include "engine/gates/approval.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/timers.h"
#include "engine/work.h"
#include "fault/fault.h"
#include "model/identity.h"
#include "store/journal.h"

enum { SUMMARY_MAX = 400, HOUR_MS = 3600000 };

static void write_known(mcp_json_writer *json, const char *name, const char *value)
{
    if (value)
        mcp_write_member_string(json, name, value);
}

/* ---- evidence and events --------------------------------------------------------------------- */

mcp_status portarium_approval_event(const portarium_record *approval, portarium_tx *tx,
                                    const char *type, const mcp_json *data, mcp_error *err)
{
    const portarium_event event = { .type = type,
                                    .kind = "approval",
                                    .id = approval->id,
                                    .run_id = mcp_json_get_string(approval->json, "runId"),
                                    .action_id = mcp_json_get_string(approval->json, "actionId"),
                                    .data = data };
    return portarium_event_add(tx, &event, err);
}

mcp_status portarium_approval_evidence(const portarium_record *approval, portarium_tx *tx,
                                       const char *category, mcp_error *err, const char *format,
                                       ...)
{
    char summary[SUMMARY_MAX];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(summary, sizeof summary, format, arguments);
    va_end(arguments);
    const portarium_evidence entry = {
        .category = category,
        .summary = summary,
        .run_id = mcp_json_get_string(approval->json, "runId"),
        .plan_id = mcp_json_get_string(approval->json, "planId"),
        .work_item_id = mcp_json_get_string(approval->json, "workItemId"),
        .approval_id = approval->id,
    };
    return portarium_evidence_add(tx, &entry, err);
}

/* ---- plans ----------------------------------------------------------------------------------- */

mcp_status portarium_plan_create(const char **id, portarium_tx *tx,
                                 const portarium_plan_request *request, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *json = NULL;
    mcp_status st = portarium_id_new(id, "plan-", tx->arena, err);
    if (st != MCP_OK)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "schemaVersion", 1);
    mcp_write_member_string(&draft.json, "planId", *id);
    mcp_write_member_string(&draft.json, "workspaceId", tx->workspace);
    mcp_write_member_string(&draft.json, "createdAtIso", tx->now);
    mcp_write_member_string(&draft.json, "createdByUserId", tx->actor->subject);
    mcp_write_member_array(&draft.json, "plannedEffects");
    mcp_write_object(&draft.json);
    mcp_write_member_string(&draft.json, "effectId", request->effect);
    mcp_write_member_string(&draft.json, "operation", "Update");
    mcp_write_member_object(&draft.json, "target");
    mcp_write_member_string(&draft.json, "sorName", request->sor_name);
    mcp_write_member_string(&draft.json, "portFamily", request->port_family);
    mcp_write_member_string(&draft.json, "externalId", request->external_id);
    mcp_write_member_string(&draft.json, "externalType", request->operation);
    mcp_write_end(&draft.json);
    mcp_write_member_string(&draft.json, "summary", request->operation);
    mcp_write_member_string(&draft.json, "idempotencyKey", request->key);
    mcp_write_end(&draft.json);
    mcp_write_end(&draft.json);
    st = portarium_draft_read(&draft, tx, &json, err);
    if (st == MCP_OK)
        st = portarium_record_make(NULL, tx, &portarium_plans, *id, json, NULL, err);
    const portarium_event event = { .type = "PlanGenerated",
                                    .kind = "plan",
                                    .id = *id,
                                    .run_id = request->run,
                                    .action_id = request->action };
    return st == MCP_OK ? portarium_event_add(tx, &event, err) : st;
}

/* ---- making one ------------------------------------------------------------------------------ */

static void write_why(mcp_json_writer *json, const portarium_judgement *why)
{
    if (!why)
        return;
    mcp_write_member_object(json, "raisedBy");
    write_known(json, "policyId", why->policy_id);
    write_known(json, "ruleId", why->rule_id);
    write_known(json, "reason", why->reason);
    mcp_write_end(json);
}

static void write_asked(mcp_json_writer *json, const mcp_json *body)
{
    static const char *const names[] = { "assigneeUserId", "escalationChain", "approvalPacket" };
    if (mcp_json_get(body, "dueAtIso"))
        portarium_time_copy(json, "dueAtIso", mcp_json_get(body, "dueAtIso"));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (mcp_json_get(body, names[i]))
            mcp_write_member_value(json, names[i], mcp_json_get(body, names[i]));
    }
}

static mcp_status write_document(const mcp_json **out, portarium_tx *tx, const char *id,
                                 const char *item, const portarium_approval_request *request,
                                 mcp_error *err)
{
    portarium_draft draft;
    portarium_draft_object(&draft);
    mcp_json_writer *json = &draft.json;
    mcp_write_member_int(json, "schemaVersion", 1);
    mcp_write_member_string(json, "approvalId", id);
    mcp_write_member_string(json, "workspaceId", tx->workspace);
    write_known(json, "runId", request->run);
    write_known(json, "planId", request->plan);
    write_known(json, "workItemId", item);
    write_known(json, "actionId", request->action);
    write_known(json, "proposalId", request->proposal);
    write_known(json, "agentId", request->agent);
    mcp_write_member_string(json, "prompt", request->prompt);
    mcp_write_member_string(json, "requestedAtIso", tx->now);
    mcp_write_member_string(json, "requestedByUserId", request->requested_by);
    mcp_write_member_string(json, "status",
                            portarium_approval_status_text(PORTARIUM_APPROVAL_PENDING));
    write_known(json, "subjectHash", request->hash);
    if (request->subject)
        mcp_write_member_value(json, "subject", request->subject);
    write_why(json, request->why);
    if (request->form)
        mcp_write_member_value(json, "approvalForm", request->form);
    write_asked(json, request->body);
    return portarium_draft_read(&draft, tx, out, err);
}

mcp_status portarium_approval_create(portarium_record *out, portarium_tx *tx,
                                     const portarium_approval_request *request, mcp_error *err)
{
    portarium_record approval;
    const mcp_json *json = NULL, *hidden = NULL;
    const char *id = NULL, *item = request->work_item;
    const portarium_judgement *why = request->why;
    const char *reason = why && why->reason ? why->reason : "asked for by a person";
    mcp_status st = portarium_id_new(&id, "apr-", tx->arena, err);
    const portarium_work_links links = {
        .run = request->run, .workflow = request->workflow, .approval = id, .agent = request->agent
    };
    if (st == MCP_OK && !item)
        st = portarium_work_item_create(&item, tx, request->title, NULL, &links, err);
    else if (st == MCP_OK)
        st = portarium_work_item_link(tx, item, id, err);
    if (st == MCP_OK)
        st = write_document(&json, tx, id, item, request, err);
    if (st == MCP_OK)
        st = portarium_object(tx, &hidden, err, "owner", request->owner, NULL);
    if (st == MCP_OK)
        st = portarium_record_make(&approval, tx, &portarium_approvals, id, json, hidden, err);
    if (st == MCP_OK)
        st = portarium_approval_schedule(&approval, tx, err);
    const portarium_evidence entry = {
        .category = "Approval",
        .summary = mcp_arena_printf(tx->arena, "Approval requested: %.200s", reason),
        .by = request->body ? PORTARIUM_BY_ACTOR : PORTARIUM_BY_SYSTEM,
        .run_id = request->run,
        .plan_id = request->plan,
        .work_item_id = item,
        .approval_id = id,
    };
    if (st == MCP_OK)
        st = portarium_evidence_add(tx, &entry, err);
    if (st == MCP_OK)
        st = portarium_approval_event(&approval, tx, "ApprovalRequested", NULL, err);
    FAULT_POINT("gate-made");
    if (st == MCP_OK && out)
        *out = approval;
    return st;
}

/* ---- moving it ------------------------------------------------------------------------------- */

portarium_approval_status portarium_approval_status_of(const portarium_record *approval)
{
    portarium_approval_status status = PORTARIUM_APPROVAL_EXPIRED;
    const char *text = mcp_json_get_string(approval->json, "status");
    if (text)
        portarium_approval_status_read(&status, text);
    return status;
}

mcp_status portarium_approval_become(portarium_record *approval, portarium_tx *tx,
                                     portarium_approval_status status, const mcp_json *patch,
                                     const mcp_json *hidden, mcp_error *err)
{
    const mcp_json *json = approval->json, *change = NULL;
    portarium_approval_status now = portarium_approval_status_of(approval);
    if (now != status && !portarium_approval_may_become(now, status))
        return mcp_error_set(err, MCP_E_EXISTS, "Approval %s is %s and cannot become %s.",
                             approval->id, portarium_approval_status_text(now),
                             portarium_approval_status_text(status));
    mcp_status st = portarium_object(tx, &change, err, "status",
                                     portarium_approval_status_text(status), NULL);
    if (st == MCP_OK && patch)
        st = portarium_assign(tx, &json, json, patch, err);
    if (st == MCP_OK)
        st = portarium_assign(tx, &json, json, change, err);
    if (st == MCP_OK && hidden)
        st = portarium_record_patch(approval, tx, &portarium_approvals, NULL, hidden, err);
    return st == MCP_OK ? portarium_record_replace(approval, tx, &portarium_approvals, json, err)
                        : st;
}

static mcp_status wake_run(const portarium_record *approval, portarium_tx *tx, mcp_error *err)
{
    portarium_run run = { .action_count = 0 };
    run.record.id = mcp_json_get_string(approval->json, "runId");
    return run.record.id ? portarium_run_due(&run, tx, 0, err) : MCP_OK;
}

mcp_status portarium_approval_expire(portarium_record *approval, portarium_tx *tx,
                                     const char *rationale, mcp_error *err)
{
    const mcp_json *patch = NULL;
    mcp_status st = portarium_object(tx, &patch, err, "decidedAtIso", tx->now, "decidedByUserId",
                                     tx->actor->subject, "rationale", rationale, NULL);
    if (st == MCP_OK &&
        portarium_approval_status_of(approval) == PORTARIUM_APPROVAL_REQUEST_CHANGES)
        st = portarium_approval_become(approval, tx, PORTARIUM_APPROVAL_PENDING, NULL, NULL, err);
    if (st == MCP_OK)
        st = portarium_approval_become(approval, tx, PORTARIUM_APPROVAL_EXPIRED, patch, NULL, err);
    if (st == MCP_OK)
        st = portarium_timer_cancel(tx, PORTARIUM_APPROVAL_TIMER, approval->id, err);
    if (st == MCP_OK)
        st = portarium_work_item_become(tx, mcp_json_get_string(approval->json, "workItemId"),
                                        PORTARIUM_WORK_ITEM_CLOSED, err);
    if (st == MCP_OK)
        st = portarium_approval_evidence(approval, tx, "Approval", err, "Approval expired: %s",
                                         rationale);
    if (st == MCP_OK)
        st = portarium_approval_event(approval, tx, "ApprovalExpired", NULL, err);
    return st == MCP_OK ? wake_run(approval, tx, err) : st;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t requested_ms(const mcp_json *approval)
{
    int64_t at = 0;
    const char *text = mcp_json_get_string(approval, "requestedAtIso");
    if (text)
        portarium_time_read(&at, text);
    return at;
}

static int64_t step_ms(const mcp_json *approval, const mcp_json *step)
{
    double hours = 0;
    mcp_json_double(mcp_json_get(step, "afterHours"), &hours);
    return requested_ms(approval) + (int64_t)(hours * HOUR_MS);
}

portarium_approval_moments portarium_approval_moments_at(const mcp_json *approval, int64_t now_ms)
{
    portarium_approval_moments out = { .next_ms = INT64_MAX, .end_ms = INT64_MAX };
    const mcp_json *chain = mcp_json_get(approval, "escalationChain");
    const char *due = mcp_json_get_string(approval, "dueAtIso");
    size_t count = mcp_json_count(chain);
    if (count > 0)
        out.end_ms = step_ms(approval, mcp_json_item(chain, count - 1)) +
                     PORTARIUM_APPROVAL_LAST_WAIT_MS;
    int64_t due_ms = INT64_MAX;
    if (due && portarium_time_read(&due_ms, due) && due_ms < out.end_ms)
        out.end_ms = due_ms;
    for (size_t i = 0; i < count; i++) {
        int64_t at = step_ms(approval, mcp_json_item(chain, i));
        if (at <= now_ms && at < out.end_ms)
            out.reached = i + 1;
        else if (at < out.next_ms)
            out.next_ms = at;
    }
    if (out.end_ms < out.next_ms)
        out.next_ms = out.end_ms;
    return out;
}

bool portarium_approval_has_reached(const mcp_json *approval, int64_t now_ms, const char *user)
{
    const mcp_json *chain = mcp_json_get(approval, "escalationChain");
    portarium_approval_moments moments = portarium_approval_moments_at(approval, now_ms);
    for (size_t i = 0; i < moments.reached; i++) {
        const char *member = mcp_json_get_string(mcp_json_item(chain, i), "escalateToUserId");
        if (member && strcmp(member, user) == 0)
            return true;
    }
    return false;
}

mcp_status portarium_approval_schedule(const portarium_record *approval, portarium_tx *tx,
                                       mcp_error *err)
{
    portarium_approval_moments moments = portarium_approval_moments_at(approval->json, tx->now_ms);
    return moments.next_ms == INT64_MAX ? MCP_OK
                                        : portarium_timer_set(tx, PORTARIUM_APPROVAL_TIMER,
                                                              approval->id, moments.next_ms, err);
}

/* The steps that were reached since the last look. */
static mcp_status escalate(portarium_record *approval, portarium_tx *tx, size_t reached,
                           mcp_error *err)
{
    int64_t before = 0;
    portarium_draft draft;
    const mcp_json *hidden = NULL;
    const mcp_json *chain = mcp_json_get(approval->json, "escalationChain");
    mcp_status st = MCP_OK;
    mcp_json_int(mcp_json_get(approval->hidden, "escalated"), &before);
    for (size_t i = (size_t)before; st == MCP_OK && i < reached; i++) {
        const mcp_json *step = mcp_json_item(chain, i);
        st = portarium_approval_event(approval, tx, "ApprovalEscalated", step, err);
        if (st == MCP_OK)
            st = portarium_approval_evidence(approval, tx, "Approval", err,
                                             "Approval escalated to %s",
                                             mcp_json_get_string(step, "escalateToUserId"));
    }
    if (st != MCP_OK || reached <= (size_t)before)
        return st;
    portarium_draft_object(&draft);
    mcp_write_member_int(&draft.json, "escalated", (int64_t)reached);
    st = portarium_draft_read(&draft, tx, &hidden, err);
    return st == MCP_OK
               ? portarium_record_patch(approval, tx, &portarium_approvals, NULL, hidden, err)
               : st;
}

mcp_status portarium_approval_tick(portarium_tx *tx, const char *id, mcp_error *err)
{
    portarium_record approval;
    mcp_status st = portarium_record_get(&approval, tx, &portarium_approvals, id, err);
    if (st != MCP_OK || portarium_approval_status_of(&approval) != PORTARIUM_APPROVAL_PENDING)
        return st == MCP_E_NOT_FOUND ? MCP_OK : st;
    portarium_approval_moments moments = portarium_approval_moments_at(approval.json, tx->now_ms);
    st = escalate(&approval, tx, moments.reached, err);
    if (st == MCP_OK && moments.end_ms <= tx->now_ms)
        return portarium_approval_expire(&approval, tx, "nobody has decided in time", err);
    return st == MCP_OK ? portarium_approval_schedule(&approval, tx, err) : st;
}
