/**
 * operations.h - the tables that the operations are in: one a file of service/. Each ends with an
 * empty row.
 */
#ifndef PORTARIUM_SERVICE_OPERATIONS_H
#define PORTARIUM_SERVICE_OPERATIONS_H

#include "service/operation.h"

extern const portarium_operation portarium_workspace_operations[]; /* workspaces, users */
extern const portarium_operation portarium_workflow_operations[];
extern const portarium_operation portarium_run_operations[]; /* and freeze */
extern const portarium_operation portarium_human_task_operations[];
extern const portarium_operation portarium_adapter_operations[];
extern const portarium_operation portarium_machine_operations[];
extern const portarium_operation portarium_agent_operations[];
extern const portarium_operation portarium_offer_operations[];
extern const portarium_operation portarium_work_item_operations[];
extern const portarium_operation portarium_evidence_operations[];
extern const portarium_operation portarium_proof_operations[];
extern const portarium_operation portarium_hold_operations[]; /* legal holds */
extern const portarium_operation portarium_webhook_operations[];
extern const portarium_operation portarium_credential_operations[];
extern const portarium_operation portarium_plan_operations[]; /* and runs:plan */
extern const portarium_operation portarium_approval_operations[];
extern const portarium_operation portarium_proposal_operations[];  /* actions of agents */
extern const portarium_operation portarium_workforce_operations[]; /* refused */
extern const portarium_operation portarium_policy_operations[];    /* and the exposure of tools */

extern const portarium_operation portarium_status_operations[];

#endif
