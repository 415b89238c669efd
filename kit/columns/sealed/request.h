/*
 * request.h - a request as the body of a frame.
 */
#ifndef COLUMNS_SEALED_REQUEST_H
#define COLUMNS_SEALED_REQUEST_H

#include "columns/sealed/sealed.h"
#include "mcp/arena.h"
#include "mcp/buf.h"

/* What the process gets besides: settings of the pool, which it has from its start on. */
struct sealed_settings {
    uint64_t memory_bytes;
    int threads; /* 0: by the processors */
};

/* Append everything but the descriptors, whose count it has. `cpu_s` bounds the processor time.
 * @return out->status */
mcp_status request_write(mcp_buf *out, const columns_sealed_request *request,
                         const struct sealed_settings *settings);

/* Read it; strings are borrowed from `bytes`, arrays are the arena's.
 * MCP_E_PARSE; MCP_E_NOMEM. */
mcp_status request_read(columns_sealed_request *out, struct sealed_settings *settings,
                        mcp_arena *arena, const void *bytes, size_t length, mcp_error *err);

#endif
