/*
 * things.c - the reducers of small body fields, protoplanetary disks and nebulae, which differ in
 * names alone.
 */
#include <string.h>

#include "commands/reduce.h"

/* The names that the three kinds have for the same. */
typedef struct thing_kind {
    universe_map map;
    const char *argument; /* of the command that sets all */
    const char *set, *updated, *removed, *not_found;
} thing_kind;

static const thing_kind fields = { UNIVERSE_FIELDS,         "fields",
                                   "smallBodyFieldsSet",    "smallBodyFieldUpdated",
                                   "smallBodyFieldRemoved", "smallBodyFieldNotFound" };
static const thing_kind disks = { UNIVERSE_DISKS,
                                  "disks",
                                  "protoplanetaryDisksSet",
                                  "protoplanetaryDiskUpdated",
                                  "protoplanetaryDiskRemoved",
                                  "protoplanetaryDiskNotFound" };
static const thing_kind nebulae = { UNIVERSE_NEBULAE, "nebulae",       "nebulaeSet",
                                    "nebulaUpdated",  "nebulaRemoved", "nebulaNotFound" };

static void remove_thing(universe_reduction *r, universe_map map, universe_handle thing)
{
    universe_touched(r, map, thing, true);
    universe_entity_clear(r->state, map, thing);
    universe_row_end(r->state, map, thing);
}

static void remove_all(universe_reduction *r, universe_map map)
{
    const universe_core *core = &r->state->core;

    for (universe_handle at = 1; at < core->tables[map].used && !r->state->failed; at++)
        if (universe_row_at(core, map, at)->flags & UNIVERSE_PRESENT)
            remove_thing(r, map, at);
}

static void set_all(universe_reduction *r, const thing_kind *kind)
{
    const mcp_json *all = universe_argument(r, kind->argument);

    for (size_t i = 0; i < mcp_json_count(all); i++) {
        const mcp_json *entity = mcp_json_item(all, i);
        const char *at = mcp_arena_printf(r->arena, "/%s/%s", kind->argument,
                                          mcp_json_name(all, i, NULL));
        if (!universe_names_exist(r, kind->map, entity, at ? at : ""))
            return;
    }
    remove_all(r, kind->map);
    for (size_t i = 0; i < mcp_json_count(all) && !r->state->failed; i++) {
        const mcp_json *entity = mcp_json_item(all, i);
        universe_handle thing = universe_new_row(r, kind->map, mcp_json_get(entity, "id"));
        if (!thing)
            return;
        universe_put(r, kind->map, thing, universe_parts_whole(r, kind->map, entity));
    }
    universe_event(r, kind->set, NULL, NULL);
}

static void update(universe_reduction *r, const thing_kind *kind)
{
    const mcp_json *id = universe_argument(r, "id");
    const mcp_json *patch = universe_argument(r, "patch");
    const mcp_json *new_id = mcp_json_get(patch, "id");
    const universe_shape *shape = universe_shape_of(kind->map);
    universe_handle thing = universe_named(r, kind->map, "id");

    if (!thing) {
        universe_reject(r, kind->not_found, NULL, "id", id, NULL);
        return;
    }
    if (new_id && !mcp_json_equal(new_id, id)) {
        universe_reject_patch(r, id, "id");
        return;
    }
    if (!universe_names_exist(r, kind->map, patch, "/patch"))
        return;
    universe_parts merged = universe_parts_merged(r, universe_parts_now(r, kind->map, thing),
                                                  universe_parts_patch(r, kind->map, patch));
    if (!universe_parts_ordered(r, shape, merged)) {
        universe_invalid(r, "must be less than the outer one", "/patch/innerRadius");
        return;
    }
    if (!universe_unknown_fit(r, kind->map, merged, "/patch"))
        return;
    universe_put(r, kind->map, thing, merged);
    universe_event(r, kind->updated, NULL, "id", id, NULL);
}

static void remove_one(universe_reduction *r, const thing_kind *kind)
{
    universe_handle thing = universe_named(r, kind->map, "id");

    if (thing)
        remove_thing(r, kind->map, thing);
    else
        r->out->verdict = UNIVERSE_UNCHANGED;
    universe_event(r, kind->removed, NULL, "id", universe_argument(r, "id"), NULL);
}

void universe_set_fields(universe_reduction *r)
{
    set_all(r, &fields);
}

void universe_update_field(universe_reduction *r)
{
    update(r, &fields);
}

void universe_remove_field(universe_reduction *r)
{
    remove_one(r, &fields);
}

void universe_set_disks(universe_reduction *r)
{
    set_all(r, &disks);
}

void universe_add_disk(universe_reduction *r)
{
    const mcp_json *disk = universe_argument(r, "disk");
    const mcp_json *id = mcp_json_get(disk, "id");

    if (!universe_names_exist(r, UNIVERSE_DISKS, disk, "/disk"))
        return;
    universe_handle thing = universe_named_by(r, UNIVERSE_DISKS, id);
    if (!thing)
        thing = universe_new_row(r, UNIVERSE_DISKS, id);
    if (!thing)
        return;
    universe_put(r, UNIVERSE_DISKS, thing, universe_parts_whole(r, UNIVERSE_DISKS, disk));
    universe_event(r, "protoplanetaryDiskAdded", NULL, "id", id, NULL);
}

void universe_update_disk(universe_reduction *r)
{
    update(r, &disks);
}

void universe_remove_disk(universe_reduction *r)
{
    remove_one(r, &disks);
}

void universe_set_nebulae(universe_reduction *r)
{
    set_all(r, &nebulae);
}

void universe_update_nebula(universe_reduction *r)
{
    update(r, &nebulae);
}

void universe_remove_nebula(universe_reduction *r)
{
    remove_one(r, &nebulae);
}
