/*
 * test_number.c - divisibility without rounding, and hashes that agree with equality.
 */
#include "fixture.h"

#include "schema/number.h"

static bool divides(const char *divisor, const char *number)
{
    mcp_arena *arena = mcp_arena_new(0);
    bool answer = mcp__decimal_divides(mcp__number_decimal(read_json(arena, divisor)),
                                       mcp__number_decimal(read_json(arena, number)));

    mcp_arena_free(arena);
    return answer;
}

static void divisibility_is_decimal(void **state)
{
    (void)state;
    assert_true(divides("0.1", "0.3"));
    assert_true(divides("0.01", "19.99"));
    assert_true(divides("0.01", "-4.35"));
    assert_false(divides("0.01", "4.355"));
    assert_true(divides("1e-8", "12391239123"));
    assert_true(divides("0.5", "1e308"));
    assert_false(divides("0.123456789", "1e308")); /* 123456789 = 3^2 * 3607 * 3803 */
    assert_true(divides("3", "9007199254740993")); /* no double holds it */
    assert_false(divides("3", "9007199254740992"));
    assert_true(divides("7", "18446744073709551614")); /* 2 * 7^2 * 73 * 127 * 337 * ... */
    assert_true(divides("7", "0"));
    assert_true(divides("1e-320", "1e-320"));
    assert_false(divides("2e5", "1e5"));
    assert_true(divides("1e5", "2e5"));
    assert_true(divides("2.5", "-7.5"));
}

static void decimal_of(const char *number, uint64_t digits, int exponent)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp__decimal decimal = mcp__number_decimal(read_json(arena, number));

    assert_int_equal(decimal.digits, digits);
    assert_int_equal(decimal.exponent, exponent);
    mcp_arena_free(arena);
}

static void shortest_decimals(void **state)
{
    (void)state;
    decimal_of("0.1", 1, -1);
    decimal_of("-72105.4", 721054, -1);
    decimal_of("1000", 1, 3);
    decimal_of("1e22", 1, 22);
    decimal_of("1.7976931348623157e308", 17976931348623157, 292);
    decimal_of("5e-324", 5, -324);
    decimal_of("0.0", 0, 0);
    decimal_of("0.000125", 125, -6);
}

static void counts_and_wholes(void **state)
{
    static const struct {
        const char *text;
        bool is_whole;
        bool is_count;
    } cases[] = {
        { "2", true, true },       { "2.0", true, true },    { "2.5", false, false },
        { "-1", true, false },     { "1e300", true, false }, { "18446744073709551615", true, true },
        { "\"2\"", false, false },
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mcp_json *value = read_json(arena, cases[i].text);
        uint64_t count = 0;
        assert_int_equal(mcp__number_is_whole(value), cases[i].is_whole);
        assert_int_equal(mcp__number_is_count(value, &count), cases[i].is_count);
    }
    mcp_arena_free(arena);
}

static bool hashes_equal(const char *a, const char *b)
{
    mcp_arena *arena = mcp_arena_new(0);
    uint64_t steps = 1000;
    bool equal = mcp__value_hash(read_json(arena, a), &steps) ==
                 mcp__value_hash(read_json(arena, b), &steps);

    mcp_arena_free(arena);
    return equal;
}

static void equal_values_hash_alike(void **state)
{
    (void)state;
    assert_true(hashes_equal("1", "1.0"));
    assert_true(hashes_equal("-0.0", "0"));
    assert_true(hashes_equal("9223372036854775808", "9223372036854775808.0"));
    assert_true(hashes_equal("{\"a\":1,\"b\":[2]}", "{\"b\":[2.0],\"a\":1.0}"));
    assert_true(hashes_equal("{\"a\":1,\"a\":2}", "{\"a\":2}"));
    assert_false(hashes_equal("1", "true"));
    assert_false(hashes_equal("0", "false"));
    assert_false(hashes_equal("null", "false"));
    assert_false(hashes_equal("[1,2]", "[2,1]"));
    assert_false(hashes_equal("[[1],2]", "[[1,2]]"));
    assert_false(hashes_equal("\"1\"", "1"));
    assert_false(hashes_equal("[]", "{}"));
    assert_false(hashes_equal("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"));
    assert_false(hashes_equal("9007199254740993", "9007199254740992.0"));
}

/* Two steps for the numbers, one for the array, and one for each 64 bytes of text beyond. */
static void hashing_is_paid_for(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    char text[203] = "";
    uint64_t steps = 10;

    (void)state;
    (void)mcp__value_hash(read_json(arena, "[1,2]"), &steps);
    assert_int_equal(steps, 7);
    memset(text, 'x', 202);
    text[0] = text[201] = '"';
    (void)mcp__value_hash(read_json(arena, text), &steps);
    assert_int_equal(steps, 3);
    (void)mcp__value_hash(read_json(arena, "[1,2,[3,4,[5,6]]]"), &steps);
    assert_int_equal(steps, 0);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(divisibility_is_decimal), cmocka_unit_test(shortest_decimals),
        cmocka_unit_test(counts_and_wholes),       cmocka_unit_test(equal_values_hash_alike),
        cmocka_unit_test(hashing_is_paid_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
