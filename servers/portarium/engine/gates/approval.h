/**
 * approval.h - the record of an approval: made, moved from status to status, escalated, expired.
 *
 * An approval belongs to an action of a run, to a whole run (made by a person, without an action),
 * or to a proposal of an agent. Its document is what people see; its hidden document names those
 * who may not decide it ("requesters").
 */
#ifndef PORTARIUM_ENGINE_GATES_APPROVAL_H
#define PORTARIUM_ENGINE_GATES_APPROVAL_H

#include "engine/gates/judge.h"
#include "engine/run.h"

/** The kind of the approvals' timers: its work is portarium_approval_tick. */
#define PORTARIUM_APPROVAL_TIMER "approval"

/** How long after the last step of its escalation chain an approval expires. */
#define PORTARIUM_APPROVAL_LAST_WAIT_MS (4 * INT64_C(3600000))

/** What a new approval has. NULL: none. */
typedef struct portarium_approval_request {
    const char *run, *workflow, *action;
    const char *proposal, *agent;
    const char *plan;
    const char *work_item; /* NULL: one is made, with the title */
    const char *title;
    const char *prompt;
    const char *requested_by;
    const char *owner; /* the person that the requesting agent belongs to */
    const char *hash;  /* of the subject */
    const mcp_json *subject;
    const portarium_judgement *why;
    const mcp_json *form;
    const mcp_json *body; /* assigneeUserId, dueAtIso, escalationChain and approvalPacket of it */
} portarium_approval_request;

/** Store it with status Pending, its work item, its timer, evidence and the event
 *  ApprovalRequested. @param out may be NULL */
mcp_status portarium_approval_create(portarium_record *out, portarium_tx *tx,
                                     const portarium_approval_request *request, mcp_error *err);

/** What will be done, for people. */
typedef struct portarium_plan_request {
    const char *effect; /* the action's id */
    const char *operation;
    const char *sor_name, *port_family, *external_id;
    const char *key;    /* idempotency key */
    const char *run;    /* NULL: none */
    const char *action; /* NULL: none */
} portarium_plan_request;

/** Store a plan of one effect, with the event PlanGenerated. @param id in the arena */
mcp_status portarium_plan_create(const char **id, portarium_tx *tx,
                                 const portarium_plan_request *request, mcp_error *err);

/** The status of an approval's document. */
portarium_approval_status portarium_approval_status_of(const portarium_record *approval);

/**
 * Change its status, and replace other members of its document.
 *
 * @param patch,hidden members to replace; null removes one; NULL: no other change
 * @return MCP_OK; MCP_E_EXISTS: the transition is not legal; statuses of db.h
 */
mcp_status portarium_approval_become(portarium_record *approval, portarium_tx *tx,
                                     portarium_approval_status status, const mcp_json *patch,
                                     const mcp_json *hidden, mcp_error *err);

/** End it as Expired: decided by the transaction's actor, with evidence, the event ApprovalExpired,
 *  its work item closed, and its run woken. One in RequestChanges passes through Pending. */
mcp_status portarium_approval_expire(portarium_record *approval, portarium_tx *tx,
                                     const char *rationale, mcp_error *err);

/** Who or what an approval waits for. */
typedef struct portarium_approval_moments {
    size_t reached;  /* steps of the escalation chain whose time has come, before the end */
    int64_t next_ms; /* the next step, or the end; INT64_MAX: none */
    int64_t end_ms;  /* when it expires; INT64_MAX: never */
} portarium_approval_moments;

/** The moments of an approval's document at a time. Pure. */
portarium_approval_moments portarium_approval_moments_at(const mcp_json *approval, int64_t now_ms);

/** Whether the escalation chain has reached a user. Pure. */
bool portarium_approval_has_reached(const mcp_json *approval, int64_t now_ms, const char *user);

/** Set its timer by its document. */
mcp_status portarium_approval_schedule(const portarium_record *approval, portarium_tx *tx,
                                       mcp_error *err);

/** Its timer has fired: escalate it, or let it expire. */
mcp_status portarium_approval_tick(portarium_tx *tx, const char *id, mcp_error *err);

/** Add an event about an approval. @param data NULL: none */
mcp_status portarium_approval_event(const portarium_record *approval, portarium_tx *tx,
                                    const char *type, const mcp_json *data, mcp_error *err);

/** Add evidence about an approval, by the transaction's actor.
 *  @param category "Approval" or "PolicyViolation" */
mcp_status portarium_approval_evidence(const portarium_record *approval, portarium_tx *tx,
                                       const char *category, mcp_error *err, const char *format,
                                       ...) MCP_PRINTF(5, 6);

#endif
