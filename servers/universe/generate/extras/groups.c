/*
 * groups.c - galaxies: groups that the systems are assigned to (universe.md 13.5).
 */
#include <stdio.h>
#include <string.h>

#include "generate/extras/extras.h"

struct group {
    char id[UNIVERSE_UUID_SIZE];
    int64_t parent; /* -1: none */
    double position[3];
};

static void write_children(mcp_json_writer *json, const struct group *groups, size_t count,
                           size_t own, char (*roots)[UNIVERSE_UUID_SIZE], const size_t *of,
                           size_t root_count)
{
    mcp_write_member_array(json, "children");
    for (size_t i = 0; i < root_count; i++) {
        if (of[i] != own)
            continue;
        mcp_write_object(json);
        mcp_write_member_string(json, "id", roots[i]);
        mcp_write_member_string(json, "type", "system");
        mcp_write_end(json);
    }
    for (size_t i = 0; i < count; i++) {
        if (groups[i].parent != (int64_t)own)
            continue;
        mcp_write_object(json);
        mcp_write_member_string(json, "id", groups[i].id);
        mcp_write_member_string(json, "type", "group");
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

static void write_group(universe_generation *generation, const struct group *groups, size_t count,
                        size_t own, char (*roots)[UNIVERSE_UUID_SIZE], const size_t *of,
                        size_t root_count)
{
    const struct group *group = &groups[own];
    char name[32];
    snprintf(name, sizeof name, "Galaxy %zu", own + 1);
    mcp_json_writer json = universe_entity_begin(generation);
    mcp_write_member_string(&json, "id", group->id);
    mcp_write_member_string(&json, "name", name);
    write_children(&json, groups, count, own, roots, of, root_count);
    mcp_write_member_string(&json, "parentGroupId",
                            group->parent >= 0 ? groups[group->parent].id : NULL);
    mcp_write_member_object(&json, "position");
    mcp_write_member_double(&json, "x", group->position[0]);
    mcp_write_member_double(&json, "y", group->position[1]);
    mcp_write_member_double(&json, "z", group->position[2]);
    mcp_write_end(&json);
    universe_entity_end(generation, &json, UNIVERSE_GROUPS);
    if (group->parent < 0 && generation->status == MCP_OK)
        generation->status = universe_build_root(generation->build, UNIVERSE_GROUPS, group->id,
                                                 UNIVERSE_UUID_SIZE - 1, generation->err);
}

void universe_generate_groups(universe_generation *generation, universe_rng rng, universe_rng *ids,
                              char (*roots)[UNIVERSE_UUID_SIZE], size_t root_count)
{
    static const double nesting[3] = { 0, .2, .5 };
    const universe_config *config = generation->config;
    size_t most = (size_t)config->group_count < root_count ? (size_t)config->group_count
                                                           : root_count;
    if (root_count == 0 || generation->status != MCP_OK)
        return;
    size_t count = (size_t)universe_rng_int(&rng, (int64_t)(most + 1) / 2, (int64_t)most);
    struct group *groups = mcp_arena_array(generation->arena, count, sizeof *groups);
    size_t *of = mcp_arena_array(generation->arena, root_count, sizeof *of);
    if (!groups || !of) {
        universe_generation_fail(generation, MCP_E_NOMEM, "no memory for groups");
        return;
    }
    for (size_t i = 0; i < count; i++) {
        universe_rng_uuid(ids, groups[i].id);
        bool is_nested = i > 0 && universe_rng_bool(&rng, nesting[config->group_structure]);
        groups[i].parent = is_nested ? universe_rng_int(&rng, 0, (int64_t)i - 1) : -1;
        for (int axis = 0; axis < 3; axis++)
            groups[i].position[axis] = universe_rng_normal(&rng, 0, 50);
    }
    for (size_t i = 0; i < root_count; i++)
        of[i] = (size_t)universe_rng_int(&rng, 0, (int64_t)count - 1);
    for (size_t i = 0; i < count && generation->status == MCP_OK; i++)
        write_group(generation, groups, count, i, roots, of, root_count);
}
