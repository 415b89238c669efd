/*
 * operations.c - the tables of operations, in the order of the documentation.
 */
#include "service/operations.h"

#include <string.h>

/* clang-format off */
static const portarium_operation *const tables[] = {
    portarium_workspace_operations,
    portarium_status_operations,
    portarium_workflow_operations,
    portarium_run_operations,
    portarium_human_task_operations,
    portarium_adapter_operations,
    portarium_machine_operations,
    portarium_agent_operations,
    portarium_offer_operations,
    portarium_work_item_operations,
    portarium_evidence_operations,
    portarium_proof_operations,
    portarium_hold_operations,
    portarium_webhook_operations,
    portarium_credential_operations,
    portarium_plan_operations,
    portarium_approval_operations,
    portarium_policy_operations,
    portarium_proposal_operations,
    portarium_workforce_operations,
};
/* clang-format on */

const portarium_operation *portarium_operation_at(size_t index)
{
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        const portarium_operation *at = tables[i];
        for (; at->name && index > 0; at++)
            index--;
        if (at->name)
            return at;
    }
    return NULL;
}

const portarium_operation *portarium_operation_find(const char *name)
{
    const portarium_operation *at = portarium_operation_at(0);
    for (size_t i = 1; at && strcmp(at->name, name) != 0; i++)
        at = portarium_operation_at(i);
    return at;
}
