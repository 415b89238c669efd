/*
 * import.c - a state from JSON that comes in pieces.
 *
 * A scanner that knows strings and brackets cuts the text at the entries of the top-level maps and
 * at the items of the two arrays; each value so cut out is read, checked and filed, and forgotten.
 * What is left of the text at any moment is one value at most, whatever the size of the whole.
 */
#include <math.h>
#include <string.h>

#include "mcp/buf.h"
#include "model/build.h"
#include "model/entity.h"
#include "model/members.h"
#include "model/pages/memory.h"

#define VALUE_MAX ((size_t)UNIVERSE_ENTITY_MAX * 2)

/* What is expected next. Within a container the first item may also be its end. */
typedef enum expectation {
    AT_START,
    AT_FIRST_FIELD,
    AT_FIELD,
    AT_FIELD_COLON,
    AT_FIELD_VALUE,
    AFTER_FIELD,
    AT_FIRST_ITEM, /* of a map or an array that is a field */
    AT_ITEM,
    AT_ITEM_COLON,
    AT_ITEM_VALUE,
    AFTER_ITEM,
    AT_END
} expectation;

struct universe_import {
    universe_build *build;
    universe_rules rules;
    expectation next;
    unsigned field; /* bit of the field that is being read; 0: one that is skipped */
    unsigned seen;  /* bits of the fields that were */
    bool is_map;    /* the field is a map, not an array */
    mcp_buf key;    /* of an entry, as it stands in the text */
    mcp_buf value;
    bool is_cutting; /* a value is being collected, see below */
    bool in_string;
    bool is_escaped;
    unsigned depth;
    uint64_t offset; /* of the byte that is looked at */
};

mcp_status universe_import_new(universe_import **out, const universe_rules *rules, mcp_error *err)
{
    universe_import *import = universe_alloc(sizeof *import);

    if (!import)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an import");
    mcp_buf_init(&import->key, 8 * UNIVERSE_ID_MAX);
    mcp_buf_init(&import->value, VALUE_MAX);
    if (rules)
        import->rules = *rules;
    mcp_status st = universe_build_new(&import->build, rules, err);
    if (st == MCP_OK)
        *out = import;
    else
        universe_import_free(import);
    return st;
}

void universe_import_free(universe_import *import)
{
    if (!import)
        return;
    universe_build_free(import->build);
    mcp_buf_clear(&import->key);
    mcp_buf_clear(&import->value);
    universe_free(import, sizeof *import);
}

bool universe_import_is_repairable(const universe_import *import)
{
    return universe_build_is_repairable(import->build);
}

size_t universe_import_repairs(const universe_import *import)
{
    return universe_build_repairs(import->build);
}

const char *universe_import_repair(const universe_import *import, size_t index)
{
    return universe_build_repair(import->build, index);
}

static mcp_status no_json(const universe_import *import, mcp_error *err)
{
    return mcp_error_at(err, MCP_E_PARSE, (int64_t)import->offset,
                        "byte %llu cannot stand there in JSON", (unsigned long long)import->offset);
}

/* ---- values that were cut out ---------------------------------------------------------------- */

static mcp_status take_entity(universe_import *import, universe_map map, const mcp_json *key,
                              const mcp_json *entity, mcp_arena *arena, mcp_error *err)
{
    const char *why = universe_value_refused(entity, 0);
    const char *id = mcp_json_string(key, NULL);
    universe_fault fault = { why, "" };

    if (!why &&
        !universe_shape_check(&fault, universe_shape_of(map), entity, "", false, &import->rules,
                              arena) &&
        !fault.reason)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an import");
    if (!fault.reason && !mcp_json_equal(key, mcp_json_get(entity, "id")))
        fault = (universe_fault){ "is not the key under which the entity stands", "/id" };
    if (fault.reason)
        return mcp_error_set(err, MCP_E_PARAMS, "/%s/%.60s%.60s: %s", universe_map_names[map], id,
                             fault.path, fault.reason);
    return universe_build_add(import->build, map, entity, err);
}

static mcp_status take_root(universe_import *import, universe_map map, const mcp_json *item,
                            mcp_error *err)
{
    size_t length = 0;
    const char *id = mcp_json_string(item, &length);

    if (!id || length == 0 || length > UNIVERSE_ID_MAX || memchr(id, '\0', length))
        return mcp_error_set(err, MCP_E_PARAMS, "%s holds something that is no id",
                             map == UNIVERSE_STARS ? "rootIds" : "rootGroupIds");
    return universe_build_root(import->build, map, id, length, err);
}

static mcp_status take_time(universe_import *import, const mcp_json *value, mcp_error *err)
{
    double time = 0;

    if (!mcp_json_double(value, &time) || !(fabs(time) <= UNIVERSE_TIME_MAX))
        return mcp_error_set(err, MCP_E_PARAMS, "time must be a number, at most 1e15");
    universe_build_time(import->build, time);
    return MCP_OK;
}

static universe_map map_of(unsigned field)
{
    universe_map map = UNIVERSE_STARS;

    while (map < UNIVERSE_NEBULAE && UNIVERSE_FIELD_MAP(map) != field)
        map++;
    return map;
}

static mcp_status take_value(universe_import *import, const mcp_json *value, mcp_arena *arena,
                             mcp_error *err)
{
    const mcp_json *key = NULL;
    mcp_status st = MCP_OK;

    if (import->field == UNIVERSE_FIELD_TIME)
        return take_time(import, value, err);
    if (import->field == UNIVERSE_FIELD_ROOT_IDS)
        return take_root(import, UNIVERSE_STARS, value, err);
    if (import->field == UNIVERSE_FIELD_ROOT_GROUP_IDS)
        return take_root(import, UNIVERSE_GROUPS, value, err);
    if (import->field == 0)
        return MCP_OK;
    st = mcp_json_read(&key, arena, import->key.data, import->key.length, err);
    return st == MCP_OK ? take_entity(import, map_of(import->field), key, value, arena, err) : st;
}

/* The name of a field has been cut out. */
static mcp_status take_field(universe_import *import, const mcp_json *name, mcp_error *err)
{
    import->field = universe_field_of(mcp_json_string(name, NULL));
    if (import->field & import->seen)
        return mcp_error_set(err, MCP_E_PARAMS, "the field '%.40s' occurs twice",
                             mcp_json_string(name, NULL));
    import->seen |= import->field;
    return MCP_OK;
}

/* A value is complete: read it, and see what it was. */
static mcp_status take(universe_import *import, mcp_error *err)
{
    const mcp_json *value = NULL;
    mcp_arena *arena = mcp_arena_new(256u << 20);
    mcp_status st = arena ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for an import");
    uint64_t begin = import->offset - import->value.length;

    import->is_cutting = false;
    if (st == MCP_OK)
        st = mcp_json_read(&value, arena, import->value.data, import->value.length, err);
    if (st == MCP_E_PARSE && err)
        st = mcp_error_at(err, st, (int64_t)begin + err->offset, "%s", err->message);
    if (st == MCP_OK && import->next == AT_FIELD_COLON)
        st = take_field(import, value, err);
    else if (st == MCP_OK && import->next != AT_ITEM_COLON)
        st = take_value(import, value, arena, err);
    else if (st == MCP_OK)
        st = mcp_buf_append(&import->key, import->value.data, import->value.length);
    if (st == MCP_E_LIMIT && import->next == AT_ITEM_COLON)
        st = mcp_error_set(err, MCP_E_LIMIT, "an id has at most 256 bytes");
    mcp_arena_free(arena);
    mcp_buf_reset(&import->value);
    return st;
}

/* ---- the scanner ----------------------------------------------------------------------------- */

static bool is_space(char byte)
{
    return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

/* From here a value is collected, until it is complete; `then` comes after it. */
static void cut(universe_import *import, expectation then)
{
    import->next = then;
    import->is_cutting = true;
    import->in_string = import->is_escaped = false;
    import->depth = 0;
}

/* How many of these bytes belong to the value; *complete when it ends with them. */
static size_t belonging(universe_import *import, const char *bytes, size_t length, bool *complete)
{
    for (size_t i = 0; i < length; i++) {
        char byte = bytes[i];
        if (import->in_string) {
            bool ends = byte == '"' && !import->is_escaped;
            import->is_escaped = byte == '\\' && !import->is_escaped;
            import->in_string = !ends;
            *complete = ends && import->depth == 0;
        } else if (byte == '"') {
            import->in_string = true;
        } else if (byte == '{' || byte == '[') {
            import->depth++;
        } else if (byte == '}' || byte == ']' ||
                   (import->depth == 0 && (byte == ',' || is_space(byte)))) {
            *complete = import->depth <= 1;
            if (import->depth == 0)
                return i; /* a number or a word ended before this byte */
            import->depth--;
        }
        if (*complete)
            return i + 1;
    }
    return length;
}

static mcp_status collect(universe_import *import, const char *bytes, size_t length, size_t *used,
                          mcp_error *err)
{
    bool complete = false;

    *used = belonging(import, bytes, length, &complete);
    mcp_status st = mcp_buf_append(&import->value, bytes, *used);
    if (st != MCP_OK)
        return mcp_error_set(err, st,
                             st == MCP_E_LIMIT ? "an entity takes more than 8 MiB of text"
                                               : "no memory for an import");
    import->offset += *used;
    return complete ? take(import, err) : MCP_OK;
}

/* A field's value begins: the maps and arrays of a state are entered, everything else is a value of
 * its own. */
static bool enter_field(universe_import *import, char byte)
{
    bool is_array = import->field & (UNIVERSE_FIELD_ROOT_IDS | UNIVERSE_FIELD_ROOT_GROUP_IDS);
    bool is_value = import->field == 0 || import->field == UNIVERSE_FIELD_TIME;

    import->is_map = !is_array;
    if (is_value) {
        cut(import, AFTER_FIELD);
        return false;
    }
    import->next = byte == (is_array ? '[' : '{') ? AT_FIRST_ITEM : AT_END;
    return true;
}

/* The closing bracket of the present container. */
static bool ends(const universe_import *import, char byte)
{
    switch (import->next) {
    case AT_FIRST_FIELD:
    case AFTER_FIELD:
        return byte == '}';
    case AT_FIRST_ITEM:
    case AFTER_ITEM:
        return byte == (import->is_map ? '}' : ']');
    default:
        return false;
    }
}

/* Names begin with a quote; what begins with anything else is refused when it is read. */
static bool begin_item(universe_import *import, char byte)
{
    if (!import->is_map) {
        cut(import, AFTER_ITEM);
        return true;
    }
    mcp_buf_reset(&import->key);
    cut(import, AT_ITEM_COLON);
    return byte == '"';
}

/* One byte of the structure. *kept: it belongs to the value that begins with it. @return whether it
 * may stand there */
static bool step(universe_import *import, char byte, bool *kept)
{
    if (ends(import, byte)) {
        bool is_whole = import->next == AT_FIRST_FIELD || import->next == AFTER_FIELD;
        import->next = is_whole ? AT_END : AFTER_FIELD;
        return true;
    }
    switch (import->next) {
    case AT_START:
        import->next = AT_FIRST_FIELD;
        return byte == '{';
    case AT_FIRST_FIELD:
    case AT_FIELD:
        *kept = true;
        cut(import, AT_FIELD_COLON);
        return byte == '"';
    case AT_FIELD_COLON:
        import->next = AT_FIELD_VALUE;
        return byte == ':';
    case AT_FIELD_VALUE:
        *kept = !enter_field(import, byte);
        return import->next != AT_END;
    case AFTER_FIELD:
        import->next = AT_FIELD;
        return byte == ',';
    case AT_FIRST_ITEM:
    case AT_ITEM:
        *kept = true;
        return begin_item(import, byte);
    case AT_ITEM_COLON:
        import->next = AT_ITEM_VALUE;
        return byte == ':';
    case AT_ITEM_VALUE:
        *kept = true;
        cut(import, AFTER_ITEM);
        return true;
    case AFTER_ITEM:
        import->next = AT_ITEM;
        return byte == ',';
    case AT_END:
        break;
    }
    return false;
}

/* What step() would not take: a field's value of the wrong kind is said by name, all else by its
 * place. */
static mcp_status refuse(const universe_import *import, expectation was, char byte, mcp_error *err)
{
    if (was != AT_FIELD_VALUE || !strchr("{[\"-0123456789tfn", byte))
        return no_json(import, err);
    if (import->is_map)
        return mcp_error_set(err, MCP_E_PARAMS, "%s must be an object from ids to entities",
                             universe_map_names[map_of(import->field)]);
    return mcp_error_set(err, MCP_E_PARAMS, "%s must be an array of ids",
                         import->field == UNIVERSE_FIELD_ROOT_IDS ? "rootIds" : "rootGroupIds");
}

mcp_status universe_import_feed(universe_import *import, const char *bytes, size_t length,
                                mcp_error *err)
{
    mcp_status st = MCP_OK;

    for (size_t at = 0; at < length && st == MCP_OK;) {
        bool kept = false;
        size_t used = 1;
        if (import->is_cutting) {
            st = collect(import, bytes + at, length - at, &used, err);
            at += used;
            continue;
        }
        expectation was = import->next;
        if (!is_space(bytes[at]) && !step(import, bytes[at], &kept))
            return refuse(import, was, bytes[at], err);
        if (kept)
            continue;
        at++;
        import->offset++;
    }
    return st;
}

mcp_status universe_import_end(universe_state **out, universe_import *import, mcp_error *err)
{
    if (import->next != AT_END || import->is_cutting)
        return mcp_error_at(err, MCP_E_PARSE, (int64_t)import->offset, "the text ends too early");
    if (!(import->seen & UNIVERSE_FIELD_ROOT_GROUP_IDS))
        universe_build_derive_root_groups(import->build);
    return universe_build_end(out, import->build, err);
}
