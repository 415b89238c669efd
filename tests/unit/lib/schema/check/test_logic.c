/*
 * test_logic.c - references, dynamic references and the logical keywords. Expectations: Core 8.2.3,
 * 10.2.
 */
#include "../fixture.h"

static void logical_keywords(void **state)
{
    (void)state;
    misfits("{\"allOf\":[{\"minimum\":1},{\"maximum\":2}]}", "3");
    fits("{\"anyOf\":[{\"minimum\":3},{\"maximum\":1}]}", "3");
    misfits("{\"anyOf\":[{\"minimum\":3},{\"maximum\":1}]}", "2");
    fits("{\"oneOf\":[{\"minimum\":3},{\"maximum\":1}]}", "1");
    misfits("{\"oneOf\":[{\"minimum\":3},{\"maximum\":5}]}", "4");
    misfits("{\"oneOf\":[true,true,true]}", "1");
    misfits("{\"not\":{}}", "1");
    fits("{\"not\":{\"not\":true}}", "1");
}

static void conditions(void **state)
{
    static const char schema[] =
        "{\"if\":{\"minimum\":10},\"then\":{\"multipleOf\":10},\"else\":{\"maximum\":5}}";

    (void)state;
    fits(schema, "20");
    misfits(schema, "21");
    fits(schema, "5");
    misfits(schema, "6");
    fits("{\"then\":false,\"else\":false}", "1");
    fits("{\"if\":false}", "1");
    fits("{\"if\":false,\"then\":false}", "1");
    misfits("{\"if\":true,\"then\":{\"$ref\":\"#/$defs/no\"},\"$defs\":{\"no\":false}}", "1");
}

static void siblings_of_a_reference_count(void **state)
{
    (void)state;
    misfits("{\"$ref\":\"#/$defs/a\",\"maximum\":3,\"$defs\":{\"a\":{\"minimum\":1}}}", "4");
    misfits("{\"$ref\":\"#/$defs/a\",\"maximum\":3,\"$defs\":{\"a\":{\"minimum\":1}}}", "0");
}

/* A list whose kind of item is left to the schema that refers to it. */
#define LIST                                                                                       \
    "\"list\":{\"$id\":\"list\",\"type\":\"array\",\"items\":{\"$dynamicRef\":\"#item\"},"         \
    "\"$defs\":{\"any\":{\"$dynamicAnchor\":\"item\"}}}"

static void the_outermost_anchor_decides(void **state)
{
    (void)state;
    misfits(
        "{\"$id\":\"http://x/strings\",\"$ref\":\"list\",\"$defs\":{\"s\":{\"$dynamicAnchor\":\"item\","
        "\"type\":\"string\"}," LIST "}}",
        "[1]");
    fits("{\"$id\":\"http://x/strings\",\"$ref\":\"list\",\"$defs\":{\"s\":{\"$anchor\":\"item\","
         "\"type\":\"string\"}," LIST "}}",
         "[1]");
    /* the outer of two resources wins, and only while it is being evaluated */
    static const char nested[] =
        "{\"$id\":\"http://x/outer\",\"properties\":{\"a\":{\"$ref\":\"ints\"},\"b\":{\"$ref\":\"list\"}},"
        "\"$defs\":{" LIST ",\"ints\":{\"$id\":\"ints\",\"$ref\":\"list\",\"$defs\":{\"i\":{"
        "\"$dynamicAnchor\":\"item\",\"type\":\"integer\"}}}}}";
    fits(nested, "{\"a\":[1],\"b\":[\"x\"]}");
    misfits(nested, "{\"a\":[\"x\"]}");
}

/*
 * A reference straight into a resource: those it lies in lexically, but did not go through, are
 * not in scope.
 */
static void resources_that_were_skipped_do_not_count(void **state)
{
    static const char schema[] =
        "{\"$id\":\"http://x/main\",\"properties\":{\"direct\":{\"$ref\":\"item\"},\"by-list\":{\"$ref\":\"bar\"}},"
        "\"$defs\":{\"bar\":{\"$id\":\"bar\",\"type\":\"array\",\"items\":{\"$ref\":\"item\"},\"$defs\":{"
        "\"item\":{\"$id\":\"item\",\"properties\":{\"content\":{\"$dynamicRef\":\"#content\"}},\"$defs\":{"
        "\"default\":{\"$dynamicAnchor\":\"content\",\"type\":\"integer\"}}},"
        "\"content\":{\"$dynamicAnchor\":\"content\",\"type\":\"string\"}}}}}";

    (void)state;
    fits(schema, "{\"direct\":{\"content\":1}}");
    misfits(schema, "{\"direct\":{\"content\":\"a\"}}");
    fits(schema, "{\"by-list\":[{\"content\":\"a\"}]}");
    misfits(schema, "{\"by-list\":[{\"content\":1}]}");
}

static void a_dynamic_reference_to_a_boolean_or_a_pointer(void **state)
{
    (void)state;
    misfits("{\"$defs\":{\"no\":false},\"properties\":{\"a\":{\"$dynamicRef\":\"#/$defs/no\"}}}",
            "{\"a\":1}");
    fits("{\"$defs\":{\"yes\":true},\"properties\":{\"a\":{\"$dynamicRef\":\"#/$defs/yes\"}}}",
         "{\"a\":1}");
    misfits("{\"$dynamicRef\":\"#n\",\"$defs\":{\"n\":{\"$anchor\":\"n\",\"type\":\"null\"}}}",
            "1");
}

/*
 * ---- which refusal is the finding
 * --------------------------------------------------------------------
 */

static void the_deepest_alternative_is_the_finding(void **state)
{
    (void)state;
    finds(
        "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{\"maximum\":3}}}]}",
        "{\"a\":4}",
        (expected){ .keyword = "maximum",
                    .instance_path = "/a",
                    .schema_path = "/anyOf/1/properties/a/maximum",
                    .message = "/a: 4 is above the maximum 3" });
    finds("{\"anyOf\":[{\"type\":\"null\"},{\"enum\":[\"a\",\"b\"]}]}", "\"c\"",
          (expected){ .keyword = "enum",
                      .message = "at the root: \"c\" is not one of \"a\", \"b\"" });
    finds("{\"anyOf\":[{\"type\":\"null\"},{\"type\":\"string\"}]}", "3",
          (expected){ .keyword = "anyOf",
                      .schema_path = "/anyOf",
                      .message = "at the root: 3 fits none of the alternatives" });
    finds("{\"anyOf\":[{\"type\":\"string\"}]}", "3", (expected){ .keyword = "type" });
}

/* Of a union by a constant member, the branch with the right constant is the finding. */
static void the_branch_of_a_union_is_the_finding(void **state)
{
    static const char schema[] =
        "{\"oneOf\":[{\"properties\":{\"kind\":{\"const\":\"circle\"}},\"required\":[\"kind\",\"radius\"]},"
        "{\"properties\":{\"kind\":{\"const\":\"box\"},\"width\":{\"type\":\"number\"}},"
        "\"required\":[\"kind\",\"width\"]}]}";

    (void)state;
    finds(schema, "{\"kind\":\"box\"}",
          (expected){
              .keyword = "required", .property = "width", .schema_path = "/oneOf/1/required" });
    finds(schema, "{\"kind\":\"box\",\"width\":\"w\"}",
          (expected){ .keyword = "type", .instance_path = "/width" });
    finds(schema, "{\"kind\":\"circle\"}",
          (expected){ .keyword = "required", .property = "radius" });
}

static void too_many_alternatives_are_a_finding(void **state)
{
    (void)state;
    finds(
        "{\"oneOf\":[{\"minimum\":9},{\"minimum\":1},{\"maximum\":5}]}", "3",
        (expected){ .keyword = "oneOf",
                    .message = "at the root: 3 fits the alternatives 1 and 2, only one may fit" });
}

/* What a condition or an exclusion tried is nobody's fault. */
static void quiet_attempts_leave_no_finding(void **state)
{
    (void)state;
    finds(
        "{\"if\":{\"properties\":{\"a\":{\"const\":1}}},\"else\":{\"required\":[\"b\"]}}",
        "{\"a\":2}",
        (expected){ .keyword = "required", .instance_path = "", .schema_path = "/else/required" });
    finds("{\"properties\":{\"a\":{\"not\":{\"anyOf\":[{\"const\":1},{\"const\":2}]}}}}",
          "{\"a\":2}",
          (expected){ .keyword = "not",
                      .instance_path = "/a",
                      .message = "/a: 2 is what the schema excludes" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(logical_keywords),
        cmocka_unit_test(conditions),
        cmocka_unit_test(siblings_of_a_reference_count),
        cmocka_unit_test(the_outermost_anchor_decides),
        cmocka_unit_test(resources_that_were_skipped_do_not_count),
        cmocka_unit_test(a_dynamic_reference_to_a_boolean_or_a_pointer),
        cmocka_unit_test(the_deepest_alternative_is_the_finding),
        cmocka_unit_test(the_branch_of_a_union_is_the_finding),
        cmocka_unit_test(too_many_alternatives_are_a_finding),
        cmocka_unit_test(quiet_attempts_leave_no_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
