/**
 * sign.h - Ed25519 signatures (RFC 8032), and the files of their keys.
 *
 * A private key's file is PKCS#8 in PEM without a password, mode 0600: `openssl pkey -in FILE`
 * reads it, and a file of `openssl genpkey -algorithm ed25519` is read here.
 */
#ifndef KEYS_SIGN_H
#define KEYS_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "mcp/buf.h"
#include "mcp/error.h"

#define KEYS_SEED_SIZE 32
#define KEYS_PUBLIC_SIZE 32
#define KEYS_SIGNATURE_SIZE 64

/** A private key with its public one. Never changes, so threads may share it. */
typedef struct keys_pair keys_pair;

/**
 * Make a pair from its seed (RFC 8032, section 5.1.5).
 *
 * @param out  yours, free it with keys_pair_free
 * @param seed NULL: random bytes
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_IO (no random bytes); MCP_E_INTERNAL (libcrypto)
 */
mcp_status keys_pair_new(keys_pair **out, const uint8_t seed[KEYS_SEED_SIZE], mcp_error *err);

/** The private key is overwritten first. NULL is fine. */
void keys_pair_free(keys_pair *self);

/**
 * Make a random pair and its file, which appears whole or not at all.
 *
 * @return as keys_pair_new; MCP_E_EXISTS: there is such a file, which is left as it is;
 *         MCP_E_NOT_FOUND, MCP_E_DENIED, MCP_E_IO: the folder
 */
mcp_status keys_pair_create(keys_pair **out, const char *path, mcp_error *err);

/**
 * Read a private key's file.
 *
 * @return as keys_pair_new; MCP_E_NOT_FOUND, MCP_E_IO; MCP_E_DENIED: it cannot be read, or others
 *         than its owner can, or its owner is neither this process's user nor root; MCP_E_PARSE:
 *         it has no Ed25519 key in PEM, or one under a password. The message names the file, and
 *         nothing of its contents.
 */
mcp_status keys_pair_read(keys_pair **out, const char *path, mcp_error *err);

/** The public key. */
void keys_pair_public(const keys_pair *self, uint8_t out[KEYS_PUBLIC_SIZE]);

/** Append the public key as PEM (SubjectPublicKeyInfo), as `openssl pkey -pubout` writes it.
 *  @return MCP_OK; MCP_E_NOMEM; MCP_E_LIMIT (the buffer) */
mcp_status keys_public_pem(mcp_buf *out, const uint8_t key[KEYS_PUBLIC_SIZE], mcp_error *err);

/** Read a public key from such a text. @return MCP_OK; MCP_E_PARSE; MCP_E_NOMEM */
mcp_status keys_public_read(uint8_t out[KEYS_PUBLIC_SIZE], const char *pem, size_t length,
                            mcp_error *err);

/** Sign bytes. Any thread. @return MCP_OK; MCP_E_NOMEM; MCP_E_INTERNAL (libcrypto) */
mcp_status keys_sign(uint8_t out[KEYS_SIGNATURE_SIZE], const keys_pair *pair, const void *bytes,
                     size_t length, mcp_error *err);

/**
 * Verify a signature. Any thread.
 *
 * @return MCP_OK; MCP_E_DENIED: it is not that key's signature of these bytes; MCP_E_NOMEM;
 *         MCP_E_INTERNAL (libcrypto)
 */
mcp_status keys_verify(const uint8_t key[KEYS_PUBLIC_SIZE],
                       const uint8_t signature[KEYS_SIGNATURE_SIZE], const void *bytes,
                       size_t length, mcp_error *err);

#endif
