/*
 * budgets.c - the table budget_uses.
 */
#include "engine/gates/budgets.h"

#include <stdio.h>
#include <string.h>

#include "store/journal.h"

enum { DAY_MS = 86400000, PRUNE_EVERY = 100 };

static const char *const metric_names[] = {
    [PORTARIUM_METRIC_TOOL_CALLS] = "ToolCalls",
    [PORTARIUM_METRIC_OUTBOUND_ACTIONS] = "OutboundActions",
    [PORTARIUM_METRIC_APPROVAL_REQUESTS] = "ApprovalRequests",
};

enum { METRICS = sizeof metric_names / sizeof metric_names[0] };

portarium_metrics portarium_metrics_of(const mcp_json *binding)
{
    static const struct {
        const char *kind;
        portarium_metrics metrics;
    } kinds[] = {
        { "exec", 1u << PORTARIUM_METRIC_TOOL_CALLS },
        { "pull", 1u << PORTARIUM_METRIC_TOOL_CALLS },
        { "http", 1u << PORTARIUM_METRIC_OUTBOUND_ACTIONS },
        { "mcp", 1u << PORTARIUM_METRIC_TOOL_CALLS | 1u << PORTARIUM_METRIC_OUTBOUND_ACTIONS },
        { "machine", 1u << PORTARIUM_METRIC_TOOL_CALLS | 1u << PORTARIUM_METRIC_OUTBOUND_ACTIONS },
    };
    const char *kind = mcp_json_get_string(binding, "kind");
    for (size_t i = 0; kind && i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].metrics;
    }
    return 0;
}

/* One use about to be counted. */
typedef struct use {
    portarium_tx *tx;
    portarium_run *run; /* NULL: none */
    const char *id;     /* of the run, or of what has none */
    portarium_budget_metric metric;
} use;

/* ---- counting -------------------------------------------------------------------------------- */

static mcp_status count_uses(int64_t *out, const use *what, portarium_budget_scope scope,
                             mcp_error *err)
{
    static const char of_run[] = "SELECT COUNT(*) FROM budget_uses WHERE workspace = $1 AND "
                                 "metric = $2 AND run_id = $3";
    static const char of_day[] = "SELECT COUNT(*) FROM budget_uses WHERE workspace = $1 AND "
                                 "metric = $2 AND at > $3";
    bool is_run = scope == PORTARIUM_BUDGET_RUN;
    db_rows *rows = NULL;
    db_value values[] = { db_text(what->tx->workspace), db_text(metric_names[what->metric]),
                          is_run ? db_text(what->id) : db_int(what->tx->now_ms - DAY_MS) };
    *out = 0;
    mcp_status st = db_query(&rows, what->tx->session, is_run ? of_run : of_day, values, 3, err);
    if (portarium_next(rows, &st, err))
        *out = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

/* Uses of the day before, of runs that have ended, count for nothing any more. */
static mcp_status prune(const use *what, mcp_error *err)
{
    db_value values[] = { db_text(what->tx->workspace), db_text(metric_names[what->metric]),
                          db_int(what->tx->now_ms - DAY_MS) };
    return db_defer(what->tx->session, MCP_OK,
                    "DELETE FROM budget_uses WHERE workspace = $1 AND metric = $2 AND at <= $3 AND "
                    "run_id NOT IN (SELECT id FROM runs WHERE workspace = $1 AND status IN "
                    "('Pending', 'Running', 'WaitingForApproval', 'Paused'))",
                    values, 3, err);
}

static mcp_status add_use(const use *what, mcp_error *err)
{
    int64_t used = 0;
    mcp_status st = count_uses(&used, what, PORTARIUM_BUDGET_RUN, err);
    if (st == MCP_OK && used % PRUNE_EVERY == PRUNE_EVERY - 1)
        st = prune(what, err);
    db_value values[] = { db_text(what->tx->workspace), db_text(metric_names[what->metric]),
                          db_text(what->id), db_int(used + 1), db_int(what->tx->now_ms) };
    return st == MCP_OK ? db_defer(what->tx->session, MCP_OK,
                                   "INSERT INTO budget_uses (workspace, metric, run_id, seq, at) "
                                   "VALUES ($1, $2, $3, $4, $5)",
                                   values, 5, err)
                        : st;
}

/* ---- one budget ------------------------------------------------------------------------------ */

static mcp_status tell(const use *what, const char *type, const portarium_policy *policy,
                       const portarium_budget *budget, int64_t used, mcp_error *err)
{
    portarium_draft draft;
    const mcp_json *data = NULL;
    const char *run = what->run ? what->id : NULL;
    portarium_draft_object(&draft);
    mcp_write_member_string(&draft.json, "policyId", policy->id);
    mcp_write_member_string(&draft.json, "budgetId", budget->id);
    mcp_write_member_string(&draft.json, "metric", metric_names[what->metric]);
    mcp_write_member_int(&draft.json, "used", used);
    mcp_write_member_int(&draft.json, "hardStopAt", budget->hard_stop_at);
    mcp_status st = portarium_draft_read(&draft, what->tx, &data, err);
    const portarium_event event = {
        .type = type, .kind = "policy", .id = policy->id, .run_id = run, .data = data
    };
    return st == MCP_OK ? portarium_event_add(what->tx, &event, err) : st;
}

/* Freeze what the budget says. */
static mcp_status freeze(portarium_judgement *out, const use *what, const portarium_budget *budget,
                         mcp_error *err)
{
    const mcp_json *patch = NULL;
    if (budget->stop == PORTARIUM_STOP_FREEZE_WORKSPACE) {
        out->ruling = what->run ? PORTARIUM_RULING_HOLD : PORTARIUM_RULING_DENY;
        portarium_tx_freeze(what->tx, true);
        return MCP_OK;
    }
    if (budget->stop != PORTARIUM_STOP_FREEZE_RUN || !what->run)
        return MCP_OK;
    out->ruling = PORTARIUM_RULING_HOLD;
    mcp_status st = portarium_object(what->tx, &patch, err, "controlState",
                                     portarium_control_state_text(PORTARIUM_CONTROL_FROZEN), NULL);
    return st == MCP_OK ? portarium_run_patch(what->run, what->tx, patch, err) : st;
}

static mcp_status stop(portarium_judgement *out, const use *what, const portarium_policy *policy,
                       const portarium_budget *budget, int64_t used, mcp_error *err)
{
    *out = (portarium_judgement){
        .ruling = PORTARIUM_RULING_DENY,
        .policy_id = policy->id,
        .rule_id = budget->id,
        .reason = mcp_arena_printf(
            what->tx->arena, "policy %s, budget %s: %lld of %lld %s are used (%s)", policy->id,
            budget->id, (long long)used, (long long)budget->hard_stop_at,
            metric_names[what->metric], portarium_budget_stop_text(budget->stop)),
    };
    const portarium_evidence entry = { .category = "Policy",
                                       .summary = out->reason,
                                       .by = PORTARIUM_BY_SYSTEM,
                                       .run_id = what->run ? what->id : NULL };
    mcp_status st = freeze(out, what, budget, err);
    if (st == MCP_OK)
        st = portarium_evidence_add(what->tx, &entry, err);
    return st == MCP_OK ? tell(what, "BudgetExhausted", policy, budget, used, err) : st;
}

static mcp_status judge(portarium_judgement *out, const use *what, const portarium_policy *policy,
                        const portarium_budget *budget, mcp_error *err)
{
    int64_t used = 0;
    mcp_status st = count_uses(&used, what, budget->scope, err);
    if (st != MCP_OK)
        return st;
    switch (portarium_budget_judge(budget, used)) {
    case PORTARIUM_BUDGET_WARNS:
        return tell(what, "BudgetWarning", policy, budget, used + 1, err);
    case PORTARIUM_BUDGET_STOPS:
        return stop(out, what, policy, budget, used, err);
    default:
        return MCP_OK;
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static mcp_status spend_one(portarium_judgement *out, bool *is_counted, const use *what,
                            const portarium_policy_set *set, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < set->count; i++) {
        const portarium_policy *policy = set->items[i];
        for (size_t k = 0; k < policy->budget_count; k++) {
            const portarium_budget *budget = &policy->budgets[k];
            if (budget->metric != what->metric ||
                (budget->scope == PORTARIUM_BUDGET_RUN && !what->run))
                continue;
            *is_counted = true;
            st = judge(out, what, policy, budget, err);
            if (st != MCP_OK || out->ruling != PORTARIUM_RULING_GO)
                return st;
        }
    }
    return st;
}

static mcp_status spend(portarium_judgement *out, portarium_run *run, portarium_tx *tx,
                        const char *id, portarium_metrics metrics, mcp_error *err)
{
    portarium_policy_set set = { .count = 0 };
    bool is_counted[METRICS] = { false };
    use what = { .tx = tx, .run = run, .id = id };
    *out = (portarium_judgement){ .ruling = PORTARIUM_RULING_GO };
    mcp_status st = metrics ? portarium_policies_active(&set, tx, err) : MCP_OK;
    for (size_t i = 0; st == MCP_OK && out->ruling == PORTARIUM_RULING_GO && i < METRICS; i++) {
        what.metric = (portarium_budget_metric)i;
        if (metrics >> i & 1)
            st = spend_one(out, &is_counted[i], &what, &set, err);
    }
    for (size_t i = 0; st == MCP_OK && out->ruling == PORTARIUM_RULING_GO && i < METRICS; i++) {
        what.metric = (portarium_budget_metric)i;
        if (is_counted[i])
            st = add_use(&what, err);
    }
    return st;
}

/* ---- plans ----------------------------------------------------------------------------------- */

/* The budget that stops one more use, where there is one. */
static mcp_status foresee_one(portarium_judgement *out, const use *what, int64_t before,
                              const portarium_policy *policy, mcp_error *err)
{
    mcp_status st = MCP_OK;
    for (size_t k = 0; st == MCP_OK && k < policy->budget_count; k++) {
        const portarium_budget *budget = &policy->budgets[k];
        int64_t used = 0;
        if (budget->metric != what->metric)
            continue;
        if (budget->scope == PORTARIUM_BUDGET_WORKSPACE)
            st = count_uses(&used, what, budget->scope, err);
        if (st == MCP_OK && portarium_budget_judge(budget, used + before) == PORTARIUM_BUDGET_STOPS)
            *out = (portarium_judgement){ .ruling = PORTARIUM_RULING_DENY,
                                          .policy_id = policy->id,
                                          .rule_id = budget->id };
        if (out->ruling != PORTARIUM_RULING_GO)
            break;
    }
    return st;
}

mcp_status portarium_budgets_foresee(portarium_judgement *out, portarium_foreseen *before,
                                     portarium_tx *tx, portarium_metrics metrics, mcp_error *err)
{
    portarium_policy_set set = { .count = 0 };
    use what = { .tx = tx, .id = "" };
    *out = (portarium_judgement){ .ruling = PORTARIUM_RULING_GO };
    mcp_status st = metrics ? portarium_policies_active(&set, tx, err) : MCP_OK;
    for (size_t i = 0; i < METRICS; i++) {
        what.metric = (portarium_budget_metric)i;
        for (size_t k = 0; (metrics >> i & 1) && k < set.count && st == MCP_OK &&
                           out->ruling == PORTARIUM_RULING_GO;
             k++)
            st = foresee_one(out, &what, before->uses[i], set.items[k], err);
    }
    for (size_t i = 0; out->ruling == PORTARIUM_RULING_GO && i < METRICS; i++)
        before->uses[i] += metrics >> i & 1;
    return st;
}

/* ---- uses ------------------------------------------------------------------------------------ */

mcp_status portarium_budgets_spend(portarium_judgement *out, portarium_run *run, portarium_tx *tx,
                                   portarium_metrics metrics, mcp_error *err)
{
    return spend(out, run, tx, run->record.id, metrics, err);
}

mcp_status portarium_budgets_spend_alone(portarium_judgement *out, portarium_tx *tx, const char *id,
                                         portarium_metrics metrics, mcp_error *err)
{
    return spend(out, NULL, tx, id, metrics, err);
}
