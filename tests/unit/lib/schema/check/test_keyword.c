/*
 * test_keyword.c - the keywords. Expectations: Validation 6.1 to 6.5; Core 8.2.3, 10.2, 10.3, 11.2
 * and 11.3.
 */
#include "../fixture.h"

#include <time.h>

/* ---- one value ------------------------------------------------------------------------------- */

static void types(void **state)
{
    (void)state;
    fits("{\"type\":\"integer\"}", "1.0");
    fits("{\"type\":\"integer\"}", "1e300");
    fits("{\"type\":\"integer\"}", "18446744073709551615");
    misfits("{\"type\":\"integer\"}", "1.5");
    fits("{\"type\":\"number\"}", "1");
    fits("{\"type\":[\"integer\",\"null\"]}", "null");
    misfits("{\"type\":[\"integer\",\"null\"]}", "1.5");
    misfits("{\"type\":\"boolean\"}", "0");
    misfits("{\"type\":\"object\"}", "[]");
    misfits("{\"type\":\"string\"}", "null");
    misfits("{\"type\":[]  ,\"type\":\"null\"}", "1"); /* of two with one name the last counts */
}

static void constants(void **state)
{
    (void)state;
    fits("{\"const\":1}", "1.0");
    fits("{\"const\":{\"a\":[1,{}],\"b\":2}}", "{\"b\":2.0,\"a\":[1.0,{}]}");
    misfits("{\"const\":false}", "0");
    misfits("{\"const\":[false]}", "[0]");
    misfits("{\"const\":{\"a\":false}}", "{\"a\":0}");
    misfits("{\"const\":null}", "false");
    misfits("{\"const\":9007199254740993}", "9007199254740992");
    fits("{\"const\":-0.0}", "0");
    fits("{\"const\":\"a\\u0000b\"}", "\"a\\u0000b\"");
    misfits("{\"const\":\"a\\u0000b\"}", "\"a\\u0000c\"");
}

static void enumerations(void **state)
{
    (void)state;
    fits("{\"enum\":[6,\"foo\",[],true,{\"foo\":12}]}", "{\"foo\":12.0}");
    misfits("{\"enum\":[6,\"foo\",[],true,{\"foo\":12}]}", "{\"foo\":12,\"boo\":42}");
    misfits("{\"enum\":[[0]]}", "[false]");
    misfits("{\"enum\":[]}", "null");
    misfits("{\"enum\":[\"a\",1]}", "\"1\"");
}

static void bounds(void **state)
{
    (void)state;
    fits("{\"maximum\":3.0}", "3");
    misfits("{\"maximum\":3}", "3.0000000000000004");
    misfits("{\"maximum\":9007199254740992}", "9007199254740993");
    misfits("{\"exclusiveMaximum\":3}", "3.0");
    fits("{\"exclusiveMaximum\":9007199254740993.0}", "9007199254740991");
    fits("{\"minimum\":-9223372036854775808}", "-9223372036854775808");
    misfits("{\"minimum\":18446744073709551615}", "18446744073709551614");
    misfits("{\"exclusiveMinimum\":-2}", "-2");
    fits("{\"minimum\":1,\"maximum\":0}", "\"no number\"");
}

static void multiples(void **state)
{
    (void)state;
    fits("{\"multipleOf\":0.1}", "0.3");
    fits("{\"multipleOf\":0.01}", "4.02");
    misfits("{\"multipleOf\":0.01}", "4.025");
    fits("{\"multipleOf\":0.01}", "-0.0");
    misfits("{\"multipleOf\":2}", "9007199254740993");
}

static void lengths_are_in_characters(void **state)
{
    (void)state;
    fits("{\"maxLength\":2,\"minLength\":2}", "\"\\uD83D\\uDCA9\\uD83D\\uDCA9\"");
    misfits("{\"maxLength\":1}", "\"e\\u0301\""); /* two, however it is drawn */
    fits("{\"maxLength\":3}", "\"a\\u0000b\"");
    misfits("{\"minLength\":4}", "\"a\\u0000b\"");
}

static void patterns_are_not_anchored(void **state)
{
    (void)state;
    fits("{\"pattern\":\"b\"}", "\"abc\"");
    misfits("{\"pattern\":\"^b\"}", "\"abc\"");
    fits("{\"pattern\":\"^b\"}", "7");
    fits("{\"pattern\":\"^a\\u0000\\\\0b$\"}", "\"a\\u0000\\u0000b\"");
}

/* ---- items ----------------------------------------------------------------------------------- */

static void items_are_counted(void **state)
{
    (void)state;
    misfits("{\"maxItems\":1}", "[1,2]");
    misfits("{\"minItems\":1}", "[]");
    fits("{\"minItems\":1}", "\"\"");
}

static void prefix_and_rest(void **state)
{
    static const char schema[] =
        "{\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"string\"}],\"items\":{\"type\":\"null\"}}";

    (void)state;
    fits(schema, "[]");
    fits(schema, "[1]");
    fits(schema, "[1,\"a\",null,null]");
    misfits(schema, "[\"a\"]");
    misfits(schema, "[1,\"a\",2]");
    misfits("{\"prefixItems\":[{}],\"items\":false}", "[1,2]");
    fits("{\"prefixItems\":[{}],\"items\":false}", "[1]");
}

static void contains(void **state)
{
    (void)state;
    misfits("{\"contains\":{\"minimum\":5}}", "[1,2]");
    misfits("{\"contains\":true}", "[]");
    fits("{\"contains\":false,\"minContains\":0}", "[]");
    misfits("{\"contains\":{\"const\":1},\"minContains\":2}", "[1,2]");
    misfits("{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,1]");
    misfits("{\"contains\":{\"const\":1},\"minContains\":0,\"maxContains\":1}", "[1,1]");
    misfits("{\"contains\":{\"const\":1},\"maxContains\":1}", "[]");
    fits("{\"minContains\":2,\"maxContains\":0}", "[1]");
    fits("{\"contains\":true}", "{}");
}

/*
 * ---- uniqueItems
 * ------------------------------------------------------------------------------
 */

static void unique_items(void **state)
{
    (void)state;
    misfits("{\"uniqueItems\":true}", "[1,2,1.0]");
    misfits("{\"uniqueItems\":true}", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1}]");
    fits("{\"uniqueItems\":true}", "[1,true,0,false,null,\"\",[],{},\"1\",[1],[true],[0],[false]]");
    fits("{\"uniqueItems\":true}", "[{\"a\":false},{\"a\":0}]");
    misfits("{\"uniqueItems\":true}", "[[[1],\"foo\"],[true],[[1],\"foo\"]]");
    fits("{\"uniqueItems\":true}", "[9007199254740993,9007199254740992]");
    fits("{\"uniqueItems\":false}", "[1,1]");
}

static char *ten_thousand(const char *last)
{
    char *text = malloc(400000);
    size_t length = 1;

    text[0] = '[';
    for (int i = 0; i < 9999; i++)
        length += (size_t)sprintf(text + length, "{\"id\":%d,\"name\":\"n%d\"},", i, i);
    sprintf(text + length, "%s]", last);
    return text;
}

/* Pairwise this would be fifty million comparisons; the steps alone would not allow it. */
static void ten_thousand_items(void **state)
{
    char *unique = ten_thousand("{\"id\":-1}");
    char *equal = ten_thousand("{\"name\":\"n17\",\"id\":17.0}");
    clock_t begin = clock();

    (void)state;
    fits("{\"uniqueItems\":true}", unique);
    finds("{\"uniqueItems\":true}", equal,
          (expected){ .keyword = "uniqueItems",
                      .instance_path = "",
                      .message = "at the root: the items 17 and 9999 are equal" });
    assert_true(clock() - begin < 5 * CLOCKS_PER_SEC);
    free(unique);
    free(equal);
}

/*
 * ---- unevaluatedItems
 * -------------------------------------------------------------------------
 */

static void items_looked_at_in_place(void **state)
{
    (void)state;
    fits("{\"prefixItems\":[true],\"unevaluatedItems\":false}", "[1]");
    misfits("{\"prefixItems\":[true],\"unevaluatedItems\":false}", "[1,2]");
    fits("{\"items\":true,\"unevaluatedItems\":false}", "[1,2]");
    fits("{\"contains\":{\"const\":1},\"unevaluatedItems\":{\"const\":2}}", "[1,2,1]");
    misfits("{\"contains\":{\"const\":1},\"unevaluatedItems\":{\"const\":2}}", "[1,2,3]");
    fits("{\"contains\":{\"const\":1},\"minContains\":0,\"unevaluatedItems\":false}", "[]");
    misfits("{\"contains\":{\"const\":1},\"minContains\":0,\"unevaluatedItems\":false}", "[0]");
    fits("{\"allOf\":[{\"contains\":{\"multipleOf\":2}},{\"contains\":{\"multipleOf\":3}}],"
         "\"unevaluatedItems\":{\"multipleOf\":5}}",
         "[2,3,4,5,6]");
    misfits("{\"allOf\":[{\"contains\":{\"multipleOf\":2}},{\"contains\":{\"multipleOf\":3}}],"
            "\"unevaluatedItems\":{\"multipleOf\":5}}",
            "[2,3,4,7,8]");
    fits("{\"if\":{\"prefixItems\":[{\"const\":\"a\"}]},\"unevaluatedItems\":false}", "[\"a\"]");
    misfits("{\"if\":{\"prefixItems\":[{\"const\":\"a\"}]},\"unevaluatedItems\":false}", "[\"b\"]");
    misfits("{\"allOf\":[{\"prefixItems\":[true]},{\"unevaluatedItems\":false}]}", "[1]");
    fits("{\"allOf\":[{\"unevaluatedItems\":true}],\"unevaluatedItems\":false}", "[1]");
    misfits("{\"prefixItems\":[{\"prefixItems\":[true,true]}],\"unevaluatedItems\":false}",
            "[[1,2],3]");
    fits("{\"unevaluatedItems\":false}", "{\"a\":1}");
}

/* If there is an A there must be a B, and if a B then a C, in any order. */
static void contains_as_dependency(void **state)
{
    static const char schema[] =
        "{\"if\":{\"contains\":{\"const\":\"a\"}},\"then\":{\"if\":{\"contains\":{\"const\":\"b\"}},"
        "\"then\":{\"if\":{\"contains\":{\"const\":\"c\"}}}},\"unevaluatedItems\":false}";

    (void)state;
    fits(schema, "[]");
    fits(schema, "[\"a\",\"a\"]");
    fits(schema, "[\"a\",\"b\",\"a\",\"b\",\"a\"]");
    fits(schema, "[\"c\",\"a\",\"c\",\"c\",\"b\",\"a\"]");
    misfits(schema, "[\"b\",\"b\"]");
    misfits(schema, "[\"c\",\"b\",\"c\",\"b\",\"c\"]");
    misfits(schema, "[\"c\",\"a\",\"c\",\"a\",\"c\"]");
}

/* ---- members --------------------------------------------------------------------------------- */

static void members_are_counted_and_required(void **state)
{
    (void)state;
    misfits("{\"maxProperties\":1}", "{\"a\":1,\"b\":2}");
    misfits("{\"minProperties\":1}", "{}");
    fits("{\"required\":[\"a\\u0000b\"]}", "{\"a\\u0000b\":1}");
    misfits("{\"required\":[\"a\\u0000b\"]}", "{\"a\":1}");
    misfits("{\"required\":[\"__proto__\",\"toString\"]}", "{}");
    fits("{\"required\":[\"a\"]}", "[]");
}

static void dependents(void **state)
{
    (void)state;
    fits("{\"dependentRequired\":{\"a\":[\"b\"],\"c\":[]}}", "{\"b\":1,\"c\":1}");
    misfits("{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}");
    misfits("{\"dependentSchemas\":{\"a\":{\"maxProperties\":1}}}", "{\"a\":1,\"b\":1}");
    fits("{\"dependentSchemas\":{\"a\":{\"maxProperties\":1}}}", "{\"c\":1,\"b\":1}");
    /* additionalProperties looks at its own siblings only */
    misfits(
        "{\"properties\":{\"foo\":{}},\"dependentSchemas\":{\"foo\":{\"properties\":{\"bar\":{}},"
        "\"additionalProperties\":false}}}",
        "{\"foo\":1}");
}

static void properties_of_three_kinds(void **state)
{
    static const char schema[] =
        "{\"properties\":{\"foo\":{\"maxItems\":3}},\"patternProperties\":{\"f.o\":{\"minItems\":2}},"
        "\"additionalProperties\":{\"type\":\"integer\"}}";

    (void)state;
    fits(schema, "{\"foo\":[1,2],\"fxo\":[1,2],\"quux\":3}");
    misfits(schema, "{\"foo\":[]}");
    misfits(schema, "{\"foo\":[1,2,3,4]}");
    misfits(schema, "{\"fxo\":[]}");
    misfits(schema, "{\"quux\":\"3\"}");
    fits("{\"additionalProperties\":false}", "{}");
    misfits("{\"additionalProperties\":false}", "{\"a\":1}");
    misfits("{\"propertyNames\":{\"maxLength\":3},\"additionalProperties\":{\"type\":\"number\"}}",
            "{\"apple\":1}");
}

static void names_are_values_too(void **state)
{
    (void)state;
    misfits("{\"propertyNames\":{\"maxLength\":1}}", "{\"a\":1,\"ab\":2}");
    fits("{\"propertyNames\":{\"pattern\":\"^a+$\",\"type\":\"string\"}}", "{\"a\":1,\"aa\":2}");
    misfits("{\"propertyNames\":{\"enum\":[\"a\"]}}", "{\"b\":1}");
    misfits("{\"propertyNames\":{\"const\":\"a\\u0000\"}}", "{\"a\":1}");
    misfits("{\"propertyNames\":false}", "{\"a\":1}");
    fits("{\"propertyNames\":false}", "{}");
    finds("{\"propertyNames\":{\"maxLength\":1}}", "{\"a\":1,\"ab\":2}",
          (expected){ .keyword = "propertyNames", .instance_path = "", .property = "ab" });
}

static void every_member_of_a_large_object(void **state)
{
    char *text = malloc(400000);
    size_t length = 1;

    (void)state;
    text[0] = '{';
    for (int i = 0; i < 10000; i++)
        length += (size_t)sprintf(text + length, "\"m%d\":%d,", i, i);
    strcpy(text + length - 1, "}");
    fits(
        "{\"patternProperties\":{\"^m[0-9]+$\":{\"maximum\":9999}},\"additionalProperties\":false}",
        text);
    misfits("{\"patternProperties\":{\"^m[0-9]+$\":{\"maximum\":9998}}}", text);
    misfits("{\"patternProperties\":{\"^m[0-9]{1,3}$\":true},\"unevaluatedProperties\":false}",
            text);
    free(text);
}

/*
 * ---- unevaluatedProperties
 * --------------------------------------------------------------------
 */

static void members_looked_at_in_place(void **state)
{
    static const char *const ways[] = {
        "\"properties\":{\"a\":true}",
        "\"patternProperties\":{\"^a$\":true}",
        "\"additionalProperties\":true",
        "\"$ref\":\"#/$defs/a\"",
        "\"allOf\":[{\"properties\":{\"a\":true}}]",
        "\"anyOf\":[{\"type\":\"object\"},{\"properties\":{\"a\":true}}]",
        "\"oneOf\":[{\"type\":\"null\"},{\"properties\":{\"a\":true}}]",
        "\"if\":{\"properties\":{\"a\":true}}",
        "\"if\":{\"properties\":{\"a\":true}},\"then\":true",
        "\"if\":true,\"then\":{\"properties\":{\"a\":true}}",
        "\"if\":false,\"else\":{\"properties\":{\"a\":true}}",
        "\"dependentSchemas\":{\"a\":{\"properties\":{\"a\":true}}}",
        "\"allOf\":[{\"unevaluatedProperties\":true}]",
        "\"$dynamicRef\":\"#dyn\"",
    };
    static const char *const blind[] = {
        "\"not\":{\"not\":{\"properties\":{\"a\":true}}}",
        "\"propertyNames\":{\"const\":\"a\"}",
        "\"required\":[\"a\"]",
        "\"anyOf\":[true,{\"properties\":{\"a\":false}}]",
        "\"oneOf\":[true,{\"properties\":{\"a\":true},\"required\":[\"z\"]}]",
        "\"if\":{\"properties\":{\"a\":true},\"required\":[\"z\"]}",
        "\"dependentSchemas\":{\"z\":{\"properties\":{\"a\":true}}}",
        "\"allOf\":[true,{}]",
        "\"$defs\":{\"b\":{\"properties\":{\"a\":true}}}",
    };
    char schema[400];

    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(schema, sizeof schema,
                 "{%s,\"unevaluatedProperties\":false,\"$defs\":{\"a\":{\"$dynamicAnchor\":\"dyn\","
                 "\"properties\":{\"a\":true}}}}",
                 ways[i]);
        fits(schema, "{\"a\":1}");
    }
    for (size_t i = 0; i < sizeof blind / sizeof *blind; i++) {
        snprintf(schema, sizeof schema, "{%s,\"unevaluatedProperties\":false}", blind[i]);
        misfits(schema, "{\"a\":1}");
    }
}

/* It sees its own schema and those in it, never what is next to or around that. */
static void cousins_are_not_seen(void **state)
{
    (void)state;
    misfits("{\"allOf\":[{\"properties\":{\"a\":true}},{\"unevaluatedProperties\":false}]}",
            "{\"a\":1}");
    misfits("{\"properties\":{\"a\":true},\"allOf\":[{\"unevaluatedProperties\":false}]}",
            "{\"a\":1}");
    misfits(
        "{\"properties\":{\"a\":true},\"$ref\":\"#/$defs/x\",\"$defs\":{\"x\":{\"unevaluatedProperties\":false}}}",
        "{\"a\":1}");
    fits("{\"allOf\":[{\"properties\":{\"a\":true},\"unevaluatedProperties\":false}]}",
         "{\"a\":1}");
}

static void all_alternatives_that_fit_count(void **state)
{
    static const char schema[] =
        "{\"properties\":{\"a\":true},\"anyOf\":[{\"properties\":{\"b\":{\"const\":1}},\"required\":[\"b\"]},"
        "{\"properties\":{\"c\":{\"const\":1}},\"required\":[\"c\"]}],\"unevaluatedProperties\":false}";

    (void)state;
    fits(schema, "{\"a\":1,\"b\":1}");
    fits(schema, "{\"a\":1,\"b\":1,\"c\":1}");
    misfits(schema, "{\"a\":1,\"b\":1,\"c\":2}");
    misfits(schema, "{\"a\":1,\"b\":1,\"d\":1}");
}

/* Inside `not`, annotations are collected for who asks there. */
static void inside_not(void **state)
{
    static const char schema[] =
        "{\"not\":{\"anyOf\":[true,{\"properties\":{\"foo\":true}}],\"unevaluatedProperties\":false}}";

    (void)state;
    fits(schema, "{\"bar\":1}");
    misfits(schema, "{\"foo\":1}");
}

static void nested_objects_have_marks_of_their_own(void **state)
{
    static const char schema[] =
        "{\"properties\":{\"a\":{\"properties\":{\"b\":true},\"unevaluatedProperties\":false}},"
        "\"unevaluatedProperties\":false}";

    (void)state;
    fits(schema, "{\"a\":{\"b\":1}}");
    misfits(schema, "{\"a\":{\"c\":1}}");
    misfits(schema, "{\"b\":1}");
    fits("{\"unevaluatedProperties\":{\"type\":\"string\",\"maxLength\":2}}", "{\"a\":\"xy\"}");
    misfits("{\"unevaluatedProperties\":{\"type\":\"string\",\"maxLength\":2}}", "{\"a\":\"xyz\"}");
}

/* ---- references and logic -------------------------------------------------------------------- */

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
        cmocka_unit_test(types),
        cmocka_unit_test(constants),
        cmocka_unit_test(enumerations),
        cmocka_unit_test(bounds),
        cmocka_unit_test(multiples),
        cmocka_unit_test(lengths_are_in_characters),
        cmocka_unit_test(patterns_are_not_anchored),
        cmocka_unit_test(items_are_counted),
        cmocka_unit_test(prefix_and_rest),
        cmocka_unit_test(contains),
        cmocka_unit_test(unique_items),
        cmocka_unit_test(ten_thousand_items),
        cmocka_unit_test(items_looked_at_in_place),
        cmocka_unit_test(contains_as_dependency),
        cmocka_unit_test(members_are_counted_and_required),
        cmocka_unit_test(dependents),
        cmocka_unit_test(properties_of_three_kinds),
        cmocka_unit_test(names_are_values_too),
        cmocka_unit_test(every_member_of_a_large_object),
        cmocka_unit_test(members_looked_at_in_place),
        cmocka_unit_test(cousins_are_not_seen),
        cmocka_unit_test(all_alternatives_that_fit_count),
        cmocka_unit_test(inside_not),
        cmocka_unit_test(nested_objects_have_marks_of_their_own),
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
