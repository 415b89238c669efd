/*
 * test_name.c - safe names, and when they are shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/feature/list/name.h"
#include <cmocka.h>

static void every_other_byte_becomes_an_underscore(void **state)
{
    char out[MCP__SAFE_NAME_SIZE];

    (void)state;
    mcp__safe_name(out, "cobre/query-results");
    assert_string_equal(out, "cobre_query_results");
    mcp__safe_name(out, "Az09_ .\xc3\xa9");
    assert_string_equal(out, "Az09_____");
    mcp__safe_name(out, "");
    assert_string_equal(out, "");
}

static void a_long_name_is_cut_at_64(void **state)
{
    char name[100];
    char out[MCP__SAFE_NAME_SIZE];

    (void)state;
    memset(name, 'n', sizeof name);
    name[sizeof name - 1] = '\0';
    mcp__safe_name(out, name);
    assert_int_equal(strlen(out), 64);
}

static void the_mode_decides_by_revision(void **state)
{
    static const mcp_revision revisions[] = { MCP_2024_11_05, MCP_2025_03_26, MCP_2025_06_18,
                                              MCP_2025_11_25 };

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        assert_false(mcp__safe_names_shown(MCP_NAMES_CANONICAL, revisions[i]));
        assert_true(mcp__safe_names_shown(MCP_NAMES_SAFE, revisions[i]));
        assert_int_equal(mcp__safe_names_shown(MCP_NAMES_AUTO, revisions[i]), i >= 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_other_byte_becomes_an_underscore),
        cmocka_unit_test(a_long_name_is_cut_at_64),
        cmocka_unit_test(the_mode_decides_by_revision),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
