/*
 * parquet.c - a Parquet file from its magic to its footer.
 *
 * Appended rows go to the columns' chunks in slices of a bounded size. A row group ends when it has
 * its rows or holds GROUP_HELD bytes; then its chunks are written one after the other, and their
 * description is added to `groups`, which becomes part of the footer. Bytes for the file gather in
 * `out`, so a small file is one write.
 */
#include "columns/parquet.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns/parquet/chunk.h"
#include "columns/parquet/thrift.h"
#include "guard/paths.h"
#include "mcp/alloc.h"

#define ROW_GROUP_ROWS 122880
#define LEVEL 3
#define SLICE_CELL 16                  /* bytes of a cell, at most; of a text its length */
#define SLICE_BYTES ((size_t)8 << 20)  /* of appended rows that are added between two looks */
#define GROUP_HELD ((size_t)64 << 20)  /* bytes in memory that end a row group */
#define OUT_FIRST ((size_t)16 << 10)   /* room for a small file */
#define OUT_BYTES ((size_t)1 << 20)    /* that are written at once */
#define BUFFER_MAX ((size_t)256 << 20) /* of every buffer */
#define CREATED_BY "causeway version " CAUSEWAY_VERSION

enum { REQUIRED = 0, OPTIONAL = 1, PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum { INT32 = 1, INT64 = 2, BYTE_ARRAY = 6, FIXED_LEN_BYTE_ARRAY = 7 };
enum { /* ConvertedType */
       NO_ANNOTATION = -1,
       UTF8 = 0,
       DECIMAL = 5,
       DATE = 6,
       TIMESTAMP_MICROS = 10,
       UINT_8 = 11,
       INT_8 = 15
};

struct parquet_writer {
    int dir_fd, fd;
    char name[NAME_MAX + 1], temporary[NAME_MAX + 5];
    size_t group_rows_max;
    mcp_error failure; /* the first */

    struct packer packer;
    mcp_buf out;      /* bytes that follow the file's */
    uint64_t written; /* bytes of the file */
    size_t rows;      /* of the row groups that are complete */
    mcp_buf groups;   /* their description */
    size_t group_count;
    mcp_buf pairs; /* the key-value metadata */
    size_t pair_count;

    size_t group_rows; /* of the row group that is being filled */
    size_t chunk_count;
    struct chunk chunks[]; /* followed by their names */
};

/* How a type is stored: parquet.thrift, Type and ConvertedType. */
static const struct {
    int physical, converted;
    int bits; /* of LogicalType INTEGER; 0: none */
} stored[] = {
    [COLUMNS_BOOL] = { 0, NO_ANNOTATION, 0 },
    [COLUMNS_I8] = { 1, INT_8, 8 },
    [COLUMNS_I16] = { 1, INT_8 + 1, 16 },
    [COLUMNS_I32] = { 1, NO_ANNOTATION, 0 },
    [COLUMNS_I64] = { 2, NO_ANNOTATION, 0 },
    [COLUMNS_U8] = { 1, UINT_8, 8 },
    [COLUMNS_U16] = { 1, UINT_8 + 1, 16 },
    [COLUMNS_U32] = { 1, UINT_8 + 2, 32 },
    [COLUMNS_U64] = { 2, UINT_8 + 3, 64 },
    [COLUMNS_F32] = { 4, NO_ANNOTATION, 0 },
    [COLUMNS_F64] = { 5, NO_ANNOTATION, 0 },
    [COLUMNS_DATE] = { 1, DATE, 0 },
    [COLUMNS_TEXT] = { BYTE_ARRAY, UTF8, 0 },
    [COLUMNS_STRING] = { BYTE_ARRAY, UTF8, 0 },
    [COLUMNS_LABEL] = { BYTE_ARRAY, UTF8, 0 },
    [COLUMNS_BLOB] = { BYTE_ARRAY, NO_ANNOTATION, 0 },
    /* The old annotations mean UTC, so times of no zone have the new one only. */
    [COLUMNS_TIMESTAMP] = { INT64, NO_ANNOTATION, 0 },
    [COLUMNS_TIMESTAMP_UTC] = { INT64, TIMESTAMP_MICROS, 0 },
    [COLUMNS_TIME] = { INT64, NO_ANNOTATION, 0 },
    [COLUMNS_DECIMAL] = { FIXED_LEN_BYTE_ARRAY, DECIMAL, 0 },
};

static int physical_of(const struct chunk *chunk)
{
    if (chunk->type == COLUMNS_DECIMAL && chunk->width <= sizeof(int64_t))
        return chunk->width == sizeof(int32_t) ? INT32 : INT64;
    return stored[chunk->type].physical;
}

/* ---- bytes into the file --------------------------------------------------------------------- */

static mcp_status write_all(parquet_writer *self, const char *bytes, size_t length, mcp_error *err)
{
    while (length > 0) {
        ssize_t put = write(self->fd, bytes, length);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return mcp_error_set(err, MCP_E_IO, "'%.100s' cannot be written: %s", self->name,
                                 strerrordesc_np(put < 0 ? errno : ENOSPC));
        bytes += put;
        length -= (size_t)put;
        self->written += (size_t)put;
    }
    return MCP_OK;
}

/* Write what has gathered in `out` once it is `enough`. */
static mcp_status flush(parquet_writer *self, size_t enough, mcp_error *err)
{
    if (self->out.status != MCP_OK)
        return mcp_error_set(err, self->out.status, "no room for the bytes of '%.100s'",
                             self->name);
    if (self->out.length < enough)
        return MCP_OK;
    mcp_status st = write_all(self, self->out.data, self->out.length, err);
    mcp_buf_reset(&self->out);
    return st;
}

static int64_t position(const parquet_writer *self)
{
    return (int64_t)(self->written + self->out.length);
}

/* ---- a row group ----------------------------------------------------------------------------- */

static void describe_range(thrift *to, const statistics *range)
{
    char bound[STATISTICS_TEXT_MAX];
    size_t length = 0;

    thrift_begin(to, 12);
    thrift_i64(to, 3, range->null_count);
    if (statistics_max(range, bound, &length))
        thrift_binary(to, 5, bound, length);
    if (statistics_min(range, bound, &length))
        thrift_binary(to, 6, bound, length);
    thrift_end(to);
}

/* A ColumnChunk. */
static void describe_chunk(thrift *to, const struct chunk *chunk, int codec, int64_t begin,
                           int64_t end)
{
    thrift_item_begin(to);
    thrift_i64(to, 2, 0); /* deprecated; the format asks for 0 */
    thrift_begin(to, 3);
    thrift_i32(to, 1, physical_of(chunk));
    thrift_list(to, 2, THRIFT_I32, 1 + (size_t)chunk->is_nullable + (chunk->dictionary_page > 0));
    thrift_item_i32(to, PLAIN);
    if (chunk->is_nullable)
        thrift_item_i32(to, RLE);
    if (chunk->dictionary_page > 0)
        thrift_item_i32(to, RLE_DICTIONARY);
    thrift_list(to, 3, THRIFT_BINARY, 1);
    thrift_item_binary(to, chunk->name, strlen(chunk->name));
    thrift_i32(to, 4, chunk->is_packed ? codec : PACKER_NONE);
    thrift_i64(to, 5, (int64_t)chunk->rows);
    thrift_i64(to, 6, (int64_t)chunk->unpacked);
    thrift_i64(to, 7, end - begin);
    thrift_i64(to, 9, begin + (int64_t)chunk->dictionary_page);
    if (chunk->dictionary_page > 0)
        thrift_i64(to, 11, begin);
    describe_range(to, &chunk->range);
    thrift_end(to);
    thrift_end(to);
}

/* The full pages, which may be many, go to the file without a copy. */
static mcp_status write_chunk(parquet_writer *self, struct chunk *chunk, mcp_error *err)
{
    mcp_status st = chunk_finish_dictionary(chunk, &self->packer, &self->out, err);

    if (st == MCP_OK && chunk->pages.length > 0)
        st = flush(self, 1, err);
    if (st == MCP_OK && chunk->pages.length > 0)
        st = write_all(self, chunk->pages.data, chunk->pages.length, err);
    if (st == MCP_OK)
        st = chunk_finish(chunk, &self->packer, &self->out, err);
    return st == MCP_OK ? flush(self, OUT_BYTES, err) : st;
}

static mcp_status end_group(parquet_writer *self, mcp_error *err)
{
    thrift group = thrift_struct(&self->groups);
    int64_t first = position(self), unpacked = 0;
    mcp_status st = MCP_OK;

    if (self->group_rows == 0)
        return MCP_OK;
    thrift_list(&group, 1, THRIFT_STRUCT, self->chunk_count);
    for (size_t i = 0; i < self->chunk_count && st == MCP_OK; i++) {
        struct chunk *chunk = &self->chunks[i];
        int64_t begin = position(self);
        st = write_chunk(self, chunk, err);
        describe_chunk(&group, chunk, (int)self->packer.codec, begin, position(self));
        unpacked += (int64_t)chunk->unpacked;
        chunk_begin(chunk);
    }
    thrift_i64(&group, 2, unpacked);
    thrift_i64(&group, 3, (int64_t)self->group_rows);
    thrift_i64(&group, 5, first);
    thrift_i64(&group, 6, position(self) - first);
    thrift_end(&group);
    if (st == MCP_OK && self->groups.status != MCP_OK)
        st = mcp_error_set(err, self->groups.status, "no room for the footer of '%.100s'",
                           self->name);
    self->rows += self->group_rows;
    self->group_rows = 0;
    self->group_count++;
    return st;
}

/* ---- appending ------------------------------------------------------------------------------- */

static mcp_status check_column(const struct chunk *chunk, const columns_column *column, size_t rows,
                               mcp_error *err)
{
    if (column->type != chunk->type || strcmp(column->name, chunk->name) != 0)
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.100s' (%s) is not '%.100s' (%s)",
                             column->name, columns_type_name(column->type), chunk->name,
                             columns_type_name(chunk->type));
    if (rows > 0 && !column->values)
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.100s' has nothing to write",
                             column->name);
    if (rows > 0 && column->valid && !chunk->is_nullable && memchr(column->valid, 0, rows))
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.100s' has a null and is not nullable",
                             column->name);
    return MCP_OK;
}

static mcp_status check_batch(const parquet_writer *self, const columns_table *batch,
                              mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (batch->column_count != self->chunk_count)
        return mcp_error_set(err, MCP_E_PARAMS, "%zu columns for a file of %zu",
                             batch->column_count, self->chunk_count);
    for (size_t i = 0; i < self->chunk_count && st == MCP_OK; i++)
        st = check_column(&self->chunks[i], &batch->columns[i], batch->rows, err);
    return st;
}

/* Add the bytes of a row's text to `bytes`. */
static mcp_status measure_text(size_t *bytes, const columns_column *column, size_t row,
                               mcp_error *err)
{
    const char *text = ((const char *const *)column->values)[row];

    if (!text)
        return mcp_error_set(err, MCP_E_PARAMS, "column '%.100s' has no text in row %zu",
                             column->name, row);
    *bytes += strnlen(text, PARQUET_ROW_TEXT_MAX + 1);
    return MCP_OK;
}

/* Add the bytes of a row's texts to `bytes`. */
static mcp_status measure_texts(size_t *bytes, const columns_table *batch, size_t row,
                                mcp_error *err)
{
    size_t sum = 0;
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < batch->column_count && st == MCP_OK; i++) {
        const columns_column *column = &batch->columns[i];
        if (column->type == COLUMNS_TEXT && columns_is_valid(column, row))
            st = measure_text(&sum, column, row, err);
        if (column->type == COLUMNS_STRING || column->type == COLUMNS_BLOB) {
            const uint32_t *offsets = ((const columns_texts *)column->values)->offsets + row;
            sum += offsets[1] - offsets[0];
        }
        if (st == MCP_OK && sum > PARQUET_ROW_TEXT_MAX)
            st = mcp_error_set(err, MCP_E_LIMIT, "the texts of row %zu have more than %zu bytes",
                               row, PARQUET_ROW_TEXT_MAX);
    }
    *bytes += sum;
    return st;
}

static bool has_type(const columns_table *batch, columns_type type)
{
    for (size_t i = 0; i < batch->column_count; i++)
        if (batch->columns[i].type == type)
            return true;
    return false;
}

/* The bytes of all strings of some rows. */
static size_t measure_strings(const columns_table *batch, size_t first, size_t rows)
{
    size_t bytes = 0;

    for (size_t i = 0; i < batch->column_count; i++) {
        const columns_column *column = &batch->columns[i];
        if (column->type != COLUMNS_STRING && column->type != COLUMNS_BLOB)
            continue;
        const uint32_t *offsets = ((const columns_texts *)column->values)->offsets;
        bytes += offsets[first + rows] - offsets[first];
    }
    return bytes;
}

/* The rows that are added next: what the row group lacks, and of a bounded size. */
static mcp_status next_slice(size_t *rows, const parquet_writer *self, const columns_table *batch,
                             size_t first, mcp_error *err)
{
    size_t most = batch->rows - first, bytes = 0, i = 0;
    size_t fitting = SLICE_BYTES / (self->chunk_count * SLICE_CELL);
    mcp_status st = MCP_OK;

    if (most > self->group_rows_max - self->group_rows)
        most = self->group_rows_max - self->group_rows;
    if (most > fitting)
        most = fitting;
    while (most > 1 && measure_strings(batch, first, most) > SLICE_BYTES)
        most /= 2;
    if (has_type(batch, COLUMNS_TEXT) || most == 1) {
        for (; i < most && bytes < SLICE_BYTES && st == MCP_OK; i++)
            st = measure_texts(&bytes, batch, first + i, err);
        most = i;
    }
    *rows = most;
    return st;
}

static mcp_status add_slice(parquet_writer *self, const columns_table *batch, size_t first,
                            size_t rows, mcp_error *err)
{
    mcp_status st = MCP_OK;
    size_t held = 0;
    bool is_full = false;

    for (size_t i = 0; i < self->chunk_count && st == MCP_OK; i++) {
        struct chunk *chunk = &self->chunks[i];
        st = chunk_add(chunk, &self->packer, &batch->columns[i], first, rows, err);
        held += chunk_held(chunk);
        is_full = is_full || chunk->labels >= CHUNK_LABELS_MAX;
    }
    self->group_rows += rows;
    is_full = is_full || self->group_rows >= self->group_rows_max || held >= GROUP_HELD;
    if (st == MCP_OK && is_full)
        st = end_group(self, err);
    return st;
}

static mcp_status say_failure(const parquet_writer *self, mcp_error *err)
{
    if (err && self->failure.status != MCP_OK)
        *err = self->failure;
    return self->failure.status;
}

mcp_status parquet_writer_append(parquet_writer *self, const columns_table *batch, mcp_error *err)
{
    mcp_error *failure = &self->failure;
    size_t rows = 0;

    if (failure->status == MCP_OK)
        check_batch(self, batch, failure);
    for (size_t first = 0; first < batch->rows && failure->status == MCP_OK; first += rows) {
        next_slice(&rows, self, batch, first, failure);
        if (failure->status == MCP_OK)
            add_slice(self, batch, first, rows, failure);
    }
    return say_failure(self, err);
}

/* ---- the footer ------------------------------------------------------------------------------ */

/* An empty struct: a member of a union that says no more than which it is. */
static void describe_choice(thrift *to, int16_t which)
{
    thrift_begin(to, which);
    thrift_end(to);
}

/* A TimeType or a TimestampType, in microseconds. */
static void describe_time(thrift *to, int16_t which, bool is_utc)
{
    thrift_begin(to, which);
    thrift_bool(to, 1, is_utc);
    thrift_begin(to, 2);
    describe_choice(to, 2);
    thrift_end(to);
    thrift_end(to);
}

static void describe_decimal(thrift *to, const struct chunk *chunk)
{
    thrift_begin(to, 5);
    thrift_i32(to, 1, chunk->scale);
    thrift_i32(to, 2, chunk->precision);
    thrift_end(to);
}

static void describe_integer(thrift *to, columns_type type)
{
    thrift_begin(to, 10);
    thrift_i8(to, 1, (int8_t)stored[type].bits);
    thrift_bool(to, 2, stored[type].converted >= INT_8);
    thrift_end(to);
}

static bool has_logical_type(columns_type type)
{
    return stored[type].converted != NO_ANNOTATION || type == COLUMNS_TIMESTAMP ||
           type == COLUMNS_TIME;
}

static void describe_logical_type(thrift *to, const struct chunk *chunk)
{
    columns_type type = chunk->type;

    if (!has_logical_type(type))
        return;
    thrift_begin(to, 10);
    if (stored[type].converted == UTF8)
        describe_choice(to, 1);
    else if (type == COLUMNS_DATE)
        describe_choice(to, 6);
    else if (type == COLUMNS_DECIMAL)
        describe_decimal(to, chunk);
    else if (type == COLUMNS_TIME)
        describe_time(to, 7, false);
    else if (type == COLUMNS_TIMESTAMP || type == COLUMNS_TIMESTAMP_UTC)
        describe_time(to, 8, type == COLUMNS_TIMESTAMP_UTC);
    else
        describe_integer(to, type);
    thrift_end(to);
}

static void describe_column(thrift *to, const struct chunk *chunk)
{
    int physical = physical_of(chunk);

    thrift_item_begin(to);
    thrift_i32(to, 1, physical);
    if (physical == FIXED_LEN_BYTE_ARRAY)
        thrift_i32(to, 2, (int32_t)chunk->width);
    thrift_i32(to, 3, chunk->is_nullable ? OPTIONAL : REQUIRED);
    thrift_binary(to, 4, chunk->name, strlen(chunk->name));
    if (stored[chunk->type].converted != NO_ANNOTATION)
        thrift_i32(to, 6, stored[chunk->type].converted);
    if (chunk->type == COLUMNS_DECIMAL) {
        thrift_i32(to, 7, chunk->scale);
        thrift_i32(to, 8, chunk->precision);
    }
    describe_logical_type(to, chunk);
    thrift_end(to);
}

/* The SchemaElements: the root, then the columns. */
static void describe_schema(thrift *to, const parquet_writer *self)
{
    thrift_list(to, 2, THRIFT_STRUCT, self->chunk_count + 1);
    thrift_item_begin(to);
    thrift_binary(to, 4, "schema", strlen("schema"));
    thrift_i32(to, 5, (int32_t)self->chunk_count);
    thrift_end(to);
    for (size_t i = 0; i < self->chunk_count; i++)
        describe_column(to, &self->chunks[i]);
}

static void describe_pairs(parquet_writer *self, const parquet_options *options)
{
    for (size_t i = 0; i < options->metadata_count; i++) {
        const parquet_pair *pair = &options->metadata[i];
        thrift to = thrift_struct(&self->pairs);
        thrift_binary(&to, 1, pair->key, strlen(pair->key));
        if (pair->value)
            thrift_binary(&to, 2, pair->value, strlen(pair->value));
        thrift_end(&to);
    }
    self->pair_count = options->metadata_count;
}

/* The statistics are in the order that the type defines: ColumnOrder's TYPE_ORDER. */
static void describe_orders(thrift *to, size_t count)
{
    thrift_list(to, 7, THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        thrift_item_begin(to);
        describe_choice(to, 1);
        thrift_end(to);
    }
}

/* The FileMetaData, its length and the magic. */
static mcp_status write_footer(parquet_writer *self, mcp_error *err)
{
    int64_t begin = position(self);
    thrift to = thrift_struct(&self->out);

    thrift_i32(&to, 1, 1);
    describe_schema(&to, self);
    thrift_i64(&to, 3, (int64_t)self->rows);
    thrift_list(&to, 4, THRIFT_STRUCT, self->group_count);
    if (self->groups.length > 0)
        mcp_buf_append(&self->out, self->groups.data, self->groups.length);
    if (self->pair_count > 0) {
        thrift_list(&to, 5, THRIFT_STRUCT, self->pair_count);
        mcp_buf_append(&self->out, self->pairs.data, self->pairs.length);
    }
    thrift_binary(&to, 6, CREATED_BY, strlen(CREATED_BY));
    describe_orders(&to, self->chunk_count);
    thrift_end(&to);
    uint32_t length = (uint32_t)(position(self) - begin);
    mcp_buf_append(&self->out, &length, sizeof length);
    mcp_buf_puts(&self->out, "PAR1");
    return flush(self, 1, err);
}

/* ---- from open to close ---------------------------------------------------------------------- */

static bool is_writable(columns_type type, bool is_parquet)
{
    return type < COLUMNS_OTHER || (is_parquet && type != COLUMNS_OTHER && type != COLUMNS_JSON);
}

mcp_status parquet_check_columns(const parquet_column *schema, size_t count, bool is_parquet,
                                 size_t *name_bytes, mcp_error *err)
{
    if (count == 0 || count > PARQUET_COLUMNS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a table has 1 to %d columns", PARQUET_COLUMNS_MAX);
    *name_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        const char *name = schema[i].name;
        if (!is_writable(schema[i].type, is_parquet))
            return mcp_error_set(err, MCP_E_PARAMS, "column '%.100s' has nothing to write", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(schema[k].name, name) == 0)
                return mcp_error_set(err, MCP_E_PARAMS, "column name '%.100s' comes twice", name);
        if (name[0] == '\0')
            return mcp_error_set(err, MCP_E_PARAMS, "the name of column %zu is empty", i);
        *name_bytes += strnlen(name, PARQUET_NAMES_MAX) + 1;
        if (*name_bytes > PARQUET_NAMES_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "the column names have more than %zu bytes",
                                 PARQUET_NAMES_MAX);
    }
    return MCP_OK;
}

/* The size of a value in the physical type; of a boolean before it is packed; 0: of texts, and of
 * decimals until their precision is known. */
static size_t plain_width(columns_type type)
{
    size_t size = columns_type_size(type);

    if (type == COLUMNS_TEXT || type == COLUMNS_DECIMAL || size == 0)
        return 0;
    return type == COLUMNS_BOOL ? 1 : size < sizeof(int32_t) ? sizeof(int32_t) : size;
}

/* The memory of a writer and its buffers; no file yet. */
static parquet_writer *writer_new(const parquet_column *schema, size_t count, size_t name_bytes)
{
    size_t size = sizeof(parquet_writer) + count * sizeof(struct chunk);
    parquet_writer *self = mcp_alloc_zeroed(1, size + name_bytes);

    if (!self)
        return NULL;
    char *names = (char *)self + size;
    self->fd = -1;
    self->chunk_count = count;
    self->failure = (mcp_error)MCP_ERROR_INIT;
    mcp_buf_init(&self->out, BUFFER_MAX);
    mcp_buf_init(&self->groups, BUFFER_MAX);
    mcp_buf_init(&self->pairs, PARQUET_METADATA_MAX);
    for (size_t i = 0; i < count; i++) {
        struct chunk *chunk = &self->chunks[i];
        chunk->name = names;
        chunk->type = schema[i].type;
        chunk->is_nullable = schema[i].is_nullable;
        chunk->size = columns_type_size(chunk->type);
        chunk->width = plain_width(chunk->type);
        names = stpcpy(names, schema[i].name) + 1;
        mcp_buf_init(&chunk->values, BUFFER_MAX);
        mcp_buf_init(&chunk->valid, BUFFER_MAX);
        mcp_buf_init(&chunk->pages, BUFFER_MAX);
        dictionary_init(&chunk->dictionary);
    }
    return self;
}

static void writer_free(parquet_writer *self)
{
    if (self->fd >= 0) {
        close(self->fd);
        unlinkat(self->dir_fd, self->temporary, 0);
    }
    packer_close(&self->packer);
    for (size_t i = 0; i < self->chunk_count; i++)
        chunk_clear(&self->chunks[i]);
    mcp_buf_clear(&self->out);
    mcp_buf_clear(&self->groups);
    mcp_buf_clear(&self->pairs);
    free(self);
}

static mcp_status take_decimals(parquet_writer *self, const parquet_decimal *decimals,
                                mcp_error *err)
{
    static const parquet_decimal none;

    for (size_t i = 0; i < self->chunk_count; i++) {
        struct chunk *chunk = &self->chunks[i];
        if (chunk->type == COLUMNS_DECIMAL) {
            const parquet_decimal *type = decimals ? &decimals[i] : &none;
            if (type->precision < 1 || type->precision > PARQUET_PRECISION_MAX ||
                type->scale > type->precision)
                return mcp_error_set(err, MCP_E_PARAMS,
                                     "column '%.100s': there is no decimal(%u, %u)", chunk->name,
                                     type->precision, type->scale);
            chunk->precision = type->precision;
            chunk->scale = type->scale;
            chunk->width = chunk_decimal_width(type->precision);
        }
        chunk_begin(chunk);
    }
    return MCP_OK;
}

static mcp_status take_options(parquet_writer *self, const parquet_options *options, mcp_error *err)
{
    static const enum packer_codec codecs[] = { [PARQUET_ZSTD] = PACKER_ZSTD,
                                                [PARQUET_UNCOMPRESSED] = PACKER_NONE,
                                                [PARQUET_SNAPPY] = PACKER_SNAPPY };
    int level = options->level == 0 ? LEVEL : options->level;
    mcp_status st = packer_open(&self->packer, codecs[options->codec], level, err);

    if (st == MCP_OK)
        st = take_decimals(self, options->decimals, err);
    self->group_rows_max = options->row_group_rows ? options->row_group_rows : ROW_GROUP_ROWS;
    describe_pairs(self, options);
    mcp_buf_reserve(&self->out, OUT_FIRST);
    mcp_buf_puts(&self->out, "PAR1");
    if (st == MCP_OK && self->pairs.status != MCP_OK)
        st = mcp_error_set(err, self->pairs.status,
                           "no room for the metadata of a file, at most %zu bytes",
                           PARQUET_METADATA_MAX);
    if (st == MCP_OK && self->out.status != MCP_OK)
        st = mcp_error_set(err, self->out.status, "no memory for a Parquet file");
    return st;
}

static mcp_status create_file(parquet_writer *self, int dir_fd, const char *name, mcp_error *err)
{
    int length = snprintf(self->name, sizeof self->name, "%s", name);

    if (length < 0 || (size_t)length >= sizeof self->name)
        return mcp_error_set(err, MCP_E_PARAMS, "the file name is too long");
    snprintf(self->temporary, sizeof self->temporary, "%s.tmp", name);
    self->dir_fd = dir_fd;
    return guard_create(&self->fd, dir_fd, self->temporary, err);
}

mcp_status parquet_writer_open(parquet_writer **out, int dir_fd, const char *name,
                               const parquet_column *schema, size_t count,
                               const parquet_options *options, mcp_error *err)
{
    static const parquet_options defaults = { 0 };
    size_t name_bytes = 0;
    mcp_status st = parquet_check_columns(schema, count, true, &name_bytes, err);

    if (st != MCP_OK)
        return st;
    parquet_writer *self = writer_new(schema, count, name_bytes);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a Parquet file");
    st = take_options(self, options ? options : &defaults, err);
    if (st == MCP_OK)
        st = create_file(self, dir_fd, name, err);
    if (st == MCP_OK)
        *out = self;
    else
        writer_free(self);
    return st;
}

/* Close the file, which may say that it was not written. With `is_durable` the disk has it then. */
static mcp_status close_file(parquet_writer *self, bool is_durable, mcp_error *err)
{
    bool is_synced = !is_durable || fsync(self->fd) == 0;
    int why = errno;
    bool is_closed = close(self->fd) == 0;

    self->fd = -1;
    if (is_synced && is_closed)
        return MCP_OK;
    mcp_error_set(err, MCP_E_IO, "'%.100s' cannot be written: %s", self->name,
                  strerrordesc_np(is_synced ? errno : why));
    unlinkat(self->dir_fd, self->temporary, 0);
    return MCP_E_IO;
}

static mcp_status put_in_place(parquet_writer *self, mcp_error *err)
{
    mcp_status st = close_file(self, false, err);

    if (st != MCP_OK)
        return st;
    st = guard_replace(self->dir_fd, self->temporary, self->name, err);
    if (st != MCP_OK)
        unlinkat(self->dir_fd, self->temporary, 0);
    return st;
}

/* Complete the file and close it, under its temporary name if it is staged. */
static mcp_status end_file(parquet_writer *self, bool is_staged, mcp_error *err)
{
    mcp_error *failure = &self->failure;

    if (failure->status == MCP_OK)
        end_group(self, failure);
    if (failure->status == MCP_OK)
        write_footer(self, failure);
    if (failure->status == MCP_OK && is_staged)
        close_file(self, true, failure);
    else if (failure->status == MCP_OK)
        put_in_place(self, failure);
    mcp_status st = say_failure(self, err);
    writer_free(self);
    return st;
}

mcp_status parquet_writer_close(parquet_writer *self, mcp_error *err)
{
    return end_file(self, false, err);
}

mcp_status parquet_writer_finish(parquet_writer *self, mcp_error *err)
{
    return end_file(self, true, err);
}

void parquet_writer_abort(parquet_writer *self)
{
    if (self)
        writer_free(self);
}
