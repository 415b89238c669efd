/**
 * arrow.h - writes Arrow IPC files, batch after batch.
 *
 *     arrow_writer *writer;
 *     arrow_writer_open(&writer, dir_fd, "hydros.arrow", schema, count, err);
 *     arrow_writer_append(writer, &batch, err);       any number of times
 *     arrow_writer_close(writer, err);                or arrow_writer_abort(writer)
 *
 * The file is written as "<name>.tmp" and renamed by arrow_writer_close, so a reader sees the old
 * file or the whole new one. Appended rows become record batches of at most 65,536 rows, not
 * compressed, of the metadata version V5.
 *
 * A writer keeps one record batch in memory. One thread uses a writer; writers of several threads
 * are independent.
 *
 * Source: the Arrow columnar format, "IPC File Format"; Schema.fbs, Message.fbs, File.fbs.
 */
#ifndef COLUMNS_ARROW_H
#define COLUMNS_ARROW_H

#include <stddef.h>

#include "mcp/error.h"

#include "columns/columns.h"
#include "columns/parquet.h"

#define ARROW_BATCH_ROWS 65536
#define ARROW_BATCH_BYTES ((size_t)32 << 20)  /* about which a record batch ends */
#define ARROW_ROW_TEXT_MAX ((size_t)64 << 20) /* bytes of all texts of a row */

typedef struct arrow_writer arrow_writer;

/**
 * Begin a file.
 *
 * @param out    yours, ended by arrow_writer_close or arrow_writer_abort
 * @param dir_fd the folder; open until then
 * @param name   one component, "hydros.arrow"
 * @param schema 1 to PARQUET_COLUMNS_MAX columns, as those of a Parquet file; copied
 * @return MCP_OK; MCP_E_PARAMS (the columns, the name); MCP_E_LIMIT (names); MCP_E_IO,
 *         MCP_E_NOT_FOUND (the folder); MCP_E_NOMEM
 */
mcp_status arrow_writer_open(arrow_writer **out, int dir_fd, const char *name,
                             const parquet_column *schema, size_t count, mcp_error *err);

/**
 * Append rows. After a failure the file cannot be completed, and every further call returns that
 * failure.
 *
 * @param batch the columns of the file, in their order; no rows is fine
 * @return MCP_OK; MCP_E_PARAMS (other columns, a null where none may be); MCP_E_LIMIT (texts);
 *         MCP_E_IO (the disk is full, for one); MCP_E_NOMEM
 */
mcp_status arrow_writer_append(arrow_writer *self, const columns_table *batch, mcp_error *err);

/**
 * Complete the file and rename it. Ends the writer, also when it fails; then there is no new file.
 *
 * @return MCP_OK; the failure of an append; MCP_E_IO; MCP_E_NOMEM
 */
mcp_status arrow_writer_close(arrow_writer *self, mcp_error *err);

/** End the writer and remove its temporary file. NULL is fine. */
void arrow_writer_abort(arrow_writer *self);

/** Write a whole table. A column with `valid` is nullable in the file, any other is not. */
mcp_status columns_write_arrow(int dir_fd, const char *name, const columns_table *table,
                               mcp_error *err);

#endif
