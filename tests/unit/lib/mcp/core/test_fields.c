/*
 * test_fields.c - in which revisions a member may be sent; the official schemas of the revisions
 * are the source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/core/fields.h"
#include <cmocka.h>

static void members_come_with_their_revision(void **state)
{
    (void)state;
    assert_false(mcp__field_is_known("Tool", "annotations", MCP_2024_11_05));
    assert_true(mcp__field_is_known("Tool", "annotations", MCP_2025_03_26));
    assert_false(mcp__field_is_known("Tool", "title", MCP_2025_03_26));
    assert_true(mcp__field_is_known("Tool", "title", MCP_2025_06_18));
    assert_false(mcp__field_is_known("Tool", "outputSchema", MCP_2025_03_26));
    assert_false(mcp__field_is_known("CallToolResult", "structuredContent", MCP_2025_03_26));
    assert_true(mcp__field_is_known("CallToolResult", "structuredContent", MCP_2025_06_18));
    assert_false(mcp__field_is_known("Implementation", "description", MCP_2025_06_18));
    assert_true(mcp__field_is_known("Implementation", "description", MCP_2025_11_25));
    assert_false(mcp__field_is_known("Result", "resultType", MCP_2025_11_25));
    assert_true(mcp__field_is_known("Result", "resultType", MCP_2026_07_28));
}

static void members_may_go_again(void **state)
{
    (void)state;
    assert_false(mcp__field_is_known("Tool", "execution", MCP_2025_06_18));
    assert_true(mcp__field_is_known("Tool", "execution", MCP_2025_11_25));
    assert_false(mcp__field_is_known("Tool", "execution", MCP_2026_07_28));
}

static void description_differs_by_its_owner(void **state)
{
    (void)state;
    assert_true(mcp__field_is_known("Tool", "description", MCP_2024_11_05));
    assert_true(mcp__field_is_known("Tool", "name", MCP_2024_11_05));
    assert_true(mcp__field_is_known("Tool", "x-own", MCP_2024_11_05));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_with_their_revision),
        cmocka_unit_test(members_may_go_again),
        cmocka_unit_test(description_differs_by_its_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
