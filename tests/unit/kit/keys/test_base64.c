/*
 * test_base64.c - the vectors of RFC 4648, section 10, and texts that only lenient readers take.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "keys/base64.h"
#include "oom.h"

static void the_vectors(void **state)
{
    static const char *const rows[][2] = { { "f", "Zg==" },           { "fo", "Zm8=" },
                                           { "foo", "Zm9v" },         { "foob", "Zm9vYg==" },
                                           { "fooba", "Zm9vYmE=" },   { "foobar", "Zm9vYmFy" },
                                           { "\xff\xef\xfe", "/+/+" } };
    char exact[8];
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 100);
    assert_int_equal(keys_base64(&out, "", 0), MCP_OK);
    assert_int_equal(keys_unbase64(&out, "", 0, NULL), MCP_OK);
    assert_int_equal(out.length, 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = strlen(rows[i][0]);
        mcp_buf_reset(&out);
        assert_int_equal(keys_base64(&out, rows[i][0], length), MCP_OK);
        assert_string_equal(out.data, rows[i][1]);
        mcp_buf_reset(&out);
        assert_int_equal(keys_unbase64(&out, rows[i][1], strlen(rows[i][1]), NULL), MCP_OK);
        assert_int_equal(out.length, length);
        assert_memory_equal(out.data, rows[i][0], length);
        assert_true(keys_unbase64_exact(exact, length, rows[i][1], strlen(rows[i][1])));
        assert_memory_equal(exact, rows[i][0], length);
        assert_false(keys_unbase64_exact(exact, length + 1, rows[i][1], strlen(rows[i][1])));
        assert_false(keys_unbase64_exact(exact, length - 1, rows[i][1], strlen(rows[i][1])));
    }
    mcp_buf_clear(&out);
}

static void each_text_has_one_spelling(void **state)
{
    static const char *const wrong[] = { "Zg=",      "Zg",     "Zh==", "Zm9=", "Z===", "====",
                                         "Zg==Zg==", "Zm9v\n", "Zm 9", "Zm-_", "=Zg=" };
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 100);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(keys_unbase64(&out, wrong[i], strlen(wrong[i]), NULL), MCP_E_PARSE);
    assert_int_equal(keys_unbase64(&out, "Zm\0v", 4, NULL), MCP_E_PARSE);
    assert_int_equal(out.length, 0);
    mcp_buf_clear(&out);
}

static mcp_status read_once(void *data)
{
    mcp_buf out;

    (void)data;
    mcp_buf_init(&out, 100);
    mcp_status st = keys_unbase64(&out, "Zm9v", 4, NULL);
    if (st == MCP_OK)
        st = keys_base64(&out, "foo", 3);
    mcp_buf_clear(&out);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(read_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors),
        cmocka_unit_test(each_text_has_one_spelling),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
