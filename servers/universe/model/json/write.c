/*
 * write.c - a state, a part of it, one entity or a delta as JSON.
 *
 * A cursor is the map and the row at which the next page begins; rows keep their numbers, so paging
 * through a universe that changes meanwhile neither repeats nor skips what stays.
 *
 * A whole state of moderate size is put together from the texts that are kept with its leaves of
 * rows (kept.h). For that to be right, whatever changes an entity's text must edit its row, also
 * where the change lies elsewhere: a body's text has the ids of its children, so a change of a list
 * of children edits the parent.
 */
#include <string.h>

#include "model/entity.h"

#include "mcp/hash.h"
#include "model/json/stream.h"

#define KEPT_STATE_MAX ((int64_t)4 << 20) /* bytes of a state whose leaves' texts are kept */
#define LEAF_TEXT_MAX ((size_t)1 << 30)   /* an entity may have very many children */

static const char *const other_fields[] = { "rootIds", "rootGroupIds", "time" };

unsigned universe_field_of(const char *name)
{
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        if (strcmp(name, universe_map_names[map]) == 0)
            return UNIVERSE_FIELD_MAP(map);
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(name, other_fields[i]) == 0)
            return UNIVERSE_FIELD_ROOT_IDS << i;
    return 0;
}

/* A page that is being written. */
typedef struct state_page {
    universe_stream stream;
    const universe_core *core;
    const universe_projection *part;
    size_t left; /* entities that still fit */
    uint64_t next;
    bool is_keeping; /* whole leaves are taken from what is kept, and kept */
    mcp_buf leaf;
    mcp_buf escaped;
} state_page;

static void write_id(mcp_json_writer *writer, const universe_core *core, universe_map map,
                     universe_handle handle)
{
    char id[UNIVERSE_ID_MAX + 1];
    size_t length = universe_row_id(core, map, handle, id);

    mcp_write_string_n(writer, id, length);
}

static void write_entry(mcp_json_writer *writer, const universe_core *core, universe_map map,
                        universe_handle handle)
{
    char id[UNIVERSE_ID_MAX + 1];

    universe_row_id(core, map, handle, id);
    mcp_write_name(writer, id);
    universe_entity_write(core, map, handle, writer);
}

static void write_root_ids(universe_stream *stream, const universe_core *core)
{
    mcp_write_member_array(&stream->writer, "rootIds");
    universe_handle at = core->roots.first;
    for (; at && universe_stream_step(stream); at = universe_body_at(core, at)->next)
        write_id(&stream->writer, core, UNIVERSE_STARS, at);
    mcp_write_end(&stream->writer);
}

static void write_root_group_ids(universe_stream *stream, const universe_core *core)
{
    mcp_write_member_array(&stream->writer, "rootGroupIds");
    universe_handle at = core->root_groups.first;
    for (; at && universe_stream_step(stream); at = universe_link_at(core, at)->next)
        write_id(&stream->writer, core, UNIVERSE_GROUPS, universe_link_at(core, at)->to);
    mcp_write_end(&stream->writer);
}

static bool is_wanted(const state_page *page, universe_map map, universe_handle handle)
{
    const universe_row *row = universe_row_at(page->core, map, handle);
    unsigned type = row->flags >> UNIVERSE_TYPE_SHIFT & 7;

    if (!(row->flags & UNIVERSE_PRESENT))
        return false;
    return map != UNIVERSE_STARS || !page->part->body_types ||
           page->part->body_types & (1u << type);
}

/* One entity more, unless the page is full: then the cursor of the next page is noted. */
static bool put_entity(state_page *page, universe_map map, universe_handle handle, uint64_t cursor)
{
    if (!is_wanted(page, map, handle))
        return true;
    if (page->left == 0) {
        page->next = cursor;
        return false;
    }
    page->left--;
    write_entry(&page->stream.writer, page->core, map, handle);
    return universe_stream_step(&page->stream);
}

static void put_rows(state_page *page, universe_map map, universe_handle first)
{
    for (universe_handle at = first; at < page->core->tables[map].used; at++)
        if (!put_entity(page, map, at, (uint64_t)(map + 1) << 32 | at))
            return;
}

/*
 * The members of a leaf's rows, a comma before each: from inside an object of their own, whose
 * brace becomes the first comma.
 */
static mcp_status write_leaf(state_page *page, universe_map map, universe_handle first)
{
    const universe_core *core = page->core;
    universe_handle end = first + (1u << core->tables[map].rows.shift);
    mcp_json_writer writer;

    mcp_buf_reset(&page->leaf);
    mcp_json_writer_init(&writer, &page->leaf);
    mcp_write_object(&writer);
    for (universe_handle at = first; at < end; at++)
        if (is_wanted(page, map, at))
            write_entry(&writer, core, map, at);
    mcp_status st = mcp_json_writer_status(&writer);
    if (st != MCP_OK)
        return st;
    page->leaf.data[0] = ',';
    if (page->leaf.length == 1)
        mcp_buf_reset(&page->leaf);
    return MCP_OK;
}

/* The leaf's text in the page's form, which has just been written. */
static mcp_status text_of_leaf(const char **text, size_t *length, state_page *page)
{
    mcp_status st = MCP_OK;

    *text = page->leaf.data;
    *length = page->leaf.length;
    if (*length == 0 || page->part->form == UNIVERSE_PLAIN)
        return MCP_OK;
    st = universe_stream_escape(&page->escaped, &page->leaf);
    *text = page->escaped.data + 1;
    *length = page->escaped.length - 2;
    return st;
}

/* A leaf from what is kept, or written and then kept. `is_first`: nothing of the map was put
 * yet. */
static void put_leaf(state_page *page, universe_map map, universe_handle first, bool *is_first)
{
    const universe_array *rows = &page->core->tables[map].rows;
    const universe_kept *kept = universe_array_kept(rows, first, page->part->form);
    const char *text = kept ? kept->text : NULL;
    size_t length = kept ? kept->length : 0;

    if (!kept) {
        mcp_status st = write_leaf(page, map, first);
        if (st == MCP_OK)
            st = text_of_leaf(&text, &length, page);
        if (st != MCP_OK) {
            universe_stream_fail(&page->stream, st);
            return;
        }
        universe_kept *fresh = universe_kept_new(page->part->form, text, length);
        if (fresh)
            universe_array_keep(rows, first, fresh);
    }
    if (length == 0)
        return;
    universe_stream_put(&page->stream, text + *is_first, length - *is_first);
    *is_first = false;
}

static void put_leaves(state_page *page, universe_map map)
{
    const universe_table *table = &page->core->tables[map];
    bool is_first = true;

    for (universe_handle at = 0; at < table->used && universe_stream_step(&page->stream);
         at += 1u << table->rows.shift)
        put_leaf(page, map, at, &is_first);
}

static void put_ids(state_page *page, universe_map map, size_t first)
{
    for (size_t i = first; i < page->part->id_count; i++) {
        const universe_id *id = &page->part->ids[i];
        universe_handle at = universe_find(page->core, map, id->bytes, id->length);
        if (at && !put_entity(page, map, at, (uint64_t)(map + 1) << 32 | i))
            return;
    }
}

static void write_map(state_page *page, universe_map map)
{
    uint64_t cursor = page->part->cursor;
    bool is_here = cursor >> 32 == (uint64_t)map + 1;
    uint32_t first = is_here ? (uint32_t)cursor : 0;

    if (page->next || (cursor >> 32 > (uint64_t)map + 1))
        return;
    mcp_write_member_object(&page->stream.writer, universe_map_names[map]);
    if (page->part->ids)
        put_ids(page, map, first);
    else if (page->is_keeping)
        put_leaves(page, map);
    else
        put_rows(page, map, first ? first : 1);
    mcp_write_end(&page->stream.writer);
}

static void write_fields(state_page *page, unsigned fields)
{
    universe_stream *stream = &page->stream;
    bool is_first = page->part->cursor == 0;

    mcp_write_object(&stream->writer);
    for (int map = 0; map < UNIVERSE_MAPS; map++) {
        if (fields & UNIVERSE_FIELD_MAP(map))
            write_map(page, map);
        if (map == UNIVERSE_STARS && is_first && fields & UNIVERSE_FIELD_ROOT_IDS)
            write_root_ids(stream, page->core);
        if (map == UNIVERSE_GROUPS && is_first && fields & UNIVERSE_FIELD_ROOT_GROUP_IDS)
            write_root_group_ids(stream, page->core);
    }
    if (is_first && fields & UNIVERSE_FIELD_TIME)
        mcp_write_member_double(&stream->writer, "time", page->core->time);
    mcp_write_end(&stream->writer);
}

/* Whether the leaves' texts serve: all entities are wanted, and the state is not so large that it
 * would crowd others. */
static bool is_keeping(const universe_view *view, const universe_projection *part)
{
    bool is_whole = !part->ids && !part->body_types && part->limit == 0 && part->cursor == 0;

    return is_whole && !part->is_fresh && view->core.bytes <= KEPT_STATE_MAX;
}

mcp_status universe_view_write(const universe_view *view, const universe_projection *part,
                               universe_sink *sink, void *data, uint64_t *next, mcp_error *err)
{
    static const universe_projection whole;
    state_page page = { .core = &view->core, .part = part ? part : &whole };
    unsigned fields = page.part->fields ? page.part->fields : UNIVERSE_FIELDS_ALL;

    page.left = page.part->limit ? page.part->limit : SIZE_MAX;
    page.is_keeping = is_keeping(view, page.part);
    mcp_buf_init(&page.leaf, LEAF_TEXT_MAX);
    mcp_buf_init(&page.escaped, LEAF_TEXT_MAX);
    universe_stream_open(&page.stream, page.part->form, sink, data, err);
    write_fields(&page, fields);
    mcp_buf_clear(&page.leaf);
    mcp_buf_clear(&page.escaped);
    mcp_status st = universe_stream_close(&page.stream);
    if (st == MCP_OK && next)
        *next = page.next;
    return st;
}

/* ---- a state by and by ----------------------------------------------------------------------- */

/* The order of the fields in the JSON, which is that of write_fields. */
static const unsigned field_order[] = {
    UNIVERSE_FIELD_MAP(UNIVERSE_STARS),
    UNIVERSE_FIELD_ROOT_IDS,
    UNIVERSE_FIELD_MAP(UNIVERSE_GROUPS),
    UNIVERSE_FIELD_ROOT_GROUP_IDS,
    UNIVERSE_FIELD_MAP(UNIVERSE_BELTS),
    UNIVERSE_FIELD_MAP(UNIVERSE_FIELDS),
    UNIVERSE_FIELD_MAP(UNIVERSE_DISKS),
    UNIVERSE_FIELD_MAP(UNIVERSE_NEBULAE),
    UNIVERSE_FIELD_TIME,
};

#define FIELD_COUNT (sizeof field_order / sizeof field_order[0])

static universe_map map_of(unsigned field)
{
    return (universe_map)__builtin_ctz(field);
}

static void begin_field(universe_writing *writing, const universe_core *core, unsigned field)
{
    mcp_json_writer *writer = &writing->writer;

    writing->is_inside = true;
    if (field == UNIVERSE_FIELD_ROOT_IDS) {
        mcp_write_member_array(writer, "rootIds");
        writing->at = core->roots.first;
    } else if (field == UNIVERSE_FIELD_ROOT_GROUP_IDS) {
        mcp_write_member_array(writer, "rootGroupIds");
        writing->at = core->root_groups.first;
    } else {
        mcp_write_member_object(writer, universe_map_names[map_of(field)]);
        writing->at = 1;
    }
}

/* The next entity of a map; false: there is none. */
static bool write_next_row(universe_writing *writing, const universe_core *core, universe_map map)
{
    universe_handle used = core->tables[map].used;

    while (writing->at < used &&
           !(universe_row_at(core, map, writing->at)->flags & UNIVERSE_PRESENT))
        writing->at++;
    if (writing->at >= used)
        return false;
    write_entry(&writing->writer, core, map, writing->at++);
    return true;
}

/* The next item of a field; false: there is none. */
static bool write_next_item(universe_writing *writing, const universe_core *core, unsigned field)
{
    if (field != UNIVERSE_FIELD_ROOT_IDS && field != UNIVERSE_FIELD_ROOT_GROUP_IDS)
        return write_next_row(writing, core, map_of(field));
    if (!writing->at)
        return false;
    if (field == UNIVERSE_FIELD_ROOT_IDS) {
        write_id(&writing->writer, core, UNIVERSE_STARS, writing->at);
        writing->at = universe_body_at(core, writing->at)->next;
    } else {
        const universe_link *link = universe_link_at(core, writing->at);
        write_id(&writing->writer, core, UNIVERSE_GROUPS, link->to);
        writing->at = link->next;
    }
    return true;
}

/* An item more, or the beginning or the end of a field. */
static void write_step(universe_writing *writing, const universe_core *core, unsigned fields)
{
    unsigned field = field_order[writing->step];

    if (!(fields & field)) {
        writing->step++;
    } else if (field == UNIVERSE_FIELD_TIME) {
        mcp_write_member_double(&writing->writer, "time", core->time);
        writing->step++;
    } else if (!writing->is_inside) {
        begin_field(writing, core, field);
    } else if (!write_next_item(writing, core, field)) {
        mcp_write_end(&writing->writer);
        writing->is_inside = false;
        writing->step++;
    }
}

mcp_status universe_view_write_on(universe_writing *writing, const universe_view *view,
                                  unsigned fields, size_t worth, mcp_buf *out, mcp_error *err)
{
    mcp_json_writer *writer = &writing->writer;

    if (!writing->has_begun) {
        mcp_json_writer_init(writer, out);
        mcp_write_object(writer);
        writing->has_begun = true;
    }
    writer->buf = out;
    while (writing->step < FIELD_COUNT && out->length < worth &&
           mcp_json_writer_status(writer) == MCP_OK)
        write_step(writing, &view->core, fields ? fields : UNIVERSE_FIELDS_ALL);
    if (writing->step == FIELD_COUNT && !writing->is_whole) {
        mcp_write_end(writer);
        writing->is_whole = true;
    }
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = out->status;
    return st == MCP_OK
               ? st
               : mcp_error_set(err, st, "a state could not be written: %s", mcp_status_words(st));
}

mcp_status universe_view_write_entity(const universe_view *view, universe_map map, const char *id,
                                      size_t length, mcp_json_writer *writer, mcp_error *err)
{
    universe_handle handle = universe_find(&view->core, map, id, length);

    if (!handle)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "%s has no such entity",
                             universe_map_names[map]);
    universe_entity_write(&view->core, map, handle, writer);
    mcp_status st = mcp_json_writer_status(writer);
    if (st == MCP_OK)
        st = writer->buf->status;
    return st == MCP_OK
               ? st
               : mcp_error_set(err, st, "an entity could not be written: %s", mcp_status_words(st));
}

/* ---- deltas ---------------------------------------------------------------------------------- */

typedef struct state_delta {
    universe_stream stream;
    const universe_core *core;
    const universe_touch *touches;
    size_t count;
    bool *is_later; /* the same entity is touched again further on */
} state_delta;

/* Whether a touch of that map belongs here: entities that are there, or those that are gone. */
static universe_handle told(const state_delta *delta, size_t i, universe_map map, bool gone,
                            bool *is_found)
{
    const universe_touch *touch = &delta->touches[i];
    universe_handle handle = 0;

    *is_found = touch->map == map && !delta->is_later[i];
    if (!*is_found)
        return 0;
    handle = universe_find(delta->core, map, touch->id, touch->length);
    *is_found = gone ? !handle : handle != 0;
    return handle;
}

static void write_touched(state_delta *delta, universe_map map)
{
    bool is_open = false;
    bool is_found = false;

    for (size_t i = 0; i < delta->count && universe_stream_step(&delta->stream); i++) {
        universe_handle handle = told(delta, i, map, false, &is_found);
        if (!is_found)
            continue;
        if (!is_open)
            mcp_write_member_object(&delta->stream.writer, universe_map_names[map]);
        is_open = true;
        write_entry(&delta->stream.writer, delta->core, map, handle);
    }
    if (is_open)
        mcp_write_end(&delta->stream.writer);
}

static void write_gone(state_delta *delta, universe_map map)
{
    bool is_open = false;
    bool is_found = false;

    for (size_t i = 0; i < delta->count && universe_stream_step(&delta->stream); i++) {
        told(delta, i, map, true, &is_found);
        if (!is_found)
            continue;
        if (!is_open)
            mcp_write_member_array(&delta->stream.writer, universe_map_names[map]);
        is_open = true;
        mcp_write_string_n(&delta->stream.writer, delta->touches[i].id, delta->touches[i].length);
    }
    if (is_open)
        mcp_write_end(&delta->stream.writer);
}

static bool is_same(const universe_touch *a, const universe_touch *b)
{
    return a->map == b->map && a->length == b->length && memcmp(a->id, b->id, a->length) == 0;
}

/* Mark touches that come again, by a table of the last touch of each hash. */
static bool find_repeated(state_delta *delta, mcp_arena *arena)
{
    size_t slots = 16;

    while (slots < 2 * delta->count)
        slots *= 2;
    size_t *last = mcp_arena_array(arena, slots, sizeof *last); /* a touch's number plus one */
    delta->is_later = mcp_arena_array(arena, delta->count + 1, sizeof *delta->is_later);
    if (!last || !delta->is_later)
        return false;
    for (size_t i = delta->count; i > 0; i--) {
        const universe_touch *touch = &delta->touches[i - 1];
        size_t at = mcp_siphash13(delta->core->hash_key, touch->id, touch->length) & (slots - 1);
        while (last[at] && !is_same(touch, &delta->touches[last[at] - 1]))
            at = (at + 1) & (slots - 1);
        delta->is_later[i - 1] = last[at] != 0;
        if (!last[at])
            last[at] = i;
    }
    return true;
}

static void write_delta(state_delta *delta, bool roots, bool root_groups)
{
    mcp_json_writer *writer = &delta->stream.writer;

    mcp_write_object(writer);
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        write_touched(delta, map);
    mcp_write_member_object(writer, "removed");
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        write_gone(delta, map);
    mcp_write_end(writer);
    if (roots)
        write_root_ids(&delta->stream, delta->core);
    if (root_groups)
        write_root_group_ids(&delta->stream, delta->core);
    mcp_write_end(writer);
}

mcp_status universe_view_delta(const universe_view *view, const universe_touch *touches,
                               size_t count, bool roots, bool root_groups, universe_sink *sink,
                               void *data, mcp_error *err)
{
    state_delta delta = { .core = &view->core, .touches = touches, .count = count };
    mcp_arena *arena = mcp_arena_new(count * 64 + (1 << 16));

    if (!arena || !find_repeated(&delta, arena)) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a delta");
    }
    universe_stream_open(&delta.stream, UNIVERSE_PLAIN, sink, data, err);
    write_delta(&delta, roots, root_groups);
    mcp_arena_free(arena);
    return universe_stream_close(&delta.stream);
}
