/*
 * sign.c - Ed25519 by libcrypto.
 */
#include "keys/sign.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "keys/file.h"
#include "mcp/alloc.h"
#include "mcp/random.h"

#define PEM_MAX 4096

struct keys_pair {
    EVP_PKEY *key;
    uint8_t public_key[KEYS_PUBLIC_SIZE];
};

static mcp_status libcrypto_failed(mcp_error *err, const char *what)
{
    ERR_clear_error();
    return mcp_error_set(err, MCP_E_INTERNAL, "libcrypto failed: %s", what);
}

/* Takes `key`. */
static mcp_status pair_of(keys_pair **out, EVP_PKEY *key, mcp_error *err)
{
    size_t length = KEYS_PUBLIC_SIZE;
    keys_pair *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self) {
        EVP_PKEY_free(key);
        return mcp_error_set(err, MCP_E_NOMEM, "out of memory for a key");
    }
    self->key = key;
    if (EVP_PKEY_get_raw_public_key(key, self->public_key, &length) != 1 ||
        length != KEYS_PUBLIC_SIZE) {
        keys_pair_free(self);
        return libcrypto_failed(err, "a public key");
    }
    *out = self;
    return MCP_OK;
}

mcp_status keys_pair_new(keys_pair **out, const uint8_t seed[KEYS_SEED_SIZE], mcp_error *err)
{
    uint8_t own[KEYS_SEED_SIZE];

    if (!seed && mcp_random_bytes(own, sizeof own, err) != MCP_OK)
        return MCP_E_IO;
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed ? seed : own,
                                                 KEYS_SEED_SIZE);
    OPENSSL_cleanse(own, sizeof own);
    if (!key)
        return libcrypto_failed(err, "an Ed25519 key");
    return pair_of(out, key, err);
}

void keys_pair_free(keys_pair *self)
{
    if (!self)
        return;
    EVP_PKEY_free(self->key); /* overwrites it */
    free(self);
}

void keys_pair_public(const keys_pair *self, uint8_t out[KEYS_PUBLIC_SIZE])
{
    memcpy(out, self->public_key, KEYS_PUBLIC_SIZE);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* No password is asked for: a key under one cannot be read. */
static int no_password(char *out, int size, int is_writing, void *data)
{
    (void)out;
    (void)size;
    (void)is_writing;
    (void)data;
    return -1;
}

static mcp_status write_private(const keys_pair *pair, const char *path, mcp_error *err)
{
    BIO *memory = BIO_new(BIO_s_secmem());
    char *text = NULL;

    if (!memory ||
        PEM_write_bio_PKCS8PrivateKey(memory, pair->key, NULL, NULL, 0, NULL, NULL) != 1) {
        BIO_free(memory);
        return libcrypto_failed(err, "a private key as PEM");
    }
    long length = BIO_get_mem_data(memory, &text);
    mcp_status st = keys_file_create(path, text, (size_t)length, err);
    BIO_free(memory);
    return st;
}

mcp_status keys_pair_create(keys_pair **out, const char *path, mcp_error *err)
{
    keys_pair *pair = NULL;
    mcp_status st = keys_pair_new(&pair, NULL, err);

    if (st == MCP_OK)
        st = write_private(pair, path, err);
    if (st != MCP_OK) {
        keys_pair_free(pair);
        return st;
    }
    *out = pair;
    return MCP_OK;
}

mcp_status keys_pair_read(keys_pair **out, const char *path, mcp_error *err)
{
    char text[PEM_MAX];
    size_t length = 0;
    EVP_PKEY *key = NULL;
    mcp_status st = keys_file_read(text, sizeof text, &length, path, err);

    if (st != MCP_OK)
        return st;
    BIO *memory = BIO_new_mem_buf(text, (int)length);
    if (memory)
        key = PEM_read_bio_PrivateKey(memory, NULL, no_password, NULL);
    BIO_free(memory);
    OPENSSL_cleanse(text, sizeof text);
    ERR_clear_error();
    if (!key || !EVP_PKEY_is_a(key, "ED25519")) {
        EVP_PKEY_free(key);
        return mcp_error_set(err, MCP_E_PARSE,
                             "'%s' has no Ed25519 key without a password as PEM (PKCS#8)", path);
    }
    return pair_of(out, key, err);
}

mcp_status keys_public_pem(mcp_buf *out, const uint8_t key[KEYS_PUBLIC_SIZE], mcp_error *err)
{
    EVP_PKEY *held = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, KEYS_PUBLIC_SIZE);
    BIO *memory = BIO_new(BIO_s_mem());
    char *text = NULL;
    mcp_status st = MCP_OK;

    if (!held || !memory || PEM_write_bio_PUBKEY(memory, held) != 1) {
        st = libcrypto_failed(err, "a public key as PEM");
    } else {
        long length = BIO_get_mem_data(memory, &text);
        st = mcp_buf_append(out, text, (size_t)length);
        if (st != MCP_OK)
            mcp_error_set(err, st, "a public key: %s", mcp_status_words(st));
    }
    BIO_free(memory);
    EVP_PKEY_free(held);
    return st;
}

mcp_status keys_public_read(uint8_t out[KEYS_PUBLIC_SIZE], const char *pem, size_t length,
                            mcp_error *err)
{
    size_t written = KEYS_PUBLIC_SIZE;
    uint8_t bytes[KEYS_PUBLIC_SIZE];
    EVP_PKEY *key = NULL;
    BIO *memory = length <= PEM_MAX ? BIO_new_mem_buf(pem, (int)length) : NULL;

    if (memory)
        key = PEM_read_bio_PUBKEY(memory, NULL, no_password, NULL);
    BIO_free(memory);
    bool is_read = key && EVP_PKEY_is_a(key, "ED25519") &&
                   EVP_PKEY_get_raw_public_key(key, bytes, &written) == 1 &&
                   written == sizeof bytes;
    EVP_PKEY_free(key);
    ERR_clear_error();
    if (!is_read)
        return mcp_error_set(err, MCP_E_PARSE, "this is no public Ed25519 key as PEM");
    memcpy(out, bytes, sizeof bytes);
    return MCP_OK;
}

/* ---- signatures ------------------------------------------------------------------------------ */

mcp_status keys_sign(uint8_t out[KEYS_SIGNATURE_SIZE], const keys_pair *pair, const void *bytes,
                     size_t length, mcp_error *err)
{
    uint8_t signature[KEYS_SIGNATURE_SIZE];
    size_t written = sizeof signature;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_made = context && EVP_DigestSignInit(context, NULL, NULL, NULL, pair->key) == 1 &&
                   EVP_DigestSign(context, signature, &written, bytes, length) == 1 &&
                   written == sizeof signature;

    EVP_MD_CTX_free(context);
    if (!is_made)
        return libcrypto_failed(err, "an Ed25519 signature");
    memcpy(out, signature, sizeof signature);
    return MCP_OK;
}

mcp_status keys_verify(const uint8_t key[KEYS_PUBLIC_SIZE],
                       const uint8_t signature[KEYS_SIGNATURE_SIZE], const void *bytes,
                       size_t length, mcp_error *err)
{
    EVP_PKEY *held = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, key, KEYS_PUBLIC_SIZE);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_ready = held && context && EVP_DigestVerifyInit(context, NULL, NULL, NULL, held) == 1;
    int verdict = is_ready
                      ? EVP_DigestVerify(context, signature, KEYS_SIGNATURE_SIZE, bytes, length)
                      : -1;

    EVP_MD_CTX_free(context);
    EVP_PKEY_free(held);
    ERR_clear_error();
    if (verdict == 1)
        return MCP_OK;
    if (!is_ready)
        return libcrypto_failed(err, "the verification of a signature");
    return mcp_error_set(err, MCP_E_DENIED, "the signature is not of this key and these bytes");
}
