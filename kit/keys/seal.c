/*
 * seal.c - AES-256-GCM by libcrypto.
 *
 * libcrypto gives plaintext before the tag was compared; keys_open commits it to the buffer
 * afterwards only, and overwrites it otherwise.
 */
#include "keys/seal.h"

#include <stdbool.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "keys/file.h"
#include "keys/seal_int.h"
#include "mcp/random.h"

static mcp_status room_failed(mcp_error *err, mcp_status st)
{
    return mcp_error_set(err, st, "sealing: %s", mcp_status_words(st));
}

static mcp_status libcrypto_failed(mcp_error *err)
{
    ERR_clear_error();
    return mcp_error_set(err, MCP_E_INTERNAL, "libcrypto failed at AES-256-GCM");
}

/* Everything but the tag. */
static bool run(EVP_CIPHER_CTX *context, bool is_sealing, const uint8_t *key, const uint8_t *nonce,
                const void *associated, size_t associated_length, unsigned char *out,
                const void *in, size_t length)
{
    int written = 0;

    if (EVP_CipherInit_ex2(context, EVP_aes_256_gcm(), key, nonce, is_sealing, NULL) != 1)
        return false;
    if (associated_length > 0 &&
        EVP_CipherUpdate(context, NULL, &written, associated, (int)associated_length) != 1)
        return false;
    return length == 0 || (EVP_CipherUpdate(context, out, &written, in, (int)length) == 1 &&
                           written == (int)length);
}

mcp_status keys_seal_with(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE],
                          const uint8_t nonce[KEYS_NONCE_SIZE], const void *associated,
                          size_t associated_length, const void *text, size_t length, mcp_error *err)
{
    int written = 0;

    if (length > KEYS_SEAL_MAX || associated_length > KEYS_SEAL_MAX)
        return room_failed(err, MCP_E_LIMIT);
    char *room = mcp_buf_reserve(out, length + KEYS_SEAL_EXTRA);
    if (!room)
        return room_failed(err, out->status);
    unsigned char *cipher = (unsigned char *)room + KEYS_NONCE_SIZE;
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    memcpy(room, nonce, KEYS_NONCE_SIZE);
    bool is_made = context &&
                   run(context, true, key, nonce, associated, associated_length, cipher, text,
                       length) &&
                   EVP_CipherFinal_ex(context, cipher + length, &written) == 1 &&
                   EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, KEYS_TAG_SIZE,
                                       cipher + length) == 1;
    EVP_CIPHER_CTX_free(context);
    if (!is_made)
        return libcrypto_failed(err);
    mcp_buf_commit(out, length + KEYS_SEAL_EXTRA);
    return MCP_OK;
}

mcp_status keys_seal(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE], const void *associated,
                     size_t associated_length, const void *text, size_t length, mcp_error *err)
{
    uint8_t nonce[KEYS_NONCE_SIZE];
    mcp_status st = mcp_random_bytes(nonce, sizeof nonce, err);

    if (st != MCP_OK)
        return st;
    return keys_seal_with(out, key, nonce, associated, associated_length, text, length, err);
}

mcp_status keys_open(mcp_buf *out, const uint8_t key[KEYS_SECRET_SIZE], const void *associated,
                     size_t associated_length, const void *sealed, size_t length, mcp_error *err)
{
    const uint8_t *nonce = sealed;
    uint8_t tag[KEYS_TAG_SIZE];
    int written = 0;

    if (length < KEYS_SEAL_EXTRA)
        return mcp_error_set(err, MCP_E_DENIED, "a sealed text is cut");
    if (length > KEYS_SEAL_MAX + KEYS_SEAL_EXTRA || associated_length > KEYS_SEAL_MAX)
        return room_failed(err, MCP_E_LIMIT);
    length -= KEYS_SEAL_EXTRA;
    const uint8_t *cipher = nonce + KEYS_NONCE_SIZE;
    memcpy(tag, cipher + length, sizeof tag);
    unsigned char *room = (unsigned char *)mcp_buf_reserve(out, length);
    if (!room && out->status != MCP_OK)
        return room_failed(err, out->status);
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    bool is_ready = context &&
                    run(context, false, key, nonce, associated, associated_length, room, cipher,
                        length) &&
                    EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, sizeof tag, tag) == 1;
    unsigned char none[1];
    bool is_genuine = is_ready && EVP_CipherFinal_ex(context, none, &written) == 1;
    EVP_CIPHER_CTX_free(context);
    if (is_genuine) {
        mcp_buf_commit(out, length);
        return MCP_OK;
    }
    if (room)
        OPENSSL_cleanse(room, length);
    ERR_clear_error();
    if (!is_ready)
        return libcrypto_failed(err);
    return mcp_error_set(err, MCP_E_DENIED,
                         "a sealed text was changed, or is of another key or place");
}

/* ---- key files ------------------------------------------------------------------------------- */

mcp_status keys_secret_create(uint8_t out[KEYS_SECRET_SIZE], const char *path, mcp_error *err)
{
    uint8_t key[KEYS_SECRET_SIZE];
    mcp_status st = mcp_random_bytes(key, sizeof key, err);

    if (st == MCP_OK)
        st = keys_file_create(path, key, sizeof key, err);
    if (st == MCP_OK)
        memcpy(out, key, sizeof key);
    OPENSSL_cleanse(key, sizeof key);
    return st;
}

mcp_status keys_secret_read(uint8_t out[KEYS_SECRET_SIZE], const char *path, mcp_error *err)
{
    uint8_t key[KEYS_SECRET_SIZE + 1];
    size_t length = 0;
    mcp_status st = keys_file_read(key, sizeof key, &length, path, err);

    if (st == MCP_OK && length != KEYS_SECRET_SIZE)
        st = mcp_error_set(err, MCP_E_PARSE, "'%s' has not %d bytes", path, KEYS_SECRET_SIZE);
    if (st == MCP_OK)
        memcpy(out, key, KEYS_SECRET_SIZE);
    OPENSSL_cleanse(key, sizeof key);
    return st;
}
