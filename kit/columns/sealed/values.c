/*
 * values.c - see values.h.
 */
#include "columns/sealed/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns/quote.h"
#include "columns/sealed/cell.h"
#include "columns/sealed/moments.h"
#include "columns/sealed/sealed.h"
#include "mcp/json.h"

#define PER_MS 1000
#define PER_US 1000000
#define PER_NS 1000000000

/* The value of a C type at a row. */
#define AT(type) (((const type *)self->api->vector_get_data(vector))[row])

void values_init(struct values *self, const struct engine_api *api)
{
    self->api = api;
    mcp_buf_init(&self->text, COLUMNS_SEALED_CELL_MAX);
}

void values_clear(struct values *self)
{
    mcp_buf_clear(&self->text);
}

static bool is_null(const struct values *self, duckdb_vector vector, size_t row)
{
    uint64_t *mask = self->api->vector_get_validity(vector);
    return mask && !self->api->validity_row_is_valid(mask, row);
}

/* ---- cells of values that are not nested ----------------------------------------------------- */

static columns_cell integer_cell(int64_t integer)
{
    return (columns_cell){ .kind = COLUMNS_CELL_INTEGER, .integer = integer };
}

static duckdb_hugeint widened(int64_t value)
{
    return (duckdb_hugeint){ .lower = (uint64_t)value, .upper = value < 0 ? -1 : 0 };
}

/* Whether the kind is a plain number; then it is in `out`. */
static bool number_cell(columns_cell *out, const struct values *self, duckdb_vector vector,
                        duckdb_type type, size_t row)
{
    switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
        out->kind = AT(uint8_t) ? COLUMNS_CELL_TRUE : COLUMNS_CELL_FALSE;
        return true;
    case DUCKDB_TYPE_TINYINT:
        *out = integer_cell(AT(int8_t));
        return true;
    case DUCKDB_TYPE_SMALLINT:
        *out = integer_cell(AT(int16_t));
        return true;
    case DUCKDB_TYPE_INTEGER:
        *out = integer_cell(AT(int32_t));
        return true;
    case DUCKDB_TYPE_BIGINT:
        *out = integer_cell(AT(int64_t));
        return true;
    case DUCKDB_TYPE_UTINYINT:
        *out = integer_cell(AT(uint8_t));
        return true;
    case DUCKDB_TYPE_USMALLINT:
        *out = integer_cell(AT(uint16_t));
        return true;
    case DUCKDB_TYPE_UINTEGER:
        *out = integer_cell(AT(uint32_t));
        return true;
    case DUCKDB_TYPE_UBIGINT: /* a greater one is a numeral */
        *out = integer_cell((int64_t)AT(uint64_t));
        return AT(uint64_t) <= INT64_MAX;
    case DUCKDB_TYPE_FLOAT:
        out->number = (double)AT(float);
        out->kind = COLUMNS_CELL_NUMBER;
        return true;
    case DUCKDB_TYPE_DOUBLE:
        out->number = AT(double);
        out->kind = COLUMNS_CELL_NUMBER;
        return true;
    default:
        return false;
    }
}

static void put_decimal(struct values *self, duckdb_vector vector, duckdb_logical_type type,
                        size_t row)
{
    unsigned scale = self->api->decimal_scale(type);
    duckdb_hugeint value;

    switch (self->api->decimal_internal_type(type)) {
    case DUCKDB_TYPE_SMALLINT:
        value = widened(AT(int16_t));
        break;
    case DUCKDB_TYPE_INTEGER:
        value = widened(AT(int32_t));
        break;
    case DUCKDB_TYPE_BIGINT:
        value = widened(AT(int64_t));
        break;
    default:
        value = AT(duckdb_hugeint);
    }
    moments_put_decimal(&self->text, value, scale);
}

/* Numbers beyond 64 bits. @return false: it is none */
static bool numeral_text(struct values *self, duckdb_vector vector, duckdb_logical_type type,
                         duckdb_type id, size_t row)
{
    switch (id) {
    case DUCKDB_TYPE_UBIGINT:
        moments_put_unsigned(&self->text, (duckdb_uhugeint){ .lower = AT(uint64_t) });
        return true;
    case DUCKDB_TYPE_HUGEINT:
        moments_put_decimal(&self->text, AT(duckdb_hugeint), 0);
        return true;
    case DUCKDB_TYPE_UHUGEINT:
        moments_put_unsigned(&self->text, AT(duckdb_uhugeint));
        return true;
    case DUCKDB_TYPE_DECIMAL:
        put_decimal(self, vector, type, row);
        return true;
    default:
        return false;
    }
}

/* @return false: it is none */
static bool moment_text(struct values *self, duckdb_vector vector, duckdb_type id, size_t row)
{
    mcp_buf *out = &self->text;

    switch (id) {
    case DUCKDB_TYPE_DATE:
        moments_put_date(out, AT(int32_t));
        return true;
    case DUCKDB_TYPE_TIMESTAMP:
        moments_put_timestamp(out, AT(int64_t), PER_US, "");
        return true;
    case DUCKDB_TYPE_TIMESTAMP_TZ:
        moments_put_timestamp(out, AT(int64_t), PER_US, "Z");
        return true;
    case DUCKDB_TYPE_TIMESTAMP_S:
        moments_put_timestamp(out, AT(int64_t), 1, "");
        return true;
    case DUCKDB_TYPE_TIMESTAMP_MS:
        moments_put_timestamp(out, AT(int64_t), PER_MS, "");
        return true;
    case DUCKDB_TYPE_TIMESTAMP_NS:
        moments_put_timestamp(out, AT(int64_t), PER_NS, "");
        return true;
    case DUCKDB_TYPE_TIME:
        moments_put_time(out, AT(int64_t), PER_US);
        return true;
    case DUCKDB_TYPE_TIME_NS:
        moments_put_time(out, AT(int64_t), PER_NS);
        return true;
    case DUCKDB_TYPE_TIME_TZ:
        moments_put_time_tz(out, AT(uint64_t));
        return true;
    case DUCKDB_TYPE_INTERVAL:
        moments_put_interval(out, AT(duckdb_interval));
        return true;
    default:
        return false;
    }
}

static void put_enum(struct values *self, duckdb_vector vector, duckdb_logical_type type,
                     size_t row)
{
    duckdb_type internal = self->api->enum_internal_type(type);
    uint64_t index = internal == DUCKDB_TYPE_UTINYINT    ? AT(uint8_t)
                     : internal == DUCKDB_TYPE_USMALLINT ? AT(uint16_t)
                                                         : AT(uint32_t);
    char *word = self->api->enum_dictionary_value(type, index);

    mcp_buf_puts(&self->text, word ? word : "");
    self->api->free(word);
}

/* The first byte says how many of the bits behind it are none. */
static void put_bits(struct values *self, const char *bytes, size_t length)
{
    size_t unused = length > 0 ? (unsigned char)bytes[0] : 0;

    for (size_t bit = unused; bit + 8 < 8 * length; bit++)
        mcp_buf_putc(&self->text,
                     (unsigned char)bytes[1 + bit / 8] >> (7 - bit % 8) & 1 ? '1' : '0');
}

/* A cell with the text that was written last. */
static void use_text(columns_cell *out, columns_cell_kind kind, const mcp_buf *text)
{
    out->kind = kind;
    out->text = text->data ? text->data : "";
    out->length = text->length;
}

/* VARCHAR, BLOB, BIT, UUID, ENUM. @return false: it is none */
static bool text_cell(columns_cell *out, struct values *self, duckdb_vector vector,
                      duckdb_logical_type type, duckdb_type id, size_t row)
{
    if (id == DUCKDB_TYPE_VARCHAR || id == DUCKDB_TYPE_BLOB || id == DUCKDB_TYPE_BIT) {
        duckdb_string_t *string = (duckdb_string_t *)self->api->vector_get_data(vector) + row;
        out->kind = id == DUCKDB_TYPE_BLOB ? COLUMNS_CELL_BYTES : COLUMNS_CELL_TEXT;
        out->text = self->api->string_t_data(string);
        out->length = self->api->string_t_length(*string);
        if (id != DUCKDB_TYPE_BIT)
            return true;
        put_bits(self, out->text, out->length);
    } else if (id == DUCKDB_TYPE_UUID) {
        moments_put_uuid(&self->text, AT(duckdb_hugeint));
    } else if (id == DUCKDB_TYPE_ENUM) {
        put_enum(self, vector, type, row);
    } else {
        return false;
    }
    use_text(out, COLUMNS_CELL_TEXT, &self->text);
    return true;
}

/* @return false: it is nested or unknown */
static bool flat_cell(columns_cell *out, struct values *self, duckdb_vector vector,
                      duckdb_logical_type type, size_t row)
{
    duckdb_type id = self->api->get_type_id(type);

    memset(out, 0, sizeof *out);
    mcp_buf_reset(&self->text);
    if (id == DUCKDB_TYPE_SQLNULL || is_null(self, vector, row))
        return true;
    if (number_cell(out, self, vector, id, row) || text_cell(out, self, vector, type, id, row))
        return true;
    if (numeral_text(self, vector, type, id, row))
        use_text(out, COLUMNS_CELL_NUMERAL, &self->text);
    else if (moment_text(self, vector, id, row))
        use_text(out, COLUMNS_CELL_MOMENT, &self->text);
    else
        return false;
    return true;
}

/* ---- nested values as JSON ------------------------------------------------------------------- */

struct nested {
    struct values *values;
    mcp_json_writer json;
    bool is_unsupported;
};

static void put_value(struct nested *out, duckdb_vector vector, duckdb_logical_type type,
                      size_t row);

static void put_base64(mcp_json_writer *json, const char *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    mcp_buf text;

    mcp_buf_init(&text, COLUMNS_SEALED_CELL_MAX);
    for (size_t i = 0; i < length; i += 3) {
        size_t count = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < count ? (unsigned char)bytes[i + k] : 0);
        for (size_t k = 0; k < 4; k++)
            mcp_buf_putc(&text, k <= count ? digits[bits >> (18 - 6 * k) & 63] : '=');
    }
    mcp_write_string_n(json, text.data ? text.data : "", text.length);
    mcp_buf_clear(&text);
}

static void put_number(mcp_json_writer *json, double number)
{
    if (isfinite(number))
        mcp_write_double(json, number);
    else
        mcp_write_string(json, isnan(number) ? "nan" : number < 0 ? "-inf" : "inf");
}

static void put_flat(struct nested *out, const columns_cell *cell)
{
    const int64_t exact = INT64_C(1) << 53;
    char text[24];

    switch (cell->kind) {
    case COLUMNS_CELL_NULL:
        mcp_write_null(&out->json);
        break;
    case COLUMNS_CELL_FALSE:
    case COLUMNS_CELL_TRUE:
        mcp_write_bool(&out->json, cell->kind == COLUMNS_CELL_TRUE);
        break;
    case COLUMNS_CELL_INTEGER:
        snprintf(text, sizeof text, "%lld", (long long)cell->integer);
        if (cell->integer >= -exact && cell->integer <= exact)
            mcp_write_int(&out->json, cell->integer);
        else
            mcp_write_string(&out->json, text);
        break;
    case COLUMNS_CELL_NUMBER:
        put_number(&out->json, cell->number);
        break;
    case COLUMNS_CELL_BYTES:
        put_base64(&out->json, cell->text, cell->length);
        break;
    default:
        mcp_write_string_n(&out->json, cell->text, cell->length);
    }
}

static void put_items(struct nested *out, duckdb_vector child, duckdb_logical_type type,
                      uint64_t from, uint64_t count)
{
    mcp_write_array(&out->json);
    for (uint64_t i = 0; i < count && mcp_json_writer_status(&out->json) == MCP_OK; i++)
        put_value(out, child, type, (size_t)(from + i));
    mcp_write_end(&out->json);
}

static void put_list(struct nested *out, duckdb_vector vector, duckdb_logical_type type, size_t row)
{
    const struct values *self = out->values;
    duckdb_list_entry entry = AT(duckdb_list_entry);
    duckdb_logical_type child = self->api->list_type_child_type(type);

    put_items(out, self->api->list_vector_get_child(vector), child, entry.offset, entry.length);
    self->api->destroy_logical_type(&child);
}

static void put_array(struct nested *out, duckdb_vector vector, duckdb_logical_type type,
                      size_t row)
{
    const struct engine_api *api = out->values->api;
    duckdb_logical_type child = api->array_type_child_type(type);
    uint64_t size = api->array_type_array_size(type);

    put_items(out, api->array_vector_get_child(vector), child, row * size, size);
    api->destroy_logical_type(&child);
}

/* Whether a struct's members have names: those of row() and list_zip() have none. */
static bool has_names(const struct engine_api *api, duckdb_logical_type type)
{
    char *name = api->struct_type_child_count(type) > 0 ? api->struct_type_child_name(type, 0)
                                                        : NULL;
    bool is_named = !name || name[0];

    api->free(name);
    return is_named;
}

/* An object, or an array of members without names. */
static void put_struct(struct nested *out, duckdb_vector vector, duckdb_logical_type type,
                       size_t row)
{
    const struct engine_api *api = out->values->api;
    bool is_named = has_names(api, type);

    if (is_named)
        mcp_write_object(&out->json);
    else
        mcp_write_array(&out->json);
    for (idx_t i = 0; i < api->struct_type_child_count(type); i++) {
        char *name = api->struct_type_child_name(type, i);
        duckdb_logical_type child = api->struct_type_child_type(type, i);
        if (is_named)
            mcp_write_name(&out->json, name ? name : "");
        put_value(out, api->struct_vector_get_child(vector, i), child, row);
        api->destroy_logical_type(&child);
        api->free(name);
    }
    mcp_write_end(&out->json);
}

/* The value of the member that the tag, which comes before the members, says. */
static void put_union(struct nested *out, duckdb_vector vector, duckdb_logical_type type,
                      size_t row)
{
    const struct engine_api *api = out->values->api;
    const uint8_t *tags = api->vector_get_data(api->struct_vector_get_child(vector, 0));
    duckdb_logical_type member = api->union_type_member_type(type, tags[row]);

    put_value(out, api->struct_vector_get_child(vector, (idx_t)tags[row] + 1), member, row);
    api->destroy_logical_type(&member);
}

/* Append a number with as few digits as tell it from others. */
static void append_number(mcp_buf *out, double number)
{
    char text[40];

    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    mcp_buf_puts(out, isnan(number) ? "nan" : text);
}

/* A key as the name of a member; NULL: it has none. The caller frees it. */
static char *key_name(struct values *self, duckdb_vector keys, duckdb_logical_type type, size_t row)
{
    columns_cell cell;
    mcp_buf name;

    mcp_buf_init(&name, COLUMNS_SEALED_CELL_MAX);
    if (!flat_cell(&cell, self, keys, type, row))
        return NULL;
    if (cell.kind >= COLUMNS_CELL_NUMERAL && cell.kind != COLUMNS_CELL_BYTES) {
        if (memchr(cell.text, '\0', cell.length)) /* the name of a member has none */
            return NULL;
        mcp_buf_append(&name, cell.text, cell.length);
    } else if (cell.kind == COLUMNS_CELL_INTEGER)
        mcp_buf_printf(&name, "%lld", (long long)cell.integer);
    else if (cell.kind == COLUMNS_CELL_NUMBER)
        append_number(&name, cell.number);
    else if (cell.kind == COLUMNS_CELL_TRUE || cell.kind == COLUMNS_CELL_FALSE)
        mcp_buf_puts(&name, cell.kind == COLUMNS_CELL_TRUE ? "true" : "false");
    else
        return NULL;
    mcp_buf_append(&name, "", 0);
    char *text = mcp_buf_take(&name, NULL);
    mcp_buf_clear(&name);
    return text;
}

static void put_entry(struct nested *out, duckdb_vector keys, duckdb_logical_type key_type,
                      duckdb_vector values, duckdb_logical_type value_type, size_t row)
{
    char *name = key_name(out->values, keys, key_type, row);

    if (!name) {
        out->is_unsupported = true;
        return;
    }
    mcp_write_name(&out->json, name);
    put_value(out, values, value_type, row);
    free(name);
}

static void put_map(struct nested *out, duckdb_vector vector, duckdb_logical_type type, size_t row)
{
    const struct values *self = out->values;
    duckdb_list_entry entry = AT(duckdb_list_entry);
    duckdb_vector pairs = self->api->list_vector_get_child(vector);
    duckdb_vector keys = self->api->struct_vector_get_child(pairs, 0);
    duckdb_vector values = self->api->struct_vector_get_child(pairs, 1);
    duckdb_logical_type key_type = self->api->map_type_key_type(type);
    duckdb_logical_type value_type = self->api->map_type_value_type(type);

    mcp_write_object(&out->json);
    for (uint64_t i = 0; i < entry.length && !out->is_unsupported; i++)
        put_entry(out, keys, key_type, values, value_type, (size_t)(entry.offset + i));
    mcp_write_end(&out->json);
    self->api->destroy_logical_type(&key_type);
    self->api->destroy_logical_type(&value_type);
}

static void put_value(struct nested *out, duckdb_vector vector, duckdb_logical_type type,
                      size_t row)
{
    columns_cell cell;

    if (flat_cell(&cell, out->values, vector, type, row)) {
        put_flat(out, &cell);
        return;
    }
    switch (out->values->api->get_type_id(type)) {
    case DUCKDB_TYPE_LIST:
        put_list(out, vector, type, row);
        break;
    case DUCKDB_TYPE_ARRAY:
        put_array(out, vector, type, row);
        break;
    case DUCKDB_TYPE_STRUCT:
        put_struct(out, vector, type, row);
        break;
    case DUCKDB_TYPE_MAP:
        put_map(out, vector, type, row);
        break;
    case DUCKDB_TYPE_UNION:
        put_union(out, vector, type, row);
        break;
    default:
        mcp_write_null(&out->json);
        out->is_unsupported = true;
    }
}

static mcp_status unsupported(struct values *self, duckdb_logical_type type, mcp_error *err)
{
    mcp_buf_reset(&self->text);
    values_type_name(&self->text, self->api, type);
    return mcp_error_set(err, MCP_E_PARSE,
                         "values of the type %s cannot be returned; cast them to VARCHAR",
                         self->text.data ? self->text.data : "");
}

static mcp_status put_nested(mcp_buf *out, struct values *self, duckdb_vector vector,
                             duckdb_logical_type type, size_t row, mcp_error *err)
{
    struct nested nested = { .values = self };
    columns_cell cell = { .kind = COLUMNS_CELL_NULL };
    mcp_buf json;
    mcp_status st;

    mcp_buf_init(&json, COLUMNS_SEALED_CELL_MAX);
    mcp_json_writer_init(&nested.json, &json);
    put_value(&nested, vector, type, row);
    st = mcp_json_writer_status(&nested.json);
    if (nested.is_unsupported)
        st = unsupported(self, type, err);
    else if (st != MCP_OK)
        st = mcp_error_set(err, MCP_E_LIMIT, "a nested value is too long or nested too deep");
    if (st == MCP_OK) {
        use_text(&cell, COLUMNS_CELL_JSON, &json);
        st = columns_cell_put(out, &cell);
    }
    mcp_buf_clear(&json);
    return st;
}

mcp_status values_put(mcp_buf *out, struct values *self, duckdb_vector vector,
                      duckdb_logical_type type, size_t row, mcp_error *err)
{
    columns_cell cell;

    if (!flat_cell(&cell, self, vector, type, row))
        return put_nested(out, self, vector, type, row, err);
    if (cell.length > COLUMNS_SEALED_CELL_MAX || self->text.status != MCP_OK)
        return mcp_error_set(err, MCP_E_LIMIT, "a value is longer than %zu bytes",
                             COLUMNS_SEALED_CELL_MAX);
    return columns_cell_put(out, &cell);
}

/* ---- names of types -------------------------------------------------------------------------- */

static const struct {
    duckdb_type type;
    const char *name;
} type_names[] = {
    { DUCKDB_TYPE_BOOLEAN, "BOOLEAN" },
    { DUCKDB_TYPE_TINYINT, "TINYINT" },
    { DUCKDB_TYPE_SMALLINT, "SMALLINT" },
    { DUCKDB_TYPE_INTEGER, "INTEGER" },
    { DUCKDB_TYPE_BIGINT, "BIGINT" },
    { DUCKDB_TYPE_UTINYINT, "UTINYINT" },
    { DUCKDB_TYPE_USMALLINT, "USMALLINT" },
    { DUCKDB_TYPE_UINTEGER, "UINTEGER" },
    { DUCKDB_TYPE_UBIGINT, "UBIGINT" },
    { DUCKDB_TYPE_FLOAT, "FLOAT" },
    { DUCKDB_TYPE_DOUBLE, "DOUBLE" },
    { DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP" },
    { DUCKDB_TYPE_DATE, "DATE" },
    { DUCKDB_TYPE_TIME, "TIME" },
    { DUCKDB_TYPE_INTERVAL, "INTERVAL" },
    { DUCKDB_TYPE_HUGEINT, "HUGEINT" },
    { DUCKDB_TYPE_UHUGEINT, "UHUGEINT" },
    { DUCKDB_TYPE_VARCHAR, "VARCHAR" },
    { DUCKDB_TYPE_BLOB, "BLOB" },
    { DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S" },
    { DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS" },
    { DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS" },
    { DUCKDB_TYPE_UUID, "UUID" },
    { DUCKDB_TYPE_BIT, "BIT" },
    { DUCKDB_TYPE_TIME_TZ, "TIME WITH TIME ZONE" },
    { DUCKDB_TYPE_TIMESTAMP_TZ, "TIMESTAMP WITH TIME ZONE" },
    { DUCKDB_TYPE_BIGNUM, "BIGNUM" },
    { DUCKDB_TYPE_SQLNULL, "\"NULL\"" },
    { DUCKDB_TYPE_TIME_NS, "TIME_NS" },
};

static void put_child(mcp_buf *out, const struct engine_api *api, duckdb_logical_type child)
{
    values_type_name(out, api, child);
    api->destroy_logical_type(&child);
}

/* A name of a member: with quotes unless it is a word of small letters. */
static void put_member(mcp_buf *out, const char *name)
{
    bool is_word = name[0] &&
                   strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name) &&
                   (name[0] < '0' || name[0] > '9');

    if (is_word) {
        mcp_buf_puts(out, name);
        return;
    }
    columns_quote(out, name, '"');
}

typedef idx_t child_count(duckdb_logical_type type);
typedef char *child_name(duckdb_logical_type type, idx_t index);
typedef duckdb_logical_type child_type(duckdb_logical_type type, idx_t index);

static void put_members(mcp_buf *out, const struct engine_api *api, duckdb_logical_type type,
                        const char *word, child_count *count, child_name *name_of,
                        child_type *type_of)
{
    mcp_buf_printf(out, "%s(", word);
    for (idx_t i = 0; i < count(type); i++) {
        char *name = name_of(type, i);
        mcp_buf_puts(out, i > 0 ? ", " : "");
        put_member(out, name ? name : "");
        mcp_buf_putc(out, ' ');
        put_child(out, api, type_of(type, i));
        api->free(name);
    }
    mcp_buf_putc(out, ')');
}

static void put_enum_type(mcp_buf *out, const struct engine_api *api, duckdb_logical_type type)
{
    mcp_buf_puts(out, "ENUM(");
    for (uint32_t i = 0; i < api->enum_dictionary_size(type); i++) {
        char *word = api->enum_dictionary_value(type, i);
        mcp_buf_puts(out, i > 0 ? ", " : "");
        columns_quote(out, word ? word : "", '\'');
        api->free(word);
    }
    mcp_buf_putc(out, ')');
}

/* @return false: it is a plain one */
static bool put_compound(mcp_buf *out, const struct engine_api *api, duckdb_logical_type type)
{
    switch (api->get_type_id(type)) {
    case DUCKDB_TYPE_DECIMAL:
        mcp_buf_printf(out, "DECIMAL(%d,%d)", api->decimal_width(type), api->decimal_scale(type));
        return true;
    case DUCKDB_TYPE_LIST:
        put_child(out, api, api->list_type_child_type(type));
        mcp_buf_puts(out, "[]");
        return true;
    case DUCKDB_TYPE_ARRAY:
        put_child(out, api, api->array_type_child_type(type));
        mcp_buf_printf(out, "[%" PRIu64 "]", (uint64_t)api->array_type_array_size(type));
        return true;
    case DUCKDB_TYPE_STRUCT:
        put_members(out, api, type, "STRUCT", api->struct_type_child_count,
                    api->struct_type_child_name, api->struct_type_child_type);
        return true;
    case DUCKDB_TYPE_UNION:
        put_members(out, api, type, "UNION", api->union_type_member_count,
                    api->union_type_member_name, api->union_type_member_type);
        return true;
    case DUCKDB_TYPE_MAP:
        mcp_buf_puts(out, "MAP(");
        put_child(out, api, api->map_type_key_type(type));
        mcp_buf_puts(out, ", ");
        put_child(out, api, api->map_type_value_type(type));
        mcp_buf_putc(out, ')');
        return true;
    case DUCKDB_TYPE_ENUM:
        put_enum_type(out, api, type);
        return true;
    default:
        return false;
    }
}

mcp_status values_type_name(mcp_buf *out, const struct engine_api *api, duckdb_logical_type type)
{
    char *alias = api->logical_type_get_alias(type);
    bool has_alias = alias && alias[0];
    duckdb_type id = api->get_type_id(type);
    const char *name = "UNKNOWN";

    if (has_alias)
        mcp_buf_puts(out, alias);
    api->free(alias);
    if (has_alias || put_compound(out, api, type))
        return out->status;
    for (size_t i = 0; i < sizeof type_names / sizeof type_names[0]; i++)
        if (type_names[i].type == id)
            name = type_names[i].name;
    return mcp_buf_puts(out, name);
}
