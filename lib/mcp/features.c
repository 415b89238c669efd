/*
 * features.c - features that came together and go together, and who may be notified of that.
 *
 * A call keeps the set that it began with, so that its tool, its schema and its list are there
 * until it is answered, whatever is added or removed meanwhile. The last call that holds it frees
 * the set.
 *
 * A change of a list concerns clients that may know of a feature that came or went. A change of a
 * URI concerns clients that may know of a feature that reads it; a URI that nothing reads is no
 * secret.
 */
#include "mcp/features.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FEATURES_MAX_BYTES ((size_t)1 << 30)

void mcp__features_free(mcp__features *set)
{
    mcp__tools_free(set);
    mcp_arena_free(set->arena);
    free(set);
}

mcp_status mcp__features_new(mcp__features **out, const mcp_server_options *options, mcp_error *err)
{
    mcp__features *set = mcp_alloc_zeroed(1, sizeof *set);
    mcp_arena *arena = set ? mcp_arena_new(FEATURES_MAX_BYTES) : NULL;

    if (!arena) {
        free(set);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    }
    atomic_init(&set->holders, 1);
    set->options = options;
    set->arena = arena;
    mcp__list_init(&set->tools, arena, "tools", MCP_FEATURE_TOOL);
    mcp__list_init(&set->resources, arena, "resources", MCP_FEATURE_RESOURCE);
    mcp__list_init(&set->templates, arena, "resourceTemplates", MCP_FEATURE_RESOURCE);
    mcp__list_init(&set->prompts, arena, "prompts", MCP_FEATURE_PROMPT);
    mcp__map_init(&set->completions, arena);
    set->last_template = &set->first_template;
    *out = set;
    return MCP_OK;
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

unsigned mcp__features_lists(unsigned capabilities)
{
    return (capabilities & MCP__CAN_TOOLS ? MCP__LIST_TOOLS : 0u) |
           (capabilities & MCP__CAN_PROMPTS ? MCP__LIST_PROMPTS : 0u) |
           (capabilities & MCP__CAN_RESOURCES ? MCP__LIST_RESOURCES : 0u);
}

mcp_status mcp__features_load(mcp__features *set, const mcp_features *features, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (features->tools)
        st = mcp__tools_load(set, features, err);
    if (st == MCP_OK && features->resources)
        st = mcp__resources_load(set, features, err);
    if (st == MCP_OK && features->prompts)
        st = mcp__prompts_load(set, features, err);
    if (st == MCP_OK && features->completions)
        st = mcp__completions_load(set, features, err);
    set->capabilities |= mcp__features_capabilities(features);
    return st;
}

mcp__feature *mcp__features_find(const mcp__features *set, mcp_feature kind, const char *name,
                                 size_t length)
{
    const mcp__list *list = kind == MCP_FEATURE_TOOL     ? &set->tools
                            : kind == MCP_FEATURE_PROMPT ? &set->prompts
                                                         : &set->resources;
    mcp__feature *found = mcp__list_find(list, name, length);

    return found || kind != MCP_FEATURE_RESOURCE ? found
                                                 : mcp__list_find(&set->templates, name, length);
}

mcp__feature *mcp__features_find_shown(const mcp_call *call, mcp_feature kind, const char *name,
                                       size_t length)
{
    mcp__feature *found = mcp__features_find(call->features, kind, name, length);

    return found && mcp__list_shows(call, kind, found->name, found->scopes) ? found : NULL;
}

bool mcp__features_has_file(const char *path, const char *folder, const char *end)
{
    size_t length = strlen(path);
    size_t around = strlen(folder) + 1 + strlen(end);

    return length > around && strncmp(path, folder, strlen(folder)) == 0 &&
           path[strlen(folder)] == '/' && strcmp(path + length - strlen(end), end) == 0;
}

/* ---- who is notified ------------------------------------------------------------------------- */

static bool may_know(const mcp_call *probe, const mcp__changed_feature *feature)
{
    return mcp__list_shows(probe, feature->kind, feature->name, feature->scopes);
}

static bool may_notify(mcp_call *probe, const char *uri)
{
    return !mcp__resources_hides(probe->features, probe, uri);
}

static const mcp__visibility visibility = { .may_know = may_know, .may_notify = may_notify };

const mcp__visibility *mcp__features_visibility(const mcp_server_options *options)
{
    return mcp__list_varies(options) ? &visibility : NULL;
}

/* What is described, and from what. */
struct description {
    const mcp__features *set;
    mcp_arena *arena;          /* pays for copies: the set may go before them */
    mcp__changed_feature *all; /* NULL: they are only counted */
    size_t count;
    bool is_lost; /* memory is out */
};

static void describe(struct description *d, mcp_feature kind, const char *name)
{
    const mcp__feature *feature = mcp__features_find(d->set, kind, name, strlen(name));
    const char *scopes = feature ? feature->scopes : NULL;
    size_t at = d->count++;

    if (!d->all)
        return;
    d->all[at] = (mcp__changed_feature){ kind, name, mcp_arena_strdup(d->arena, scopes) };
    d->is_lost = d->is_lost || (scopes && !d->all[at].scopes);
}

static void describe_all(struct description *d, const mcp_features *features)
{
    d->count = 0;
    for (const mcp_tool *row = features->tools; row && row->name; row++)
        describe(d, MCP_FEATURE_TOOL, row->name);
    for (const mcp_resource *row = features->resources; row && row->uri; row++)
        describe(d, MCP_FEATURE_RESOURCE, row->uri);
    for (const mcp_prompt *row = features->prompts; row && row->name; row++)
        describe(d, MCP_FEATURE_PROMPT, row->name);
}

mcp_status mcp__features_describe(mcp__list_change *out, mcp_arena *arena, const mcp__features *set,
                                  const mcp_features *features, mcp_error *err)
{
    struct description d = { .set = set, .arena = arena };

    describe_all(&d, features);
    d.all = mcp_arena_array(arena, d.count + 1, sizeof *d.all);
    if (d.all)
        describe_all(&d, features);
    if (!d.all || d.is_lost)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for features");
    out->features = d.all;
    out->count = d.count;
    return MCP_OK;
}
