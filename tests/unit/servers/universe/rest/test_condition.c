/*
 * test_condition.c - lists of entity tags as RFC 9110 has them: 8.8.3 for tags, 5.6.1 for lists,
 * 13.1.1 and 13.1.2 for what matches.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rest/condition.h"

static bool holds(const char *match, const char *none_match, int64_t version)
{
    const universe_condition when = { .match = match,
                                      .none_match = none_match,
                                      .expected = UNIVERSE_ANY_VERSION };
    return universe_condition_holds(&when, version);
}

static void test_conditions_hold(void **state)
{
    (void)state;
    assert_true(holds(NULL, NULL, 7));
    assert_true(holds("\"v6\", \"v7\"", NULL, 7));
    assert_false(holds("\"v6\", W/\"v7\"", NULL, 7));
    assert_true(holds("*", NULL, 0));
    assert_true(holds(NULL, "\"v6\"", 7));
    assert_false(holds(NULL, "\"v6\", W/\"v7\"", 7));
    assert_false(holds(NULL, "*", 0));
    assert_true(holds("\"v7\"", "\"v6\"", 7));
    assert_false(holds("\"v7\"", "\"v7\"", 7));
}

static void test_another_try_only_where_it_would_do(void **state)
{
    universe_condition when = { .match = "\"v5\", \"v6\"", .expected = 6, .tries = 3 };
    universe_result result = { .answer = UNIVERSE_CONFLICT, .current.record.version = 5 };
    (void)state;

    assert_true(universe_condition_again(&when, &result));
    assert_int_equal(when.expected, 5);
    result = (universe_result){ .answer = UNIVERSE_CONFLICT, .current.record.version = 7 };
    assert_false(universe_condition_again(&when, &result));
    result = (universe_result){ .answer = UNIVERSE_DONE, .current.record.version = 6 };
    assert_false(universe_condition_again(&when, &result));
    when.match = NULL; /* expectedVersion names one version, and that was tried */
    result = (universe_result){ .answer = UNIVERSE_CONFLICT, .current.record.version = 5 };
    assert_false(universe_condition_again(&when, &result));
}

static void test_tries_end(void **state)
{
    universe_condition when = { .match = "\"v5\", \"v6\"", .expected = 6, .tries = 3 };
    int tries = 1;
    (void)state;
    for (universe_result result; tries < 100; tries++) {
        result = (universe_result){ .answer = UNIVERSE_CONFLICT,
                                    .current.record.version = when.expected == 6 ? 5 : 6 };
        if (!universe_condition_again(&when, &result))
            break;
    }
    assert_int_equal(tries, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conditions_hold),
        cmocka_unit_test(test_another_try_only_where_it_would_do),
        cmocka_unit_test(test_tries_end),
    };
    return cmocka_run_group_tests_name("servers/universe/condition", tests, NULL, NULL);
}
