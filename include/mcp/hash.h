/**
 * hash.h - SHA-256, HMAC with SHA-256, and hashes for tables.
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

/** Size of a SHA-256 digest in bytes. */
#define MCP_SHA256_SIZE 32

/**
 * Compute a SHA-256 digest (FIPS 180-4). Any thread.
 *
 * @return MCP_OK; MCP_E_INTERNAL: the cryptographic library failed
 */
mcp_status mcp_sha256(uint8_t out[MCP_SHA256_SIZE], const void *bytes, size_t length,
                      mcp_error *err);

/** Compute an HMAC with SHA-256 (RFC 2104). Any thread. @return as mcp_sha256 */
mcp_status mcp_hmac_sha256(uint8_t out[MCP_SHA256_SIZE], const void *key, size_t key_length,
                           const void *bytes, size_t length, mcp_error *err);

/** Compare two byte ranges in constant time. @return true when they are equal */
bool mcp_hash_equal(const void *a, const void *b, size_t length);

/**
 * Compute SipHash-1-3 (Aumasson and Bernstein, 2012), with the same result on every machine. For
 * tables with keys from outside, under a random `key`. Any thread.
 */
uint64_t mcp_siphash13(const uint64_t key[2], const void *bytes, size_t length);

/** Compute FNV-1a of a text, 64 bits. For tables with trusted keys. Any thread. */
uint64_t mcp_fnv1a(const char *text);

#ifdef __cplusplus
}
#endif

#endif
