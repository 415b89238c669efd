/*
 * rows.h - a batch that owns its buffers, on its way to a writer.
 */
#ifndef CASPARIAN_SINKS_WRITE_ROWS_H
#define CASPARIAN_SINKS_WRITE_ROWS_H

#include "check/batch.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "schema/definition.h"

#define WRITE_MOMENT_SIZE 64

typedef struct write_rows {
    struct write_rows *next;
    size_t table; /* which of the sink */
    size_t size;  /* bytes of memory */
    char source_hash[CASPARIAN_HASH_SIZE];
    char processed_at[WRITE_MOMENT_SIZE];
    casparian_batch batch;
    mcp_arena *arena; /* of decoded rows; NULL: all of it is in this allocation */
    char *bytes;      /* the same */
} write_rows;

/* Copy a batch without odd cells. @param out yours, free it with write_rows_free. MCP_E_NOMEM. */
mcp_status write_rows_copy(write_rows **out, const casparian_batch *batch, mcp_error *err);

/* Read a CFB1 batch. Takes `bytes` (malloc), also when it fails. As casparian_batch_decode. */
mcp_status write_rows_decode(write_rows **out, char *bytes, size_t length, mcp_error *err);

/* NULL is fine. */
void write_rows_free(write_rows *self);

#endif
