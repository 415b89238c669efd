/*
 * pack.c - zstd for what goes into the database.
 *
 * Level 1: the log must keep up with commands, and JSON shrinks to a fifth at any level. What is
 * short is stored as it is. What is read back is bounded by the size that its frame declares, and
 * that by the caller, so a damaged row cannot ask for all memory.
 */
#include "service/storage/pack.h"

#include <zstd.h>

enum { WORTH_IT = 1024, LEVEL = 1 };

mcp_status universe_pack(const void **out_bytes, size_t *out_length, bool *packed,
                         const void *bytes, size_t length, mcp_arena *arena, mcp_error *err)
{
    *out_bytes = bytes;
    *out_length = length;
    *packed = false;
    if (length <= WORTH_IT)
        return MCP_OK;

    size_t room = ZSTD_compressBound(length);
    char *to = mcp_arena_alloc(arena, room);
    if (!to)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to compress %zu bytes", length);
    size_t written = ZSTD_compress(to, room, bytes, length, LEVEL);
    if (ZSTD_isError(written))
        return mcp_error_set(err, MCP_E_INTERNAL, "compressing %zu bytes: %s", length,
                             ZSTD_getErrorName(written));
    if (written < length) {
        *out_bytes = to;
        *out_length = written;
        *packed = true;
    }
    return MCP_OK;
}

static mcp_status inflate(char *to, size_t size, const void *bytes, size_t length, mcp_error *err)
{
    size_t written = ZSTD_decompress(to, size, bytes, length);
    if (ZSTD_isError(written))
        return mcp_error_set(err, MCP_E_IO, "stored bytes cannot be expanded: %s",
                             ZSTD_getErrorName(written));
    if (written != size)
        return mcp_error_set(err, MCP_E_IO, "stored bytes are shorter than they say");
    return MCP_OK;
}

mcp_status universe_unpack(const char **out_bytes, size_t *out_length, bool packed,
                           const void *bytes, size_t length, size_t max, mcp_arena *arena,
                           mcp_error *err)
{
    unsigned long long size = packed ? ZSTD_getFrameContentSize(bytes, length) : length;
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
        return mcp_error_set(err, MCP_E_IO, "stored bytes are not compressed as they say");
    if (size > max)
        return mcp_error_set(err, MCP_E_LIMIT, "stored bytes expand to %llu, more than %zu", size,
                             max);
    char *to = packed ? mcp_arena_alloc(arena, (size_t)size + 1)
                      : mcp_arena_strndup(arena, bytes ? bytes : "", length);
    if (!to)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %llu stored bytes", size);
    if (packed) {
        mcp_status st = inflate(to, (size_t)size, bytes, length, err);
        if (st != MCP_OK)
            return st;
        to[size] = '\0';
    }
    *out_bytes = to;
    *out_length = (size_t)size;
    return MCP_OK;
}
