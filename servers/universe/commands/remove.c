/*
 * remove.c - removing a body, with all that cannot be without it (C4).
 *
 * First everything that must go is gathered, which may bring in more: a marker of Lagrange goes
 * with its primary or secondary, and takes its own children along. Only then rows are freed; so
 * whatever is read while gathering is still whole, and a row that is named from two sides is freed
 * once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands/reduce.h"
#include "model/pages/memory.h"

/* Handles, with room that grows. */
typedef struct gathered {
    universe_handle *items;
    size_t count;
    size_t capacity;
} gathered;

typedef struct removal {
    universe_reduction *r;
    gathered bodies; /* in the order of the event */
    gathered things[UNIVERSE_MAPS];
    gathered trojans; /* they lose their host */
} removal;

/* In flags, while a removal lasts: the row is gathered. */
#define DOOMED (1u << 30)

static void gather(universe_reduction *r, gathered *list, universe_handle handle)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 16;
        void *larger = universe_realloc(list->items, list->capacity * sizeof *list->items,
                                        capacity * sizeof *list->items);
        if (!larger) {
            universe_give_up(r, MCP_E_NOMEM);
            return;
        }
        list->items = larger;
        list->capacity = capacity;
    }
    list->items[list->count++] = handle;
}

static bool is_doomed(const universe_core *core, universe_handle body)
{
    return universe_body_at(core, body)->row.flags & DOOMED;
}

static void doom(removal *all, universe_handle body)
{
    universe_body_edit(all->r->state, body)->row.flags |= DOOMED;
    gather(all->r, &all->bodies, body);
}

/* The next body in pre-order within `top` that lies not below `body`; 0 at the end. */
static universe_handle past(const universe_core *core, universe_handle body, universe_handle top)
{
    while (body != top && !universe_body_at(core, body)->next)
        body = universe_body_at(core, body)->parent;
    return body == top ? 0 : universe_body_at(core, body)->next;
}

/* A body and all below it that are not gathered yet; below one that is, all are. */
static void doom_subtree(removal *all, universe_handle top)
{
    const universe_core *core = &all->r->state->core;
    universe_handle at = top;

    while (at && all->r->status == MCP_OK && !all->r->state->failed) {
        bool was_doomed = is_doomed(core, at);
        if (!was_doomed)
            doom(all, at);
        at = was_doomed ? past(core, at, top) : universe_body_after(core, at, top);
    }
}

/* What names a body goes with it; markers at once, so that what names them is found as well. */
static void follow(removal *all, universe_handle body)
{
    const universe_core *core = &all->r->state->core;
    universe_handle at = universe_body_at(core, body)->named_by;

    for (; at && all->r->status == MCP_OK; at = universe_link_at(core, at)->next) {
        const universe_link *link = universe_link_at(core, at);
        bool is_marker = link->kind == UNIVERSE_L_PRIMARY || link->kind == UNIVERSE_L_SECONDARY;
        if (is_marker && !is_doomed(core, link->from))
            doom_subtree(all, link->from);
        if (link->kind == UNIVERSE_L_HOST)
            gather(all->r, &all->trojans, link->from);
        if (link->kind == UNIVERSE_L_BELT)
            gather(all->r, &all->things[UNIVERSE_BELTS], link->from);
        if (link->kind == UNIVERSE_L_FIELD)
            gather(all->r, &all->things[UNIVERSE_FIELDS], link->from);
        if (link->kind == UNIVERSE_L_DISK)
            gather(all->r, &all->things[UNIVERSE_DISKS], link->from);
    }
}

static int by_handle(const void *a, const void *b)
{
    universe_handle x = *(const universe_handle *)a, y = *(const universe_handle *)b;

    return (x > y) - (x < y);
}

/* The order of rows is that of the maps of the state. */
static void sort_things(removal *all)
{
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        if (all->things[map].count > 0)
            qsort(all->things[map].items, all->things[map].count, sizeof(universe_handle),
                  by_handle);
}

/* ---- the event ------------------------------------------------------------------------------- */

static void write_ids(removal *all, const char *name, universe_map map, const gathered *list)
{
    universe_reduction *r = all->r;
    char id[UNIVERSE_ID_MAX + 1];

    mcp_write_member_array(&r->events, name);
    for (size_t i = 0; i < list->count; i++) {
        size_t length = universe_row_id(&r->state->core, map, list->items[i], id);
        mcp_write_string_n(&r->events, id, length);
        universe_touched(r, map, list->items[i], true);
    }
    mcp_write_end(&r->events);
}

static void write_event(removal *all)
{
    universe_reduction *r = all->r;

    universe_event_begin(r, "starRemoved");
    mcp_write_member_value(&r->events, "id", universe_argument(r, "id"));
    write_ids(all, "removedIds", UNIVERSE_STARS, &all->bodies);
    write_ids(all, "removedFieldIds", UNIVERSE_FIELDS, &all->things[UNIVERSE_FIELDS]);
    write_ids(all, "removedDiskIds", UNIVERSE_DISKS, &all->things[UNIVERSE_DISKS]);
    write_ids(all, "removedBeltIds", UNIVERSE_BELTS, &all->things[UNIVERSE_BELTS]);
    universe_event_end(r);
}

/* ---- carrying it out ------------------------------------------------------------------------- */

static void free_things(removal *all, universe_map map)
{
    const gathered *list = &all->things[map];

    for (size_t i = 0; i < list->count; i++) {
        universe_entity_clear(all->r->state, map, list->items[i]);
        universe_row_end(all->r->state, map, list->items[i]);
    }
}

static void release_trojan(removal *all, universe_handle trojan)
{
    universe_reduction *r = all->r;
    universe_part none = { "lagrangeHostId", strlen("lagrangeHostId"), NULL };
    universe_parts patch = { &none, 1 };

    if (is_doomed(&r->state->core, trojan))
        return;
    universe_parts now = universe_parts_now(r, UNIVERSE_STARS, trojan);
    universe_put(r, UNIVERSE_STARS, trojan, universe_parts_merged(r, now, patch));
}

/* The top of what goes is taken out of the list and the group that stay. */
static void cut_off(removal *all, universe_handle body)
{
    universe_reduction *r = all->r;
    const universe_body *row = universe_body_at(&r->state->core, body);
    universe_handle parent = row->parent;

    if (row->member) {
        universe_handle group = universe_link_at(&r->state->core, row->member)->from;
        universe_member_remove(r->state, row->member);
        universe_touched(r, UNIVERSE_GROUPS, group, false);
    }
    if (parent && is_doomed(&r->state->core, parent))
        return;
    r->out->roots |= !parent && !(row->row.flags & UNIVERSE_ROGUE);
    universe_body_unlink(r->state, body);
    if (parent)
        universe_touched(r, UNIVERSE_STARS, parent, false);
}

static void carry_out(removal *all)
{
    universe_reduction *r = all->r;
    universe_state *state = r->state;

    for (size_t i = 0; i < all->bodies.count && !state->failed; i++)
        cut_off(all, all->bodies.items[i]);
    for (size_t i = 0; i < all->trojans.count && !state->failed; i++)
        release_trojan(all, all->trojans.items[i]);
    free_things(all, UNIVERSE_BELTS);
    free_things(all, UNIVERSE_FIELDS);
    free_things(all, UNIVERSE_DISKS);
    /* All contents first: a row goes when nobody names it any more. */
    for (size_t i = 0; i < all->bodies.count && !state->failed; i++) {
        universe_handle body = all->bodies.items[i];
        universe_entity_clear(state, UNIVERSE_STARS, body);
        universe_body *row = universe_body_edit(state, body);
        row->row.flags |= UNIVERSE_PRESENT;
        row->parent = row->first = row->last = row->next = row->prev = 0;
    }
    for (size_t i = 0; i < all->bodies.count && !state->failed; i++)
        universe_row_end(state, UNIVERSE_STARS, all->bodies.items[i]);
}

static void removal_clear(removal *all)
{
    universe_free(all->bodies.items, all->bodies.capacity * sizeof *all->bodies.items);
    universe_free(all->trojans.items, all->trojans.capacity * sizeof *all->trojans.items);
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        universe_free(all->things[map].items,
                      all->things[map].capacity * sizeof *all->things[map].items);
}

void universe_remove_star(universe_reduction *r)
{
    universe_handle body = universe_named(r, UNIVERSE_STARS, "id");
    removal all = { .r = r };

    if (!body) {
        universe_reject(r, "starNotFound", NULL, "id", universe_argument(r, "id"), NULL);
        return;
    }
    doom_subtree(&all, body);
    for (size_t i = 0; i < all.bodies.count && r->status == MCP_OK; i++)
        follow(&all, all.bodies.items[i]);
    sort_things(&all);
    if (r->status == MCP_OK && !r->state->failed) {
        write_event(&all);
        carry_out(&all);
    }
    removal_clear(&all);
}

/* ---- repairing ------------------------------------------------------------------------------- */

static void report(const removal *all, universe_map map, const gathered *list, const char *words,
                   universe_repaired *each, void *data)
{
    const universe_core *core = &all->r->state->core;
    char id[UNIVERSE_ID_MAX + 1], line[128 + UNIVERSE_ID_MAX];

    for (size_t i = 0; i < list->count; i++) {
        universe_row_id(core, map, list->items[i], id);
        snprintf(line, sizeof line, "%s '%.80s' %s", universe_map_names[map], id, words);
        each(line, data);
    }
}

static void report_all(const removal *all, universe_repaired *each, void *data)
{
    static const char removed[] = "refers to a body that is not there; removed";

    report(all, UNIVERSE_STARS, &all->bodies, removed, each, data);
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        report(all, (universe_map)map, &all->things[map], removed, each, data);
    report(all, UNIVERSE_STARS, &all->trojans,
           "had a lagrangeHostId that is not there; it has none now", each, data);
}

static void gather_dangling(removal *all)
{
    const universe_core *core = &all->r->state->core;
    uint32_t used = core->tables[UNIVERSE_STARS].used;

    for (universe_handle at = 1; at < used && all->r->status == MCP_OK; at++) {
        bool is_present = universe_body_at(core, at)->row.flags & UNIVERSE_PRESENT;
        if (!is_present && !universe_row_is_free(core, UNIVERSE_STARS, at))
            follow(all, at);
    }
    for (size_t i = 0; i < all->bodies.count && all->r->status == MCP_OK; i++)
        follow(all, all->bodies.items[i]);
}

mcp_status universe_repair(universe_state *state, universe_repaired *each, void *data,
                           mcp_arena *arena, mcp_error *err)
{
    static const universe_rules strict;
    universe_outcome nothing = { 0 };
    universe_reduction r = {
        .state = state, .rules = &strict, .arena = arena, .out = &nothing, .err = err
    };
    universe_core before = state->core;
    removal all = { .r = &r };

    universe_core_hold(&state->core);
    gather_dangling(&all);
    if (r.status == MCP_OK && !state->failed) {
        report_all(&all, each, data);
        carry_out(&all);
    }
    if (state->failed)
        universe_give_up(&r, MCP_E_NOMEM);
    if (r.status != MCP_OK)
        universe_state_return(state, &before);
    universe_core_drop(&before);
    removal_clear(&all);
    return r.status == MCP_OK ? MCP_OK
                              : mcp_error_set(err, r.status, "a state could not be repaired: %s",
                                              mcp_status_words(r.status));
}
