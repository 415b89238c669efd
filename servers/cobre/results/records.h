/*
 * records.h - the files of solver, cut selection and rank statistics of one phase, written while it
 * runs.
 *
 * A long training has millions of rows, so they go to the disk batch by batch. A file is there from
 * the first row on as "<name>.tmp" and gets its name at the end; without rows there is none.
 */
#ifndef RESULTS_RECORDS_H
#define RESULTS_RECORDS_H

#include "columns/parquet.h"
#include "mcp/arena.h"
#include "mcp/error.h"

#include "results/sheet.h"
#include "sddp/records.h"

enum { RECORD_SOLVER, RECORD_RETRIES, RECORD_SELECTION, RECORD_RANKS, RECORD_FILES };

struct record_file {
    int dir_fd; /* -1: no row yet */
    parquet_writer *writer;
    sheet *batch;
    size_t batch_rows; /* room in the batch */
};

struct record_files {
    mcp_arena *arena;
    int out_fd;
    const char *phase; /* "training" or "simulation"; NULL: not begun, or ended */
    struct record_file files[RECORD_FILES];
};

/* Begin a phase; ends one that was not ended. `arena` holds the batches. */
void records_begin(struct record_files *self, mcp_arena *arena, int out_fd, const char *phase);

/*
 * Read the rows of the iterations up to `last` of an earlier training, before its files are
 * removed. A file that is not there or cannot be read, as of a run that was killed, leaves NULL.
 */
void records_recall(const columns_table *past[RECORD_FILES], columns *engine, int out_fd,
                    uint32_t last, mcp_arena *arena);

/* Append rows that were recalled. MCP_OK; MCP_E_NOMEM; MCP_E_IO. */
mcp_status records_repeat(struct record_files *self, const columns_table *const past[RECORD_FILES],
                          mcp_error *err);

/* Append the rows of an iteration or scenario. MCP_OK; MCP_E_NOMEM; MCP_E_IO. */
mcp_status records_append(struct record_files *self, const sddp_records *rows, mcp_error *err);

/* Complete the files. MCP_OK; the first failure of a file. */
mcp_status records_end(struct record_files *self, mcp_error *err);

/* End without files. Also for one that has not begun. */
void records_abort(struct record_files *self);

#endif
