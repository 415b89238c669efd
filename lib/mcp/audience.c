/*
 * audience.c - news for those who may know what it is about.
 *
 * News of a list concerns who may know of a feature that came or went; a feature that went is in no set any
 * more, so what it was is written down when it is first offered. News of a URI concerns who may know of
 * something that reads it; a URI that nothing reads is no secret.
 */
#include "mcp/audience.h"

#include "mcp/feature/list/exposure.h"

static bool may_know(const mcp_call *who, const mcp__news_feature *feature)
{
    return mcp__exposure_shows(who, feature->kind, feature->name, feature->scopes);
}

/* The guest is ours: what a template needs for a match goes with its arena. */
static bool may_hear(mcp_call *who, const char *uri)
{
    return !mcp__resources_hides(who->set->resources, who, uri);
}

static const mcp__audience audience = { .may_know = may_know, .may_hear = may_hear };

const mcp__audience *mcp__audience_of(const mcp_server_options *options)
{
    return mcp__exposure_varies(options) ? &audience : NULL;
}

/* ---- describing ------------------------------------------------------------------------------- */

static size_t count_features(const mcp_features *features)
{
    size_t count = 0;

    for (const mcp_tool *row = features->tools; row && row->name; row++)
        count++;
    for (const mcp_resource *row = features->resources; row && row->uri; row++)
        count++;
    for (const mcp_prompt *row = features->prompts; row && row->name; row++)
        count++;
    return count;
}

/* NULL for none; `*is_lost` when memory is out: the set may go before the copy. */
static const char *keep(mcp_arena *arena, const char *scopes, bool *is_lost)
{
    char *copy = scopes ? mcp_arena_strdup(arena, scopes) : NULL;

    *is_lost = *is_lost || (scopes && !copy);
    return copy;
}

mcp_status mcp__audience_describe(mcp__news_change *out, mcp_arena *arena, const mcp__set *set,
                                  const mcp_features *features, mcp_error *err)
{
    size_t count = count_features(features);
    mcp__news_feature *all = mcp_arena_alloc(arena, (count + 1) * sizeof(*all));
    bool is_lost = !all;
    size_t at = 0;

    for (const mcp_tool *row = features->tools; !is_lost && row && row->name; row++)
        all[at++] = (mcp__news_feature){ MCP_FEATURE_TOOL, row->name,
                                         keep(arena, mcp__tools_scopes_of(set->tools, row->name),
                                              &is_lost) };
    for (const mcp_resource *row = features->resources; !is_lost && row && row->uri; row++)
        all[at++] = (mcp__news_feature){
            MCP_FEATURE_RESOURCE, row->uri,
            keep(arena, mcp__resources_scopes_of(set->resources, row->uri), &is_lost)
        };
    for (const mcp_prompt *row = features->prompts; !is_lost && row && row->name; row++)
        all[at++] = (mcp__news_feature){
            MCP_FEATURE_PROMPT, row->name,
            keep(arena, mcp__prompts_scopes_of(set->prompts, row->name), &is_lost)
        };
    if (is_lost)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    out->features = all;
    out->count = count;
    return MCP_OK;
}
