/*
 * build.c - a state from entities in any order.
 *
 * The lists of the state are made from `children` and rootIds as they come: a body that is named as
 * a child stands in its list before it has arrived, by a row that is not PRESENT. The parent that
 * parentId names is noted (`wanted`). At the end every row is looked at once: is it there, and does
 * it stand where it wants to? What then still hangs together is a forest unless parents go round in
 * circles, which a last walk finds.
 */
#include "model/build.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/entity.h"
#include "model/members.h"
#include "model/pages/memory.h"

#define REPAIR_MAX 240 /* bytes of one repair's words */

/* What is noted for a row while building: by the number of the row. */
typedef struct row_note {
    universe_handle wanted; /* the parent that it names */
    uint32_t is_listed;     /* it stands in the list of a parent, of roots, or of root groups */
} row_note;

typedef struct notes {
    row_note *items;
    size_t capacity;
} notes;

struct universe_build {
    universe_state *state;
    universe_rules rules;
    notes of[2]; /* UNIVERSE_STARS, UNIVERSE_GROUPS */
    char (*repairs)[REPAIR_MAX];
    size_t repair_count; /* all of them */
    bool derives_root_groups;
    mcp_status status; /* MCP_E_PARAMS after a violation in a strict universe */
    mcp_error error;
};

/* ---- making ---------------------------------------------------------------------------------- */

mcp_status universe_build_new(universe_build **out, const universe_rules *rules, mcp_error *err)
{
    universe_build *build = universe_alloc(sizeof *build);

    if (!build)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for building a universe");
    mcp_status st = universe_state_new(&build->state, err);
    if (st != MCP_OK) {
        universe_free(build, sizeof *build);
        return st;
    }
    if (rules)
        build->rules = *rules;
    *out = build;
    return MCP_OK;
}

void universe_build_free(universe_build *build)
{
    if (!build)
        return;
    for (int i = 0; i < 2; i++)
        universe_free(build->of[i].items, build->of[i].capacity * sizeof(row_note));
    universe_free(build->repairs, UNIVERSE_REPAIRS_MAX * REPAIR_MAX);
    universe_state_free(build->state);
    universe_free(build, sizeof *build);
}

void universe_build_derive_root_groups(universe_build *build)
{
    build->derives_root_groups = true;
}

void universe_build_time(universe_build *build, double time)
{
    build->state->core.time = time + 0.0;
}

bool universe_build_is_repairable(const universe_build *build)
{
    return build->status != MCP_OK;
}

size_t universe_build_repairs(const universe_build *build)
{
    return build->repair_count;
}

const char *universe_build_repair(const universe_build *build, size_t index)
{
    bool is_recorded = index < build->repair_count && index < UNIVERSE_REPAIRS_MAX &&
                       build->repairs;

    return is_recorded ? build->repairs[index] : NULL;
}

/* ---- notes and violations -------------------------------------------------------------------- */

/* The note of a row; NULL when memory is out, which the state remembers. */
static row_note *note_of(universe_build *build, universe_map map, universe_handle handle)
{
    notes *all = &build->of[map];

    if (handle >= all->capacity) {
        size_t capacity = all->capacity ? all->capacity : 256;
        while (capacity <= handle)
            capacity *= 2;
        row_note *larger = universe_realloc(all->items, all->capacity * sizeof *larger,
                                            capacity * sizeof *larger);
        if (!larger) {
            build->state->failed = true;
            return NULL;
        }
        memset(larger + all->capacity, 0, (capacity - all->capacity) * sizeof *larger);
        all->items = larger;
        all->capacity = capacity;
    }
    return &all->items[handle];
}

/*
 * Something disagrees about a row. A strict universe is refused for it; in a lenient one it is
 * noted, and the caller repairs it.
 */
static void disagree(universe_build *build, universe_map map, universe_handle handle,
                     const char *words)
{
    char id[UNIVERSE_ID_MAX + 1];

    universe_row_id(&build->state->core, map, handle, id);
    if (!build->rules.lenient && !build->rules.repair) {
        if (build->status == MCP_OK)
            build->status = mcp_error_set(&build->error, MCP_E_PARAMS, "%s '%.80s' %s",
                                          universe_map_names[map], id, words);
        return;
    }
    if (!build->repairs)
        build->repairs = universe_alloc(UNIVERSE_REPAIRS_MAX * REPAIR_MAX);
    if (!build->repairs)
        build->state->failed = true;
    else if (build->repair_count < UNIVERSE_REPAIRS_MAX)
        snprintf(build->repairs[build->repair_count], REPAIR_MAX, "%s '%.80s' %s",
                 universe_map_names[map], id, words);
    build->repair_count++;
}

static mcp_status status_of(universe_build *build, mcp_error *err)
{
    if (build->state->failed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for building a universe");
    if (build->status != MCP_OK && err)
        *err = build->error;
    return build->status;
}

/* ---- lists of children ----------------------------------------------------------------------- */

/* A body stands as the next child of another, or (0) as the next root. */
static void list_body(universe_build *build, universe_handle parent, const char *id, size_t length)
{
    universe_state *state = build->state;
    universe_handle child = universe_row_make(state, UNIVERSE_STARS, id, length);
    row_note *note = child ? note_of(build, UNIVERSE_STARS, child) : NULL;

    if (!note)
        return;
    if (note->is_listed) {
        disagree(build, UNIVERSE_STARS, child, "was listed twice, as a child or root");
        return;
    }
    if (!parent && (universe_body_at(&state->core, child)->row.flags & UNIVERSE_ROGUE)) {
        disagree(build, UNIVERSE_STARS, child, "is a rogue and stood in rootIds");
        return;
    }
    note->is_listed = 1;
    universe_body_append(state, child, parent);
}

static void list_member(universe_build *build, universe_link_kind kind, universe_handle group,
                        const char *id, size_t length)
{
    universe_state *state = build->state;
    universe_map map = kind == UNIVERSE_L_GROUP ? UNIVERSE_GROUPS : UNIVERSE_STARS;
    universe_handle child = universe_row_make(state, map, id, length);

    if (!child)
        return;
    universe_handle member = map == UNIVERSE_GROUPS
                                 ? universe_thing_at(&state->core, map, child)->member
                                 : universe_body_at(&state->core, child)->member;
    if (member) {
        disagree(build, map, child, "was in two groups");
        return;
    }
    if (map == UNIVERSE_GROUPS)
        note_of(build, map, child);
    universe_member_add(state, kind, group, child, 0);
}

mcp_status universe_build_root(universe_build *build, universe_map map, const char *id,
                               size_t length, mcp_error *err)
{
    if (map == UNIVERSE_STARS)
        list_body(build, 0, id, length);
    else
        list_member(build, UNIVERSE_L_GROUP, 0, id, length);
    return status_of(build, err);
}

/* ---- entities -------------------------------------------------------------------------------- */

static void list_children(universe_build *build, universe_map map, universe_handle handle,
                          const mcp_json *children)
{
    for (size_t i = 0; i < mcp_json_count(children) && !build->state->failed; i++) {
        const mcp_json *item = mcp_json_item(children, i);
        const mcp_json *id = map == UNIVERSE_GROUPS ? mcp_json_get(item, "id") : item;
        const char *type = mcp_json_get_string(item, "type");
        bool is_group = type && strcmp(type, "group") == 0;
        size_t length = 0;
        const char *bytes = mcp_json_string(id, &length);
        if (map == UNIVERSE_STARS)
            list_body(build, handle, bytes, length);
        else
            list_member(build, is_group ? UNIVERSE_L_GROUP : UNIVERSE_L_SYSTEM, handle, bytes,
                        length);
    }
}

static void note_wanted(universe_build *build, universe_map map, universe_handle handle,
                        const mcp_json *above)
{
    size_t length = 0;
    const char *id = mcp_json_string(above, &length);
    universe_handle wanted = id ? universe_row_make(build->state, map, id, length) : 0;
    row_note *note = note_of(build, map, handle);

    if (note)
        note->wanted = wanted;
    if (wanted)
        note_of(build, map, wanted);
}

/* All members as parts. */
static universe_part *parts_of(const universe_build *build, universe_map map,
                               const mcp_json *entity, mcp_arena *arena)
{
    size_t count = mcp_json_count(entity);
    universe_part *parts = mcp_arena_array(arena, count + 1, sizeof *parts);

    for (size_t i = 0; parts && i < count; i++) {
        const mcp_json *value = mcp_json_item(entity, i);
        parts[i].name = mcp_json_name(entity, i, &parts[i].length);
        if (!universe_member_value(&parts[i].value, universe_shape_of(map), &build->rules,
                                   parts[i].name, parts[i].length, value, arena))
            return NULL;
    }
    return parts;
}

static mcp_status store(universe_build *build, universe_map map, universe_handle handle,
                        const mcp_json *entity, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(0);
    universe_part *parts = arena ? parts_of(build, map, entity, arena) : NULL;
    mcp_status st = parts ? universe_entity_store(build->state, map, handle, parts,
                                                  mcp_json_count(entity), err)
                          : mcp_error_set(err, MCP_E_NOMEM, "no memory for an entity");

    mcp_arena_free(arena);
    return st;
}

/* A rogue that had come into rootIds before it was known to be one. */
static void leave_roots(universe_build *build, universe_handle body, const mcp_json *entity)
{
    row_note *note = note_of(build, UNIVERSE_STARS, body);
    bool is_rogue = false;

    mcp_json_bool(mcp_json_get(entity, "isRoguePlanet"), &is_rogue);
    if (!note || !is_rogue || !note->is_listed ||
        universe_body_at(&build->state->core, body)->parent)
        return;
    disagree(build, UNIVERSE_STARS, body, "is a rogue and stood in rootIds");
    universe_body_unlink(build->state, body);
    note->is_listed = 0;
}

mcp_status universe_build_add(universe_build *build, universe_map map, const mcp_json *entity,
                              mcp_error *err)
{
    universe_state *state = build->state;
    size_t length = 0;
    const char *id = mcp_json_string(mcp_json_get(entity, "id"), &length);

    if (universe_find(&state->core, map, id, length))
        return mcp_error_set(err, MCP_E_PARAMS, "%s '%.80s' occurs twice", universe_map_names[map],
                             id);
    if (state->core.tables[map].count >= UNIVERSE_ENTITIES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "%s has more than %u entities",
                             universe_map_names[map], UNIVERSE_ENTITIES_MAX);
    universe_handle handle = universe_row_make(state, map, id, length);
    if (handle && map == UNIVERSE_STARS)
        leave_roots(build, handle, entity);
    mcp_status st = handle ? store(build, map, handle, entity, err) : MCP_E_NOMEM;
    if (st != MCP_OK)
        return state->failed ? status_of(build, err) : st;
    if (map == UNIVERSE_STARS || map == UNIVERSE_GROUPS) {
        bool is_star = map == UNIVERSE_STARS;
        note_wanted(build, map, handle,
                    mcp_json_get(entity, is_star ? "parentId" : "parentGroupId"));
        list_children(build, map, handle, mcp_json_get(entity, "children"));
    }
    return status_of(build, err);
}

/* ---- judging: bodies ------------------------------------------------------------------------- */

static bool is_present(const universe_build *build, universe_map map, universe_handle handle)
{
    return universe_row_at(&build->state->core, map, handle)->flags & UNIVERSE_PRESENT;
}

static void unlist(universe_build *build, universe_handle body, row_note *note)
{
    universe_body_unlink(build->state, body);
    note->is_listed = 0;
}

/* The entity of a strict universe that refers to a body that is not there. */
static void refuse_reference(universe_build *build, universe_handle body)
{
    const universe_core *core = &build->state->core;
    const universe_link *link = universe_link_at(core, universe_body_at(core, body)->named_by);
    universe_map map = link->kind == UNIVERSE_L_BELT    ? UNIVERSE_BELTS
                       : link->kind == UNIVERSE_L_FIELD ? UNIVERSE_FIELDS
                       : link->kind == UNIVERSE_L_DISK  ? UNIVERSE_DISKS
                                                        : UNIVERSE_STARS;
    char id[UNIVERSE_ID_MAX + 1], words[REPAIR_MAX];

    universe_row_id(core, UNIVERSE_STARS, body, id);
    snprintf(words, sizeof words, "refers to the body '%.80s', which is not there", id);
    disagree(build, map, link->from, words);
}

/* A row that was named and never came. */
static void judge_absent(universe_build *build, universe_handle body, row_note *note)
{
    universe_state *state = build->state;
    universe_handle member = universe_body_at(&state->core, body)->member;

    if (note->is_listed) {
        disagree(build, UNIVERSE_STARS, body, "is listed as a child or root and is not there");
        unlist(build, body, note);
    }
    if (member) {
        disagree(build, UNIVERSE_STARS, body, "is listed in a group and is not there");
        universe_member_remove(state, member);
    }
    if (!universe_body_at(&state->core, body)->named_by)
        universe_row_end(state, UNIVERSE_STARS, body);
    else if (!build->rules.lenient && !build->rules.repair)
        refuse_reference(build, body);
}

static void judge_body(universe_build *build, universe_handle body, row_note *note)
{
    universe_state *state = build->state;
    bool is_rogue = universe_body_at(&state->core, body)->row.flags & UNIVERSE_ROGUE;

    if (note->wanted && !is_present(build, UNIVERSE_STARS, note->wanted)) {
        disagree(build, UNIVERSE_STARS, body, "has a parent that is not there; made a root");
        note->wanted = 0;
    }
    if (note->is_listed && universe_body_at(&state->core, body)->parent != note->wanted) {
        disagree(build, UNIVERSE_STARS, body, "stood in another list than its parentId says");
        unlist(build, body, note);
    } else if (!note->is_listed && (note->wanted || !is_rogue)) {
        disagree(build, UNIVERSE_STARS, body, "was missing in its parent's children or in rootIds");
    }
    if (!note->is_listed)
        universe_body_append(state, body, note->wanted);
    note->is_listed = 1;
}

static void judge_membership(universe_build *build, universe_handle body)
{
    const universe_body *row = universe_body_at(&build->state->core, body);

    if (!row->member || (!row->parent && !(row->row.flags & UNIVERSE_ROGUE)))
        return;
    disagree(build, UNIVERSE_STARS, body, "is in a group and is no system");
    universe_member_remove(build->state, row->member);
}

/* ---- judging: groups ------------------------------------------------------------------------- */

static void judge_group(universe_build *build, universe_handle group, row_note *note)
{
    universe_state *state = build->state;
    universe_handle member = universe_thing_at(&state->core, UNIVERSE_GROUPS, group)->member;
    universe_handle parent = universe_thing_at(&state->core, UNIVERSE_GROUPS, group)->parent;

    if (note->wanted && !is_present(build, UNIVERSE_GROUPS, note->wanted)) {
        disagree(build, UNIVERSE_GROUPS, group, "has a parent that is not there; made a root");
        note->wanted = 0;
    }
    if (member && parent == note->wanted)
        return;
    if (member || note->wanted || !build->derives_root_groups)
        disagree(build, UNIVERSE_GROUPS, group, "did not stand where its parentGroupId says");
    if (member)
        universe_member_remove(state, member);
    universe_member_add(state, UNIVERSE_L_GROUP, note->wanted, group, 0);
}

static void judge_absent_group(universe_build *build, universe_handle group)
{
    universe_handle member = universe_thing_at(&build->state->core, UNIVERSE_GROUPS, group)->member;

    if (member) {
        disagree(build, UNIVERSE_GROUPS, group, "is listed as a child or root and is not there");
        universe_member_remove(build->state, member);
    }
    universe_row_end(build->state, UNIVERSE_GROUPS, group);
}

/* ---- judging: circles ------------------------------------------------------------------------ */

static universe_handle above(const universe_build *build, universe_map map, universe_handle handle)
{
    const universe_core *core = &build->state->core;

    return map == UNIVERSE_STARS ? universe_body_at(core, handle)->parent
                                 : universe_thing_at(core, map, handle)->parent;
}

static void cut_circle(universe_build *build, universe_map map, universe_handle handle)
{
    disagree(build, map, handle, "was its own ancestor; made a root");
    if (map == UNIVERSE_STARS) {
        universe_body_unlink(build->state, handle);
        universe_body_append(build->state, handle, 0);
        return;
    }
    universe_member_remove(build->state,
                           universe_thing_at(&build->state->core, map, handle)->member);
    universe_member_add(build->state, UNIVERSE_L_GROUP, 0, handle, 0);
}

/* `wanted` is free by now, and notes from which row a walk upwards came by. Each row is passed
 * once. */
static void judge_circles(universe_build *build, universe_map map)
{
    uint32_t used = build->state->core.tables[map].used;
    row_note *all = build->of[map].items;

    for (universe_handle i = 1; all && i < used; i++)
        all[i].wanted = 0;
    for (universe_handle i = 1; all && i < used && !build->state->failed; i++) {
        universe_handle at = is_present(build, map, i) ? i : 0;
        while (at && !all[at].wanted) {
            all[at].wanted = i;
            at = above(build, map, at);
        }
        if (at && all[at].wanted == i && is_present(build, map, i))
            cut_circle(build, map, at);
    }
}

/* ---- judging --------------------------------------------------------------------------------- */

/* Room for notes of all rows, so that walks need not ask. */
static void judge_all(universe_build *build)
{
    const universe_core *core = &build->state->core;
    uint32_t bodies = core->tables[UNIVERSE_STARS].used;
    uint32_t groups = core->tables[UNIVERSE_GROUPS].used;

    if (!note_of(build, UNIVERSE_STARS, bodies) || !note_of(build, UNIVERSE_GROUPS, groups))
        return;
    row_note *body_notes = build->of[UNIVERSE_STARS].items;
    row_note *group_notes = build->of[UNIVERSE_GROUPS].items;
    for (universe_handle i = 1; i < bodies && !build->state->failed; i++)
        if (is_present(build, UNIVERSE_STARS, i))
            judge_body(build, i, &body_notes[i]);
    for (universe_handle i = 1; i < bodies && !build->state->failed; i++) {
        if (is_present(build, UNIVERSE_STARS, i))
            judge_membership(build, i);
        else if (!universe_row_is_free(core, UNIVERSE_STARS, i))
            judge_absent(build, i, &body_notes[i]);
    }
    for (universe_handle i = 1; i < groups && !build->state->failed; i++)
        if (is_present(build, UNIVERSE_GROUPS, i))
            judge_group(build, i, &group_notes[i]);
    for (universe_handle i = 1; i < groups && !build->state->failed; i++)
        if (!is_present(build, UNIVERSE_GROUPS, i) &&
            !universe_row_is_free(core, UNIVERSE_GROUPS, i))
            judge_absent_group(build, i);
    judge_circles(build, UNIVERSE_STARS);
    judge_circles(build, UNIVERSE_GROUPS);
}

mcp_status universe_build_end(universe_state **out, universe_build *build, mcp_error *err)
{
    judge_all(build);
    mcp_status st = status_of(build, err);
    if (st != MCP_OK)
        return st;
    *out = build->state;
    build->state = NULL;
    return MCP_OK;
}
