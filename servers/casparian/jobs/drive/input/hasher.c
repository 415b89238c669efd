/*
 * hasher.c - the SHA-256 of a file. The file is read by position, so the plugin's own reading of
 * the descriptor is not disturbed.
 */
#include "jobs/drive/input/hasher.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "keys/digest.h"

enum { BLOCK = 256 << 10, SMALL = 256 << 10 };

static mcp_status read_all(casparian_hasher *self, keys_digest *digest, char *block)
{
    off_t at = 0;
    while (!atomic_load(&self->is_over)) {
        ssize_t got = pread(self->fd, block, BLOCK, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return mcp_error_errno(&self->err, errno, "the file cannot be read");
        if (got == 0)
            return MCP_OK;
        keys_digest_add(digest, block, (size_t)got);
        at += got;
    }
    return mcp_error_set(&self->err, MCP_E_STOPPED, "the hash is not wanted any more");
}

static void *run(void *data)
{
    casparian_hasher *self = data;
    uint8_t hash[MCP_SHA256_SIZE];
    keys_digest *digest = NULL;
    char *block = malloc(BLOCK);
    mcp_status st = block ? keys_digest_new(&digest, &self->err)
                          : mcp_error_set(&self->err, MCP_E_NOMEM, "no memory for a hash");
    if (st == MCP_OK)
        st = read_all(self, digest, block);
    if (st == MCP_OK)
        st = keys_digest_end(digest, hash, &self->err);
    if (st == MCP_OK)
        keys_hex(self->sha256, hash);
    keys_digest_free(digest);
    free(block);
    self->status = st;
    atomic_store(&self->is_made, st == MCP_OK);
    return NULL;
}

void casparian_hasher_start(casparian_hasher *self, int fd, int64_t size)
{
    *self = (casparian_hasher){ .fd = fd, .err = MCP_ERROR_INIT };
    atomic_init(&self->is_over, false);
    atomic_init(&self->is_made, false);
    self->has_thread = size > SMALL && pthread_create(&self->thread, NULL, run, self) == 0;
    if (!self->has_thread)
        run(self);
}

bool casparian_hasher_is_ready(const casparian_hasher *self)
{
    return self->has_thread && atomic_load(&self->is_made);
}

mcp_status casparian_hasher_join(casparian_hasher *self, mcp_error *err)
{
    if (self->has_thread)
        pthread_join(self->thread, NULL);
    self->has_thread = false;
    return self->status == MCP_OK ? MCP_OK
                                  : mcp_error_set(err, self->status, "%s", self->err.message);
}

void casparian_hasher_drop(casparian_hasher *self)
{
    atomic_store(&self->is_over, true);
    casparian_hasher_join(self, NULL);
}
