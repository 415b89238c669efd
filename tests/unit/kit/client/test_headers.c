/*
 * test_headers.c - the headers that repeat the body of a call of 2026-07-28.
 *
 * The encoded values are those of the specification's page on transports and of RFC 4648,
 * section 10.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "client/headers.h"

static const mcp_json *read_json(mcp_arena *arena, const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static void expect(const struct client_headers *headers, size_t at, const char *name,
                   const char *value)
{
    assert_true(at < headers->count);
    assert_string_equal(headers->items[at].name, name);
    assert_string_equal(headers->items[at].value, value);
}

static void values_are_encoded_where_they_must_be(void **state)
{
    static const char *const rows[][2] = {
        { "plain value", "plain value" },
        { "", "" },
        { "caf\xc3\xa9", "=?base64?Y2Fmw6k=?=" },
        { "f\n", "=?base64?Zgo=?=" },
        { " foobar", "=?base64?IGZvb2Jhcg==?=" },
        { "fooba ", "=?base64?Zm9vYmEg?=" },
        { "=?base64?Zg==?=", "=?base64?PT9iYXNlNjQ/Wmc9PT89?=" },
        { "=?base64?Zg==", "=?base64?Zg==" },
        { "a\tb", "=?base64?YQli?=" },
    };
    mcp_arena *arena = mcp_arena_new(0);
    struct client_headers headers = { .arena = arena };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        client_headers_add_text(&headers, "X", rows[i][0], strlen(rows[i][0]));
        expect(&headers, i, "X", rows[i][1]);
    }
    assert_int_equal(headers.st, MCP_OK);
    mcp_arena_free(arena);
}

static void marked_arguments_become_headers(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    struct client_headers headers = { .arena = arena };
    const client_call call = {
        .name = "t",
        .schema = read_json(arena, "{\"properties\":{\"a\":{\"x-mcp-header\":\"Region\"},"
                                   "\"b\":{\"x-mcp-header\":\"Count\"},"
                                   "\"c\":{\"properties\":{\"d\":{\"x-mcp-header\":\"Deep\"}}},"
                                   "\"e\":{\"x-mcp-header\":\"Absent\"},"
                                   "\"f\":{\"x-mcp-header\":\"Null\"},\"g\":{}}}"),
        .arguments = read_json(
            arena, "{\"a\":\"north\",\"b\":-42,\"c\":{\"d\":true},\"f\":null,\"g\":\"x\"}"),
    };

    (void)state;
    client_headers_add_call(&headers, "tools/call", &call);
    assert_int_equal(headers.count, 5);
    expect(&headers, 0, "Mcp-Method", "tools/call");
    expect(&headers, 1, "Mcp-Name", "t");
    expect(&headers, 2, "Mcp-Param-Region", "north");
    expect(&headers, 3, "Mcp-Param-Count", "-42");
    expect(&headers, 4, "Mcp-Param-Deep", "true");
    mcp_arena_free(arena);
}

static void too_many_are_refused(void **state)
{
    struct client_headers headers = { .arena = NULL };

    (void)state;
    for (int i = 0; i < CLIENT_HEADERS_MAX; i++)
        client_headers_add(&headers, "X", "y");
    assert_int_equal(headers.st, MCP_OK);
    client_headers_add(&headers, "X", NULL);
    assert_int_equal(headers.st, MCP_OK);
    client_headers_add(&headers, "X", "y");
    assert_int_equal(headers.st, MCP_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_encoded_where_they_must_be),
        cmocka_unit_test(marked_arguments_become_headers),
        cmocka_unit_test(too_many_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
