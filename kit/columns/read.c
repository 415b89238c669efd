/*
 * read.c - one flat Parquet file into arrays.
 *
 * DuckDB opens /proc/self/fd/N, which is the file of the descriptor and no other. Its result has
 * chunks of 2048 rows, which are copied into arrays of the arena; then the result is destroyed. The
 * query is limited to one row more than allowed, so neither the file nor its footer decides how
 * much memory is used.
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
    mcp_status st = MCP_OK;

    for (size_t i = 0; i < rows && st == MCP_OK; i++)
        if (!mask || reading->api->validity_row_is_valid(mask, i))
            st = copy_text(reading, &to[i], &from[i], err);
    return st;
}

/* Mark missing values and set them to zero: DuckDB leaves them undefined. */
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
    mcp_status st = MCP_OK;

    if (column->type == COLUMNS_OTHER)
        return MCP_OK;
    if (column->type == COLUMNS_TEXT)
        st = copy_texts(reading, (const char **)(void *)values, data, mask, rows, err);
    else
        memcpy(values, data, rows * size);
    if (st == MCP_OK && mask)
        st = mark_missing(reading, column, values, size, mask, first, rows, err);
    return st;
}

static mcp_status copy_chunk(struct reading *reading, duckdb_data_chunk chunk, size_t first,
                             size_t rows, mcp_error *err)
{
    mcp_status st = MCP_OK;

    if (rows > reading->table->rows - first)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives more rows than it said");
    for (size_t i = 0; i < reading->table->column_count && st == MCP_OK; i++)
        st = copy_vector(reading, &reading->columns[i],
                         reading->api->data_chunk_get_vector(chunk, i), first, rows, err);
    return st;
}

static mcp_status copy_rows(struct reading *reading, mcp_error *err)
{
    size_t first = 0;
    mcp_status st = MCP_OK;

    while (st == MCP_OK && first < reading->table->rows) {
        duckdb_data_chunk chunk = reading->api->fetch_chunk(*reading->result);
        if (!chunk)
            return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB gives fewer rows than it said");
        size_t rows = reading->api->data_chunk_get_size(chunk);
        st = copy_chunk(reading, chunk, first, rows, err);
        first += rows;
        reading->api->destroy_data_chunk(&chunk);
    }
    return st;
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
    mcp_status st = lay_out(&reading, err);
    if (st == MCP_OK)
        st = copy_rows(&reading, err);
    if (st == MCP_OK)
        *out = reading.table;
    return st;
}

static mcp_status read_in_turn(const columns_table **out, columns *self, int fd, size_t rows_max,
                               mcp_arena *arena, mcp_error *err)
{
    char sql[160];
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st != MCP_OK)
        return st;
    snprintf(sql, sizeof sql,
             "SELECT * FROM read_parquet('/proc/self/fd/%d', hive_partitioning = false) LIMIT %zu",
             fd, rows_max + 1);
    st = engine_query(&self->engine, &result, sql, MCP_E_PARSE, err);
    if (st != MCP_OK)
        return st;
    st = take_result(out, self->engine.api, &result, rows_max, arena, err);
    self->engine.api->destroy_result(&result);
    return st;
}

mcp_status columns_read(const columns_table **out, columns *self, int fd,
                        const columns_read_options *options, mcp_arena *arena, mcp_error *err)
{
    size_t rows_max = options && options->rows_max ? options->rows_max : ROWS_MAX_DEFAULT;
    struct stat about;

    /* DuckDB would read a folder as all Parquet files in it. */
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
        return mcp_error_set(err, MCP_E_PARAMS, "not a regular file");
    pthread_mutex_lock(&self->turn);
    mcp_status st = read_in_turn(out, self, fd, rows_max, arena, err);
    pthread_mutex_unlock(&self->turn);
    return st;
}
