/**
 * propose.h - actions that agents perform by themselves: proposed, judged, and executed once.
 *
 * What is executed is what was proposed. An execution is a reservation in the approval's hidden
 * document, made in the transaction that moves the approval from Approved to Executing: one caller
 * gets it, performs the tool, and says how it ended. A caller that dies leaves it Executing, for a
 * person to end.
 */
#ifndef PORTARIUM_ENGINE_GATES_PROPOSE_H
#define PORTARIUM_ENGINE_GATES_PROPOSE_H

#include "engine/gates/approval.h"

/** How long the answer to an idempotency key is given again after the proposal has ended, and an
 *  output is kept with its approval for that. */
#define PORTARIUM_PROPOSAL_KEPT_MS (24 * INT64_C(3600000))

/** The timer of an output, whose record is the approval. */
#define PORTARIUM_OUTPUT_TIMER "output"

/** What an agent wants to do. NULL: not given. */
typedef struct portarium_proposal_request {
    const char *agent, *machine;
    const char *kind, *tool;
    const mcp_json *parameters;
    portarium_tier tier;
    const mcp_json *policy_ids;
    const char *rationale;
    const char *key; /* the same proposal again gives the same answer */
    /** The key names an approval: a proposal that needed none, or whose approval has expired, is
     *  judged again. */
    bool is_repeatable;
} portarium_proposal_request;

/** A proposal, and what has become of it. */
typedef struct portarium_proposal {
    portarium_record record;
    portarium_record approval; /* id NULL: none */
    bool is_new;
} portarium_proposal;

/**
 * Propose: Denied by the class Dangerous, by policies or by a budget; NeedsApproval by the classes
 * Mutation and Unknown, or by policies; else Allow. The class is that of the workspace's tool
 * patterns.
 *
 * @return MCP_OK; MCP_E_NOT_FOUND: no such agent; MCP_E_EXISTS: it is quarantined or of another
 *         machine, the key is that of another proposal, or the workspace is frozen and the answer
 *         would be Allow; statuses of db.h
 */
mcp_status portarium_propose(portarium_proposal *out, portarium_tx *tx,
                             const portarium_proposal_request *request, mcp_error *err);

/**
 * Note how an action has ended that was allowed without an approval: evidence with the hashes of
 * its parameters and its output. Once; the same again changes nothing.
 *
 * @param outcome "executed", "failed", "released" or "unknown"
 * @param output,message NULL: none
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_EXISTS: it was not allowed, or another end is noted;
 *         MCP_E_DENIED: it is another agent's; statuses of db.h
 */
mcp_status portarium_proposal_end(portarium_record *out, portarium_tx *tx, const char *proposal,
                                  const char *outcome, const mcp_json *output, const char *message,
                                  mcp_error *err);

/** An execution. Texts in the arena; NULL: none. */
typedef struct portarium_execution {
    const char *id, *approval;
    const char *status; /* "Executing", "Executed" or "Failed" */
    bool is_claimed;    /* the caller is the one that is to perform it */
    const mcp_json *output;
    const char *message;
    /** Policies or budgets deny it meanwhile, and evidence was added: nothing else is set. */
    const char *refusal;
} portarium_execution;

/**
 * Reserve the execution of an approved proposal, or look at the one that there is.
 *
 * @param payload NULL: what was proposed
 * @return MCP_OK; MCP_E_NOT_FOUND; MCP_E_EXISTS: it is not approved, is of no proposal, is not
 *         what was proposed, its agent is quarantined, or the workspace is frozen; MCP_E_DENIED: the
 *         caller has decided it, or is another agent; statuses of db.h
 */
mcp_status portarium_execute(portarium_execution *out, portarium_tx *tx, const char *approval,
                             const char *flow, const mcp_json *payload, mcp_error *err);

/** How an execution has ended. */
typedef enum portarium_execution_end {
    PORTARIUM_EXECUTION_DONE,
    PORTARIUM_EXECUTION_FAILED,  /* it was begun, and has failed */
    PORTARIUM_EXECUTION_RELEASED /* it certainly did not happen: the approval is Approved again */
} portarium_execution_end;

/**
 * End an execution. The same end again changes nothing.
 *
 * @param output,message NULL: none
 * @return as portarium_execute; MCP_E_EXISTS: there is no such execution under way
 */
mcp_status portarium_execution_finish(portarium_execution *out, portarium_tx *tx,
                                      const char *approval, const char *execution,
                                      portarium_execution_end end, const mcp_json *output,
                                      const char *message, mcp_error *err);

/** A day has passed: remove the output of an execution. Evidence keeps it as a payload, as long as
 *  payloads are kept. @return MCP_OK; statuses of db.h */
mcp_status portarium_execution_forget(portarium_tx *tx, const char *approval, mcp_error *err);

#endif
