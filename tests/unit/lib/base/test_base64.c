/*
 * test_base64.c - RFC 4648's own vectors, and what strict decoding refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base64.h"

/* RFC 4648 section 10. */
static const struct {
    const char *plain;
    const char *padded;
    const char *bare;
} vectors[] = {
    { "", "", "" },
    { "f", "Zg==", "Zg" },
    { "fo", "Zm8=", "Zm8" },
    { "foo", "Zm9v", "Zm9v" },
    { "foob", "Zm9vYg==", "Zm9vYg" },
    { "fooba", "Zm9vYmE=", "Zm9vYmE" },
    { "foobar", "Zm9vYmFy", "Zm9vYmFy" },
};

static void encodes_the_vectors(void **state)
{
    char out[16];

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        size_t length = strlen(vectors[i].plain);
        assert_int_equal(mcp__base64_length(length), strlen(vectors[i].padded));
        mcp__base64_encode(out, vectors[i].plain, length);
        assert_memory_equal(out, vectors[i].padded, strlen(vectors[i].padded));
    }
}

static void url_safe_goes_both_ways(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    size_t length = 0;

    (void)state;
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++) {
        const char *plain = vectors[i].plain;
        assert_string_equal(mcp__base64url_encode(arena, plain, strlen(plain)), vectors[i].bare);
        const char *back = mcp__base64url_decode(arena, vectors[i].bare, strlen(vectors[i].bare),
                                                 &length);
        assert_non_null(back);
        assert_string_equal(back, plain);
        assert_int_equal(length, strlen(plain));
    }
    mcp_arena_free(arena);
}

static void alphabets_differ_in_two_characters(void **state)
{
    static const unsigned char bytes[] = { 0xfb, 0xef, 0xff };
    mcp_arena *arena = mcp_arena_new(0);
    char out[4];

    (void)state;
    mcp__base64_encode(out, bytes, 3);
    assert_memory_equal(out, "++//", 4);
    assert_string_equal(mcp__base64url_encode(arena, bytes, 3), "--__");
    mcp_arena_free(arena);
}

static void decoding_is_strict(void **state)
{
    static const char *const wrong[] = {
        "Z", "Zg==", "Zm9vY", "Zm 9", "Zm9+", "Zh", "Zm9", "Zg\n"
    };
    mcp_arena *arena = mcp_arena_new(0);
    size_t length = 0;

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_null(mcp__base64url_decode(arena, wrong[i], strlen(wrong[i]), &length));
    assert_null(mcp__base64url_decode(arena, "Zm\0v", 4, &length));
    mcp_arena_free(arena);
}

static void lengths_do_not_overflow(void **state)
{
    (void)state;
    assert_int_equal(mcp__base64_length(SIZE_MAX), 0);
    assert_int_equal(mcp__base64_length(SIZE_MAX / 2), (SIZE_MAX / 2 + 2) / 3 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encodes_the_vectors),
        cmocka_unit_test(url_safe_goes_both_ways),
        cmocka_unit_test(alphabets_differ_in_two_characters),
        cmocka_unit_test(decoding_is_strict),
        cmocka_unit_test(lengths_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
