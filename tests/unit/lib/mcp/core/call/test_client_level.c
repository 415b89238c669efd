/*
 * test_client_level.c - the eight levels of RFC 5424, by name and in their order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "mcp/call.h"
#include <cmocka.h>

static void levels_rise(void **state)
{
    static const char *const names[] = { "debug", "info",     "notice", "warning",
                                         "error", "critical", "alert",  "emergency" };

    (void)state;
    for (int i = 0; i < 8; i++) {
        assert_int_equal(mcp_level_find(names[i]), MCP_LEVEL_DEBUG + i);
        assert_string_equal(mcp_level_name((mcp_level)(MCP_LEVEL_DEBUG + i)), names[i]);
    }
    assert_int_equal(mcp_level_find("Warning"), MCP_LEVEL_NONE);
    assert_int_equal(mcp_level_find(""), MCP_LEVEL_NONE);
    assert_int_equal(mcp_level_find(NULL), MCP_LEVEL_NONE);
    assert_string_equal(mcp_level_name(MCP_LEVEL_NONE), "");
    assert_string_equal(mcp_level_name((mcp_level)99), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(levels_rise) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
