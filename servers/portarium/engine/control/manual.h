/**
 * manual.h - human tasks: who does them, and the signal that one is done.
 */
#ifndef PORTARIUM_ENGINE_MANUAL_H
#define PORTARIUM_ENGINE_MANUAL_H

#include "engine/run.h"

/** A manual completion signal. */
typedef struct portarium_completion {
    const char *token;    /* of the human task */
    const char *outcome;  /* "Succeeded", "Failed" or "Cancelled" */
    const mcp_json *body; /* the signal; its `notes` and `evidenceRefs` become the output */
} portarium_completion;

/**
 * Complete an action that a person does. The same signal again changes nothing.
 *
 * @return MCP_OK; MCP_E_DENIED: the token is another action's; MCP_E_EXISTS: the action does not
 *         wait for a person, or was completed with another outcome; statuses of db.h
 */
mcp_status portarium_manual_complete(portarium_run *run, portarium_run_action *action,
                                     portarium_tx *tx, const portarium_completion *what,
                                     mcp_error *err);

/** Assign a human task and its work item. @param assignee NULL: nobody @return MCP_E_EXISTS: it is
 *  completed */
mcp_status portarium_manual_assign(portarium_record *task, portarium_tx *tx, const char *assignee,
                                   mcp_error *err);

/** Escalate a human task. @return MCP_E_EXISTS: it is completed or escalated already */
mcp_status portarium_manual_escalate(portarium_record *task, portarium_tx *tx,
                                     const char *rationale, mcp_error *err);

/** Set the timer of a work item's time limit again, as its `sla` says. @param item as changed */
mcp_status portarium_manual_schedule(const portarium_record *item, portarium_tx *tx,
                                     mcp_error *err);

/** The time limit of a work item has come: its human task is escalated, unless it is completed or
 *  escalated already. For engine/timers.h. */
mcp_status portarium_manual_tick(portarium_tx *tx, const char *item, mcp_error *err);

#endif
