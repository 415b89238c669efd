/**
 * budgets.h - budgets of autonomy: their uses are counted, and one that is used up stops the run.
 *
 * A use is counted while an active policy has a budget of its metric. A budget of a workspace looks
 * at the last 24 hours, one of a run at all of the run.
 */
#ifndef PORTARIUM_ENGINE_GATES_BUDGETS_H
#define PORTARIUM_ENGINE_GATES_BUDGETS_H

#include "engine/gates/judge.h"
#include "engine/run.h"

/** What is counted of one action: bits of 1 << portarium_budget_metric. */
typedef unsigned portarium_metrics;

/** The metrics of a dispatch by a binding: exec, mcp, machine and pull are tool calls; http, mcp
 *  and machine are outbound. @param binding NULL: a builtin, which counts as nothing */
portarium_metrics portarium_metrics_of(const mcp_json *binding);

/**
 * Judge one more use, and count it when it is allowed.
 *
 * At its warning a budget adds the event BudgetWarning. Beyond its hard stop nothing is counted:
 * FreezeRun sets the run's controlState to frozen, FreezeWorkspace freezes the workspace (both:
 * HOLD), KillRun denies; with evidence of the category Policy and the event BudgetExhausted.
 *
 * @param out filled with GO, HOLD or DENY
 */
mcp_status portarium_budgets_spend(portarium_judgement *out, portarium_run *run, portarium_tx *tx,
                                   portarium_metrics metrics, mcp_error *err);

/** How many metrics there are. */
#define PORTARIUM_METRIC_COUNT (0 PORTARIUM_BUDGET_METRIC_MAP(PORTARIUM_ONE))

/** What a planned run would have used before an action; zero at first. */
typedef struct portarium_foreseen {
    int64_t uses[PORTARIUM_METRIC_COUNT];
} portarium_foreseen;

/** What portarium_budgets_spend would say of the next action of a run that is started now. Stores
 *  nothing.
 *  @param out filled with GO or DENY
 *  @param before gets the uses of an action that may go on */
mcp_status portarium_budgets_foresee(portarium_judgement *out, portarium_foreseen *before,
                                     portarium_tx *tx, portarium_metrics metrics, mcp_error *err);

/** The same for what has no run: run budgets do not apply, and FreezeRun and KillRun deny.
 *  @param id what is counted under: the proposal's id */
mcp_status portarium_budgets_spend_alone(portarium_judgement *out, portarium_tx *tx, const char *id,
                                         portarium_metrics metrics, mcp_error *err);

#endif
