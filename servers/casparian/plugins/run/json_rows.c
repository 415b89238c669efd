/*
 * json_rows.c - rows of JSON as columns.
 *
 * The rows become a matrix of JSON values first, whatever their form: one array of pointers per
 * column, NULL where a row lacks it. Then column by column each value becomes a cell, the cells say
 * what type the column has, and those of that type go into its buffers.
 */
#include "plugins/run/json_rows.h"

#include <math.h>
#include <string.h>

#include "keys/base64.h"
#include "mcp/hash.h"
#include "mcp/json.h"
#include "schema/zone.h"

/* What the rows are read into. */
struct shredder {
    mcp_arena *arena;
    const mcp_json *rows;
    size_t row_count, column_count;
    const char **names;
    const mcp_json ***columns; /* column_count times row_count */
    casparian_cell *cells;     /* of one column */
    const char *zone;          /* of the first timestamp with zone of a column */
    mcp_error *err;
};

static mcp_status no_memory(struct shredder *self)
{
    return mcp_error_set(self->err, MCP_E_NOMEM, "no memory for %zu rows", self->row_count);
}

/* ---- one cell -------------------------------------------------------------------------------- */

/* The form of a cell with a "$" member. */
enum tag { TAG_NUMBER, TAG_FLOAT, TAG_BYTES, TAG_INTEGER, TAG_ZONED };

static const struct {
    const char *name;
    enum tag tag;
    casparian_kind kind;
} tags[] = {
    { "$n", TAG_NUMBER, CASPARIAN_KIND_DECIMAL },
    { "$f", TAG_FLOAT, CASPARIAN_KIND_FLOAT64 },
    { "$b", TAG_BYTES, CASPARIAN_KIND_BINARY },
    { "$d", TAG_INTEGER, CASPARIAN_KIND_DATE },
    { "$ts", TAG_INTEGER, CASPARIAN_KIND_TIMESTAMP },
    { "$tz", TAG_ZONED, CASPARIAN_KIND_TIMESTAMP_TZ },
    { "$t", TAG_INTEGER, CASPARIAN_KIND_TIME },
    { "$dur", TAG_INTEGER, CASPARIAN_KIND_DURATION },
};

enum { TAGS = sizeof tags / sizeof *tags };

static bool read_decimal(casparian_cell *out, const char *text, size_t length)
{
    casparian_decimal_digits digits;
    casparian_decimal_type type = { CASPARIAN_DECIMAL_PRECISION_MAX, 0 };

    if (!casparian_decimal_count(&digits, text, length) ||
        digits.whole + digits.fraction > CASPARIAN_DECIMAL_PRECISION_MAX)
        return false;
    type.scale = (uint8_t)digits.fraction;
    out->scale = type.scale;
    return casparian_decimal_parse(&out->decimal, text, length, type);
}

static bool read_float(casparian_cell *out, const char *text)
{
    if (strcmp(text, "nan") == 0)
        out->number = (double)NAN;
    else if (strcmp(text, "inf") == 0)
        out->number = (double)INFINITY;
    else if (strcmp(text, "-inf") == 0)
        out->number = -(double)INFINITY;
    else
        return false;
    return true;
}

static bool read_bytes(struct shredder *self, casparian_cell *out, const char *text, size_t length)
{
    size_t padding = 0;
    while (padding < 2 && padding < length && text[length - 1 - padding] == '=')
        padding++;
    size_t size = length / 4 * 3 - (length % 4 == 0 ? padding : 0);
    char *bytes = mcp_arena_alloc(self->arena, size + 1);
    out->text.bytes = bytes;
    out->text.length = size;
    return bytes && keys_unbase64_exact(bytes, size, text, length);
}

static bool read_tagged(struct shredder *self, casparian_cell *out, const mcp_json *json)
{
    size_t length = 0;
    const char *name = mcp_json_name(json, 0, NULL);
    const mcp_json *value = mcp_json_item(json, 0);
    const char *text = mcp_json_string(value, &length);
    size_t i = 0;

    while (i < TAGS && strcmp(tags[i].name, name) != 0)
        i++;
    if (i == TAGS)
        return false;
    out->kind = tags[i].kind;
    switch (tags[i].tag) {
    case TAG_NUMBER:
        return text && read_decimal(out, text, length);
    case TAG_FLOAT:
        return text && read_float(out, text);
    case TAG_BYTES:
        return text && read_bytes(self, out, text, length);
    case TAG_INTEGER:
        return mcp_json_int(value, &out->integer) &&
               (out->kind != CASPARIAN_KIND_DATE ||
                (out->integer >= INT32_MIN && out->integer <= INT32_MAX));
    case TAG_ZONED:
        if (!self->zone)
            self->zone = mcp_json_string(mcp_json_item(value, 1), NULL);
        return mcp_json_count(value) == 2 && mcp_json_is_string(mcp_json_item(value, 1)) &&
               mcp_json_int(mcp_json_item(value, 0), &out->integer);
    }
    return false;
}

static bool read_cell(struct shredder *self, casparian_cell *out, const mcp_json *json)
{
    uint64_t large = 0;

    *out = (casparian_cell){ .kind = CASPARIAN_KIND_NULL };
    switch (mcp_json_type_of(json)) {
    case MCP_JSON_ABSENT:
        out->is_absent = true;
        return true;
    case MCP_JSON_NULL:
        return true;
    case MCP_JSON_BOOL:
        out->kind = CASPARIAN_KIND_BOOLEAN;
        return mcp_json_bool(json, &out->boolean);
    case MCP_JSON_INT:
        out->kind = CASPARIAN_KIND_INT64;
        return mcp_json_int(json, &out->integer);
    case MCP_JSON_UINT:
        out->kind = CASPARIAN_KIND_DECIMAL;
        mcp_json_uint(json, &large);
        out->decimal = (casparian_int128)large;
        return true;
    case MCP_JSON_DOUBLE:
        out->kind = CASPARIAN_KIND_FLOAT64;
        return mcp_json_double(json, &out->number);
    case MCP_JSON_STRING:
        out->kind = CASPARIAN_KIND_STRING;
        out->text.bytes = mcp_json_string(json, &out->text.length);
        return true;
    case MCP_JSON_OBJECT:
        return mcp_json_count(json) == 1 && read_tagged(self, out, json);
    case MCP_JSON_ARRAY:
        break;
    }
    return false;
}

/* ---- one column ------------------------------------------------------------------------------ */

/* The type of a column by its cells. */
static void type_of(struct shredder *self, casparian_type *out)
{
    size_t whole = 0;

    *out = (casparian_type){ .kind = CASPARIAN_KIND_NULL };
    for (size_t row = 0; row < self->row_count; row++) {
        const casparian_cell *cell = &self->cells[row];
        if (cell->kind == CASPARIAN_KIND_NULL)
            continue;
        if (out->kind == CASPARIAN_KIND_NULL)
            out->kind = cell->kind;
        if (out->kind != CASPARIAN_KIND_DECIMAL)
            break;
        if (cell->kind == CASPARIAN_KIND_DECIMAL) {
            char text[CASPARIAN_DECIMAL_TEXT_SIZE];
            casparian_decimal_digits digits = { 0, 0 };
            size_t length = casparian_decimal_write(text, cell->decimal, cell->scale);
            casparian_decimal_count(&digits, text, length);
            whole = digits.whole > whole ? digits.whole : whole;
            if (cell->scale > out->decimal.scale)
                out->decimal.scale = cell->scale;
        }
    }
    if (out->kind == CASPARIAN_KIND_DECIMAL) {
        size_t precision = whole + out->decimal.scale;
        if (precision > CASPARIAN_DECIMAL_PRECISION_MAX)
            precision = CASPARIAN_DECIMAL_PRECISION_MAX;
        out->decimal.precision = (uint8_t)(precision ? precision : 1);
    }
    if (out->kind == CASPARIAN_KIND_TIMESTAMP_TZ) {
        const casparian_zone *zone = NULL;
        out->zone = casparian_zone_normal(self->zone ? self->zone : "UTC");
        if (casparian_zone_load(&zone, self->arena, out->zone, NULL) != MCP_OK)
            out->zone = "UTC"; /* the values are instants, so they stay what they are */
    }
}

/* Whether a cell goes into the buffers; brings a decimal to the scale of the column. */
static bool is_of(casparian_cell *cell, const casparian_type *type)
{
    if (cell->kind != type->kind || type->kind == CASPARIAN_KIND_NULL)
        return false;
    if (cell->kind != CASPARIAN_KIND_DECIMAL)
        return true;
    casparian_int128 scaled;
    if (!casparian_decimal_rescale(&scaled, cell->decimal, cell->scale, type->decimal))
        return false;
    cell->decimal = scaled;
    return true;
}

static void write_value(char *at, const casparian_cell *cell)
{
    uint8_t flag = cell->kind == CASPARIAN_KIND_BOOLEAN && cell->boolean;
    int32_t days = cell->kind == CASPARIAN_KIND_DATE ? (int32_t)cell->integer : 0;

    switch (cell->kind) {
    case CASPARIAN_KIND_BOOLEAN:
        memcpy(at, &flag, sizeof flag);
        break;
    case CASPARIAN_KIND_DATE:
        memcpy(at, &days, sizeof days);
        break;
    case CASPARIAN_KIND_FLOAT64:
        memcpy(at, &cell->number, sizeof cell->number);
        break;
    case CASPARIAN_KIND_DECIMAL:
        memcpy(at, &cell->decimal, sizeof cell->decimal);
        break;
    default:
        memcpy(at, &cell->integer, sizeof cell->integer);
    }
}

/* What is in the buffers of a column. */
struct filled {
    uint8_t *valid, *absent;
    size_t valid_count, absent_count, odd_count, text_length;
};

/* Sorts the cells into those that the buffers hold, the missing and the odd ones. */
static mcp_status sort_cells(struct shredder *self, struct filled *out, const casparian_type *type,
                             casparian_vector *vector)
{
    size_t bytes = self->row_count / 8 + 1;
    *out = (struct filled){ .valid = mcp_arena_alloc(self->arena, bytes),
                            .absent = mcp_arena_alloc(self->arena, bytes) };
    if (!out->valid || !out->absent)
        return no_memory(self);
    for (size_t row = 0; row < self->row_count; row++) {
        casparian_cell *cell = &self->cells[row];
        uint8_t bit = (uint8_t)(1U << row % 8);
        if (is_of(cell, type)) {
            out->valid[row / 8] |= bit;
            out->valid_count++;
            if (type->kind == CASPARIAN_KIND_STRING || type->kind == CASPARIAN_KIND_BINARY)
                out->text_length += cell->text.length;
        } else if (cell->kind != CASPARIAN_KIND_NULL) {
            out->odd_count++;
        } else if (cell->is_absent) {
            out->absent[row / 8] |= bit;
            out->absent_count++;
        }
    }
    vector->valid = out->valid_count == self->row_count ? NULL : out->valid;
    vector->absent = out->absent_count ? out->absent : NULL;
    return out->text_length > UINT32_MAX
               ? mcp_error_set(self->err, MCP_E_LIMIT, "column %s has more than 4 GiB",
                               vector->name)
               : MCP_OK;
}

static bool is_held(const struct filled *filled, size_t row)
{
    return filled->valid[row / 8] >> row % 8 & 1;
}

static mcp_status fill_values(struct shredder *self, casparian_vector *vector,
                              const struct filled *filled)
{
    size_t width = casparian_kind_width(vector->type.kind);
    char *values = mcp_arena_array(self->arena, self->row_count + 1, width);
    if (!values)
        return no_memory(self);
    for (size_t row = 0; row < self->row_count; row++) {
        if (is_held(filled, row))
            write_value(values + row * width, &self->cells[row]);
    }
    vector->values = values;
    return MCP_OK;
}

static mcp_status fill_texts(struct shredder *self, casparian_vector *vector,
                             const struct filled *filled)
{
    uint32_t *offsets = mcp_arena_array(self->arena, self->row_count + 1, sizeof *offsets);
    char *bytes = mcp_arena_alloc(self->arena, filled->text_length + 1);
    uint32_t at = 0;
    if (!offsets || !bytes)
        return no_memory(self);
    for (size_t row = 0; row < self->row_count; row++) {
        const casparian_cell *cell = &self->cells[row];
        if (is_held(filled, row) && cell->text.length) {
            memcpy(bytes + at, cell->text.bytes, cell->text.length);
            at += (uint32_t)cell->text.length;
        }
        offsets[row + 1] = at;
    }
    vector->offsets = offsets;
    vector->bytes = bytes;
    return MCP_OK;
}

static mcp_status fill_odds(struct shredder *self, casparian_vector *vector,
                            const struct filled *filled)
{
    if (filled->odd_count == 0)
        return MCP_OK;
    casparian_odd *odds = mcp_arena_array(self->arena, filled->odd_count, sizeof *odds);
    if (!odds)
        return no_memory(self);
    for (size_t row = 0; row < self->row_count; row++) {
        if (!is_held(filled, row) && self->cells[row].kind != CASPARIAN_KIND_NULL)
            odds[vector->odd_count++] = (casparian_odd){ .row = (uint32_t)row,
                                                         .cell = self->cells[row] };
    }
    vector->odds = odds;
    return MCP_OK;
}

static mcp_status shred_column(struct shredder *self, casparian_vector *vector, size_t column)
{
    struct filled filled;

    vector->name = self->names[column];
    self->zone = NULL;
    for (size_t row = 0; row < self->row_count; row++) {
        if (!read_cell(self, &self->cells[row], self->columns[column][row]))
            return mcp_error_set(self->err, MCP_E_PARSE, "row %zu, column %s: no form of a cell",
                                 row + 1, vector->name);
    }
    type_of(self, &vector->type);
    mcp_status st = sort_cells(self, &filled, &vector->type, vector);
    if (st == MCP_OK && casparian_kind_width(vector->type.kind))
        st = fill_values(self, vector, &filled);
    else if (st == MCP_OK && vector->type.kind != CASPARIAN_KIND_NULL)
        st = fill_texts(self, vector, &filled);
    return st == MCP_OK ? fill_odds(self, vector, &filled) : st;
}

/* ---- the matrix ------------------------------------------------------------------------------ */

/* Names of columns by their hash: open addressing, twice as large as it can be full. */
enum { SLOTS = 4096 };
_Static_assert(SLOTS >= 2 * CASPARIAN_BATCH_COLUMNS_MAX, "half of the table stays empty");

struct name_table {
    uint16_t slots[SLOTS]; /* index of the column + 1 */
};

static mcp_status check_size(struct shredder *self)
{
    if (self->row_count > CASPARIAN_BATCH_ROWS_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "%zu rows in one payload; at most %d",
                             self->row_count, CASPARIAN_BATCH_ROWS_MAX);
    if (self->row_count * self->column_count > CASPARIAN_JSON_CELLS_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "%zu cells in one payload; at most %zu",
                             self->row_count * self->column_count, CASPARIAN_JSON_CELLS_MAX);
    return MCP_OK;
}

/* Finds a column by its name, or adds it. */
static mcp_status column_of(struct shredder *self, struct name_table *table, size_t *out,
                            const char *name, size_t length)
{
    if (memchr(name, '\0', length))
        return mcp_error_set(self->err, MCP_E_PARSE, "the name of a column has a NUL");
    size_t slot = mcp_fnv1a(name) % SLOTS;
    for (; table->slots[slot]; slot = (slot + 1) % SLOTS) {
        *out = table->slots[slot] - 1U;
        if (strcmp(self->names[*out], name) == 0)
            return MCP_OK;
    }
    if (self->column_count == CASPARIAN_BATCH_COLUMNS_MAX)
        return mcp_error_set(self->err, MCP_E_LIMIT, "more than %d columns in one payload",
                             CASPARIAN_BATCH_COLUMNS_MAX);
    *out = self->column_count++;
    table->slots[slot] = (uint16_t)self->column_count;
    self->names[*out] = name;
    return MCP_OK;
}

static mcp_status make_columns(struct shredder *self)
{
    mcp_status st = check_size(self);
    if (st != MCP_OK)
        return st;
    self->columns = mcp_arena_array(self->arena, self->column_count + 1, sizeof *self->columns);
    for (size_t i = 0; self->columns && i < self->column_count; i++) {
        self->columns[i] = mcp_arena_array(self->arena, self->row_count + 1,
                                           sizeof **self->columns);
        if (!self->columns[i])
            return no_memory(self);
    }
    return self->columns ? MCP_OK : no_memory(self);
}

static mcp_status read_names(struct shredder *self, struct name_table *table, const mcp_json *names)
{
    for (size_t i = 0; i < mcp_json_count(names); i++) {
        size_t length, column;
        const char *name = mcp_json_string(mcp_json_item(names, i), &length);
        if (!name)
            return mcp_error_set(self->err, MCP_E_PARSE, "\"c\" has a name that is no string");
        mcp_status st = column_of(self, table, &column, name, length);
        if (st != MCP_OK)
            return st;
        if (column != i)
            return mcp_error_set(self->err, MCP_E_PARSE, "the column %s occurs twice", name);
    }
    return MCP_OK;
}

static mcp_status spread_arrays(struct shredder *self)
{
    for (size_t row = 0; row < self->row_count; row++) {
        const mcp_json *cells = mcp_json_item(self->rows, row);
        if (!mcp_json_is_array(cells) || mcp_json_count(cells) != self->column_count)
            return mcp_error_set(self->err, MCP_E_PARSE, "row %zu has not the %zu cells of \"c\"",
                                 row + 1, self->column_count);
        for (size_t i = 0; i < self->column_count; i++)
            self->columns[i][row] = mcp_json_item(cells, i);
    }
    return MCP_OK;
}

/* Names of all rows first; then, with `spreads`, their cells. */
static mcp_status walk_objects(struct shredder *self, struct name_table *table, bool spreads)
{
    for (size_t row = 0; row < self->row_count; row++) {
        const mcp_json *object = mcp_json_item(self->rows, row);
        if (!mcp_json_is_object(object))
            return mcp_error_set(self->err, MCP_E_PARSE, "row %zu is no object", row + 1);
        for (size_t i = 0; i < mcp_json_count(object); i++) {
            size_t length, column;
            const char *name = mcp_json_name(object, i, &length);
            mcp_status st = column_of(self, table, &column, name, length);
            if (st != MCP_OK)
                return st;
            if (spreads)
                self->columns[column][row] = mcp_json_item(object, i);
        }
    }
    return MCP_OK;
}

static mcp_status read_matrix(struct shredder *self, const mcp_json *json)
{
    const mcp_json *names = mcp_json_get(json, "c");
    self->rows = mcp_json_get(json, names ? "r" : "d");
    self->row_count = mcp_json_count(self->rows);
    if (!mcp_json_is_array(self->rows) || (names && !mcp_json_is_array(names)))
        return mcp_error_set(self->err, MCP_E_PARSE,
                             "rows of JSON are {\"c\": [names], \"r\": [rows]} or {\"d\": [rows]}");
    struct name_table *table = mcp_arena_alloc(self->arena, sizeof *table);
    self->names = mcp_arena_array(self->arena, CASPARIAN_BATCH_COLUMNS_MAX + 1,
                                  sizeof *self->names);
    if (!table || !self->names)
        return no_memory(self);
    mcp_status st = check_size(self);
    if (st == MCP_OK)
        st = names ? read_names(self, table, names) : walk_objects(self, table, false);
    if (st == MCP_OK)
        st = make_columns(self);
    if (st == MCP_OK)
        st = names ? spread_arrays(self) : walk_objects(self, table, true);
    return st;
}

mcp_status casparian_json_rows_read(casparian_batch *out, mcp_arena *arena, const char *text,
                                    size_t length, mcp_error *err)
{
    struct shredder self = { .arena = arena, .err = err };
    const mcp_json *json = NULL;
    mcp_status st = mcp_json_read(&json, arena, text, length, err);
    if (st == MCP_OK)
        st = read_matrix(&self, json);
    if (st != MCP_OK)
        return st;
    casparian_vector *vectors = mcp_arena_array(arena, self.column_count + 1, sizeof *vectors);
    self.cells = mcp_arena_array(arena, self.row_count + 1, sizeof *self.cells);
    if (!vectors || !self.cells)
        return no_memory(&self);
    for (size_t i = 0; i < self.column_count && st == MCP_OK; i++)
        st = shred_column(&self, &vectors[i], i);
    if (st == MCP_OK)
        *out = (casparian_batch){ .rows = self.row_count,
                                  .count = self.column_count,
                                  .columns = vectors };
    return st;
}
