/*
 * test_message.c - every kind of message, and every fault that makes it none (JSON-RPC 2.0, and the
 * revisions' basic pages).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/message/message.h"

static mcp_arena *arena;
static mcp__message message;
static mcp_error err;

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

static mcp_status sort(const char *text)
{
    const mcp_json *value = NULL;

    err = (mcp_error)MCP_ERROR_INIT;
    assert_int_equal(mcp__message_read(&value, arena, text, strlen(text), &err), MCP_OK);
    return mcp__message_sort(&message, value, &err);
}

static void a_request_keeps_its_parts(void **state)
{
    int64_t id = 0;

    (void)state;
    assert_int_equal(sort("{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"a/b\","
                          "\"params\":{\"_meta\":{\"progressToken\":\"t\"},\"x\":1},\"more\":[]}"),
                     MCP_OK);
    assert_int_equal(message.kind, MCP__REQUEST);
    assert_true(mcp_json_int(message.id, &id));
    assert_true(id == 9007199254740993);
    assert_string_equal(message.method, "a/b");
    assert_int_equal(mcp_json_count(message.params), 2);
    assert_string_equal(mcp_json_get_string(message.meta, "progressToken"), "t");
}

static void ids_are_strings_and_integers(void **state)
{
    static const char *const fine[] = { "1", "\"1\"", "\"\"", "0", "-7", "18446744073709551615" };
    static const char *const wrong[] = { "1.5", "1e3", "2.0", "true", "null", "{}", "[1]" };
    char text[128];

    (void)state;
    for (size_t i = 0; i < sizeof fine / sizeof fine[0]; i++) {
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"m\"}",
                       fine[i]);
        assert_int_equal(sort(text), MCP_OK);
        assert_non_null(message.id);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"m\"}",
                       wrong[i]);
        assert_int_equal(sort(text), MCP_E_REQUEST);
        assert_int_equal(message.kind, MCP__INVALID);
        assert_null(message.id);
    }
}

static void kinds_follow_from_members(void **state)
{
    (void)state;
    assert_int_equal(sort("{\"jsonrpc\":\"2.0\",\"method\":\"n\"}"), MCP_OK);
    assert_int_equal(message.kind, MCP__NOTIFICATION);
    assert_int_equal(sort("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"), MCP_OK);
    assert_int_equal(message.kind, MCP__RESPONSE);
    assert_int_equal(sort("{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{}}"), MCP_OK);
    assert_int_equal(message.kind, MCP__RESPONSE);
}

static void faults_are_named(void **state)
{
    static const struct {
        const char *text;
        mcp_status status;
        const char *words;
    } faults[] = {
        { "1", MCP_E_REQUEST, "object" },
        { "\"x\"", MCP_E_REQUEST, "object" },
        { "{}", MCP_E_REQUEST, "jsonrpc" },
        { "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"m\"}", MCP_E_REQUEST, "jsonrpc" },
        { "{\"jsonrpc\":\"2.0\\u0000\",\"id\":1,\"method\":\"m\"}", MCP_E_REQUEST, "jsonrpc" },
        { "{\"jsonrpc\":2.0,\"id\":1,\"method\":\"m\"}", MCP_E_REQUEST, "jsonrpc" },
        { "{\"JSONRPC\":\"2.0\",\"id\":1,\"method\":\"m\"}", MCP_E_REQUEST, "jsonrpc" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1}", MCP_E_REQUEST, "method" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"Method\":\"m\"}", MCP_E_REQUEST, "method" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", MCP_E_REQUEST, "method" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\\u0000b\"}", MCP_E_REQUEST, "method" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[]}", MCP_E_REQUEST,
          "params" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":null}", MCP_E_REQUEST,
          "params" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":1,\"method\":\"m\"}", MCP_E_REQUEST, "twice" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"a\":1,\"a\":1}}",
          MCP_E_REQUEST, "twice in params" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{\"a\":1,\"a\":2}}}",
          MCP_E_REQUEST, "twice in params._meta" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":1}}",
          MCP_E_ENVELOPE, "_meta" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":{\"_meta\":{\"progressToken\":1.5}}}",
          MCP_E_ENVELOPE, "progressToken" },
        { "{\"jsonrpc\":\"2.0\",\"id\":18446744073709551616,\"method\":\"m\"}", MCP_E_PARSE,
          "64 bits" },
        { "{\"jsonrpc\":\"2.0\",\"id\":-9223372036854775809,\"method\":\"m\"}", MCP_E_PARSE,
          "64 bits" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        assert_int_equal(sort(faults[i].text), faults[i].status);
        assert_int_equal(message.kind, MCP__INVALID);
        assert_non_null(strstr(err.message, faults[i].words));
    }
}

static void duplicates_deeper_down_are_the_methods_business(void **state)
{
    (void)state;
    assert_int_equal(sort("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\","
                          "\"params\":{\"arguments\":{\"a\":1,\"a\":2}}}"),
                     MCP_OK);
}

static void what_cannot_be_read_is_a_parse_error(void **state)
{
    static const char *const wrong[] = {
        "", "{", "{\"a\":1}}", "nul", "\xff\xfe", "{\"id\":1e999}", "\"\xc3\x28\""
    };
    const mcp_json *value = NULL;
    char deep[400];

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(mcp__message_read(&value, arena, wrong[i], strlen(wrong[i]), &err),
                         MCP_E_PARSE);
    memset(deep, '[', sizeof deep);
    memset(deep + sizeof deep / 2, ']', sizeof deep / 2);
    assert_int_equal(mcp__message_read(&value, arena, deep, sizeof deep, &err), MCP_E_PARSE);
    assert_null(value);
}

static void an_arena_that_is_full_is_a_parse_error(void **state)
{
    mcp_arena *small = mcp_arena_new(256);
    const mcp_json *value = NULL;
    char text[2048];

    (void)state;
    memset(text, 'a', sizeof(text));
    text[0] = text[sizeof(text) - 1] = '"';
    assert_int_equal(mcp__message_read(&value, small, text, sizeof(text), &err), MCP_E_PARSE);
    mcp_arena_free(small);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_keeps_its_parts),
        TEST(ids_are_strings_and_integers),
        TEST(kinds_follow_from_members),
        TEST(faults_are_named),
        TEST(duplicates_deeper_down_are_the_methods_business),
        TEST(what_cannot_be_read_is_a_parse_error),
        TEST(an_arena_that_is_full_is_a_parse_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
