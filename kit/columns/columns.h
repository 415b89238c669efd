/**
 * columns.h - Parquet files in, through DuckDB, and out, by a writer of our own (parquet.h).
 *
 * DuckDB is never linked: its library is opened when the first file is read, so a program that
 * reads no Parquet file pays nothing. Its path is in the environment variable CAUSEWAY_DUCKDB, else
 * it is the place of the installed library, relative to the program. Writing does not need it.
 *
 * Files are passed by descriptor, never by name, so the file that `guard/paths.h` has opened is the
 * file that is read. Threads may share one `columns`; their reads run one after the other.
 *
 *     const columns_table *table;
 *     columns_read(&table, app->columns, fd, NULL, arena, err);
 *     const columns_column *id = columns_find(table, "hydro_id");
 *     if (id && id->type == COLUMNS_I32)
 *         use(((const int32_t *)id->values)[row]);
 */
#ifndef COLUMNS_COLUMNS_H
#define COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/arena.h"
#include "mcp/error.h"

typedef struct columns columns;

/** The type of a column, and the C type of its `values`. */
typedef enum columns_type {
    COLUMNS_BOOL, /* uint8_t, 0 or 1 */
    COLUMNS_I8,   /* int8_t */
    COLUMNS_I16,  /* int16_t */
    COLUMNS_I32,  /* int32_t */
    COLUMNS_I64,  /* int64_t */
    COLUMNS_U8,   /* uint8_t */
    COLUMNS_U16,  /* uint16_t */
    COLUMNS_U32,  /* uint32_t */
    COLUMNS_U64,  /* uint64_t */
    COLUMNS_F32,  /* float */
    COLUMNS_F64,  /* double */
    COLUMNS_DATE, /* int32_t, days since 1970-01-01 */
    COLUMNS_TEXT, /* const char *, UTF-8; a text that holds NUL is MCP_E_PARSE */
    COLUMNS_OTHER /* values is NULL; an unsupported type (nested, decimal, time, ...) */
} columns_type;

typedef struct columns_column {
    const char *name;
    columns_type type;
    const void *values;   /* one a row; where not valid: zero, or NULL for TEXT */
    const uint8_t *valid; /* one byte a row, 0 or 1; NULL: every row is valid */
} columns_column;

typedef struct columns_table {
    size_t rows;
    size_t column_count;
    const columns_column *columns;
} columns_table;

typedef struct columns_read_options {
    size_t rows_max; /* more rows than this are MCP_E_LIMIT; 0: 10 million */
} columns_read_options;

/**
 * Create an object; the first file opens DuckDB.
 *
 * @param out yours, free it with columns_close
 * @return MCP_OK; MCP_E_NOMEM
 */
mcp_status columns_open(columns **out, mcp_error *err);

/** NULL is fine. */
void columns_close(columns *self);

/**
 * Read one flat Parquet file into memory.
 *
 * @param out     the arena's
 * @param fd      a regular file, open for reading; stays open, its position does not matter
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_PARSE (not a Parquet file, truncated, or damaged: the message is the
 *         engine's); MCP_E_LIMIT (rows); MCP_E_NOMEM (the arena's bound too); MCP_E_PARAMS (no
 *         regular file); MCP_E_UNSUPPORTED (DuckDB is missing; the message names the path)
 */
mcp_status columns_read(const columns_table **out, columns *self, int fd,
                        const columns_read_options *options, mcp_arena *arena, mcp_error *err);

/** The column of that name; NULL when there is none. */
const columns_column *columns_find(const columns_table *table, const char *name);

/** Whether the row has a value. */
bool columns_is_valid(const columns_column *column, size_t row);

/** "Int32", "UInt32", "Float64", "Date32", "Utf8", "Boolean", ... or "an unsupported type". */
const char *columns_type_name(columns_type type);

/** The size of one of a column's `values`; 0 for COLUMNS_OTHER. */
size_t columns_type_size(columns_type type);

/**
 * Write a Parquet file as "<name>.tmp" in the folder, then rename it: parquet.h with its defaults.
 * A column with `valid` is OPTIONAL in the file, any other REQUIRED. Threads may call it at once.
 *
 * @param dir_fd  the folder
 * @param name    one component, "data.parquet"
 * @param table   every type but COLUMNS_OTHER; 1 to 1000 columns; no rows is fine
 * @return MCP_OK; MCP_E_PARAMS (no column, OTHER, a name twice or empty); MCP_E_LIMIT (a row of
 *         more than 64 MiB); MCP_E_IO; MCP_E_NOMEM
 */
mcp_status columns_write(int dir_fd, const char *name, const columns_table *table, mcp_error *err);

#endif
