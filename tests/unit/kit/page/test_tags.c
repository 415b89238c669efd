/*
 * test_tags.c - lists of entity tags as RFC 9110 has them: 8.8.3 for tags, 5.6.1 for lists, 13.1.1
 * and 13.1.2 for what matches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "page/tags.h"

static void test_finds_a_tag(void **state)
{
    static const char *const with[] = { "\"v12\"",
                                        "\"a\", \"v12\"",
                                        "\"v12\",\"v13\"",
                                        " \t\"v1\" , \"v12\"\t",
                                        ",, \"v12\" ,,",
                                        "W/\"v12\", \"v12\"",
                                        "\"with,comma\", \"v12\"",
                                        "*",
                                        " * " };
    (void)state;
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        if (page_tags_find(with[i], "\"v12\"", true) != PAGE_TAGS_WITH)
            fail_msg("%s does not have it", with[i]);
        if (page_tags_find(with[i], "\"v12\"", false) != PAGE_TAGS_WITH)
            fail_msg("%s does not have it, weakly", with[i]);
    }
}

static void test_finds_no_other(void **state)
{
    static const char *const without[] = { "",     "\"v1\"",      "\"v123\", \"xv12\"", "\"V12\"",
                                           "\"\"", "\"a,v12,b\"", "\"\xc3\xa4\"",       " , " };
    (void)state;
    for (size_t i = 0; i < sizeof without / sizeof without[0]; i++) {
        if (page_tags_find(without[i], "\"v12\"", false) != PAGE_TAGS_WITHOUT)
            fail_msg("%s has it", without[i]);
    }
}

static void test_weak_tags_match_weakly_only(void **state)
{
    (void)state;
    assert_int_equal(page_tags_find("W/\"v12\"", "\"v12\"", false), PAGE_TAGS_WITH);
    assert_int_equal(page_tags_find("W/\"v12\"", "\"v12\"", true), PAGE_TAGS_WITHOUT);
}

static void test_knows_what_is_no_list(void **state)
{
    static const char *const broken[] = { "v12",          "\"v12",     "\"v12\" \"v13\"",
                                          "\"v12\", v13", "w/\"v12\"", "*, \"v12\"",
                                          "\"v12\", *",   "**",        "\"with blank \"",
                                          "W/ \"v12\"",   "\"v12\"x",  "\"a\x7f\"" };
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        if (page_tags_find(broken[i], "\"v12\"", false) != PAGE_TAGS_BROKEN)
            fail_msg("%s was taken", broken[i]);
    }
}

static void test_gives_the_tags_one_by_one(void **state)
{
    const char *at = " \"a\",, W/\"b c\"";
    bool broken = true;
    page_tag tag;

    (void)state;
    assert_true(page_tags_next(&tag, &at, &broken));
    assert_int_equal(tag.length, 3);
    assert_memory_equal(tag.text, "\"a\"", 3);
    assert_false(tag.is_weak || broken);
    assert_false(page_tags_next(&tag, &at, &broken)); /* a tag has no blank */
    assert_true(broken);
    at = "W/\"b\" ";
    assert_true(page_tags_next(&tag, &at, &broken));
    assert_true(tag.is_weak);
    assert_memory_equal(tag.text, "\"b\"", 3);
    assert_false(page_tags_next(&tag, &at, &broken));
    assert_false(broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_a_tag),
        cmocka_unit_test(test_finds_no_other),
        cmocka_unit_test(test_weak_tags_match_weakly_only),
        cmocka_unit_test(test_knows_what_is_no_list),
        cmocka_unit_test(test_gives_the_tags_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
