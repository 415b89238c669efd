/*
 * test_meta.c - the embedded meta-schemas judge schemas as the draft does.
 */
#include "fixture.h"

#include "schema/compile.h"

#define META "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}"

static void every_one_is_json_and_says_who_it_is(void **state)
{
    static const char *const names[] = { "schema",
                                         "meta/core",
                                         "meta/applicator",
                                         "meta/unevaluated",
                                         "meta/validation",
                                         "meta/meta-data",
                                         "meta/content",
                                         "meta/format-annotation",
                                         "meta/format-assertion" };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        char uri[100];
        snprintf(uri, sizeof uri, "https://json-schema.org/draft/2020-12/%s", names[i]);
        const mcp_json *schema = read_json(arena, mcp__meta_schema(uri));
        assert_string_equal(mcp_json_get_string(schema, "$id"), uri);
        assert_string_equal(mcp_json_get_string(schema, "$schema"), MCP__DRAFT_2020_12);
        assert_string_equal(mcp_json_get_string(schema, "$dynamicAnchor"), "meta");
        assert_true(mcp_json_is_object(mcp_json_get(schema, "$vocabulary")));
        mcp_arena_free(arena);
    }
    assert_null(mcp__meta_schema("https://json-schema.org/draft/2020-12/meta/nope"));
}

static void schemas_are_judged_at_any_depth(void **state)
{
    (void)state;
    fits(META,
         "{\"type\":[\"null\",\"object\"],\"properties\":{\"a\":{\"items\":{\"minimum\":1}}}}");
    fits(META, "true");
    misfits(META, "{\"properties\":{\"a\":{\"items\":{\"minimum\":\"1\"}}}}");
    misfits(META, "{\"allOf\":[{\"not\":{\"$defs\":{\"x\":{\"required\":[1]}}}}]}");
    misfits(META, "{\"minLength\":-1}");
    misfits(META, "{\"required\":[\"a\",\"a\"]}");
    misfits(META, "{\"$anchor\":\"1\"}");
    misfits(META, "{\"allOf\":[]}");
    misfits(META, "7");
    misfits(META, "{\"unevaluatedProperties\":{\"type\":\"x\"}}");
    misfits(META, "{\"contentSchema\":{\"type\":\"x\"}}");
    misfits(META, "{\"deprecated\":1}");
    misfits(META, "{\"dependencies\":{\"a\":{\"type\":\"x\"}}}");
}

static void a_meta_schema_judges_itself(void **state)
{
    (void)state;
    fits(META, mcp__meta_schema(MCP__DRAFT_2020_12));
    fits(META, mcp__meta_schema("https://json-schema.org/draft/2020-12/meta/validation"));
}

static void findings_lie_in_the_schema_that_is_judged(void **state)
{
    (void)state;
    finds(META, "{\"properties\":{\"a\":{\"minimum\":\"1\"}}}",
          (expected){ .keyword = "type",
                      .instance_path = "/properties/a/minimum",
                      .schema_path = "/properties/minimum/type",
                      .message = "/properties/a/minimum: \"1\" is not of type number" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_one_is_json_and_says_who_it_is),
        cmocka_unit_test(schemas_are_judged_at_any_depth),
        cmocka_unit_test(a_meta_schema_judges_itself),
        cmocka_unit_test(findings_lie_in_the_schema_that_is_judged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
