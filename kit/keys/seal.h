/**
 * seal.h - encryption with a secret key: AES-256-GCM (NIST SP 800-38D).
 *
 * A sealed text is a random nonce of 12 bytes, the ciphertext, and a tag of 16 bytes. The nonce is
 * drawn for each text; with one key at most 2^32 texts may be sealed (SP 800-38D, 8.3).
 */
#ifndef KEYS_SEAL_H
#define KEYS_SEAL_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#define KEYS_SECRET_SIZE 32
#define KEYS_NONCE_SIZE 12
#define KEYS_TAG_SIZE 16

/** What sealing adds to a text. */
#define KEYS_SEAL_EXTRA (KEYS_NONCE_SIZE + KEYS_TAG_SIZE)

/** The longest text, and the longest associated data. */
#define KEYS_SEAL_MAX ((size_t)1 << 30)

/**
 * Append a sealed text. Any thread.
 *
 * @param associated bytes that are not in the result but must be the same when it is opened: the
 *                   name of the row it is stored in, so that it cannot be moved to another one
 * @return MCP_OK; MCP_E_LIMIT (the buffer, or longer than KEYS_SEAL_MAX); MCP_E_NOMEM; MCP_E_IO (no
 *         random bytes); MCP_E_INTERNAL (libcrypto)
 */
mcp_status keys_seal(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE], const void *associated,
                     size_t associated_length, const void *text, size_t length, mcp_error *err);

/**
 * Append the text of a sealed one. Nothing is appended unless all of it is genuine.
 *
 * @return as keys_seal; MCP_E_DENIED: it was changed, or sealed with another key or other
 *         associated data
 */
mcp_status keys_open(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE], const void *associated,
                     size_t associated_length, const void *sealed, size_t length, mcp_error *err);

/** Make a file, mode 0600, of 32 random bytes, and give them. @return as keys_pair_create */
mcp_status keys_secret_create(uint8_t out[KEYS_SECRET_SIZE], const char *path, mcp_error *err);

/** Read such a file. @return as keys_pair_read; MCP_E_PARSE: it has not 32 bytes */
mcp_status keys_secret_read(uint8_t out[KEYS_SECRET_SIZE], const char *path, mcp_error *err);

#endif
