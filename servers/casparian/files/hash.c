/*
 * hash.c - hashes of files.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/scan.h"
#include "files/xxh64.h"
#include "keys/digest.h"
#include "mcp/alloc.h"

#define PIECE ((size_t)1 << 18)

bool casparian_hash_mode_read(casparian_hash_mode *out, const char *text)
{
    static const char *const names[] = { "none", "fast", "sha256" };
    for (int i = 0; i < 3; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = (casparian_hash_mode)i;
            return true;
        }
    }
    return false;
}

/* XXH64, or SHA-256. */
struct hasher {
    bool is_fast;
    casparian_xxh64 fast;
    keys_digest *digest;
};

static mcp_status begin(struct hasher *self, casparian_hash_mode mode, mcp_error *err)
{
    if (mode == CASPARIAN_HASH_SHA256)
        return keys_digest_new(&self->digest, err);
    self->is_fast = true;
    casparian_xxh64_init(&self->fast, 0);
    return MCP_OK;
}

static mcp_status end(char out[CASPARIAN_SCAN_HASH_SIZE], struct hasher *self, mcp_error *err)
{
    uint8_t bytes[MCP_SHA256_SIZE];
    if (self->is_fast) {
        snprintf(out, CASPARIAN_SCAN_HASH_SIZE, "%016" PRIx64, casparian_xxh64_end(&self->fast));
        return MCP_OK;
    }
    mcp_status st = keys_digest_end(self->digest, bytes, err);
    for (size_t i = 0; st == MCP_OK && i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return st;
}

static mcp_status add_all(struct hasher *self, int fd, char *piece, bool (*should_stop)(void *),
                          void *data, mcp_error *err)
{
    for (off_t at = 0;;) {
        if (should_stop && should_stop(data))
            return mcp_error_set(err, MCP_E_STOPPED, "the hash was stopped");
        ssize_t got = pread(fd, piece, PIECE, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(err, errno, "the file cannot be read");
        if (got == 0)
            return MCP_OK;
        if (self->is_fast)
            casparian_xxh64_add(&self->fast, piece, (size_t)got);
        else
            keys_digest_add(self->digest, piece, (size_t)got);
        at += got;
    }
}

mcp_status casparian_hash_file(char out[CASPARIAN_SCAN_HASH_SIZE], int fd, casparian_hash_mode mode,
                               bool (*should_stop)(void *data), void *data, mcp_error *err)
{
    struct hasher hasher = { .digest = NULL };
    char *piece = NULL;
    out[0] = '\0';
    if (mode == CASPARIAN_HASH_NONE)
        return MCP_OK;
    mcp_status st = begin(&hasher, mode, err);
    if (st == MCP_OK) {
        piece = mcp_alloc(PIECE);
        st = piece ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for a hash");
    }
    if (st == MCP_OK)
        st = add_all(&hasher, fd, piece, should_stop, data, err);
    if (st == MCP_OK)
        st = end(out, &hasher, err);
    free(piece);
    keys_digest_free(hasher.digest);
    return st;
}
