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
    COLUMNS_BOOL,  /* uint8_t, 0 or 1 */
    COLUMNS_I8,    /* int8_t */
    COLUMNS_I16,   /* int16_t */
    COLUMNS_I32,   /* int32_t */
    COLUMNS_I64,   /* int64_t */
    COLUMNS_U8,    /* uint8_t */
    COLUMNS_U16,   /* uint16_t */
    COLUMNS_U32,   /* uint32_t */
    COLUMNS_U64,   /* uint64_t */
    COLUMNS_F32,   /* float */
    COLUMNS_F64,   /* double */
    COLUMNS_DATE,  /* int32_t, days since 1970-01-01 */
    COLUMNS_TEXT,  /* const char *, UTF-8; a text that holds NUL is MCP_E_PARSE */
    COLUMNS_OTHER, /* values is NULL; an unsupported type (decimal, time, ...) */

    /* These are read, and only parquet.h writes them. */
    COLUMNS_TIMESTAMP,     /* int64_t, microseconds since 1970-01-01, of no time zone */
    COLUMNS_TIMESTAMP_UTC, /* the same, of UTC */

    /* This is read and not written. */
    COLUMNS_JSON, /* const char *, a JSON array: a repeated field */

    /* These are not read, and only parquet.h writes them. */
    COLUMNS_TIME,    /* int64_t, microseconds since midnight */
    COLUMNS_DECIMAL, /* 16 bytes, of any alignment: a signed integer, without the point */
    COLUMNS_STRING,  /* columns_texts, one for all rows: UTF-8, which may hold NUL */
    COLUMNS_BLOB,    /* columns_texts, of any bytes */
    COLUMNS_LABEL    /* columns_label, one for all rows: a text that each of them has; no nulls */
} columns_type;

/** The values of a COLUMNS_STRING or COLUMNS_BLOB: row i is the bytes from offsets[i] to
 *  offsets[i + 1]. */
typedef struct columns_texts {
    const uint32_t *offsets; /* rows + 1, not decreasing */
    const char *bytes;
} columns_texts;

/** The value of a COLUMNS_LABEL. */
typedef struct columns_label {
    const char *bytes; /* UTF-8 */
    size_t length;
} columns_label;

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

/** The version of DuckDB, which is opened where it is not yet, and an address in it.
 * @return MCP_OK; MCP_E_UNSUPPORTED: the library is missing, or is not DuckDB */
mcp_status columns_version(const char **out, const void **code, mcp_error *err);

/**
 * Read one Parquet file into memory. A group of fields becomes a column for each field,
 * "group.field"; a repeated group becomes one COLUMNS_JSON for each.
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

/** The name of the first column of a selection. */
#define COLUMNS_FILE "(file)"

/** What the value of an integer column must be; null never is. */
typedef struct columns_condition {
    const char *column;
    int64_t least, most;   /* where `values` is NULL: between the two, inclusive */
    const int64_t *values; /* one of these */
    size_t count;
} columns_condition;

/** Which rows of which files. Names of columns are the program's own, never a user's. */
typedef struct columns_selection {
    const int *fds; /* regular files with the same columns */
    size_t fd_count;
    const char *const *names; /* of columns, in this order; none: all, as in the first file */
    size_t name_count;
    const columns_condition *conditions; /* all must hold */
    size_t condition_count;
    const char *const *order; /* columns by which the rows of a file are sorted, null first */
    size_t order_count;
    size_t rows_max; /* further rows are counted and not returned; 0 is legal */
} columns_selection;

/**
 * Read the rows that match from many Parquet files, and count them, in one pass over the files.
 *
 * @param out   the arena's: the index of the row's file in `fds` (COLUMNS_FILE, an U64), then the
 *              columns; the rows in the order of the files. Without a row, or with rows_max 0, it
 *              may have no column
 * @param total how many rows match
 * @return as columns_read; MCP_E_PARSE when a file lacks a column as well
 */
mcp_status columns_select(const columns_table **out, uint64_t *total, columns *self,
                          const columns_selection *what, mcp_arena *arena, mcp_error *err);

/** What an integer column of a file holds. */
typedef struct columns_survey {
    int64_t rows;        /* of the file */
    int64_t distinct;    /* values that differ, less null */
    int64_t least, most; /* 0 without a value */
} columns_survey;

/** Survey a column of one file, without reading it into memory. As columns_select. */
mcp_status columns_look(columns_survey *out, columns *self, int fd, const char *column,
                        mcp_error *err);

/** The column of that name; NULL when there is none. */
const columns_column *columns_find(const columns_table *table, const char *name);

/** Whether the row has a value. */
bool columns_is_valid(const columns_column *column, size_t row);

/** "Int32", "UInt32", "Float64", "Date32", "Utf8", "Boolean", ... or "unsupported". */
const char *columns_type_name(columns_type type);

/** Room for the text of a date or a moment. */
#define COLUMNS_MOMENT_SIZE 96

/** "2030-01-31", the date of a day since 1970-01-01. */
void columns_date_text(char out[COLUMNS_MOMENT_SIZE], int32_t day);

/** "2030-01-31T08:00:00.5" of microseconds since then, with `zone` behind it: "Z" or "". */
void columns_moment_text(char out[COLUMNS_MOMENT_SIZE], int64_t microseconds, const char *zone);

/** The size of one of a column's `values`; 0 for COLUMNS_OTHER, STRING, BLOB and LABEL. */
size_t columns_type_size(columns_type type);

/** The longest statement with its descriptors, in bytes. */
#define COLUMNS_QUERY_MAX ((size_t)8 << 20)

/**
 * Run one SELECT over many Parquet files with the same columns:
 *
 *     SELECT stage_id, avg(spot_price) AS price FROM files GROUP BY 1 ORDER BY 1
 *
 * The statement is the program's own, never a user's. Its table `files` has the columns of the
 * files and COLUMNS_FILE, the index of the row's file in `fds`. Only the columns that it uses are
 * read, as long as it names `files` once.
 *
 * @param out     the arena's
 * @param fds     regular files, open for reading; they stay open
 * @param count   1 or more
 * @param options rows_max bounds the result; NULL for the defaults
 * @return as columns_read; MCP_E_PARSE when a file lacks a column as well; MCP_E_LIMIT also beyond
 *         COLUMNS_QUERY_MAX
 */
mcp_status columns_query(const columns_table **out, columns *self, const int *fds, size_t count,
                         const char *sql, const columns_read_options *options, mcp_arena *arena,
                         mcp_error *err);

/**
 * Write a Parquet file as "<name>.tmp" in the folder, then rename it: parquet.h with its defaults.
 * A column with `valid` is OPTIONAL in the file, any other REQUIRED. Threads may call it at once.
 *
 * @param dir_fd  the folder
 * @param name    one component, "data.parquet"
 * @param table   every type before COLUMNS_OTHER; 1 to 2048 columns; no rows is fine
 * @return MCP_OK; MCP_E_PARAMS (no column, OTHER, a name twice or empty); MCP_E_LIMIT (a row of
 *         more than 64 MiB); MCP_E_IO; MCP_E_NOMEM
 */
mcp_status columns_write(int dir_fd, const char *name, const columns_table *table, mcp_error *err);

#endif
