/*
 * collections.c - the kinds of records, and their columns.
 */
#include "model/families.h"
#include "model/vocabulary.h"
#include "store/record.h"

#define FILTER PORTARIUM_FILTER
#define SORT PORTARIUM_SORT
#define SEARCH PORTARIUM_SEARCH
#define INTEGER PORTARIUM_INTEGER
#define SEVERAL PORTARIUM_SEVERAL

const portarium_collection portarium_workspaces = {
    .table = "workspaces",
    .noun = "Workspace",
    .id_member = "workspaceId",
    .columns = { { "name", "name", FILTER | SORT | SEARCH, NULL },
                 { "tenant_id", "tenantId", 0, NULL } },
};

const portarium_collection portarium_users = {
    .table = "users",
    .noun = "User",
    .id_member = "userId",
    .columns = { { "active", "active", FILTER | INTEGER, NULL },
                 { "email", "email", SEARCH, NULL } },
};

const portarium_collection portarium_workflows = {
    .table = "workflows",
    .noun = "Workflow",
    .id_member = "workflowId",
    .columns = { { "name", "name", FILTER | SORT | SEARCH, NULL },
                 { "version", "version", INTEGER, NULL },
                 { "active", "active", FILTER | INTEGER, NULL } },
};

const portarium_collection portarium_adapters = {
    .table = "adapters",
    .noun = "Adapter registration",
    .id_member = "adapterId",
    .columns = { { "port_family", "portFamily", FILTER | SEARCH, portarium_family_name },
                 { "enabled", "enabled", FILTER | INTEGER, NULL } },
};

const portarium_collection portarium_policies = {
    .table = "policies",
    .noun = "Policy",
    .id_member = "policyId",
    .columns = { { "active", "active", FILTER | INTEGER, NULL },
                 { "name", "name", SORT | SEARCH, NULL } },
};

const portarium_collection portarium_runs = {
    .table = "runs",
    .noun = "Run",
    .id_member = "runId",
    .begins_due = true,
    .columns = { { "status", "status", FILTER | SEVERAL | SORT, portarium_run_status_at },
                 { "workflow_id", "workflowId", FILTER | SEARCH, NULL },
                 { "started_at", "startedAtIso", SORT, NULL } },
};

const portarium_collection portarium_actions = {
    .table = "run_actions",
    .noun = "Action",
    .id_member = "actionId",
    .columns = { { "run_id", "runId", FILTER, NULL },
                 { "ord", "order", SORT | INTEGER, NULL },
                 { "state", "state", FILTER, portarium_action_state_at } },
};

const portarium_collection portarium_plans = {
    .table = "plans",
    .noun = "Plan",
    .id_member = "planId",
};

const portarium_collection portarium_approvals = {
    .table = "approvals",
    .noun = "Approval",
    .id_member = "approvalId",
    .columns = { { "status", "status", FILTER | SEVERAL, portarium_approval_status_at },
                 { "run_id", "runId", FILTER, NULL },
                 { "plan_id", "planId", FILTER, NULL },
                 { "work_item_id", "workItemId", FILTER, NULL },
                 { "assignee", "assigneeUserId", FILTER, NULL },
                 { "requested_by", "requestedByUserId", FILTER, NULL },
                 { "prompt", "prompt", SEARCH, NULL } },
};

const portarium_collection portarium_proposals = {
    .table = "proposals",
    .noun = "Agent action",
    .id_member = "proposalId",
    .columns = { { "approval_id", "approvalId", FILTER, NULL },
                 { "agent_id", "agentId", FILTER, NULL },
                 { "subject_hash", "subjectHash", FILTER, NULL },
                 { "idempotency_key", "idempotencyKey", FILTER, NULL } },
};

const portarium_collection portarium_work_items = {
    .table = "work_items",
    .noun = "Work item",
    .id_member = "workItemId",
    .columns = { { "status", "status", FILTER | SEVERAL, portarium_work_item_status_at },
                 { "owner", "ownerUserId", FILTER, NULL },
                 { "title", "title", SEARCH, NULL } },
    .links = { { "runId", "run" },
               { "workflowId", "workflow" },
               { "approvalId", "approval" },
               { "evidenceId", "evidence" } },
};

const portarium_collection portarium_human_tasks = {
    .table = "human_tasks",
    .noun = "Human task",
    .id_member = "humanTaskId",
    .columns = { { "status", "status", FILTER | SEVERAL, portarium_human_task_status_at },
                 { "run_id", "runId", FILTER, NULL },
                 { "assignee", "assigneeId", FILTER, NULL } },
};

const portarium_collection portarium_machines = {
    .table = "machines",
    .noun = "Machine",
    .id_member = "machineId",
    .columns = { { "active", "active", FILTER | INTEGER, NULL },
                 { "display_name", "displayName", SEARCH, NULL } },
};

const portarium_collection portarium_agents = {
    .table = "agents",
    .noun = "Agent",
    .id_member = "agentId",
    .columns = { { "machine_id", "machineId", FILTER, NULL },
                 { "display_name", "displayName", SEARCH, NULL } },
};

const portarium_collection portarium_legal_holds = {
    .table = "legal_holds",
    .noun = "Legal hold",
    .id_member = "legalHoldId",
    .columns = { { "run_id", "runId", FILTER, NULL } },
};

const portarium_collection portarium_webhooks = {
    .table = "webhooks",
    .noun = "Webhook",
    .id_member = "webhookId",
};

/* Listed by service/trail/evidence.c. */
const portarium_collection portarium_entries = {
    .table = "evidence",
    .noun = "Evidence",
    .id_member = "evidenceId",
    .columns = { { "category", "category", FILTER, portarium_category_at },
                 { "run_id", "runId", FILTER, NULL },
                 { "plan_id", "planId", FILTER, NULL },
                 { "work_item_id", "workItemId", FILTER, NULL } },
};
