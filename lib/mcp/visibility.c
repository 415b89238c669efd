/*
 * visibility.c - which subscribers may be notified of a change.
 *
 * A change of a list concerns clients that may know of a feature that came or went. A feature that
 * went is in no set any more, so a description of it is kept from when it is first added. A change
 * of a URI concerns clients that may know of a feature that reads it; a URI that nothing reads is
 * no secret.
 */
#include "mcp/visibility.h"

#include "mcp/feature/list/exposure.h"

static bool may_know(const mcp_call *probe, const mcp__changed_feature *feature)
{
    return mcp__exposure_shows(probe, feature->kind, feature->name, feature->scopes);
}

/* A template's match uses memory of the probe's arena. */
static bool may_notify(mcp_call *probe, const char *uri)
{
    return !mcp__resources_hides(probe->features->resources, probe, uri);
}

static const mcp__visibility visibility = { .may_know = may_know, .may_notify = may_notify };

const mcp__visibility *mcp__visibility_of(const mcp_server_options *options)
{
    return mcp__exposure_varies(options) ? &visibility : NULL;
}

/* ---- describing ------------------------------------------------------------------------------ */

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

mcp_status mcp__visibility_describe(mcp__list_change *out, mcp_arena *arena,
                                    const mcp__features *set, const mcp_features *features,
                                    mcp_error *err)
{
    size_t count = count_features(features);
    mcp__changed_feature *all = mcp_arena_alloc(arena, (count + 1) * sizeof *all);
    bool is_lost = !all;
    size_t at = 0;

    for (const mcp_tool *row = features->tools; !is_lost && row && row->name; row++)
        all[at++] = (mcp__changed_feature){ MCP_FEATURE_TOOL, row->name,
                                            keep(arena, mcp__tools_scopes_of(set->tools, row->name),
                                                 &is_lost) };
    for (const mcp_resource *row = features->resources; !is_lost && row && row->uri; row++)
        all[at++] = (mcp__changed_feature){
            MCP_FEATURE_RESOURCE, row->uri,
            keep(arena, mcp__resources_scopes_of(set->resources, row->uri), &is_lost)
        };
    for (const mcp_prompt *row = features->prompts; !is_lost && row && row->name; row++)
        all[at++] = (mcp__changed_feature){
            MCP_FEATURE_PROMPT, row->name,
            keep(arena, mcp__prompts_scopes_of(set->prompts, row->name), &is_lost)
        };
    if (is_lost)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    out->features = all;
    out->count = count;
    return MCP_OK;
}
