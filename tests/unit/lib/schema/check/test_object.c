/*
 * test_object.c - members of objects. Expectations: Core 10.3.2 and 11.3, Validation 6.5.
 */
#include "../fixture.h"

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

static void what_was_looked_at_in_place(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_counted_and_required),
        cmocka_unit_test(dependents),
        cmocka_unit_test(properties_of_three_kinds),
        cmocka_unit_test(names_are_values_too),
        cmocka_unit_test(every_member_of_a_large_object),
        cmocka_unit_test(what_was_looked_at_in_place),
        cmocka_unit_test(cousins_are_not_seen),
        cmocka_unit_test(all_alternatives_that_fit_count),
        cmocka_unit_test(inside_not),
        cmocka_unit_test(nested_objects_have_marks_of_their_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
