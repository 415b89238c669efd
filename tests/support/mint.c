/*
 * mint.c - what an authorization server does, for tests.
 */
#include "mint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

EVP_PKEY *mint_rsa(unsigned bits)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "RSA", (size_t)bits);

    assert_non_null(key);
    return key;
}

EVP_PKEY *mint_ec(const char *curve)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", curve);

    assert_non_null(key);
    return key;
}

/* OpenSSL writes plain base64 with padding; base64url is another spelling of it. */
const char *mint_base64url(mcp_arena *arena, const void *bytes, size_t length)
{
    char *text = mcp_arena_alloc(arena, (length + 2) / 3 * 4 + 1);

    assert_non_null(text);
    int written = EVP_EncodeBlock((unsigned char *)text, bytes, (int)length);
    while (written > 0 && text[written - 1] == '=')
        written--;
    text[written] = '\0';
    for (char *c = text; *c; c++)
        *c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
    return text;
}

/* A number of a key, `size` bytes long; 0: as long as it is. */
static const char *number(mcp_arena *arena, const EVP_PKEY *key, const char *name, size_t size)
{
    uint8_t bytes[2048];
    BIGNUM *value = NULL;

    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &value), 1);
    if (size == 0)
        size = (size_t)BN_num_bytes(value);
    assert_true(size <= sizeof bytes);
    assert_int_equal(BN_bn2binpad(value, bytes, (int)size), (int)size);
    BN_free(value);
    return mint_base64url(arena, bytes, size);
}

static const char *curve_of(const EVP_PKEY *key)
{
    int bits = EVP_PKEY_get_bits(key);

    return bits == 256 ? "P-256" : bits == 384 ? "P-384" : "P-521";
}

const char *mint_jwk(mcp_arena *arena, const EVP_PKEY *key, const char *members)
{
    if (EVP_PKEY_is_a(key, "RSA"))
        return mcp_arena_printf(arena, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"%s}",
                                number(arena, key, OSSL_PKEY_PARAM_RSA_N, 0),
                                number(arena, key, OSSL_PKEY_PARAM_RSA_E, 0), members);
    size_t size = ((size_t)EVP_PKEY_get_bits(key) + 7) / 8;
    return mcp_arena_printf(arena, "{\"kty\":\"EC\",\"crv\":\"%s\",\"x\":\"%s\",\"y\":\"%s\"%s}",
                            curve_of(key), number(arena, key, OSSL_PKEY_PARAM_EC_PUB_X, size),
                            number(arena, key, OSSL_PKEY_PARAM_EC_PUB_Y, size), members);
}

const char *mint_jwks(mcp_arena *arena, const char *one, const char *two, const char *three)
{
    return mcp_arena_printf(arena, "{\"keys\":[%s%s%s%s%s]}", one ? one : "", one && two ? "," : "",
                            two ? two : "", two && three ? "," : "", three ? three : "");
}

/* What is signed: both parts, base64url. */
static const char *signing_input(mcp_arena *arena, const char *header, const char *claims)
{
    return mcp_arena_printf(arena, "%s.%s", mint_base64url(arena, header, strlen(header)),
                            mint_base64url(arena, claims, strlen(claims)));
}

/* RFC 7518 section 3.4: r and s side by side, where OpenSSL writes DER. */
static size_t side_by_side(uint8_t *out, const uint8_t *der, size_t length, size_t size)
{
    const uint8_t *cursor = der;
    ECDSA_SIG *both = d2i_ECDSA_SIG(NULL, &cursor, (long)length);

    assert_non_null(both);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_r(both), out, (int)size), (int)size);
    assert_int_equal(BN_bn2binpad(ECDSA_SIG_get0_s(both), out + size, (int)size), (int)size);
    ECDSA_SIG_free(both);
    return 2 * size;
}

const char *mint_token(mcp_arena *arena, EVP_PKEY *key, const char *alg, const char *header,
                       const char *claims)
{
    const char *digest = strstr(alg, "384") ? "SHA384" : strstr(alg, "512") ? "SHA512" : "SHA256";
    const char *input = signing_input(arena, header, claims);
    uint8_t made[2048];
    uint8_t signature[2048];
    size_t length = sizeof made;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    EVP_PKEY_CTX *how = NULL;

    assert_int_equal(EVP_DigestSignInit_ex(context, &how, digest, NULL, NULL, key, NULL), 1);
    if (alg[0] == 'P') {
        assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(how, RSA_PKCS1_PSS_PADDING), 1);
        assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(how, RSA_PSS_SALTLEN_DIGEST), 1);
    }
    assert_int_equal(EVP_DigestSign(context, made, &length, (const uint8_t *)input, strlen(input)),
                     1);
    EVP_MD_CTX_free(context);
    if (alg[0] == 'E')
        length = side_by_side(signature, made, length, ((size_t)EVP_PKEY_get_bits(key) + 7) / 8);
    else
        memcpy(signature, made, length);
    return mcp_arena_printf(arena, "%s.%s", input, mint_base64url(arena, signature, length));
}

const char *mint_token_hs256(mcp_arena *arena, const char *secret, const char *header,
                             const char *claims)
{
    const char *input = signing_input(arena, header, claims);
    uint8_t mac[EVP_MAX_MD_SIZE];
    unsigned length = 0;

    assert_non_null(HMAC(EVP_sha256(), secret, (int)strlen(secret), (const uint8_t *)input,
                         strlen(input), mac, &length));
    return mcp_arena_printf(arena, "%s.%s", input, mint_base64url(arena, mac, length));
}
