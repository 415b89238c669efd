/*
 * exposure.c - the rules of tool exposure, in their order.
 */
#include "policy/exposure.h"

#include <string.h>

#include "model/tool_classes.h"

mcp_status portarium_exposure_read(const portarium_exposure **out, mcp_arena *arena,
                                   const portarium_shapes *shapes, const mcp_json *body,
                                   portarium_fields *fields, mcp_error *err)
{
    const mcp_json *list = mcp_json_get(body, "rules");
    mcp_status st = portarium_shape_check(shapes, PORTARIUM_SHAPE_ToolExposurePolicy, body, fields,
                                          err);

    if (st != MCP_OK)
        return st;
    portarium_exposure *policy = mcp_arena_alloc(arena, sizeof *policy);
    portarium_exposure_rule *rules = mcp_arena_array(arena, mcp_json_count(list), sizeof *rules);
    if (!policy || !rules)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a tool exposure policy");
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const mcp_json *source = mcp_json_item(list, i);
        const mcp_json *roles = mcp_json_get(source, "allowedRoles");
        rules[i].pattern = mcp_json_get_string(source, "toolPattern");
        portarium_tier_read(&rules[i].minimum_tier, mcp_json_get_string(source, "minimumTier"));
        for (size_t k = 0; k < mcp_json_count(roles); k++)
            portarium_roles_add(&rules[i].allowed_roles,
                                mcp_json_string(mcp_json_item(roles, k), NULL));
    }
    policy->rules = rules;
    policy->rule_count = mcp_json_count(list);
    policy->allows_by_default = strcmp(mcp_json_get_string(body, "defaultEffect"), "Allow") == 0;
    *out = policy;
    return MCP_OK;
}

static void judge_patterns(const mcp_json *list, const char *place, portarium_fields *fields)
{
    for (size_t i = 0; i < mcp_json_count(list); i++) {
        const char *pattern = mcp_json_get_string(mcp_json_item(list, i), "toolPattern");
        const char *star = pattern ? strchr(pattern, '*') : NULL;
        const char *item = portarium_fields_index(fields, place, i);
        if (star && star[1])
            portarium_fields_add(fields, portarium_fields_at(fields, item, "toolPattern"),
                                 "has '*' elsewhere than at its end");
    }
}

void portarium_exposure_judge_patterns(const mcp_json *body, portarium_fields *fields)
{
    judge_patterns(mcp_json_get(body, "rules"), "/rules", fields);
    judge_patterns(mcp_json_get(body, "toolClasses"), "/toolClasses", fields);
}

bool portarium_exposure_allows(const portarium_exposure *policy, const char *tool,
                               portarium_roles roles, portarium_tier tier)
{
    for (size_t i = 0; policy && i < policy->rule_count; i++) {
        const portarium_exposure_rule *rule = &policy->rules[i];
        if (portarium_pattern_fits(rule->pattern, tool))
            return (rule->allowed_roles == 0 || (rule->allowed_roles & roles)) &&
                   tier >= rule->minimum_tier;
    }
    return !policy || policy->allows_by_default;
}
