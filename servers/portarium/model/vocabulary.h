/**
 * vocabulary.h - the words of the control plane: each enum and the texts that the wire has for it.
 *
 * One map an enum, so that values and texts cannot differ. For each enum portarium_X there are
 * three functions: portarium_X_text gives the text, a constant; portarium_X_at gives the text at an
 * index from 0, NULL behind the last; portarium_X_read finds the value of a text and returns false,
 * with *out untouched, when there is none. Texts are compared exactly. Any thread.
 */
#ifndef PORTARIUM_VOCABULARY_H
#define PORTARIUM_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>

/* clang-format off */
#define PORTARIUM_RUN_STATUS_MAP(X) \
    X(RUN_PENDING, "Pending") \
    X(RUN_RUNNING, "Running") \
    X(RUN_WAITING_FOR_APPROVAL, "WaitingForApproval") \
    X(RUN_PAUSED, "Paused") \
    X(RUN_SUCCEEDED, "Succeeded") \
    X(RUN_FAILED, "Failed") \
    X(RUN_CANCELLED, "Cancelled")

#define PORTARIUM_CONTROL_STATE_MAP(X) \
    X(CONTROL_WAITING, "waiting") \
    X(CONTROL_BLOCKED, "blocked") \
    X(CONTROL_DEGRADED, "degraded") \
    X(CONTROL_FROZEN, "frozen") \
    X(CONTROL_OPERATOR_OWNED, "operator-owned")

#define PORTARIUM_ACTION_STATE_MAP(X) \
    X(ACTION_PENDING, "Pending") \
    X(ACTION_RUNNING, "Running") \
    X(ACTION_WAITING, "Waiting") /* for a timer */ \
    X(ACTION_WAITING_FOR_APPROVAL, "WaitingForApproval") \
    X(ACTION_WAITING_FOR_MANUAL_COMPLETION, "WaitingForManualCompletion") \
    X(ACTION_SUCCEEDED, "Succeeded") \
    X(ACTION_SKIPPED, "Skipped") /* `when` was false; counts as succeeded */ \
    X(ACTION_FAILED, "Failed") \
    X(ACTION_CANCELLED, "Cancelled")

#define PORTARIUM_APPROVAL_STATUS_MAP(X) \
    X(APPROVAL_PENDING, "Pending") \
    X(APPROVAL_APPROVED, "Approved") \
    X(APPROVAL_DENIED, "Denied") \
    X(APPROVAL_EXECUTING, "Executing") \
    X(APPROVAL_EXECUTED, "Executed") \
    X(APPROVAL_EXPIRED, "Expired") \
    X(APPROVAL_REQUEST_CHANGES, "RequestChanges")

#define PORTARIUM_DECISION_MAP(X) \
    X(DECISION_APPROVED, "Approved") \
    X(DECISION_DENIED, "Denied") \
    X(DECISION_REQUEST_CHANGES, "RequestChanges")

#define PORTARIUM_WORK_ITEM_STATUS_MAP(X) \
    X(WORK_ITEM_OPEN, "Open") \
    X(WORK_ITEM_IN_PROGRESS, "InProgress") \
    X(WORK_ITEM_BLOCKED, "Blocked") \
    X(WORK_ITEM_RESOLVED, "Resolved") \
    X(WORK_ITEM_CLOSED, "Closed")

#define PORTARIUM_HUMAN_TASK_STATUS_MAP(X) \
    X(HUMAN_TASK_PENDING, "pending") \
    X(HUMAN_TASK_ASSIGNED, "assigned") \
    X(HUMAN_TASK_IN_PROGRESS, "in-progress") \
    X(HUMAN_TASK_COMPLETED, "completed") \
    X(HUMAN_TASK_ESCALATED, "escalated")

/* Strictness increases. */
#define PORTARIUM_TIER_MAP(X) \
    X(TIER_AUTO, "Auto") \
    X(TIER_ASSISTED, "Assisted") \
    X(TIER_HUMAN_APPROVE, "HumanApprove") \
    X(TIER_MANUAL_ONLY, "ManualOnly")

#define PORTARIUM_ERROR_CLASS_MAP(X) \
    X(CLASS_TIMEOUT, "timeout") \
    X(CLASS_RATE_LIMIT, "rate_limit") \
    X(CLASS_SERVER_ERROR, "5xx") \
    X(CLASS_TRANSPORT, "transport") \
    X(CLASS_UNKNOWN, "unknown") \
    X(CLASS_VALIDATION, "validation") \
    X(CLASS_POLICY_DENY, "policy-deny") \
    X(CLASS_AUTH_DENY, "auth-deny") \
    X(CLASS_CONFLICT, "conflict") \
    X(CLASS_APPROVAL_DENIED, "approval-denied") \
    X(CLASS_APPROVAL_EXPIRED, "approval-expired") \
    X(CLASS_APPROVAL_STALE, "approval-stale") \
    X(CLASS_UNKNOWN_OUTCOME, "unknown-outcome")

#define PORTARIUM_HEARTBEAT_MAP(X) \
    X(HEARTBEAT_OK, "ok") \
    X(HEARTBEAT_DEGRADED, "degraded") \
    X(HEARTBEAT_DRAINING, "draining")

#define PORTARIUM_EFFECT_MAP(X) /* strictness increases */ \
    X(EFFECT_ALLOW, "Allow") \
    X(EFFECT_REQUIRE_APPROVAL, "RequireApproval") \
    X(EFFECT_DENY, "Deny")

#define PORTARIUM_ENVIRONMENT_MAP(X) \
    X(ENVIRONMENT_DEV, "dev") \
    X(ENVIRONMENT_STAGING, "staging") \
    X(ENVIRONMENT_PROD, "prod")

#define PORTARIUM_TOOL_CLASS_MAP(X) \
    X(TOOL_READ_ONLY, "ReadOnly") \
    X(TOOL_MUTATION, "Mutation") \
    X(TOOL_DANGEROUS, "Dangerous") \
    X(TOOL_UNKNOWN, "Unknown")

#define PORTARIUM_CATEGORY_MAP(X) /* of evidence */ \
    X(CATEGORY_PLAN, "Plan") \
    X(CATEGORY_ACTION, "Action") \
    X(CATEGORY_APPROVAL, "Approval") \
    X(CATEGORY_OPERATOR_SURFACE, "OperatorSurface") \
    X(CATEGORY_POLICY, "Policy") \
    X(CATEGORY_POLICY_VIOLATION, "PolicyViolation") \
    X(CATEGORY_SYSTEM, "System")

#define PORTARIUM_EVENT_TYPE_MAP(X) \
    X(EVENT_RUN_STARTED, "RunStarted") \
    X(EVENT_RUN_SUCCEEDED, "RunSucceeded") \
    X(EVENT_RUN_FAILED, "RunFailed") \
    X(EVENT_RUN_CANCELLED, "RunCancelled") \
    X(EVENT_RUN_PAUSED, "RunPaused") \
    X(EVENT_RUN_RESUMED, "RunResumed") \
    X(EVENT_RUN_INTERVENED, "RunIntervened") \
    X(EVENT_PLAN_GENERATED, "PlanGenerated") \
    X(EVENT_ACTION_DISPATCHED, "ActionDispatched") \
    X(EVENT_ACTION_COMPLETED, "ActionCompleted") \
    X(EVENT_ACTION_FAILED, "ActionFailed") \
    X(EVENT_ACTION_RETRY_SCHEDULED, "ActionRetryScheduled") \
    X(EVENT_ACTION_EVENT, "ActionEvent") \
    X(EVENT_APPROVAL_REQUESTED, "ApprovalRequested") \
    X(EVENT_APPROVAL_GRANTED, "ApprovalGranted") \
    X(EVENT_APPROVAL_DENIED, "ApprovalDenied") \
    X(EVENT_APPROVAL_CHANGES_REQUESTED, "ApprovalChangesRequested") \
    X(EVENT_APPROVAL_DECISION_RECORDED, "ApprovalDecisionRecorded") \
    X(EVENT_APPROVAL_ESCALATED, "ApprovalEscalated") \
    X(EVENT_APPROVAL_EXPIRED, "ApprovalExpired") \
    X(EVENT_SOD_VIOLATION_DETECTED, "SodViolationDetected") \
    X(EVENT_WORKFLOW_CREATED, "WorkflowCreated") \
    X(EVENT_WORKFLOW_UPDATED, "WorkflowUpdated") \
    X(EVENT_WORKFLOW_DEACTIVATED, "WorkflowDeactivated") \
    X(EVENT_POLICY_CREATED, "PolicyCreated") \
    X(EVENT_POLICY_UPDATED, "PolicyUpdated") \
    X(EVENT_BUDGET_WARNING, "BudgetWarning") \
    X(EVENT_BUDGET_EXHAUSTED, "BudgetExhausted") \
    X(EVENT_MACHINE_REGISTERED, "MachineRegistered") \
    X(EVENT_MACHINE_DEREGISTERED, "MachineDeregistered") \
    X(EVENT_AGENT_REGISTERED, "AgentRegistered") \
    X(EVENT_AGENT_STATUS_CHANGED, "AgentStatusChanged") \
    X(EVENT_AGENT_WENT_OFFLINE, "AgentWentOffline") \
    X(EVENT_AGENT_CAPABILITY_DRIFT_QUARANTINED, "AgentCapabilityDriftQuarantined") \
    X(EVENT_HUMAN_TASK_CREATED, "HumanTaskCreated") \
    X(EVENT_HUMAN_TASK_ASSIGNED, "HumanTaskAssigned") \
    X(EVENT_HUMAN_TASK_COMPLETED, "HumanTaskCompleted") \
    X(EVENT_HUMAN_TASK_ESCALATED, "HumanTaskEscalated") \
    X(EVENT_WORK_ITEM_CREATED, "WorkItemCreated") \
    X(EVENT_WORK_ITEM_TRANSITIONED, "WorkItemTransitioned") \
    X(EVENT_WORK_ITEM_UPDATED, "WorkItemUpdated") \
    X(EVENT_AGENT_ACTION_PROPOSED, "AgentActionProposed") \
    X(EVENT_AGENT_ACTION_EXECUTING, "AgentActionExecuting") \
    X(EVENT_AGENT_ACTION_EXECUTED, "AgentActionExecuted") \
    X(EVENT_AGENT_ACTION_EXECUTION_FAILED, "AgentActionExecutionFailed") \
    X(EVENT_AGENT_ACTION_RELEASED, "AgentActionReleased") \
    X(EVENT_WORKSPACE_FROZEN, "WorkspaceFrozen") \
    X(EVENT_WORKSPACE_UNFROZEN, "WorkspaceUnfrozen") \
    X(EVENT_LEGAL_HOLD_PLACED, "LegalHoldPlaced") \
    X(EVENT_LEGAL_HOLD_RELEASED, "LegalHoldReleased") \
    X(EVENT_TOKEN_REVOKED, "TokenRevoked") \
    X(EVENT_USER_DEACTIVATED, "UserDeactivated")

#define PORTARIUM_ROLE_NAME_MAP(X) \
    X(ADMIN, "admin") \
    X(OPERATOR, "operator") \
    X(APPROVER, "approver") \
    X(AUDITOR, "auditor")

/* Every vocabulary: the type and its map. */
#define PORTARIUM_VOCABULARIES(V) \
    V(run_status, PORTARIUM_RUN_STATUS_MAP) \
    V(control_state, PORTARIUM_CONTROL_STATE_MAP) \
    V(action_state, PORTARIUM_ACTION_STATE_MAP) \
    V(approval_status, PORTARIUM_APPROVAL_STATUS_MAP) \
    V(decision, PORTARIUM_DECISION_MAP) \
    V(work_item_status, PORTARIUM_WORK_ITEM_STATUS_MAP) \
    V(human_task_status, PORTARIUM_HUMAN_TASK_STATUS_MAP) \
    V(tier, PORTARIUM_TIER_MAP) \
    V(error_class, PORTARIUM_ERROR_CLASS_MAP) \
    V(heartbeat, PORTARIUM_HEARTBEAT_MAP) \
    V(effect, PORTARIUM_EFFECT_MAP) \
    V(environment, PORTARIUM_ENVIRONMENT_MAP) \
    V(tool_class, PORTARIUM_TOOL_CLASS_MAP) \
    V(category, PORTARIUM_CATEGORY_MAP) \
    V(event_type, PORTARIUM_EVENT_TYPE_MAP) \
    V(role_name, PORTARIUM_ROLE_NAME_MAP)

#define PORTARIUM_VALUE(name, text) PORTARIUM_##name,
#define PORTARIUM_ENUM(type, MAP) typedef enum portarium_##type { MAP(PORTARIUM_VALUE) } portarium_##type;
PORTARIUM_VOCABULARIES(PORTARIUM_ENUM)

#define PORTARIUM_FUNCTIONS(type, MAP) \
    const char *portarium_##type##_text(portarium_##type value); \
    const char *portarium_##type##_at(size_t index); \
    bool portarium_##type##_read(portarium_##type *out, const char *text);
PORTARIUM_VOCABULARIES(PORTARIUM_FUNCTIONS)

/* The number of values of a map. */
#define PORTARIUM_ONE(name, text) +1
#define PORTARIUM_COUNT(MAP) (0 MAP(PORTARIUM_ONE))
/* clang-format on */

#endif
