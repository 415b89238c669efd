/**
 * hash.h - SHA-256, and signing with it.
 */
#ifndef MCP_HASH_H
#define MCP_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes of a SHA-256 digest. */
#define MCP_SHA256_SIZE 32

/**
 * The SHA-256 digest of some bytes (FIPS 180-4). Any thread.
 *
 * @return MCP_OK; MCP_E_INTERNAL: the cryptographic library failed
 */
mcp_status mcp_sha256(uint8_t out[MCP_SHA256_SIZE], const void *bytes, size_t length,
                      mcp_error *err);

/** The HMAC with SHA-256 of some bytes (RFC 2104). Any thread. @return as mcp_sha256 */
mcp_status mcp_hmac_sha256(uint8_t out[MCP_SHA256_SIZE], const void *key, size_t key_length,
                           const void *bytes, size_t length, mcp_error *err);

/** Whether two runs of bytes are equal; takes the same time wherever they differ. */
bool mcp_hash_equal(const void *a, const void *b, size_t length);

#ifdef __cplusplus
}
#endif

#endif
