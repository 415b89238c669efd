/*
 * write.c - a whole table into one Parquet file.
 */
#include "columns/columns.h"

#include "columns/parquet.h"

mcp_status columns_write(int dir_fd, const char *name, const columns_table *table, mcp_error *err)
{
    parquet_column schema[PARQUET_COLUMNS_MAX];
    parquet_writer *writer = NULL;

    for (size_t i = 0; i < table->column_count && i < PARQUET_COLUMNS_MAX; i++) {
        const columns_column *column = &table->columns[i];
        schema[i] = (parquet_column){ column->name, column->type, column->valid != NULL };
    }
    mcp_status st = parquet_writer_open(&writer, dir_fd, name, schema, table->column_count, NULL,
                                        err);
    if (st == MCP_OK)
        st = parquet_writer_append(writer, table, err);
    if (st != MCP_OK)
        parquet_writer_abort(writer);
    return st == MCP_OK ? parquet_writer_close(writer, err) : st;
}
