/*
 * assemble.c - builds the case for the solver from input without errors, part by part.
 *
 * Ids become indices, defaults and overrides become values, one record per entity and stage. Under
 * compatibility "cobre-0.5" everything that the original reads but does not model is switched off
 * here, so that no later part has to ask.
 */
#include "case/build/assemble.h"

#include <string.h>

#include "case/build/builder.h"

/* The last segment of a path without trailing slashes. */
static const char *last_segment(mcp_arena *arena, const char *directory)
{
    size_t end = strlen(directory);

    while (end > 1 && directory[end - 1] == '/')
        end--;
    size_t start = end;
    while (start > 0 && directory[start - 1] != '/')
        start--;
    return mcp_arena_strndup(arena, directory + start, end - start);
}

int64_t cobre_input_entities(const cobre_input *input)
{
    size_t count = input->stage_count;

    for (size_t i = 0; i < COBRE_REGISTRY_COUNT; i++)
        count += input->registries[i].count;
    return (int64_t)count;
}

static void build_all(cobre_builder *b)
{
    cobre_build_config(b);
    cobre_build_stages(b);
    cobre_build_registries(b);
    if (!b->failed)
        cobre_build_hydros(b);
    if (!b->failed)
        cobre_build_elements_by_stage(b);
    if (!b->failed)
        cobre_build_hydros_by_stage(b);
    if (!b->failed)
        cobre_build_scenarios(b);
    if (!b->failed)
        cobre_build_constraints(b);
}

mcp_status cobre_assemble(cobre_case **out, const cobre_input *input, const char *directory,
                          mcp_error *err)
{
    cobre_case *built = mcp_arena_alloc(input->arena, sizeof *built);
    cobre_builder b = {
        .input = input,
        .arena = input->arena,
        .built = built,
        .is_original = input->config.compatibility != COBRE_ABSENT,
    };

    if (!built)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the case");
    built->arena = input->arena;
    built->directory = mcp_arena_strdup(input->arena, directory);
    built->name = last_segment(input->arena, directory);
    built->entities_validated = cobre_input_entities(input);
    b.failed = !built->directory || !built->name;
    build_all(&b);
    if (b.failed)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for the case");
    *out = built;
    return MCP_OK;
}
