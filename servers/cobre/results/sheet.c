/*
 * sheet.c - columns that are filled row by row.
 *
 * Room for all rows is allocated once; a sheet is reused for each scenario.
 */
#include "results/sheet.h"

#include <assert.h>

struct sheet {
    const results_schema *schema;
    columns_column *columns;
    size_t rows, rows_max;
    size_t next; /* the column of the next value */
};

size_t sheet_row_bytes(results_table table)
{
    const results_schema *schema = results_schema_of(table);
    size_t bytes = 0;

    for (size_t i = 0; i < schema->count; i++)
        bytes += columns_type_size(schema->fields[i].type) + schema->fields[i].is_nullable;
    return bytes;
}

sheet *sheet_new(mcp_arena *arena, results_table table, size_t rows_max)
{
    const results_schema *schema = results_schema_of(table);
    sheet *self = mcp_arena_alloc(arena, sizeof *self);

    if (!self)
        return NULL;
    self->columns = mcp_arena_array(arena, schema->count, sizeof *self->columns);
    if (!self->columns)
        return NULL;
    for (size_t i = 0; i < schema->count; i++) {
        const results_field *field = &schema->fields[i];
        columns_column *column = &self->columns[i];
        column->name = field->name;
        column->type = field->type;
        column->values = mcp_arena_array(arena, rows_max, columns_type_size(field->type));
        if (field->is_nullable)
            column->valid = mcp_arena_array(arena, rows_max, 1);
        if (!column->values || (field->is_nullable && !column->valid))
            return NULL;
    }
    self->schema = schema;
    self->rows_max = rows_max;
    self->next = schema->count;
    return self;
}

void sheet_clear(sheet *self)
{
    self->rows = 0;
    self->next = self->schema->count;
}

void sheet_row(sheet *self)
{
    assert(self->next == self->schema->count && self->rows < self->rows_max);
    self->rows++;
    self->next = 0;
}

/* The place of the next value, which is of that type. */
static void *place(sheet *self, columns_type type)
{
    assert(self->next < self->schema->count);
    columns_column *column = &self->columns[self->next++];
    assert(column->type == type);
    size_t row = self->rows - 1;
    if (column->valid)
        ((uint8_t *)column->valid)[row] = 1;
    return (char *)column->values + row * columns_type_size(type);
}

void sheet_bool(sheet *self, bool value)
{
    *(uint8_t *)place(self, COLUMNS_BOOL) = value;
}

void sheet_i8(sheet *self, int8_t value)
{
    *(int8_t *)place(self, COLUMNS_I8) = value;
}

void sheet_i32(sheet *self, int32_t value)
{
    *(int32_t *)place(self, COLUMNS_I32) = value;
}

void sheet_i64(sheet *self, int64_t value)
{
    *(int64_t *)place(self, COLUMNS_I64) = value;
}

void sheet_u32(sheet *self, uint32_t value)
{
    *(uint32_t *)place(self, COLUMNS_U32) = value;
}

void sheet_u64(sheet *self, uint64_t value)
{
    *(uint64_t *)place(self, COLUMNS_U64) = value;
}

void sheet_text(sheet *self, const char *value)
{
    *(const char **)place(self, COLUMNS_TEXT) = value;
}

void sheet_f64(sheet *self, double value)
{
    *(double *)place(self, COLUMNS_F64) = value;
}

void sheet_null(sheet *self)
{
    assert(self->next < self->schema->count && self->columns[self->next].valid);
    ((uint8_t *)self->columns[self->next++].valid)[self->rows - 1] = 0;
}

void sheet_zeros(sheet *self, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (self->columns[self->next].type == COLUMNS_F64)
            sheet_f64(self, 0.0);
        else
            sheet_i64(self, 0);
    }
}

static columns_table table_of(const sheet *self)
{
    assert(self->next == self->schema->count);
    return (columns_table){
        .rows = self->rows,
        .column_count = self->schema->count,
        .columns = self->columns,
    };
}

mcp_status sheet_write(const sheet *self, int dir_fd, const char *name, mcp_error *err)
{
    const columns_table table = table_of(self);

    return columns_write(dir_fd, name, &table, err);
}

mcp_status sheet_file_open(parquet_writer **out, results_table table, int dir_fd, const char *name,
                           mcp_error *err)
{
    const results_schema *schema = results_schema_of(table);
    const parquet_options options = { .level = 1 };
    parquet_column described[RESULTS_COLUMNS_MAX];

    assert(schema->count <= RESULTS_COLUMNS_MAX);
    for (size_t i = 0; i < schema->count; i++)
        described[i] = (parquet_column){ schema->fields[i].name, schema->fields[i].type,
                                         schema->fields[i].is_nullable };
    return parquet_writer_open(out, dir_fd, name, described, schema->count, &options, err);
}

mcp_status sheet_append(const sheet *self, parquet_writer *file, mcp_error *err)
{
    const columns_table table = table_of(self);

    return parquet_writer_append(file, &table, err);
}
