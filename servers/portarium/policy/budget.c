/*
 * budget.c - budgets of autonomy: their texts, their reading, and the judgement of one more use.
 */
#include "policy/budget.h"

#include <string.h>

/* clang-format off */
#define TEXT(name, text) text,
static const char *const scopes[] = { PORTARIUM_BUDGET_SCOPE_MAP(TEXT) NULL };
static const char *const metrics[] = { PORTARIUM_BUDGET_METRIC_MAP(TEXT) NULL };
static const char *const stops[] = { PORTARIUM_BUDGET_STOP_MAP(TEXT) NULL };
/* clang-format on */

const char *portarium_budget_stop_text(portarium_budget_stop stop)
{
    return stops[stop];
}

/* The index of a member's text; the shape allows no other text. */
static int index_of(const char *const *texts, const mcp_json *source, const char *member)
{
    const char *text = mcp_json_get_string(source, member);
    int index = 0;

    while (texts[index + 1] && strcmp(texts[index], text) != 0)
        index++;
    return index;
}

mcp_status portarium_budgets_read(const portarium_budget **out, size_t *count, mcp_arena *arena,
                                  const mcp_json *list, const char *place, portarium_fields *fields,
                                  mcp_error *err)
{
    size_t length = mcp_json_count(list);
    portarium_budget *budgets = mcp_arena_array(arena, length + 1, sizeof *budgets);

    if (!budgets)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a policy");
    portarium_fields_judge_unique(fields, list, "budgetId", place);
    for (size_t i = 0; i < length; i++) {
        const mcp_json *source = mcp_json_item(list, i);
        portarium_budget *budget = &budgets[i];
        budget->id = mcp_json_get_string(source, "budgetId");
        budget->scope = (portarium_budget_scope)index_of(scopes, source, "scope");
        budget->metric = (portarium_budget_metric)index_of(metrics, source, "metric");
        budget->stop = (portarium_budget_stop)index_of(stops, source, "hardStopMode");
        budget->rationale = mcp_json_get_string(source, "rationale");
        mcp_json_int(mcp_json_get(source, "warningAt"), &budget->warning_at);
        mcp_json_int(mcp_json_get(source, "hardStopAt"), &budget->hard_stop_at);
        if (budget->warning_at > budget->hard_stop_at) {
            const char *item = portarium_fields_index(fields, place, i);
            portarium_fields_add(fields, portarium_fields_at(fields, item, "warningAt"),
                                 "larger than hardStopAt");
        }
    }
    *out = budgets;
    *count = length;
    return MCP_OK;
}

portarium_budget_verdict portarium_budget_judge(const portarium_budget *budget, int64_t used)
{
    if (used >= budget->hard_stop_at)
        return PORTARIUM_BUDGET_STOPS;
    return used + 1 == budget->warning_at ? PORTARIUM_BUDGET_WARNS : PORTARIUM_BUDGET_FITS;
}
