/*
 * test_shared_defs.c - which shapes are copied into a schema, and which are not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "feature_call.h"
#include "mcp/feature/shared_defs.h"
#include <cmocka.h>

static const char shared_text[] =
    "{\"A\":{\"type\":\"integer\"},\"B\":{\"items\":{\"$ref\":\"#/$defs/A\"}},\"C\":{\"$ref\":\"#/$defs/C\"},"
    "\"D\":{\"const\":{\"$ref\":5}}}";

static void check(const char *schema_text, const char *shared, const char *wanted)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *schema = NULL;
    const mcp_json *definitions = NULL;
    const mcp_json *merged = NULL;

    assert_int_equal(mcp_json_read(&schema, arena, schema_text, strlen(schema_text), NULL), MCP_OK);
    if (shared)
        assert_int_equal(mcp_json_read(&definitions, arena, shared, strlen(shared), NULL), MCP_OK);
    assert_int_equal(mcp__shared_defs_merge(&merged, arena, schema, definitions, NULL), MCP_OK);
    if (wanted)
        assert_json(merged, wanted, arena);
    else
        assert_ptr_equal(merged, schema);
    mcp_arena_free(arena);
}

static void without_references_the_schema_stays_itself(void **state)
{
    (void)state;
    check("{\"type\":\"object\"}", shared_text, NULL);
    check("{\"$ref\":\"#/$defs/A\"}", NULL, NULL);
    check("{\"$ref\":\"#/$defs/Z\"}", shared_text, NULL);
    check("{\"$ref\":\"https://x/#/$defs/A\"}", shared_text, NULL);
    check("{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":true}}", shared_text, NULL);
}

static void what_is_named_is_copied(void **state)
{
    (void)state;
    check(
        "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/A\"}}}", shared_text,
        "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/A\"}},\"$defs\":{\"A\":{\"type\":\"integer\"}}}");
    check("{\"$ref\":\"#/$defs/A/type\",\"$defs\":{\"Own\":true}}", shared_text,
          "{\"$ref\":\"#/$defs/A/type\",\"$defs\":{\"Own\":true,\"A\":{\"type\":\"integer\"}}}");
}

static void what_that_names_is_copied_too(void **state)
{
    (void)state;
    check(
        "{\"$ref\":\"#/$defs/B\"}", shared_text,
        "{\"$ref\":\"#/$defs/B\",\"$defs\":{\"A\":{\"type\":\"integer\"},\"B\":{\"items\":{\"$ref\":\"#/$defs/A\"}}}}");
    check("{\"allOf\":[{\"$ref\":\"#/$defs/C\"}]}", shared_text,
          "{\"allOf\":[{\"$ref\":\"#/$defs/C\"}],\"$defs\":{\"C\":{\"$ref\":\"#/$defs/C\"}}}");
}

static void shapes_may_stand_in_defs(void **state)
{
    (void)state;
    check("{\"$ref\":\"#/$defs/A\"}", "{\"$defs\":{\"A\":true}}",
          "{\"$ref\":\"#/$defs/A\",\"$defs\":{\"A\":true}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_references_the_schema_stays_itself),
        cmocka_unit_test(what_is_named_is_copied),
        cmocka_unit_test(what_that_names_is_copied_too),
        cmocka_unit_test(shapes_may_stand_in_defs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
