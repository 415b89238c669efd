/*
 * collections.c - the kinds of records, and their columns.
 */
#include "store/record.h"

#define FILTER PORTARIUM_FILTER
#define SORT PORTARIUM_SORT
#define SEARCH PORTARIUM_SEARCH
#define INTEGER PORTARIUM_INTEGER

const portarium_collection portarium_workspaces = {
    .table = "workspaces",
    .noun = "Workspace",
    .id_member = "workspaceId",
    .columns = { { "name", "name", FILTER | SORT | SEARCH }, { "tenant_id", "tenantId", 0 } },
};

const portarium_collection portarium_users = {
    .table = "users",
    .noun = "User",
    .id_member = "userId",
    .columns = { { "active", "active", FILTER | INTEGER }, { "email", "email", SEARCH } },
};

const portarium_collection portarium_workflows = {
    .table = "workflows",
    .noun = "Workflow",
    .id_member = "workflowId",
    .columns = { { "name", "name", FILTER | SORT | SEARCH },
                 { "version", "version", INTEGER },
                 { "active", "active", FILTER | INTEGER } },
};

const portarium_collection portarium_adapters = {
    .table = "adapters",
    .noun = "Adapter registration",
    .id_member = "adapterId",
    .columns = { { "port_family", "portFamily", FILTER | SEARCH },
                 { "enabled", "enabled", FILTER | INTEGER } },
};

const portarium_collection portarium_policies = {
    .table = "policies",
    .noun = "Policy",
    .id_member = "policyId",
    .columns = { { "active", "active", FILTER | INTEGER }, { "name", "name", SORT | SEARCH } },
};

const portarium_collection portarium_runs = {
    .table = "runs",
    .noun = "Run",
    .id_member = "runId",
    .begins_due = true,
    .columns = { { "status", "status", FILTER | SORT },
                 { "workflow_id", "workflowId", FILTER | SEARCH },
                 { "started_at", "startedAtIso", SORT } },
};

const portarium_collection portarium_actions = {
    .table = "run_actions",
    .noun = "Action",
    .id_member = "actionId",
    .columns = { { "run_id", "runId", FILTER },
                 { "ord", "order", SORT | INTEGER },
                 { "state", "state", FILTER } },
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
    .columns = { { "status", "status", FILTER },
                 { "run_id", "runId", FILTER },
                 { "plan_id", "planId", FILTER },
                 { "work_item_id", "workItemId", FILTER },
                 { "assignee", "assigneeUserId", FILTER },
                 { "requested_by", "requestedByUserId", FILTER },
                 { "prompt", "prompt", SEARCH } },
};

const portarium_collection portarium_proposals = {
    .table = "proposals",
    .noun = "Agent action",
    .id_member = "proposalId",
    .columns = { { "approval_id", "approvalId", FILTER },
                 { "agent_id", "agentId", FILTER },
                 { "subject_hash", "subjectHash", FILTER },
                 { "idempotency_key", "idempotencyKey", FILTER } },
};

const portarium_collection portarium_work_items = {
    .table = "work_items",
    .noun = "Work item",
    .id_member = "workItemId",
    .columns = { { "status", "status", FILTER },
                 { "owner", "ownerUserId", FILTER },
                 { "title", "title", SEARCH } },
    .links = { { "runId", "run" },
               { "workflowId", "workflow" },
               { "approvalId", "approval" },
               { "evidenceId", "evidence" } },
};

const portarium_collection portarium_human_tasks = {
    .table = "human_tasks",
    .noun = "Human task",
    .id_member = "humanTaskId",
    .columns = { { "status", "status", FILTER },
                 { "run_id", "runId", FILTER },
                 { "assignee", "assigneeId", FILTER } },
};

const portarium_collection portarium_machines = {
    .table = "machines",
    .noun = "Machine",
    .id_member = "machineId",
    .columns = { { "active", "active", FILTER | INTEGER },
                 { "display_name", "displayName", SEARCH } },
};

const portarium_collection portarium_agents = {
    .table = "agents",
    .noun = "Agent",
    .id_member = "agentId",
    .columns = { { "machine_id", "machineId", FILTER }, { "display_name", "displayName", SEARCH } },
};

const portarium_collection portarium_legal_holds = {
    .table = "legal_holds",
    .noun = "Legal hold",
    .id_member = "legalHoldId",
    .columns = { { "run_id", "runId", FILTER } },
};

const portarium_collection portarium_webhooks = {
    .table = "webhooks",
    .noun = "Webhook",
    .id_member = "webhookId",
};
