/*
 * chunk.c - values into pages.
 *
 * PLAIN is the memory of a little-endian machine: integers below 32 bits are widened, texts have
 * their length before them, booleans are packed eight to a byte. Nulls have no value, only a level.
 *
 * Whether a chunk is compressed is decided by its first page, since the codec is the chunk's.
 */
#include "columns/chunk.h"

#include <string.h>

#include "columns/thrift.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "PLAIN values are little-endian");

enum { DATA_PAGE = 0, PLAIN = 0, RLE = 3 };

static mcp_status say_buffer(const struct chunk *self, mcp_status st, mcp_error *err)
{
    return mcp_error_set(err, st, "%s for column '%.100s'",
                         st == MCP_E_NOMEM ? "no memory" : "no buffer is large enough", self->name);
}

void chunk_begin(struct chunk *self)
{
    mcp_buf_reset(&self->values);
    mcp_buf_reset(&self->valid);
    mcp_buf_reset(&self->pages);
    self->page_rows = self->page_nulls = self->rows = self->unpacked = 0;
    statistics_begin(&self->range, self->type);
}

void chunk_clear(struct chunk *self)
{
    mcp_buf_clear(&self->values);
    mcp_buf_clear(&self->valid);
    mcp_buf_clear(&self->pages);
}

size_t chunk_held(const struct chunk *self)
{
    return self->values.length + self->valid.length + self->pages.length;
}

/* ---- a page ---------------------------------------------------------------------------------- */

static void append_u32(mcp_buf *to, size_t value)
{
    uint32_t bytes = (uint32_t)value;

    mcp_buf_append(to, &bytes, sizeof bytes);
}

/* Bytes of 0 and 1, eight to a byte, the first in the lowest bit. */
static void append_bits(mcp_buf *to, const uint8_t *flags, size_t count)
{
    size_t length = (count + 7) / 8;
    uint8_t *at = (uint8_t *)mcp_buf_reserve(to, length);

    if (!at)
        return;
    memset(at, 0, length);
    for (size_t i = 0; i < count; i++)
        at[i / 8] |= (uint8_t)((flags[i] != 0) << i % 8);
    mcp_buf_commit(to, length);
}

/* The levels as one run: repeated when all are alike, else bit-packed in groups of eight. */
static void append_levels(const struct chunk *self, mcp_buf *to)
{
    size_t count = self->page_rows, at = to->length;
    bool are_alike = self->page_nulls == 0 || self->page_nulls == count;
    size_t head = are_alike ? count << 1 : (count + 7) / 8 << 1 | 1;

    append_u32(to, 0);
    for (; head >= 0x80; head >>= 7)
        mcp_buf_putc(to, (char)(head | 0x80));
    mcp_buf_putc(to, (char)head);
    if (are_alike)
        mcp_buf_putc(to, self->page_nulls == 0);
    else
        append_bits(to, (const uint8_t *)self->valid.data, count);
    if (to->status == MCP_OK) {
        uint32_t length = (uint32_t)(to->length - at - sizeof length);
        memcpy(to->data + at, &length, sizeof length);
    }
}

/* The page's bytes before compression: `values` itself where nothing is added, else `body`. */
static const mcp_buf *put_together(const struct chunk *self, mcp_buf *body)
{
    if (!self->is_nullable && self->type != COLUMNS_BOOL)
        return &self->values;
    mcp_buf_reset(body);
    if (self->is_nullable)
        append_levels(self, body);
    if (self->type == COLUMNS_BOOL)
        append_bits(body, (const uint8_t *)self->values.data, self->values.length);
    else
        mcp_buf_append(body, self->values.data ? self->values.data : "", self->values.length);
    return body;
}

static void append_header(mcp_buf *to, size_t rows, size_t unpacked, size_t packed)
{
    thrift header = thrift_struct(to);

    thrift_i32(&header, 1, DATA_PAGE);
    thrift_i32(&header, 2, (int32_t)unpacked);
    thrift_i32(&header, 3, (int32_t)packed);
    thrift_begin(&header, 5);
    thrift_i32(&header, 1, (int32_t)rows);
    thrift_i32(&header, 2, PLAIN);
    thrift_i32(&header, 3, RLE);
    thrift_i32(&header, 4, RLE);
    thrift_end(&header);
    thrift_end(&header);
}

/* End the page that is being filled and append it to `to`. */
static mcp_status end_page(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err)
{
    const mcp_buf *body = put_together(self, &packer->body), *stored = body;
    mcp_status st = body->status;

    if (st != MCP_OK)
        return say_buffer(self, st, err);
    const char *bytes = body->data ? body->data : "";
    if (self->unpacked == 0)
        st = packer_try(&self->is_packed, packer, bytes, body->length, err);
    else if (self->is_packed)
        st = packer_pack(packer, bytes, body->length, err);
    if (st != MCP_OK)
        return st;
    if (self->is_packed)
        stored = &packer->packed;
    self->range.null_count += (int64_t)self->page_nulls;
    size_t begin = to->length;
    append_header(to, self->page_rows, body->length, stored->length);
    self->unpacked += to->length - begin + body->length;
    st = mcp_buf_append(to, stored->data ? stored->data : "", stored->length);
    mcp_buf_reset(&self->values);
    mcp_buf_reset(&self->valid);
    self->page_rows = self->page_nulls = 0;
    return st == MCP_OK ? MCP_OK : say_buffer(self, st, err);
}

mcp_status chunk_finish(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err)
{
    return self->page_rows > 0 ? end_page(self, packer, to, err) : MCP_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The size of a value in the physical type; of a boolean before it is packed; 0: TEXT. */
static size_t plain_size(columns_type type)
{
    size_t size = columns_type_size(type);

    if (type == COLUMNS_TEXT || type == COLUMNS_BOOL)
        return type == COLUMNS_BOOL;
    return size < sizeof(int32_t) ? sizeof(int32_t) : size;
}

/* COPY(name, from, to): a function that copies the valid rows of a type. @return how many */
#define COPY(name, from, to)                                                                       \
    static size_t name(void *out, const void *values, const uint8_t *valid, size_t rows)           \
    {                                                                                              \
        const from *value = values;                                                                \
        to *at = out;                                                                              \
        size_t count = 0;                                                                          \
                                                                                                   \
        for (size_t i = 0; i < rows; i++)                                                          \
            if (!valid || valid[i])                                                                \
                at[count++] = value[i];                                                            \
        return count;                                                                              \
    }

COPY(copy_i8, int8_t, int32_t) /* NOLINT(bugprone-signed-char-misuse,cert-str34-c) */
COPY(copy_i16, int16_t, int32_t)
COPY(copy_i32, int32_t, int32_t)
COPY(copy_i64, int64_t, int64_t)
COPY(copy_u8, uint8_t, int32_t)
COPY(copy_u16, uint16_t, int32_t)
COPY(copy_u32, uint32_t, uint32_t)
COPY(copy_u64, uint64_t, uint64_t)
COPY(copy_f32, float, float)
COPY(copy_f64, double, double)
COPY(copy_bool, uint8_t, uint8_t)

static size_t (*const copies[])(void *out, const void *values, const uint8_t *valid,
                                size_t rows) = {
    [COLUMNS_BOOL] = copy_bool, [COLUMNS_I8] = copy_i8,   [COLUMNS_I16] = copy_i16,
    [COLUMNS_I32] = copy_i32,   [COLUMNS_I64] = copy_i64, [COLUMNS_U8] = copy_u8,
    [COLUMNS_U16] = copy_u16,   [COLUMNS_U32] = copy_u32, [COLUMNS_U64] = copy_u64,
    [COLUMNS_F32] = copy_f32,   [COLUMNS_F64] = copy_f64, [COLUMNS_DATE] = copy_i32,
};

static size_t copy_plain(void *out, const columns_column *column, size_t first, size_t rows)
{
    size_t size = columns_type_size(column->type);
    const char *values = (const char *)column->values + first * size;
    const uint8_t *valid = column->valid ? column->valid + first : NULL;

    if (valid && !memchr(valid, 0, rows))
        valid = NULL;
    if (valid || size != plain_size(column->type))
        return copies[column->type](out, values, valid, rows);
    memcpy(out, values, rows * size);
    return rows;
}

/* Rows of numbers that fit into the page; at least one. @return MCP_E_NOMEM or MCP_OK */
static mcp_status add_numbers(struct chunk *self, const columns_column *column, size_t first,
                              size_t rows)
{
    size_t size = plain_size(column->type);
    void *to = mcp_buf_reserve(&self->values, rows * size);

    if (!to)
        return self->values.status;
    size_t count = copy_plain(to, column, first, rows);
    mcp_buf_commit(&self->values, count * size);
    self->page_nulls += rows - count;
    statistics_add(&self->range, column, first, rows);
    return MCP_OK;
}

static mcp_status add_text(struct chunk *self, const char *text)
{
    size_t length = strlen(text);

    append_u32(&self->values, length);
    statistics_add_text(&self->range, text, length);
    return mcp_buf_append(&self->values, text, length);
}

/* Texts until the page is full. @return how many rows of it */
static size_t add_texts(struct chunk *self, const columns_column *column, size_t first, size_t rows)
{
    const char *const *texts = column->values;
    size_t i = 0;

    while (i < rows && self->values.length < CHUNK_PAGE_MAX && self->values.status == MCP_OK) {
        if (columns_is_valid(column, first + i))
            add_text(self, texts[first + i]);
        else
            self->page_nulls++;
        i++;
    }
    return i;
}

static mcp_status add_levels(struct chunk *self, const columns_column *column, size_t first,
                             size_t rows)
{
    char *to = self->is_nullable ? mcp_buf_reserve(&self->valid, rows) : NULL;

    if (!self->is_nullable)
        return MCP_OK;
    if (!to)
        return self->valid.status;
    if (column->valid)
        memcpy(to, column->valid + first, rows);
    else
        memset(to, 1, rows);
    mcp_buf_commit(&self->valid, rows);
    return MCP_OK;
}

/* Rows into the page that is being filled. @return how many; 0: a buffer failed */
static size_t fill_page(struct chunk *self, const columns_column *column, size_t first, size_t rows)
{
    size_t size = plain_size(column->type);
    size_t fitting = CHUNK_PAGE_MAX - self->page_rows;

    if (size > 0)
        fitting = (CHUNK_PAGE_MAX - self->page_rows * size) / size;
    if (rows > fitting)
        rows = fitting;
    if (size > 0)
        add_numbers(self, column, first, rows);
    else
        rows = add_texts(self, column, first, rows);
    add_levels(self, column, first, rows);
    self->page_rows += rows;
    self->rows += rows;
    return self->values.status == MCP_OK && self->valid.status == MCP_OK ? rows : 0;
}

static bool is_full(const struct chunk *self)
{
    size_t size = plain_size(self->type);

    return self->values.length >= CHUNK_PAGE_MAX ||
           self->page_rows >= CHUNK_PAGE_MAX / (size > 0 ? size : 1);
}

mcp_status chunk_add(struct chunk *self, struct packer *packer, const columns_column *column,
                     size_t first, size_t rows, mcp_error *err)
{
    mcp_status st = MCP_OK;

    while (rows > 0 && st == MCP_OK) {
        size_t taken = fill_page(self, column, first, rows);
        if (taken == 0)
            return say_buffer(self, self->values.status ? self->values.status : self->valid.status,
                              err);
        first += taken;
        rows -= taken;
        if (is_full(self))
            st = end_page(self, packer, &self->pages, err);
    }
    return st;
}
