/*
 * study_files_int.h - how the files of this folder are written.
 */
#ifndef RESULTS_STUDY_FILES_INT_H
#define RESULTS_STUDY_FILES_INT_H

#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#include "results/sheet.h"

#define STUDY_TEXT_MAX ((size_t)256 << 20) /* of one JSON file */

/* A table with the memory of its rows. */
struct study_table {
    mcp_arena *arena;
    sheet *rows;
};

/* Room for `rows` rows. MCP_OK; MCP_E_NOMEM. */
mcp_status study_table_begin(struct study_table *out, results_table table, size_t rows,
                             mcp_error *err);

/* Write the table as a file of a folder, made if need be; ends the table. */
mcp_status study_table_write(struct study_table *self, int out_fd, const char *folder,
                             const char *name, mcp_error *err);

/* Write the writer's text and a line end below the output directory; frees its buffer. */
mcp_status study_write_json(int out_fd, const char *relative, mcp_json_writer *writer,
                            mcp_error *err);

#endif
