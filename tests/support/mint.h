/*
 * mint.h - keys, JSON Web Keys and signed tokens for tests, made by OpenSSL alone.
 *
 * A failure ends the test. Texts are the arena's.
 */
#ifndef MINT_H
#define MINT_H

#include <stddef.h>

#include <openssl/evp.h>

#include "mcp/arena.h"

/* Free them with EVP_PKEY_free. `curve` is "P-256", "P-384", "P-521" or another name of
 * OpenSSL's. */
EVP_PKEY *mint_rsa(unsigned bits);
EVP_PKEY *mint_ec(const char *curve);

const char *mint_base64url(mcp_arena *arena, const void *bytes, size_t length);

/*
 * The public half as a JWK: its numbers, then `members`, which begin with a comma or are empty:
 * `,"kid":"a","use":"sig"`.
 */
const char *mint_jwk(mcp_arena *arena, const EVP_PKEY *key, const char *members);

/* {"keys":[...]} of up to three JWKs; those that are NULL are left out. */
const char *mint_jwks(mcp_arena *arena, const char *one, const char *two, const char *three);

/* A token with that very header and those claims, signed as `alg` says ("RS256" ... "ES384"). */
const char *mint_token(mcp_arena *arena, EVP_PKEY *key, const char *alg, const char *header,
                       const char *claims);

/* As mint_token, but the signature is an HMAC-SHA-256 with those bytes as its key. */
const char *mint_token_hs256(mcp_arena *arena, const char *secret, const char *header,
                             const char *claims);

#endif
