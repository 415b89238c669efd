/*
 * chunk.c - values into pages.
 *
 * PLAIN is the memory of a little-endian machine: integers below 32 bits are widened, texts have
 * their length before them, booleans are packed eight to a byte. Nulls have no value, only a level.
 *
 * Texts begin as indexes of a dictionary. Where most of the first rows differ, they become PLAIN,
 * and some row groups begin so; where the dictionary has no room left, the next page is PLAIN.
 *
 * Whether a chunk is compressed is decided by its first page, since the codec is the chunk's.
 */
#include "columns/parquet/chunk.h"

#include <string.h>

#include "columns/parquet/thrift.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "PLAIN values are little-endian");

#define STRINGS_AT_ONCE 256
#define JUDGED_ROWS 16384 /* of texts that have a dictionary, before it is judged */
#define PLAIN_GROUPS 7    /* that follow one whose texts differ */

enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };

static bool is_text(const struct chunk *self)
{
    return self->type == COLUMNS_TEXT || self->type == COLUMNS_STRING || self->type == COLUMNS_BLOB;
}

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
    self->labels = self->dictionary_page = 0;
    self->is_packed = false;
    dictionary_reset(&self->dictionary);
    self->has_indexes = is_text(self) && self->plain_groups == 0;
    self->is_judged = !self->has_indexes;
    self->plain_groups -= self->plain_groups > 0;
    statistics_begin(&self->range, self->type);
    self->range.width = self->width;
}

void chunk_clear(struct chunk *self)
{
    mcp_buf_clear(&self->values);
    mcp_buf_clear(&self->valid);
    mcp_buf_clear(&self->pages);
    dictionary_clear(&self->dictionary);
}

size_t chunk_held(const struct chunk *self)
{
    return self->values.length + self->valid.length + self->pages.length +
           dictionary_held(&self->dictionary);
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

static void append_varint(mcp_buf *to, size_t value)
{
    for (; value >= 0x80; value >>= 7)
        mcp_buf_putc(to, (char)(value | 0x80));
    mcp_buf_putc(to, (char)value);
}

/* The levels as one run: repeated when all are alike, else bit-packed in groups of eight. */
static void append_levels(const struct chunk *self, mcp_buf *to)
{
    size_t count = self->page_rows, at = to->length;
    bool are_alike = self->page_nulls == 0 || self->page_nulls == count;
    size_t head = are_alike ? count << 1 : (count + 7) / 8 << 1 | 1;

    append_u32(to, 0);
    append_varint(to, head);
    if (are_alike)
        mcp_buf_putc(to, self->page_nulls == 0);
    else
        append_bits(to, (const uint8_t *)self->valid.data, count);
    if (to->status == MCP_OK) {
        uint32_t length = (uint32_t)(to->length - at - sizeof length);
        memcpy(to->data + at, &length, sizeof length);
    }
}

static size_t bits_of(size_t count)
{
    return count > 1 ? 32 - (size_t)__builtin_clz((unsigned)count - 1) : 1;
}

/* Indexes of so many bits, a multiple of eight of them but for the last; zeros fill that up. */
static void append_packed(mcp_buf *to, const uint32_t *indexes, size_t count, size_t bits)
{
    size_t groups = (count + 7) / 8;
    uint64_t held = 0;
    size_t held_bits = 0;

    append_varint(to, groups << 1 | 1);
    char *begin = mcp_buf_reserve(to, groups * bits), *at = begin;
    if (!begin)
        return;
    for (size_t i = 0; i < groups * 8; i++) {
        held |= (uint64_t)(i < count ? indexes[i] : 0) << held_bits;
        for (held_bits += bits; held_bits >= 8; held_bits -= 8, held >>= 8)
            *at++ = (char)held;
    }
    mcp_buf_commit(to, (size_t)(at - begin));
}

static void append_run(mcp_buf *to, size_t rows, uint32_t index, size_t bits)
{
    append_varint(to, rows << 1);
    mcp_buf_append(to, &index, (bits + 7) / 8);
}

/* The width of an index, then runs of eight or more of one index and what is between them. */
static void append_indexes(const struct chunk *self, mcp_buf *to)
{
    const uint32_t *indexes = (const uint32_t *)(const void *)self->values.data;
    size_t count = self->values.length / sizeof *indexes, bits = bits_of(self->dictionary.count);
    size_t begin = 0, next = 0; /* of what is not written, of the next run */

    mcp_buf_putc(to, (char)bits);
    for (size_t i = 0; i < count; i = next) {
        for (next = i + 1; next < count && indexes[next] == indexes[i]; next++)
            ;
        size_t whole = i + (8 - (i - begin) % 8) % 8; /* what is before the run fills its bytes */
        if (next < whole + 8)
            continue;
        if (whole > begin)
            append_packed(to, indexes + begin, whole - begin, bits);
        append_run(to, next - whole, indexes[i], bits);
        begin = next;
    }
    if (count > begin)
        append_packed(to, indexes + begin, count - begin, bits);
}

/* A page without values needs no dictionary. */
static bool are_indexed(const struct chunk *self)
{
    return self->has_indexes && self->dictionary.count > 0;
}

/* The page's bytes before compression: `values` itself where nothing is added, else `body`. */
static const mcp_buf *put_together(const struct chunk *self, mcp_buf *body)
{
    if (!self->is_nullable && self->type != COLUMNS_BOOL && !are_indexed(self))
        return &self->values;
    mcp_buf_reset(body);
    if (self->is_nullable)
        append_levels(self, body);
    if (are_indexed(self))
        append_indexes(self, body);
    else if (self->type == COLUMNS_BOOL)
        append_bits(body, (const uint8_t *)self->values.data, self->values.length);
    else
        mcp_buf_append(body, self->values.data ? self->values.data : "", self->values.length);
    return body;
}

static void append_header(mcp_buf *to, size_t rows, int encoding, size_t unpacked, size_t packed)
{
    thrift header = thrift_struct(to);

    thrift_i32(&header, 1, DATA_PAGE);
    thrift_i32(&header, 2, (int32_t)unpacked);
    thrift_i32(&header, 3, (int32_t)packed);
    thrift_begin(&header, 5);
    thrift_i32(&header, 1, (int32_t)rows);
    thrift_i32(&header, 2, encoding);
    thrift_i32(&header, 3, RLE);
    thrift_i32(&header, 4, RLE);
    thrift_end(&header);
    thrift_end(&header);
}

/* Compress a page. The first one decides whether its chunk is compressed: where the dictionary or
 * the page becomes smaller. */
static mcp_status pack_page(struct chunk *self, struct packer *packer, const mcp_buf *page,
                            mcp_error *err)
{
    const mcp_buf *plain = &self->dictionary.plain;
    const char *bytes = page->data ? page->data : "";
    mcp_status st = MCP_OK;

    if (self->unpacked == 0 && plain->length > 0)
        st = packer_try(&self->is_packed, packer, plain->data, plain->length, err);
    if (st != MCP_OK)
        return st;
    if (self->unpacked == 0 && !self->is_packed)
        return packer_try(&self->is_packed, packer, bytes, page->length, err);
    return self->is_packed ? packer_pack(packer, bytes, page->length, err) : MCP_OK;
}

/* End the page that is being filled and append it to `to`. */
static mcp_status end_page(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err)
{
    const mcp_buf *body = put_together(self, &packer->body), *stored = body;
    mcp_status st = body->status;

    if (st != MCP_OK)
        return say_buffer(self, st, err);
    st = pack_page(self, packer, body, err);
    if (st != MCP_OK)
        return st;
    if (self->is_packed)
        stored = &packer->packed;
    self->range.null_count += (int64_t)self->page_nulls;
    size_t begin = to->length;
    append_header(to, self->page_rows, are_indexed(self) ? RLE_DICTIONARY : PLAIN, body->length,
                  stored->length);
    self->unpacked += to->length - begin + body->length;
    st = mcp_buf_append(to, stored->data ? stored->data : "", stored->length);
    mcp_buf_reset(&self->values);
    mcp_buf_reset(&self->valid);
    self->page_rows = self->page_nulls = 0;
    return st == MCP_OK ? MCP_OK : say_buffer(self, st, err);
}

/* ---- the dictionary page --------------------------------------------------------------------- */

/* Append a dictionary of PLAIN values. */
static mcp_status append_dictionary(struct chunk *self, mcp_buf *to, size_t count,
                                    const mcp_buf *plain, const mcp_buf *stored)
{
    size_t begin = to->length;
    thrift header = thrift_struct(to);

    thrift_i32(&header, 1, DICTIONARY_PAGE);
    thrift_i32(&header, 2, (int32_t)plain->length);
    thrift_i32(&header, 3, (int32_t)stored->length);
    thrift_begin(&header, 7);
    thrift_i32(&header, 1, (int32_t)count);
    thrift_i32(&header, 2, PLAIN);
    thrift_end(&header);
    thrift_end(&header);
    self->unpacked += to->length - begin + plain->length;
    mcp_status st = mcp_buf_append(to, stored->data, stored->length);
    self->dictionary_page = to->length - begin;
    return st;
}

/* Write the indexes of the page as the texts themselves. */
static mcp_status become_plain(struct chunk *self, mcp_error *err)
{
    size_t count = self->values.length / sizeof(uint32_t);
    mcp_buf plain;

    mcp_buf_init(&plain, self->values.max_bytes);
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        size_t length = 0;
        memcpy(&index, self->values.data + i * sizeof index, sizeof index);
        const char *text = dictionary_at(&self->dictionary, index, &length);
        mcp_buf_append(&plain, text, length);
    }
    if (plain.status != MCP_OK) {
        mcp_status st = say_buffer(self, plain.status, err);
        mcp_buf_clear(&plain);
        return st;
    }
    mcp_buf_clear(&self->values);
    self->values = plain;
    dictionary_reset(&self->dictionary);
    self->has_indexes = false;
    self->plain_groups = PLAIN_GROUPS;
    return MCP_OK;
}

/* Give up a dictionary in which most rows of the first page are alone. */
static mcp_status judge(struct chunk *self, mcp_error *err)
{
    size_t values = self->values.length / sizeof(uint32_t);

    self->is_judged = true;
    return self->unpacked == 0 && 2 * (size_t)self->dictionary.count > values
               ? become_plain(self, err)
               : MCP_OK;
}

/* The texts that follow are PLAIN. */
static mcp_status end_indexes(struct chunk *self, struct packer *packer, mcp_error *err)
{
    mcp_status st = self->is_judged ? MCP_OK : judge(self, err);

    if (st == MCP_OK && self->has_indexes && self->page_rows > 0)
        st = end_page(self, packer, &self->pages, err);
    self->has_indexes = false;
    return st;
}

mcp_status chunk_finish_dictionary(struct chunk *self, struct packer *packer, mcp_buf *to,
                                   mcp_error *err)
{
    const mcp_buf *plain = &self->dictionary.plain, *stored = plain;
    mcp_status st = self->has_indexes ? end_indexes(self, packer, err) : MCP_OK;

    if (st != MCP_OK || self->dictionary.count == 0)
        return st;
    if (self->is_packed)
        st = packer_pack(packer, plain->data, plain->length, err);
    if (st != MCP_OK)
        return st;
    if (self->is_packed)
        stored = &packer->packed;
    st = append_dictionary(self, to, self->dictionary.count, plain, stored);
    return st == MCP_OK ? MCP_OK : say_buffer(self, st, err);
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* The width of an index in bits, then each run: its length, and the index in whole bytes. */
static void put_runs(const struct chunk *self, mcp_buf *body)
{
    size_t bits = bits_of(self->labels);

    mcp_buf_reset(body);
    mcp_buf_putc(body, (char)bits);
    for (size_t at = 0; at < self->valid.length; at += sizeof(struct chunk_run)) {
        struct chunk_run run;
        memcpy(&run, self->valid.data + at, sizeof run);
        append_run(body, run.rows, run.label, bits);
    }
}

/* The pages of a chunk of labels. They are small, so they are not compressed. */
static mcp_status end_labels(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err)
{
    put_runs(self, &packer->body);
    if (packer->body.status != MCP_OK)
        return say_buffer(self, packer->body.status, err);
    append_dictionary(self, to, self->labels, &self->values, &self->values);
    size_t begin = to->length;
    append_header(to, self->page_rows, RLE_DICTIONARY, packer->body.length, packer->body.length);
    mcp_status st = mcp_buf_append(to, packer->body.data, packer->body.length);
    self->unpacked += to->length - begin;
    self->page_rows = 0;
    return st == MCP_OK ? MCP_OK : say_buffer(self, st, err);
}

/* The index of a label in the dictionary; it is appended if it is new. Labels are few. */
static uint32_t find_label(struct chunk *self, const columns_label *label)
{
    const char *at = self->values.data;

    for (uint32_t i = 0; i < self->labels; i++) {
        uint32_t length;
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length == label->length && memcmp(at, label->bytes, length) == 0)
            return i;
        at += length;
    }
    append_u32(&self->values, label->length);
    mcp_buf_append(&self->values, label->bytes, label->length);
    statistics_add_text(&self->range, label->bytes, label->length);
    return (uint32_t)self->labels++;
}

static mcp_status add_label(struct chunk *self, const columns_label *label, size_t rows,
                            mcp_error *err)
{
    struct chunk_run run = { (uint32_t)rows, find_label(self, label) }, last;
    size_t before = self->valid.length;

    if (before > 0) {
        memcpy(&last, self->valid.data + before - sizeof last, sizeof last);
        if (last.label == run.label) {
            run.rows += last.rows;
            memcpy(self->valid.data + before - sizeof last, &run, sizeof run);
            run.rows = 0;
        }
    }
    if (run.rows > 0)
        mcp_buf_append(&self->valid, &run, sizeof run);
    self->page_rows += rows;
    self->rows += rows;
    mcp_status st = self->values.status ? self->values.status : self->valid.status;
    return st == MCP_OK ? MCP_OK : say_buffer(self, st, err);
}

mcp_status chunk_finish(struct chunk *self, struct packer *packer, mcp_buf *to, mcp_error *err)
{
    if (self->page_rows == 0)
        return MCP_OK;
    return self->type == COLUMNS_LABEL ? end_labels(self, packer, to, err)
                                       : end_page(self, packer, to, err);
}

/* ---- values ---------------------------------------------------------------------------------- */

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

/* Digits that fit into an array of so many bytes, with a sign: floor(log10(2^(8 n - 1) - 1)). */
static const uint8_t digits_of_bytes[] = { 0,  2,  4,  6,  9,  11, 14, 16, 18,
                                           21, 23, 26, 28, 31, 33, 35, 38 };

size_t chunk_decimal_width(unsigned precision)
{
    size_t width = 1;

    while (width < sizeof digits_of_bytes - 1 && digits_of_bytes[width] < precision)
        width++;
    if (width > sizeof(int64_t))
        return width;
    return width > sizeof(int32_t) ? sizeof(int64_t) : sizeof(int32_t);
}

/* The valid rows of a decimal. @return how many */
static size_t copy_wide(void *out, const void *values, const uint8_t *valid, size_t rows,
                        size_t width)
{
    const char *from = values;
    char *at = out;
    statistics_wide value;

    for (size_t i = 0; i < rows; i++, from += sizeof value) {
        if (valid && !valid[i])
            continue;
        memcpy(&value, from, sizeof value);
        statistics_put_wide(at, value, width);
        at += width;
    }
    return (size_t)(at - (char *)out) / width;
}

static size_t (*const copies[])(void *out, const void *values, const uint8_t *valid,
                                size_t rows) = {
    [COLUMNS_BOOL] = copy_bool,     [COLUMNS_I8] = copy_i8,
    [COLUMNS_I16] = copy_i16,       [COLUMNS_I32] = copy_i32,
    [COLUMNS_I64] = copy_i64,       [COLUMNS_U8] = copy_u8,
    [COLUMNS_U16] = copy_u16,       [COLUMNS_U32] = copy_u32,
    [COLUMNS_U64] = copy_u64,       [COLUMNS_F32] = copy_f32,
    [COLUMNS_F64] = copy_f64,       [COLUMNS_DATE] = copy_i32,
    [COLUMNS_TIMESTAMP] = copy_i64, [COLUMNS_TIMESTAMP_UTC] = copy_i64,
    [COLUMNS_TIME] = copy_i64,
};

static size_t copy_plain(const struct chunk *self, void *out, const columns_column *column,
                         size_t first, size_t rows)
{
    const char *values = (const char *)column->values + first * self->size;
    const uint8_t *valid = column->valid ? column->valid + first : NULL;

    if (valid && !memchr(valid, 0, rows))
        valid = NULL;
    if (self->type == COLUMNS_DECIMAL)
        return copy_wide(out, values, valid, rows, self->width);
    if (valid || self->size != self->width)
        return copies[column->type](out, values, valid, rows);
    memcpy(out, values, rows * self->size);
    return rows;
}

/* Rows of numbers that fit into the page; at least one. @return MCP_E_NOMEM or MCP_OK */
static mcp_status add_numbers(struct chunk *self, const columns_column *column, size_t first,
                              size_t rows)
{
    void *to = mcp_buf_reserve(&self->values, rows * self->width);

    if (!to)
        return self->values.status;
    size_t count = copy_plain(self, to, column, first, rows);
    mcp_buf_commit(&self->values, count * self->width);
    self->page_nulls += rows - count;
    statistics_add(&self->range, column, first, rows);
    return MCP_OK;
}

/* The text of a valid row. */
static const char *text_at(const columns_column *column, size_t row, size_t *length)
{
    if (column->type == COLUMNS_TEXT) {
        const char *text = ((const char *const *)column->values)[row];
        *length = strlen(text);
        return text;
    }
    const columns_texts *texts = column->values;
    *length = texts->offsets[row + 1] - texts->offsets[row];
    return texts->bytes + texts->offsets[row];
}

/* Texts as indexes, as long as the dictionary has room. @return how many rows */
static size_t add_indexes(struct chunk *self, const columns_column *column, size_t first,
                          size_t rows)
{
    uint32_t *to = (uint32_t *)(void *)mcp_buf_reserve(&self->values, rows * sizeof *to);
    size_t i = 0, count = 0;

    if (!to)
        return 0;
    for (; i < rows; i++) {
        bool is_new = false;
        size_t length = 0;
        if (!columns_is_valid(column, first + i))
            continue;
        const char *text = text_at(column, first + i, &length);
        to[count] = dictionary_index(&self->dictionary, text, length, &is_new);
        if (to[count] == UINT32_MAX)
            break;
        if (is_new)
            statistics_add_text(&self->range, text, length);
        count++;
    }
    mcp_buf_commit(&self->values, count * sizeof *to);
    self->page_nulls += i - count;
    self->is_dictionary_full = i < rows;
    return i;
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

/* How many rows of strings are added at once: all of them fit into the page, or it is one. */
static size_t fitting_strings(const uint32_t *offsets, size_t rows, size_t room)
{
    size_t most = rows < STRINGS_AT_ONCE ? rows : STRINGS_AT_ONCE;

    while (most > 1 && offsets[most] - offsets[0] + most * sizeof(uint32_t) > room)
        most /= 2;
    return most;
}

/* The valid ones of some strings, to where there is room. @return the end of what was written */
static char *put_strings(struct chunk *self, char *to, const columns_texts *texts,
                         const uint8_t *valid, size_t first, size_t rows)
{
    for (size_t i = first; i < first + rows; i++) {
        uint32_t length = texts->offsets[i + 1] - texts->offsets[i];
        const char *text = texts->bytes + texts->offsets[i];
        if (valid && !valid[i]) {
            self->page_nulls++;
            continue;
        }
        memcpy(to, &length, sizeof length);
        memcpy(to + sizeof length, text, length);
        to += sizeof length + length;
        statistics_add_text(&self->range, text, length);
    }
    return to;
}

/* Strings until the page is full. @return how many rows of it */
static size_t add_strings(struct chunk *self, const columns_column *column, size_t first,
                          size_t rows)
{
    const columns_texts *texts = column->values;
    size_t i = 0;

    while (i < rows && self->values.length < CHUNK_PAGE_MAX) {
        const uint32_t *offsets = texts->offsets + first + i;
        size_t count = fitting_strings(offsets, rows - i, CHUNK_PAGE_MAX - self->values.length);
        char *to = mcp_buf_reserve(&self->values,
                                   offsets[count] - offsets[0] + count * sizeof(uint32_t));
        if (!to)
            return i;
        char *end = put_strings(self, to, texts, column->valid, first + i, count);
        mcp_buf_commit(&self->values, (size_t)(end - to));
        i += count;
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

static mcp_status buffer_status(const struct chunk *self)
{
    if (self->values.status != MCP_OK)
        return self->values.status;
    return self->valid.status != MCP_OK ? self->valid.status : dictionary_status(&self->dictionary);
}

/* Rows into the page that is being filled. @return how many */
static size_t fill_page(struct chunk *self, const columns_column *column, size_t first, size_t rows)
{
    size_t fitting = CHUNK_PAGE_MAX - self->page_rows;

    if (self->width > 0)
        fitting = (CHUNK_PAGE_MAX - self->page_rows * self->width) / self->width;
    if (rows > fitting)
        rows = fitting;
    if (self->width > 0)
        add_numbers(self, column, first, rows);
    else if (self->has_indexes)
        rows = add_indexes(self, column, first, rows);
    else if (column->type == COLUMNS_TEXT)
        rows = add_texts(self, column, first, rows);
    else
        rows = add_strings(self, column, first, rows);
    add_levels(self, column, first, rows);
    self->page_rows += rows;
    self->rows += rows;
    return rows;
}

static bool is_full(const struct chunk *self)
{
    return self->values.length >= CHUNK_PAGE_MAX ||
           self->page_rows >= CHUNK_PAGE_MAX / (self->width > 0 ? self->width : 1);
}

mcp_status chunk_add(struct chunk *self, struct packer *packer, const columns_column *column,
                     size_t first, size_t rows, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (self->type == COLUMNS_LABEL)
        return add_label(self, column->values, rows, err);
    while (rows > 0 && st == MCP_OK) {
        size_t taken = fill_page(self, column, first, rows);
        st = buffer_status(self);
        if (st != MCP_OK)
            return say_buffer(self, st, err);
        first += taken;
        rows -= taken;
        if (self->has_indexes && self->is_dictionary_full)
            st = end_indexes(self, packer, err);
        else if (!self->is_judged && self->values.length >= JUDGED_ROWS * sizeof(uint32_t))
            st = judge(self, err);
        if (st == MCP_OK && is_full(self))
            st = end_page(self, packer, &self->pages, err);
    }
    return st;
}
