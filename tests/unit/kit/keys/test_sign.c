/*
 * test_sign.c - Ed25519: the vectors of RFC 8032, 7.1; key files, which the openssl tool reads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "keys/sign.h"
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

static void the_vectors_of_the_rfc(void **state)
{
    static const struct {
        const char *seed, *public_key, *message, *signature;
    } rows[] = {
        { "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
          "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
          "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e3970"
          "1cf9b46bd25bf5f0595bbe24655141438e7a100b" },
        { "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
          "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613"
          "d0f11d8c387b2eaeb4302aeeb00d291612bb0c00" },
        { "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
          "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
          "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760"
          "984dc6594a7c15e9716ed28dc027beceea1ec40a" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t seed[32], wanted[64], message[64], made[64], public_key[32];
        keys_pair *pair = NULL;
        unhex(seed, rows[i].seed);
        assert_int_equal(keys_pair_new(&pair, seed, NULL), MCP_OK);
        unhex(wanted, rows[i].public_key);
        keys_pair_public(pair, public_key);
        assert_memory_equal(public_key, wanted, 32);
        size_t length = unhex(message, rows[i].message);
        unhex(wanted, rows[i].signature);
        assert_int_equal(keys_sign(made, pair, message, length, NULL), MCP_OK);
        assert_memory_equal(made, wanted, 64);
        assert_int_equal(keys_verify(public_key, made, message, length, NULL), MCP_OK);
        made[i] ^= 1;
        assert_int_equal(keys_verify(public_key, made, message, length, NULL), MCP_E_DENIED);
        made[i] ^= 1;
        assert_int_equal(keys_verify(public_key, made, "other", 5, NULL), MCP_E_DENIED);
        keys_pair_free(pair);
    }
}

static int run_tool(const char *const *arguments)
{
    child tool = { 0 };
    const char *line = NULL;
    size_t length = 0;

    child_start(&tool, (char *const *)arguments);
    while (child_next(&tool, &line, &length))
        continue;
    int status = child_end(&tool);
    child_clear(&tool);
    return status;
}

static void the_openssl_tool_agrees(void **state)
{
    scratch folder;
    keys_pair *pair = NULL;
    uint8_t public_key[32], again[32], signature[64];
    mcp_buf pem;

    (void)state;
    scratch_open(&folder);
    mcp_buf_init(&pem, 1000);
    const char *private_path = scratch_path(&folder, "key.pem");
    assert_int_equal(keys_pair_create(&pair, private_path, NULL), MCP_OK);
    keys_pair_public(pair, public_key);
    assert_int_equal(keys_public_pem(&pem, public_key, NULL), MCP_OK);
    assert_int_equal(keys_public_read(again, pem.data, pem.length, NULL), MCP_OK);
    assert_memory_equal(again, public_key, 32);
    assert_int_equal(keys_sign(signature, pair, "message", 7, NULL), MCP_OK);
    scratch_write(&folder, "public.pem", pem.data, pem.length);
    scratch_write(&folder, "message", "message", 7);
    scratch_write(&folder, "signature", signature, 64);
    const char *check[] = { "/usr/bin/env", "openssl", "pkey",   "-in",
                            private_path,   "-check",  "-noout", NULL };
    assert_int_equal(run_tool(check), 0);
    char key_path[SCRATCH_PATH_MAX], message_path[SCRATCH_PATH_MAX], path[SCRATCH_PATH_MAX];
    snprintf(key_path, sizeof key_path, "%s", scratch_path(&folder, "public.pem"));
    snprintf(message_path, sizeof message_path, "%s", scratch_path(&folder, "message"));
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "signature"));
    const char *verify[] = { "/usr/bin/env", "openssl", "pkeyutl", "-verify", "-pubin",
                             "-inkey",       key_path,  "-rawin",  "-in",     message_path,
                             "-sigfile",     path,      NULL };
    assert_int_equal(run_tool(verify), 0);
    keys_pair_free(pair);

    snprintf(path, sizeof path, "%s", scratch_path(&folder, "theirs.pem"));
    const char *generate[] = { "/usr/bin/env", "openssl", "genpkey", "-algorithm",
                               "ed25519",      "-out",    path,      NULL };
    assert_int_equal(run_tool(generate), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(keys_pair_read(&pair, path, NULL), MCP_OK);
    keys_pair_free(pair);
    mcp_buf_clear(&pem);
    scratch_close(&folder);
}

static void a_file_of_a_key_is_private(void **state)
{
    static const char ec[] = "-----BEGIN PRIVATE KEY-----\nMIGHAgEA\n-----END PRIVATE KEY-----\n";
    scratch folder;
    struct stat st;
    keys_pair *pair = NULL, *again = NULL;
    uint8_t first[32], second[32];
    mcp_error err = MCP_ERROR_INIT;
    char path[SCRATCH_PATH_MAX];

    (void)state;
    scratch_open(&folder);
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "key.pem"));
    assert_int_equal(keys_pair_read(&again, path, &err), MCP_E_NOT_FOUND);
    assert_int_equal(keys_pair_create(&pair, path, &err), MCP_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(keys_pair_create(&again, path, &err), MCP_E_EXISTS);
    assert_int_equal(keys_pair_read(&again, path, &err), MCP_OK);
    keys_pair_public(pair, first);
    keys_pair_public(again, second);
    assert_memory_equal(first, second, 32);
    keys_pair_free(again);
    keys_pair_free(pair);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(keys_pair_read(&again, path, &err), MCP_E_DENIED);
    assert_non_null(strstr(err.message, path));
    scratch_write(&folder, "other.pem", ec, strlen(ec));
    snprintf(path, sizeof path, "%s", scratch_path(&folder, "other.pem"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(keys_pair_read(&again, path, &err), MCP_E_PARSE);
    assert_int_equal(keys_public_read(first, ec, strlen(ec), &err), MCP_E_PARSE);
    scratch_close(&folder);
}

static mcp_status make_once(void *data)
{
    keys_pair *pair = NULL;
    mcp_buf pem;

    (void)data;
    mcp_buf_init(&pem, 1000);
    mcp_status st = keys_pair_new(&pair, (const uint8_t[32]){ 1 }, NULL);
    if (st == MCP_OK)
        st = keys_public_pem(&pem, (const uint8_t[32]){ 9 }, NULL);
    keys_pair_free(pair);
    mcp_buf_clear(&pem);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(make_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc),
        cmocka_unit_test(the_openssl_tool_agrees),
        cmocka_unit_test(a_file_of_a_key_is_private),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
