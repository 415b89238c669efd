/*
 * offers.c - work that agents fetch: what there is, claims by lease, results.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/attempt.h"
#include "engine/offer.h"
#include "engine/work.h"
#include "fault/fault.h"
#include "model/identity.h"
#include "service/fleet/fleet.h"
#include "service/operations.h"

enum { ITEMS_MAX = 50 };

/* ---- what there is --------------------------------------------------------------------------- */

/* The agent of the path. An agent's token is for that agent alone. */
static mcp_status get_agent(portarium_record *out, portarium_tx *tx,
                            const portarium_request *request, mcp_error *err)
{
    const char *id = portarium_argument(request, "agentId");
    const char *own = request->actor->agent_id;
    if (own && strcmp(own, id) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "The token is of another agent.");
    return portarium_record_get(out, tx, &portarium_agents, id, err);
}

static mcp_status write_offers(mcp_json_writer *json, size_t *count, portarium_tx *tx,
                               const char *capability, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(capability), db_int(ITEMS_MAX) };
    mcp_status st = db_query(
        &rows, tx->session,
        "SELECT w.json FROM work_item_links c JOIN work_items w ON w.workspace = c.workspace AND "
        "w.id = c.work_item_id JOIN work_item_links l ON l.workspace = w.workspace AND "
        "l.kind = 'action' AND l.work_item_id = w.id JOIN run_actions a ON a.workspace = "
        "w.workspace AND a.id = l.ref WHERE c.workspace = $1 AND c.kind = 'capability' AND "
        "c.ref = $2 AND a.state = 'Running' AND a.lease_until IS NULL ORDER BY w.created_at, w.id "
        "LIMIT $3",
        values, 3, err);
    while (portarium_next(rows, &st, err) && *count < ITEMS_MAX) {
        size_t length = 0;
        const char *text = db_text_at(rows, 0, &length);
        mcp_write_raw(json, text, length);
        ++*count;
    }
    db_rows_free(rows);
    return st;
}

static mcp_status list_offers(portarium_tx *tx, const portarium_request *request,
                              portarium_reply *reply, mcp_error *err)
{
    portarium_record agent;
    portarium_draft draft;
    size_t count = 0;
    mcp_status st = get_agent(&agent, tx, request, err);
    if (st != MCP_OK)
        return st;
    bool is_quarantined = mcp_json_get(agent.json, "quarantinedAtIso") != NULL;
    const mcp_json *list = mcp_json_get(agent.json, "capabilities");
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "agentId", agent.id);
    mcp_write_member_array(&draft.json, "items");
    for (size_t i = 0; st == MCP_OK && !is_quarantined && i < mcp_json_count(list); i++)
        st = write_offers(&draft.json, &count, tx, mcp_json_string(mcp_json_item(list, i), NULL),
                          err);
    mcp_write_end(&draft.json);
    if (st != MCP_OK) {
        portarium_draft_clear(&draft);
        return st;
    }
    if (count == 0) {
        reply->may_change = true;
        reply->state = "none";
    }
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

/* ---- claims ---------------------------------------------------------------------------------- */

/* An offer, with the run and the action that it is of, and who holds it. */
typedef struct claim {
    portarium_record agent, item;
    portarium_run run;
    portarium_run_action *action;
    const char *owner;  /* of the lease; NULL: nobody */
    const char *holder; /* how this agent is named as an owner */
} claim;

static mcp_status read_owner(claim *self, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(self->action->record.id) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT lease_owner FROM run_actions WHERE workspace = $1 AND id = $2",
                             values, 2, err);
    if (portarium_next(rows, &st, err) && !db_null_at(rows, 0))
        self->owner = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
    db_rows_free(rows);
    return st;
}

static mcp_status read_claim(claim *self, portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    *self = (claim){ .action = NULL };
    if (!request->actor->agent_id)
        return portarium_refuse(reply, tx, err, 403, "Work is claimed by a token of the agent.");
    mcp_status st = get_agent(&self->agent, tx, request, err);
    if (st == MCP_OK)
        st = portarium_record_get(&self->item, tx, &portarium_work_items,
                                  portarium_argument(request, "workItemId"), err);
    const char *run = st == MCP_OK ? mcp_json_get_string(self->item.hidden, "runId") : NULL;
    if (st == MCP_OK && !run)
        return portarium_refuse(reply, tx, err, 409, "Work item %.128s is not offered to agents.",
                                self->item.id);
    if (st == MCP_OK)
        st = portarium_run_load(&self->run, tx, run, err);
    if (st != MCP_OK)
        return st;
    self->action = portarium_run_action_find(&self->run,
                                             mcp_json_get_string(self->item.hidden, "actionId"));
    self->holder = mcp_arena_printf(tx->arena, "agent:%s", self->agent.id);
    if (!self->action)
        return mcp_error_set(err, MCP_E_INTERNAL, "work item %s has no action", self->item.id);
    return read_owner(self, tx, err);
}

static bool has_capability(const portarium_record *of, const char *capability)
{
    const mcp_json *list = mcp_json_get(of->json, "capabilities");
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        if (strcmp(mcp_json_string(mcp_json_item(list, i), NULL), capability) == 0)
            return true;
    }
    return false;
}

/* Whether the agent may begin this work now. */
static mcp_status judge(claim *self, portarium_tx *tx, portarium_reply *reply, mcp_error *err)
{
    portarium_record machine;
    const char *capability = portarium_offer_capability(self->action->definition);
    const char *offer = mcp_json_get_string(self->action->record.hidden, "offer");
    mcp_status st = portarium_record_get(&machine, tx, &portarium_machines,
                                         mcp_json_get_string(self->agent.json, "machineId"), err);
    if (st != MCP_OK)
        return st;
    if (mcp_json_get(self->agent.json, "quarantinedAtIso"))
        return portarium_refuse(reply, tx, err, 403, "The agent is quarantined.");
    if (!portarium_is_active(&machine))
        return portarium_refuse(reply, tx, err, 409, "The agent's machine is inactive.");
    if (!has_capability(&self->agent, capability) || !has_capability(&machine, capability))
        return portarium_refuse(reply, tx, err, 403, "The work needs the capability %s.",
                                capability);
    if (tx->head.is_frozen || portarium_run_is_held(&self->run))
        return portarium_refuse(reply, tx, err, 409, "Nothing of the run is dispatched now.");
    if (self->action->state != PORTARIUM_ACTION_RUNNING || !offer ||
        strcmp(offer, self->item.id) != 0)
        return portarium_refuse(reply, tx, err, 409, "The work is not offered any more.");
    if (self->owner && strcmp(self->owner, self->holder) != 0)
        return portarium_refuse(reply, tx, err, 409, "Another agent has claimed the work.");
    return MCP_OK;
}

static int64_t claim_ms(void)
{
    return fault_lease_ms() > 0 ? fault_lease_ms() : PORTARIUM_CLAIM_MS;
}

/* Hold the action from now on. @param rise 1: a new lease; 0: the same one */
static mcp_status hold(claim *self, portarium_tx *tx, int64_t rise, mcp_error *err)
{
    db_value values[] = { db_text(tx->workspace), db_text(self->action->record.id),
                          db_text(self->holder), db_int(tx->now_ms + claim_ms()), db_int(rise) };
    self->action->fence += rise;
    tx->after.changes_timers = true;
    return db_run(tx->session, NULL,
                  "UPDATE run_actions SET lease_owner = $3, lease_until = $4, fence = fence + $5 "
                  "WHERE workspace = $1 AND id = $2",
                  values, 5, err);
}

static mcp_status answer(const claim *self, portarium_tx *tx, portarium_reply *reply,
                         mcp_error *err)
{
    portarium_draft draft;
    char until[MCP_CLOCK_UTC_SIZE];
    const mcp_json *input = mcp_json_get(self->item.hidden, "input");
    portarium_time_write(until, tx->now_ms + claim_ms());
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "workItemId", self->item.id);
    mcp_write_member_string(&draft.json, "agentId", self->agent.id);
    mcp_write_member_string(&draft.json, "leaseId",
                            mcp_arena_printf(tx->arena, "lease-%" PRId64, self->action->fence));
    mcp_write_member_string(&draft.json, "leaseUntilIso", until);
    mcp_write_member_string(&draft.json, "runId", self->run.record.id);
    mcp_write_member_string(&draft.json, "actionId", self->action->id);
    mcp_write_member_string(&draft.json, "operation", self->action->definition->operation);
    mcp_write_member_string(
        &draft.json, "idempotencyKey",
        mcp_arena_printf(tx->arena, "%s:%s", self->run.record.id, self->action->id));
    if (input)
        mcp_write_member_value(&draft.json, "input", input);
    return portarium_reply_draft(reply, tx, 200, &draft, err);
}

static mcp_status claim_work(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    claim self;
    mcp_status st = read_claim(&self, tx, request, reply, err);
    if (st == MCP_OK)
        st = judge(&self, tx, reply, err);
    if (st != MCP_OK)
        return st;
    bool is_new = !self.owner;
    st = hold(&self, tx, is_new, err);
    if (st == MCP_OK && is_new)
        st = portarium_run_evidence(&self.run, tx, "Action", err, "Action %s claimed by agent %s",
                                    self.action->id, self.agent.id);
    if (st == MCP_OK)
        st = portarium_work_item_become(tx, self.item.id, PORTARIUM_WORK_ITEM_IN_PROGRESS, err);
    FAULT_POINT("claim-made");
    return st == MCP_OK ? answer(&self, tx, reply, err) : st;
}

/* ---- results --------------------------------------------------------------------------------- */

/* The lease that the body names is this agent's, and the last one of the action. */
static bool is_held(const claim *self, portarium_tx *tx, const portarium_request *request)
{
    const char *lease = mcp_arena_printf(tx->arena, "lease-%" PRId64, self->action->fence);
    const char *given = portarium_body_string(request, "leaseId");
    return lease && given && strcmp(lease, given) == 0 && self->owner &&
           strcmp(self->owner, self->holder) == 0 &&
           self->action->state == PORTARIUM_ACTION_RUNNING;
}

static mcp_status renew_work(portarium_tx *tx, const portarium_request *request,
                             portarium_reply *reply, mcp_error *err)
{
    claim self;
    mcp_status st = read_claim(&self, tx, request, reply, err);
    if (st == MCP_OK && !is_held(&self, tx, request))
        return portarium_refuse(reply, tx, err, 409, "The lease is lost.");
    if (st == MCP_OK)
        st = hold(&self, tx, 0, err);
    return st == MCP_OK ? answer(&self, tx, reply, err) : st;
}

/* A result under a lost lease is kept as evidence, and changes nothing. */
static mcp_status end_work(portarium_tx *tx, const portarium_request *request,
                           portarium_reply *reply, const portarium_result *result, mcp_error *err)
{
    claim self;
    bool is_done = result->outcome == PORTARIUM_OUTCOME_DONE;
    mcp_status st = read_claim(&self, tx, request, reply, err);
    if (st != MCP_OK)
        return st;
    if (!is_held(&self, tx, request)) {
        st = portarium_attempt_end(&self.run, self.action->id, -1, result, tx, err);
        return st == MCP_OK ? portarium_refuse_kept(reply, tx, err, 409, "The lease is lost.") : st;
    }
    st = portarium_attempt_end(&self.run, self.action->id, self.action->fence, result, tx, err);
    if (st == MCP_OK)
        st = portarium_offer_end(
            tx, self.item.id, is_done ? PORTARIUM_WORK_ITEM_RESOLVED : PORTARIUM_WORK_ITEM_CLOSED,
            err);
    if (st == MCP_OK)
        st = portarium_run_due(&self.run, tx, 0, err);
    if (st == MCP_OK)
        st = portarium_record_get(&self.item, tx, &portarium_work_items, self.item.id, err);
    FAULT_POINT("work-made");
    return st == MCP_OK ? portarium_reply_json(reply, tx, 200, self.item.json, err) : st;
}

static mcp_status complete_work(portarium_tx *tx, const portarium_request *request,
                                portarium_reply *reply, mcp_error *err)
{
    const portarium_result result = { .outcome = PORTARIUM_OUTCOME_DONE,
                                      .output = mcp_json_get(request->body, "output") };
    return end_work(tx, request, reply, &result, err);
}

static mcp_status fail_work(portarium_tx *tx, const portarium_request *request,
                            portarium_reply *reply, mcp_error *err)
{
    portarium_result result = { .outcome = PORTARIUM_OUTCOME_FAILED,
                                .error_class = PORTARIUM_CLASS_UNKNOWN };
    portarium_error_class_read(&result.error_class, portarium_body_string(request, "errorClass"));
    snprintf(result.message, sizeof result.message, "%s",
             portarium_body_string(request, "message"));
    return end_work(tx, request, reply, &result, err);
}

/* clang-format off */
#define WORK "/agents/{agentId}/work-items/{workItemId}/"
const portarium_operation portarium_offer_operations[] = {
    { "listAgentWork", "GET", "/agents/{agentId}/work-items", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_AGENTS | PORTARIUM_WAITS, PORTARIUM_NO_BODY, "WorkItem",
      "the work that an agent may claim", list_offers },
    { "claimWork", "POST", WORK "claim", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS, PORTARIUM_NO_BODY, NULL,
      "claim work for 60 seconds", claim_work },
    { "renewWork", "POST", WORK "renew", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS, PORTARIUM_SHAPE_LeaseCompletion, NULL,
      "hold a claim for 60 seconds more", renew_work },
    { "completeWork", "POST", WORK "complete", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS, PORTARIUM_SHAPE_LeaseCompletion, "WorkItem",
      "say that claimed work is done", complete_work },
    { "failWork", "POST", WORK "fail", PORTARIUM_MAY_HEARTBEAT,
      PORTARIUM_COMMAND | PORTARIUM_AGENTS, PORTARIUM_SHAPE_LeaseFailure, "WorkItem",
      "say that claimed work has failed", fail_work },
    { 0 },
};
/* clang-format on */
