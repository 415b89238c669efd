/*
 * definition.c - definitions: judged, written in their canonical form, hashed.
 */
#include "schema/definition.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PLACE_SIZE = 320, MESSAGE_SIZE = 320, CANONICAL_MAX = 4 << 20, SCHEMA_DIGITS = 8 };

static const char *const modes[] = {
    [CASPARIAN_MODE_STRICT] = "strict",
    [CASPARIAN_MODE_ALLOW_EXTRA] = "allow_extra",
    [CASPARIAN_MODE_ALLOW_MISSING_OPTIONAL] = "allow_missing_optional",
};

const char *casparian_mode_text(casparian_mode mode)
{
    return modes[mode];
}

/* Names of quarantine tables' own columns. */
static const char *const reserved[] = { "_error_msg",  "_violation_type",   "_violations",
                                        "_source_row", "_output_row_index", "_source_path",
                                        "_raw_row" };

/* A definition that is being read. */
typedef struct reading {
    mcp_arena *arena;
    casparian_report *report;
    void *data;
    mcp_error *err;
    const char *base; /* place of the definition: "" or "/trades" */
    bool is_wrong;
    bool is_out_of_memory;
} reading;

static void wrong(reading *self, const char *place, const char *format, ...) MCP_PRINTF(3, 4);

static void wrong(reading *self, const char *place, const char *format, ...)
{
    char message[MESSAGE_SIZE], whole[PLACE_SIZE];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    snprintf(whole, sizeof whole, "%s%s", self->base, place);
    if (self->report)
        self->report(self->data, whole, message);
    if (!self->is_wrong)
        mcp_error_set(self->err, MCP_E_SCHEMA, "%s: %s", *whole ? whole : "schema", message);
    self->is_wrong = true;
}

static const char *keep(reading *self, const char *text)
{
    const char *kept = mcp_arena_strdup(self->arena, text);
    self->is_out_of_memory = self->is_out_of_memory || !kept;
    return kept;
}

/* A text without NUL; NULL: it is absent, or that is reported. */
static const char *read_text(reading *self, const mcp_json *object, const char *name,
                             const char *place, bool is_required)
{
    size_t length = 0;
    const mcp_json *value = mcp_json_get(object, name);
    const char *text = mcp_json_string(value, &length);
    if (text && strlen(text) == length)
        return text;
    if (is_required || (value && !mcp_json_is_null(value)))
        wrong(self, place, "%s is %s", name, value ? "no text" : "missing");
    return NULL;
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_output_name(const char *name)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return *name >= 'a' && *name <= 'z' && name[length] == '\0' &&
           length <= CASPARIAN_OUTPUT_NAME_MAX;
}

static bool ends_in(const char *text, size_t length, const char *end)
{
    size_t size = strlen(end);
    return length > size && memcmp(text + length - size, end, size) == 0;
}

bool casparian_output_name_is_reserved(const char *name)
{
    static const char schema[] = "__schema_";
    size_t length = strlen(name), digits = 0;
    while (digits < length && strchr("0123456789abcdef", name[length - 1 - digits]))
        digits++;
    return ends_in(name, length, "__all") || ends_in(name, length, "_quarantine") ||
           (digits >= SCHEMA_DIGITS && ends_in(name, length - SCHEMA_DIGITS, schema));
}

static void judge_column_name(reading *self, const char *name, const char *place)
{
    if (*name == '\0' || strlen(name) > CASPARIAN_COLUMN_NAME_MAX)
        wrong(self, place, "a column's name has 1 to %d bytes", CASPARIAN_COLUMN_NAME_MAX);
    if (strncasecmp(name, "_cf_", 4) == 0)
        wrong(self, place, "'%.64s': names that begin with _cf_ are reserved", name);
    for (size_t i = 0; i < sizeof reserved / sizeof reserved[0]; i++) {
        if (strcasecmp(name, reserved[i]) == 0)
            wrong(self, place, "'%s' is a column of quarantine tables", name);
    }
}

/* @return false: the kind has no formats */
static bool temporal_of(casparian_temporal *out, casparian_kind kind)
{
    switch (kind) {
    case CASPARIAN_KIND_DATE:
        *out = CASPARIAN_TEMPORAL_DATE;
        return true;
    case CASPARIAN_KIND_TIMESTAMP:
        *out = CASPARIAN_TEMPORAL_TIMESTAMP;
        return true;
    case CASPARIAN_KIND_TIMESTAMP_TZ:
        *out = CASPARIAN_TEMPORAL_TIMESTAMP_TZ;
        return true;
    case CASPARIAN_KIND_TIME:
        *out = CASPARIAN_TEMPORAL_TIME;
        return true;
    default:
        return false;
    }
}

static void read_format(reading *self, casparian_column *out, const mcp_json *json,
                        const char *place)
{
    casparian_temporal temporal = CASPARIAN_TEMPORAL_DATE;
    mcp_error why = MCP_ERROR_INIT;
    const char *pattern = read_text(self, json, "format", place, false);
    if (!pattern)
        return;
    if (!temporal_of(&temporal, out->type.kind)) {
        wrong(self, place, "%s has no format", casparian_kind_text(out->type.kind));
        return;
    }
    out->pattern = keep(self, pattern);
    mcp_status st = casparian_format_compile(&out->format, self->arena, pattern, temporal, &why);
    if (st == MCP_E_NOMEM)
        self->is_out_of_memory = true;
    else if (st != MCP_OK)
        wrong(self, place, "%s", why.message);
}

static void read_column(reading *self, casparian_column *out, const mcp_json *json, size_t index)
{
    char place[PLACE_SIZE];
    mcp_error why = MCP_ERROR_INIT;
    const mcp_json *nullable = mcp_json_get(json, "nullable");
    *out = (casparian_column){ .is_nullable = true };
    snprintf(place, sizeof place, "/columns/%zu", index);
    if (!mcp_json_is_object(json)) {
        wrong(self, place, "a column is an object with name and type");
        return;
    }
    snprintf(place, sizeof place, "/columns/%zu/name", index);
    const char *name = read_text(self, json, "name", place, true);
    if (name) {
        judge_column_name(self, name, place);
        out->name = keep(self, name);
    }
    snprintf(place, sizeof place, "/columns/%zu/nullable", index);
    if (nullable && !mcp_json_bool(nullable, &out->is_nullable))
        wrong(self, place, "nullable is true or false");
    snprintf(place, sizeof place, "/columns/%zu/type", index);
    if (!mcp_json_get(json, "type")) {
        wrong(self, place, "type is missing");
        return;
    }
    mcp_status st = casparian_type_read(&out->type, self->arena, mcp_json_get(json, "type"), &why);
    if (st == MCP_E_NOMEM)
        self->is_out_of_memory = true;
    if (st != MCP_OK) {
        wrong(self, place, "%s", why.message);
        return;
    }
    snprintf(place, sizeof place, "/columns/%zu/format", index);
    read_format(self, out, json, place);
}

/* Names are compared without case, as sinks do. Every pair of 2,000 is 2 million: a few
 * milliseconds once for a definition. */
static void judge_unique(reading *self, const casparian_column *columns, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        size_t k = 0;
        while (columns[i].name && k < i &&
               (!columns[k].name || strcasecmp(columns[k].name, columns[i].name) != 0))
            k++;
        if (columns[i].name && k < i) {
            char place[PLACE_SIZE];
            snprintf(place, sizeof place, "/columns/%zu/name", i);
            wrong(self, place, "duplicate column '%.64s'", columns[i].name);
        }
    }
}

static void read_columns(reading *self, casparian_definition *out, const mcp_json *json)
{
    size_t count = mcp_json_count(json);
    if (!mcp_json_is_array(json) || count == 0 || count > CASPARIAN_COLUMNS_MAX) {
        wrong(self, "/columns", "a schema has a list of 1 to %d columns", CASPARIAN_COLUMNS_MAX);
        return;
    }
    casparian_column *columns = mcp_arena_array(self->arena, count, sizeof *columns);
    if (!columns) {
        self->is_out_of_memory = true;
        return;
    }
    for (size_t i = 0; i < count; i++)
        read_column(self, &columns[i], mcp_json_item(json, i), i);
    judge_unique(self, columns, count);
    out->columns = columns;
    out->count = count;
}

/* ---- definitions ----------------------------------------------------------------------------- */

static void read_mode(reading *self, casparian_definition *out, const mcp_json *json)
{
    const char *mode = read_text(self, json, "mode", "/mode", false);
    size_t at = 0, count = sizeof modes / sizeof modes[0];
    if (!mode)
        return;
    while (at < count && strcmp(modes[at], mode) != 0)
        at++;
    if (at < count)
        out->mode = (casparian_mode)at;
    else
        wrong(self, "/mode", "'%.64s' is none of strict, allow_extra, allow_missing_optional",
              mode);
}

static mcp_status hash_of(char out[CASPARIAN_HASH_SIZE], const void *bytes, size_t length,
                          mcp_error *err)
{
    uint8_t digest[MCP_SHA256_SIZE];
    mcp_status st = mcp_sha256(digest, bytes, length, err);
    for (size_t i = 0; st == MCP_OK && i < sizeof digest; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
    return st;
}

static mcp_status set_hash(casparian_definition *self, mcp_error *err)
{
    mcp_buf text;
    mcp_buf_init(&text, CANONICAL_MAX);
    mcp_status st = casparian_definition_canonical(&text, self);
    st = st == MCP_OK
             ? hash_of(self->hash, text.data, text.length, err)
             : mcp_error_set(err, st, "the canonical form of a schema: %s", mcp_status_words(st));
    mcp_buf_clear(&text);
    return st;
}

static mcp_status read_one(reading *self, casparian_definition *out, const mcp_json *json)
{
    *out = (casparian_definition){ .mode = CASPARIAN_MODE_STRICT };
    if (!mcp_json_is_object(json)) {
        wrong(self, "", "a schema is an object with output_name and columns");
        return MCP_E_SCHEMA;
    }
    const char *output = read_text(self, json, "output_name", "/output_name", true);
    if (output && !is_output_name(output))
        wrong(self, "/output_name",
              "'%.64s': an output's name is a lower-case letter and at most 62 letters, digits "
              "and '_'",
              output);
    if (output)
        out->output = keep(self, output);
    read_mode(self, out, json);
    read_columns(self, out, mcp_json_get(json, "columns"));
    if (self->is_out_of_memory)
        return mcp_error_set(self->err, MCP_E_NOMEM, "no memory for a schema");
    return self->is_wrong ? MCP_E_SCHEMA : set_hash(out, self->err);
}

mcp_status casparian_definition_read(casparian_definition *out, mcp_arena *arena,
                                     const mcp_json *json, casparian_report *report, void *data,
                                     mcp_error *err)
{
    reading self = { .arena = arena, .report = report, .data = data, .err = err, .base = "" };
    casparian_definition made;
    mcp_status st = read_one(&self, &made, json);
    if (st == MCP_OK)
        *out = made;
    return st;
}

/* A member of the map: its key is the output's name. */
static mcp_status read_member(reading *self, casparian_definition *out, const mcp_json *json,
                              const char *key)
{
    char base[PLACE_SIZE];
    bool was_wrong = self->is_wrong;
    snprintf(base, sizeof base, "/%.*s", CASPARIAN_OUTPUT_NAME_MAX + 1, key);
    self->base = base;
    self->is_wrong = was_wrong;
    mcp_status st = read_one(self, out, json);
    if (casparian_output_name_is_reserved(key)) {
        wrong(self, "/output_name", "'%.64s': " CASPARIAN_OUTPUT_NAME_RESERVED, key);
        st = MCP_E_SCHEMA;
    }
    if (out->output && strcmp(out->output, key) != 0) {
        wrong(self, "/output_name", "'%.64s' is under the key '%.64s'", out->output, key);
        st = MCP_E_SCHEMA;
    }
    self->base = "";
    return st;
}

mcp_status casparian_schemas_read(casparian_schemas *out, mcp_arena *arena, const mcp_json *json,
                                  casparian_report *report, void *data, mcp_error *err)
{
    reading self = { .arena = arena, .report = report, .data = data, .err = err, .base = "" };
    size_t count = mcp_json_count(json);
    if (!mcp_json_is_object(json) || count == 0 || count > CASPARIAN_OUTPUTS_MAX) {
        wrong(&self, "", "schemas are an object of 1 to %d outputs", CASPARIAN_OUTPUTS_MAX);
        return MCP_E_SCHEMA;
    }
    if (mcp_json_duplicate(json)) {
        wrong(&self, "", "duplicate member '%.64s'", mcp_json_duplicate(json));
        return MCP_E_SCHEMA;
    }
    casparian_definition *made = mcp_arena_array(arena, count, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for schemas");
    for (size_t i = 0; i < count; i++) {
        mcp_status st = read_member(&self, &made[i], mcp_json_item(json, i),
                                    mcp_json_name(json, i, NULL));
        if (st != MCP_OK && st != MCP_E_SCHEMA)
            return st;
    }
    if (self.is_wrong)
        return MCP_E_SCHEMA;
    *out = (casparian_schemas){ .count = count, .items = made };
    return MCP_OK;
}

const casparian_definition *casparian_schemas_find(const casparian_schemas *schemas,
                                                   const char *output)
{
    for (size_t i = 0; i < schemas->count; i++) {
        if (strcmp(schemas->items[i].output, output) == 0)
            return &schemas->items[i];
    }
    return NULL;
}

/* ---- forms and hashes ------------------------------------------------------------------------ */

mcp_status casparian_definition_canonical(mcp_buf *out, const casparian_definition *definition)
{
    mcp_json_writer json;
    mcp_json_writer_init(&json, out);
    mcp_write_object(&json);
    mcp_write_member_array(&json, "columns");
    for (size_t i = 0; i < definition->count; i++) {
        const casparian_column *column = &definition->columns[i];
        mcp_write_object(&json);
        if (column->pattern)
            mcp_write_member_string(&json, "format", column->pattern);
        mcp_write_member_string(&json, "name", column->name);
        mcp_write_member_bool(&json, "nullable", column->is_nullable);
        mcp_write_name(&json, "type");
        casparian_type_write(&json, &column->type);
        mcp_write_end(&json);
    }
    mcp_write_end(&json);
    mcp_write_member_string(&json, "mode", modes[definition->mode]);
    mcp_write_member_string(&json, "output_name", definition->output);
    mcp_write_end(&json);
    return mcp_json_writer_status(&json);
}

static void write_protocol(mcp_json_writer *json, const casparian_definition *definition)
{
    mcp_write_object(json);
    mcp_write_member_array(json, "columns");
    for (size_t i = 0; i < definition->count; i++) {
        const casparian_column *column = &definition->columns[i];
        mcp_write_object(json);
        mcp_write_member_string(json, "name", column->name);
        mcp_write_name(json, "data_type");
        casparian_type_write_protocol(json, &column->type);
        mcp_write_member_bool(json, "nullable", column->is_nullable);
        if (column->pattern)
            mcp_write_member_string(json, "format", column->pattern);
        mcp_write_end(json);
    }
    mcp_write_end(json);
    mcp_write_end(json);
}

mcp_status casparian_definition_protocol_hash(char out[CASPARIAN_HASH_SIZE],
                                              const casparian_definition *definition,
                                              mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, CANONICAL_MAX);
    mcp_json_writer_init(&json, &text);
    write_protocol(&json, definition);
    mcp_buf_putc(&text, '\0');
    const char *parts[] = { text.data };
    mcp_status st = text.status == MCP_OK
                        ? casparian_hash_parts(out, parts, 1, err)
                        : mcp_error_set(err, text.status, "the protocol's form of a schema: %s",
                                        mcp_status_words(text.status));
    mcp_buf_clear(&text);
    return st;
}

mcp_status casparian_hash_parts(char out[CASPARIAN_HASH_SIZE], const char *const *parts,
                                size_t count, mcp_error *err)
{
    mcp_buf text;
    mcp_buf_init(&text, 2 * CANONICAL_MAX);
    for (size_t i = 0; i < count; i++) {
        mcp_buf_puts(&text, parts[i] ? parts[i] : "");
        mcp_buf_putc(&text, '\x1f');
    }
    mcp_status st = text.status == MCP_OK ? hash_of(out, text.data, text.length, err)
                                          : mcp_error_set(err, text.status, "a hash of texts: %s",
                                                          mcp_status_words(text.status));
    mcp_buf_clear(&text);
    return st;
}
