/*
 * check.c - the invariants I1 to I8 over a whole state.
 *
 * The lists are walked from the roots, with a bound, and must meet every entity exactly once: that
 * alone shows that bodies and groups are forests whose two directions agree. Contents are held
 * against their shapes as JSON, the form in which others see them.
 */
#include <string.h>

#include "model/entity.h"
#include "model/members.h"

typedef struct inspection {
    const universe_core *core;
    const universe_rules *rules;
    mcp_error *err;
    mcp_status status;
    char id[UNIVERSE_ID_MAX + 1];
} inspection;

static bool broken(inspection *in, const char *rule, universe_map map, universe_handle handle,
                   const char *words)
{
    in->id[0] = '\0';
    if (handle && !universe_row_is_free(in->core, map, handle))
        universe_row_id(in->core, map, handle, in->id);
    in->status = mcp_error_set(in->err, MCP_E_INTERNAL, "%s: %s '%.80s' %s", rule,
                               universe_map_names[map], in->id, words);
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool check_row(inspection *in, universe_map map, universe_handle handle)
{
    size_t length = universe_row_id(in->core, map, handle, in->id);

    if (universe_row_find(in->core, map, in->id, length) != handle)
        return broken(in, "I1", map, handle, "is not found by its id");
    if (universe_row_at(in->core, map, handle)->flags & UNIVERSE_PRESENT)
        return true;
    bool is_named = map == UNIVERSE_STARS && universe_body_at(in->core, handle)->named_by;
    if (in->rules->lenient && is_named)
        return true;
    return broken(in, "I7", map, handle, "is named and is not there");
}

static mcp_status check_content(inspection *in, universe_map map, universe_handle handle,
                                mcp_buf *buf)
{
    const mcp_json *value = NULL;
    universe_fault fault = { NULL, NULL };
    mcp_json_writer writer;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? MCP_OK : MCP_E_NOMEM;

    mcp_buf_reset(buf);
    mcp_json_writer_init(&writer, buf);
    universe_entity_write(in->core, map, handle, &writer);
    if (st == MCP_OK)
        st = mcp_json_writer_status(&writer);
    if (st == MCP_OK)
        st = mcp_json_read(&value, arena, buf->data, buf->length, NULL);
    if (st == MCP_E_PARSE)
        broken(in, "I8", map, handle, "is no JSON");
    else if (st == MCP_OK && !universe_shape_check(&fault, universe_shape_of(map), value, "", false,
                                                   in->rules, arena))
        broken(in, "I8", map, handle, fault.reason ? fault.reason : "cannot be checked");
    mcp_arena_free(arena);
    return st == MCP_E_PARSE ? MCP_E_INTERNAL : st;
}

static mcp_status check_rows(inspection *in, universe_map map)
{
    const universe_table *table = &in->core->tables[map];
    mcp_status st = MCP_OK;
    uint32_t count = 0;
    mcp_buf buf;

    mcp_buf_init(&buf, (size_t)1 << 30);
    for (universe_handle at = 1; at < table->used && st == MCP_OK && in->status == MCP_OK; at++) {
        bool is_present = universe_row_at(in->core, map, at)->flags & UNIVERSE_PRESENT;
        if (universe_row_is_free(in->core, map, at) || !check_row(in, map, at))
            continue;
        count += is_present;
        if (is_present)
            st = check_content(in, map, at, &buf);
    }
    mcp_buf_clear(&buf);
    if (st == MCP_OK && in->status == MCP_OK && count != table->count)
        broken(in, "I1", map, 0, "are counted wrongly");
    return st;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static bool check_links_to(inspection *in, universe_handle body)
{
    universe_handle prev = 0;
    universe_handle at = universe_body_at(in->core, body)->named_by;

    for (; at; prev = at, at = universe_link_at(in->core, at)->next) {
        const universe_link *link = universe_link_at(in->core, at);
        if (link->to != body || link->prev != prev)
            return broken(in, "I7", UNIVERSE_STARS, body, "is named by a broken list");
    }
    return true;
}

/* One step of the walk: the body, and that it agrees with its neighbours. */
static bool check_body(inspection *in, universe_handle body, bool is_rogue_list)
{
    const universe_body *row = universe_body_at(in->core, body);
    const universe_body *next = universe_body_at(in->core, row->next);
    const universe_body *first = universe_body_at(in->core, row->first);
    bool is_rogue = row->row.flags & UNIVERSE_ROGUE;

    if (!(row->row.flags & UNIVERSE_PRESENT))
        return broken(in, "I2", UNIVERSE_STARS, body, "is listed and not there");
    if (row->next && (next->prev != body || next->parent != row->parent))
        return broken(in, "I2", UNIVERSE_STARS, body, "disagrees with the next in its list");
    if (row->first && (first->parent != body || first->prev))
        return broken(in, "I2", UNIVERSE_STARS, body, "disagrees with its first child");
    if (!row->parent && is_rogue != is_rogue_list)
        return broken(in, "I4", UNIVERSE_STARS, body,
                      "is in the wrong list of bodies without parent");
    if (row->member && (row->parent || is_rogue))
        return broken(in, "I6", UNIVERSE_STARS, body, "is in a group and is no system");
    return check_links_to(in, body);
}

static bool walk_bodies(inspection *in, const universe_list *list, bool is_rogue_list,
                        uint32_t *met)
{
    uint32_t limit = in->core->tables[UNIVERSE_STARS].count;
    uint32_t tops = 0;

    for (universe_handle top = list->first; top; top = universe_body_at(in->core, top)->next) {
        tops++;
        for (universe_handle at = top; at; at = universe_body_after(in->core, at, top)) {
            if (++*met > limit)
                return broken(in, "I3", UNIVERSE_STARS, at, "is met more than once");
            if (!check_body(in, at, is_rogue_list))
                return false;
        }
    }
    return tops == list->count ||
           broken(in, "I4", UNIVERSE_STARS, 0, "without parent are counted wrongly");
}

static void check_bodies(inspection *in)
{
    uint32_t met = 0;

    if (!walk_bodies(in, &in->core->roots, false, &met) ||
        !walk_bodies(in, &in->core->rogues, true, &met))
        return;
    if (met != in->core->tables[UNIVERSE_STARS].count)
        broken(in, "I2", UNIVERSE_STARS, 0, "are not all in the lists");
}

/* ---- groups ---------------------------------------------------------------------------------- */

static bool check_member(inspection *in, universe_handle at, universe_handle group,
                         universe_handle prev)
{
    const universe_link *link = universe_link_at(in->core, at);
    bool is_group = link->kind == UNIVERSE_L_GROUP;
    universe_map map = is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS;

    if (link->from != group || link->prev != prev)
        return broken(in, "I5", UNIVERSE_GROUPS, group, "has a broken list of children");
    if (!(universe_row_at(in->core, map, link->to)->flags & UNIVERSE_PRESENT))
        return broken(in, "I6", map, link->to, "is in a group and not there");
    universe_handle member = is_group ? universe_thing_at(in->core, map, link->to)->member
                                      : universe_body_at(in->core, link->to)->member;
    if (member != at)
        return broken(in, "I6", map, link->to, "is in two groups");
    if (is_group && universe_thing_at(in->core, map, link->to)->parent != group)
        return broken(in, "I5", map, link->to, "names another parent");
    return true;
}

/* Groups lie behind each other in a stack made of their own rows: the next one is found by going
 * up. */
static universe_handle next_group(const universe_core *core, universe_handle at)
{
    while (at && universe_link_at(core, at)->kind != UNIVERSE_L_GROUP)
        at = universe_link_at(core, at)->next;
    return at;
}

static bool check_list(inspection *in, universe_handle first, universe_handle group)
{
    universe_handle prev = 0;

    for (universe_handle at = first; at; prev = at, at = universe_link_at(in->core, at)->next)
        if (!check_member(in, at, group, prev))
            return false;
    return true;
}

static void check_groups(inspection *in)
{
    const universe_core *core = in->core;
    universe_handle at = core->root_groups.first;
    uint32_t met = 0;

    if (!check_list(in, at, 0))
        return;
    while (at) {
        universe_handle group = universe_link_at(core, at)->to;
        universe_handle first = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;
        if (++met > core->tables[UNIVERSE_GROUPS].count) {
            broken(in, "I3", UNIVERSE_GROUPS, group, "is met more than once");
            return;
        }
        if (!check_list(in, first, group))
            return;
        universe_handle below = next_group(core, first);
        while (!below && at) {
            below = next_group(core, universe_link_at(core, at)->next);
            group = universe_link_at(core, at)->from;
            at = group ? universe_thing_at(core, UNIVERSE_GROUPS, group)->member : 0;
        }
        at = below;
    }
    if (met != core->tables[UNIVERSE_GROUPS].count)
        broken(in, "I5", UNIVERSE_GROUPS, 0, "are not all in the lists");
}

mcp_status universe_view_check(const universe_view *view, const universe_rules *rules,
                               mcp_error *err)
{
    static const universe_rules strict;
    inspection in = { .core = &view->core, .rules = rules ? rules : &strict, .err = err };
    mcp_status st = MCP_OK;

    check_bodies(&in);
    if (in.status == MCP_OK)
        check_groups(&in);
    for (int map = 0; map < UNIVERSE_MAPS && st == MCP_OK && in.status == MCP_OK; map++)
        st = check_rows(&in, map);
    if (st != MCP_OK && in.status == MCP_OK)
        return mcp_error_set(err, st, "a state could not be checked: %s", mcp_status_words(st));
    return in.status;
}
