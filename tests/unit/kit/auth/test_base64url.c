/*
 * test_base64url.c - the vectors of RFC 4648 section 10 and RFC 7515 appendix C, and every way to
 * be wrong.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "auth/base64url.h"

static int set_up(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

static void the_vectors_decode(void **state)
{
    static const struct {
        const char *text;
        const char *bytes;
        size_t length;
    } rows[] = {
        { "", "", 0 },
        { "Zg", "f", 1 },
        { "Zm8", "fo", 2 },
        { "Zm9v", "foo", 3 },
        { "Zm9vYg", "foob", 4 },
        { "Zm9vYmE", "fooba", 5 },
        { "Zm9vYmFy", "foobar", 6 },
        { "A-z_4ME", "\x03\xec\xff\xe0\xc1", 5 },
        { "AA", "\0", 1 },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t *bytes = NULL;
        size_t length = 99;
        assert_int_equal(auth_base64url_decode(&bytes, &length, rows[i].text, strlen(rows[i].text),
                                               *state, NULL),
                         MCP_OK);
        assert_int_equal(length, rows[i].length);
        assert_memory_equal(bytes, rows[i].bytes, length);
        assert_int_equal(bytes[length], 0);
    }
}

static void all_else_is_refused(void **state)
{
    static const struct {
        const char *text;
        int64_t offset;
    } rows[] = {
        { "A", 1 },                      /* no byte has six bits */
        { "Zm9vY", 5 },   { "Zg==", 2 }, /* padding */
        { "A+z/4ME", 1 },                /* plain base64 */
        { "Zm9 v", 5 },   { "Zm9\nv", 5 }, { "Zm 9vYmF", 2 }, { "Zm9v\xc3\xa9YQ", 4 },
        { "Zh", 2 },  /* four bits that no encoder writes */
        { "Zm9", 3 }, /* two such bits */
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint8_t *bytes = NULL;
        size_t length = 99;
        mcp_error err = MCP_ERROR_INIT;
        assert_int_equal(auth_base64url_decode(&bytes, &length, rows[i].text, strlen(rows[i].text),
                                               *state, &err),
                         MCP_E_PARSE);
        assert_int_equal(err.offset, rows[i].offset);
        assert_null(bytes);
        assert_int_equal(length, 99);
    }
}

static void a_nul_is_no_letter(void **state)
{
    const uint8_t *bytes = NULL;
    size_t length = 0;

    assert_int_equal(auth_base64url_decode(&bytes, &length, "Zm\0v", 4, *state, NULL), MCP_E_PARSE);
}

static void no_memory_is_reported(void **state)
{
    mcp_arena *small = mcp_arena_new(16);
    const uint8_t *bytes = NULL;
    size_t length = 0;
    char text[64];

    (void)state;
    memset(text, 'A', sizeof text);
    assert_int_equal(auth_base64url_decode(&bytes, &length, text, sizeof text, small, NULL),
                     MCP_E_NOMEM);
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_decode),
        cmocka_unit_test(all_else_is_refused),
        cmocka_unit_test(a_nul_is_no_letter),
        cmocka_unit_test(no_memory_is_reported),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
