/*
 * test_value.c - type, const, enum, numbers, strings. Expectations: Validation 6.1 to 6.3.
 */
#include "../fixture.h"

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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
