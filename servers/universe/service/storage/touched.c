/*
 * touched.c - which entities an entry of the log changed.
 *
 * A delta since version N is the entities that any later entry touched, as they are now. So each
 * entry keeps their ids, and a delta costs what changed and not what there is. More than MANY ids
 * in one entry are not worth it: then the reader fetches everything.
 */
#include "service/storage/touched.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/json.h"

enum { MANY = 100000, SETTLED_MAX = 10, TEXT_MAX = 64 << 20 };

static void write_touches(mcp_json_writer *json, const universe_changes *changes)
{
    mcp_write_member_array(json, "touched");
    for (size_t i = 0; i < changes->count; i++) {
        const universe_touch *touch = &changes->touches[i];
        mcp_write_array(json);
        mcp_write_int(json, touch->map);
        mcp_write_string_n(json, touch->id, touch->length);
        mcp_write_bool(json, touch->removed);
        mcp_write_end(json);
    }
    mcp_write_end(json);
}

mcp_status universe_touched_write(const char **out, size_t *length, const universe_changes *changes,
                                  mcp_arena *arena, mcp_error *err)
{
    bool all = changes->everything || changes->count > MANY;
    mcp_json_writer json;
    mcp_buf text;

    *out = NULL;
    *length = 0;
    if (!all && changes->count == 0 && !changes->roots && !changes->root_groups)
        return MCP_OK;
    mcp_buf_init(&text, TEXT_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_object(&json);
    if (all) {
        mcp_write_member_bool(&json, "all", true);
    } else {
        if (changes->roots)
            mcp_write_member_bool(&json, "roots", true);
        if (changes->root_groups)
            mcp_write_member_bool(&json, "groups", true);
        write_touches(&json, changes);
    }
    mcp_write_end(&json);
    mcp_status st = mcp_json_writer_status(&json);
    if (st == MCP_OK)
        *out = mcp_arena_strndup(arena, text.data, text.length);
    if (st == MCP_OK && !*out)
        st = MCP_E_NOMEM;
    *length = *out ? text.length : 0;
    mcp_buf_clear(&text);
    return st == MCP_OK
               ? MCP_OK
               : mcp_error_set(err, st, "writing down %zu changed entities", changes->count);
}

/* Room for `more` touches. */
static mcp_status grow(universe_gatherer *to, size_t more, mcp_error *err)
{
    if (to->count + more <= to->capacity)
        return MCP_OK;
    size_t capacity = to->capacity ? to->capacity * 2 : 64;
    while (capacity < to->count + more)
        capacity *= 2;
    universe_touch *touches = mcp_arena_array(to->arena, capacity, sizeof *touches);
    if (!touches)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to gather %zu changed entities",
                             to->count + more);
    if (to->count > 0)
        memcpy(touches, to->touches, to->count * sizeof *touches);
    to->touches = touches;
    to->capacity = capacity;
    return MCP_OK;
}

mcp_status universe_gather(universe_gatherer *to, const universe_changes *changes, mcp_error *err)
{
    to->everything = to->everything || changes->everything;
    to->roots = to->roots || changes->roots;
    to->root_groups = to->root_groups || changes->root_groups;
    mcp_status st = grow(to, changes->count, err);
    if (st != MCP_OK || changes->count == 0)
        return st;
    memcpy(to->touches + to->count, changes->touches, changes->count * sizeof *changes->touches);
    to->count += changes->count;
    return MCP_OK;
}

static int by_entity(const universe_touch *a, const universe_touch *b)
{
    if (a->map != b->map)
        return a->map < b->map ? -1 : 1;
    if (a->length != b->length)
        return a->length < b->length ? -1 : 1;
    return memcmp(a->id, b->id, a->length);
}

/* qsort is not stable, but touches of one array differ in where their id lies in time: the
 * index stands in for it. */
struct dated {
    universe_touch touch;
    size_t at;
};

static int by_entity_and_time(const void *a, const void *b)
{
    const struct dated *x = a, *y = b;
    int order = by_entity(&x->touch, &y->touch);
    if (order != 0)
        return order;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Sort, and keep the last of each. False when memory is out. */
static bool deduplicate(universe_gatherer *from)
{
    struct dated *dated = mcp_arena_array(from->arena, from->count, sizeof *dated);
    size_t kept = 0;

    if (!dated)
        return false;
    for (size_t i = 0; i < from->count; i++)
        dated[i] = (struct dated){ .touch = from->touches[i], .at = i };
    qsort(dated, from->count, sizeof *dated, by_entity_and_time);
    for (size_t i = 0; i < from->count; i++) {
        bool is_last = i + 1 == from->count || by_entity(&dated[i].touch, &dated[i + 1].touch) != 0;
        if (is_last)
            from->touches[kept++] = dated[i].touch;
    }
    from->count = kept;
    return true;
}

/* Room by leaving out what came again; where that is not enough, everything is to be fetched. */
static void settle(universe_gatherer *to)
{
    if (to->count <= 2 * MANY)
        return;
    if (!deduplicate(to) || to->count > MANY || ++to->settled > SETTLED_MAX)
        to->everything = true;
}

static mcp_status read_touch(universe_touch *out, const mcp_json *row, mcp_arena *arena,
                             mcp_error *err)
{
    int64_t map = 0;
    const char *id = mcp_json_string(mcp_json_item(row, 1), &out->length);
    if (!id || !mcp_json_int(mcp_json_item(row, 0), &map) || map < 0 || map >= UNIVERSE_MAPS ||
        !mcp_json_bool(mcp_json_item(row, 2), &out->removed))
        return mcp_error_set(err, MCP_E_IO, "an entry of the log says badly what it changed");
    out->map = (universe_map)map;
    out->id = mcp_arena_strndup(arena, id, out->length);
    return out->id ? MCP_OK
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory to gather changed entities");
}

mcp_status universe_gather_text(universe_gatherer *to, const char *text, size_t length,
                                mcp_arena *scratch, mcp_error *err)
{
    const mcp_json *value = NULL;
    mcp_status st = mcp_json_read(&value, scratch, text, length, err);
    if (st != MCP_OK)
        return st;
    bool all = false, roots = false, groups = false;
    mcp_json_bool(mcp_json_get(value, "all"), &all);
    mcp_json_bool(mcp_json_get(value, "roots"), &roots);
    mcp_json_bool(mcp_json_get(value, "groups"), &groups);
    to->everything = to->everything || all;
    to->roots = to->roots || roots;
    to->root_groups = to->root_groups || groups;

    const mcp_json *rows = mcp_json_get(value, "touched");
    size_t count = mcp_json_count(rows);
    st = grow(to, count, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        st = read_touch(&to->touches[to->count], mcp_json_item(rows, i), to->arena, err);
        to->count += st == MCP_OK;
    }
    if (st == MCP_OK)
        settle(to);
    return st;
}

void universe_gathered(universe_changes *out, universe_gatherer *from)
{
    if (from->count > 1 && !from->everything && !deduplicate(from))
        from->everything = true;
    *out = (universe_changes){ .everything = from->everything,
                               .roots = from->roots,
                               .root_groups = from->root_groups,
                               .touches = from->touches,
                               .count = from->everything ? 0 : from->count };
}
