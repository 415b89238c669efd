/*
 * NAME=VALUE: what is JSON is that value, any other text is a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "commands/input.h"

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

static void gives(mcp_arena *arena, const char *pair, const char *name, const char *json)
{
    const char *found = NULL;
    const mcp_json *value = NULL, *expected = NULL;
    assert_int_equal(portarium_input_pair(&found, &value, arena, pair, NULL), MCP_OK);
    assert_int_equal(mcp_json_read(&expected, arena, json, strlen(json), NULL), MCP_OK);
    assert_string_equal(found, name);
    assert_true(mcp_json_equal(value, expected));
}

static void test_json_and_texts(void **state)
{
    gives(*state, "n=3", "n", "3");
    gives(*state, "n=-0.5e2", "n", "-50.0");
    gives(*state, "ok=true", "ok", "true");
    gives(*state, "none=null", "none", "null");
    gives(*state, "list=[1,\"a\"]", "list", "[1,\"a\"]");
    gives(*state, "n=\"3\"", "n", "\"3\"");
    gives(*state, "v=1.4.0", "v", "\"1.4.0\"");
    gives(*state, "target=production", "target", "\"production\"");
    gives(*state, "url=http://h/?a=b", "url", "\"http://h/?a=b\"");
    gives(*state, "empty=", "empty", "\"\"");
    gives(*state, "quote=say \"x\"", "quote", "\"say \\\"x\\\"\"");
    gives(*state, "a.b=1", "a.b", "1");
}

static void test_no_name(void **state)
{
    const char *name = NULL;
    const mcp_json *value = NULL;
    assert_int_equal(portarium_input_pair(&name, &value, *state, "n", NULL), MCP_E_PARAMS);
    assert_int_equal(portarium_input_pair(&name, &value, *state, "=1", NULL), MCP_E_PARAMS);
    assert_int_not_equal(portarium_input_pair(&name, &value, *state, "a=\xff", NULL), MCP_OK);
}

/* {"a":"xxx..."} of that many bytes */
static mcp_status read_file_of(mcp_arena *arena, size_t bytes)
{
    char path[] = "/tmp/portarium-input-XXXXXX";
    const mcp_json *value = NULL;
    int fd = mkstemp(path);
    FILE *file = fdopen(fd, "wb");
    assert_non_null(file);
    fputs("{\"a\":\"", file);
    for (size_t i = 0; i < bytes - 8; i++)
        fputc('x', file);
    fputs("\"}", file);
    fclose(file);
    mcp_status st = portarium_input_file(&value, arena, path, NULL);
    unlink(path);
    return st;
}

static void test_a_file_has_16_mebibytes(void **state)
{
    assert_int_equal(read_file_of(*state, 16 << 20), MCP_OK);
    assert_int_equal(read_file_of(*state, (16 << 20) + 1), MCP_E_LIMIT);
}

static void test_what_is_no_object(void **state)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;
    assert_int_equal(portarium_input_file(&value, *state, "/nowhere/a.json", &err),
                     MCP_E_NOT_FOUND);
    assert_non_null(strstr(err.message, "/nowhere/a.json"));
    assert_int_equal(portarium_input_file(&value, *state, "/dev/null", &err), MCP_E_PARAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_and_texts),
        cmocka_unit_test(test_no_name),
        cmocka_unit_test(test_a_file_has_16_mebibytes),
        cmocka_unit_test(test_what_is_no_object),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
