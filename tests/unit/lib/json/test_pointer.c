/*
 * test_pointer.c - JSON Pointer; the first test is the table of RFC 6901 section 5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/json.h"

static mcp_arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static const mcp_json *read_text(const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static void the_table_of_the_rfc(void **state)
{
    static const struct {
        const char *pointer;
        int64_t number;
    } rows[] = {
        { "/", 0 },     { "/a~1b", 1 }, { "/c%d", 2 }, { "/e^f", 3 },  { "/g|h", 4 },
        { "/i\\j", 5 }, { "/k\"l", 6 }, { "/ ", 7 },   { "/m~0n", 8 },
    };
    const mcp_json *value = read_text("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
                                      "\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
                                      "\"m~n\":8}");

    (void)state;
    assert_ptr_equal(mcp_json_pointer(value, ""), value);
    assert_int_equal(mcp_json_count(mcp_json_pointer(value, "/foo")), 2);
    assert_string_equal(mcp_json_string(mcp_json_pointer(value, "/foo/0"), NULL), "bar");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t number = -1;
        assert_true(mcp_json_int(mcp_json_pointer(value, rows[i].pointer), &number));
        assert_int_equal(number, rows[i].number);
    }
}

static void what_leads_nowhere(void **state)
{
    static const char *const pointers[] = {
        "a",
        "/x",
        "/a/3",
        "/a/-",
        "/a/-1",
        "/a/01",
        "/a/00",
        "/a/ 1",
        "/a/1 ",
        "/a/+1",
        "/a/1x",
        "/a/",
        "/a/1e0",
        "/a/0/x",
        "/a/0/0",
        "/s/0",
        "/n/a",
        "/o/a~b",
        "/o/~",
        "/o/~2",
        "/o/a~",
        "//",
        "/o//",
        "/A",
        "/a/18446744073709551616",
        "/a/99999999999",
        "/a/4294967296",
        "/a~",
        "#/a",
        "/o/a/b",
    };
    const mcp_json *value = read_text(
        "{\"a\":[1,2,3],\"s\":\"text\",\"n\":null,\"o\":{\"a~b\":1,\"~\":2,\"a/b\":3}}");

    (void)state;
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        if (mcp_json_pointer(value, pointers[i]))
            fail_msg("%s leads somewhere", pointers[i]);
    }
    assert_null(mcp_json_pointer(value, NULL));
}

static void escapes(void **state)
{
    const mcp_json *value = read_text("{\"~\":1,\"/\":2,\"~1\":3,\"/~/\":4,\"~01\":5,\"a\":{\"\":"
                                      "{\"\":6}},\"~d\":7,\"~d\":8}");
    static const struct {
        const char *pointer;
        int64_t number;
    } rows[] = {
        { "/~0", 1 },   { "/~1", 2 },  { "/~01", 3 }, { "/~1~0~1", 4 },
        { "/~001", 5 }, { "/a//", 6 }, { "/~0d", 8 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t number = -1;
        assert_true(mcp_json_int(mcp_json_pointer(value, rows[i].pointer), &number));
        assert_int_equal(number, rows[i].number);
    }
}

static void indices(void **state)
{
    const mcp_json *value = read_text("[0,1,2,3,4,5,6,7,8,9,[10,[11]]]");
    int64_t number = -1;

    (void)state;
    assert_true(mcp_json_int(mcp_json_pointer(value, "/9"), &number));
    assert_int_equal(number, 9);
    assert_true(mcp_json_int(mcp_json_pointer(value, "/10/1/0"), &number));
    assert_int_equal(number, 11);
    assert_null(mcp_json_pointer(value, "/11"));
    assert_null(mcp_json_pointer(value, "/10/1/0/0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_table_of_the_rfc),
        TEST(what_leads_nowhere),
        TEST(escapes),
        TEST(indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
