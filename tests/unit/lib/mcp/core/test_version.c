/*
 * test_version.c - the names of revisions, both ways, and in which of them a member may be sent;
 * the official schemas of the revisions are the source.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/core/version.h"
#include "mcp/version.h"

static const struct {
    mcp_revision revision;
    const char *name;
} published[] = {
    { MCP_2024_11_05, "2024-11-05" }, { MCP_2025_03_26, "2025-03-26" },
    { MCP_2025_06_18, "2025-06-18" }, { MCP_2025_11_25, "2025-11-25" },
    { MCP_2026_07_28, "2026-07-28" },
};

static void names_go_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        assert_string_equal(mcp_revision_name(published[i].revision), published[i].name);
        assert_int_equal(mcp_revision_find(published[i].name), published[i].revision);
    }
}

static void later_revisions_are_greater(void **state)
{
    (void)state;
    for (size_t i = 1; i < sizeof published / sizeof published[0]; i++)
        assert_true(published[i].revision > published[i - 1].revision);
    assert_int_equal(MCP_REVISION_NEWEST, MCP_2026_07_28);
    assert_int_equal(MCP_REVISION_NEWEST_SESSION, MCP_2025_11_25);
}

static void what_is_unknown_has_no_name(void **state)
{
    (void)state;
    assert_int_equal(mcp_revision_find(NULL), MCP_REVISION_NONE);
    assert_int_equal(mcp_revision_find(""), MCP_REVISION_NONE);
    assert_int_equal(mcp_revision_find("2025-06-19"), MCP_REVISION_NONE);
    assert_int_equal(mcp_revision_find("2025-06-18 "), MCP_REVISION_NONE);
    assert_string_equal(mcp_revision_name(MCP_REVISION_NONE), "");
    assert_string_equal(mcp_revision_name((mcp_revision)99), "");
    assert_string_equal(mcp_revision_name((mcp_revision)-1), "");
}

static void the_library_has_a_version(void **state)
{
    (void)state;
    assert_string_equal(mcp_version(), CAUSEWAY_VERSION);
}

/* CAUSEWAY_VERSION is CMake's. */
static void the_headers_have_the_same_version(void **state)
{
    char text[64];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", MCP_VERSION_MAJOR, MCP_VERSION_MINOR,
             MCP_VERSION_PATCH);
    assert_string_equal(text, CAUSEWAY_VERSION);
    assert_int_equal(MCP_VERSION_NUM >> 16, MCP_VERSION_MAJOR);
    assert_int_equal(MCP_VERSION_NUM >> 8 & 0xff, MCP_VERSION_MINOR);
    assert_int_equal(MCP_VERSION_NUM & 0xff, MCP_VERSION_PATCH);
}

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
        cmocka_unit_test(names_go_both_ways),
        cmocka_unit_test(later_revisions_are_greater),
        cmocka_unit_test(what_is_unknown_has_no_name),
        cmocka_unit_test(the_library_has_a_version),
        cmocka_unit_test(the_headers_have_the_same_version),
        cmocka_unit_test(members_come_with_their_revision),
        cmocka_unit_test(members_may_go_again),
        cmocka_unit_test(description_differs_by_its_owner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
