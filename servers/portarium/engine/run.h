/**
 * run.h - a run in a transaction: its record, its definition, its actions, and their transitions.
 */
#ifndef PORTARIUM_ENGINE_RUN_H
#define PORTARIUM_ENGINE_RUN_H

#include "model/workflow.h"
#include "store/record.h"

/** An action of a run. */
typedef struct portarium_run_action {
    const char *id;
    const portarium_action *definition;
    portarium_record record;
    portarium_action_state state;
    int64_t fence; /* of its last lease */
} portarium_run_action;

/** A run as its transaction sees it. Everything is in the transaction's arena. */
typedef struct portarium_run {
    portarium_record record;
    portarium_run_status status;
    const portarium_workflow *workflow; /* the version that the run began with */
    portarium_run_action *actions;      /* as the workflow's */
    size_t action_count;
    portarium_run_action *hooks; /* compensating actions, behind the others in the same array */
    size_t hook_count;
} portarium_run;

/** Read a run with its actions. @return MCP_OK; MCP_E_NOT_FOUND; statuses of db.h */
mcp_status portarium_run_load(portarium_run *out, portarium_tx *tx, const char *id, mcp_error *err);

/** The action of that id; NULL: the run has none. */
portarium_run_action *portarium_run_action_find(portarium_run *run, const char *id);

/**
 * Change the status of a run: sets startedAtIso and endedAtIso, removes controlState and
 * operatorOwnerId at the end, adds the event, and says when the engine is to look again.
 *
 * @param patch further members to change; NULL: none
 * @return MCP_OK; MCP_E_EXISTS: the transition is not legal; statuses of db.h
 */
mcp_status portarium_run_become(portarium_run *run, portarium_tx *tx, portarium_run_status status,
                                const mcp_json *patch, mcp_error *err);

/** Change members of the run other than its status. */
mcp_status portarium_run_patch(portarium_run *run, portarium_tx *tx, const mcp_json *patch,
                               mcp_error *err);

/** Store an action of a run, Pending. */
mcp_status portarium_action_insert(portarium_tx *tx, const char *run,
                                   const portarium_action *definition, int64_t order,
                                   mcp_error *err);

/** The definition of the action that undoes another. In the arena. @return NULL: no memory */
const portarium_action *portarium_compensation_of(portarium_tx *tx, const portarium_action *action);

/** Whether it is held: nothing of it is dispatched until a person says so. */
bool portarium_run_is_held(const portarium_run *run);

/** Whether it was cancelled and undoes its actions before it becomes Cancelled. */
bool portarium_run_is_cancelling(const portarium_run *run);

/** When the engine is to look at the run: a moment, 0 for now; NEVER: when somebody says so. */
enum { PORTARIUM_NEVER = -1 };
mcp_status portarium_run_due(portarium_run *run, portarium_tx *tx, int64_t at_ms, mcp_error *err);

/**
 * Change the state of an action, and other members of its documents.
 *
 * @param patch,hidden NULL: no other change
 * @return MCP_OK; MCP_E_EXISTS: the transition is not legal; statuses of db.h
 */
mcp_status portarium_action_become(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, portarium_action_state state,
                                   const mcp_json *patch, const mcp_json *hidden, mcp_error *err);

/**
 * Take an action whose outcome is unknown out of its end, as a person has found it out.
 *
 * @param outcome "retry": it is Pending; "succeeded", "failed": it is Running, to be ended by the
 *                caller
 * @return MCP_OK; MCP_E_EXISTS: its outcome is not unknown; statuses of db.h
 */
mcp_status portarium_action_reopen(portarium_run *run, portarium_run_action *action,
                                   portarium_tx *tx, const char *outcome, mcp_error *err);

/** Whether nobody knows if the action has happened: it failed with the class unknown-outcome. */
bool portarium_action_is_unknown(const portarium_run_action *action);

/** The output of an action that succeeded; NULL: none. */
const mcp_json *portarium_action_output(const portarium_run_action *action);

/** The values that templates and conditions of a run may name. `data` of the scope is the run. */
struct portarium_scope;
void portarium_run_scope(struct portarium_scope *out, portarium_run *run);

/** Add evidence about a run, with its id. */
mcp_status portarium_run_evidence(portarium_run *run, portarium_tx *tx, const char *category,
                                  mcp_error *err, const char *format, ...) MCP_PRINTF(5, 6);

/** Add an event about a run or one of its actions. @param action NULL: the run's own */
mcp_status portarium_run_event(portarium_run *run, portarium_tx *tx, const char *type,
                               const portarium_run_action *action, const mcp_json *data,
                               mcp_error *err);

#endif
