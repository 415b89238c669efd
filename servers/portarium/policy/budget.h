/**
 * budget.h - budgets of autonomy: how often a run or a workspace may act by itself. Pure; any
 * thread.
 */
#ifndef PORTARIUM_BUDGET_H
#define PORTARIUM_BUDGET_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/json.h"
#include "model/fields.h"

/* clang-format off */
#define PORTARIUM_BUDGET_SCOPE_MAP(X) \
    X(BUDGET_RUN, "Run") \
    X(BUDGET_WORKSPACE, "Workspace") /* over 24 hours */

#define PORTARIUM_BUDGET_METRIC_MAP(X) \
    X(METRIC_TOOL_CALLS, "ToolCalls") /* exec, mcp, machine, pull and gate calls */ \
    X(METRIC_OUTBOUND_ACTIONS, "OutboundActions") /* http, mcp and machine calls */ \
    X(METRIC_APPROVAL_REQUESTS, "ApprovalRequests") /* approvals made */

#define PORTARIUM_BUDGET_STOP_MAP(X) \
    X(STOP_FREEZE_RUN, "FreezeRun") \
    X(STOP_FREEZE_WORKSPACE, "FreezeWorkspace") \
    X(STOP_KILL_RUN, "KillRun")

#define PORTARIUM_BUDGET_VALUE(name, text) PORTARIUM_##name,
typedef enum portarium_budget_scope { PORTARIUM_BUDGET_SCOPE_MAP(PORTARIUM_BUDGET_VALUE) } portarium_budget_scope;
typedef enum portarium_budget_metric { PORTARIUM_BUDGET_METRIC_MAP(PORTARIUM_BUDGET_VALUE) } portarium_budget_metric;
typedef enum portarium_budget_stop { PORTARIUM_BUDGET_STOP_MAP(PORTARIUM_BUDGET_VALUE) } portarium_budget_stop;
/* clang-format on */

/** One budget of a policy. */
typedef struct portarium_budget {
    const char *id;
    portarium_budget_scope scope;
    portarium_budget_metric metric;
    int64_t warning_at; /* 0: no warning */
    int64_t hard_stop_at;
    portarium_budget_stop stop;
    const char *rationale;
} portarium_budget;

/** The text of a stop: "FreezeRun". */
const char *portarium_budget_stop_text(portarium_budget_stop stop);

/**
 * Read the autonomyBudgets of a policy, whose shape was checked.
 *
 * @param place the pointer of the list in the body
 * @return MCP_OK, also when something was refused in `fields`; MCP_E_NOMEM
 */
mcp_status portarium_budgets_read(const portarium_budget **out, size_t *count, mcp_arena *arena,
                                  const mcp_json *list, const char *place, portarium_fields *fields,
                                  mcp_error *err);

/** What a budget says of one more use. */
typedef enum portarium_budget_verdict {
    PORTARIUM_BUDGET_FITS,
    PORTARIUM_BUDGET_WARNS, /* the use is allowed and is exactly the one of warning_at */
    PORTARIUM_BUDGET_STOPS, /* the use is beyond hard_stop_at: deny it and carry out `stop` */
} portarium_budget_verdict;

/** Judge the next use: the one after `used`. */
portarium_budget_verdict portarium_budget_judge(const portarium_budget *budget, int64_t used);

#endif
