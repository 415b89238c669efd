/*
 * read.c - one flat Parquet file into arrays.
 *
 * DuckDB opens /proc/self/fd/N, which is the file behind our descriptor and no other. Its result
 * comes in chunks of 2048 rows, which are copied into arrays of the arena; then the result is gone.
 * The query asks for one row more than allowed, so that neither the file nor what its footer claims
 * decides how much memory is taken.
 */
#include "columns/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "columns/columns_int.h"

#define ROWS_MAX_DEFAULT 10000000

struct reading {
    const struct engine_api *api;
    duckdb_result *result;
    mcp_arena *arena;
    columns_table *table;
    columns_column *columns;
};

static mcp_status no_memory(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_NOMEM, "the file needs more memory than there is for it");
}

/* One byte a row, made at the first value that is missing. */
static uint8_t *validity_of(struct reading *reading, columns_column *column)
{
    if (column->valid)
        return (uint8_t *)column->valid;
    uint8_t *valid = mcp_arena_alloc(reading->arena, reading->table->rows);
    if (valid)
        memset(valid, 1, reading->table->rows);
    column->valid = valid;
    return valid;
}

static mcp_status copy_text(struct reading *reading, const char **to, duckdb_string_t *from,
                            mcp_error *err)
{
    size_t length = reading->api->string_t_length(*from);
    const char *data = reading->api->string_t_data(from);

    if (memchr(data, '\0', length))
        return mcp_error_set(err, MCP_E_PARSE, "a text holds a NUL byte");
    *to = mcp_arena_strndup(reading->arena, data, length);
    return *to ? MCP_OK : no_memory(err);
}

static mcp_status copy_texts(struct reading *reading, const char **to, duckdb_string_t *from,
                             uint64_t *mask, size_t rows, mcp_error *err)
{
    mcp_status status = MCP_OK;

    for (size_t i = 0; i < rows && status == MCP_OK; i++)
        if (!mask || reading->api->validity_row_is_valid(mask, i))
            status = copy_text(reading, &to[i], &from[i], err);
    return status;
}

/* Mark what is missing, and make its value zero: what DuckDB has there is anything. */
static mcp_status mark_missing(struct reading *reading, columns_column *column, char *values,
                               size_t size, uint64_t *mask, size_t first, size_t rows,
                               mcp_error *err)
{
    for (size_t i = 0; i < rows; i++) {
        if (reading->api->validity_row_is_valid(mask, i))
            continue;
        uint8_t *valid = validity_of(reading, column);
        if (!valid)
            return no_memory(err);
        valid[first + i] = 0;
        memset(values + i * size, 0, size);
    }
    return MCP_OK;
}

static mcp_status copy_vector(struct reading *reading, columns_column *column, duckdb_vector vector,
                              size_t first, size_t rows, mcp_error *err)
{
    size_t size = columns_type_row(column->type)->size;
    uint64_t *mask = reading->api->vector_get_validity(vector);
    void *data = reading->api->vector_get_data(vector);
    char *values = (char *)column->values + first * size;
    mcp_status status = MCP_OK;

    if (column->type == COLUMNS_OTHER)
        return MCP_OK;
    if (column->type == COLUMNS_TEXT)
        status = copy_texts(reading, (const char **)(void *)values, data, mask, rows, err);
    else
        memcpy(values, data, rows * size);
    if (status == MCP_OK && mask)
        status = mark_missing(reading, column, values, size, mask, first, rows, err);
    return status;
}

static mcp_status copy_chunk(struct reading *reading, duckdb_data_chunk chunk, size_t first,
                             size_t rows, mcp_error *err)
{
    mcp_status status = MCP_OK;

    if (rows > reading->table->rows - first)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives more rows than it said");
    for (size_t i = 0; i < reading->table->column_count && status == MCP_OK; i++)
        status = copy_vector(reading, &reading->columns[i],
                             reading->api->data_chunk_get_vector(chunk, i), first, rows, err);
    return status;
}

static mcp_status copy_rows(struct reading *reading, mcp_error *err)
{
    size_t first = 0;
    mcp_status status = MCP_OK;

    while (status == MCP_OK && first < reading->table->rows) {
        duckdb_data_chunk chunk = reading->api->fetch_chunk(*reading->result);
        if (!chunk)
            return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives fewer rows than it said");
        size_t rows = reading->api->data_chunk_get_size(chunk);
        status = copy_chunk(reading, chunk, first, rows, err);
        first += rows;
        reading->api->destroy_data_chunk(&chunk);
    }
    return status;
}

/* Names, types and room for the values. */
static mcp_status lay_out(struct reading *reading, mcp_error *err)
{
    size_t count = reading->api->column_count(reading->result);
    size_t rows = reading->table->rows;

    reading->columns = mcp_arena_array(reading->arena, count, sizeof *reading->columns);
    if (!reading->columns)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        columns_column *column = &reading->columns[i];
        column->name = mcp_arena_strdup(reading->arena,
                                        reading->api->column_name(reading->result, i));
        column->type = columns_type_from(reading->api->column_type(reading->result, i));
        size_t size = columns_type_row(column->type)->size;
        if (size > 0)
            column->values = mcp_arena_array(reading->arena, rows, size);
        if (!column->name || (size > 0 && !column->values))
            return no_memory(err);
    }
    reading->table->column_count = count;
    reading->table->columns = reading->columns;
    return MCP_OK;
}

static mcp_status take_result(const columns_table **out, const struct engine_api *api,
                              duckdb_result *result, size_t rows_max, mcp_arena *arena,
                              mcp_error *err)
{
    struct reading reading = { .api = api, .result = result, .arena = arena };
    size_t rows = api->row_count(result);

    if (rows > rows_max)
        return mcp_error_set(err, MCP_E_LIMIT, "the file has more than %zu rows", rows_max);
    reading.table = mcp_arena_alloc(arena, sizeof *reading.table);
    if (!reading.table)
        return no_memory(err);
    reading.table->rows = rows;
    mcp_status status = lay_out(&reading, err);
    if (status == MCP_OK)
        status = copy_rows(&reading, err);
    if (status == MCP_OK)
        *out = reading.table;
    return status;
}

static mcp_status read_in_turn(const columns_table **out, columns *self, int fd, size_t rows_max,
                               mcp_arena *arena, mcp_error *err)
{
    char sql[160];
    duckdb_result result;
    mcp_status status = engine_open(&self->engine, err);

    if (status != MCP_OK)
        return status;
    snprintf(sql, sizeof sql,
             "SELECT * FROM read_parquet('/proc/self/fd/%d', hive_partitioning = false) LIMIT %zu",
             fd, rows_max + 1);
    status = engine_query(&self->engine, &result, sql, MCP_E_PARSE, err);
    if (status != MCP_OK)
        return status;
    status = take_result(out, self->engine.api, &result, rows_max, arena, err);
    self->engine.api->destroy_result(&result);
    return status;
}

mcp_status columns_read(const columns_table **out, columns *self, int fd,
                        const columns_read_options *options, mcp_arena *arena, mcp_error *err)
{
    size_t rows_max = options && options->rows_max ? options->rows_max : ROWS_MAX_DEFAULT;
    struct stat st;

    /* A folder would be read as all the Parquet files in it. */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    pthread_mutex_lock(&self->turn);
    mcp_status status = read_in_turn(out, self, fd, rows_max, arena, err);
    pthread_mutex_unlock(&self->turn);
    return status;
}
