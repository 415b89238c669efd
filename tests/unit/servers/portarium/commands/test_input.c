/*
 * NAME=VALUE: what is JSON is that value, any other text is a text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_and_texts),
        cmocka_unit_test(test_no_name),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
