/**
 * gate.h - whether an action may begin, and what is made when somebody must decide first.
 *
 * A gate binds what will be done: the action's input is resolved when the gate is made, stored, and
 * hashed with everything that decides where it goes (spec 5.5, point 8). What is dispatched later
 * is that stored input, and only while its hash still fits.
 */
#ifndef PORTARIUM_ENGINE_GATE_H
#define PORTARIUM_ENGINE_GATE_H

#include "engine/gates/approval.h"
#include "engine/gates/judge.h"

/** Judge an action: its tier, the environment, and the workspace's active policies. The judgement
 *  is stored. */
mcp_status portarium_gate_judge(portarium_judgement *out, portarium_run *run,
                                portarium_run_action *action, portarium_tx *tx, mcp_error *err);

/** What portarium_gate_judge would say if the transaction's actor started a run. Stores nothing. */
mcp_status portarium_gate_forecast(portarium_judgement *out, portarium_tx *tx,
                                   const portarium_workflow *workflow,
                                   const portarium_action *definition, const mcp_json *parameters,
                                   mcp_error *err);

/** The transaction's actor as runs keep it: {"roles", "agentId"?, "machineId"?, "owner"?}. */
mcp_status portarium_gate_initiator(const mcp_json **out, portarium_tx *tx, mcp_error *err);

/** Make plan, approval and work item; the action becomes WaitingForApproval. */
mcp_status portarium_gate_open(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                               const portarium_judgement *why, const mcp_json *input,
                               mcp_error *err);

/** Judge an action again that a person, or the judgement before, has let go on: only a ruling to
 *  deny it counts. */
mcp_status portarium_gate_judge_again(portarium_judgement *out, portarium_run *run,
                                      portarium_run_action *action, portarium_tx *tx,
                                      mcp_error *err);

/**
 * Look at the approval that the action waits for: an approved one releases the stored input, unless
 * policies deny it meanwhile; any other end fails the action. The approval becomes Executing.
 *
 * @param input the stored input, where it may be performed now
 */
mcp_status portarium_gate_look(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                               bool *is_released, bool *has_changed, const mcp_json **input,
                               mcp_error *err);

/**
 * The action has ended: an approval that is Executing becomes Executed, and the answers of its form
 * become the member `approval` of the output.
 *
 * @param output NULL: it failed
 */
mcp_status portarium_gate_end(portarium_run *run, portarium_run_action *action, portarium_tx *tx,
                              const mcp_json **output, mcp_error *err);

/** Give the action of an approval another input.
 *  @param subject filled with the members planId, subjectHash and subject of the approval
 *  @return MCP_OK; MCP_E_PARAMS: the approval is of no action */
mcp_status portarium_gate_rebind(const portarium_record *approval, portarium_tx *tx,
                                 const mcp_json *input, const mcp_json **subject, mcp_error *err);

/** Whether approvals of the whole run let it go on. */
typedef enum portarium_run_gate {
    PORTARIUM_RUN_GATE_OPEN,
    PORTARIUM_RUN_GATE_WAITS,
    PORTARIUM_RUN_GATE_DENIED,
    PORTARIUM_RUN_GATE_EXPIRED
} portarium_run_gate;

/** Put an approval before the whole run. @param run hidden member isGated is set */
mcp_status portarium_gate_hold_run(portarium_run *run, portarium_tx *tx, mcp_error *err);

/** Look at the approvals of the whole run. */
mcp_status portarium_gate_look_run(portarium_run_gate *out, portarium_run *run, portarium_tx *tx,
                                   mcp_error *err);

/** Make the human task and its work item; the action becomes WaitingForManualCompletion. */
mcp_status portarium_gate_hand_over(portarium_run *run, portarium_run_action *action,
                                    portarium_tx *tx, const mcp_json *input, mcp_error *err);

/** The enabled adapter registration that serves the action's family. @return MCP_E_NOT_FOUND:
 *  there is none */
mcp_status portarium_gate_adapter(portarium_record *out, portarium_run_action *action,
                                  portarium_tx *tx, mcp_error *err);

/** The hash of what will be done, as 64 hexadecimal digits in the arena. @param adapter NULL: a
 *  builtin */
mcp_status portarium_gate_subject(const char **hash, portarium_run *run,
                                  portarium_run_action *action, portarium_tx *tx,
                                  const portarium_record *adapter, const mcp_json *input,
                                  mcp_error *err);

#endif
