/*
 * convert.c - columns become the type that is declared.
 *
 * There are three ways. A column of the declared type is used as it is, once its values are known
 * to be in range. A column of texts runs through one loop with the reader of the type. All others,
 * those with cells of several types too, go cell by cell.
 */
#include "check/convert.h"

#include <string.h>

#include "check/text.h"

typedef bool reader(const casparian_converter *self, void *slot, const char *text, size_t length);

static bool bit(const uint8_t *bitmap, size_t at)
{
    return bitmap[at / 8] >> (at % 8) & 1;
}

/* The most common form of a text that needs no pattern. */
static const char *common_form(casparian_kind kind)
{
    switch (kind) {
    case CASPARIAN_KIND_DATE:
        return "%Y-%m-%d";
    case CASPARIAN_KIND_TIMESTAMP:
        return "%Y-%m-%dT%H:%M:%S%.f";
    case CASPARIAN_KIND_TIME:
        return "%H:%M:%S%.f";
    default:
        return NULL;
    }
}

mcp_status casparian_converter_init(casparian_converter *out, mcp_arena *arena,
                                    const casparian_column *column, mcp_error *err)
{
    const char *pattern = column->pattern ? column->pattern : common_form(column->type.kind);
    *out = (casparian_converter){ .column = column };
    if (pattern)
        out->layout = casparian_layout_of(pattern);
    if (column->type.kind != CASPARIAN_KIND_TIMESTAMP_TZ)
        return MCP_OK;
    return casparian_zone_load(&out->zone, arena, column->type.zone, err);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static bool read_moment(const casparian_converter *self, casparian_temporal kind,
                        casparian_moment *out, const char *text, size_t length)
{
    const casparian_format *format = self->column->format;
    casparian_layout_match match = casparian_layout_read(out, &self->layout, text, length);
    if (match == CASPARIAN_MATCHES)
        return true;
    if (!format)
        return casparian_temporal_match(out, kind, text, length);
    return match == CASPARIAN_MAY_MATCH && casparian_format_match(out, format, text, length);
}

static bool read_int64(const casparian_converter *self, void *slot, const char *text, size_t length)
{
    (void)self;
    return casparian_lexical_int64(slot, text, length);
}

static bool read_float64(const casparian_converter *self, void *slot, const char *text,
                         size_t length)
{
    (void)self;
    return casparian_lexical_float64(slot, text, length);
}

static bool read_boolean(const casparian_converter *self, void *slot, const char *text,
                         size_t length)
{
    bool value = false;
    (void)self;
    if (!casparian_lexical_boolean(&value, text, length))
        return false;
    *(uint8_t *)slot = value;
    return true;
}

static bool read_decimal(const casparian_converter *self, void *slot, const char *text,
                         size_t length)
{
    casparian_int128 value;
    if (!casparian_lexical_decimal(&value, text, length, self->column->type.decimal))
        return false;
    memcpy(slot, &value, sizeof value);
    return true;
}

static bool read_date(const casparian_converter *self, void *slot, const char *text, size_t length)
{
    casparian_moment moment;
    if (!read_moment(self, CASPARIAN_TEMPORAL_DATE, &moment, text, length))
        return false;
    *(int32_t *)slot = (int32_t)casparian_days_of(&moment.date);
    return true;
}

static bool read_timestamp(const casparian_converter *self, void *slot, const char *text,
                           size_t length)
{
    casparian_moment moment;
    if (!read_moment(self, CASPARIAN_TEMPORAL_TIMESTAMP, &moment, text, length))
        return false;
    *(int64_t *)slot = casparian_micros_of(&moment);
    return true;
}

/* A text without an offset is the wall clock of the column's zone. */
static bool read_instant(const casparian_converter *self, void *slot, const char *text,
                         size_t length)
{
    casparian_moment moment;
    if (!read_moment(self, CASPARIAN_TEMPORAL_TIMESTAMP_TZ, &moment, text, length))
        return false;
    int64_t wall = casparian_micros_of(&moment);
    if (moment.has_offset) {
        *(int64_t *)slot = wall - moment.offset_s * CASPARIAN_MICROS_PER_SECOND;
        return true;
    }
    int64_t wall_s = casparian_floor_div(wall, CASPARIAN_MICROS_PER_SECOND);
    int64_t utc_s = casparian_zone_instant(self->zone, wall_s);
    *(int64_t *)slot = wall + (utc_s - wall_s) * CASPARIAN_MICROS_PER_SECOND;
    return true;
}

static bool read_time(const casparian_converter *self, void *slot, const char *text, size_t length)
{
    casparian_moment moment;
    if (!read_moment(self, CASPARIAN_TEMPORAL_TIME, &moment, text, length))
        return false;
    *(int64_t *)slot = casparian_time_of(&moment);
    return true;
}

static bool read_duration(const casparian_converter *self, void *slot, const char *text,
                          size_t length)
{
    (void)self;
    return casparian_lexical_duration(slot, text, length);
}

/* What reads texts of a type; NULL: texts are none of its values. */
static reader *const readers[CASPARIAN_KIND_COUNT] = {
    [CASPARIAN_KIND_INT64] = read_int64,
    [CASPARIAN_KIND_FLOAT64] = read_float64,
    [CASPARIAN_KIND_BOOLEAN] = read_boolean,
    [CASPARIAN_KIND_DECIMAL] = read_decimal,
    [CASPARIAN_KIND_DATE] = read_date,
    [CASPARIAN_KIND_TIMESTAMP] = read_timestamp,
    [CASPARIAN_KIND_TIMESTAMP_TZ] = read_instant,
    [CASPARIAN_KIND_TIME] = read_time,
    [CASPARIAN_KIND_DURATION] = read_duration,
};

/* What a text is called that a reader has refused. */
static uint8_t refused_text(casparian_kind kind)
{
    bool is_temporal = kind == CASPARIAN_KIND_DATE || kind == CASPARIAN_KIND_TIMESTAMP ||
                       kind == CASPARIAN_KIND_TIMESTAMP_TZ || kind == CASPARIAN_KIND_TIME;
    return CASPARIAN_FAILED(is_temporal ? CASPARIAN_VIOLATION_FORMAT_MISMATCH
                                        : CASPARIAN_VIOLATION_TYPE_MISMATCH);
}

/* ---- values of other types ------------------------------------------------------------------- */

static bool to_float64(double *slot, const casparian_cell *cell)
{
    if (cell->kind == CASPARIAN_KIND_FLOAT64)
        *slot = cell->number;
    else if (cell->kind == CASPARIAN_KIND_INT64)
        *slot = (double)cell->integer;
    else if (cell->kind == CASPARIAN_KIND_DECIMAL)
        *slot = casparian_decimal_double(cell->decimal, cell->scale);
    else
        return false;
    return true;
}

static bool to_decimal(void *slot, const casparian_cell *cell, casparian_decimal_type type)
{
    casparian_int128 value = 0;
    bool fits = false;
    if (cell->kind == CASPARIAN_KIND_DECIMAL)
        fits = casparian_decimal_rescale(&value, cell->decimal, cell->scale, type);
    else if (cell->kind == CASPARIAN_KIND_INT64)
        fits = casparian_decimal_rescale(&value, cell->integer, 0, type);
    memcpy(slot, &value, sizeof value);
    return fits;
}

static bool to_timestamp(int64_t *slot, const casparian_cell *cell)
{
    if (cell->kind == CASPARIAN_KIND_DATE)
        return !__builtin_mul_overflow(cell->integer, CASPARIAN_MICROS_PER_DAY, slot);
    *slot = cell->integer;
    return cell->kind == CASPARIAN_KIND_TIMESTAMP;
}

static bool is_time_of_day(int64_t micros)
{
    return micros >= 0 && micros < CASPARIAN_MICROS_PER_DAY;
}

/* @return false: the value has another type, and no value of the declared type is the same */
static bool to_declared(const casparian_converter *self, void *slot, const casparian_cell *cell)
{
    casparian_kind kind = self->column->type.kind;
    switch (kind) {
    case CASPARIAN_KIND_FLOAT64:
        return to_float64(slot, cell);
    case CASPARIAN_KIND_DECIMAL:
        return to_decimal(slot, cell, self->column->type.decimal);
    case CASPARIAN_KIND_TIMESTAMP:
        return to_timestamp(slot, cell);
    case CASPARIAN_KIND_BOOLEAN:
        *(uint8_t *)slot = cell->kind == kind && cell->boolean;
        return cell->kind == kind;
    case CASPARIAN_KIND_DATE:
        *(int32_t *)slot = cell->kind == kind ? (int32_t)cell->integer : 0;
        return cell->kind == kind;
    case CASPARIAN_KIND_TIME:
        *(int64_t *)slot = cell->kind == kind ? cell->integer : 0;
        return cell->kind == kind && is_time_of_day(cell->integer);
    default:
        *(int64_t *)slot = cell->kind == kind ? cell->integer : 0;
        return cell->kind == kind;
    }
}

/* ---- a column as it is ----------------------------------------------------------------------- */

static bool are_booleans(const uint8_t *values, size_t rows)
{
    uint8_t all = 0;
    for (size_t i = 0; i < rows; i++)
        all |= values[i];
    return all <= 1;
}

static bool are_times(const int64_t *values, size_t rows)
{
    bool fit = true;
    for (size_t i = 0; i < rows; i++)
        fit &= is_time_of_day(values[i]);
    return fit;
}

static bool are_decimals(const void *values, size_t rows, casparian_decimal_type type)
{
    casparian_int128 limit = 1, value;
    bool fit = true;
    for (unsigned i = 0; i < type.precision; i++)
        limit *= 10;
    for (size_t i = 0; i < rows; i++) {
        memcpy(&value, (const char *)values + i * sizeof value, sizeof value);
        fit &= value < limit && value > -limit;
    }
    return fit;
}

/* Whether each value can be used where it is. Values of null rows are undefined: they may send a
 * column to the loop of cells, never the other way. */
static bool is_as_declared(const casparian_converter *self, const casparian_vector *in, size_t rows)
{
    const casparian_type *type = &self->column->type;
    bool is_text = type->kind == CASPARIAN_KIND_STRING || type->kind == CASPARIAN_KIND_BINARY;
    if (in->type.kind != type->kind || (in->odd_count > 0 && (!is_text || self->takes_any)))
        return false;
    switch (type->kind) {
    case CASPARIAN_KIND_BOOLEAN:
        return are_booleans(in->values, rows);
    case CASPARIAN_KIND_TIME:
        return are_times(in->values, rows);
    case CASPARIAN_KIND_DECIMAL:
        return casparian_type_equal(&in->type, type) &&
               are_decimals(in->values, rows, type->decimal);
    default:
        return true;
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

/* A column that is being made. */
struct making {
    const casparian_converter *self;
    const casparian_vector *in;
    size_t rows;
    mcp_arena *arena;
    casparian_converted *out;
    uint8_t *valid;
    uint8_t *failed;
    bool is_out_of_memory;
};

static void set_null(struct making *m, size_t row)
{
    size_t bytes = (m->rows + 7) / 8;
    if (!m->valid) {
        m->valid = mcp_arena_alloc(m->arena, bytes);
        m->is_out_of_memory |= !m->valid;
        if (!m->valid)
            return;
        memset(m->valid, 0xFF, bytes);
    }
    m->valid[row / 8] &= (uint8_t) ~(1u << (row % 8));
}

static void fail(struct making *m, size_t row, uint8_t failure)
{
    if (!m->failed)
        m->failed = mcp_arena_alloc(m->arena, m->rows);
    m->is_out_of_memory |= !m->failed;
    if (m->failed)
        m->failed[row] = failure;
    m->out->failures++;
}

static void lack(struct making *m, size_t row)
{
    set_null(m, row);
    if (!m->self->column->is_nullable)
        fail(m, row, CASPARIAN_FAILED(CASPARIAN_VIOLATION_NULL_NOT_ALLOWED));
}

static void refuse(struct making *m, size_t row, uint8_t failure)
{
    set_null(m, row);
    fail(m, row, failure);
}

/* Texts of a column without odd and absent cells. */
static void convert_texts(struct making *m, char *values, size_t width)
{
    const casparian_vector *in = m->in;
    casparian_kind kind = m->self->column->type.kind;
    reader *read = readers[kind];
    for (size_t row = 0; row < m->rows; row++) {
        const char *text = in->bytes + in->offsets[row];
        size_t length = in->offsets[row + 1] - in->offsets[row];
        if (length == 0) /* null, or empty, which is null here */
            lack(m, row);
        else if (!read(m->self, values + row * width, text, length))
            refuse(m, row, refused_text(kind));
    }
}

static void convert_one(struct making *m, size_t row, void *slot, const casparian_cell *cell)
{
    casparian_kind kind = m->self->column->type.kind;
    bool is_text = cell->kind == CASPARIAN_KIND_STRING;
    if (cell->is_absent)
        set_null(m, row);
    else if (cell->kind == CASPARIAN_KIND_NULL || (is_text && cell->text.length == 0))
        lack(m, row);
    else if (is_text && readers[kind]) {
        if (!readers[kind](m->self, slot, cell->text.bytes, cell->text.length))
            refuse(m, row, refused_text(kind));
    } else if (!to_declared(m->self, slot, cell))
        refuse(m, row, CASPARIAN_FAILED(CASPARIAN_VIOLATION_TYPE_MISMATCH));
}

static void convert_cells(struct making *m, char *values, size_t width)
{
    for (size_t row = 0; row < m->rows; row++) {
        casparian_cell cell = casparian_vector_cell(m->in, row);
        convert_one(m, row, values + row * width, &cell);
    }
}

static void convert_values(struct making *m)
{
    size_t width = casparian_kind_width(m->self->column->type.kind);
    char *values = mcp_arena_array(m->arena, m->rows ? m->rows : 1, width);
    const casparian_vector *in = m->in;
    m->is_out_of_memory |= !values;
    if (!values)
        return;
    if (in->type.kind == CASPARIAN_KIND_STRING && in->odd_count == 0 && !in->absent)
        convert_texts(m, values, width);
    else
        convert_cells(m, values, width);
    m->out->vector.values = values;
}

/* @return false: the cell is no text of the declared type */
static bool append_text(struct making *m, mcp_buf *texts, const casparian_cell *cell)
{
    if (cell->kind == m->self->column->type.kind)
        mcp_buf_append(texts, cell->text.bytes, cell->text.length);
    else if (m->self->takes_any && m->self->column->type.kind == CASPARIAN_KIND_STRING)
        casparian_text_append(texts, cell, NULL);
    else
        return false;
    return true;
}

static void collect_text(struct making *m, mcp_buf *texts, size_t row)
{
    casparian_cell cell = casparian_vector_cell(m->in, row);
    casparian_kind kind = m->self->column->type.kind;
    if (cell.is_absent)
        set_null(m, row);
    else if (cell.kind == CASPARIAN_KIND_NULL ||
             (kind != cell.kind && cell.kind == CASPARIAN_KIND_STRING && cell.text.length == 0))
        lack(m, row);
    else if (!append_text(m, texts, &cell))
        refuse(m, row, CASPARIAN_FAILED(CASPARIAN_VIOLATION_TYPE_MISMATCH));
}

/* Texts or bytes among cells of other types. */
static void collect_texts(struct making *m)
{
    uint32_t *offsets = mcp_arena_array(m->arena, m->rows + 1, sizeof *offsets);
    mcp_buf texts;
    mcp_buf_init(&texts, UINT32_MAX);
    for (size_t row = 0; offsets && row < m->rows; row++) {
        collect_text(m, &texts, row);
        offsets[row + 1] = (uint32_t)texts.length;
    }
    char *bytes = texts.status == MCP_OK ? mcp_arena_alloc(m->arena, texts.length + 1) : NULL;
    if (bytes && texts.length > 0)
        memcpy(bytes, texts.data, texts.length);
    mcp_buf_clear(&texts);
    m->is_out_of_memory |= !offsets || !bytes;
    m->out->vector.offsets = offsets;
    m->out->vector.bytes = bytes;
}

/* Count what is null and odd in a column that is used as it is. */
static void pass_on(struct making *m)
{
    const casparian_vector *in = m->in;
    casparian_vector *out = &m->out->vector;
    out->values = in->values;
    out->offsets = in->offsets;
    out->bytes = in->bytes;
    out->valid = in->valid;
    if (m->self->column->is_nullable && in->odd_count == 0)
        return;
    for (size_t row = 0; in->valid && row < m->rows; row++) {
        if (row % 8 == 0 && in->valid[row / 8] == 0xFF) {
            row += 7;
            continue;
        }
        if (bit(in->valid, row))
            continue;
        casparian_cell cell = casparian_vector_cell(in, row);
        bool is_lacking = cell.kind == CASPARIAN_KIND_NULL ||
                          (cell.kind == CASPARIAN_KIND_STRING && cell.text.length == 0);
        if (!is_lacking)
            fail(m, row, CASPARIAN_FAILED(CASPARIAN_VIOLATION_TYPE_MISMATCH));
        else if (!cell.is_absent && !m->self->column->is_nullable)
            fail(m, row, CASPARIAN_FAILED(CASPARIAN_VIOLATION_NULL_NOT_ALLOWED));
    }
}

mcp_status casparian_convert(const casparian_converter *self, casparian_converted *out,
                             const casparian_vector *in, size_t rows, mcp_arena *arena,
                             mcp_error *err)
{
    static const casparian_vector nothing = { .type = { .kind = CASPARIAN_KIND_NULL } };
    const casparian_column *column = self->column;
    struct making m = { .self = self, .in = in ? in : &nothing, .rows = rows, .arena = arena };
    bool is_text = column->type.kind == CASPARIAN_KIND_STRING ||
                   column->type.kind == CASPARIAN_KIND_BINARY;
    *out = (casparian_converted){ .vector = { .name = column->name, .type = column->type } };
    m.out = out;
    if (in && is_as_declared(self, in, rows))
        pass_on(&m);
    else if (is_text)
        collect_texts(&m);
    else
        convert_values(&m);
    if (!in) { /* absent cells are null, and no violation of the column's type */
        out->failures = 0;
        m.failed = NULL;
    }
    out->failed = m.failed;
    if (m.valid)
        out->vector.valid = m.valid;
    if (!m.is_out_of_memory)
        return MCP_OK;
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for %zu rows of column '%s'", rows,
                         column->name);
}
