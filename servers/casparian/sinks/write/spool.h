/*
 * spool.h - rows that wait on disk, in a file without a name, which ends with the process.
 *
 * Each batch is a frame: the number of its table and its length, both uint32_t, then CFB1.
 */
#ifndef CASPARIAN_SINKS_WRITE_SPOOL_H
#define CASPARIAN_SINKS_WRITE_SPOOL_H

#include "mcp/buf.h"
#include "sinks/write/rows.h"

typedef struct write_spool {
    int fd;                        /* -1: there is no file */
    int64_t length, max_bytes, at; /* `at`: what was read */
    mcp_buf frame;
} write_spool;

/* No file yet. */
void write_spool_init(write_spool *self, int64_t max_bytes);

/* Append a batch; the first creates the file in the folder. MCP_E_LIMIT (it would be longer than
 * max_bytes), MCP_E_IO, MCP_E_NOMEM. */
mcp_status write_spool_add(write_spool *self, int dir_fd, size_t table,
                           const casparian_batch *batch, mcp_error *err);

/* Read the next batch. *out is NULL at the end. MCP_E_IO, MCP_E_NOMEM. */
mcp_status write_spool_next(write_spool *self, write_rows **out, mcp_error *err);

void write_spool_clear(write_spool *self);

#endif
