/*
 * test_hash.c - vectors of FIPS 180-4 (its examples "abc" and the empty message) and RFC 4231
 * (cases 1, 2, 6).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/hash.h"
#include <cmocka.h>

static void assert_hex(const uint8_t digest[MCP_SHA256_SIZE], const char *wanted)
{
    char text[2 * MCP_SHA256_SIZE + 1];

    for (size_t i = 0; i < MCP_SHA256_SIZE; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(text, wanted);
}

static void digests_are_those_of_the_standard(void **state)
{
    uint8_t digest[MCP_SHA256_SIZE];

    (void)state;
    assert_int_equal(mcp_sha256(digest, "abc", 3, NULL), MCP_OK);
    assert_hex(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(mcp_sha256(digest, NULL, 0, NULL), MCP_OK);
    assert_hex(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

static void signatures_are_those_of_the_rfc(void **state)
{
    uint8_t digest[MCP_SHA256_SIZE];
    uint8_t key[131];
    static const char long_key[] = "Test Using Larger Than Block-Size Key - Hash Key First";

    (void)state;
    memset(key, 0x0b, 20);
    assert_int_equal(mcp_hmac_sha256(digest, key, 20, "Hi There", 8, NULL), MCP_OK);
    assert_hex(digest, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    assert_int_equal(mcp_hmac_sha256(digest, "Jefe", 4, "what do ya want for nothing?", 28, NULL),
                     MCP_OK);
    assert_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    assert_int_equal(mcp_hmac_sha256(digest, key, sizeof key, long_key, strlen(long_key), NULL),
                     MCP_OK);
    assert_hex(digest, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

static void equality_looks_at_every_byte(void **state)
{
    (void)state;
    assert_true(mcp_hash_equal("abcd", "abcd", 4));
    assert_false(mcp_hash_equal("abcd", "abce", 4));
    assert_false(mcp_hash_equal("abcd", "bbcd", 4));
    assert_true(mcp_hash_equal("a", "b", 0));
}

/* The first vector is that of the authors' key, bytes 0 to 15, and an empty text. */
static void siphash_is_the_same_everywhere(void **state)
{
    static const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 }, none[2];
    static const unsigned char bytes[20] = { 42 };

    (void)state;
    assert_true(mcp_siphash13(key, NULL, 0) == 0xabac0158050fc4dc);
    assert_true(mcp_siphash13(none, bytes, 20) == 4418977803187233897u);
    assert_true(mcp_siphash13(none, bytes, 12) == 983776962555776753u);
    assert_true(mcp_siphash13(key, bytes, 8) != mcp_siphash13(none, bytes, 8));
}

static void fnv_is_that_of_its_authors(void **state)
{
    (void)state;
    assert_true(mcp_fnv1a("") == 0xcbf29ce484222325);
    assert_true(mcp_fnv1a("a") == 0xaf63dc4c8601ec8c);
    assert_true(mcp_fnv1a("foobar") == 0x85944171f73967e8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests_are_those_of_the_standard),
        cmocka_unit_test(signatures_are_those_of_the_rfc),
        cmocka_unit_test(equality_looks_at_every_byte),
        cmocka_unit_test(siphash_is_the_same_everywhere),
        cmocka_unit_test(fnv_is_that_of_its_authors),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
