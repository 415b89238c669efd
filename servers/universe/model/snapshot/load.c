/*
 * load.c - reading a binary snapshot; snapshot.h has the format.
 *
 * The bytes may come from anywhere, so nothing in them is believed: lengths are held against what
 * is there, numbers against those given so far, texts against UTF-8 and JSON, and members against
 * their kinds. What must come out is a state that the rest of the model can hold for sound; a sum
 * at the end finds what was damaged by accident.
 */
#include <math.h>
#include <string.h>

#include "mcp/buf.h"
#include "model/entity.h"
#include "model/members.h"
#include "model/pages/memory.h"
#include "model/snapshot/snapshot.h"

#define SCOUT_AHEAD 8 /* records from the reader to the second scout, and from that to the first */
#define UUID_AT (UNIVERSE_RECORD_HEADER + 10) /* behind parent, flags and the length of the id */

typedef struct handles {
    universe_handle *items;
    uint32_t count, capacity;
} handles;

struct universe_load {
    universe_state *state;
    mcp_buf buf; /* of records that are not complete */
    mcp_buf scratch;
    handles given[2]; /* bodies and groups by number; the first is number 1 */
    uint64_t sum;
    bool has_header;
    bool has_time;
    bool is_done;
};

/* The bytes of one record that are not read yet. */
typedef struct reader {
    const unsigned char *at;
    size_t left;
    bool is_short;
} reader;

mcp_status universe_load_begin(universe_load **out, mcp_error *err)
{
    universe_load *load = universe_alloc(sizeof *load);

    if (!load)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    mcp_buf_init(&load->buf, (size_t)UNIVERSE_RECORD_MAX + UNIVERSE_RECORD_HEADER);
    mcp_buf_init(&load->scratch, (size_t)UNIVERSE_ENTITY_MAX + 4096);
    mcp_status st = universe_state_new(&load->state, err);
    if (st == MCP_OK)
        *out = load;
    else
        universe_load_free(load);
    return st;
}

void universe_load_free(universe_load *load)
{
    if (!load)
        return;
    for (int i = 0; i < 2; i++)
        universe_free(load->given[i].items, load->given[i].capacity * sizeof(universe_handle));
    mcp_buf_clear(&load->buf);
    mcp_buf_clear(&load->scratch);
    universe_state_free(load->state);
    universe_free(load, sizeof *load);
}

static mcp_status damaged(mcp_error *err, const char *words)
{
    return mcp_error_set(err, MCP_E_PARSE, "the snapshot is damaged: %s", words);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static const void *take(reader *from, size_t bytes)
{
    const void *at = from->at;

    if (from->left < bytes) {
        from->is_short = true;
        from->left = 0;
        return NULL;
    }
    from->at += bytes;
    from->left -= bytes;
    return at;
}

static uint64_t take_number(reader *from, unsigned bytes)
{
    const unsigned char *at = take(from, bytes);
    uint64_t number = 0;

    for (unsigned i = 0; at && i < bytes; i++)
        number |= (uint64_t)at[i] << (8 * i);
    return number;
}

static double take_double(reader *from)
{
    uint64_t bits = take_number(from, 8);
    double number;

    memcpy(&number, &bits, sizeof number);
    if (!isfinite(number))
        from->is_short = true;
    return number;
}

static const char *take_text(reader *from, size_t *length)
{
    *length = (size_t)take_number(from, 2);
    return take(from, *length);
}

static const char *take_id(reader *from, size_t *length, char uuid[37])
{
    static const char hex[] = "0123456789abcdef";
    const unsigned char *peek = from->at;

    if (from->left < 2 || (peek[0] & peek[1]) != 0xff)
        return take_text(from, length);
    take(from, 2);
    const unsigned char *bytes = take(from, 16);
    char *to = uuid;
    for (unsigned i = 0; bytes && i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = hex[bytes[i] >> 4];
        *to++ = hex[bytes[i] & 15];
    }
    *length = 36;
    return bytes ? uuid : NULL;
}

/* Whether texts can be written as JSON, which is to say that they are UTF-8. */
static bool are_utf8(universe_load *load, const char *const texts[], const size_t lengths[],
                     int count)
{
    mcp_json_writer writer;

    mcp_buf_reset(&load->scratch);
    mcp_json_writer_init(&writer, &load->scratch);
    mcp_write_array(&writer);
    for (int i = 0; i < count; i++)
        mcp_write_string_n(&writer, texts[i], lengths[i]);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer) == MCP_OK;
}

static bool is_id(const char *id, size_t length)
{
    return id && length > 0 && length <= UNIVERSE_ID_MAX && !memchr(id, '\0', length);
}

/* The members that a record holds as text; NULL *out for none. */
static mcp_status read_members(const mcp_json **out, universe_load *load, const reader *from,
                               mcp_arena *arena, mcp_error *err)
{
    *out = NULL;
    if (from->left == 0)
        return MCP_OK;
    mcp_buf_reset(&load->scratch);
    mcp_buf_putc(&load->scratch, '{');
    mcp_buf_append(&load->scratch, from->at, from->left);
    mcp_status st = mcp_buf_putc(&load->scratch, '}');
    if (st == MCP_OK)
        st = mcp_json_read(out, arena, load->scratch.data, load->scratch.length, err);
    if (st == MCP_E_PARSE || st == MCP_E_LIMIT ||
        (st == MCP_OK && (universe_value_refused(*out, 0) || mcp_json_count(*out) == 0)))
        return damaged(err, "members are no JSON");
    return st;
}

static mcp_status give_number(universe_load *load, universe_map map, universe_handle handle,
                              mcp_error *err)
{
    handles *all = &load->given[map];

    if (all->count == all->capacity) {
        uint32_t capacity = all->capacity ? 2 * all->capacity : 1024;
        void *larger = universe_realloc(all->items, all->capacity * sizeof *all->items,
                                        capacity * sizeof *all->items);
        if (!larger)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
        all->items = larger;
        all->capacity = capacity;
    }
    all->items[all->count++] = handle;
    return MCP_OK;
}

/* A row for a new entity of that id. */
static mcp_status new_row(universe_handle *out, universe_load *load, universe_map map,
                          const char *id, size_t length, mcp_error *err)
{
    universe_table *table = &load->state->core.tables[map];

    if (table->count >= UNIVERSE_ENTITIES_MAX)
        return damaged(err, "too many entities");
    *out = universe_row_make(load->state, map, id, length);
    if (!*out)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    if (universe_row_at(&load->state->core, map, *out)->flags & UNIVERSE_PRESENT)
        return damaged(err, "an id occurs twice");
    return MCP_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

/* What stands before the members that are text. */
static bool read_body(universe_raw_body *raw, reader *from)
{
    raw->name = take_text(from, &raw->name_length);
    raw->row.mass = take_double(from);
    raw->row.radius = take_double(from);
    raw->row.distance = take_double(from);
    raw->row.speed = take_double(from);
    raw->row.phase = take_double(from);
    if (raw->row.row.flags & UNIVERSE_COLOR_TEXT)
        raw->color = take_text(from, &raw->color_length);
    else
        raw->row.color = (uint32_t)take_number(from, 4);
    raw->mask = (uint32_t)take_number(from, 4);
    if (raw->mask >> UNIVERSE_O_MEMBERS || raw->row.color > 0xffffff)
        return false;
    for (int i = 0; i < __builtin_popcount(raw->mask); i++)
        raw->numbers[i] = take_double(from);
    raw->rest = (const char *)from->at;
    raw->rest_length = from->left;
    return !from->is_short && raw->name_length <= UNIVERSE_TEXT_MAX &&
           raw->color_length <= UNIVERSE_TEXT_MAX && raw->rest_length <= UNIVERSE_ENTITY_MAX &&
           !(raw->row.row.flags & ~UNIVERSE_CONTENT_FLAGS);
}

/* A name in the text must not be one of those that lie in the row. */
static bool is_only_rest(const universe_raw_body *raw)
{
    static const char *const fixed[] = { "id",           "name",
                                         "mass",         "radius",
                                         "color",        "children",
                                         "parentId",     "orbitalDistance",
                                         "orbitalSpeed", "orbitalPhase" };

    if (!raw->members)
        return true;
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (mcp_json_get(raw->members, fixed[i]))
            return false;
    for (unsigned slot = 0; slot < UNIVERSE_O_MEMBERS; slot++)
        if (raw->mask >> slot & 1 && mcp_json_get(raw->members, universe_orbit_names[slot]))
            return false;
    bool has_type = raw->row.row.flags >> UNIVERSE_TYPE_SHIFT & 7;
    bool says_rogue = raw->row.row.flags & UNIVERSE_ROGUE_SAID;
    return !(has_type && mcp_json_get(raw->members, "bodyType")) &&
           !(says_rogue && mcp_json_get(raw->members, "isRoguePlanet"));
}

static bool fits(const universe_shape *shape, const mcp_json *members, mcp_arena *arena)
{
    static const universe_rules lenient = { .lenient = true };
    universe_fault fault;

    return !members || universe_shape_check(&fault, shape, members, "", true, &lenient, arena);
}

static mcp_status store_body(universe_load *load, universe_raw_body *raw, const char *id,
                             size_t length, universe_handle parent, mcp_error *err)
{
    universe_handle handle = 0;
    mcp_status st = new_row(&handle, load, UNIVERSE_STARS, id, length, err);

    if (st == MCP_OK)
        st = universe_body_store_raw(load->state, handle, raw, err);
    if (st != MCP_OK)
        return st;
    universe_body_append(load->state, handle, parent);
    return give_number(load, UNIVERSE_STARS, handle, err);
}

/* The members that are text, then the whole; most bodies have no such members, and no arena. */
static mcp_status finish_body(universe_load *load, universe_raw_body *raw, const reader *from,
                              const char *id, size_t length, uint32_t parent, mcp_error *err)
{
    mcp_arena *arena = from->left > 0 ? mcp_arena_new(0) : NULL;
    mcp_status st = MCP_OK;

    if (from->left > 0)
        st = arena ? read_members(&raw->members, load, from, arena, err)
                   : mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    if (st == MCP_OK && (!is_only_rest(raw) || !fits(&universe_star_shape, raw->members, arena)))
        st = damaged(err, "a body has members that it cannot have");
    if (st == MCP_OK)
        st = store_body(load, raw, id, length,
                        parent ? load->given[UNIVERSE_STARS].items[parent - 1] : 0, err);
    mcp_arena_free(arena);
    return st;
}

static mcp_status load_body(universe_load *load, reader *from, mcp_error *err)
{
    universe_raw_body raw = { .members = NULL };
    char uuid[37];
    size_t length = 0;
    uint32_t parent = (uint32_t)take_number(from, 4);

    raw.row.row.flags = (uint32_t)take_number(from, 4);
    const char *id = take_id(from, &length, uuid);
    if (!read_body(&raw, from) || !is_id(id, length) || parent > load->given[UNIVERSE_STARS].count)
        return damaged(err, "a body is not complete");
    const char *const texts[] = { id, raw.name, raw.color ? raw.color : "" };
    const size_t lengths[] = { length, raw.name_length, raw.color_length };
    if (!are_utf8(load, texts, lengths, 3))
        return damaged(err, "a text is not UTF-8");
    return finish_body(load, &raw, from, id, length, parent, err);
}

/* ---- everything else ------------------------------------------------------------------------- */

/* All members that a thing must have, but those that are kept by lists. */
static bool is_complete(universe_map map, const mcp_json *members)
{
    const universe_shape *shape = universe_shape_of(map);

    for (size_t i = 0; i < shape->count; i++) {
        const char *name = shape->members[i].name;
        bool is_list = strcmp(name, "id") == 0 ||
                       (map == UNIVERSE_GROUPS &&
                        (strcmp(name, "children") == 0 || strcmp(name, "parentGroupId") == 0));
        bool is_there = mcp_json_get(members, name) != NULL;
        if (is_list ? is_there : !is_there && shape->members[i].flags & UNIVERSE_M_REQUIRED)
            return false;
    }
    return true;
}

static mcp_status load_thing(universe_load *load, universe_map map, reader *from, mcp_arena *arena,
                             mcp_error *err)
{
    char uuid[37];
    size_t length = 0;
    const char *id = take_id(from, &length, uuid);
    const mcp_json *members = NULL;
    universe_handle handle = 0;

    if (from->is_short || !is_id(id, length) || !are_utf8(load, &id, &length, 1))
        return damaged(err, "an id is none");
    mcp_status st = read_members(&members, load, from, arena, err);
    if (st != MCP_OK)
        return st;
    if (!is_complete(map, members) || !fits(universe_shape_of(map), members, arena))
        return damaged(err, "an entity has not the members that it must have");
    size_t count = mcp_json_count(members);
    universe_part *parts = mcp_arena_array(arena, count + 1, sizeof *parts);
    if (!parts)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    for (size_t i = 0; i < count; i++) {
        parts[i].name = mcp_json_name(members, i, &parts[i].length);
        parts[i].value = mcp_json_item(members, i);
    }
    st = new_row(&handle, load, map, id, length, err);
    if (st == MCP_OK)
        st = universe_entity_store(load->state, map, handle, parts, count, err);
    return st == MCP_OK && map == UNIVERSE_GROUPS ? give_number(load, map, handle, err) : st;
}

/* A child that nothing holds yet, and that comes after its group, so that groups are a forest. */
static bool add_child(universe_load *load, uint32_t group, uint32_t child)
{
    universe_state *state = load->state;
    bool is_group = child & UNIVERSE_CHILD_IS_GROUP;
    universe_map map = is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS;
    uint32_t number = child & ~UNIVERSE_CHILD_IS_GROUP;

    if (number == 0 || number > load->given[map].count || (is_group && number <= group))
        return false;
    universe_handle to = load->given[map].items[number - 1];
    const universe_body *body = universe_body_at(&state->core, to);
    if (is_group ? universe_thing_at(&state->core, map, to)->member != 0
                 : body->member || body->parent || body->row.flags & UNIVERSE_ROGUE)
        return false;
    universe_member_add(state, is_group ? UNIVERSE_L_GROUP : UNIVERSE_L_SYSTEM,
                        load->given[UNIVERSE_GROUPS].items[group - 1], to, 0);
    return true;
}

static mcp_status load_children(universe_load *load, reader *from, mcp_error *err)
{
    uint32_t group = (uint32_t)take_number(from, 4);

    if (group == 0 || group > load->given[UNIVERSE_GROUPS].count)
        return damaged(err, "children of no group");
    while (from->left > 0 && !from->is_short && !load->state->failed)
        if (!add_child(load, group, (uint32_t)take_number(from, 4)))
            return damaged(err, "a group has a child that it cannot have");
    return from->is_short ? damaged(err, "children are not complete") : MCP_OK;
}

static mcp_status load_time(universe_load *load, reader *from, mcp_error *err)
{
    double time = take_double(from);

    if (from->is_short || from->left > 0 || fabs(time) > UNIVERSE_TIME_MAX || load->has_time)
        return damaged(err, "the time is none");
    load->state->core.time = time;
    load->has_time = true;
    return MCP_OK;
}

static mcp_status load_end(universe_load *load, reader *from, mcp_error *err)
{
    uint64_t sum = take_number(from, 8);

    if (from->is_short || from->left > 0 || sum != load->sum)
        return damaged(err, "the sum at its end does not agree");
    load->is_done = true;
    return MCP_OK;
}

/* ---- records --------------------------------------------------------------------------------- */

static mcp_status load_entity(universe_load *load, char tag, reader *from, mcp_error *err)
{
    const char *found = strchr(UNIVERSE_RECORD_TAGS, tag);

    if (!tag || !found)
        return damaged(err, "a record is of no known kind");
    if (tag == 'B')
        return load_body(load, from, err);
    mcp_arena *arena = mcp_arena_new(0);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    mcp_status st = load_thing(load, (universe_map)(found - UNIVERSE_RECORD_TAGS), from, arena,
                               err);
    mcp_arena_free(arena);
    return st;
}

static mcp_status load_record(universe_load *load, const unsigned char *record, size_t length,
                              mcp_error *err)
{
    reader from = { record + UNIVERSE_RECORD_HEADER, length - UNIVERSE_RECORD_HEADER, false };
    char tag = (char)record[0];
    mcp_status st;

    if (load->is_done)
        return damaged(err, "it continues after its end");
    if (tag == 'E')
        return load_end(load, &from, err);
    load->sum = universe_snapshot_sum(load->sum, record, length);
    if (tag == 'T')
        st = load_time(load, &from, err);
    else if (tag == 'C')
        st = load_children(load, &from, err);
    else
        st = load_entity(load, tag, &from, err);
    if (st == MCP_OK && load->state->failed)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    return st;
}

static mcp_status load_header(universe_load *load, const unsigned char *bytes, mcp_error *err)
{
    reader from = { bytes + 8, UNIVERSE_SNAPSHOT_HEADER - 8, false };

    if (memcmp(bytes, UNIVERSE_SNAPSHOT_MAGIC, 8) != 0)
        return mcp_error_set(err, MCP_E_PARSE, "this is no snapshot of a universe");
    if (take_number(&from, 4) != UNIVERSE_SNAPSHOT_FORMAT)
        return mcp_error_set(err, MCP_E_PARSE, "the snapshot has a format that is not known here");
    uint32_t bodies = (uint32_t)take_number(&from, 4);
    if (bodies > UNIVERSE_ENTITIES_MAX)
        return damaged(err, "too many entities");
    universe_rows_expect(load->state, UNIVERSE_STARS, bodies);
    load->has_header = true;
    return MCP_OK;
}

/* The length of a record with its header; 0 when it is not all there. */
static size_t record_length(const unsigned char *bytes, size_t length)
{
    if (length < UNIVERSE_RECORD_HEADER)
        return 0;
    reader from = { bytes + 1, 4, false };
    size_t size = (size_t)take_number(&from, 4) + UNIVERSE_RECORD_HEADER;
    return size <= length ? size : 0;
}

/*
 * Rows of an index lie at random, so each look into it waits for memory. Two scouts go ahead of the
 * reader, a few records apart, and fetch what it will need: the first the heads of buckets, the
 * second the rows that stand there.
 */
typedef struct scout {
    size_t at; /* a record's first byte */
    bool is_near;
} scout;

static void scout_one(const universe_load *load, scout *ahead, const unsigned char *bytes,
                      size_t length)
{
    const unsigned char *record = bytes + ahead->at;
    size_t size = record_length(record, length - ahead->at);

    if (size >= UUID_AT + 16 && record[0] == 'B' && record[UUID_AT - 2] == 0xff &&
        record[UUID_AT - 1] == 0xff)
        universe_row_prefetch(&load->state->core, UNIVERSE_STARS, record + UUID_AT, ahead->is_near);
    ahead->at += size;
}

/* Read all that is complete; *used says how much that was. */
static mcp_status load_complete(universe_load *load, const unsigned char *bytes, size_t length,
                                size_t *used, mcp_error *err)
{
    mcp_status st = MCP_OK;

    *used = 0;
    if (!load->has_header) {
        if (length < UNIVERSE_SNAPSHOT_HEADER)
            return MCP_OK;
        st = load_header(load, bytes, err);
        *used = UNIVERSE_SNAPSHOT_HEADER;
    }
    scout far = { *used, false };
    scout near = { *used, true };
    for (int i = 0; i < 2 * SCOUT_AHEAD; i++)
        scout_one(load, i < SCOUT_AHEAD ? &far : &near, bytes, length);
    for (int i = 0; i < SCOUT_AHEAD; i++)
        scout_one(load, &far, bytes, length);
    while (st == MCP_OK && length - *used >= UNIVERSE_RECORD_HEADER) {
        reader from = { bytes + *used + 1, 4, false };
        size_t size = (size_t)take_number(&from, 4);
        if (size > UNIVERSE_RECORD_MAX)
            return damaged(err, "a record is too long");
        if (length - *used - UNIVERSE_RECORD_HEADER < size)
            break;
        scout_one(load, &far, bytes, length);
        scout_one(load, &near, bytes, length);
        st = load_record(load, bytes + *used, size + UNIVERSE_RECORD_HEADER, err);
        *used += size + UNIVERSE_RECORD_HEADER;
    }
    return st;
}

/* Bytes go through the buffer a piece at a time; what is left of a piece stays for the next. */
mcp_status universe_load_feed(universe_load *load, const void *bytes, size_t length, mcp_error *err)
{
    const unsigned char *at = bytes;
    mcp_status st = MCP_OK;

    while (length > 0 && st == MCP_OK) {
        size_t piece = length < UNIVERSE_PIECE_MAX ? length : UNIVERSE_PIECE_MAX;
        size_t used = 0;
        st = mcp_buf_append(&load->buf, at, piece);
        if (st != MCP_OK)
            return mcp_error_set(err, st, "no memory for a snapshot");
        at += piece;
        length -= piece;
        st = load_complete(load, (const unsigned char *)load->buf.data, load->buf.length, &used,
                           err);
        if (st != MCP_OK || used == 0)
            continue;
        memmove(load->buf.data, load->buf.data + used, load->buf.length - used);
        load->buf.length -= used;
    }
    return st;
}

/* Groups that are in no other are the roots, in the order in which they came. */
static void list_root_groups(universe_load *load)
{
    universe_state *state = load->state;
    const handles *groups = &load->given[UNIVERSE_GROUPS];

    for (uint32_t i = 0; i < groups->count && !state->failed; i++)
        if (!universe_thing_at(&state->core, UNIVERSE_GROUPS, groups->items[i])->member)
            universe_member_add(state, UNIVERSE_L_GROUP, 0, groups->items[i], 0);
}

mcp_status universe_load_end(universe_state **out, universe_load *load, mcp_error *err)
{
    if (!load->is_done || load->buf.length > 0 || !load->state)
        return damaged(err, "it ends too early");
    list_root_groups(load);
    if (load->state->failed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a snapshot");
    *out = load->state;
    load->state = NULL;
    return MCP_OK;
}
