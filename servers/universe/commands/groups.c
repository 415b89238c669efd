/*
 * groups.c - the reducers of groups: added, changed, removed, and who is in which.
 *
 * A group and a system are in one group at most (I6), so a child that enters a group leaves the one
 * it was in.
 */
#include <string.h>

#include "commands/reduce.h"

/* A child as a command names it. */
typedef struct group_child {
    universe_link_kind kind;
    universe_handle handle; /* 0: there is none of that id */
    const mcp_json *id;
} group_child;

static group_child child_of(const universe_reduction *r, const mcp_json *id, const mcp_json *type)
{
    const char *word = mcp_json_string(type, NULL);
    bool is_group = word && strcmp(word, "group") == 0;
    group_child found = { is_group ? UNIVERSE_L_GROUP : UNIVERSE_L_SYSTEM, 0, id };

    found.handle = universe_named_by(r, is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS, id);
    return found;
}

static universe_handle link_of(const universe_core *core, group_child child)
{
    return child.kind == UNIVERSE_L_GROUP
               ? universe_thing_at(core, UNIVERSE_GROUPS, child.handle)->member
               : universe_body_at(core, child.handle)->member;
}

/* The group that a child is in; 0 for none. */
static universe_handle group_of(const universe_core *core, group_child child)
{
    universe_handle link = link_of(core, child);

    return link ? universe_link_at(core, link)->from : 0;
}

/* Whether `group` is `above` or below it. */
static bool is_below(const universe_core *core, universe_handle group, universe_handle above)
{
    while (group && group != above)
        group = universe_thing_at(core, UNIVERSE_GROUPS, group)->parent;
    return group != 0;
}

/* Only systems, the roots that are no rogues, can be in a group (I6). */
static bool is_system(const universe_core *core, group_child child)
{
    const universe_body *body = universe_body_at(core, child.handle);

    return child.kind == UNIVERSE_L_GROUP || (!body->parent && !(body->row.flags & UNIVERSE_ROGUE));
}

/* Why a child may not enter a group: "cycle", "notRoot", or NULL. */
static const char *entry_refused(const universe_core *core, group_child child,
                                 universe_handle group)
{
    if (!is_system(core, child))
        return "notRoot";
    return child.kind == UNIVERSE_L_GROUP && is_below(core, group, child.handle) ? "cycle" : NULL;
}

/* Leave the present group, or the root groups, and enter another: 0 stands for the root, where
 * systems just are. */
static void move(universe_reduction *r, group_child child, universe_handle group,
                 universe_handle before)
{
    universe_handle link = link_of(&r->state->core, child);
    universe_handle old = group_of(&r->state->core, child);

    if (link)
        universe_member_remove(r->state, link);
    if (old)
        universe_touched(r, UNIVERSE_GROUPS, old, false);
    if (group || child.kind == UNIVERSE_L_GROUP)
        universe_member_add(r->state, child.kind, group, child.handle, before);
    if (group && group != old)
        universe_touched(r, UNIVERSE_GROUPS, group, false);
    if (child.kind != UNIVERSE_L_GROUP)
        return;
    universe_touched(r, UNIVERSE_GROUPS, child.handle, false);
    r->out->root_groups |= !old || !group;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* The i-th child of a new group can enter it; else the command is rejected. */
static bool may_enter(universe_reduction *r, const mcp_json *children, size_t index,
                      universe_handle parent)
{
    const mcp_json *item = mcp_json_item(children, index);
    group_child child = child_of(r, mcp_json_get(item, "id"), mcp_json_get(item, "type"));
    const mcp_json *id = universe_argument(r, "id");

    if (!child.handle) {
        universe_reject(r, "childNotFound", NULL, "childId", child.id, NULL);
        return false;
    }
    const char *reason = entry_refused(&r->state->core, child, parent);
    if (reason)
        universe_reject(r, "addToGroupFailed", reason, "groupId", id, "childId", child.id, NULL);
    return !reason;
}

/* Children enter one by one; one that is in the group already was named twice. */
static void enter_all(universe_reduction *r, const mcp_json *children, universe_handle group)
{
    for (size_t i = 0; i < mcp_json_count(children) && !r->state->failed; i++) {
        const mcp_json *item = mcp_json_item(children, i);
        group_child child = child_of(r, mcp_json_get(item, "id"), mcp_json_get(item, "type"));
        if (group_of(&r->state->core, child) == group) {
            universe_invalid(r, "names a child twice",
                             mcp_arena_printf(r->arena, "/payload/children/%zu", i));
            return;
        }
        move(r, child, group, 0);
    }
}

void universe_add_group(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "id");
    const mcp_json *payload = universe_argument(r, "payload");
    const mcp_json *parent_id = mcp_json_get(payload, "parentGroupId");
    const mcp_json *children = mcp_json_get(payload, "children");
    const mcp_json *own_id = mcp_json_get(payload, "id");
    universe_handle parent = universe_named_by(r, UNIVERSE_GROUPS, parent_id);

    if (universe_named(r, UNIVERSE_GROUPS, "id")) {
        universe_reject(r, "groupAlreadyExists", NULL, "id", id, NULL);
        return;
    }
    if (!parent && !mcp_json_is_null(parent_id)) {
        universe_reject(r, "parentNotFound", NULL, "id", id, "parentId", parent_id, NULL);
        return;
    }
    if (own_id && !mcp_json_is_null(own_id) && !mcp_json_equal(own_id, id)) {
        universe_invalid(r, "differs from the command's id", "/payload/id");
        return;
    }
    for (size_t i = 0; i < mcp_json_count(children); i++)
        if (!may_enter(r, children, i, parent))
            return;
    universe_handle group = universe_new_row(r, UNIVERSE_GROUPS, id);
    if (!group)
        return;
    universe_put(r, UNIVERSE_GROUPS, group, universe_parts_whole(r, UNIVERSE_GROUPS, payload));
    universe_member_add(r->state, UNIVERSE_L_GROUP, parent, group, 0);
    if (parent)
        universe_touched(r, UNIVERSE_GROUPS, parent, false);
    r->out->root_groups = !parent;
    enter_all(r, children, group);
    if (r->out->verdict != UNIVERSE_REJECTED)
        universe_event(r, "groupAdded", NULL, "id", id, NULL);
}

/* ---- changing -------------------------------------------------------------------------------- */

static bool is_row(const universe_core *core, universe_map map, universe_handle handle,
                   const mcp_json *id)
{
    char own[UNIVERSE_ID_MAX + 1];
    size_t length = 0;
    const char *bytes = mcp_json_string(id, &length);

    return bytes && universe_row_id(core, map, handle, own) == length &&
           memcmp(own, bytes, length) == 0;
}

static bool children_agree(const universe_reduction *r, universe_handle group,
                           const mcp_json *children)
{
    const universe_core *core = &r->state->core;
    universe_handle at = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;

    for (size_t i = 0; i < mcp_json_count(children); i++) {
        const mcp_json *item = mcp_json_item(children, i);
        group_child child = child_of(r, mcp_json_get(item, "id"), mcp_json_get(item, "type"));
        const universe_link *link = universe_link_at(core, at);
        if (!at || !child.handle || link->kind != child.kind || link->to != child.handle)
            return false;
        at = link->next;
    }
    return !at;
}

static const char *hierarchy_changed(const universe_reduction *r, universe_handle group,
                                     const mcp_json *patch)
{
    const universe_core *core = &r->state->core;
    const mcp_json *id = mcp_json_get(patch, "id");
    const mcp_json *parent_id = mcp_json_get(patch, "parentGroupId");
    const mcp_json *children = mcp_json_get(patch, "children");
    universe_handle parent = universe_thing_at(core, UNIVERSE_GROUPS, group)->parent;

    if (id && !mcp_json_equal(id, universe_argument(r, "id")))
        return "id";
    if (children && !children_agree(r, group, children))
        return "children";
    if (!parent_id)
        return NULL;
    bool agrees = parent ? is_row(core, UNIVERSE_GROUPS, parent, parent_id)
                         : mcp_json_is_null(parent_id);
    return agrees ? NULL : "parentGroupId";
}

void universe_update_group(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "id");
    const mcp_json *patch = universe_argument(r, "payload");
    universe_handle group = universe_named(r, UNIVERSE_GROUPS, "id");

    if (!group) {
        universe_reject(r, "groupNotFound", NULL, "id", id, NULL);
        return;
    }
    const char *field = hierarchy_changed(r, group, patch);
    if (field) {
        universe_reject_patch(r, id, field);
        return;
    }
    universe_parts merged = universe_parts_merged(r, universe_parts_now(r, UNIVERSE_GROUPS, group),
                                                  universe_parts_patch(r, UNIVERSE_GROUPS, patch));
    if (!universe_unknown_fit(r, UNIVERSE_GROUPS, merged, "/payload"))
        return;
    universe_put(r, UNIVERSE_GROUPS, group, merged);
    universe_event(r, "groupUpdated", NULL, "id", id, NULL);
}

/* ---- removing -------------------------------------------------------------------------------- */

/* Systems become ungrouped; groups take the removed one's place (C6), or go to the end of the root
 * groups. */
static void release_children(universe_reduction *r, universe_handle group, universe_handle parent,
                             universe_handle place)
{
    const universe_core *core = &r->state->core;
    universe_handle at = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;

    while (at && !r->state->failed) {
        universe_link link = *universe_link_at(core, at);
        group_child child = { link.kind, link.to, NULL };
        move(r, child, link.kind == UNIVERSE_L_GROUP ? parent : 0, parent ? place : 0);
        at = link.next;
    }
}

void universe_remove_group(universe_reduction *r)
{
    const mcp_json *id = universe_argument(r, "id");
    universe_handle group = universe_named(r, UNIVERSE_GROUPS, "id");
    const universe_core *core = &r->state->core;

    if (!group) {
        universe_reject(r, "groupNotFound", NULL, "id", id, NULL);
        return;
    }
    universe_handle parent = universe_thing_at(core, UNIVERSE_GROUPS, group)->parent;
    universe_handle place = universe_thing_at(core, UNIVERSE_GROUPS, group)->member;
    release_children(r, group, parent, place);
    universe_member_remove(r->state, place);
    if (parent)
        universe_touched(r, UNIVERSE_GROUPS, parent, false);
    r->out->root_groups |= !parent;
    universe_touched(r, UNIVERSE_GROUPS, group, true);
    universe_entity_clear(r->state, UNIVERSE_GROUPS, group);
    universe_row_end(r->state, UNIVERSE_GROUPS, group);
    universe_event(r, "groupRemoved", NULL, "id", id, NULL);
}

/* ---- entering and leaving -------------------------------------------------------------------- */

void universe_add_to_group(universe_reduction *r)
{
    const mcp_json *group_id = universe_argument(r, "groupId");
    const mcp_json *item = universe_argument(r, "child");
    universe_handle group = universe_named(r, UNIVERSE_GROUPS, "groupId");
    group_child child = child_of(r, mcp_json_get(item, "id"), mcp_json_get(item, "type"));
    const universe_core *core = &r->state->core;

    if (!group) {
        universe_reject(r, "groupNotFound", NULL, "id", group_id, NULL);
        return;
    }
    if (!child.handle) {
        universe_reject(r, "childNotFound", NULL, "childId", child.id, NULL);
        return;
    }
    if (link_of(core, child) && group_of(core, child) == group) {
        universe_event(r, "childAlreadyInGroup", NULL, "groupId", group_id, "childId", child.id,
                       NULL);
        r->out->verdict = UNIVERSE_UNCHANGED;
        return;
    }
    const char *reason = entry_refused(core, child, group);
    if (reason) {
        universe_reject(r, "addToGroupFailed", reason, "groupId", group_id, "childId", child.id,
                        NULL);
        return;
    }
    move(r, child, group, 0);
    universe_event(r, "childAddedToGroup", NULL, "groupId", group_id, "childId", child.id, NULL);
}

/* The child of a group by its id alone, whatever its kind: the first in the list. */
static universe_handle link_named(const universe_core *core, universe_handle group,
                                  const mcp_json *id)
{
    universe_handle at = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;

    for (; at; at = universe_link_at(core, at)->next) {
        const universe_link *link = universe_link_at(core, at);
        bool is_group = link->kind == UNIVERSE_L_GROUP;
        if (is_row(core, is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS, link->to, id))
            return at;
    }
    return 0;
}

void universe_remove_from_group(universe_reduction *r)
{
    const mcp_json *group_id = universe_argument(r, "groupId");
    const mcp_json *child_id = universe_argument(r, "childId");
    universe_handle group = universe_named(r, UNIVERSE_GROUPS, "groupId");

    if (!group) {
        universe_reject(r, "groupNotFound", NULL, "id", group_id, NULL);
        return;
    }
    universe_handle at = link_named(&r->state->core, group, child_id);
    if (!at) {
        universe_reject(r, "childNotInGroup", NULL, "groupId", group_id, "childId", child_id, NULL);
        return;
    }
    const universe_link *link = universe_link_at(&r->state->core, at);
    group_child child = { link->kind, link->to, child_id };
    move(r, child, 0, 0);
    universe_event(r, "childRemovedFromGroup", NULL, "groupId", group_id, "childId", child_id,
                   NULL);
}

void universe_move_to_group(universe_reduction *r)
{
    const mcp_json *child_id = universe_argument(r, "childId");
    const mcp_json *target_id = universe_argument(r, "targetGroupId");
    universe_handle target = universe_named(r, UNIVERSE_GROUPS, "targetGroupId");
    group_child child = child_of(r, child_id, universe_argument(r, "childType"));

    if (!target && !mcp_json_is_null(target_id)) {
        universe_reject(r, "groupNotFound", NULL, "id", target_id, NULL);
        return;
    }
    if (!child.handle) {
        universe_reject(r, "childNotFound", NULL, "childId", child_id, NULL);
        return;
    }
    const char *reason = target ? entry_refused(&r->state->core, child, target) : NULL;
    if (reason) {
        universe_reject(r, "moveToGroupFailed", reason, "childId", child_id, "targetGroupId",
                        target_id, NULL);
        return;
    }
    move(r, child, target, 0);
    universe_event(r, "movedToGroup", NULL, "childId", child_id, "targetGroupId", target_id, NULL);
}
