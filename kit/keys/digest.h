/**
 * digest.h - SHA-256 in pieces. For bytes that are all there, mcp_sha256 (mcp/hash.h) is enough.
 *
 * One object serves many digests, one after the other, and costs less than mcp_sha256 for each.
 * One thread at a time.
 */
#ifndef KEYS_DIGEST_H
#define KEYS_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "mcp/hash.h"

typedef struct keys_digest keys_digest;

/** @param out yours, free it with keys_digest_free. @return MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL:
 *  libcrypto has no SHA-256 */
mcp_status keys_digest_new(keys_digest **out, mcp_error *err);

/** NULL is fine. */
void keys_digest_free(keys_digest *self);

/** Add bytes to the digest. */
void keys_digest_add(keys_digest *self, const void *bytes, size_t length);

/**
 * Give the digest of what was added, and begin the next with nothing.
 *
 * @return MCP_OK; MCP_E_INTERNAL: libcrypto failed, now or in keys_digest_add
 */
mcp_status keys_digest_end(keys_digest *self, uint8_t out[MCP_SHA256_SIZE], mcp_error *err);

#endif
