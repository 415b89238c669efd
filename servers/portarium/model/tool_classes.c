/*
 * tool_classes.c - the classes of tools and what each demands.
 */
#include "model/tool_classes.h"

#include <string.h>

static const struct {
    portarium_tier tier;
    portarium_effect effect;
} classes[] = {
    [PORTARIUM_TOOL_READ_ONLY] = { PORTARIUM_TIER_AUTO, PORTARIUM_EFFECT_ALLOW },
    [PORTARIUM_TOOL_MUTATION] = { PORTARIUM_TIER_HUMAN_APPROVE, PORTARIUM_EFFECT_REQUIRE_APPROVAL },
    [PORTARIUM_TOOL_DANGEROUS] = { PORTARIUM_TIER_MANUAL_ONLY, PORTARIUM_EFFECT_DENY },
    [PORTARIUM_TOOL_UNKNOWN] = { PORTARIUM_TIER_HUMAN_APPROVE, PORTARIUM_EFFECT_REQUIRE_APPROVAL },
};

bool portarium_pattern_fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);

    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

portarium_tool_class portarium_tool_class_of(const portarium_tool_pattern *patterns, size_t count,
                                             const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (portarium_pattern_fits(patterns[i].pattern, name))
            return patterns[i].tool_class;
    return PORTARIUM_TOOL_UNKNOWN;
}

portarium_tier portarium_tool_class_tier(portarium_tool_class tool_class)
{
    return classes[tool_class].tier;
}

portarium_effect portarium_tool_class_effect(portarium_tool_class tool_class)
{
    return classes[tool_class].effect;
}
