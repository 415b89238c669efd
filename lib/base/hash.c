/*
 * hash.c - digests by OpenSSL's libcrypto: we do not write hashes.
 */
#include "mcp/hash.h"

#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

static mcp_status fail(mcp_error *err)
{
    return mcp_error_set(err, MCP_E_INTERNAL, "SHA-256 is not to be had from libcrypto");
}

mcp_status mcp_sha256(uint8_t out[MCP_SHA256_SIZE], const void *bytes, size_t length,
                      mcp_error *err)
{
    unsigned written = 0;
    uint8_t digest[EVP_MAX_MD_SIZE];

    if (EVP_Digest(length > 0 ? bytes : "", length, digest, &written, EVP_sha256(), NULL) != 1 ||
        written != MCP_SHA256_SIZE)
        return fail(err);
    for (size_t i = 0; i < MCP_SHA256_SIZE; i++)
        out[i] = digest[i];
    return MCP_OK;
}

mcp_status mcp_hmac_sha256(uint8_t out[MCP_SHA256_SIZE], const void *key, size_t key_length,
                           const void *bytes, size_t length, mcp_error *err)
{
    unsigned written = 0;
    uint8_t digest[EVP_MAX_MD_SIZE];

    if (key_length > INT_MAX ||
        !HMAC(EVP_sha256(), key_length > 0 ? key : "", (int)key_length, bytes, length, digest,
              &written) ||
        written != MCP_SHA256_SIZE)
        return fail(err);
    for (size_t i = 0; i < MCP_SHA256_SIZE; i++)
        out[i] = digest[i];
    return MCP_OK;
}

bool mcp_hash_equal(const void *a, const void *b, size_t length)
{
    return CRYPTO_memcmp(a, b, length) == 0;
}
