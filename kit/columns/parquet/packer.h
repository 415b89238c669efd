/*
 * packer.h - compresses the pages of one file with zstd or snappy, where it pays.
 */
#ifndef COLUMNS_PACKER_H
#define COLUMNS_PACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"

/* The numbers are those of parquet.thrift, CompressionCodec. */
enum packer_codec { PACKER_NONE = 0, PACKER_SNAPPY = 1, PACKER_ZSTD = 6 };

struct packer {
    enum packer_codec codec;
    struct ZSTD_CCtx_s *zstd; /* of ZSTD */
    int level;
    mcp_buf body;   /* for the caller: bytes that are to be compressed */
    mcp_buf packed; /* what was compressed last */
};

/* Begin. @param level of zstd. MCP_E_PARAMS (no such level), MCP_E_NOMEM. */
mcp_status packer_open(struct packer *self, enum packer_codec codec, int level, mcp_error *err);

/* Also for a packer that could not be opened. */
void packer_close(struct packer *self);

/* Compress bytes into `packed`. MCP_E_NOMEM, MCP_E_LIMIT, MCP_E_INTERNAL. */
mcp_status packer_pack(struct packer *self, const void *bytes, size_t length, mcp_error *err);

/* The same unless it saves less than a sixteenth; then *pays is false, and readers are spared the
 * work. */
mcp_status packer_try(bool *pays, struct packer *self, const void *bytes, size_t length,
                      mcp_error *err);

#endif
