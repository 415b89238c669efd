/*
 * packer.c - zstd and snappy for pages.
 *
 * A small page of measured numbers costs zstd 10 us, most of it for an entropy code that saves
 * nothing. So a small page is looked at first: a pass at a fast level finds repeated values, the
 * entropy of the bytes tells what a code could save.
 *
 * A context costs more than compressing a small page. The one that was used last is kept for the
 * next file, of whatever thread.
 */
#include "columns/parquet/packer.h"

#include <stdatomic.h>
#include <stdint.h>

#include <snappy-c.h>
#include <zstd.h>
#include <zstd_errors.h>

#define BUFFER_MAX ((size_t)256 << 20)
#define LOOK_MAX ((size_t)32 << 10) /* a larger page is compressed without a look */
#define LOOK_LEVEL (-1)
#define TINY 16 /* bytes to one: what the look compressed so far is good enough */

/* The context that no packer uses now. */
static _Atomic(ZSTD_CCtx *) idle;

mcp_status packer_open(struct packer *self, enum packer_codec codec, int level, mcp_error *err)
{
    *self = (struct packer){ .codec = codec, .level = level };
    mcp_buf_init(&self->body, BUFFER_MAX);
    mcp_buf_init(&self->packed, BUFFER_MAX);
    if (codec != PACKER_ZSTD)
        return MCP_OK;
    if (level < 1 || level > ZSTD_maxCLevel())
        return mcp_error_set(err, MCP_E_PARAMS, "zstd has the levels 1 to %d", ZSTD_maxCLevel());
    self->zstd = atomic_exchange(&idle, NULL);
    if (!self->zstd)
        self->zstd = ZSTD_createCCtx();
    return self->zstd ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory to compress");
}

void packer_close(struct packer *self)
{
    if (self->zstd)
        ZSTD_freeCCtx(atomic_exchange(&idle, self->zstd));
    self->zstd = NULL;
    mcp_buf_clear(&self->body);
    mcp_buf_clear(&self->packed);
}

static char *room_for(struct packer *self, size_t room, size_t length, mcp_error *err)
{
    mcp_buf_reset(&self->packed);
    char *to = mcp_buf_reserve(&self->packed, room);
    if (!to)
        mcp_error_set(err, self->packed.status, "no memory to compress %zu bytes", length);
    return to;
}

static mcp_status compress_snappy(struct packer *self, const void *bytes, size_t length,
                                  mcp_error *err)
{
    size_t room = snappy_max_compressed_length(length);
    char *to = room_for(self, room, length, err);

    if (!to)
        return self->packed.status;
    if (snappy_compress(bytes, length, to, &room) != SNAPPY_OK)
        return mcp_error_set(err, MCP_E_INTERNAL, "%zu bytes cannot be compressed", length);
    mcp_buf_commit(&self->packed, room);
    return MCP_OK;
}

static mcp_status compress(struct packer *self, int level, const void *bytes, size_t length,
                           mcp_error *err)
{
    size_t room = ZSTD_compressBound(length);
    char *to = room_for(self, room, length, err);

    if (!to)
        return self->packed.status;
    ZSTD_CCtx_setParameter(self->zstd, ZSTD_c_compressionLevel, level);
    size_t packed = ZSTD_compress2(self->zstd, to, room, bytes, length);
    if (ZSTD_isError(packed))
        return mcp_error_set(
            err,
            ZSTD_getErrorCode(packed) == ZSTD_error_memory_allocation ? MCP_E_NOMEM
                                                                      : MCP_E_INTERNAL,
            "%zu bytes cannot be compressed: %s", length, ZSTD_getErrorName(packed));
    mcp_buf_commit(&self->packed, packed);
    return MCP_OK;
}

mcp_status packer_pack(struct packer *self, const void *bytes, size_t length, mcp_error *err)
{
    if (self->codec == PACKER_SNAPPY)
        return compress_snappy(self, bytes, length, err);
    return compress(self, self->level, bytes, length, err);
}

/* The binary logarithm in 1/256, exact for powers of two, else at most 0.09 too small. */
static uint32_t log2_of(uint32_t value)
{
    uint32_t whole = 31 - (uint32_t)__builtin_clz(value);

    return (whole << 8) + (uint32_t)((((uint64_t)value << 8) >> whole) - 256);
}

/* The bytes that an entropy code would need, its table included. */
static size_t coded_size(const uint8_t *bytes, size_t length)
{
    uint32_t counts[256] = { 0 };
    size_t symbols = 0;
    uint64_t bits = 0;

    for (size_t i = 0; i < length; i++)
        counts[bytes[i]]++;
    for (size_t i = 0; i < 256; i++) {
        if (counts[i] == 0)
            continue;
        symbols++;
        bits += (uint64_t)counts[i] * (log2_of((uint32_t)length) - log2_of(counts[i]));
    }
    return (size_t)(bits >> 11) + symbols / 2;
}

static bool is_smaller(size_t packed, size_t length)
{
    return packed < length - length / 16;
}

mcp_status packer_try(bool *pays, struct packer *self, const void *bytes, size_t length,
                      mcp_error *err)
{
    mcp_status st = MCP_OK;

    *pays = self->codec != PACKER_NONE && length > 0;
    if (*pays && self->codec == PACKER_ZSTD && length <= LOOK_MAX) {
        st = compress(self, LOOK_LEVEL, bytes, length, err);
        if (st != MCP_OK || self->packed.length < length / TINY)
            return st;
        *pays = is_smaller(self->packed.length, length) ||
                is_smaller(coded_size(bytes, length), length);
    }
    if (*pays)
        st = packer_pack(self, bytes, length, err);
    if (*pays && st == MCP_OK)
        *pays = is_smaller(self->packed.length, length);
    return st;
}
