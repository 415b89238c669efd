/*
 * test_read.c - what is JSON and what is not, by the grammar of RFC 8259, and what a value becomes.
 */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena_int.h"
#include "mcp/json.h"
#include "oom.h"

/* Texts with their lengths, so that NUL may stand in them. */
typedef struct text {
    const char *bytes;
    size_t length;
} text;

#define T(literal)                                                                                 \
    {                                                                                              \
        literal, sizeof literal - 1                                                                \
    }

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

static const mcp_json *must_read(const char *bytes, size_t length)
{
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    if (mcp_json_read(&value, arena, bytes, length, &err) != MCP_OK)
        fail_msg("%.60s: %s", bytes, err.message);
    assert_non_null(value);
    return value;
}

static const mcp_json *read_text(const char *bytes)
{
    return must_read(bytes, strlen(bytes));
}

/* Reading must fail so, leave `out` alone, and say something. */
static mcp_error must_refuse(const char *bytes, size_t length, mcp_status status)
{
    const mcp_json *before = must_read("null", 4);
    const mcp_json *value = before;
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = mcp_json_read(&value, arena, bytes, length, &err);

    if (st != status)
        fail_msg("%.60s: %s instead of %s", bytes, mcp_status_name(st), mcp_status_name(status));
    assert_ptr_equal(value, before);
    assert_int_equal(err.status, status);
    assert_true(err.message[0] != '\0');
    return err;
}

static void accepts(void **state)
{
    static const text texts[] = {
        T("null"),
        T("true"),
        T("false"),
        T("0"),
        T("-0"),
        T("-1"),
        T("10"),
        T("123456789"),
        T("0.5"),
        T("-0.0"),
        T("1.25e2"),
        T("1E2"),
        T("1e+2"),
        T("1e-2"),
        T("0e0"),
        T("0E+00"),
        T("1e05"),
        T("1.000000000000000000000000000000000000000000000000000000"),
        T("0.000000000000000000000000000000000000000000000000000000000000001"),
        T("1e-400"),
        T("-1e-99999999999999999999999"),
        T("0e99999999999999999999999"),
        T("\"\""),
        T("\"a\""),
        T("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        T("\"\\u0000\""),
        T("\"\\u00e9\\u00E9\""),
        T("\"\\ud83d\\ude00\""),
        T("\"\\uD834\\uDD1E\""),
        T("\"\\uFFFE\\uffff\""),
        T("\"\x7f\""),
        T("\"\xC2\x80\""),
        T("\"\xE2\x80\xA8\""),
        T("\"\xED\x9F\xBF\xEE\x80\x80\""),
        T("\"\xF0\x90\x80\x80\xF4\x8F\xBF\xBF\""),
        T("\"\xEF\xBB\xBF\""),
        T("\"/\""),
        T("[]"),
        T("[ ]"),
        T("[1]"),
        T("[1,2]"),
        T("[[],[[]]]"),
        T("[null,true,false,0,\"\",[],{}]"),
        T("{}"),
        T("{ }"),
        T("{\"\":0}"),
        T("{\"a\":1,\"b\":2}"),
        T("{\"a\":{\"a\":{}}}"),
        T("{\"a\":1,\"a\":2}"),
        T(" \t\r\n1 \t\r\n"),
        T("[ 1 , 2 ]"),
        T("{ \"a\" : 1 , \"b\" : [ ] }"),
        T("\n[\n]\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        must_read(texts[i].bytes, texts[i].length);
}

static void refuses(void **state)
{
    static const struct {
        text is;
        int64_t offset; /* of the first byte that cannot stand there */
    } rows[] = {
        { T(""), 0 },
        { T(" "), 1 },
        { T("\n\n"), 2 },
        { T("nul"), 3 },
        { T("nulL"), 3 },
        { T("tru"), 3 },
        { T("falsy"), 4 },
        { T("True"), 0 },
        { T("NULL"), 0 },
        { T("truee"), 4 },
        { T("nullnull"), 4 },
        { T("NaN"), 0 },
        { T("Infinity"), 0 },
        { T("-Infinity"), 1 },
        { T("undefined"), 0 },
        { T("+1"), 0 },
        { T("-"), 1 },
        { T("--1"), 1 },
        { T("01"), 1 },
        { T("-01"), 2 },
        { T("00"), 1 },
        { T("0x1"), 1 },
        { T("1."), 2 },
        { T("1.e1"), 2 },
        { T(".5"), 0 },
        { T("-.5"), 1 },
        { T("1e"), 2 },
        { T("1e+"), 3 },
        { T("1e1.5"), 3 },
        { T("1ee1"), 2 },
        { T("1_000"), 1 },
        { T("1 000"), 2 },
        { T("1,"), 1 },
        { T("\""), 1 },
        { T("\"abc"), 4 },
        { T("abc\""), 0 },
        { T("'a'"), 0 },
        { T("\"\\\""), 3 },
        { T("\"\\a\""), 2 },
        { T("\"\\x41\""), 2 },
        { T("\"\\'\""), 2 },
        { T("\"\\u\""), 3 },
        { T("\"\\u12\""), 5 },
        { T("\"\\u12G4\""), 5 },
        { T("\"\\U0041\""), 2 },
        { T("\"\\u+041\""), 3 },
        { T("\"\\ud800\""), 1 },
        { T("\"\\udc00\""), 1 },
        { T("\"\\udfff\\ud800\""), 1 },
        { T("\"\\ud800\\ud800\""), 1 },
        { T("\"\\ud800x\""), 1 },
        { T("\"\\ud800\\n\""), 1 },
        { T("\"\\ud800\\u0041\""), 1 },
        { T("\"ab\\ud800\\ue000\""), 3 },
        { T("\"a\nb\""), 2 },
        { T("\"a\tb\""), 2 },
        { T("\"\x1f\""), 1 },
        { T("\"a\0b\""), 2 },
        { T("\"\x80\""), 1 },
        { T("\"\xC0\x80\""), 1 },
        { T("\"\xE0\x80\x80\""), 1 },
        { T("\"\xED\xA0\x80\""), 1 },
        { T("\"\xF4\x90\x80\x80\""), 1 },
        { T("\"\xFF\""), 1 },
        { T("\"\xC3\""), 1 },
        { T("\"\xE2\x82\""), 1 },
        { T("\xC3\xA4"), 0 },
        { T("["), 1 },
        { T("]"), 0 },
        { T("[1"), 2 },
        { T("[1,"), 3 },
        { T("[1,]"), 3 },
        { T("[,1]"), 1 },
        { T("[1 2]"), 3 },
        { T("[1,,2]"), 3 },
        { T("[]]"), 2 },
        { T("[}"), 1 },
        { T("[1}"), 2 },
        { T("{"), 1 },
        { T("}"), 0 },
        { T("{]"), 1 },
        { T("{\"a\""), 4 },
        { T("{\"a\":"), 5 },
        { T("{\"a\":1"), 6 },
        { T("{\"a\":1,"), 7 },
        { T("{\"a\":1,}"), 7 },
        { T("{\"a\"}"), 4 },
        { T("{\"a\",1}"), 4 },
        { T("{\"a\":}"), 5 },
        { T("{:1}"), 1 },
        { T("{a:1}"), 1 },
        { T("{1:1}"), 1 },
        { T("{null:1}"), 1 },
        { T("{\"a\":1 \"b\":2}"), 7 },
        { T("{\"a\":1,,\"b\":2}"), 7 },
        { T("{\"a\"::1}"), 5 },
        { T("{'a':1}"), 1 },
        { T("[1]x"), 3 },
        { T("{}{}"), 2 },
        { T("1 2"), 2 },
        { T("[] // no"), 3 },
        { T("/* no */ 1"), 0 },
        { T("\xEF\xBB\xBF{}"), 0 },
        { T("\0"), 0 },
        { T("1\0"), 1 },
        { T("\v1"), 0 },
        { T("1\f"), 1 },
        { T("\xC2\xA0"
            "1"),
          0 },
        { T("[1]\xE2\x80\xA8"), 3 },
        { T("<xml/>"), 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = must_refuse(rows[i].is.bytes, rows[i].is.length, MCP_E_PARSE);
        if (err.offset != rows[i].offset)
            fail_msg("%s: %s, and not at %d", rows[i].is.bytes, err.message, (int)rows[i].offset);
    }
}

static void integers_keep_their_type_up_to_64_bits(void **state)
{
    static const struct {
        const char *text;
        mcp_json_type type;
        uint64_t bits;
    } rows[] = {
        { "0", MCP_JSON_INT, 0 },
        { "-0", MCP_JSON_INT, 0 },
        { "9007199254740993", MCP_JSON_INT, 9007199254740993 },
        { "9223372036854775807", MCP_JSON_INT, INT64_MAX },
        { "-9223372036854775808", MCP_JSON_INT, (uint64_t)INT64_MIN },
        { "9223372036854775808", MCP_JSON_UINT, (uint64_t)INT64_MAX + 1 },
        { "18446744073709551615", MCP_JSON_UINT, UINT64_MAX },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const mcp_json *value = read_text(rows[i].text);
        int64_t integer = 99;
        uint64_t natural = 99;
        assert_int_equal(mcp_json_type_of(value), rows[i].type);
        if (rows[i].type == MCP_JSON_INT) {
            assert_true(mcp_json_int(value, &integer));
            assert_true((uint64_t)integer == rows[i].bits);
        } else {
            assert_false(mcp_json_int(value, &integer));
            assert_true(mcp_json_uint(value, &natural));
            assert_true(natural == rows[i].bits);
        }
    }
}

/* What JavaScript writes for doubles below 1e21, and C's own reading of it. */
static void integers_beyond_64_bits_are_doubles(void **state)
{
    static const struct {
        const char *text;
        double number;
    } rows[] = {
        { "18446744073709551616", 0x1p64 },          { "-9223372036854775809", -0x1p63 },
        { "100000000000000000000", 1e20 },           { "938000000000000000000", 9.38e20 },
        { "-99999999999999999999999999999", -1e29 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char nested[200];
        double number = 0;
        const mcp_json *value = read_text(rows[i].text);
        assert_int_equal(mcp_json_type_of(value), MCP_JSON_DOUBLE);
        assert_true(mcp_json_double(value, &number) && number == rows[i].number);
        snprintf(nested, sizeof nested,
                 "[{\"%s\": %s ,\"\\\\\\\"-\":\"%s\"},-18446744073709551616,7]", rows[i].text,
                 rows[i].text, rows[i].text);
        value = read_text(nested);
        assert_true(mcp_json_double(mcp_json_get(mcp_json_item(value, 0), rows[i].text), &number));
        assert_true(number == rows[i].number);
        assert_string_equal(mcp_json_get_string(mcp_json_item(value, 0), "\\\"-"), rows[i].text);
        assert_true(mcp_json_double(mcp_json_item(value, 1), &number) && number == -0x1p64);
        assert_int_equal(mcp_json_type_of(mcp_json_item(value, 2)), MCP_JSON_INT);
    }
}

/* The largest double, 1.7976931348623157e308, has 309 digits in full; with one more it is too
 * much. */
static void the_longest_integer_is_the_largest_double(void **state)
{
    char text[400] = "17976931348623157";
    double number = 0;

    (void)state;
    memset(text + 17, '0', 292);
    assert_true(mcp_json_double(read_text(text), &number) && number == DBL_MAX);
    text[17 + 292] = '0';
    assert_int_equal(must_refuse(text, strlen(text), MCP_E_PARSE).offset, 0);
}

static void numbers_out_of_range_are_refused(void **state)
{
    static const char *const texts[] = {
        "1e400",
        "-1e400",
        "1e309",
        "1.7976931348623159e308",
        "17976931348623159000000000000e280",
        "0.000001e1000",
        "1e99999999999999999999999",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char nested[100];
        assert_int_equal(must_refuse(texts[i], strlen(texts[i]), MCP_E_PARSE).offset, 0);
        int length = snprintf(nested, sizeof nested, "{\"id\": %s}", texts[i]);
        assert_int_equal(must_refuse(nested, (size_t)length, MCP_E_PARSE).offset, 7);
    }
}

static void doubles_are_the_nearest(void **state)
{
    static const struct {
        const char *text;
        double number;
    } rows[] = {
        { "0.0", 0.0 },
        { "1.0", 1.0 },
        { "0.1", 0x1.999999999999ap-4 },
        { "72105.4", 0x1.19a9666666666p+16 },
        { "5e-324", 0x1p-1074 },
        { "2.4703282292062327e-324", 0.0 }, /* below half of the smallest */
        { "2.4703282292062328e-324", 0x1p-1074 },
        { "2.2250738585072014e-308", 0x1p-1022 },
        { "2.2250738585072011e-308", 0x0.fffffffffffffp-1022 },
        { "1.7976931348623157e308", 0x1.fffffffffffffp+1023 },
        { "1.7976931348623158e308", 0x1.fffffffffffffp+1023 },
        { "9007199254740993.0", 0x1p+53 }, /* half way: to even */
        { "9007199254740995.0", 0x1.0000000000002p+53 },
        { "1e23", 0x1.52d02c7e14af6p+76 },
        { "-1e22", -0x1.0f0cf064dd592p+73 },
        { "1e-400", 0.0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double number = -99;
        const mcp_json *value = read_text(rows[i].text);
        assert_int_equal(mcp_json_type_of(value), MCP_JSON_DOUBLE);
        assert_true(mcp_json_double(value, &number));
        if (number != rows[i].number)
            fail_msg("%s reads as %a", rows[i].text, number);
    }
    double zero = 1;
    assert_true(mcp_json_double(read_text("-0.0"), &zero));
    assert_true(zero == 0 && signbit(zero));
}

static void strings_are_unescaped_and_end_in_nul(void **state)
{
    static const struct {
        const char *text;
        text wanted;
    } rows[] = {
        { "\"\"", T("") },
        { "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", T("\"\\/\b\f\n\r\t") },
        { "\"a\\u0000b\"", T("a\0b") },
        { "\"\\u0041\\u00e4\\u20AC\\ud83d\\uDE00\"", T("A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80") },
        { "\"\\u007f\\u0080\\u07ff\\u0800\\uffff\"",
          T("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF") },
        { "\"\\ud800\\udc00\\udbff\\udfff\"", T("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF") },
        { "\"\\\\u0041\"", T("\\u0041") },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t length = 99;
        const char *string = mcp_json_string(read_text(rows[i].text), &length);
        assert_non_null(string);
        assert_int_equal(length, rows[i].wanted.length);
        assert_memory_equal(string, rows[i].wanted.bytes, length + 1);
    }
}

/* `depth` opening brackets around `inner`. */
static size_t nest(char *out, size_t depth, bool objects, const char *inner)
{
    char *at = out;

    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, objects ? "{\"a\":" : "[");
    at = stpcpy(at, inner);
    for (size_t i = 0; i < depth; i++)
        at = stpcpy(at, objects ? "}" : "]");
    return (size_t)(at - out);
}

static void nests_64_deep_and_no_deeper(void **state)
{
    static char out[2000];

    (void)state;
    must_read(out, nest(out, 64, false, "1"));
    must_read(out, nest(out, 64, false, ""));
    must_read(out, nest(out, 64, true, "1"));
    must_read(out, nest(out, 63, true, "{}"));
    assert_int_equal(must_refuse(out, nest(out, 65, false, "1"), MCP_E_LIMIT).offset, 64);
    assert_int_equal(must_refuse(out, nest(out, 65, false, ""), MCP_E_LIMIT).offset, 64);
    assert_int_equal(must_refuse(out, nest(out, 65, true, "1"), MCP_E_LIMIT).offset, 64 * 5);
    assert_int_equal(must_refuse(out, nest(out, 64, true, "{}"), MCP_E_LIMIT).offset, 64 * 5);
    assert_int_equal(must_refuse(out, nest(out, 64, true, "[]"), MCP_E_LIMIT).offset, 64 * 5);
    assert_int_equal(must_refuse(out, nest(out, 200, false, "1"), MCP_E_LIMIT).offset, 64);
}

static void a_flood_of_brackets_is_refused_quickly(void **state)
{
    size_t length = 4 << 20;
    char *brackets = malloc(length);

    (void)state;
    memset(brackets, '[', length);
    assert_int_equal(must_refuse(brackets, length, MCP_E_LIMIT).offset, 64);
    free(brackets);
}

/* Texts beyond 64 KiB take another parser; the same thread then goes back to its own. */
static void large_texts_and_small_ones_in_turn(void **state)
{
    enum { COUNT = 40000 };
    static char out[COUNT * 8 + 10];

    (void)state;
    for (int round = 0; round < 3; round++) {
        char *at = out;
        *at++ = '[';
        for (int i = 0; i < COUNT; i++)
            at += sprintf(at, "%s%d", i ? "," : "", i);
        *at++ = ']';
        const mcp_json *value = must_read(out, (size_t)(at - out));
        assert_int_equal(mcp_json_count(value), COUNT);
        for (size_t i = 0; i < COUNT; i++) {
            int64_t number = -1;
            assert_true(mcp_json_int(mcp_json_item(value, i), &number));
            assert_int_equal(number, i);
        }
        assert_int_equal(mcp_json_count(read_text("[1,2]")), 2);
        must_refuse(out, (size_t)(at - out) - 1, MCP_E_PARSE);
    }
}

static void every_size_around_the_parsers_steps(void **state)
{
    static const size_t steps[] = { 32, 64, 4096, 8192, 65536, 131072 };
    static char out[131072 + 16];

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        for (size_t length = steps[i] - 3; length <= steps[i] + 3; length++) {
            size_t found = 0;
            memset(out, 'x', length);
            out[0] = '"';
            out[length - 1] = '"';
            assert_non_null(mcp_json_string(must_read(out, length), &found));
            assert_int_equal(found, length - 2);
            assert_int_equal(must_refuse(out, length - 1, MCP_E_PARSE).offset, length - 1);
        }
    }
}

/* simdjson's own count of a container saturates at 0xFFFFFF. */
static void more_items_than_simdjson_counts(void **state)
{
    size_t count = 0xFFFFFF + 5;
    char *out = malloc(count * 2 + 1);
    mcp_arena *large = mcp_arena_new((size_t)512 << 20);
    const mcp_json *value = NULL;
    int64_t last = 0;

    (void)state;
    for (size_t i = 0; i < count; i++)
        memcpy(out + 2 * i, ",7", 2);
    out[0] = '[';
    out[count * 2] = ']';
    assert_int_equal(mcp_json_read(&value, large, out, count * 2 + 1, NULL), MCP_OK);
    assert_int_equal(mcp_json_count(value), count);
    assert_true(mcp_json_int(mcp_json_item(value, count - 1), &last));
    assert_int_equal(last, 7);
    mcp_arena_free(large);
    free(out);
}

static void the_arenas_bound_is_a_limit(void **state)
{
    mcp_arena *small = mcp_arena_new(64);
    const mcp_json *value = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(mcp_json_read(&value, small, "[1,2,3,4,5,6,7,8]", 17, &err), MCP_E_LIMIT);
    assert_null(value);
    assert_int_equal(err.offset, -1);
    assert_int_equal(mcp_json_read(&value, small, "[1]", 3, &err), MCP_OK);
    mcp_arena_free(small);
}

static void an_error_object_is_not_needed(void **state)
{
    const mcp_json *value = NULL;

    (void)state;
    assert_int_equal(mcp_json_read(&value, arena, "[", 1, NULL), MCP_E_PARSE);
    assert_int_equal(mcp_json_read(&value, arena, NULL, 0, NULL), MCP_E_PARSE);
    assert_int_equal(mcp_json_read(&value, arena, "[1e999]", 7, NULL), MCP_E_PARSE);
}

static mcp_status read_much(void *data)
{
    const text *from = data;
    mcp_arena *own = mcp_arena_new(0);
    const mcp_json *value = NULL;
    mcp_status st = own ? mcp_json_read(&value, own, from->bytes, from->length, NULL) : MCP_E_NOMEM;

    assert_true((st == MCP_OK) == (value != NULL));
    mcp_arena_free(own);
    return st;
}

static void survives_running_out_of_memory(void **state)
{
    static char out[60000];
    char *at = out;

    (void)state;
    *at++ = '{';
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "%s\"name %d\":[%d,\"text\",{\"a\":null}]", i ? "," : "", i, i);
    *at++ = '}';
    oom_walk(read_much, &(text){ out, (size_t)(at - out) });
    oom_walk(read_much, &(text)T("[[[[\"a\"]]]]"));
}

/* Hands `data` back when something went wrong. */
static void *read_in_a_thread(void *data)
{
    for (int i = 0; i < 2000; i++) {
        mcp_arena *own = mcp_arena_new(0);
        const mcp_json *value = NULL;
        mcp_status st = mcp_json_read(&value, own, "{\"a\":[1,2,3]}", 13, NULL);
        size_t count = mcp_json_count(mcp_json_get(value, "a"));
        mcp_arena_free(own);
        if (st != MCP_OK || count != 3)
            return data;
    }
    return NULL;
}

static void threads_read_at_the_same_time(void **state)
{
    pthread_t threads[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, read_in_a_thread, threads), 0);
    for (int i = 0; i < 4; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_arena, close_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(accepts),
        TEST(refuses),
        TEST(integers_keep_their_type_up_to_64_bits),
        TEST(integers_beyond_64_bits_are_doubles),
        TEST(the_longest_integer_is_the_largest_double),
        TEST(numbers_out_of_range_are_refused),
        TEST(doubles_are_the_nearest),
        TEST(strings_are_unescaped_and_end_in_nul),
        TEST(nests_64_deep_and_no_deeper),
        TEST(a_flood_of_brackets_is_refused_quickly),
        TEST(large_texts_and_small_ones_in_turn),
        TEST(every_size_around_the_parsers_steps),
        TEST(more_items_than_simdjson_counts),
        TEST(the_arenas_bound_is_a_limit),
        TEST(an_error_object_is_not_needed),
        TEST(survives_running_out_of_memory),
        TEST(threads_read_at_the_same_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
