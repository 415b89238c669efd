/*
 * test_array.c - items of arrays. Expectations: Core 10.3.1 and 11.2, Validation 6.4.
 */
#include "../fixture.h"

#include <time.h>

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

static void what_was_looked_at_in_place(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_are_counted),
        cmocka_unit_test(prefix_and_rest),
        cmocka_unit_test(contains),
        cmocka_unit_test(unique_items),
        cmocka_unit_test(ten_thousand_items),
        cmocka_unit_test(what_was_looked_at_in_place),
        cmocka_unit_test(contains_as_dependency),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
