/**
 * decide.h - decisions of approvals: who may decide, for what, and what follows.
 *
 * The checks have the order of spec 5.5: the approval is there and Pending; maker-checker;
 * separation of duties; the assignee; the subject; the answers. The decision, its evidence, its
 * event, the work item and the wake of the run are one transaction.
 *
 * Two deciders at once: commands of a workspace hold its head row, so the second one reads the
 * status that the first has written, and the record's revision is compared when it is stored.
 * kit/approvals would keep status and decision in columns besides the document, and the two could
 * differ.
 */
#ifndef PORTARIUM_ENGINE_GATES_DECIDE_H
#define PORTARIUM_ENGINE_GATES_DECIDE_H

#include "engine/gates/approval.h"

/** A decision of the transaction's actor. NULL: not given. */
typedef struct portarium_decision_request {
    const char *approval; /* id */
    portarium_decision decision;
    const char *rationale;
    const char *subject_hash; /* that the decider saw */
    const mcp_json *feedback;
    const mcp_json *inputs; /* answers to the approval's form */
} portarium_decision_request;

/** What became of it. */
typedef struct portarium_decided {
    portarium_record approval;
    const char *refusal; /* the decision does not count, and what was written is to be kept; NULL:
                          * it counts */
    bool is_forbidden;   /* refusal: it violates a duty; otherwise it came too late */
} portarium_decided;

/**
 * Decide. An approval that needs several approvers stays Pending until enough have approved.
 *
 * @param fields what is wrong with the inputs
 * @return MCP_OK: see `refusal`; MCP_E_NOT_FOUND; MCP_E_EXISTS: decided already, or the subject is
 *         another; MCP_E_DENIED: another is to decide; MCP_E_SCHEMA: the inputs; statuses of db.h
 */
mcp_status portarium_decide(portarium_decided *out, portarium_tx *tx,
                            const portarium_decision_request *request, portarium_fields *fields,
                            mcp_error *err);

/** The answer to RequestChanges. NULL: unchanged. */
typedef struct portarium_resubmission {
    const char *approval;
    const char *note;
    const char *prompt, *plan;
    const mcp_json *input; /* of the gated action: makes a new plan and another subject */
} portarium_resubmission;

/**
 * Ask again: RequestChanges becomes Pending, without the decisions so far; or Expired, where its
 * time is over.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_EXISTS: it is not in RequestChanges; MCP_E_DENIED: it is
 *         another agent's; MCP_E_PARAMS: an input where no action is gated; statuses of db.h
 */
mcp_status portarium_resubmit(portarium_record *out, portarium_tx *tx,
                              const portarium_resubmission *request, mcp_error *err);

#endif
