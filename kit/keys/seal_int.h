/*
 * seal_int.h - sealing with a given nonce, for tests: a nonce that is used twice under one key
 * gives the key of the tags away.
 */
#ifndef KEYS_SEAL_INT_H
#define KEYS_SEAL_INT_H

#include "keys/seal.h"

/* As keys_seal. */
mcp_status keys_seal_with(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE],
                          const uint8_t nonce[KEYS_NONCE_SIZE], const void *associated,
                          size_t associated_length, const void *text, size_t length,
                          mcp_error *err);

#endif
