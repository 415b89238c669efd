/*
 * features.c - features that came together and go together.
 *
 * A call keeps the set that it began with, so that its tool, its schema and its list are there
 * until it is answered, whatever is added or removed meanwhile. The last call that holds it frees
 * the set.
 */
#include "mcp/features.h"

#include <stdlib.h>

#include "base/alloc.h"

static void set_free(mcp__features *set)
{
    mcp__completions_free(set->completions);
    mcp__tools_free(set->tools);
    mcp__resources_free(set->resources);
    mcp__prompts_free(set->prompts);
    free(set);
}

mcp_status mcp__features_new(mcp__features **out, const mcp_server_options *options, mcp_error *err)
{
    mcp__features *set = mcp_alloc_zeroed(1, sizeof *set);

    if (!set)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    atomic_init(&set->holders, 1);
    mcp_status st = mcp__tools_new(&set->tools, options, err);
    if (st == MCP_OK)
        st = mcp__resources_new(&set->resources, options, err);
    if (st == MCP_OK)
        st = mcp__prompts_new(&set->prompts, options, err);
    if (st == MCP_OK)
        st = mcp__completions_new(&set->completions, options, set->prompts, set->resources, err);
    if (st == MCP_OK)
        *out = set;
    else
        set_free(set);
    return st;
}

static unsigned task_capability(const mcp_tool *tools)
{
    for (; tools && tools->name; tools++)
        if (tools->flags & (MCP_TASK_OPTIONAL | MCP_TASK_REQUIRED))
            return MCP__CAN_TASKS;
    return 0;
}

unsigned mcp__features_capabilities(const mcp_features *features)
{
    return (features->tools ? MCP__CAN_TOOLS : 0u) |
           (features->resources ? MCP__CAN_RESOURCES : 0u) |
           (features->prompts ? MCP__CAN_PROMPTS : 0u) |
           (features->completions ? MCP__CAN_COMPLETIONS : 0u) | task_capability(features->tools);
}

mcp_status mcp__features_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (features->tools)
        st = mcp__tools_load(set->tools, features, err);
    if (st == MCP_OK && features->resources)
        st = mcp__resources_load(set->resources, features, err);
    if (st == MCP_OK && features->prompts)
        st = mcp__prompts_load(set->prompts, features, err);
    if (st == MCP_OK && features->completions)
        st = mcp__completions_load(set->completions, features, err);
    set->capabilities |= mcp__features_capabilities(features);
    return st;
}

void mcp__features_drop(const mcp__features *set)
{
    mcp__features *held = (mcp__features *)set; /* only the count of a shared set ever changes */

    if (held && atomic_fetch_sub(&held->holders, 1) == 1)
        set_free(held);
}
