/*
 * test_identify.c - identifiers and anchors. Expectations: Core 8.2.
 */
#include "fixture.h"

static void identifiers_that_are_none(void **state)
{
    (void)state;
    rejects("{\"$id\":\"#foo\"}",
            "/$id: must not have a fragment: a name within the schema is $anchor");
    rejects("{\"$id\":\"http://x/y#foo\"}", "must not have a fragment");
    rejects("{\"$id\":\"http://x/y#%zz\"}", "must not have a fragment");
    rejects("{\"$id\":\"a\\u0000b\"}", "/$id: must be a string");
    rejects("{\"$anchor\":\"\"}", "/$anchor: \"\" is no name for an anchor");
    rejects("{\"$anchor\":\"a b\"}", "is no name for an anchor");
    rejects("{\"$dynamicAnchor\":\"a#\"}", "/$dynamicAnchor");
}

static void an_empty_fragment_is_fine(void **state)
{
    (void)state;
    fits("{\"$id\":\"http://x/y#\",\"properties\":{\"a\":{\"$ref\":\"http://x/y\"}}}", "{\"a\":1}");
}

static void nothing_is_called_twice(void **state)
{
    (void)state;
    rejects("{\"$defs\":{\"a\":{\"$id\":\"http://x/y\"},\"b\":{\"$id\":\"http://x/y\"}}}",
            "/$defs/b/$id: http://x/y is used twice");
    rejects("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$anchor\":\"z\"}}}",
            "/$defs/b/$anchor: \"z\" is used twice");
    rejects("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$dynamicAnchor\":\"z\"}}}",
            "/$defs/b/$dynamicAnchor: \"z\" is used twice");
    /* but in a resource of its own it may */
    fits("{\"$defs\":{\"a\":{\"$anchor\":\"z\"},\"b\":{\"$id\":\"http://x/y\",\"$anchor\":\"z\"}}}",
         "1");
}

static void one_subschema_may_have_both_anchors(void **state)
{
    (void)state;
    misfits(
        "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\",\"$dynamicAnchor\":\"b\",\"type\":\"null\"}}}",
        "1");
    misfits(
        "{\"$ref\":\"#a\",\"$defs\":{\"x\":{\"$anchor\":\"a\",\"$dynamicAnchor\":\"a\",\"type\":\"null\"}}}",
        "1");
}

static void identifiers_in_unknown_keywords_are_none(void **state)
{
    (void)state;
    fits("{\"x\":{\"$id\":\"http://x/y\"},\"const\":{\"$id\":\"http://x/y\"}}",
         "{\"$id\":\"http://x/y\"}");
    rejects("{\"x\":{\"$anchor\":\"a\"},\"$ref\":\"#a\"}", "leads nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identifiers_that_are_none),
        cmocka_unit_test(an_empty_fragment_is_fine),
        cmocka_unit_test(nothing_is_called_twice),
        cmocka_unit_test(one_subschema_may_have_both_anchors),
        cmocka_unit_test(identifiers_in_unknown_keywords_are_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
