/*
 * packer.h - compresses the pages of one file with zstd, where it pays.
 */
#ifndef COLUMNS_PACKER_H
#define COLUMNS_PACKER_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/buf.h"
#include "mcp/error.h"

struct packer {
    struct ZSTD_CCtx_s *zstd; /* NULL: nothing is compressed */
    int level;
    mcp_buf body;   /* for the caller: bytes that are to be compressed */
    mcp_buf packed; /* what was compressed last */
};

/* Begin. @param level of zstd; 0: nothing is compressed. MCP_E_PARAMS (no such level),
 * MCP_E_NOMEM. */
mcp_status packer_open(struct packer *self, int level, mcp_error *err);

/* Also for a packer that could not be opened. */
void packer_close(struct packer *self);

/* Compress bytes into `packed`. MCP_E_NOMEM, MCP_E_LIMIT, MCP_E_INTERNAL. */
mcp_status packer_pack(struct packer *self, const void *bytes, size_t length, mcp_error *err);

/* The same unless it saves less than a sixteenth; then *pays is false, and readers are spared the
 * work. */
mcp_status packer_try(bool *pays, struct packer *self, const void *bytes, size_t length,
                      mcp_error *err);

#endif
