/*
 * arrow.c - an Arrow IPC file from its magic to its footer.
 *
 * A message is the marker 0xFFFFFFFF, the length of its metadata, the metadata (a FlatBuffer
 * Message, padded), and its body: the buffers of the columns, one after the other. The first
 * message is the schema, each other one a record batch; the footer repeats the schema and lists
 * where the batches are. Everything begins at a multiple of 8 bytes.
 *
 * A message is put together in `out` and written at once.
 */
#include "columns/arrow.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flat/builder.h"
#include "guard/paths.h"
#include "mcp/alloc.h"

#define MAGIC "ARROW1"
#define BUFFER_MAX ((size_t)1 << 30) /* of a message */
#define BLOCKS_MAX ((size_t)64 << 20)
#define BUFFERS_A_COLUMN 3 /* at most: validity, offsets, values */

struct arrow_writer {
    int dir_fd, fd;
    char name[NAME_MAX + 1], temporary[NAME_MAX + 5];
    mcp_error failure; /* the first */
    mcp_buf out;       /* the message that is put together */
    uint64_t written;  /* bytes of the file */
    mcp_buf blocks;    /* struct block after struct block: where the batches are */
    size_t column_count;
    parquet_column columns[]; /* followed by their names */
};

/* ---- the tables of Schema.fbs, Message.fbs and File.fbs -------------------------------------- */

/* What nobody here needs is FLAT_UNUSED. */
enum { MESSAGE_VERSION, MESSAGE_HEADER_TYPE, MESSAGE_HEADER, MESSAGE_BODY_LENGTH };
static const flat_field message_fields[] = { { "version", FLAT_I16 },
                                             { "header_type", FLAT_U8 },
                                             { "header", FLAT_REF },
                                             { "bodyLength", FLAT_I64 } };
static const flat_layout message_layout = { "Message", message_fields, 4 };

enum { SCHEMA_ENDIANNESS, SCHEMA_FIELDS };
static const flat_field schema_fields[] = { { "endianness", FLAT_I16 }, { "fields", FLAT_REF } };
static const flat_layout schema_layout = { "Schema", schema_fields, 2 };

enum { FIELD_NAME, FIELD_NULLABLE, FIELD_TYPE_TYPE, FIELD_TYPE, FIELD_DICTIONARY, FIELD_CHILDREN };
static const flat_field field_fields[] = {
    { "name", FLAT_REF }, { "nullable", FLAT_U8 },       { "type_type", FLAT_U8 },
    { "type", FLAT_REF }, { "dictionary", FLAT_UNUSED }, { "children", FLAT_REF },
};
static const flat_layout field_layout = { "Field", field_fields, 6 };

enum { INT_BITS, INT_IS_SIGNED };
static const flat_field int_fields[] = { { "bitWidth", FLAT_I32 }, { "is_signed", FLAT_U8 } };
static const flat_layout int_layout = { "Int", int_fields, 2 };

/* FloatingPoint and Date: one enum. */
static const flat_field unit_fields[] = { { "precision or unit", FLAT_I16 } };
static const flat_layout unit_layout = { "FloatingPoint or Date", unit_fields, 1 };
static const flat_layout empty_layout = { "Utf8 or Bool", NULL, 0 };

enum { BATCH_LENGTH, BATCH_NODES, BATCH_BUFFERS };
static const flat_field batch_fields[] = { { "length", FLAT_I64 },
                                           { "nodes", FLAT_REF },
                                           { "buffers", FLAT_REF } };
static const flat_layout batch_layout = { "RecordBatch", batch_fields, 3 };

enum { FOOTER_VERSION, FOOTER_SCHEMA, FOOTER_DICTIONARIES, FOOTER_BATCHES };
static const flat_field footer_fields[] = { { "version", FLAT_I16 },
                                            { "schema", FLAT_REF },
                                            { "dictionaries", FLAT_REF },
                                            { "recordBatches", FLAT_REF } };
static const flat_layout footer_layout = { "Footer", footer_fields, 4 };

enum { VERSION_5 = 4, HEADER_SCHEMA = 1, HEADER_BATCH = 3 };
enum { TYPE_INT = 2, TYPE_FLOAT = 3, TYPE_UTF8 = 5, TYPE_BOOL = 6, TYPE_DATE = 8 };
enum { SINGLE = 1, DOUBLE = 2, DAY = 0 };

struct node {
    int64_t length, null_count;
};

struct buffer {
    int64_t offset, length; /* in the body */
};

struct block {
    int64_t offset;
    int32_t metadata_length, padding;
    int64_t body_length;
};

/* ---- the schema ------------------------------------------------------------------------------ */

/* How a type is described: the union's number; the bits and sign of an Int, or the enum. */
static const struct {
    uint8_t union_type;
    int16_t bits_or_unit;
    bool is_signed;
} types[] = {
    [COLUMNS_BOOL] = { TYPE_BOOL, 0, false },     [COLUMNS_I8] = { TYPE_INT, 8, true },
    [COLUMNS_I16] = { TYPE_INT, 16, true },       [COLUMNS_I32] = { TYPE_INT, 32, true },
    [COLUMNS_I64] = { TYPE_INT, 64, true },       [COLUMNS_U8] = { TYPE_INT, 8, false },
    [COLUMNS_U16] = { TYPE_INT, 16, false },      [COLUMNS_U32] = { TYPE_INT, 32, false },
    [COLUMNS_U64] = { TYPE_INT, 64, false },      [COLUMNS_F32] = { TYPE_FLOAT, SINGLE, true },
    [COLUMNS_F64] = { TYPE_FLOAT, DOUBLE, true }, [COLUMNS_DATE] = { TYPE_DATE, DAY, true },
    [COLUMNS_TEXT] = { TYPE_UTF8, 0, false },
};

static void add_type(flat_builder *to, uint32_t place, columns_type type)
{
    uint8_t union_type = types[type].union_type;

    if (union_type == TYPE_INT) {
        flat_table table = flat_add_table(to, place, &int_layout);
        flat_put_i32(to, &table, INT_BITS, types[type].bits_or_unit);
        flat_put_u8(to, &table, INT_IS_SIGNED, types[type].is_signed);
    } else if (union_type == TYPE_FLOAT || union_type == TYPE_DATE) {
        flat_table table = flat_add_table(to, place, &unit_layout);
        flat_put_i16(to, &table, 0, types[type].bits_or_unit);
    } else {
        flat_add_table(to, place, &empty_layout);
    }
}

static void add_schema(flat_builder *to, uint32_t place, const arrow_writer *self)
{
    flat_table schema = flat_add_table(to, place, &schema_layout);
    uint32_t fields = flat_add_references(to, flat_at(&schema, SCHEMA_FIELDS), self->column_count);

    for (size_t i = 0; i < self->column_count; i++) {
        const parquet_column *column = &self->columns[i];
        flat_table field = flat_add_table(to, flat_item(fields, i), &field_layout);
        flat_put_u8(to, &field, FIELD_NULLABLE, column->is_nullable);
        flat_put_u8(to, &field, FIELD_TYPE_TYPE, types[column->type].union_type);
        flat_add_text(to, flat_at(&field, FIELD_NAME), column->name);
        add_type(to, flat_at(&field, FIELD_TYPE), column->type);
        flat_add_references(to, flat_at(&field, FIELD_CHILDREN), 0);
    }
}

/* ---- bytes into the file --------------------------------------------------------------------- */

static void pad_to_8(mcp_buf *to)
{
    static const char zeros[8];

    mcp_buf_append(to, zeros, (8 - to->length % 8) % 8);
}

/* Write what is in `out`. */
static mcp_status flush(arrow_writer *self, mcp_error *err)
{
    const char *bytes = self->out.data;
    size_t length = self->out.length;

    if (self->out.status != MCP_OK)
        return mcp_error_set(err, self->out.status, "no room for a batch of '%.100s'", self->name);
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
    mcp_buf_reset(&self->out);
    return MCP_OK;
}

/* Begin a message in `out`, which is empty: the marker, room for the length, the Message. */
static flat_table begin_message(flat_builder *to, arrow_writer *self, uint8_t header_type,
                                int64_t body_length)
{
    static const uint32_t prefix[2] = { UINT32_MAX, 0 };

    mcp_buf_append(&self->out, prefix, sizeof prefix);
    flat_builder_begin(to, &self->out);
    flat_table message = flat_add_table(to, FLAT_ROOT, &message_layout);
    flat_put_i16(to, &message, MESSAGE_VERSION, VERSION_5);
    flat_put_u8(to, &message, MESSAGE_HEADER_TYPE, header_type);
    flat_put_i64(to, &message, MESSAGE_BODY_LENGTH, body_length);
    return message;
}

/* End its metadata. @return the length of all before the body */
static size_t end_metadata(arrow_writer *self)
{
    mcp_buf *out = &self->out;

    pad_to_8(out);
    uint32_t length = (uint32_t)(out->length - 8);
    if (out->status == MCP_OK)
        memcpy(out->data + 4, &length, sizeof length);
    return out->length;
}

static mcp_status write_schema(arrow_writer *self, mcp_error *err)
{
    flat_builder to;

    mcp_buf_append(&self->out, MAGIC "\0", 8);
    mcp_status st = flush(self, err);
    if (st != MCP_OK)
        return st;
    flat_table message = begin_message(&to, self, HEADER_SCHEMA, 0);
    add_schema(&to, flat_at(&message, MESSAGE_HEADER), self);
    end_metadata(self);
    return flush(self, err);
}

/* ---- a record batch -------------------------------------------------------------------------- */

static const char *text_at(const columns_column *column, size_t row)
{
    const char *text = ((const char *const *)column->values)[row];

    return columns_is_valid(column, row) && text ? text : "";
}

static size_t count_nulls(const columns_column *column, size_t first, size_t rows)
{
    size_t nulls = 0;

    for (size_t i = 0; column->valid && i < rows; i++)
        nulls += !column->valid[first + i];
    return nulls;
}

static size_t value_bytes(const columns_column *column, size_t first, size_t rows)
{
    size_t bytes = 0;

    if (column->type == COLUMNS_BOOL)
        return (rows + 7) / 8;
    if (column->type != COLUMNS_TEXT)
        return rows * columns_type_size(column->type);
    for (size_t i = 0; i < rows; i++)
        bytes += strlen(text_at(column, first + i));
    return bytes;
}

/* Describe a buffer that begins at `at`. @return where the next one begins */
static int64_t place_buffer(struct buffer *out, int64_t at, size_t length)
{
    *out = (struct buffer){ at, (int64_t)length };
    return at + (int64_t)((length + 7) / 8 * 8);
}

/* Describe the rows of all columns. @return the length of the body; the buffers' number */
static int64_t lay_out(struct node *nodes, struct buffer *buffers, size_t *buffer_count,
                       const columns_table *batch, size_t first, size_t rows)
{
    int64_t at = 0;
    size_t n = 0;

    for (size_t i = 0; i < batch->column_count; i++) {
        const columns_column *column = &batch->columns[i];
        size_t nulls = count_nulls(column, first, rows);
        nodes[i] = (struct node){ (int64_t)rows, (int64_t)nulls };
        at = place_buffer(&buffers[n++], at, nulls > 0 ? (rows + 7) / 8 : 0);
        if (column->type == COLUMNS_TEXT)
            at = place_buffer(&buffers[n++], at, (rows + 1) * sizeof(int32_t));
        at = place_buffer(&buffers[n++], at, value_bytes(column, first, rows));
    }
    *buffer_count = n;
    return at;
}

/* One bit a byte of `from`, which is 0 or 1; the first is the lowest. */
static void append_bits(mcp_buf *to, const uint8_t *from, size_t rows)
{
    size_t length = (rows + 7) / 8;
    char *bits = mcp_buf_reserve(to, length);

    if (!bits)
        return;
    memset(bits, 0, length);
    for (size_t i = 0; i < rows; i++)
        bits[i / 8] = (char)(bits[i / 8] | (from[i] != 0) << i % 8);
    mcp_buf_commit(to, length);
    pad_to_8(to);
}

static void append_texts(mcp_buf *to, const columns_column *column, size_t first, size_t rows)
{
    int32_t end = 0;

    mcp_buf_append(to, &end, sizeof end);
    for (size_t i = 0; i < rows; i++) {
        end += (int32_t)strlen(text_at(column, first + i));
        mcp_buf_append(to, &end, sizeof end);
    }
    pad_to_8(to);
    for (size_t i = 0; i < rows; i++)
        mcp_buf_puts(to, text_at(column, first + i));
    pad_to_8(to);
}

static void append_column(mcp_buf *to, const columns_column *column, size_t first, size_t rows)
{
    size_t size = columns_type_size(column->type);

    if (count_nulls(column, first, rows) > 0)
        append_bits(to, column->valid + first, rows);
    if (column->type == COLUMNS_BOOL) {
        append_bits(to, (const uint8_t *)column->values + first, rows);
    } else if (column->type == COLUMNS_TEXT) {
        append_texts(to, column, first, rows);
    } else {
        mcp_buf_append(to, (const char *)column->values + first * size, rows * size);
        pad_to_8(to);
    }
}

static void copy_structs(flat_builder *to, uint32_t place, const void *from, size_t count,
                         size_t size)
{
    void *room = flat_add_vector(to, place, count, size, 8);

    if (room)
        memcpy(room, from, count * size);
}

static mcp_status write_rows(arrow_writer *self, const columns_table *batch, size_t first,
                             size_t rows, mcp_error *err)
{
    struct node nodes[PARQUET_COLUMNS_MAX];
    struct buffer buffers[BUFFERS_A_COLUMN * PARQUET_COLUMNS_MAX];
    struct block block = { .offset = (int64_t)self->written };
    size_t count = 0;
    flat_builder to;

    block.body_length = lay_out(nodes, buffers, &count, batch, first, rows);
    flat_table message = begin_message(&to, self, HEADER_BATCH, block.body_length);
    flat_table header = flat_add_table(&to, flat_at(&message, MESSAGE_HEADER), &batch_layout);
    flat_put_i64(&to, &header, BATCH_LENGTH, (int64_t)rows);
    copy_structs(&to, flat_at(&header, BATCH_NODES), nodes, self->column_count, sizeof *nodes);
    copy_structs(&to, flat_at(&header, BATCH_BUFFERS), buffers, count, sizeof *buffers);
    block.metadata_length = (int32_t)end_metadata(self);
    for (size_t i = 0; i < self->column_count; i++)
        append_column(&self->out, &batch->columns[i], first, rows);
    if (mcp_buf_append(&self->blocks, &block, sizeof block) != MCP_OK)
        return mcp_error_set(err, self->blocks.status, "'%.100s' has too many batches", self->name);
    return flush(self, err);
}

/* ---- what may be appended -------------------------------------------------------------------- */

static mcp_status check_batch(const arrow_writer *self, const columns_table *batch, mcp_error *err)
{
    if (batch->column_count != self->column_count)
        return mcp_error_set(err, MCP_E_PARAMS, "%zu columns for a file of %zu",
                             batch->column_count, self->column_count);
    for (size_t i = 0; i < self->column_count; i++) {
        const parquet_column *wanted = &self->columns[i];
        const columns_column *column = &batch->columns[i];
        if (column->type != wanted->type || strcmp(column->name, wanted->name) != 0)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "column %zu is '%.100s' of %s instead of '%.100s' of %s", i,
                                 column->name, columns_type_name(column->type), wanted->name,
                                 columns_type_name(wanted->type));
        if (!wanted->is_nullable && count_nulls(column, 0, batch->rows) > 0)
            return mcp_error_set(err, MCP_E_PARAMS,
                                 "column '%.100s' has a null and is not nullable", wanted->name);
    }
    return MCP_OK;
}

/* The bytes that a row takes, about. MCP_E_LIMIT: its texts are too long. */
static mcp_status measure_row(size_t *bytes, const columns_table *batch, size_t row, mcp_error *err)
{
    size_t sum = 0;

    for (size_t i = 0; i < batch->column_count; i++) {
        const columns_column *column = &batch->columns[i];
        sum += sizeof(int64_t);
        if (column->type == COLUMNS_TEXT)
            sum += strnlen(text_at(column, row), ARROW_ROW_TEXT_MAX + 1);
        if (sum > ARROW_ROW_TEXT_MAX)
            return mcp_error_set(err, MCP_E_LIMIT, "the texts of row %zu have more than %zu bytes",
                                 row, ARROW_ROW_TEXT_MAX);
    }
    *bytes += sum;
    return MCP_OK;
}

/* The rows of the next record batch. */
static mcp_status next_rows(size_t *rows, const columns_table *batch, size_t first, mcp_error *err)
{
    size_t most = batch->rows - first, bytes = 0, i = 0;
    mcp_status st = MCP_OK;

    if (most > ARROW_BATCH_ROWS)
        most = ARROW_BATCH_ROWS;
    for (; i < most && bytes < ARROW_BATCH_BYTES && st == MCP_OK; i++)
        st = measure_row(&bytes, batch, first + i, err);
    *rows = i;
    return st;
}

mcp_status arrow_writer_append(arrow_writer *self, const columns_table *batch, mcp_error *err)
{
    mcp_error *failure = &self->failure;
    size_t rows = 0;

    if (failure->status == MCP_OK)
        check_batch(self, batch, failure);
    for (size_t first = 0; first < batch->rows && failure->status == MCP_OK; first += rows) {
        next_rows(&rows, batch, first, failure);
        if (failure->status == MCP_OK)
            write_rows(self, batch, first, rows, failure);
    }
    if (err && failure->status != MCP_OK)
        *err = *failure;
    return failure->status;
}

/* ---- from open to close ---------------------------------------------------------------------- */

static mcp_status write_footer(arrow_writer *self, mcp_error *err)
{
    static const uint32_t end_of_stream[2] = { UINT32_MAX, 0 };
    size_t batches = self->blocks.length / sizeof(struct block);
    flat_builder to;

    mcp_buf_append(&self->out, end_of_stream, sizeof end_of_stream);
    flat_builder_begin(&to, &self->out);
    flat_table footer = flat_add_table(&to, FLAT_ROOT, &footer_layout);
    flat_put_i16(&to, &footer, FOOTER_VERSION, VERSION_5);
    add_schema(&to, flat_at(&footer, FOOTER_SCHEMA), self);
    copy_structs(&to, flat_at(&footer, FOOTER_DICTIONARIES), NULL, 0, sizeof(struct block));
    copy_structs(&to, flat_at(&footer, FOOTER_BATCHES), self->blocks.data, batches,
                 sizeof(struct block));
    uint32_t length = (uint32_t)(self->out.length - sizeof end_of_stream);
    mcp_buf_append(&self->out, &length, sizeof length);
    mcp_buf_puts(&self->out, MAGIC);
    return flush(self, err);
}

static void writer_free(arrow_writer *self)
{
    if (self->fd >= 0)
        close(self->fd);
    mcp_buf_clear(&self->out);
    mcp_buf_clear(&self->blocks);
    free(self);
}

static arrow_writer *writer_new(const parquet_column *schema, size_t count, size_t name_bytes)
{
    arrow_writer *self = mcp_alloc_zeroed(1, sizeof *self + count * sizeof *self->columns +
                                                 name_bytes);

    if (!self)
        return NULL;
    char *names = (char *)(self->columns + count);
    self->fd = -1;
    self->failure = (mcp_error)MCP_ERROR_INIT;
    self->column_count = count;
    mcp_buf_init(&self->out, BUFFER_MAX);
    mcp_buf_init(&self->blocks, BLOCKS_MAX);
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(schema[i].name) + 1;
        self->columns[i] = schema[i];
        self->columns[i].name = memcpy(names, schema[i].name, length);
        names += length;
    }
    return self;
}

mcp_status arrow_writer_open(arrow_writer **out, int dir_fd, const char *name,
                             const parquet_column *schema, size_t count, mcp_error *err)
{
    size_t name_bytes = 0;
    mcp_status st = parquet_check_columns(schema, count, false, &name_bytes, err);

    if (st != MCP_OK)
        return st;
    if (strnlen(name, NAME_MAX) > NAME_MAX - strlen(".tmp"))
        return mcp_error_set(err, MCP_E_PARAMS, "the file name is too long");
    arrow_writer *self = writer_new(schema, count, name_bytes);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to write '%.100s'", name);
    self->dir_fd = dir_fd;
    snprintf(self->name, sizeof self->name, "%s", name);
    snprintf(self->temporary, sizeof self->temporary, "%s.tmp", name);
    st = guard_create(&self->fd, dir_fd, self->temporary, err);
    if (st == MCP_OK)
        st = write_schema(self, err);
    if (st == MCP_OK)
        *out = self;
    else
        arrow_writer_abort(self);
    return st;
}

mcp_status arrow_writer_close(arrow_writer *self, mcp_error *err)
{
    mcp_error *failure = &self->failure;

    if (failure->status == MCP_OK)
        write_footer(self, failure);
    if (failure->status == MCP_OK) {
        int closed = close(self->fd);
        self->fd = -1;
        if (closed != 0)
            mcp_error_set(failure, MCP_E_IO, "'%.100s' cannot be written: %s", self->name,
                          strerrordesc_np(errno));
    }
    if (failure->status == MCP_OK)
        guard_replace(self->dir_fd, self->temporary, self->name, failure);
    mcp_status st = failure->status;
    if (st != MCP_OK) {
        if (err)
            *err = *failure;
        unlinkat(self->dir_fd, self->temporary, 0);
    }
    writer_free(self);
    return st;
}

void arrow_writer_abort(arrow_writer *self)
{
    if (!self)
        return;
    unlinkat(self->dir_fd, self->temporary, 0);
    writer_free(self);
}

mcp_status columns_write_arrow(int dir_fd, const char *name, const columns_table *table,
                               mcp_error *err)
{
    parquet_column schema[PARQUET_COLUMNS_MAX];
    arrow_writer *writer = NULL;

    for (size_t i = 0; i < table->column_count && i < PARQUET_COLUMNS_MAX; i++) {
        const columns_column *column = &table->columns[i];
        schema[i] = (parquet_column){ column->name, column->type, column->valid != NULL };
    }
    mcp_status st = arrow_writer_open(&writer, dir_fd, name, schema, table->column_count, err);
    if (st == MCP_OK)
        st = arrow_writer_append(writer, table, err);
    if (st != MCP_OK)
        arrow_writer_abort(writer);
    return st == MCP_OK ? arrow_writer_close(writer, err) : st;
}
