/*
 * test_value.c - asking values: types, look-ups, duplicates, order and equality, pointers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "json/json_int.h"

static mcp_arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static const mcp_json *read_text(const char *text)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, arena, text, strlen(text), &err) != MCP_OK)
        fail_msg("%.60s: %s", text, err.message);
    return value;
}

static void each_type_is_itself_only(void **state)
{
    static const struct {
        const char *text;
        mcp_json_type type;
        const char *name;
    } rows[] = {
        { "null", MCP_JSON_NULL, "null" },    { "true", MCP_JSON_BOOL, "boolean" },
        { "7", MCP_JSON_INT, "integer" },     { "18446744073709551615", MCP_JSON_UINT, "integer" },
        { "7.0", MCP_JSON_DOUBLE, "number" }, { "\"7\"", MCP_JSON_STRING, "string" },
        { "[7]", MCP_JSON_ARRAY, "array" },   { "{\"a\":7}", MCP_JSON_OBJECT, "object" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const mcp_json *value = read_text(rows[i].text);
        mcp_json_type type = mcp_json_type_of(value);
        bool flag = false;
        double number = 0;
        bool is_number = type == MCP_JSON_INT || type == MCP_JSON_UINT || type == MCP_JSON_DOUBLE;
        assert_int_equal(type, rows[i].type);
        assert_string_equal(mcp_json_type_name(type), rows[i].name);
        assert_int_equal(mcp_json_is_null(value), type == MCP_JSON_NULL);
        assert_int_equal(mcp_json_is_string(value), type == MCP_JSON_STRING);
        assert_int_equal(mcp_json_is_number(value), is_number);
        assert_int_equal(mcp_json_is_array(value), type == MCP_JSON_ARRAY);
        assert_int_equal(mcp_json_is_object(value), type == MCP_JSON_OBJECT);
        assert_int_equal(mcp_json_bool(value, &flag), type == MCP_JSON_BOOL);
        assert_int_equal(mcp_json_double(value, &number), is_number);
        assert_int_equal(mcp_json_string(value, NULL) != NULL, type == MCP_JSON_STRING);
        assert_int_equal(mcp_json_count(value), type == MCP_JSON_ARRAY || type == MCP_JSON_OBJECT);
        assert_int_equal(mcp_json_item(value, 0) != NULL, mcp_json_count(value) == 1);
        assert_null(mcp_json_item(value, 1));
        assert_int_equal(mcp_json_name(value, 0, NULL) != NULL, type == MCP_JSON_OBJECT);
        assert_int_equal(mcp_json_get(value, "a") != NULL, type == MCP_JSON_OBJECT);
        assert_null(mcp_json_duplicate(value));
    }
}

static void absent_answers_everything(void **state)
{
    bool flag = true;
    int64_t integer = 7;
    uint64_t natural = 7;
    double number = 7;
    size_t length = 7;

    (void)state;
    assert_int_equal(mcp_json_type_of(NULL), MCP_JSON_ABSENT);
    assert_non_null(mcp_json_type_name(MCP_JSON_ABSENT));
    assert_non_null(mcp_json_type_name((mcp_json_type)99));
    assert_false(mcp_json_is_null(NULL) || mcp_json_is_string(NULL) || mcp_json_is_number(NULL));
    assert_false(mcp_json_is_array(NULL) || mcp_json_is_object(NULL));
    assert_false(mcp_json_bool(NULL, &flag) || mcp_json_int(NULL, &integer));
    assert_false(mcp_json_uint(NULL, &natural) || mcp_json_double(NULL, &number));
    assert_null(mcp_json_string(NULL, &length));
    assert_true(flag && integer == 7 && natural == 7 && number == 7.0 && length == 7);
    assert_int_equal(mcp_json_count(NULL), 0);
    assert_null(mcp_json_item(NULL, 0));
    assert_null(mcp_json_name(NULL, 0, &length));
    assert_null(mcp_json_get(NULL, "a"));
    assert_null(mcp_json_get(read_text("{}"), NULL));
    assert_null(mcp_json_get_string(mcp_json_get(read_text("{}"), "a"), "b"));
    assert_null(mcp_json_duplicate(NULL));
    assert_null(mcp_json_pointer(NULL, ""));
    assert_true(mcp_json_equal(NULL, NULL));
    assert_false(mcp_json_equal(NULL, read_text("null")));
    assert_false(mcp_json_equal(read_text("null"), NULL));
}

static void integers_by_the_range_asked_for(void **state)
{
    static const struct {
        const char *text;
        bool is_int;
        bool is_uint;
    } rows[] = {
        { "0", true, true },
        { "-1", true, false },
        { "9223372036854775807", true, true },
        { "9223372036854775808", false, true },
        { "18446744073709551615", false, true },
        { "-9223372036854775808", true, false },
        { "2.0", false, false },
        { "1e2", false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t integer = 0;
        uint64_t natural = 0;
        assert_int_equal(mcp_json_int(read_text(rows[i].text), &integer), rows[i].is_int);
        assert_int_equal(mcp_json_uint(read_text(rows[i].text), &natural), rows[i].is_uint);
    }
    double nearest = 0;
    assert_true(mcp_json_double(read_text("18446744073709551615"), &nearest));
    assert_true(nearest == 0x1p64);
    assert_true(mcp_json_double(read_text("9007199254740993"), &nearest));
    assert_true(nearest == 0x1p53);
}

static void members_in_text_order(void **state)
{
    const mcp_json *object = read_text("{\"z\":1,\"a\":[2],\"m\\u0000n\":\"x\"}");
    size_t length = 0;

    (void)state;
    assert_int_equal(mcp_json_count(object), 3);
    assert_string_equal(mcp_json_name(object, 0, NULL), "z");
    assert_string_equal(mcp_json_name(object, 1, &length), "a");
    assert_int_equal(length, 1);
    assert_memory_equal(mcp_json_name(object, 2, &length), "m\0n", 4);
    assert_int_equal(length, 3);
    assert_null(mcp_json_name(object, 3, &length));
    assert_ptr_equal(mcp_json_get(object, "a"), mcp_json_item(object, 1));
    assert_ptr_equal(mcp_json_get_n(object, "m\0n", 3), mcp_json_item(object, 2));
    assert_null(mcp_json_get(object, "m"));
    assert_null(mcp_json_get(object, ""));
    assert_null(mcp_json_get_string(object, "z"));
}

/* An object of `count` members "n0": 0, "n1": 1, ... */
static const mcp_json *counted_object(int count, const char *more)
{
    static char out[200000];
    char *at = stpcpy(out, "{");

    for (int i = 0; i < count; i++)
        at += sprintf(at, "%s\"n%d\":%d", i ? "," : "", i, i);
    at = stpcpy(at, more);
    stpcpy(at, "}");
    return read_text(out);
}

static void finds_in_small_and_large_objects(void **state)
{
    static const int counts[] = { 0, 1, 2, 15, 16, 17, 18, 31, 32, 33, 100, 5000 };

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const mcp_json *object = counted_object(counts[c], "");
        assert_int_equal(mcp_json_count(object), counts[c]);
        for (int i = 0; i < counts[c]; i++) {
            char name[16];
            int64_t number = -1;
            sprintf(name, "n%d", i);
            assert_true(mcp_json_int(mcp_json_get(object, name), &number));
            assert_int_equal(number, i);
        }
        assert_null(mcp_json_get(object, "n"));
        assert_null(mcp_json_get(object, "n5000"));
        assert_null(mcp_json_get(object, ""));
        assert_null(mcp_json_duplicate(object));
    }
}

static void the_last_duplicate_counts(void **state)
{
    static const int counts[] = { 1, 15, 16, 100 };
    int64_t number = 0;

    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) {
        const mcp_json *object = counted_object(counts[c], ",\"x\":1,\"n0\":-7,\"x\":2,\"x\":3");
        assert_int_equal(mcp_json_count(object), counts[c] + 4);
        assert_true(mcp_json_int(mcp_json_get(object, "n0"), &number));
        assert_int_equal(number, -7);
        assert_true(mcp_json_int(mcp_json_get(object, "x"), &number));
        assert_int_equal(number, 3);
        assert_string_equal(mcp_json_duplicate(object), "n0");
    }
    assert_string_equal(mcp_json_duplicate(read_text("{\"\":1,\"\":2}")), "");
    assert_string_equal(mcp_json_duplicate(read_text("{\"a\":1,\"\\u0061\":2}")), "a");
    assert_null(mcp_json_duplicate(read_text("{\"a\":{\"b\":1,\"b\":2}}")));
    assert_null(mcp_json_duplicate(read_text("{\"a\":1,\"a\\u0000\":2}")));
    assert_null(mcp_json_duplicate(read_text("[1,1]")));
}

static void equal_by_the_mathematical_value(void **state)
{
    /* In each row everything is equal to everything, and to nothing of another row. */
    static const char *const rows[][6] = {
        { "null" },
        { "true" },
        { "false" },
        { "0", "-0", "0.0", "-0.0", "0e5" },
        { "1", "1.0", "10e-1", "1e0" },
        { "-1", "-1.0" },
        { "9007199254740992", "9007199254740992.0", "9007199254740993.0" },
        { "9007199254740993" },
        { "9223372036854775807" },
        { "9223372036854775808", "9223372036854775808.0", "9.223372036854775808e18" },
        { "18446744073709551615" },
        { "18446744073709551616.0", "1.8446744073709551616e19" },
        { "-9223372036854775808", "-9223372036854775808.0" },
        { "-9223372036854775807" },
        { "0.1", "1e-1" },
        { "1e300" },
        { "\"\"" },
        { "\"a\"", "\"\\u0061\"" },
        { "\"a\\u0000\"" },
        { "\"1\"" },
        { "[]" },
        { "[1,2]", "[1.0,2e0]" },
        { "[2,1]" },
        { "[1]" },
        { "[[]]" },
        { "{}" },
        { "{\"a\":1}", "{\"a\":1.0}", "{\"a\":5,\"a\":1}" },
        { "{\"a\":2}", "{\"a\":1,\"a\":2}" },
        { "{\"b\":1}" },
        { "{\"a\":1,\"b\":[2]}", "{\"b\":[2],\"a\":1}", "{\"b\":[2],\"a\":1,\"b\":[2]}" },
        { "{\"a\":null}" },
        { "{\"a\":null,\"b\":null}" },
    };
    enum { COUNT = sizeof rows / sizeof rows[0] };

    (void)state;
    for (size_t i = 0; i < COUNT * 6; i++) {
        for (size_t k = 0; k < COUNT * 6; k++) {
            const char *a = rows[i / 6][i % 6];
            const char *b = rows[k / 6][k % 6];
            if (a && b && mcp_json_equal(read_text(a), read_text(b)) != (i / 6 == k / 6))
                fail_msg("%s and %s", a, b);
        }
    }
}

static void large_objects_are_equal_in_any_order(void **state)
{
    static char reversed[200000];
    char *at = stpcpy(reversed, "{");

    (void)state;
    for (int i = 2999; i >= 0; i--)
        at += sprintf(at, "\"n%d\":%d.0%s", i, i, i ? "," : "}");
    assert_true(mcp_json_equal(counted_object(3000, ""), read_text(reversed)));
    assert_false(mcp_json_equal(counted_object(2999, ""), read_text(reversed)));
    assert_false(mcp_json_equal(counted_object(3000, ",\"n7\":8"), read_text(reversed)));
}

/* Two duplicates on each of 60 levels: comparing every pair would take 2^60 steps. */
static void nested_duplicates_do_not_multiply(void **state)
{
    static char text[2000];
    char *at = text;

    (void)state;
    for (int i = 0; i < 60; i++)
        at = stpcpy(at, "{\"a\":1,\"a\":");
    at = stpcpy(at, "1");
    for (int i = 0; i < 60; i++)
        at = stpcpy(at, "}");
    assert_true(mcp_json_equal(read_text(text), read_text(text)));
    at = text;
    for (int i = 0; i < 20; i++)
        at = stpcpy(at, "{\"a\":{},\"b\":{\"a\":0},\"a\":");
    at = stpcpy(at, "1");
    for (int i = 0; i < 20; i++)
        at = stpcpy(at, "}");
    assert_true(mcp_json_equal(read_text(text), read_text(text)));
}

static int compare(const char *a, const char *b)
{
    return mcp__json_compare(read_text(a), read_text(b));
}

/* The numbers in rising order: each must be below all that follow. */
static void order_is_exact(void **state)
{
    static const char *const rising[] = {
        "-1e300",
        "-9223372036854775809.0e1",
        "-9223372036854775808",
        "-9223372036854775807",
        "-2.5",
        "-2",
        "-0.5",
        "0",
        "1e-320",
        "0.5",
        "1",
        "9007199254740992.0",
        "9007199254740993",
        "9223372036854775807",
        "9223372036854775808.0",
        "9223372036854775809",
        "18446744073709551615",
        "18446744073709551616.0",
        "1e300",
    };
    const size_t count = sizeof rising / sizeof *rising;

    (void)state;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            int order = compare(rising[i], rising[k]);
            int should = (i > k) - (i < k);
            if ((order > 0) - (order < 0) != should)
                fail_msg("%s and %s: %d", rising[i], rising[k], order);
        }
    }
}

static void equal_numbers_of_different_kind(void **state)
{
    (void)state;
    assert_int_equal(compare("1", "1.0"), 0);
    assert_int_equal(compare("-0.0", "0"), 0);
    assert_int_equal(compare("9223372036854775808", "9223372036854775808.0"), 0);
    assert_int_equal(compare("-9223372036854775808", "-9223372036854775808.0"), 0);
}

/* ---- JSON Pointers; the first test is the table of RFC 6901, section 5 ---------------------- */

static void the_table_of_the_rfc(void **state)
{
    static const struct {
        const char *pointer;
        int64_t number;
    } rows[] = {
        { "/", 0 },     { "/a~1b", 1 }, { "/c%d", 2 }, { "/e^f", 3 },  { "/g|h", 4 },
        { "/i\\j", 5 }, { "/k\"l", 6 }, { "/ ", 7 },   { "/m~0n", 8 },
    };
    const mcp_json *value = read_text("{\"foo\":[\"bar\",\"baz\"],\"\":0,\"a/b\":1,\"c%d\":2,"
                                      "\"e^f\":3,\"g|h\":4,\"i\\\\j\":5,\"k\\\"l\":6,\" \":7,"
                                      "\"m~n\":8}");

    (void)state;
    assert_ptr_equal(mcp_json_pointer(value, ""), value);
    assert_int_equal(mcp_json_count(mcp_json_pointer(value, "/foo")), 2);
    assert_string_equal(mcp_json_string(mcp_json_pointer(value, "/foo/0"), NULL), "bar");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t number = -1;
        assert_true(mcp_json_int(mcp_json_pointer(value, rows[i].pointer), &number));
        assert_int_equal(number, rows[i].number);
    }
}

static void what_leads_nowhere(void **state)
{
    static const char *const pointers[] = {
        "a",
        "/x",
        "/a/3",
        "/a/-",
        "/a/-1",
        "/a/01",
        "/a/00",
        "/a/ 1",
        "/a/1 ",
        "/a/+1",
        "/a/1x",
        "/a/",
        "/a/1e0",
        "/a/0/x",
        "/a/0/0",
        "/s/0",
        "/n/a",
        "/o/a~b",
        "/o/~",
        "/o/~2",
        "/o/a~",
        "//",
        "/o//",
        "/A",
        "/a/18446744073709551616",
        "/a/99999999999",
        "/a/4294967296",
        "/a~",
        "#/a",
        "/o/a/b",
    };
    const mcp_json *value = read_text(
        "{\"a\":[1,2,3],\"s\":\"text\",\"n\":null,\"o\":{\"a~b\":1,\"~\":2,\"a/b\":3}}");

    (void)state;
    for (size_t i = 0; i < sizeof pointers / sizeof pointers[0]; i++) {
        if (mcp_json_pointer(value, pointers[i]))
            fail_msg("%s leads somewhere", pointers[i]);
    }
    assert_null(mcp_json_pointer(value, NULL));
}

static void escapes(void **state)
{
    const mcp_json *value = read_text("{\"~\":1,\"/\":2,\"~1\":3,\"/~/\":4,\"~01\":5,\"a\":{\"\":"
                                      "{\"\":6}},\"~d\":7,\"~d\":8}");
    static const struct {
        const char *pointer;
        int64_t number;
    } rows[] = {
        { "/~0", 1 },   { "/~1", 2 },  { "/~01", 3 }, { "/~1~0~1", 4 },
        { "/~001", 5 }, { "/a//", 6 }, { "/~0d", 8 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t number = -1;
        assert_true(mcp_json_int(mcp_json_pointer(value, rows[i].pointer), &number));
        assert_int_equal(number, rows[i].number);
    }
}

static void indices(void **state)
{
    const mcp_json *value = read_text("[0,1,2,3,4,5,6,7,8,9,[10,[11]]]");
    int64_t number = -1;

    (void)state;
    assert_true(mcp_json_int(mcp_json_pointer(value, "/9"), &number));
    assert_int_equal(number, 9);
    assert_true(mcp_json_int(mcp_json_pointer(value, "/10/1/0"), &number));
    assert_int_equal(number, 11);
    assert_null(mcp_json_pointer(value, "/11"));
    assert_null(mcp_json_pointer(value, "/10/1/0/0"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(each_type_is_itself_only),
        TEST(absent_answers_everything),
        TEST(integers_by_the_range_asked_for),
        TEST(members_in_text_order),
        TEST(finds_in_small_and_large_objects),
        TEST(the_last_duplicate_counts),
        TEST(equal_by_the_mathematical_value),
        TEST(large_objects_are_equal_in_any_order),
        TEST(nested_duplicates_do_not_multiply),
        TEST(order_is_exact),
        TEST(equal_numbers_of_different_kind),
        TEST(the_table_of_the_rfc),
        TEST(what_leads_nowhere),
        TEST(escapes),
        TEST(indices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
