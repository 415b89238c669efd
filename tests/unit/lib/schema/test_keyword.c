/*
 * test_keyword.c - every keyword's value must be what the draft's meta-schemas demand of it.
 */
#include "fixture.h"

#include "schema/compile.h"

static void wrong_values_are_refused(void **state)
{
    static const char *const wrong[] = {
        "{\"type\":\"strin\"}",
        "{\"type\":[]}",
        "{\"type\":[\"string\",7]}",
        "{\"type\":1}",
        "{\"enum\":{}}",
        "{\"maximum\":\"1\"}",
        "{\"exclusiveMaximum\":true}",
        "{\"minimum\":null}",
        "{\"exclusiveMinimum\":false}",
        "{\"multipleOf\":0}",
        "{\"multipleOf\":-1}",
        "{\"multipleOf\":\"1\"}",
        "{\"maxLength\":-1}",
        "{\"minLength\":1.5}",
        "{\"pattern\":1}",
        "{\"pattern\":\"(\"}",
        "{\"format\":1}",
        "{\"maxProperties\":\"1\"}",
        "{\"minProperties\":-1}",
        "{\"required\":\"a\"}",
        "{\"required\":[1]}",
        "{\"dependentRequired\":[]}",
        "{\"dependentRequired\":{\"a\":\"b\"}}",
        "{\"dependentRequired\":{\"a\":[1]}}",
        "{\"maxItems\":-1}",
        "{\"minItems\":{}}",
        "{\"uniqueItems\":1}",
        "{\"$defs\":[]}",
        "{\"$defs\":{\"a\":1}}",
        "{\"$ref\":1}",
        "{\"$dynamicRef\":{}}",
        "{\"allOf\":[]}",
        "{\"allOf\":{}}",
        "{\"anyOf\":[1]}",
        "{\"oneOf\":true}",
        "{\"not\":\"a\"}",
        "{\"if\":[]}",
        "{\"then\":1}",
        "{\"else\":null}",
        "{\"dependentSchemas\":[]}",
        "{\"propertyNames\":\"a\"}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":[]}}",
        "{\"patternProperties\":{\"(\":true}}",
        "{\"patternProperties\":true}",
        "{\"additionalProperties\":[]}",
        "{\"prefixItems\":{}}",
        "{\"prefixItems\":[]}",
        "{\"items\":[{}]}", /* of earlier drafts */
        "{\"minContains\":-1}",
        "{\"maxContains\":\"1\"}",
        "{\"contains\":1}",
        "{\"unevaluatedItems\":1}",
        "{\"unevaluatedProperties\":null}",
        "{\"$id\":1}",
        "{\"$anchor\":\"1a\"}",
        "{\"$dynamicAnchor\":\"#a\"}",
        "{\"$schema\":true}",
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        rejects(wrong[i], "");
}

static void faults_name_their_place(void **state)
{
    (void)state;
    rejects("{\"properties\":{\"a/b\":{\"minLength\":-1}}}",
            "/properties/a~1b/minLength: must be a non-negative integer");
    rejects("{\"allOf\":[true,{\"items\":7}]}",
            "/allOf/1/items: a schema is an object or a boolean");
    rejects("{\"patternProperties\":{\"a**\":true}}",
            "/patternProperties: the pattern is no regular expression");
    rejects("7", "a schema is an object or a boolean");
    rejects("{\"type\":\"strin\"}", "/type: must be the name of a type");
}

static void whole_numbers_may_be_written_as_doubles(void **state)
{
    (void)state;
    fits("{\"minLength\":2.0,\"maxLength\":3e0}", "\"abc\"");
    misfits("{\"minLength\":2.0}", "\"a\"");
}

/* What informs is no keyword of ours: any value will do, and schemas in it are none. */
static void other_keywords_are_left_alone(void **state)
{
    (void)state;
    fits(
        "{\"title\":1,\"default\":{\"type\":\"x\"},\"examples\":0,\"contentSchema\":5,\"x\":{\"$id\":9}}",
        "1");
    fits("{\"enum\":[{\"$ref\":\"nowhere\"}],\"const\":{\"$ref\":\"nowhere\"}}",
         "{\"$ref\":\"nowhere\"}");
    fits("{\"properties\":{\"type\":{\"type\":\"string\"},\"$ref\":true}}",
         "{\"type\":\"x\",\"$ref\":1}");
}

static void the_table_is_in_order(void **state)
{
    size_t count = 0;

    (void)state;
    for (const mcp__keyword *row = mcp__keywords; row->name; row++, count++) {
        assert_non_null(row->compile);
        assert_true(row->vocabulary != 0);
        if (count > 0 && row[-1].vocabulary == MCP__UNEVALUATED)
            assert_int_equal(row->vocabulary, MCP__UNEVALUATED); /* they ask all others */
    }
    assert_true(count <= 64); /* compile.c keeps a node's keywords in an array of that size */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_refused),
        cmocka_unit_test(faults_name_their_place),
        cmocka_unit_test(whole_numbers_may_be_written_as_doubles),
        cmocka_unit_test(other_keywords_are_left_alone),
        cmocka_unit_test(the_table_is_in_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
