/*
 * digest.c - SHA-256 in pieces, by libcrypto.
 *
 * The algorithm is fetched once for each object: OpenSSL 3 otherwise looks it up for every digest,
 * which takes longer than the digest of a short text.
 */
#include "keys/digest.h"

#include <stdbool.h>
#include <stdlib.h>

#include <openssl/evp.h>

#include "mcp/alloc.h"

struct keys_digest {
    EVP_MD *algorithm;
    EVP_MD_CTX *context;
    bool has_failed;
};

mcp_status keys_digest_new(keys_digest **out, mcp_error *err)
{
    keys_digest *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a digest");
    self->algorithm = EVP_MD_fetch(NULL, "SHA2-256", NULL);
    self->context = EVP_MD_CTX_new();
    if (!self->algorithm || !self->context ||
        EVP_DigestInit_ex2(self->context, self->algorithm, NULL) != 1) {
        keys_digest_free(self);
        return mcp_error_set(err, MCP_E_INTERNAL, "libcrypto has no SHA-256");
    }
    *out = self;
    return MCP_OK;
}

void keys_digest_free(keys_digest *self)
{
    if (!self)
        return;
    EVP_MD_CTX_free(self->context);
    EVP_MD_free(self->algorithm);
    free(self);
}

void keys_digest_add(keys_digest *self, const void *bytes, size_t length)
{
    if (length > 0 && EVP_DigestUpdate(self->context, bytes, length) != 1)
        self->has_failed = true;
}

mcp_status keys_digest_end(keys_digest *self, uint8_t out[MCP_SHA256_SIZE], mcp_error *err)
{
    unsigned written = 0;
    bool is_made = EVP_DigestFinal_ex(self->context, out, &written) == 1 && !self->has_failed;

    self->has_failed = EVP_DigestInit_ex2(self->context, NULL, NULL) != 1;
    if (!is_made || written != MCP_SHA256_SIZE)
        return mcp_error_set(err, MCP_E_INTERNAL, "libcrypto made no SHA-256");
    return MCP_OK;
}
