/*
 * columns.c - the object that reads Parquet, and the table of types.
 */
#include "columns/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "columns/columns_int.h"
#include "mcp/alloc.h"

#define DAY_US (INT64_C(86400) * 1000000)

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
    [COLUMNS_OTHER] = { "unsupported", DUCKDB_TYPE_INVALID, 0 },
    [COLUMNS_TIMESTAMP] = { "Timestamp", DUCKDB_TYPE_TIMESTAMP, sizeof(int64_t) },
    [COLUMNS_TIMESTAMP_UTC] = { "TimestampUTC", DUCKDB_TYPE_TIMESTAMP_TZ, sizeof(int64_t) },
    [COLUMNS_JSON] = { "List", DUCKDB_TYPE_LIST, sizeof(const char *) },
    [COLUMNS_TIME] = { "Time", DUCKDB_TYPE_TIME, sizeof(int64_t) },
    [COLUMNS_DECIMAL] = { "Decimal", DUCKDB_TYPE_DECIMAL, 16 },
    [COLUMNS_STRING] = { "Utf8", DUCKDB_TYPE_VARCHAR, 0 },
    [COLUMNS_BLOB] = { "Binary", DUCKDB_TYPE_BLOB, 0 },
    [COLUMNS_LABEL] = { "Utf8", DUCKDB_TYPE_VARCHAR, 0 },
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

/* The civil date of a day, by eras of 400 years, each from March to February. */
void columns_date_text(char out[COLUMNS_MOMENT_SIZE], int32_t day)
{
    int64_t shifted = (int64_t)day + 719468; /* days since 0000-03-01 */
    int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
    int64_t of_era = shifted - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153; /* from March */
    int64_t of_month = of_year - (153 * month + 2) / 5 + 1;

    year += era * 400 + (month >= 10);
    month = month < 10 ? month + 3 : month - 9;
    snprintf(out, COLUMNS_MOMENT_SIZE, "%04" PRId64 "-%02" PRId64 "-%02" PRId64, year, month,
             of_month);
}

void columns_moment_text(char out[COLUMNS_MOMENT_SIZE], int64_t microseconds, const char *zone)
{
    int64_t day = microseconds / DAY_US - (microseconds % DAY_US < 0);
    int64_t of_day = microseconds - day * DAY_US;
    int64_t seconds = of_day / 1000000;
    char fraction[16] = "";

    if (of_day % 1000000 > 0)
        snprintf(fraction, sizeof fraction, ".%06" PRId64, of_day % 1000000);
    for (size_t end = strlen(fraction); end > 0 && fraction[end - 1] == '0'; end--)
        fraction[end - 1] = '\0';
    columns_date_text(out, (int32_t)day);
    size_t length = strlen(out);
    snprintf(out + length, COLUMNS_MOMENT_SIZE - length, "T%02d:%02d:%02d%s%s",
             (int)(seconds / 3600), (int)(seconds / 60 % 60), (int)(seconds % 60), fraction, zone);
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

mcp_status columns_version(const char **out, const void **code, mcp_error *err)
{
    return engine_version(out, code, err);
}

void columns_close(columns *self)
{
    if (!self)
        return;
    engine_close(&self->engine);
    pthread_mutex_destroy(&self->turn);
    free(self);
}
