/*
 * rules.c - reading policies and judging by all of them.
 */
#include "policy/rules.h"

#include <string.h>

#include "model/context.h"

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a policy");
}

static mcp_status read_rule(portarium_rule *out, mcp_arena *arena, const mcp_json *source,
                            const char *place, portarium_fields *fields, mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    const char *field = portarium_fields_at(fields, place, "condition");

    out->id = mcp_json_get_string(source, "ruleId");
    out->text = mcp_json_get_string(source, "condition");
    out->rationale = mcp_json_get_string(source, "rationale");
    portarium_effect_read(&out->effect, mcp_json_get_string(source, "effect"));
    mcp_status st = portarium_condition_parse(&out->condition, arena, out->text, strlen(out->text),
                                              &why);
    if (st == MCP_E_NOMEM)
        return no_memory(err);
    if (st != MCP_OK) {
        portarium_fields_add(fields, field, "%s", why.message);
        return MCP_OK;
    }
    for (size_t i = 0; portarium_condition_name(out->condition, i); i++)
        if (!portarium_context_has(portarium_condition_name(out->condition, i)))
            portarium_fields_add(fields, field, "unknown name '%s'",
                                 portarium_condition_name(out->condition, i));
    return MCP_OK;
}

static mcp_status read_rules(portarium_policy *policy, mcp_arena *arena, portarium_fields *fields,
                             mcp_error *err)
{
    const mcp_json *list = mcp_json_get(policy->source, "rules");
    portarium_rule *rules = mcp_arena_array(arena, mcp_json_count(list) + 1, sizeof *rules);
    mcp_status st = rules ? MCP_OK : no_memory(err);

    portarium_fields_judge_unique(fields, list, "ruleId", "/rules");
    for (size_t i = 0; st == MCP_OK && i < mcp_json_count(list); i++) {
        const char *place = portarium_fields_index(fields, "/rules", i);
        st = read_rule(&rules[i], arena, mcp_json_item(list, i), place, fields, err);
    }
    policy->rules = rules;
    policy->rule_count = mcp_json_count(list);
    return st;
}

mcp_status portarium_policy_read(const portarium_policy **out, mcp_arena *arena,
                                 const portarium_shapes *shapes, const mcp_json *body,
                                 const char *id, int64_t version, portarium_fields *fields,
                                 mcp_error *err)
{
    mcp_status st = portarium_shape_check(shapes, PORTARIUM_SHAPE_Policy, body, fields, err);

    if (st != MCP_OK)
        return st;
    portarium_policy *policy = mcp_arena_alloc(arena, sizeof *policy);
    if (!policy)
        return no_memory(err);
    const char *said = mcp_json_get_string(body, "policyId");
    if (said && strcmp(said, id) != 0)
        portarium_fields_add(fields, "/policyId", "is '%s' here", id);
    policy->id = id;
    policy->version = version;
    policy->name = mcp_json_get_string(body, "name");
    policy->is_active = true;
    policy->source = body;
    mcp_json_bool(mcp_json_get(body, "active"), &policy->is_active);
    mcp_json_int(mcp_json_get(body, "priority"), &policy->priority);
    st = read_rules(policy, arena, fields, err);
    if (st == MCP_OK)
        st = portarium_duties_read(&policy->duties, &policy->duty_count, arena,
                                   mcp_json_get(body, "sodConstraints"), "/sodConstraints", fields,
                                   err);
    if (st == MCP_OK)
        st = portarium_budgets_read(&policy->budgets, &policy->budget_count, arena,
                                    mcp_json_get(body, "autonomyBudgets"), "/autonomyBudgets",
                                    fields, err);
    if (st == MCP_OK)
        st = portarium_fields_status(fields, err);
    if (st == MCP_OK)
        *out = policy;
    return st;
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Negative when `a` comes before `b`. */
static int compare(const portarium_explanation *a, const portarium_explanation *b)
{
    if (a->effect != b->effect)
        return a->effect > b->effect ? -1 : 1;
    if (a->priority != b->priority)
        return a->priority > b->priority ? -1 : 1;
    int order = strcmp(a->policy_id, b->policy_id);
    return order ? order : strcmp(a->rule_id, b->rule_id);
}

/* Insert in order; of a full list the last one is lost. */
static void explain(portarium_verdict *out, const portarium_explanation *item)
{
    size_t at = out->count;

    if (at == PORTARIUM_EXPLANATIONS_MAX) {
        if (compare(item, &out->explanations[at - 1]) >= 0)
            return;
        at--;
    } else {
        out->count++;
    }
    for (; at > 0 && compare(item, &out->explanations[at - 1]) < 0; at--)
        out->explanations[at] = out->explanations[at - 1];
    out->explanations[at] = *item;
}

static mcp_status judge_rule(portarium_verdict *out, const portarium_policy *policy,
                             const portarium_rule *rule, const mcp_json *context, mcp_arena *arena,
                             mcp_error *err)
{
    mcp_error why = MCP_ERROR_INIT;
    bool is_true = false;
    portarium_explanation item = { .policy_id = policy->id,
                                   .rule_id = rule->id,
                                   .effect = rule->effect,
                                   .priority = policy->priority,
                                   .detail = rule->rationale ? rule->rationale : rule->text };
    mcp_status st = portarium_condition_judge(
        &is_true, rule->condition, portarium_condition_get_member, (void *)context, &why);

    if (st != MCP_OK) {
        item.is_error = true;
        item.effect = PORTARIUM_EFFECT_DENY;
        item.detail = mcp_arena_strdup(arena, why.message);
        if (!item.detail)
            return no_memory(err);
    }
    if (st != MCP_OK || is_true)
        explain(out, &item);
    return MCP_OK;
}

mcp_status portarium_policies_judge(portarium_verdict *out, const portarium_policy *const *policies,
                                    size_t count, const mcp_json *context, mcp_arena *arena,
                                    mcp_error *err)
{
    out->count = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; policies[i]->is_active && k < policies[i]->rule_count; k++) {
            mcp_status st = judge_rule(out, policies[i], &policies[i]->rules[k], context, arena,
                                       err);
            if (st != MCP_OK)
                return st;
        }
    out->effect = out->count ? out->explanations[0].effect : PORTARIUM_EFFECT_ALLOW;
    out->policy_id = out->count ? out->explanations[0].policy_id : NULL;
    out->rule_id = out->count ? out->explanations[0].rule_id : NULL;
    return MCP_OK;
}

portarium_environment_verdict portarium_environment_judge(portarium_environment environment,
                                                          portarium_tier tier)
{
    static const struct {
        portarium_tier threshold;
        bool is_enforced;
        bool may_override;
    } rows[] = {
        [PORTARIUM_ENVIRONMENT_DEV] = { PORTARIUM_TIER_MANUAL_ONLY, false, true },
        [PORTARIUM_ENVIRONMENT_STAGING] = { PORTARIUM_TIER_HUMAN_APPROVE, true, true },
        [PORTARIUM_ENVIRONMENT_PROD] = { PORTARIUM_TIER_ASSISTED, true, false },
    };

    return (portarium_environment_verdict){
        .requires_approval = tier >= rows[environment].threshold,
        .is_enforced = rows[environment].is_enforced,
        .may_override = rows[environment].may_override,
    };
}
