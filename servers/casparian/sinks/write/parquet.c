/*
 * parquet.c - rows into a Parquet file, by the writer of kit/columns.
 *
 * Values, offsets and bytes are given as they are; only bitmaps of validity become bytes, slice by
 * slice, so that their room is bounded. Columns of lineage are labels: one text for a batch.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns/parquet.h"
#include "mcp/alloc.h"
#include "sinks/write/driver.h"

#define CANONICAL_MAX ((size_t)4 << 20)
#define SLICE_MAX ((size_t)8192)
#define SLICE_CELLS ((size_t)4 << 20) /* bytes of validity of a slice */

struct parquet_file {
    parquet_writer *writer;
    size_t count, slice; /* columns without lineage; rows of a slice */
    columns_column *columns;
    columns_texts *texts;
    columns_label labels[LINEAGE_COUNT];
    uint8_t *valid; /* `slice` bytes a column */
};

static columns_type type_of(casparian_kind kind)
{
    static const columns_type types[CASPARIAN_KIND_COUNT] = {
        [CASPARIAN_KIND_NULL] = COLUMNS_OTHER,
        [CASPARIAN_KIND_BOOLEAN] = COLUMNS_BOOL,
        [CASPARIAN_KIND_INT64] = COLUMNS_I64,
        [CASPARIAN_KIND_FLOAT64] = COLUMNS_F64,
        [CASPARIAN_KIND_DECIMAL] = COLUMNS_DECIMAL,
        [CASPARIAN_KIND_STRING] = COLUMNS_STRING,
        [CASPARIAN_KIND_BINARY] = COLUMNS_BLOB,
        [CASPARIAN_KIND_DATE] = COLUMNS_DATE,
        [CASPARIAN_KIND_TIMESTAMP] = COLUMNS_TIMESTAMP,
        [CASPARIAN_KIND_TIMESTAMP_TZ] = COLUMNS_TIMESTAMP_UTC,
        [CASPARIAN_KIND_TIME] = COLUMNS_TIME,
        [CASPARIAN_KIND_DURATION] = COLUMNS_I64, /* no type of Parquet that all readers have */
    };

    return types[kind];
}

/* ---- from open to finish --------------------------------------------------------------------- */

static void file_abort(void *data)
{
    struct parquet_file *self = data;

    if (!self)
        return;
    parquet_writer_abort(self->writer);
    free(self->columns);
    free(self->texts);
    free(self->valid);
    free(self);
}

static mcp_status file_new(struct parquet_file **out, size_t count, mcp_error *err)
{
    struct parquet_file *self = mcp_alloc_zeroed(1, sizeof *self);

    if (self) {
        self->count = count;
        self->slice = SLICE_CELLS / count < SLICE_MAX ? SLICE_CELLS / count : SLICE_MAX;
        self->columns = mcp_alloc_zeroed(count + LINEAGE_COUNT, sizeof *self->columns);
        self->texts = mcp_alloc_zeroed(count, sizeof *self->texts);
        self->valid = mcp_alloc_zeroed(count, self->slice);
    }
    if (!self || !self->columns || !self->texts || !self->valid) {
        file_abort(self);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an output of %zu columns", count);
    }
    *out = self;
    return MCP_OK;
}

static void describe(parquet_column *schema, parquet_decimal *decimals,
                     const write_options *options)
{
    for (size_t i = 0; i < options->count; i++) {
        const write_column *column = &options->columns[i];
        schema[i] = (parquet_column){ column->name, type_of(column->type.kind),
                                      column->is_nullable };
        decimals[i] = (parquet_decimal){ column->type.decimal.precision,
                                         column->type.decimal.scale };
    }
    for (size_t i = 0; i < LINEAGE_COUNT; i++)
        schema[options->count + i] = (parquet_column){ options->lineage_names[i], COLUMNS_LABEL,
                                                       false };
}

static mcp_status open_writer(struct parquet_file *self, const write_options *options,
                              const parquet_column *schema, const parquet_decimal *decimals,
                              mcp_error *err)
{
    static const parquet_codec codecs[] = { [CASPARIAN_SNAPPY] = PARQUET_SNAPPY,
                                            [CASPARIAN_ZSTD] = PARQUET_ZSTD,
                                            [CASPARIAN_UNCOMPRESSED] = PARQUET_UNCOMPRESSED };
    mcp_buf canonical;

    mcp_buf_init(&canonical, CANONICAL_MAX);
    mcp_status st = casparian_definition_canonical(&canonical, options->definition);
    const parquet_pair metadata[] = { { "casparian.schema", canonical.data },
                                      { "casparian.schema_hash", options->definition->hash },
                                      { "casparian.job_id", options->job },
                                      { "casparian.plugin", options->plugin } };
    const parquet_options how = { .codec = codecs[options->uri->compression],
                                  .metadata = metadata,
                                  .metadata_count = sizeof metadata / sizeof metadata[0],
                                  .decimals = decimals };
    if (st == MCP_OK)
        st = parquet_writer_open(&self->writer, options->dir_fd, options->name, schema,
                                 options->count + LINEAGE_COUNT, &how, err);
    else
        mcp_error_set(err, st, "the schema of an output is too long");
    mcp_buf_clear(&canonical);
    return st;
}

/* The columns' names are those of the options, which outlive the file. */
static void name_columns(struct parquet_file *self, const parquet_column *schema)
{
    for (size_t i = 0; i < self->count + LINEAGE_COUNT; i++) {
        columns_column *column = &self->columns[i];
        *column = (columns_column){ schema[i].name, schema[i].type, NULL, NULL };
        if (column->type == COLUMNS_STRING || column->type == COLUMNS_BLOB)
            column->values = &self->texts[i];
        if (i >= self->count)
            column->values = &self->labels[i - self->count];
    }
}

static mcp_status file_open(void **out, const write_options *options, mcp_error *err)
{
    size_t count = options->count + LINEAGE_COUNT;
    parquet_column *schema = mcp_alloc_zeroed(count, sizeof *schema);
    parquet_decimal *decimals = mcp_alloc_zeroed(count, sizeof *decimals);
    struct parquet_file *self = NULL;
    mcp_status st = schema && decimals ? file_new(&self, options->count, err)
                                       : mcp_error_set(err, MCP_E_NOMEM, "no memory for an output");

    if (st == MCP_OK) {
        describe(schema, decimals, options);
        st = open_writer(self, options, schema, decimals, err);
    }
    if (st == MCP_OK) {
        name_columns(self, schema);
        *out = self;
    } else {
        file_abort(self);
    }
    free(schema);
    free(decimals);
    return st;
}

static mcp_status file_finish(void *data, mcp_error *err)
{
    struct parquet_file *self = data;
    parquet_writer *writer = self->writer;

    self->writer = NULL;
    file_abort(self);
    return parquet_writer_finish(writer, err);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Bits from `first` on, a multiple of 8, as bytes. */
static void spread_bits(uint8_t *to, const uint8_t *bits, size_t first, size_t rows)
{
    const uint8_t *from = bits + first / 8;
    size_t i = 0;

    for (; i + 8 <= rows; i += 8, from++) {
        /* Each bit of the byte into the lowest of a byte of its own: select it, then make it 1. */
        uint64_t spread = (*from * UINT64_C(0x0101010101010101)) & UINT64_C(0x8040201008040201);
        spread = ((spread + UINT64_C(0x7F7F7F7F7F7F7F7F)) | spread) >> 7 &
                 UINT64_C(0x0101010101010101);
        memcpy(to + i, &spread, sizeof spread);
    }
    for (; i < rows; i++)
        to[i] = *from >> i % 8 & 1;
}

static void set_column(struct parquet_file *self, size_t i, const casparian_vector *vector,
                       size_t first, size_t rows)
{
    columns_column *column = &self->columns[i];

    if (vector->offsets)
        self->texts[i] = (columns_texts){ vector->offsets + first, vector->bytes };
    else
        column->values = (const char *)vector->values +
                         first * casparian_kind_width(vector->type.kind);
    column->valid = NULL;
    if (vector->valid) {
        uint8_t *valid = self->valid + i * self->slice;
        spread_bits(valid, vector->valid, first, rows);
        column->valid = valid;
    }
}

static mcp_status file_append(void *data, const casparian_batch *batch,
                              const write_lineage *lineage, mcp_error *err)
{
    struct parquet_file *self = data;
    columns_table table = { .column_count = self->count + LINEAGE_COUNT, .columns = self->columns };
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < LINEAGE_COUNT; i++)
        self->labels[i] = (columns_label){ lineage->texts[i], strlen(lineage->texts[i]) };
    for (size_t first = 0; first < batch->rows && st == MCP_OK; first += table.rows) {
        table.rows = batch->rows - first < self->slice ? batch->rows - first : self->slice;
        for (size_t i = 0; i < self->count; i++)
            set_column(self, i, &batch->columns[i], first, table.rows);
        st = parquet_writer_append(self->writer, &table, err);
    }
    return st;
}

const write_driver write_parquet = {
    .extension = "parquet",
    .open = file_open,
    .append = file_append,
    .finish = file_finish,
    .abort = file_abort,
};
