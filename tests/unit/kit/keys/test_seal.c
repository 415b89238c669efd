/*
 * test_seal.c - AES-256-GCM: the test cases of its specification and of NIST's CAVP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "keys/seal.h"
#include "keys/seal_int.h"
#include "oom.h"
#include "scratch.h"

static size_t unhex(uint8_t *out, const char *text)
{
    size_t count = strlen(text) / 2;

    for (size_t i = 0; i < count; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(text + 2 * i, "%2x", &byte), 1);
        out[i] = (uint8_t)byte;
    }
    return count;
}

#define ZEROS "00000000000000000000000000000000"
#define KEY "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"
#define TEXT                                                                                       \
    "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6" \
    "b525b16aedf5aa0de657ba637b39"
#define CIPHER                                                                                     \
    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b105682" \
    "8838c5f61e6393ba7a0abcc9f662"

/* Cases 13 to 16 of McGrew and Viega, "The Galois/Counter Mode of Operation", and case 0 of CAVP's
 * gcmEncryptExtIV256. */
static const struct row {
    const char *key, *nonce, *associated, *text, *cipher, *tag;
} rows[] = {
    { ZEROS ZEROS, "000000000000000000000000", "", "", "", "530f8afbc74536b9a963b4f1c4cb738b" },
    { ZEROS ZEROS, "000000000000000000000000", "", ZEROS, "cea7403d4d606b6e074ec5d3baf39d18",
      "d0d1c8a799996bf0265b98b5d48ab919" },
    { KEY, "cafebabefacedbaddecaf888", "", TEXT "1aafd255", CIPHER "898015ad",
      "b094dac5d93471bdec1a502270e3cc6c" },
    { KEY, "cafebabefacedbaddecaf888", "feedfacedeadbeeffeedfacedeadbeefabaddad2", TEXT, CIPHER,
      "76fc6ece0f4e1768cddf8853bb2d551b" },
    { "b52c505a37d78eda5dd34f20c22540ea1b58963cf8e5bf8ffa85f9f2492505b4",
      "516c33929df5a3284ff463d7", "", "", "", "bdc1ac884d332457a1d2664f168c76f0" },
};

static void the_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        uint8_t key[32], nonce[12], associated[64], text[128], wanted[160];
        mcp_buf out;
        mcp_buf_init(&out, 1000);
        unhex(key, row->key);
        size_t made = unhex(nonce, row->nonce);
        memcpy(wanted, nonce, made);
        size_t associated_length = unhex(associated, row->associated);
        size_t length = unhex(text, row->text);
        made += unhex(wanted + made, row->cipher);
        made += unhex(wanted + made, row->tag);
        assert_int_equal(
            keys_seal_with(&out, key, nonce, associated, associated_length, text, length, NULL),
            MCP_OK);
        assert_int_equal(out.length, made);
        assert_memory_equal(out.data, wanted, made);
        mcp_buf_reset(&out);
        assert_int_equal(keys_open(&out, key, associated, associated_length, wanted, made, NULL),
                         MCP_OK);
        assert_int_equal(out.length, length);
        if (length > 0)
            assert_memory_equal(out.data, text, length);
        mcp_buf_clear(&out);
    }
}

static void a_changed_text_is_refused(void **state)
{
    uint8_t key[32] = { 7 };
    mcp_buf sealed, out;

    (void)state;
    mcp_buf_init(&sealed, 1000);
    mcp_buf_init(&out, 1000);
    assert_int_equal(keys_seal(&sealed, key, "row 1", 5, "secret", 6, NULL), MCP_OK);
    assert_int_equal(sealed.length, 6 + KEYS_SEAL_EXTRA);
    for (size_t i = 0; i < sealed.length; i++) {
        sealed.data[i] ^= 1;
        assert_int_equal(keys_open(&out, key, "row 1", 5, sealed.data, sealed.length, NULL),
                         MCP_E_DENIED);
        assert_int_equal(keys_open(&out, key, "row 1", 5, sealed.data, i, NULL), MCP_E_DENIED);
        sealed.data[i] ^= 1;
    }
    assert_int_equal(keys_open(&out, key, "row 2", 5, sealed.data, sealed.length, NULL),
                     MCP_E_DENIED);
    key[31] = 1;
    assert_int_equal(keys_open(&out, key, "row 1", 5, sealed.data, sealed.length, NULL),
                     MCP_E_DENIED);
    assert_int_equal(out.length, 0);
    key[31] = 0;
    assert_int_equal(keys_open(&out, key, "row 1", 5, sealed.data, sealed.length, NULL), MCP_OK);
    assert_memory_equal(out.data, "secret", 6);
    mcp_buf_clear(&sealed);
    mcp_buf_clear(&out);
}

static void two_seals_of_one_text_differ(void **state)
{
    uint8_t key[32] = { 7 };
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 1000);
    assert_int_equal(keys_seal(&out, key, NULL, 0, "secret", 6, NULL), MCP_OK);
    size_t half = out.length;
    assert_int_equal(keys_seal(&out, key, NULL, 0, "secret", 6, NULL), MCP_OK);
    assert_memory_not_equal(out.data, out.data + half, half);
    mcp_buf_clear(&out);
    mcp_buf_init(&out, 20);
    assert_int_equal(keys_seal(&out, key, NULL, 0, "secret", 6, NULL), MCP_E_LIMIT);
    mcp_buf_clear(&out);
}

static void a_file_of_a_key_is_private(void **state)
{
    scratch folder;
    struct stat st;
    uint8_t key[32], again[32];
    char path[SCRATCH_PATH_MAX];
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    scratch_open(&folder);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "secret"));
    assert_int_equal(keys_secret_create(key, path, &err), MCP_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(st.st_size, 32);
    assert_int_equal(keys_secret_read(again, path, &err), MCP_OK);
    assert_memory_equal(key, again, 32);
    assert_int_equal(keys_secret_create(again, path, &err), MCP_E_EXISTS);
    assert_int_equal(chmod(path, 0604), 0);
    assert_int_equal(keys_secret_read(again, path, &err), MCP_E_DENIED);
    scratch_write(&folder, "long", "0123456789012345678901234567890123", 34);
    scratch_write(&folder, "short", "0123456789", 10);
    assert_int_equal(chmod(scratch_path(&folder, "long"), 0600), 0);
    assert_int_equal(chmod(scratch_path(&folder, "short"), 0600), 0);
    assert_int_equal(keys_secret_read(again, scratch_path(&folder, "long"), &err), MCP_E_PARSE);
    assert_int_equal(keys_secret_read(again, scratch_path(&folder, "short"), &err), MCP_E_PARSE);
    assert_int_equal(keys_secret_read(again, folder.path, &err), MCP_E_PARSE);
    assert_int_equal(keys_secret_create(again, scratch_path(&folder, "none/secret"), &err),
                     MCP_E_NOT_FOUND);
    scratch_close(&folder);
}

static mcp_status seal_once(void *data)
{
    mcp_buf sealed, out;

    (void)data;
    mcp_buf_init(&sealed, 1000);
    mcp_buf_init(&out, 1000);
    mcp_status st = keys_seal(&sealed, (const uint8_t[32]){ 1 }, NULL, 0, "text", 4, NULL);
    if (st == MCP_OK)
        st = keys_open(&out, (const uint8_t[32]){ 1 }, NULL, 0, sealed.data, sealed.length, NULL);
    mcp_buf_clear(&sealed);
    mcp_buf_clear(&out);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(seal_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors),
        cmocka_unit_test(a_changed_text_is_refused),
        cmocka_unit_test(two_seals_of_one_text_differ),
        cmocka_unit_test(a_file_of_a_key_is_private),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
