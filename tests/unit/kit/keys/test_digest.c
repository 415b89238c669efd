/*
 * test_digest.c - SHA-256 in pieces: the examples of FIPS 180-4.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "keys/canonical.h"
#include "keys/digest.h"
#include "oom.h"

static void expect(keys_digest *digest, const char *hex)
{
    uint8_t bytes[MCP_SHA256_SIZE];
    char text[KEYS_HEX_SIZE];

    assert_int_equal(keys_digest_end(digest, bytes, NULL), MCP_OK);
    keys_hex(text, bytes);
    assert_string_equal(text, hex);
}

static void pieces_have_the_digest_of_the_whole(void **state)
{
    static const char text[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    keys_digest *digest = NULL;

    (void)state;
    assert_int_equal(keys_digest_new(&digest, NULL), MCP_OK);
    expect(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    keys_digest_add(digest, "a", 1);
    keys_digest_add(digest, NULL, 0);
    keys_digest_add(digest, "bc", 2);
    expect(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    for (size_t i = 0; i < sizeof text - 1; i++)
        keys_digest_add(digest, text + i, 1);
    expect(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    for (int i = 0; i < 1000000; i += 100)
        keys_digest_add(
            digest,
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
            "aaaaaaaaaaaaaaaaaaaaaaaa",
            100);
    expect(digest, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    keys_digest_free(digest);
    keys_digest_free(NULL);
}

static mcp_status make_once(void *data)
{
    keys_digest *digest = NULL;
    mcp_status st = keys_digest_new(&digest, NULL);

    (void)data;
    keys_digest_free(digest);
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
        cmocka_unit_test(pieces_have_the_digest_of_the_whole),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
