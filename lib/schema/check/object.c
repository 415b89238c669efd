/*
 * object.c - the keywords that look at the members of an object.
 *
 * The walk goes over the members of the value, and the schema's `properties`, a hashed JSON
 * object itself, is asked for each: so the work grows with the value, and the place of each
 * member, which the marks are kept by, is known.
 */
#include "schema/check/check.h"

#include "json/json_int.h"

/* All of `names` must be members of the value. `details` says on whose behalf. */
static bool has_all(mcp__check *check, const mcp__rule *rule, const mcp_json *value,
                    const mcp_json *names, mcp__details details)
{
    for (size_t i = 0; i < mcp_json_count(names); i++) {
        details.property = mcp_json_string(mcp_json_item(names, i), &details.property_length);
        if (!mcp__check_bytes(check, details.property_length))
            return false;
        if (!mcp_json_get_n(value, details.property, details.property_length))
            return mcp__check_refuse(check, rule, value, &details);
    }
    return true;
}

MCP__KEYWORD(required)
{
    return has_all(check, rule, value, rule->value, (mcp__details){ 0 });
}

MCP__KEYWORD(dependent_required)
{
    for (size_t i = 0; i < mcp_json_count(rule->value); i++) {
        mcp__details details = { 0 };
        details.needed_by = mcp_json_name(rule->value, i, &details.needed_by_length);
        if (!mcp__check_bytes(check, details.needed_by_length))
            return false;
        if (mcp_json_get_n(value, details.needed_by, details.needed_by_length) &&
            !has_all(check, rule, value, mcp_json_item(rule->value, i), details))
            return false;
    }
    return true;
}

MCP__KEYWORD(dependent_schemas)
{
    for (size_t i = 0; i < rule->node_count; i++) {
        const mcp__location *at = &rule->nodes[i]->at;
        if (!mcp__check_bytes(check, at->name_length))
            return false;
        if (mcp_json_get_n(value, at->name, at->name_length) &&
            !mcp__check_node(check, rule->nodes[i], value, marks))
            return false;
    }
    return true;
}

/* A name is no value of the document, so one is made; the finding is about the object that has
 * it. */
MCP__KEYWORD(property_names)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        mcp__details details = { 0 };
        details.property = mcp_json_name(value, i, &details.property_length);
        struct mcp_json name = { .type = MCP_JSON_STRING,
                                 .count = (uint32_t)details.property_length,
                                 .is.string = details.property };
        if (!mcp__check_quietly(check, rule->nodes[0], &name, NULL))
            return mcp__check_refuse(check, rule, value, &details);
    }
    return true;
}

MCP__KEYWORD(properties)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        if (!mcp__check_bytes(check, length))
            return false;
        size_t found = mcp__json_find(rule->value, name, length);
        if (found == rule->node_count)
            continue;
        if (!mcp__check_member(check, rule->nodes[found], value, i))
            return false;
        mcp__marks_set(marks, i);
    }
    return true;
}

MCP__KEYWORD(pattern_properties)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        for (size_t k = 0; k < rule->node_count; k++) {
            if (!mcp__check_matches(check, rule->as.patterns[k], name, length))
                continue;
            if (!mcp__check_member(check, rule->nodes[k], value, i))
                return false;
            mcp__marks_set(marks, i);
        }
    }
    return check->status == MCP_OK;
}

/* Whether a sibling `properties` or `patternProperties` has this member. */
static bool is_taken(mcp__check *check, const mcp__rule *rule, const char *name, size_t length)
{
    const mcp__rule *properties = rule->with[0];
    const mcp__rule *patterns = rule->with[1];

    if (properties && mcp__json_find(properties->value, name, length) < properties->node_count)
        return true;
    for (size_t k = 0; patterns && k < patterns->node_count; k++) {
        if (mcp__check_matches(check, patterns->as.patterns[k], name, length))
            return true;
    }
    return false;
}

/* A member that nobody else has: where nothing may be, the finding is about the object. */
static bool check_surplus(mcp__check *check, const mcp__rule *rule, const mcp_json *value, size_t i)
{
    mcp__details details = { 0 };

    if (!rule->nodes[0]->refuses)
        return mcp__check_member(check, rule->nodes[0], value, i);
    details.property = mcp_json_name(value, i, &details.property_length);
    return mcp__check_refuse(check, rule, value, &details);
}

MCP__KEYWORD(additional)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        size_t length = 0;
        const char *name = mcp_json_name(value, i, &length);
        if (!mcp__check_bytes(check, length))
            return false;
        bool taken = is_taken(check, rule, name, length);
        if (check->status != MCP_OK)
            return false;
        if (taken)
            continue;
        if (!check_surplus(check, rule, value, i))
            return false;
        mcp__marks_set(marks, i);
    }
    return true;
}

MCP__KEYWORD(unevaluated_members)
{
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (!mcp__check_step(check, 1))
            return false;
        if (!mcp__marks_has(marks, i) && !check_surplus(check, rule, value, i))
            return false;
    }
    mcp__marks_set_all(marks);
    return true;
}
