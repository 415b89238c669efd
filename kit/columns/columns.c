/*
 * columns.c - the object that reads Parquet, and the table of types.
 */
#include "columns/columns.h"

#include <stdlib.h>
#include <string.h>

#include "columns/columns_int.h"
#include "mcp/alloc.h"

static const struct columns_type_row types[] = {
    [COLUMNS_BOOL] = { "Boolean", DUCKDB_TYPE_BOOLEAN, sizeof(uint8_t) },
    [COLUMNS_I8] = { "Int8", DUCKDB_TYPE_TINYINT, sizeof(int8_t) },
    [COLUMNS_I16] = { "Int16", DUCKDB_TYPE_SMALLINT, sizeof(int16_t) },
    [COLUMNS_I32] = { "Int32", DUCKDB_TYPE_INTEGER, sizeof(int32_t) },
    [COLUMNS_I64] = { "Int64", DUCKDB_TYPE_BIGINT, sizeof(int64_t) },
    [COLUMNS_U8] = { "UInt8", DUCKDB_TYPE_UTINYINT, sizeof(uint8_t) },
    [COLUMNS_U16] = { "UInt16", DUCKDB_TYPE_USMALLINT, sizeof(uint16_t) },
    [COLUMNS_U32] = { "UInt32", DUCKDB_TYPE_UINTEGER, sizeof(uint32_t) },
    [COLUMNS_U64] = { "UInt64", DUCKDB_TYPE_UBIGINT, sizeof(uint64_t) },
    [COLUMNS_F32] = { "Float32", DUCKDB_TYPE_FLOAT, sizeof(float) },
    [COLUMNS_F64] = { "Float64", DUCKDB_TYPE_DOUBLE, sizeof(double) },
    [COLUMNS_DATE] = { "Date32", DUCKDB_TYPE_DATE, sizeof(int32_t) },
    [COLUMNS_TEXT] = { "Utf8", DUCKDB_TYPE_VARCHAR, sizeof(const char *) },
    [COLUMNS_OTHER] = { "an unsupported type", DUCKDB_TYPE_INVALID, 0 },
};

const struct columns_type_row *columns_type_row(columns_type type)
{
    return &types[type];
}

columns_type columns_type_from(duckdb_type type)
{
    for (columns_type i = COLUMNS_BOOL; i < COLUMNS_OTHER; i++)
        if (types[i].duckdb == type)
            return i;
    return COLUMNS_OTHER;
}

const char *columns_type_name(columns_type type)
{
    return types[type].name;
}

size_t columns_type_size(columns_type type)
{
    return types[type].size;
}

const columns_column *columns_find(const columns_table *table, const char *name)
{
    for (size_t i = 0; i < table->column_count; i++)
        if (strcmp(table->columns[i].name, name) == 0)
            return &table->columns[i];
    return NULL;
}

bool columns_is_valid(const columns_column *column, size_t row)
{
    return !column->valid || column->valid[row];
}

mcp_status columns_open(columns **out, mcp_error *err)
{
    columns *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for columns");
    pthread_mutex_init(&self->turn, NULL);
    *out = self;
    return MCP_OK;
}

void columns_close(columns *self)
{
    if (!self)
        return;
    engine_close(&self->engine);
    pthread_mutex_destroy(&self->turn);
    free(self);
}
