/*
 * type.c - spellings of types.
 */
#include "schema/type.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "schema/zone.h"

enum { SPELLING_MAX = 128 };

static const char *const kinds[] = {
#define KIND_TEXT(name, text) [CASPARIAN_KIND_##name] = text,
    CASPARIAN_KIND_MAP(KIND_TEXT)
#undef KIND_TEXT
};

static const struct {
    const char *text;
    casparian_kind kind;
} aliases[] = {
    { "bool", CASPARIAN_KIND_BOOLEAN },       { "integer", CASPARIAN_KIND_INT64 },
    { "int", CASPARIAN_KIND_INT64 },          { "bigint", CASPARIAN_KIND_INT64 },
    { "float", CASPARIAN_KIND_FLOAT64 },      { "double", CASPARIAN_KIND_FLOAT64 },
    { "utf8", CASPARIAN_KIND_STRING },        { "text", CASPARIAN_KIND_STRING },
    { "str", CASPARIAN_KIND_STRING },         { "varchar", CASPARIAN_KIND_STRING },
    { "bytes", CASPARIAN_KIND_BINARY },       { "blob", CASPARIAN_KIND_BINARY },
    { "datetime", CASPARIAN_KIND_TIMESTAMP }, { "interval", CASPARIAN_KIND_DURATION },
};

const char *casparian_kind_text(casparian_kind kind)
{
    return kinds[kind];
}

bool casparian_type_equal(const casparian_type *a, const casparian_type *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == CASPARIAN_KIND_DECIMAL)
        return a->decimal.precision == b->decimal.precision && a->decimal.scale == b->decimal.scale;
    return a->kind != CASPARIAN_KIND_TIMESTAMP_TZ || strcmp(a->zone, b->zone) == 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A text without NUL; NULL: it is none. */
static const char *text_of(const mcp_json *json)
{
    size_t length = 0;
    const char *text = mcp_json_string(json, &length);
    return text && strlen(text) == length ? text : NULL;
}

/* What a spelling says before its parameters are judged. */
typedef struct spelling {
    char name[SPELLING_MAX];
    int64_t precision, scale; /* -1: not given */
    const char *zone;         /* NULL: not given */
} spelling;

static mcp_status check_decimal(casparian_type *out, const spelling *from, mcp_error *err)
{
    if (from->precision < 0 || from->scale < 0)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "a decimal requires precision and scale: decimal(18,8)");
    if (from->precision < 1 || from->precision > CASPARIAN_DECIMAL_PRECISION_MAX ||
        from->scale > from->precision)
        return mcp_error_set(err, MCP_E_PARAMS,
                             "decimal(%lld,%lld): the precision is 1 to 38, the scale at most the "
                             "precision",
                             (long long)from->precision, (long long)from->scale);
    out->decimal = (casparian_decimal_type){ (uint8_t)from->precision, (uint8_t)from->scale };
    return MCP_OK;
}

/* The zone is loaded to see whether there is one; it is kept by its name. */
static mcp_status check_zone(casparian_type *out, mcp_arena *arena, const spelling *from,
                             mcp_error *err)
{
    const casparian_zone *zone = NULL;
    const char *name = casparian_zone_normal(from->zone ? from->zone : "UTC");
    mcp_status st = casparian_zone_load(&zone, arena, name, err);
    if (st == MCP_E_NOMEM)
        return st;
    if (st != MCP_OK)
        return mcp_error_set(err, MCP_E_PARAMS, "%s", err ? err->message : "there is no such zone");
    out->zone = mcp_arena_strdup(arena, name);
    return out->zone ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a type");
}

static mcp_status finish(casparian_type *out, mcp_arena *arena, const spelling *from,
                         mcp_error *err)
{
    casparian_type made = { .kind = CASPARIAN_KIND_COUNT };
    for (casparian_kind kind = CASPARIAN_KIND_BOOLEAN; kind < CASPARIAN_KIND_COUNT; kind++) {
        if (strcasecmp(from->name, kinds[kind]) == 0)
            made.kind = kind;
    }
    for (size_t i = 0; i < sizeof aliases / sizeof aliases[0]; i++) {
        if (strcasecmp(from->name, aliases[i].text) == 0)
            made.kind = aliases[i].kind;
    }
    bool has_digits = from->precision >= 0 || from->scale >= 0;
    if (made.kind == CASPARIAN_KIND_COUNT)
        return mcp_error_set(err, MCP_E_PARAMS, "unsupported type '%s'", from->name);
    if (has_digits && made.kind != CASPARIAN_KIND_DECIMAL)
        return mcp_error_set(err, MCP_E_PARAMS, "%s has no precision and no scale", from->name);
    if (from->zone && made.kind != CASPARIAN_KIND_TIMESTAMP_TZ)
        return mcp_error_set(err, MCP_E_PARAMS, "%s has no zone; timestamp_tz has", from->name);
    mcp_status st = MCP_OK;
    if (made.kind == CASPARIAN_KIND_DECIMAL)
        st = check_decimal(&made, from, err);
    else if (made.kind == CASPARIAN_KIND_TIMESTAMP_TZ)
        st = check_zone(&made, arena, from, err);
    if (st == MCP_OK)
        *out = made;
    return st;
}

/* "name", "decimal(18,8)" or "timestamp_tz(UTC)". */
static mcp_status read_text(casparian_type *out, mcp_arena *arena, const char *text, mcp_error *err)
{
    spelling found = { .precision = -1, .scale = -1 };
    size_t name = strcspn(text, "("), length = strlen(text);
    if (length >= sizeof found.name)
        return mcp_error_set(err, MCP_E_PARAMS, "a type of more than %d bytes", SPELLING_MAX - 1);
    memcpy(found.name, text, name);
    if (text[name] == '\0')
        return finish(out, arena, &found, err);
    int precision = 0, scale = 0, end = 0;
    if (strcasecmp(found.name, "decimal") == 0) {
        if (sscanf(text + name, "(%2d , %2d )%n", &precision, &scale, &end) != 2 ||
            name + (size_t)end != length || precision < 0 || scale < 0)
            return mcp_error_set(err, MCP_E_PARAMS, "'%s': write decimal(18,8)", text);
        found.precision = precision;
        found.scale = scale;
        return finish(out, arena, &found, err);
    }
    if (text[length - 1] != ')' || strcasecmp(found.name, "timestamp_tz") != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "unsupported type '%s'", text);
    found.zone = mcp_arena_strndup(arena, text + name + 1, length - name - 2);
    return found.zone ? finish(out, arena, &found, err)
                      : mcp_error_set(err, MCP_E_NOMEM, "no memory for a type");
}

static mcp_status read_object(casparian_type *out, mcp_arena *arena, const mcp_json *json,
                              mcp_error *err)
{
    static const char *const members[] = { "kind", "precision", "scale", "timezone", "tz" };
    spelling found = { .precision = -1, .scale = -1 };
    const char *kind = text_of(mcp_json_get(json, "kind"));
    const mcp_json *zone = mcp_json_get(json, mcp_json_get(json, "timezone") ? "timezone" : "tz");
    for (size_t i = 0; i < mcp_json_count(json); i++) {
        const char *name = mcp_json_name(json, i, NULL);
        size_t at = 0;
        while (at < sizeof members / sizeof members[0] && strcmp(members[at], name) != 0)
            at++;
        if (at == sizeof members / sizeof members[0])
            return mcp_error_set(err, MCP_E_PARAMS, "a type has no member '%.64s'", name);
    }
    if (!kind || strlen(kind) >= sizeof found.name)
        return mcp_error_set(err, MCP_E_PARAMS, "a type requires the text 'kind'");
    if ((mcp_json_get(json, "precision") &&
         !mcp_json_int(mcp_json_get(json, "precision"), &found.precision)) ||
        (mcp_json_get(json, "scale") && !mcp_json_int(mcp_json_get(json, "scale"), &found.scale)))
        return mcp_error_set(err, MCP_E_PARAMS, "precision and scale are integers");
    found.zone = text_of(zone);
    if (zone && !found.zone)
        return mcp_error_set(err, MCP_E_PARAMS, "the time zone is a text");
    memcpy(found.name, kind, strlen(kind));
    return finish(out, arena, &found, err);
}

mcp_status casparian_type_read(casparian_type *out, mcp_arena *arena, const mcp_json *json,
                               mcp_error *err)
{
    const char *text = text_of(json);
    if (text)
        return read_text(out, arena, text, err);
    return mcp_json_is_object(json)
               ? read_object(out, arena, json, err)
               : mcp_error_set(err, MCP_E_PARAMS, "a type is a text or an object");
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_form(mcp_json_writer *out, const casparian_type *type, const char *zone_name)
{
    const char *text = kinds[type->kind];
    if (type->kind != CASPARIAN_KIND_DECIMAL && type->kind != CASPARIAN_KIND_TIMESTAMP_TZ) {
        mcp_write_string(out, text);
        return;
    }
    mcp_write_object(out);
    mcp_write_member_string(out, "kind", text);
    if (type->kind == CASPARIAN_KIND_DECIMAL) {
        mcp_write_member_int(out, "precision", type->decimal.precision);
        mcp_write_member_int(out, "scale", type->decimal.scale);
    } else {
        mcp_write_member_string(out, zone_name, type->zone);
    }
    mcp_write_end(out);
}

void casparian_type_write(mcp_json_writer *out, const casparian_type *type)
{
    write_form(out, type, "timezone");
}

void casparian_type_write_protocol(mcp_json_writer *out, const casparian_type *type)
{
    write_form(out, type, "tz");
}
