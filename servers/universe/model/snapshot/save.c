/*
 * save.c - writing a binary snapshot; snapshot.h has the format.
 *
 * Bodies are written in pre-order and children of groups by number, so nothing about rows or pages
 * gets into the bytes: the same universe gives the same snapshot, whatever has happened to it
 * before.
 */
#include <stdlib.h>
#include <string.h>

#include "mcp/buf.h"
#include "mcp/hash.h"
#include "model/entity.h"
#include "model/pages/memory.h"
#include "model/snapshot/snapshot.h"

#define WORTH_BYTES (32u << 10)

typedef struct saving {
    const universe_core *core;
    universe_sink *sink;
    void *data;
    mcp_error *err;
    mcp_buf buf;
    uint64_t sum;
    uint32_t *numbers[2]; /* of bodies and groups, by row */
    uint32_t given[2];
    size_t record; /* where the present record begins in buf */
} saving;

uint64_t universe_snapshot_sum(uint64_t sum, const void *record, size_t length)
{
    static const uint64_t key[2] = { 0x756e697665727365, 0x736e617073686f74 };

    return (sum ^ mcp_siphash13(key, record, length)) * 0x100000001b3;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void put_bytes(saving *to, uint64_t number, unsigned bytes)
{
    unsigned char little[8];

    for (unsigned i = 0; i < bytes; i++)
        little[i] = (unsigned char)(number >> (8 * i));
    mcp_buf_append(&to->buf, little, bytes);
}

static void put_double(saving *to, double number)
{
    uint64_t bits;

    memcpy(&bits, &number, sizeof bits);
    put_bytes(to, bits, 8);
}

static void put_text(saving *to, const char *bytes, size_t length)
{
    put_bytes(to, length, 2);
    mcp_buf_append(&to->buf, bytes, length);
}

static void put_id(saving *to, universe_map map, universe_handle handle)
{
    const universe_row *row = universe_row_at(to->core, map, handle);
    char id[UNIVERSE_ID_MAX + 1];

    if (!(row->flags & UNIVERSE_UUID)) {
        put_text(to, id, universe_row_id(to->core, map, handle, id));
        return;
    }
    put_bytes(to, UNIVERSE_UUID_TEXT, 2);
    mcp_buf_append(&to->buf, row->key.bytes, sizeof row->key.bytes);
}

static mcp_status hand_over(saving *to)
{
    mcp_status st = to->buf.status;

    if (st != MCP_OK)
        return mcp_error_set(to->err, st, "no memory for a snapshot");
    for (size_t at = 0; at < to->buf.length && st == MCP_OK;) {
        size_t left = to->buf.length - at;
        size_t piece = left < UNIVERSE_PIECE_MAX ? left : UNIVERSE_PIECE_MAX;
        st = to->sink(to->buf.data + at, piece, to->data, to->err);
        at += piece;
    }
    mcp_buf_reset(&to->buf);
    return st;
}

static void begin(saving *to, char tag)
{
    to->record = to->buf.length;
    mcp_buf_putc(&to->buf, tag);
    put_bytes(to, 0, 4);
}

/* Fill in the length, sum up, and hand over once it is worth it. */
static mcp_status end(saving *to)
{
    size_t length = to->buf.length - to->record;

    if (to->buf.status != MCP_OK)
        return hand_over(to);
    unsigned char *record = (unsigned char *)to->buf.data + to->record;
    for (unsigned i = 0; i < 4; i++)
        record[1 + i] = (unsigned char)((length - UNIVERSE_RECORD_HEADER) >> (8 * i));
    to->sum = universe_snapshot_sum(to->sum, record, length);
    return to->buf.length < WORTH_BYTES ? MCP_OK : hand_over(to);
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static mcp_status save_body(saving *to, universe_handle handle)
{
    const universe_body *body = universe_body_at(to->core, handle);
    const universe_orbit *orbit = universe_orbit_of(to->core, body);
    uint32_t mask = orbit->mask & ((1u << UNIVERSE_O_MEMBERS) - 1);
    size_t length = 0;

    to->numbers[UNIVERSE_STARS][handle] = ++to->given[UNIVERSE_STARS];
    begin(to, 'B');
    put_bytes(to, to->numbers[UNIVERSE_STARS][body->parent], 4);
    put_bytes(to, body->row.flags & UNIVERSE_CONTENT_FLAGS, 4);
    put_id(to, UNIVERSE_STARS, handle);
    const char *name = universe_string_at(to->core, body->name, &length);
    put_text(to, name, length);
    put_double(to, body->mass);
    put_double(to, body->radius);
    put_double(to, body->distance);
    put_double(to, body->speed);
    put_double(to, body->phase);
    if (body->row.flags & UNIVERSE_COLOR_TEXT) {
        const char *color = universe_string_at(to->core, body->color, &length);
        put_text(to, color, length);
    } else {
        put_bytes(to, body->color, 4);
    }
    put_bytes(to, mask, 4);
    for (int i = 0; i < __builtin_popcount(mask); i++)
        put_double(to, orbit->values[i]);
    universe_text_append(&to->buf, to->core, body->rest);
    return end(to);
}

static mcp_status save_bodies(saving *to, universe_handle top)
{
    mcp_status st = MCP_OK;

    for (; top && st == MCP_OK; top = universe_body_at(to->core, top)->next)
        for (universe_handle at = top; at && st == MCP_OK;
             at = universe_body_after(to->core, at, top))
            st = save_body(to, at);
    return st;
}

/* ---- everything else ------------------------------------------------------------------------- */

static mcp_status save_thing(saving *to, universe_map map, universe_handle handle)
{
    begin(to, UNIVERSE_RECORD_TAGS[map]);
    put_id(to, map, handle);
    universe_text_append(&to->buf, to->core, universe_thing_at(to->core, map, handle)->rest);
    return end(to);
}

/*
 * Things have no order of their own, and rows depend on history. So the rows of a map are sorted by
 * id.
 */
typedef struct sorting {
    const universe_core *core;
    universe_map map;
} sorting;

static int compare_ids(const void *a, const void *b, void *data)
{
    const sorting *by = data;
    char one[UNIVERSE_ID_MAX + 1];
    char two[UNIVERSE_ID_MAX + 1];

    universe_row_id(by->core, by->map, *(const universe_handle *)a, one);
    universe_row_id(by->core, by->map, *(const universe_handle *)b, two);
    return strcmp(one, two);
}

static mcp_status save_things(saving *to, universe_map map)
{
    const universe_table *table = &to->core->tables[map];
    size_t size = (table->count + 1) * sizeof(universe_handle);
    universe_handle *rows = universe_alloc(size);
    sorting by = { to->core, map };
    mcp_status st = MCP_OK;
    size_t count = 0;

    if (!rows)
        return mcp_error_set(to->err, MCP_E_NOMEM, "no memory for a snapshot");
    for (universe_handle at = 1; at < table->used; at++)
        if (universe_row_at(to->core, map, at)->flags & UNIVERSE_PRESENT)
            rows[count++] = at;
    qsort_r(rows, count, sizeof *rows, compare_ids, &by);
    for (size_t i = 0; i < count && st == MCP_OK; i++)
        st = save_thing(to, map, rows[i]);
    universe_free(rows, size);
    return st;
}

/* The link of the next group in pre-order; 0 at the end. */
static universe_handle next_group(const universe_core *core, universe_handle link)
{
    universe_handle group = universe_link_at(core, link)->to;
    universe_handle at = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;

    while (at && universe_link_at(core, at)->kind != UNIVERSE_L_GROUP)
        at = universe_link_at(core, at)->next;
    while (!at && link) {
        at = universe_link_at(core, link)->next;
        while (at && universe_link_at(core, at)->kind != UNIVERSE_L_GROUP)
            at = universe_link_at(core, at)->next;
        group = universe_link_at(core, link)->from;
        link = group ? universe_thing_at(core, UNIVERSE_GROUPS, group)->member : 0;
    }
    return at;
}

static mcp_status save_children(saving *to, universe_handle group)
{
    universe_handle at = universe_thing_at(to->core, UNIVERSE_GROUPS, group)->first;

    begin(to, 'C');
    put_bytes(to, to->numbers[UNIVERSE_GROUPS][group], 4);
    for (; at; at = universe_link_at(to->core, at)->next) {
        const universe_link *link = universe_link_at(to->core, at);
        bool is_group = link->kind == UNIVERSE_L_GROUP;
        uint32_t number = to->numbers[is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS][link->to];
        put_bytes(to, number | (is_group ? UNIVERSE_CHILD_IS_GROUP : 0), 4);
    }
    return end(to);
}

static mcp_status save_groups(saving *to)
{
    mcp_status st = MCP_OK;
    universe_handle first = to->core->root_groups.first;

    for (universe_handle at = first; at && st == MCP_OK; at = next_group(to->core, at)) {
        universe_handle group = universe_link_at(to->core, at)->to;
        to->numbers[UNIVERSE_GROUPS][group] = ++to->given[UNIVERSE_GROUPS];
        st = save_thing(to, UNIVERSE_GROUPS, group);
    }
    for (universe_handle at = first; at && st == MCP_OK; at = next_group(to->core, at))
        st = save_children(to, universe_link_at(to->core, at)->to);
    return st;
}

static mcp_status save_all(saving *to)
{
    mcp_buf_append(&to->buf, UNIVERSE_SNAPSHOT_MAGIC, 8);
    put_bytes(to, UNIVERSE_SNAPSHOT_FORMAT, 4);
    put_bytes(to, to->core->tables[UNIVERSE_STARS].count, 4);
    begin(to, 'T');
    put_double(to, to->core->time);
    mcp_status st = end(to);
    if (st == MCP_OK)
        st = save_bodies(to, to->core->roots.first);
    if (st == MCP_OK)
        st = save_bodies(to, to->core->rogues.first);
    if (st == MCP_OK)
        st = save_groups(to);
    for (int map = UNIVERSE_BELTS; map < UNIVERSE_MAPS && st == MCP_OK; map++)
        st = save_things(to, map);
    if (st != MCP_OK)
        return st;
    mcp_buf_putc(&to->buf, 'E');
    put_bytes(to, 8, 4);
    put_bytes(to, to->sum, 8);
    return hand_over(to);
}

mcp_status universe_view_save(const universe_view *view, universe_sink *sink, void *data,
                              mcp_error *err)
{
    saving to = { .core = &view->core, .sink = sink, .data = data, .err = err };
    size_t sizes[2];
    mcp_status st = MCP_OK;

    mcp_buf_init(&to.buf, 2 * (size_t)UNIVERSE_RECORD_MAX);
    for (int map = UNIVERSE_STARS; map <= UNIVERSE_GROUPS; map++) {
        sizes[map] = view->core.tables[map].used * sizeof(uint32_t);
        to.numbers[map] = universe_alloc(sizes[map]);
        if (!to.numbers[map])
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    }
    if (st == MCP_OK)
        st = save_all(&to);
    for (int map = UNIVERSE_STARS; map <= UNIVERSE_GROUPS; map++)
        universe_free(to.numbers[map], sizes[map]);
    mcp_buf_clear(&to.buf);
    return st;
}
