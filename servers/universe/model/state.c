/*
 * state.c - states and views: made, frozen, restored, ended; and the rows of their tables.
 *
 * Freezing copies the core, which is a few hundred bytes, and holds the roots of its arrays. So it
 * costs the same for ten bodies and for ten million; what it saves is paid by the first write to
 * each page afterwards.
 */
#include <string.h>

#include "mcp/hash.h"
#include "mcp/random.h"
#include "model/core.h"
#include "model/pages/memory.h"

const char *const universe_map_names[UNIVERSE_MAPS] = {
    "stars", "groups", "belts", "smallBodyFields", "protoplanetaryDisks", "nebulae",
};

const char *const universe_body_type_names[UNIVERSE_BODY_TYPES] = {
    "untyped", "star", "planet", "moon", "asteroid", "comet", "lagrangePoint", "blackHole",
};

/* ---- cores ----------------------------------------------------------------------------------- */

static void table_init(universe_table *table, uint32_t row_bytes, uint16_t shift)
{
    universe_array_init(&table->rows, row_bytes, shift);
    universe_index_init(&table->by_id);
    table->used = 1;
}

void universe_core_init(universe_core *core, const uint64_t hash_key[2])
{
    *core = (universe_core){ .links_used = 1, .hash_key = { hash_key[0], hash_key[1] } };
    table_init(&core->tables[UNIVERSE_STARS], sizeof(universe_body), 4);
    for (int map = UNIVERSE_STARS + 1; map < UNIVERSE_MAPS; map++)
        table_init(&core->tables[map], sizeof(universe_thing), 4);
    universe_array_init(&core->links, sizeof(universe_link), 5);
    universe_heap_init(&core->heap);
    universe_index_init(&core->strings);
}

void universe_core_hold(universe_core *core)
{
    for (int map = 0; map < UNIVERSE_MAPS; map++) {
        universe_array_hold(&core->tables[map].rows);
        universe_array_hold(&core->tables[map].by_id.heads);
    }
    universe_array_hold(&core->links);
    universe_array_hold(&core->heap.units);
    universe_array_hold(&core->strings.heads);
}

void universe_core_drop(universe_core *core)
{
    for (int map = 0; map < UNIVERSE_MAPS; map++) {
        universe_array_drop(&core->tables[map].rows);
        universe_array_drop(&core->tables[map].by_id.heads);
    }
    universe_array_drop(&core->links);
    universe_array_drop(&core->heap.units);
    universe_array_drop(&core->strings.heads);
}

void universe_state_return(universe_state *state, const universe_core *core)
{
    universe_core old = state->core;

    state->core = *core;
    universe_core_hold(&state->core);
    state->failed = false;
    universe_core_drop(&old);
}

/* ---- states and views ------------------------------------------------------------------------ */

mcp_status universe_state_new(universe_state **out, mcp_error *err)
{
    uint64_t key[2];
    mcp_status st = mcp_random_bytes(key, sizeof key, err);

    if (st != MCP_OK)
        return st;
    universe_state *state = universe_alloc(sizeof *state);
    if (!state)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a universe");
    universe_core_init(&state->core, key);
    *out = state;
    return MCP_OK;
}

void universe_state_free(universe_state *state)
{
    if (!state)
        return;
    universe_core_drop(&state->core);
    universe_free(state, sizeof *state);
}

mcp_status universe_state_freeze(universe_view **out, universe_state *state, mcp_error *err)
{
    universe_view *view = universe_alloc(sizeof *view);

    if (!view)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a view of a universe");
    view->core = state->core;
    universe_core_hold(&state->core);
    atomic_init(&view->holders, 1);
    *out = view;
    return MCP_OK;
}

void universe_state_restore(universe_state *state, const universe_view *view)
{
    universe_state_return(state, &view->core);
}

double universe_state_time(const universe_state *state)
{
    return state->core.time;
}

void universe_state_set_time(universe_state *state, double time)
{
    state->core.time = time;
}

universe_view *universe_view_keep(universe_view *view)
{
    if (view)
        atomic_fetch_add_explicit(&view->holders, 1, memory_order_relaxed);
    return view;
}

void universe_view_free(universe_view *view)
{
    if (!view || atomic_fetch_sub_explicit(&view->holders, 1, memory_order_acq_rel) != 1)
        return;
    universe_core_drop(&view->core);
    universe_free(view, sizeof *view);
}

double universe_view_time(const universe_view *view)
{
    return view->core.time;
}

size_t universe_view_count(const universe_view *view, universe_map map)
{
    return view->core.tables[map].count;
}

bool universe_view_has(const universe_view *view, universe_map map, const char *id, size_t length)
{
    return universe_find(&view->core, map, id, length) != 0;
}

/* Braces, the names of the nine fields and a time. */
#define EMPTY_STATE_BYTES 160

void universe_view_summary(universe_summary *out, const universe_view *view)
{
    const universe_core *core = &view->core;

    *out = (universe_summary){
        .time = core->time,
        .roots = core->roots.count,
        .root_groups = core->root_groups.count,
        .rogues = core->rogues.count,
        .bytes = EMPTY_STATE_BYTES + (uint64_t)(core->bytes > 0 ? core->bytes : 0),
    };
    for (int map = 0; map < UNIVERSE_MAPS; map++)
        out->counts[map] = core->tables[map].count;
    for (int type = 0; type < UNIVERSE_BODY_TYPES; type++)
        out->body_types[type] = core->body_types[type];
}

/* ---- rows ------------------------------------------------------------------------------------ */

const universe_body *universe_body_at(const universe_core *core, universe_handle body)
{
    return universe_array_row(&core->tables[UNIVERSE_STARS].rows, body);
}

const universe_thing *universe_thing_at(const universe_core *core, universe_map map,
                                        universe_handle thing)
{
    return universe_array_row(&core->tables[map].rows, thing);
}

const universe_link *universe_link_at(const universe_core *core, universe_handle link)
{
    return universe_array_row(&core->links, link);
}

const universe_row *universe_row_at(const universe_core *core, universe_map map,
                                    universe_handle handle)
{
    return universe_array_row(&core->tables[map].rows, handle);
}

bool universe_row_is_free(const universe_core *core, universe_map map, universe_handle handle)
{
    return universe_row_at(core, map, handle)->flags & UNIVERSE_FREE;
}

static void *edit(universe_state *state, universe_array *array, uint32_t index)
{
    void *row = universe_array_edit(array, index);

    if (row)
        return row;
    state->failed = true;
    return state->scratch;
}

universe_body *universe_body_edit(universe_state *state, universe_handle body)
{
    return edit(state, &state->core.tables[UNIVERSE_STARS].rows, body);
}

universe_thing *universe_thing_edit(universe_state *state, universe_map map, universe_handle thing)
{
    return edit(state, &state->core.tables[map].rows, thing);
}

universe_link *universe_link_edit(universe_state *state, universe_handle link)
{
    return edit(state, &state->core.links, link);
}

static universe_row *row_edit(universe_state *state, universe_map map, universe_handle handle)
{
    return edit(state, &state->core.tables[map].rows, handle);
}

/* ---- ids ------------------------------------------------------------------------------------- */

static int nibble_of(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static bool is_dash_place(size_t at)
{
    return at == 8 || at == 13 || at == 18 || at == 23;
}

/* The 16 bytes of a UUID written as RFC 9562 does, in lower case; false for any other text. */
static bool uuid_read(universe_key *out, const char *id, size_t length)
{
    size_t digits = 0;

    if (length != 36)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (is_dash_place(i)) {
            if (id[i] != '-')
                return false;
            continue;
        }
        int nibble = nibble_of(id[i]);
        if (nibble < 0)
            return false;
        uint8_t *byte = &out->bytes[digits / 2];
        *byte = (uint8_t)(digits % 2 ? *byte | nibble : nibble << 4);
        digits++;
    }
    return true;
}

static void uuid_write(char *id, const universe_key *key)
{
    static const char hex[] = "0123456789abcdef";
    char *at = id;

    for (size_t i = 0; i < sizeof key->bytes; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *at++ = '-';
        *at++ = hex[key->bytes[i] >> 4];
        *at++ = hex[key->bytes[i] & 15];
    }
    *at = '\0';
}

static uint32_t key_string(const universe_key *key)
{
    uint32_t string;

    memcpy(&string, key->bytes, sizeof string);
    return string;
}

static universe_key string_key(uint32_t string)
{
    universe_key key = { { 0 } };

    memcpy(key.bytes, &string, sizeof string);
    return key;
}

size_t universe_row_id(const universe_core *core, universe_map map, universe_handle handle,
                       char id[UNIVERSE_ID_MAX + 1])
{
    const universe_row *row = universe_row_at(core, map, handle);
    size_t length = 0;

    if (row->flags & UNIVERSE_UUID) {
        uuid_write(id, &row->key);
        return 36;
    }
    const char *bytes = universe_string_at(core, key_string(&row->key), &length);
    memcpy(id, bytes, length);
    id[length] = '\0';
    return length;
}

/* The key under which an id is filed; false when no row can have it, because no such string is
 * known. */
static bool key_of(universe_key *out, uint32_t *flags, const universe_core *core, const char *id,
                   size_t length)
{
    *flags = UNIVERSE_UUID;
    if (uuid_read(out, id, length))
        return true;
    uint32_t string = universe_string_find(core, id, length);
    *flags = 0;
    *out = string_key(string);
    return string != 0;
}

static uint64_t hash_of(const universe_core *core, const universe_key *key)
{
    return mcp_siphash13(core->hash_key, key, sizeof *key);
}

static universe_handle find_key(const universe_core *core, universe_map map,
                                const universe_key *key, uint32_t flags, uint64_t hash)
{
    const universe_index *index = &core->tables[map].by_id;

    if (index->buckets == 0)
        return 0;
    universe_handle at = universe_index_head(index, universe_index_bucket(index, hash));
    while (at) {
        const universe_row *row = universe_row_at(core, map, at);
        if ((row->flags & UNIVERSE_UUID) == flags && memcmp(&row->key, key, sizeof *key) == 0)
            return at;
        at = row->chain;
    }
    return 0;
}

universe_handle universe_row_find(const universe_core *core, universe_map map, const char *id,
                                  size_t length)
{
    universe_key key;
    uint32_t flags;

    if (!key_of(&key, &flags, core, id, length))
        return 0;
    return find_key(core, map, &key, flags, hash_of(core, &key));
}

universe_handle universe_find(const universe_core *core, universe_map map, const char *id,
                              size_t length)
{
    universe_handle found = universe_row_find(core, map, id, length);

    return found && (universe_row_at(core, map, found)->flags & UNIVERSE_PRESENT) ? found : 0;
}

static uint32_t *head_edit(universe_state *state, universe_index *index, uint32_t bucket)
{
    return edit(state, &index->heads, bucket);
}

static void chain(universe_state *state, universe_map map, universe_handle handle, uint64_t hash)
{
    universe_index *index = &state->core.tables[map].by_id;
    universe_row *row = row_edit(state, map, handle);
    uint32_t bucket = universe_index_bucket(index, hash);

    row->chain = universe_index_head(index, bucket);
    *head_edit(state, index, bucket) = handle;
}

static void grow(universe_state *state, universe_map map)
{
    universe_index *index = &state->core.tables[map].by_id;
    uint32_t split = 0;

    if (!universe_index_grow(index, &split))
        return;
    universe_handle at = universe_index_head(index, split);
    *head_edit(state, index, split) = 0;
    while (at && !state->failed) {
        const universe_row *row = universe_row_at(&state->core, map, at);
        universe_handle next = row->chain;
        chain(state, map, at, hash_of(&state->core, &row->key));
        at = next;
    }
}

static universe_handle row_take(universe_state *state, universe_map map)
{
    universe_table *table = &state->core.tables[map];
    universe_handle handle = table->free;

    if (handle) {
        table->free = universe_row_at(&state->core, map, handle)->chain;
        return handle;
    }
    return table->used++;
}

universe_handle universe_row_make(universe_state *state, universe_map map, const char *id,
                                  size_t length)
{
    universe_key key;
    uint32_t flags = UNIVERSE_UUID;

    if (!uuid_read(&key, id, length)) {
        uint32_t string = universe_string_hold(state, id, length);
        flags = 0;
        key = string_key(string);
    }
    uint64_t hash = hash_of(&state->core, &key);
    universe_handle handle = state->failed ? 0 : find_key(&state->core, map, &key, flags, hash);
    if (handle || state->failed) {
        if (!flags)
            universe_string_drop(state, key_string(&key));
        return handle;
    }
    grow(state, map);
    handle = row_take(state, map);
    universe_row *row = row_edit(state, map, handle);
    size_t size = map == UNIVERSE_STARS ? sizeof(universe_body) : sizeof(universe_thing);
    memset(row, 0, size);
    row->key = key;
    row->flags = flags;
    if (!state->failed)
        chain(state, map, handle, hash);
    state->core.tables[map].by_id.count++;
    return state->failed ? 0 : handle;
}

void universe_rows_expect(universe_state *state, universe_map map, uint32_t count)
{
    universe_index_reserve(&state->core.tables[map].by_id, count);
}

void universe_row_prefetch(const universe_core *core, universe_map map, const uint8_t uuid[16],
                           bool is_near)
{
    const universe_index *index = &core->tables[map].by_id;

    if (index->buckets == 0)
        return;
    uint64_t hash = mcp_siphash13(core->hash_key, uuid, sizeof(universe_key));
    uint32_t bucket = universe_index_bucket(index, hash);
    universe_handle head = is_near ? universe_index_head(index, bucket) : 0;
    if (!is_near)
        universe_index_prefetch(index, bucket);
    else if (head)
        __builtin_prefetch(universe_row_at(core, map, head));
}

static void unchain(universe_state *state, universe_map map, universe_handle handle)
{
    universe_index *index = &state->core.tables[map].by_id;
    const universe_row *row = universe_row_at(&state->core, map, handle);
    uint32_t bucket = universe_index_bucket(index, hash_of(&state->core, &row->key));
    universe_handle next = row->chain;
    universe_handle at = universe_index_head(index, bucket);

    if (at == handle) {
        *head_edit(state, index, bucket) = next;
        return;
    }
    while (at && universe_row_at(&state->core, map, at)->chain != handle)
        at = universe_row_at(&state->core, map, at)->chain;
    if (at)
        row_edit(state, map, at)->chain = next;
}

void universe_row_end(universe_state *state, universe_map map, universe_handle handle)
{
    universe_table *table = &state->core.tables[map];
    const universe_row *row = universe_row_at(&state->core, map, handle);

    if (state->failed)
        return;
    unchain(state, map, handle);
    if (!(row->flags & UNIVERSE_UUID))
        universe_string_drop(state, key_string(&row->key));
    table->by_id.count--;
    universe_row *mine = row_edit(state, map, handle);
    mine->flags = UNIVERSE_FREE;
    mine->chain = table->free;
    table->free = handle;
}
