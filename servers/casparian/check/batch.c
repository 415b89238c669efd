/*
 * batch.c - batches: their cells, and the form CFB1 that they have on the wire and in spool files.
 *
 * Little-endian, each section padded with zero bytes to a multiple of 8 from the start of the
 * batch: a header of 16 bytes, the descriptors of the columns, and the buffers of each column. The
 * machine is little-endian, too, so the buffers are used in place.
 */
#include "check/batch.h"

#include <string.h>

#include "check/utf8.h"

#define MAGIC "CFB1"
#define HEADER_SIZE 16
#define DESCRIPTOR_SIZE 12
#define ALIGNMENT 8
#define VERSION 1
#define HAS_VALIDITY 1u
#define TEXT_MAX UINT32_MAX

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "CFB1 is used in place");

/* ---- cells ----------------------------------------------------------------------------------- */

size_t casparian_kind_width(casparian_kind kind)
{
    static const uint8_t widths[CASPARIAN_KIND_COUNT] = {
        [CASPARIAN_KIND_BOOLEAN] = 1,      [CASPARIAN_KIND_INT64] = 8,
        [CASPARIAN_KIND_FLOAT64] = 8,      [CASPARIAN_KIND_DECIMAL] = 16,
        [CASPARIAN_KIND_DATE] = 4,         [CASPARIAN_KIND_TIMESTAMP] = 8,
        [CASPARIAN_KIND_TIMESTAMP_TZ] = 8, [CASPARIAN_KIND_TIME] = 8,
        [CASPARIAN_KIND_DURATION] = 8,
    };
    return widths[kind];
}

static bool is_text(casparian_kind kind)
{
    return kind == CASPARIAN_KIND_STRING || kind == CASPARIAN_KIND_BINARY;
}

static bool bit(const uint8_t *bitmap, size_t at)
{
    return bitmap[at / 8] >> (at % 8) & 1;
}

const casparian_vector *casparian_batch_find(const casparian_batch *batch, const char *name)
{
    for (size_t i = 0; i < batch->count; i++)
        if (strcmp(batch->columns[i].name, name) == 0)
            return &batch->columns[i];
    return NULL;
}

static const casparian_odd *find_odd(const casparian_vector *vector, size_t row)
{
    size_t low = 0, high = vector->odd_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (vector->odds[middle].row < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < vector->odd_count && vector->odds[low].row == row ? &vector->odds[low] : NULL;
}

casparian_cell casparian_vector_cell(const casparian_vector *vector, size_t row)
{
    casparian_cell cell = { .kind = CASPARIAN_KIND_NULL };
    const char *values = vector->values;
    if (vector->absent && bit(vector->absent, row)) {
        cell.is_absent = true;
        return cell;
    }
    if (vector->type.kind == CASPARIAN_KIND_NULL || (vector->valid && !bit(vector->valid, row))) {
        const casparian_odd *odd = find_odd(vector, row);
        return odd ? odd->cell : cell;
    }
    cell.kind = vector->type.kind;
    switch (cell.kind) {
    case CASPARIAN_KIND_BOOLEAN:
        cell.boolean = values[row] != 0;
        break;
    case CASPARIAN_KIND_FLOAT64:
        cell.number = ((const double *)vector->values)[row];
        break;
    case CASPARIAN_KIND_DECIMAL:
        cell.scale = vector->type.decimal.scale;
        memcpy(&cell.decimal, values + row * sizeof cell.decimal, sizeof cell.decimal);
        break;
    case CASPARIAN_KIND_DATE:
        cell.integer = ((const int32_t *)vector->values)[row];
        break;
    case CASPARIAN_KIND_STRING:
    case CASPARIAN_KIND_BINARY:
        cell.text.bytes = vector->bytes + vector->offsets[row];
        cell.text.length = vector->offsets[row + 1] - vector->offsets[row];
        break;
    default:
        cell.integer = ((const int64_t *)vector->values)[row];
        break;
    }
    return cell;
}

bool casparian_row_error(casparian_cell *out, const casparian_vector *row_error, size_t row)
{
    if (!row_error)
        return false;
    *out = casparian_vector_cell(row_error, row);
    return out->kind != CASPARIAN_KIND_NULL &&
           !(out->kind == CASPARIAN_KIND_STRING && out->text.length == 0);
}

/* ---- reading --------------------------------------------------------------------------------- */

struct reader {
    const uint8_t *bytes;
    size_t length, at;
    mcp_arena *arena;
    size_t *repaired;
    mcp_error *err;
};

static mcp_status damaged(const struct reader *in, const char *what)
{
    return mcp_error_set(in->err, MCP_E_PARSE, "CFB1 batch: %s at byte %zu of %zu", what, in->at,
                         in->length);
}

static mcp_status no_memory(const struct reader *in)
{
    return mcp_error_set(in->err, MCP_E_NOMEM, "no memory for a CFB1 batch");
}

/* The next bytes; NULL: there are not so many. */
static const uint8_t *take(struct reader *in, size_t count)
{
    const uint8_t *here = in->bytes + in->at;
    if (count > in->length - in->at)
        return NULL;
    in->at += count;
    return here;
}

/* A section with its padding. */
static const uint8_t *take_padded(struct reader *in, size_t count)
{
    const uint8_t *here = take(in, count);
    size_t pad = (ALIGNMENT - in->at % ALIGNMENT) % ALIGNMENT;
    return here && take(in, pad) ? here : NULL;
}

static uint16_t read_u16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static uint32_t read_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

static mcp_status read_name(struct reader *in, const char **out, size_t length, const char *what)
{
    const uint8_t *bytes = take(in, length);
    if (!bytes)
        return damaged(in, what);
    if (memchr(bytes, 0, length) || !casparian_utf8_is_valid((const char *)bytes, length))
        return damaged(in, "a name with NUL or without UTF-8");
    *out = mcp_arena_strndup(in->arena, (const char *)bytes, length);
    return *out ? MCP_OK : no_memory(in);
}

static mcp_status read_type(struct reader *in, casparian_type *out, const uint8_t *bytes)
{
    if (bytes[0] >= CASPARIAN_KIND_COUNT)
        return damaged(in, "an unknown type");
    *out = (casparian_type){ .kind = (casparian_kind)bytes[0] };
    if (out->kind != CASPARIAN_KIND_DECIMAL)
        return MCP_OK;
    out->decimal = (casparian_decimal_type){ .precision = bytes[2], .scale = bytes[3] };
    if (bytes[2] < 1 || bytes[2] > CASPARIAN_DECIMAL_PRECISION_MAX || bytes[3] > bytes[2])
        return damaged(in, "an impossible precision or scale");
    return MCP_OK;
}

/* `has_validity` is left in `valid` as a mark until the buffers are read. */
static mcp_status read_descriptor(struct reader *in, casparian_vector *out)
{
    static const uint8_t mark;
    const uint8_t *bytes = take(in, DESCRIPTOR_SIZE);
    const char *zone = NULL;
    if (!bytes)
        return damaged(in, "an incomplete descriptor");
    mcp_status st = read_type(in, &out->type, bytes);
    if (st == MCP_OK && (bytes[1] & ~HAS_VALIDITY))
        st = damaged(in, "unknown flags");
    if (st == MCP_OK)
        st = read_name(in, &out->name, read_u16(bytes + 4), "an incomplete name");
    if (st == MCP_OK)
        st = read_name(in, &zone, read_u16(bytes + 6), "an incomplete zone");
    if (st != MCP_OK)
        return st;
    if (out->type.kind == CASPARIAN_KIND_TIMESTAMP_TZ)
        out->type.zone = *zone ? zone : "UTC";
    out->valid = bytes[1] & HAS_VALIDITY ? &mark : NULL;
    return MCP_OK;
}

static bool offsets_fit(const uint32_t *offsets, size_t rows)
{
    bool fit = offsets[0] == 0;
    for (size_t i = 0; i < rows; i++)
        fit &= offsets[i] <= offsets[i + 1];
    return fit;
}

/* Whether each text is UTF-8: the bytes as a whole are, and no text begins within a code point. */
static bool texts_are_valid(const casparian_vector *vector, size_t rows)
{
    if (!casparian_utf8_is_valid(vector->bytes, vector->offsets[rows]))
        return false;
    for (size_t i = 0; i < rows; i++) {
        uint32_t begin = vector->offsets[i];
        if (begin < vector->offsets[rows] && ((unsigned char)vector->bytes[begin] & 0xC0) == 0x80)
            return false;
    }
    return true;
}

/* Copy the texts, each repaired, into the arena. */
static mcp_status repair(struct reader *in, casparian_vector *vector, size_t rows)
{
    mcp_buf texts;
    uint32_t *offsets = mcp_arena_array(in->arena, rows + 1, sizeof *offsets);
    if (!offsets)
        return no_memory(in);
    mcp_buf_init(&texts, TEXT_MAX);
    offsets[0] = 0;
    for (size_t i = 0; i < rows; i++) {
        const char *text = vector->bytes + vector->offsets[i];
        size_t length = vector->offsets[i + 1] - vector->offsets[i];
        if (in->repaired && !casparian_utf8_is_valid(text, length))
            ++*in->repaired;
        casparian_utf8_repair(&texts, text, length);
        offsets[i + 1] = (uint32_t)texts.length;
    }
    char *copy = texts.status == MCP_OK ? mcp_arena_alloc(in->arena, texts.length + 1) : NULL;
    if (copy && texts.length > 0)
        memcpy(copy, texts.data, texts.length);
    mcp_buf_clear(&texts);
    vector->offsets = offsets;
    vector->bytes = copy;
    return copy ? MCP_OK : no_memory(in);
}

static mcp_status read_texts(struct reader *in, casparian_vector *out, size_t rows)
{
    const uint8_t *offsets = take_padded(in, (rows + 1) * sizeof(uint32_t));
    if (!offsets)
        return damaged(in, "incomplete offsets");
    out->offsets = (const uint32_t *)(const void *)offsets;
    if (!offsets_fit(out->offsets, rows))
        return damaged(in, "offsets that decrease");
    out->bytes = (const char *)take_padded(in, out->offsets[rows]);
    if (!out->bytes)
        return damaged(in, "incomplete texts");
    if (out->type.kind == CASPARIAN_KIND_STRING && !texts_are_valid(out, rows))
        return repair(in, out, rows);
    return MCP_OK;
}

static mcp_status read_buffers(struct reader *in, casparian_vector *out, size_t rows)
{
    if (out->type.kind == CASPARIAN_KIND_NULL) {
        out->valid = NULL;
        return MCP_OK;
    }
    if (out->valid)
        out->valid = take_padded(in, (rows + 7) / 8);
    else
        out->valid = NULL;
    if (is_text(out->type.kind))
        return read_texts(in, out, rows);
    out->values = take_padded(in, rows * casparian_kind_width(out->type.kind));
    return out->values ? MCP_OK : damaged(in, "incomplete values");
}

/* A batch has thousands of columns at most, so names are compared in order only when there are few;
 * the others are compared by the length first. */
static bool names_differ(const casparian_vector *columns, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (columns[i].name[0] == columns[j].name[0] &&
                strcmp(columns[i].name, columns[j].name) == 0)
                return false;
    return true;
}

static mcp_status read_columns(struct reader *in, casparian_vector *columns, size_t count,
                               size_t rows, size_t descriptors)
{
    mcp_status st = MCP_OK;
    size_t begin = in->at;
    for (size_t i = 0; i < count && st == MCP_OK; i++)
        st = read_descriptor(in, &columns[i]);
    if (st != MCP_OK)
        return st;
    if (in->at - begin != descriptors)
        return damaged(in, "descriptors of another length than the header says");
    if (!take_padded(in, 0))
        return damaged(in, "incomplete padding");
    if (!names_differ(columns, count))
        return damaged(in, "a column that is there twice");
    for (size_t i = 0; i < count && st == MCP_OK; i++) {
        bool has_validity = columns[i].valid != NULL;
        st = read_buffers(in, &columns[i], rows);
        if (st == MCP_OK && has_validity && columns[i].type.kind != CASPARIAN_KIND_NULL &&
            !columns[i].valid)
            st = damaged(in, "an incomplete validity bitmap");
    }
    return st;
}

mcp_status casparian_batch_decode(casparian_batch *out, size_t *repaired, mcp_arena *arena,
                                  const void *bytes, size_t length, mcp_error *err)
{
    struct reader in = { bytes, length, 0, arena, repaired, err };
    const uint8_t *header = take(&in, HEADER_SIZE);
    if (length > CASPARIAN_BATCH_BYTES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a CFB1 batch of %zu bytes; at most %zu are legal",
                             length, CASPARIAN_BATCH_BYTES_MAX);
    if (!header || memcmp(header, MAGIC, strlen(MAGIC)) != 0)
        return damaged(&in, "no header");
    if (read_u16(header + 4) != VERSION)
        return damaged(&in, "an unknown version");
    size_t count = read_u16(header + 6), rows = read_u32(header + 8);
    if (rows > CASPARIAN_BATCH_ROWS_MAX || count > CASPARIAN_BATCH_COLUMNS_MAX)
        return mcp_error_set(
            err, MCP_E_LIMIT,
            "a CFB1 batch of %zu rows and %zu columns; at most %d and %d are legal", rows, count,
            CASPARIAN_BATCH_ROWS_MAX, CASPARIAN_BATCH_COLUMNS_MAX);
    casparian_vector *columns = mcp_arena_array(arena, count ? count : 1, sizeof *columns);
    if (!columns)
        return no_memory(&in);
    mcp_status st = read_columns(&in, columns, count, rows, read_u32(header + 12));
    if (st == MCP_OK && in.at != length)
        st = damaged(&in, "bytes after the last column");
    *out = (casparian_batch){ .rows = rows, .count = count, .columns = columns };
    return st;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void pad(mcp_buf *out, size_t begin)
{
    static const char zeros[ALIGNMENT];
    mcp_buf_append(out, zeros, (ALIGNMENT - (out->length - begin) % ALIGNMENT) % ALIGNMENT);
}

static void put_u16(mcp_buf *out, size_t value)
{
    uint16_t bytes = (uint16_t)value;
    mcp_buf_append(out, &bytes, sizeof bytes);
}

static void put_u32(mcp_buf *out, size_t value)
{
    uint32_t bytes = (uint32_t)value;
    mcp_buf_append(out, &bytes, sizeof bytes);
}

static const char *zone_of(const casparian_vector *vector)
{
    return vector->type.zone ? vector->type.zone : "";
}

static void put_descriptor(mcp_buf *out, const casparian_vector *vector)
{
    bool has_validity = vector->valid && vector->type.kind != CASPARIAN_KIND_NULL;
    bool is_decimal = vector->type.kind == CASPARIAN_KIND_DECIMAL;
    mcp_buf_putc(out, (char)vector->type.kind);
    mcp_buf_putc(out, has_validity ? (char)HAS_VALIDITY : 0);
    mcp_buf_putc(out, is_decimal ? (char)vector->type.decimal.precision : 0);
    mcp_buf_putc(out, is_decimal ? (char)vector->type.decimal.scale : 0);
    put_u16(out, strlen(vector->name));
    put_u16(out, strlen(zone_of(vector)));
    put_u32(out, 0);
    mcp_buf_puts(out, vector->name);
    mcp_buf_puts(out, zone_of(vector));
}

/* Offsets begin at 0 on the wire; those of a vector that is a part of another may not. */
static void put_offsets(mcp_buf *out, const casparian_vector *vector, size_t rows)
{
    uint32_t first = vector->offsets[0];
    if (first == 0) {
        mcp_buf_append(out, vector->offsets, (rows + 1) * sizeof first);
        return;
    }
    for (size_t i = 0; i <= rows; i++)
        put_u32(out, vector->offsets[i] - first);
}

static void put_buffers(mcp_buf *out, const casparian_vector *vector, size_t rows, size_t begin)
{
    if (vector->type.kind == CASPARIAN_KIND_NULL)
        return;
    if (vector->valid) {
        mcp_buf_append(out, vector->valid, (rows + 7) / 8);
        pad(out, begin);
    }
    if (is_text(vector->type.kind)) {
        put_offsets(out, vector, rows);
        pad(out, begin);
        mcp_buf_append(out, vector->bytes + vector->offsets[0],
                       vector->offsets[rows] - vector->offsets[0]);
    } else {
        mcp_buf_append(out, vector->values, rows * casparian_kind_width(vector->type.kind));
    }
    pad(out, begin);
}

static mcp_status check_form(const casparian_batch *batch, mcp_error *err)
{
    for (size_t i = 0; i < batch->count; i++) {
        const casparian_vector *vector = &batch->columns[i];
        if (vector->odd_count > 0 || vector->absent)
            return mcp_error_set(err, MCP_E_PARAMS, "column '%s' has cells that CFB1 cannot hold",
                                 vector->name);
        if (strlen(vector->name) > UINT16_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "a column's name is longer than %d bytes",
                                 UINT16_MAX);
    }
    if (batch->rows > CASPARIAN_BATCH_ROWS_MAX || batch->count > CASPARIAN_BATCH_COLUMNS_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "%zu rows or %zu columns are too many for CFB1",
                             batch->rows, batch->count);
    return MCP_OK;
}

mcp_status casparian_batch_encode(mcp_buf *out, const casparian_batch *batch, mcp_error *err)
{
    size_t begin = out->length, descriptors = 0;
    mcp_status st = check_form(batch, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < batch->count; i++)
        descriptors += DESCRIPTOR_SIZE + strlen(batch->columns[i].name) +
                       strlen(zone_of(&batch->columns[i]));
    mcp_buf_puts(out, MAGIC);
    put_u16(out, VERSION);
    put_u16(out, batch->count);
    put_u32(out, batch->rows);
    put_u32(out, descriptors);
    for (size_t i = 0; i < batch->count; i++)
        put_descriptor(out, &batch->columns[i]);
    pad(out, begin);
    for (size_t i = 0; i < batch->count; i++)
        put_buffers(out, &batch->columns[i], batch->rows, begin);
    if (out->status == MCP_OK && out->length - begin > CASPARIAN_BATCH_BYTES_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a batch longer than %zu bytes",
                             CASPARIAN_BATCH_BYTES_MAX);
    return out->status == MCP_OK ? MCP_OK
                                 : mcp_error_set(err, out->status, "no memory for a batch");
}
