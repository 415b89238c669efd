/*
 * entity.c - members to rows, rows to JSON.
 *
 * The two directions stand side by side for each kind of member, because what one of them leaves
 * out the other must leave out too. A rogue's path is kept twice, in the text and as numbers, so
 * that positions never parse JSON.
 */
#include "model/entity.h"

#include <math.h>
#include <string.h>

#include "model/members.h"

#define VALUE_DEPTH_MAX 32

const char *const universe_orbit_names[UNIVERSE_O_MEMBERS] = {
    "semiMajorAxis", "eccentricity", "orbitOffsetX", "orbitOffsetY",
    "orbitOffsetZ",  "orbitRotX",    "orbitRotY",    "orbitRotZ",
};

/* The members that lie in a body's row itself. */
enum slot {
    MASS,
    RADIUS,
    DISTANCE,
    SPEED,
    PHASE,
    ID,
    NAME,
    COLOR,
    TYPE,
    ROGUE,
    HIERARCHY,
    ORBIT,
    REST
};

static const struct known {
    const char *name;
    enum slot slot;
} known[] = {
    { "id", ID },
    { "name", NAME },
    { "mass", MASS },
    { "radius", RADIUS },
    { "color", COLOR },
    { "children", HIERARCHY },
    { "parentId", HIERARCHY },
    { "bodyType", TYPE },
    { "orbitalDistance", DISTANCE },
    { "orbitalSpeed", SPEED },
    { "orbitalPhase", PHASE },
    { "isRoguePlanet", ROGUE },
};

static bool is_name(const universe_part *part, const char *name)
{
    return strlen(name) == part->length && memcmp(name, part->name, part->length) == 0;
}

/* Where a member of a body goes; for ORBIT which of the numbers. */
static enum slot slot_of(const universe_part *part, unsigned *which)
{
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (is_name(part, known[i].name))
            return known[i].slot;
    for (*which = 0; *which < UNIVERSE_O_MEMBERS; (*which)++)
        if (is_name(part, universe_orbit_names[*which]))
            return ORBIT;
    return REST;
}

/* ---- values ---------------------------------------------------------------------------------- */

const char *universe_value_refused(const mcp_json *value, unsigned depth)
{
    size_t length = 0;

    if (!mcp_json_is_object(value) && !mcp_json_is_array(value))
        return NULL;
    if (depth >= VALUE_DEPTH_MAX)
        return "nested too deeply";
    if (mcp_json_is_object(value) && mcp_json_duplicate(value))
        return "a member occurs twice";
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        const char *name = mcp_json_is_object(value) ? mcp_json_name(value, i, &length) : NULL;
        if (name && strlen(name) != length)
            return "a member's name holds a NUL";
        const char *why = universe_value_refused(mcp_json_item(value, i), depth + 1);
        if (why)
            return why;
    }
    return NULL;
}

void universe_value_write(mcp_json_writer *writer, const mcp_json *value)
{
    bool is_object = mcp_json_is_object(value);
    double number = 1;

    if (mcp_json_type_of(value) == MCP_JSON_DOUBLE && mcp_json_double(value, &number) &&
        number == 0) {
        mcp_write_int(writer, 0);
        return;
    }
    if (!is_object && !mcp_json_is_array(value)) {
        mcp_write_value(writer, value);
        return;
    }
    (is_object ? mcp_write_object : mcp_write_array)(writer);
    for (size_t i = 0; i < mcp_json_count(value); i++) {
        if (is_object)
            mcp_write_name(writer, mcp_json_name(value, i, NULL));
        universe_value_write(writer, mcp_json_item(value, i));
    }
    mcp_write_end(writer);
}

/* Adding zero makes minus zero zero. */
static double number_of(const mcp_json *value)
{
    double number = 0;

    mcp_json_double(value, &number);
    return number + 0.0;
}

/* ---- orbits ---------------------------------------------------------------------------------- */

static size_t orbit_bytes(uint32_t mask)
{
    return offsetof(universe_orbit, values) + (size_t)__builtin_popcount(mask) * sizeof(double);
}

const universe_orbit *universe_orbit_of(const universe_core *core, const universe_body *body)
{
    static const universe_orbit none;

    return body->orbit ? universe_block_at(core, body->orbit) : &none;
}

double universe_orbit_value(const universe_orbit *orbit, unsigned slot, double otherwise)
{
    uint32_t bit = 1u << slot;

    return orbit->mask & bit ? orbit->values[__builtin_popcount(orbit->mask & (bit - 1))]
                             : otherwise;
}

/* The numbers while they are collected: `values` has a place for each slot. */
typedef struct numbers {
    uint32_t mask;
    double values[UNIVERSE_O_SLOTS];
} numbers;

static void put_number(numbers *all, unsigned slot, const mcp_json *value)
{
    if (!mcp_json_is_number(value))
        return;
    all->mask |= 1u << slot;
    all->values[slot] = number_of(value);
}

static void put_vector(numbers *all, unsigned slot, const mcp_json *vector)
{
    put_number(all, slot, mcp_json_get(vector, "x"));
    put_number(all, slot + 1, mcp_json_get(vector, "y"));
    put_number(all, slot + 2, mcp_json_get(vector, "z"));
}

static void put_path(numbers *all, const mcp_json *rogue)
{
    if (!rogue)
        return;
    put_vector(all, UNIVERSE_O_START, mcp_json_get(rogue, "initialPosition"));
    put_vector(all, UNIVERSE_O_VELOCITY, mcp_json_get(rogue, "velocity"));
    put_number(all, UNIVERSE_O_CURVATURE, mcp_json_get(rogue, "pathCurvature"));
    put_number(all, UNIVERSE_O_PATH_AXIS, mcp_json_get(rogue, "semiMajorAxis"));
    put_number(all, UNIVERSE_O_PATH_ECCENTRICITY, mcp_json_get(rogue, "eccentricity"));
    put_number(all, UNIVERSE_O_PATH_OFFSET, mcp_json_get(rogue, "pathOffsetX"));
    put_number(all, UNIVERSE_O_PATH_OFFSET + 1, mcp_json_get(rogue, "pathOffsetY"));
    put_number(all, UNIVERSE_O_PATH_OFFSET + 2, mcp_json_get(rogue, "pathOffsetZ"));
    put_number(all, UNIVERSE_O_PATH_ROTATION, mcp_json_get(rogue, "orbitRotX"));
    put_number(all, UNIVERSE_O_PATH_ROTATION + 1, mcp_json_get(rogue, "orbitRotY"));
    put_number(all, UNIVERSE_O_PATH_ROTATION + 2, mcp_json_get(rogue, "orbitRotZ"));
    put_number(all, UNIVERSE_O_PATH_PERIOD, mcp_json_get(rogue, "pathPeriod"));
}

static universe_handle store_orbit(universe_state *state, const numbers *all)
{
    size_t count = 0;

    if (all->mask == 0)
        return 0;
    universe_handle block = universe_block_new(state, orbit_bytes(all->mask));
    if (!block)
        return 0;
    universe_orbit *orbit = universe_block_edit(state, block);
    orbit->mask = all->mask;
    orbit->unused = 0;
    for (unsigned slot = 0; slot < UNIVERSE_O_SLOTS; slot++)
        if (all->mask & (1u << slot))
            orbit->values[count++] = all->values[slot];
    return block;
}

/* ---- colours --------------------------------------------------------------------------------- */

/* The value of "#RRGGBB" whose letters are all capitals or all small; false for any other text. */
static bool color_read(uint32_t *out, uint32_t *flags, const char *text, size_t length)
{
    bool has_upper = false;
    bool has_lower = false;

    if (length != 7 || text[0] != '#')
        return false;
    *out = 0;
    for (size_t i = 1; i < length; i++) {
        char c = text[i];
        bool is_lower = c >= 'a' && c <= 'f';
        bool is_upper = c >= 'A' && c <= 'F';
        if (!is_lower && !is_upper && !(c >= '0' && c <= '9'))
            return false;
        has_lower |= is_lower;
        has_upper |= is_upper;
        *out = *out << 4 | (uint32_t)(is_lower ? c - 'a' + 10 : is_upper ? c - 'A' + 10 : c - '0');
    }
    *flags = has_lower ? UNIVERSE_COLOR_LOWER : 0;
    return !(has_lower && has_upper);
}

static void color_store(universe_state *state, universe_body *row, const mcp_json *value)
{
    size_t length = 0;
    const char *text = mcp_json_string(value, &length);
    uint32_t flags = 0;

    if (color_read(&row->color, &flags, text, length)) {
        row->row.flags |= flags;
        return;
    }
    row->row.flags |= UNIVERSE_COLOR_TEXT;
    row->color = universe_string_hold(state, text, length);
}

static void color_write(const universe_core *core, const universe_body *row,
                        mcp_json_writer *writer)
{
    const char *digits = row->row.flags & UNIVERSE_COLOR_LOWER ? "0123456789abcdef"
                                                               : "0123456789ABCDEF";
    char text[7] = "#";
    size_t length = sizeof text;

    if (row->row.flags & UNIVERSE_COLOR_TEXT) {
        const char *bytes = universe_string_at(core, row->color, &length);
        mcp_write_string_n(writer, bytes, length);
        return;
    }
    for (unsigned i = 0; i < 6; i++)
        text[1 + i] = digits[row->color >> (20 - 4 * i) & 15];
    mcp_write_string_n(writer, text, length);
}

/* ---- how long the JSON is, roughly ----------------------------------------------------------- */

static int64_t number_bytes(double number)
{
    int64_t bytes = 1;

    if (number != floor(number) || fabs(number) >= 1e15)
        return 17;
    for (int64_t rest = (int64_t)fabs(number); rest >= 10; rest /= 10)
        bytes++;
    return bytes + (number < 0);
}

#define BODY_FIXED_BYTES 158 /* names, quotes, braces, colour */
#define THING_FIXED_BYTES 16 /* the same of what has only an id and a text */
#define MEMBER_NAME_BYTES 17 /* of an optional number, with quotes and comma */

static int64_t id_bytes_of(const universe_core *core, universe_map map, universe_handle handle)
{
    char id[UNIVERSE_ID_MAX + 1];
    bool is_uuid = universe_row_at(core, map, handle)->flags & UNIVERSE_UUID;

    return is_uuid ? 36 : (int64_t)universe_row_id(core, map, handle, id);
}

static int64_t body_bytes(const universe_core *core, universe_handle handle)
{
    const universe_body *body = universe_body_at(core, handle);
    const universe_orbit *orbit = universe_orbit_of(core, body);
    int64_t id_bytes = id_bytes_of(core, UNIVERSE_STARS, handle);
    size_t name_bytes = 0;

    universe_string_at(core, body->name, &name_bytes);
    int64_t bytes = BODY_FIXED_BYTES + 4 * id_bytes + (int64_t)name_bytes;
    bytes += number_bytes(body->mass) + number_bytes(body->radius) + number_bytes(body->distance);
    bytes += number_bytes(body->speed) + number_bytes(body->phase);
    int slots = __builtin_popcount(orbit->mask & ((1u << UNIVERSE_O_MEMBERS) - 1));
    for (int i = 0; i < slots; i++)
        bytes += MEMBER_NAME_BYTES + number_bytes(orbit->values[i]);
    return bytes + (int64_t)universe_text_length(core, body->rest);
}

static int64_t entity_bytes(const universe_core *core, universe_map map, universe_handle handle)
{
    if (map == UNIVERSE_STARS)
        return body_bytes(core, handle);
    const universe_thing *thing = universe_thing_at(core, map, handle);
    return THING_FIXED_BYTES + 2 * id_bytes_of(core, map, handle) +
           (int64_t)universe_text_length(core, thing->rest);
}

/* ---- clearing -------------------------------------------------------------------------------- */

static unsigned type_of(const universe_body *body)
{
    return body->row.flags >> UNIVERSE_TYPE_SHIFT & 7;
}

static void clear_body(universe_state *state, universe_handle handle)
{
    universe_body old = *universe_body_at(&state->core, handle);
    const universe_orbit *orbit = universe_orbit_of(&state->core, &old);

    universe_unrefer(state, old.names); /* while it is PRESENT: it may name itself */
    state->core.body_types[type_of(&old)]--;
    universe_string_drop(state, old.name);
    if (old.row.flags & UNIVERSE_COLOR_TEXT)
        universe_string_drop(state, old.color);
    if (old.orbit)
        universe_block_free(state, old.orbit, orbit_bytes(orbit->mask));
    universe_text_free(state, old.rest);
    universe_body *mine = universe_body_edit(state, handle);
    mine->row.flags &= UNIVERSE_UUID;
    mine->name = mine->color = mine->orbit = mine->rest = mine->names = 0;
}

static void clear_thing(universe_state *state, universe_map map, universe_handle handle)
{
    universe_thing old = *universe_thing_at(&state->core, map, handle);

    universe_text_free(state, old.rest);
    universe_thing *mine = universe_thing_edit(state, map, handle);
    mine->row.flags &= UNIVERSE_UUID;
    mine->rest = mine->names = 0;
    universe_unrefer(state, old.names);
}

void universe_entity_clear(universe_state *state, universe_map map, universe_handle handle)
{
    if (!(universe_row_at(&state->core, map, handle)->flags & UNIVERSE_PRESENT))
        return;
    state->core.bytes -= entity_bytes(&state->core, map, handle);
    state->core.tables[map].count--;
    if (map == UNIVERSE_STARS)
        clear_body(state, handle);
    else
        clear_thing(state, map, handle);
}

void universe_body_set_distance(universe_state *state, universe_handle body, double distance)
{
    state->core.bytes -= body_bytes(&state->core, body);
    universe_body_edit(state, body)->distance = distance;
    state->core.bytes += body_bytes(&state->core, body);
}

/* ---- storing --------------------------------------------------------------------------------- */

static void refer_to(universe_state *state, universe_link_kind kind, universe_handle from,
                     const mcp_json *id)
{
    size_t length = 0;
    const char *bytes = mcp_json_string(id, &length);

    if (bytes)
        universe_refer(state, kind, from, bytes, length);
}

/* What a body names by the members that are kept as text. */
static void refer_body(universe_state *state, universe_handle handle, const universe_part *part)
{
    if (is_name(part, "lagrangeHostId"))
        refer_to(state, UNIVERSE_L_HOST, handle, part->value);
    if (!is_name(part, "lagrangePoint"))
        return;
    refer_to(state, UNIVERSE_L_PRIMARY, handle, mcp_json_get(part->value, "primaryId"));
    refer_to(state, UNIVERSE_L_SECONDARY, handle, mcp_json_get(part->value, "secondaryId"));
}

static unsigned type_named(const mcp_json *value)
{
    const char *name = mcp_json_string(value, NULL);
    unsigned type = UNIVERSE_BODY_TYPES - 1;

    while (name && type > 0 && strcmp(universe_body_type_names[type], name) != 0)
        type--;
    return name ? type : 0;
}

/* One member of a body; true when it belongs into the text. */
static bool store_member(universe_state *state, universe_body *row, numbers *all,
                         const universe_part *part)
{
    double *const numbers_of_row[] = { &row->mass, &row->radius, &row->distance, &row->speed,
                                       &row->phase };
    unsigned which = 0;
    enum slot slot = slot_of(part, &which);
    bool is_true = false;
    size_t length = 0;

    if (slot <= PHASE) {
        *numbers_of_row[slot] = number_of(part->value); /* null is 0: only the phase may be that */
    } else if (slot == ORBIT && mcp_json_is_number(part->value)) {
        put_number(all, which, part->value);
    } else if (slot == NAME) {
        const char *name = mcp_json_string(part->value, &length);
        row->name = universe_string_hold(state, name, length);
    } else if (slot == COLOR) {
        color_store(state, row, part->value);
    } else if (slot == TYPE && mcp_json_is_string(part->value)) {
        row->row.flags |= type_named(part->value) << UNIVERSE_TYPE_SHIFT;
    } else if (slot == ROGUE && mcp_json_bool(part->value, &is_true)) {
        row->row.flags |= UNIVERSE_ROGUE_SAID | (is_true ? UNIVERSE_ROGUE : 0);
    } else if (slot != ID && slot != HIERARCHY) {
        return true;
    }
    return false;
}

static void begin_rest(mcp_json_writer *writer, mcp_buf *buf)
{
    mcp_json_writer_init(writer, buf);
    mcp_write_object(writer);
}

static void put_rest(mcp_json_writer *writer, const universe_part *part)
{
    mcp_write_name(writer, part->name);
    universe_value_write(writer, part->value);
}

/* The collected members as a text without braces. */
static universe_handle end_rest(universe_state *state, mcp_json_writer *writer, mcp_status *st)
{
    mcp_write_end(writer);
    *st = mcp_json_writer_status(writer);
    if (*st != MCP_OK)
        return 0;
    return universe_text_new(state, writer->buf->data + 1, writer->buf->length - 2);
}

static mcp_status store_body(universe_state *state, universe_handle handle,
                             const universe_part *parts, size_t count, mcp_buf *buf)
{
    universe_body row = { .row.flags = UNIVERSE_PRESENT };
    numbers all = { 0, { 0 } };
    mcp_json_writer writer;
    mcp_status st = MCP_OK;

    begin_rest(&writer, buf);
    for (size_t i = 0; i < count && !state->failed; i++) {
        if (!parts[i].value || !store_member(state, &row, &all, &parts[i]))
            continue;
        put_rest(&writer, &parts[i]);
        if (is_name(&parts[i], "roguePlanet") && mcp_json_is_object(parts[i].value)) {
            row.row.flags |= UNIVERSE_DRIFTS;
            put_path(&all, parts[i].value);
        }
    }
    universe_handle rest = end_rest(state, &writer, &st);
    universe_handle orbit = store_orbit(state, &all);
    universe_body *mine = universe_body_edit(state, handle);
    mine->row.flags |= row.row.flags;
    mine->mass = row.mass;
    mine->radius = row.radius;
    mine->distance = row.distance;
    mine->speed = row.speed;
    mine->phase = row.phase;
    mine->color = row.color;
    mine->name = row.name;
    mine->orbit = orbit;
    mine->rest = rest;
    for (size_t i = 0; i < count && !state->failed; i++)
        if (parts[i].value)
            refer_body(state, handle, &parts[i]);
    state->core.body_types[type_of(&row)]++;
    return st;
}

/* Which member of a thing names a body, and the kind of that link. */
static const struct naming {
    const char *member;
    universe_link_kind kind;
} namings[UNIVERSE_MAPS] = {
    [UNIVERSE_BELTS] = { "parentId", UNIVERSE_L_BELT },
    [UNIVERSE_FIELDS] = { "hostStarId", UNIVERSE_L_FIELD },
    [UNIVERSE_DISKS] = { "centralStarId", UNIVERSE_L_DISK },
};

static bool is_hierarchy(universe_map map, const universe_part *part)
{
    return is_name(part, "id") || (map == UNIVERSE_GROUPS &&
                                   (is_name(part, "children") || is_name(part, "parentGroupId")));
}

static mcp_status store_thing(universe_state *state, universe_map map, universe_handle handle,
                              const universe_part *parts, size_t count, mcp_buf *buf)
{
    const struct naming *naming = &namings[map];
    uint32_t flags = UNIVERSE_PRESENT;
    mcp_json_writer writer;
    mcp_status st = MCP_OK;

    begin_rest(&writer, buf);
    for (size_t i = 0; i < count; i++) {
        if (!parts[i].value || is_hierarchy(map, &parts[i]))
            continue;
        put_rest(&writer, &parts[i]);
        if (naming->member && is_name(&parts[i], naming->member))
            refer_to(state, naming->kind, handle, parts[i].value);
        if (map == UNIVERSE_GROUPS && is_name(&parts[i], "position") &&
            mcp_json_is_object(parts[i].value))
            flags |= UNIVERSE_PLACED;
    }
    universe_handle rest = end_rest(state, &writer, &st);
    universe_thing *mine = universe_thing_edit(state, map, handle);
    mine->row.flags |= flags;
    mine->rest = rest;
    return st;
}

mcp_status universe_entity_store(universe_state *state, universe_map map, universe_handle handle,
                                 const universe_part *parts, size_t count, mcp_error *err)
{
    mcp_buf buf;

    mcp_buf_init(&buf, UNIVERSE_ENTITY_MAX);
    universe_entity_clear(state, map, handle);
    mcp_status st = map == UNIVERSE_STARS ? store_body(state, handle, parts, count, &buf)
                                          : store_thing(state, map, handle, parts, count, &buf);
    mcp_buf_clear(&buf);
    if (state->failed)
        st = MCP_E_NOMEM;
    if (st != MCP_OK)
        return mcp_error_set(err, st, "an entity could not be stored: %s", mcp_status_words(st));
    state->core.tables[map].count++;
    state->core.bytes += entity_bytes(&state->core, map, handle);
    return MCP_OK;
}

static void collect_raw(numbers *all, const universe_raw_body *raw)
{
    const double *number = raw->numbers;

    for (unsigned slot = 0; slot < UNIVERSE_O_MEMBERS; slot++) {
        if (!(raw->mask >> slot & 1))
            continue;
        all->mask |= 1u << slot;
        all->values[slot] = *number++;
    }
}

mcp_status universe_body_store_raw(universe_state *state, universe_handle handle,
                                   const universe_raw_body *raw, mcp_error *err)
{
    const mcp_json *rogue = mcp_json_get(raw->members, "roguePlanet");
    numbers all = { 0, { 0 } };

    collect_raw(&all, raw);
    put_path(&all, rogue);
    universe_handle name = universe_string_hold(state, raw->name, raw->name_length);
    uint32_t color = raw->color ? universe_string_hold(state, raw->color, raw->color_length)
                                : raw->row.color;
    universe_handle orbit = store_orbit(state, &all);
    universe_handle rest = universe_text_new(state, raw->rest, raw->rest_length);
    universe_body *mine = universe_body_edit(state, handle);
    mine->row.flags |= UNIVERSE_PRESENT | (raw->row.row.flags & UNIVERSE_CONTENT_FLAGS) |
                       (mcp_json_is_object(rogue) ? UNIVERSE_DRIFTS : 0);
    mine->mass = raw->row.mass;
    mine->radius = raw->row.radius;
    mine->distance = raw->row.distance;
    mine->speed = raw->row.speed;
    mine->phase = raw->row.phase;
    mine->color = color;
    mine->name = name;
    mine->orbit = orbit;
    mine->rest = rest;
    for (size_t i = 0; i < mcp_json_count(raw->members) && !state->failed; i++) {
        universe_part part = { .value = mcp_json_item(raw->members, i) };
        part.name = mcp_json_name(raw->members, i, &part.length);
        refer_body(state, handle, &part);
    }
    if (state->failed)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a body");
    state->core.body_types[type_of(universe_body_at(&state->core, handle))]++;
    state->core.tables[UNIVERSE_STARS].count++;
    state->core.bytes += body_bytes(&state->core, handle);
    return MCP_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_row_id(const universe_core *core, universe_map map, universe_handle handle,
                         mcp_json_writer *writer)
{
    char id[UNIVERSE_ID_MAX + 1];
    size_t length = universe_row_id(core, map, handle, id);

    mcp_write_string_n(writer, id, length);
}

/* A parent's id, or null. */
static void write_above(const universe_core *core, universe_map map, const char *name,
                        universe_handle above, mcp_json_writer *writer)
{
    mcp_write_name(writer, name);
    if (above)
        write_row_id(core, map, above, writer);
    else
        mcp_write_null(writer);
}

/* The members kept as text go behind those written so far, or stand alone. */
static void write_rest(const universe_core *core, universe_handle rest, bool is_first,
                       mcp_json_writer *writer)
{
    if (!rest || mcp_json_writer_status(writer) != MCP_OK)
        return;
    if (!is_first)
        mcp_buf_putc(writer->buf, ',');
    universe_text_append(writer->buf, core, rest);
}

static void write_group_children(const universe_core *core, universe_handle group,
                                 mcp_json_writer *writer)
{
    const universe_link *link;
    universe_handle at = universe_thing_at(core, UNIVERSE_GROUPS, group)->first;

    for (; at && mcp_json_writer_status(writer) == MCP_OK; at = link->next) {
        link = universe_link_at(core, at);
        bool is_group = link->kind == UNIVERSE_L_GROUP;
        mcp_write_object(writer);
        mcp_write_name(writer, "id");
        write_row_id(core, is_group ? UNIVERSE_GROUPS : UNIVERSE_STARS, link->to, writer);
        mcp_write_member_string(writer, "type", is_group ? "group" : "system");
        mcp_write_end(writer);
    }
}

static void write_body_children(const universe_core *core, universe_handle body,
                                mcp_json_writer *writer)
{
    universe_handle at = universe_body_at(core, body)->first;

    for (; at && mcp_json_writer_status(writer) == MCP_OK; at = universe_body_at(core, at)->next)
        write_row_id(core, UNIVERSE_STARS, at, writer);
}

static void write_hierarchy(const universe_core *core, universe_map map, universe_handle handle,
                            mcp_json_writer *writer)
{
    if (map != UNIVERSE_STARS && map != UNIVERSE_GROUPS)
        return;
    mcp_write_member_array(writer, "children");
    if (map == UNIVERSE_STARS) {
        write_body_children(core, handle, writer);
        mcp_write_end(writer);
        write_above(core, map, "parentId", universe_body_at(core, handle)->parent, writer);
        return;
    }
    write_group_children(core, handle, writer);
    mcp_write_end(writer);
    write_above(core, map, "parentGroupId", universe_thing_at(core, map, handle)->parent, writer);
}

static void write_orbit(const universe_orbit *orbit, mcp_json_writer *writer)
{
    size_t at = 0;

    for (unsigned slot = 0; slot < UNIVERSE_O_MEMBERS; slot++)
        if (orbit->mask & (1u << slot))
            mcp_write_member_double(writer, universe_orbit_names[slot], orbit->values[at++]);
}

static void write_body(const universe_core *core, universe_handle handle, mcp_json_writer *writer)
{
    const universe_body *body = universe_body_at(core, handle);
    size_t length = 0;
    const char *name = universe_string_at(core, body->name, &length);

    mcp_write_name(writer, "name");
    mcp_write_string_n(writer, name, length);
    mcp_write_member_double(writer, "mass", body->mass);
    mcp_write_member_double(writer, "radius", body->radius);
    mcp_write_name(writer, "color");
    color_write(core, body, writer);
    if (type_of(body))
        mcp_write_member_string(writer, "bodyType", universe_body_type_names[type_of(body)]);
    mcp_write_member_double(writer, "orbitalDistance", body->distance);
    mcp_write_member_double(writer, "orbitalSpeed", body->speed);
    mcp_write_member_double(writer, "orbitalPhase", body->phase);
    write_orbit(universe_orbit_of(core, body), writer);
    if (body->row.flags & UNIVERSE_ROGUE_SAID)
        mcp_write_member_bool(writer, "isRoguePlanet", body->row.flags & UNIVERSE_ROGUE);
    write_rest(core, body->rest, false, writer);
}

void universe_content_write(const universe_core *core, universe_map map, universe_handle handle,
                            mcp_json_writer *writer)
{
    mcp_write_object(writer);
    if (map == UNIVERSE_STARS)
        write_body(core, handle, writer);
    else
        write_rest(core, universe_thing_at(core, map, handle)->rest, true, writer);
    mcp_write_end(writer);
}

void universe_entity_write(const universe_core *core, universe_map map, universe_handle handle,
                           mcp_json_writer *writer)
{
    mcp_write_object(writer);
    mcp_write_name(writer, "id");
    write_row_id(core, map, handle, writer);
    write_hierarchy(core, map, handle, writer);
    if (map == UNIVERSE_STARS)
        write_body(core, handle, writer);
    else
        write_rest(core, universe_thing_at(core, map, handle)->rest, false, writer);
    mcp_write_end(writer);
}
