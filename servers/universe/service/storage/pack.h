/* pack.h - zstd for what goes into the database. */
#ifndef UNIVERSE_PACK_H
#define UNIVERSE_PACK_H

#include <stdbool.h>
#include <stddef.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/**
 * Compress where it pays: more than a KiB, and shorter afterwards.
 *
 * @param out_bytes the arena's, or `bytes` itself where *packed is false
 */
mcp_status universe_pack(const void **out_bytes, size_t *out_length, bool *packed,
                         const void *bytes, size_t length, mcp_arena *arena, mcp_error *err);

/** Undo it. `max` bounds what comes out; followed by a NUL that is not counted. */
mcp_status universe_unpack(const char **out_bytes, size_t *out_length, bool packed,
                           const void *bytes, size_t length, size_t max, mcp_arena *arena,
                           mcp_error *err);

#endif
