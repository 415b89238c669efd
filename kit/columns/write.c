/*
 * write.c - arrays into one Parquet file.
 *
 * The arrays are not copied into a table of DuckDB first. A table function, registered once an
 * instance, passes the rows of `columns->writing` to DuckDB in its chunks, and one COPY writes
 * them; so a small file costs little more than its planning. The file was created here and is given
 * as /proc/self/fd/N; once it is complete it is renamed.
 *
 * The callbacks run inside engine_query(), on DuckDB's one thread, while `turn` is held.
 */
#include "columns/columns.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "columns/columns_int.h"
#include "guard/paths.h"

#define COLUMNS_MAX 1000

/* The bind callback: the columns. */
static void on_bind(duckdb_bind_info info)
{
    const struct engine_api *api = engine_loaded();
    const columns *self = api->bind_get_extra_info(info);

    for (size_t i = 0; i < self->writing->column_count; i++) {
        const columns_column *column = &self->writing->columns[i];
        duckdb_logical_type type = api->create_logical_type(columns_type_row(column->type)->duckdb);
        api->bind_add_result_column(info, column->name, type);
        api->destroy_logical_type(&type);
    }
    api->bind_set_cardinality(info, self->writing->rows, true);
}

static void on_init(duckdb_init_info info)
{
    (void)info; /* DuckDB requires the callback; the state is reset before the query */
}

static void give_validity(const struct engine_api *api, const columns_column *column,
                          duckdb_vector vector, size_t first, size_t rows)
{
    if (!column->valid)
        return;
    api->vector_ensure_validity_writable(vector);
    uint64_t *mask = api->vector_get_validity(vector);
    for (size_t i = 0; i < rows; i++)
        if (!column->valid[first + i])
            api->validity_set_row_invalid(mask, i);
}

static void give_values(const struct engine_api *api, const columns_column *column,
                        duckdb_vector vector, size_t first, size_t rows)
{
    size_t size = columns_type_row(column->type)->size;
    const char *values = (const char *)column->values + first * size;

    if (column->type != COLUMNS_TEXT) {
        memcpy(api->vector_get_data(vector), values, rows * size);
        return;
    }
    const char *const *texts = (const char *const *)(const void *)values;
    for (size_t i = 0; i < rows; i++)
        if (columns_is_valid(column, first + i))
            api->vector_assign_string_element(vector, i, texts[i]);
}

/* The main callback: the next rows; none ends it. */
static void on_rows(duckdb_function_info info, duckdb_data_chunk chunk)
{
    const struct engine_api *api = engine_loaded();
    columns *self = api->function_get_extra_info(info);
    size_t rows = self->writing->rows - self->written;

    if (rows > api->vector_size())
        rows = api->vector_size();
    for (size_t i = 0; i < self->writing->column_count && rows > 0; i++) {
        duckdb_vector vector = api->data_chunk_get_vector(chunk, i);
        give_values(api, &self->writing->columns[i], vector, self->written, rows);
        give_validity(api, &self->writing->columns[i], vector, self->written, rows);
    }
    api->data_chunk_set_size(chunk, rows);
    self->written += rows;
}

static mcp_status register_rows(columns *self, mcp_error *err)
{
    const struct engine_api *api = self->engine.api;

    if (self->engine.has_rows_function)
        return MCP_OK;
    duckdb_table_function function = api->create_table_function();
    api->table_function_set_name(function, "causeway_rows");
    api->table_function_set_extra_info(function, self, NULL);
    api->table_function_set_bind(function, on_bind);
    api->table_function_set_init(function, on_init);
    api->table_function_set_function(function, on_rows);
    duckdb_state state = api->register_table_function(self->engine.connection, function);
    api->destroy_table_function(&function);
    if (state != DuckDBSuccess)
        return mcp_error_set(err, MCP_E_INTERNAL, "DuckDB refuses our table function");
    self->engine.has_rows_function = true;
    return MCP_OK;
}

static mcp_status copy_to(columns *self, int fd, const columns_table *table, mcp_error *err)
{
    char sql[160];
    duckdb_result result;
    mcp_status st = engine_open(&self->engine, err);

    if (st == MCP_OK)
        st = register_rows(self, err);
    if (st != MCP_OK)
        return st;
    self->writing = table;
    self->written = 0;
    snprintf(sql, sizeof sql,
             "COPY (FROM causeway_rows()) TO '/proc/self/fd/%d' "
             "(FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
             fd);
    st = engine_query(&self->engine, &result, sql, MCP_E_IO, err);
    if (st == MCP_OK)
        self->engine.api->destroy_result(&result);
    self->writing = NULL;
    return st;
}

static mcp_status check_table(const columns_table *table, mcp_error *err)
{
    if (table->column_count == 0 || table->column_count > COLUMNS_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a Parquet file has 1 to %d columns", COLUMNS_MAX);
    for (size_t i = 0; i < table->column_count; i++) {
        const columns_column *column = &table->columns[i];
        if (column->type == COLUMNS_OTHER || (!column->values && table->rows > 0))
            return mcp_error_set(err, MCP_E_PARAMS, "column '%s' has nothing to write",
                                 column->name);
        if (column->name[0] == '\0' || columns_find(table, column->name) != column)
            return mcp_error_set(err, MCP_E_PARAMS, "column name '%s' is empty or comes twice",
                                 column->name);
    }
    return MCP_OK;
}

mcp_status columns_write(columns *self, int dir_fd, const char *name, const columns_table *table,
                         mcp_error *err)
{
    char temporary[NAME_MAX + 5];
    int fd = -1;
    mcp_status st = check_table(table, err);

    if (st != MCP_OK)
        return st;
    int length = snprintf(temporary, sizeof temporary, "%s.tmp", name);
    if (length < 0 || (size_t)length >= sizeof temporary)
        return mcp_error_set(err, MCP_E_PARAMS, "the file name is too long");
    st = guard_create(&fd, dir_fd, temporary, err);
    if (st != MCP_OK)
        return st;
    pthread_mutex_lock(&self->turn);
    st = copy_to(self, fd, table, err);
    pthread_mutex_unlock(&self->turn);
    if (close(fd) != 0 && st == MCP_OK)
        st = mcp_error_set(err, MCP_E_IO, "'%s' cannot be written", name);
    if (st == MCP_OK)
        st = guard_replace(dir_fd, temporary, name, err);
    if (st != MCP_OK)
        guard_remove_tree(dir_fd, temporary, NULL);
    return st;
}
