/**
 * parquet.h - writes flat Parquet files, batch after batch.
 *
 *     parquet_writer *writer;
 *     parquet_writer_open(&writer, dir_fd, "data.parquet", schema, count, NULL, err);
 *     parquet_writer_append(writer, &batch, err);       any number of times
 *     parquet_writer_close(writer, err);                or parquet_writer_abort(writer)
 *
 * The file is written as "<name>.tmp" and renamed by parquet_writer_close, so a reader sees the old
 * file or the whole new one. A column is one chunk a row group, of PLAIN data pages of about 1 MiB,
 * with statistics; a COLUMNS_LABEL is a dictionary and its runs. DuckDB is not used.
 *
 * A writer keeps the row group that is being filled in memory, compressed page by page. One thread
 * uses a writer; writers of several threads are independent.
 *
 * Source: the specification of Apache Parquet's format, parquet.thrift.
 */
#ifndef COLUMNS_PARQUET_H
#define COLUMNS_PARQUET_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/error.h"

#include "columns/columns.h"

#define PARQUET_COLUMNS_MAX 2048
#define PARQUET_PRECISION_MAX 38
#define PARQUET_NAMES_MAX ((size_t)1 << 20)     /* bytes of all column names */
#define PARQUET_METADATA_MAX ((size_t)16 << 20) /* bytes of all key-value metadata */
#define PARQUET_ROW_TEXT_MAX ((size_t)64 << 20) /* bytes of all texts of a row */

typedef struct parquet_writer parquet_writer;

typedef struct parquet_column {
    const char *name;
    columns_type type; /* neither COLUMNS_OTHER nor COLUMNS_JSON */
    bool is_nullable;  /* OPTIONAL in the file, else REQUIRED */
} parquet_column;

typedef enum parquet_codec {
    PARQUET_ZSTD, /* a chunk that does not become smaller is not compressed */
    PARQUET_UNCOMPRESSED,
    PARQUET_SNAPPY /* the same as of ZSTD */
} parquet_codec;

/** The type of a COLUMNS_DECIMAL: a number of so many digits, so many of them behind the point. Its
 *  values must be within the precision. */
typedef struct parquet_decimal {
    uint8_t precision; /* 1 to PARQUET_PRECISION_MAX */
    uint8_t scale;     /* 0 to precision */
} parquet_decimal;

typedef struct parquet_pair {
    const char *key, *value; /* value may be NULL */
} parquet_pair;

typedef struct parquet_options {
    parquet_codec codec;
    int level;             /* of zstd; 0: 3 */
    size_t row_group_rows; /* at most; 0: 122,880. Wide or long rows make a row group shorter. */
    const parquet_pair *metadata;
    size_t metadata_count;
    const parquet_decimal *decimals; /* one a column; only those of COLUMNS_DECIMAL matter */
} parquet_options;

/**
 * Check the columns of a table to be written, as Parquet or as another format, which has the types
 * before COLUMNS_OTHER only.
 *
 * @param is_parquet all types of parquet_column.type are legal
 * @param name_bytes receives the length of all names with their ends
 * @return MCP_OK; MCP_E_PARAMS (how many there are, a type, a name that is empty or comes twice);
 *         MCP_E_LIMIT (longer names than PARQUET_NAMES_MAX)
 */
mcp_status parquet_check_columns(const parquet_column *schema, size_t count, bool is_parquet,
                                 size_t *name_bytes, mcp_error *err);

/**
 * Begin a file.
 *
 * @param out     yours, ended by parquet_writer_close or parquet_writer_abort
 * @param dir_fd  the folder; open until then
 * @param name    one component, "data.parquet"
 * @param schema  1 to PARQUET_COLUMNS_MAX, with names that differ
 * @param options NULL for the defaults
 * @return MCP_OK; MCP_E_PARAMS (the columns, the name, the level, a decimal type); MCP_E_LIMIT
 *         (names, metadata);
 *         MCP_E_IO, MCP_E_NOT_FOUND (the folder); MCP_E_NOMEM
 */
mcp_status parquet_writer_open(parquet_writer **out, int dir_fd, const char *name,
                               const parquet_column *schema, size_t count,
                               const parquet_options *options, mcp_error *err);

/**
 * Append rows. After a failure the file cannot be completed, and every further call returns that
 * failure.
 *
 * @param batch the columns of the file, in their order; no rows is fine
 * @return MCP_OK; MCP_E_PARAMS (other columns, a null where none may be); MCP_E_LIMIT (texts);
 *         MCP_E_IO (the disk is full, for one); MCP_E_NOMEM
 */
mcp_status parquet_writer_append(parquet_writer *self, const columns_table *batch, mcp_error *err);

/**
 * Complete the file and rename it. Ends the writer, also when it fails; then there is no new file.
 *
 * @return MCP_OK; the failure of an append; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status parquet_writer_close(parquet_writer *self, mcp_error *err);

/**
 * Complete the file, wait until the disk has it, and leave it under its temporary name, for the
 * caller to rename. Ends the writer, also when it fails; then the temporary file is gone.
 *
 * @return as parquet_writer_close
 */
mcp_status parquet_writer_finish(parquet_writer *self, mcp_error *err);

/** End the writer and remove its temporary file. NULL is fine. */
void parquet_writer_abort(parquet_writer *self);

#endif
