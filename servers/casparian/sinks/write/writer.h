/*
 * writer.h - one file of a sink with the thread that writes it.
 *
 * Its owner, the sink's thread, pushes rows; the writer's thread takes them, writes and frees them.
 */
#ifndef CASPARIAN_SINKS_WRITE_WRITER_H
#define CASPARIAN_SINKS_WRITE_WRITER_H

#include "sinks/write/driver.h"
#include "sinks/write/rows.h"

#define WRITER_QUEUE 4        /* batches that wait */
#define WRITER_WAIT_MS 300000 /* for the thread to take one: its disk is stuck */

typedef struct writer writer;

/* What a file became. */
typedef struct writer_result {
    int64_t bytes;
    char sha256[CASPARIAN_HASH_SIZE];
} writer_result;

/* Create the file and start the thread. @param out yours, end it with writer_free.
 * @param version of the plugin, for the lineage; outlives the writer, as the options do. */
mcp_status writer_open(writer **out, const write_driver *driver, const write_options *options,
                       const char *version, mcp_error *err);

/* Hand over rows. Takes `rows`, also when it fails. Waits while the queue is full.
 * The failure of the writer; MCP_E_TIMEOUT. */
mcp_status writer_push(writer *self, write_rows *rows, mcp_error *err);

/* No more rows come: the thread completes the file. Does not wait. */
void writer_end(writer *self);

/* Wait for the end; afterwards the thread has ended. The failure of the writer. */
mcp_status writer_wait(writer *self, writer_result *out, mcp_error *err);

/* End the thread; the file goes unless writer_wait has succeeded. NULL is fine. */
void writer_free(writer *self);

#endif
