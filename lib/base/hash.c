/*
 * hash.c - digests by OpenSSL's libcrypto, and the two short hashes of tables.
 */
#include "mcp/hash.h"

#include <endian.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string.h>

static mcp_status finish(uint8_t out[MCP_SHA256_SIZE], const uint8_t *digest, bool is_made,
                         mcp_error *err)
{
    if (!is_made)
        return mcp_error_set(err, MCP_E_INTERNAL, "SHA-256 is not to be had from libcrypto");
    memcpy(out, digest, MCP_SHA256_SIZE);
    return MCP_OK;
}

mcp_status mcp_sha256(uint8_t out[MCP_SHA256_SIZE], const void *bytes, size_t length,
                      mcp_error *err)
{
    unsigned written = 0;
    uint8_t digest[EVP_MAX_MD_SIZE];

    if (!bytes && length > 0)
        return mcp_error_set(err, MCP_E_PARAMS, "there are no bytes to hash");
    bool is_made = EVP_Digest(length > 0 ? bytes : "", length, digest, &written, EVP_sha256(),
                              NULL) == 1;
    return finish(out, digest, is_made && written == MCP_SHA256_SIZE, err);
}

mcp_status mcp_hmac_sha256(uint8_t out[MCP_SHA256_SIZE], const void *key, size_t key_length,
                           const void *bytes, size_t length, mcp_error *err)
{
    unsigned written = 0;
    uint8_t digest[EVP_MAX_MD_SIZE];

    if ((!bytes && length > 0) || (!key && key_length > 0))
        return mcp_error_set(err, MCP_E_PARAMS, "there are no bytes to hash, or no key");
    bool is_made = key_length <= INT_MAX && HMAC(EVP_sha256(), key_length > 0 ? key : "",
                                                 (int)key_length, bytes, length, digest, &written);
    return finish(out, digest, is_made && written == MCP_SHA256_SIZE, err);
}

bool mcp_hash_equal(const void *a, const void *b, size_t length)
{
    return length == 0 || (a && b && CRYPTO_memcmp(a, b, length) == 0);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static uint64_t rotate(uint64_t word, unsigned bits)
{
    return word << bits | word >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[0] = rotate(v[0], 32);
    v[2] += v[3];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
}

uint64_t mcp_siphash13(const uint64_t key[2], const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t v[4] = { key[0] ^ UINT64_C(0x736f6d6570736575), key[1] ^ UINT64_C(0x646f72616e646f6d),
                      key[0] ^ UINT64_C(0x6c7967656e657261),
                      key[1] ^ UINT64_C(0x7465646279746573) };
    uint64_t word;
    size_t left = length;

    for (; left >= sizeof word; left -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        sip_word(v, le64toh(word));
    }
    word = 0;
    if (left > 0)
        memcpy(&word, at, left);
    sip_word(v, le64toh(word) | (uint64_t)length << 56);
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t mcp_fnv1a(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return hash;
}
