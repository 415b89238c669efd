/*
 * lists.c - the lists that hold a universe together: children of bodies, children of groups,
 * references.
 */
#include "model/core.h"

/* ---- children of bodies ---------------------------------------------------------------------- */

static bool is_rogue(const universe_body *body)
{
    return (body->row.flags & UNIVERSE_ROGUE) != 0;
}

/* The list of bodies without parent that a body belongs to. */
static universe_list *top_list(universe_state *state, const universe_body *body)
{
    return is_rogue(body) ? &state->core.rogues : &state->core.roots;
}

void universe_body_append(universe_state *state, universe_handle body, universe_handle parent)
{
    universe_body *mine = universe_body_edit(state, body);
    universe_list *top = parent ? NULL : top_list(state, mine);
    universe_handle last = parent ? universe_body_at(&state->core, parent)->last : top->last;

    mine->parent = parent;
    mine->prev = last;
    mine->next = 0;
    if (last)
        universe_body_edit(state, last)->next = body;
    if (!parent) {
        top->last = body;
        top->first = top->first ? top->first : body;
        top->count++;
        return;
    }
    universe_body *above = universe_body_edit(state, parent);
    above->last = body;
    above->first = above->first ? above->first : body;
}

static void replace_ends(universe_handle *first, universe_handle *last, const universe_body *gone)
{
    if (!gone->prev)
        *first = gone->next;
    if (!gone->next)
        *last = gone->prev;
}

void universe_body_unlink(universe_state *state, universe_handle body)
{
    universe_body gone = *universe_body_at(&state->core, body);

    if (gone.prev)
        universe_body_edit(state, gone.prev)->next = gone.next;
    if (gone.next)
        universe_body_edit(state, gone.next)->prev = gone.prev;
    if (gone.parent) {
        universe_body *above = universe_body_edit(state, gone.parent);
        replace_ends(&above->first, &above->last, &gone);
    } else {
        universe_list *top = top_list(state, &gone);
        replace_ends(&top->first, &top->last, &gone);
        top->count--;
    }
    universe_body *mine = universe_body_edit(state, body);
    mine->parent = mine->prev = mine->next = 0;
}

universe_handle universe_body_after(const universe_core *core, universe_handle body,
                                    universe_handle top)
{
    const universe_body *at = universe_body_at(core, body);

    if (at->first)
        return at->first;
    while (body != top && !at->next) {
        body = at->parent;
        at = universe_body_at(core, body);
    }
    return body == top ? 0 : at->next;
}

/* ---- links ----------------------------------------------------------------------------------- */

static universe_handle link_take(universe_state *state)
{
    universe_core *core = &state->core;
    universe_handle link = core->links_free;

    if (link) {
        core->links_free = universe_link_at(core, link)->also;
        return link;
    }
    return core->links_used++;
}

static void link_give(universe_state *state, universe_handle link)
{
    universe_link *mine = universe_link_edit(state, link);

    *mine = (universe_link){ .kind = UNIVERSE_L_FREE, .also = state->core.links_free };
    state->core.links_free = link;
}

/* ---- children of groups ---------------------------------------------------------------------- */

/* Where the ends of a group's list are kept; group 0 is the list of root groups. */
static void set_ends(universe_state *state, universe_handle group, universe_handle first,
                     universe_handle last)
{
    if (!group) {
        state->core.root_groups.first = first;
        state->core.root_groups.last = last;
        return;
    }
    universe_thing *mine = universe_thing_edit(state, UNIVERSE_GROUPS, group);
    mine->first = first;
    mine->last = last;
}

static void ends_of(const universe_core *core, universe_handle group, universe_handle *first,
                    universe_handle *last)
{
    const universe_thing *mine = universe_thing_at(core, UNIVERSE_GROUPS, group);

    *first = group ? mine->first : core->root_groups.first;
    *last = group ? mine->last : core->root_groups.last;
}

/* The child notes its link, and a group its parent. */
static void set_member(universe_state *state, universe_link_kind kind, universe_handle to,
                       universe_handle link, universe_handle group)
{
    if (kind == UNIVERSE_L_SYSTEM) {
        universe_body_edit(state, to)->member = link;
        return;
    }
    universe_thing *child = universe_thing_edit(state, UNIVERSE_GROUPS, to);
    child->member = link;
    child->parent = group;
}

void universe_member_add(universe_state *state, universe_link_kind kind, universe_handle group,
                         universe_handle to, universe_handle before)
{
    universe_handle link = link_take(state);
    universe_handle first;
    universe_handle last;

    ends_of(&state->core, group, &first, &last);
    universe_handle prev = before ? universe_link_at(&state->core, before)->prev : last;
    *universe_link_edit(state, link) = (universe_link){
        .kind = kind, .from = group, .to = to, .next = before, .prev = prev
    };
    if (prev)
        universe_link_edit(state, prev)->next = link;
    if (before)
        universe_link_edit(state, before)->prev = link;
    set_ends(state, group, prev ? first : link, before ? last : link);
    state->core.root_groups.count += group == 0;
    set_member(state, kind, to, link, group);
}

void universe_member_remove(universe_state *state, universe_handle link)
{
    universe_link gone = *universe_link_at(&state->core, link);
    universe_handle first;
    universe_handle last;

    if (gone.prev)
        universe_link_edit(state, gone.prev)->next = gone.next;
    if (gone.next)
        universe_link_edit(state, gone.next)->prev = gone.prev;
    ends_of(&state->core, gone.from, &first, &last);
    set_ends(state, gone.from, gone.prev ? first : gone.next, gone.next ? last : gone.prev);
    state->core.root_groups.count -= gone.from == 0;
    set_member(state, gone.kind, gone.to, 0, 0);
    link_give(state, link);
}

/* ---- references ------------------------------------------------------------------------------ */

static universe_handle *names_edit(universe_state *state, universe_link_kind kind,
                                   universe_handle from)
{
    switch (kind) {
    case UNIVERSE_L_BELT:
        return &universe_thing_edit(state, UNIVERSE_BELTS, from)->names;
    case UNIVERSE_L_FIELD:
        return &universe_thing_edit(state, UNIVERSE_FIELDS, from)->names;
    case UNIVERSE_L_DISK:
        return &universe_thing_edit(state, UNIVERSE_DISKS, from)->names;
    default:
        return &universe_body_edit(state, from)->names;
    }
}

void universe_refer(universe_state *state, universe_link_kind kind, universe_handle from,
                    const char *id, size_t length)
{
    universe_handle to = universe_row_make(state, UNIVERSE_STARS, id, length);
    universe_handle link = state->failed ? 0 : link_take(state);

    if (state->failed)
        return;
    universe_handle head = universe_body_at(&state->core, to)->named_by;
    universe_handle *names = names_edit(state, kind, from);
    *universe_link_edit(state, link) = (universe_link){
        .kind = kind, .from = from, .to = to, .next = head, .also = *names
    };
    *names = link;
    if (head)
        universe_link_edit(state, head)->prev = link;
    universe_body_edit(state, to)->named_by = link;
}

/* A row that only stood for an id that was named goes when nobody names it any more. */
static void end_unnamed(universe_state *state, universe_handle body)
{
    const universe_body *row = universe_body_at(&state->core, body);

    if (!(row->row.flags & UNIVERSE_PRESENT) && !row->named_by && !row->prev && !row->next &&
        !row->parent)
        universe_row_end(state, UNIVERSE_STARS, body);
}

void universe_unrefer(universe_state *state, universe_handle names)
{
    while (names && !state->failed) {
        universe_link gone = *universe_link_at(&state->core, names);
        if (gone.prev)
            universe_link_edit(state, gone.prev)->next = gone.next;
        else
            universe_body_edit(state, gone.to)->named_by = gone.next;
        if (gone.next)
            universe_link_edit(state, gone.next)->prev = gone.prev;
        link_give(state, names);
        end_unnamed(state, gone.to);
        names = gone.also;
    }
}
