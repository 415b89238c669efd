/**
 * control.h - what people do to runs: cancel, intervene, say what has happened, freeze.
 *
 * Each function is a part of the caller's transaction, with the transaction's actor.
 */
#ifndef PORTARIUM_ENGINE_CONTROL_H
#define PORTARIUM_ENGINE_CONTROL_H

#include "engine/run.h"
#include "model/interventions.h"

/**
 * Cancel a run and undo it: its actions become Cancelled and its approvals, tasks and work items
 * end, as by portarium_run_cancel. The run is Running until the compensations of the actions that
 * have succeeded have ended, and has a member `cancellation`; then it is Cancelled. Where there is
 * nothing to undo it is Cancelled at once. Cancelling it again without compensation stops it.
 *
 * @return MCP_OK; MCP_E_EXISTS: it has ended otherwise, has failed and is undone already, or has an
 *         unknown outcome, so that it is not known what to undo; statuses of db.h
 */
mcp_status portarium_run_cancel_and_undo(portarium_run *run, portarium_tx *tx,
                                         const char *rationale, mcp_error *err);

/**
 * Cancel a run: it and its actions become Cancelled, its undecided approvals expire, its human
 * tasks and work items end. Attempts in flight are asked to stop; what they still report is stored
 * as evidence and changes nothing. Nothing happens to a run that is Cancelled already.
 *
 * @param rationale NULL: none
 * @return MCP_OK; MCP_E_EXISTS: it has ended otherwise; statuses of db.h
 */
mcp_status portarium_run_cancel(portarium_run *run, portarium_tx *tx, const char *rationale,
                                mcp_error *err);

/** An intervention. Strings are borrowed. */
typedef struct portarium_intervention {
    const char *type;
    const char *rationale;
    const char *target;   /* NULL: none */
    const mcp_json *body; /* the request, stored as a payload of the evidence */
} portarium_intervention;

/**
 * Intervene in a run: judged by model/interventions.h with the actor's roles.
 *
 * @param verdict other than DONE: nothing has changed
 * @return MCP_OK, whatever the verdict; MCP_E_EXISTS: `resume` while the outcome of an action is
 *         unknown; statuses of db.h
 */
mcp_status portarium_run_intervene(portarium_intervention_verdict *verdict, portarium_run *run,
                                   portarium_tx *tx, const portarium_intervention *what,
                                   mcp_error *err);

/** What a person has found out about an action whose outcome is unknown. */
typedef struct portarium_resolution {
    const char *outcome; /* "retry", "succeeded" or "failed" */
    const char *rationale;
    const mcp_json *output; /* NULL: none */
} portarium_resolution;

/**
 * Resolve an unknown outcome. The run continues, unless another outcome is unknown or a person has
 * paused it.
 *
 * @return MCP_OK; MCP_E_EXISTS: the outcome is known; statuses of db.h
 */
mcp_status portarium_run_resolve(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                                 const portarium_resolution *what, mcp_error *err);

/**
 * Freeze or unfreeze the workspace: while it is frozen nothing is dispatched; what runs may end.
 *
 * @param out the workspace's record, with `frozen`
 */
mcp_status portarium_workspace_freeze(portarium_record *out, portarium_tx *tx, bool is_frozen,
                                      const char *rationale, mcp_error *err);

#endif
