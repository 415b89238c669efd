/*
 * test_write.c - the stream writer: places, escapes, numbers, failures, round trips.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/json.h"
#include "oom.h"
#include "json/json_int.h"

static mcp_buf buf;
static mcp_json_writer writer;

static int open_writer(void **state)
{
    (void)state;
    mcp_buf_init(&buf, 1 << 20);
    mcp_json_writer_init(&writer, &buf);
    return 0;
}

static int close_writer(void **state)
{
    (void)state;
    mcp_buf_clear(&buf);
    return 0;
}

static void start_again(void)
{
    mcp_buf_reset(&buf);
    mcp_json_writer_init(&writer, &buf);
}

static void must_have_written(const char *wanted)
{
    assert_int_equal(mcp_json_writer_status(&writer), MCP_OK);
    assert_string_equal(buf.data, wanted);
    start_again();
}

static void puts_commas_and_colons(void **state)
{
    (void)state;
    mcp_write_object(&writer);
    mcp_write_name(&writer, "empty");
    mcp_write_object(&writer);
    mcp_write_end(&writer);
    mcp_write_member_array(&writer, "list");
    mcp_write_int(&writer, 1);
    mcp_write_array(&writer);
    mcp_write_end(&writer);
    mcp_write_object(&writer);
    mcp_write_member_null(&writer, "x");
    mcp_write_member_bool(&writer, "y", true);
    mcp_write_end(&writer);
    mcp_write_bool(&writer, false);
    mcp_write_end(&writer);
    mcp_write_member_string(&writer, "text", "a");
    mcp_write_member_string(&writer, "none", NULL);
    mcp_write_member_int(&writer, "int", -5);
    mcp_write_member_double(&writer, "double", 0.5);
    mcp_write_member_value(&writer, "absent", NULL);
    mcp_write_member_object(&writer, "last");
    mcp_write_end(&writer);
    mcp_write_name(&writer, "raw");
    mcp_write_raw(&writer, "[1, 2]", 6);
    mcp_write_end(&writer);
    must_have_written("{\"empty\":{},\"list\":[1,[],{\"x\":null,\"y\":true},false],\"text\":\"a\","
                      "\"none\":null,\"int\":-5,\"double\":0.5,\"absent\":null,\"last\":{},"
                      "\"raw\":[1, 2]}");
}

static void a_root_may_be_any_value(void **state)
{
    (void)state;
    mcp_write_null(&writer);
    must_have_written("null");
    mcp_write_string(&writer, "");
    must_have_written("\"\"");
    mcp_write_array(&writer);
    mcp_write_end(&writer);
    must_have_written("[]");
    mcp_buf_puts(&buf, "data: "); /* what was there before stays */
    mcp_write_bool(&writer, true);
    must_have_written("data: true");
}

static void escapes_what_must_be(void **state)
{
    static const char hex[] = "0123456789abcdef";

    (void)state;
    mcp_write_string(&writer, "\"\\/\b\f\n\r\t<>&'\x7f");
    must_have_written("\"\\\"\\\\/\\b\\f\\n\\r\\t<>&'\x7f\"");
    for (char byte = 0; byte < 0x20; byte++) {
        char wanted[] = "\"\\u0000\"";
        if (memchr("\b\f\n\r\t", byte, 5))
            continue;
        wanted[5] = hex[byte >> 4];
        wanted[6] = hex[byte & 15];
        mcp_write_string_n(&writer, &byte, 1);
        must_have_written(wanted);
    }
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "a\"b\n", 1);
    mcp_write_end(&writer);
    must_have_written("{\"a\\\"b\\n\":1}");
    mcp_write_string(&writer, "\xC3\xA4\xE2\x80\xA8\xF0\x9F\x98\x80");
    must_have_written("\"\xC3\xA4\xE2\x80\xA8\xF0\x9F\x98\x80\"");
    mcp_write_string_n(&writer, NULL, 0);
    must_have_written("\"\"");
}

/* Every special byte at every place of a run of plain ones: the fast look takes eight at a time. */
static void escapes_at_every_place(void **state)
{
    static const struct {
        const char *bytes;
        const char *escaped;
    } specials[] = {
        { "\"", "\\\"" },
        { "\\", "\\\\" },
        { "\n", "\\n" },
        { "\x1f", "\\u001f" },
        { " ", " " },
        { "!", "!" },
        { "#", "#" },
        { "[", "[" },
        { "\x7f", "\x7f" },
        { "\xC3\xA4", "\xC3\xA4" },
        { "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof specials / sizeof specials[0]; i++) {
        for (size_t before = 0; before < 20; before++) {
            for (size_t after = 0; after < 12; after++) {
                char text[64] = "";
                char wanted[64] = "\"";
                memset(text, 'a', before);
                memset(wanted + 1, 'a', before);
                strcat(text, specials[i].bytes);
                strcat(wanted, specials[i].escaped);
                strncat(text, "zzzzzzzzzzzz", after);
                strncat(wanted, "zzzzzzzzzzzz", after);
                strcat(wanted, "\"");
                mcp_write_string(&writer, text);
                must_have_written(wanted);
            }
        }
    }
}

/* JSON as the text of a string, longer than the writer takes at once, ends where the buffer's
 * bound lies: the writer looks for room before it knows how much the text takes. */
static void json_as_text_fits_to_the_byte(void **state)
{
    static const char piece[] = "{\"\xC3\xA4\":\"b\\n\"},";
    static const char escaped[] = "{\\\"\xC3\xA4\\\":\\\"b\\\\n\\\"},";
    enum { PIECES = 300 };
    static char text[PIECES * sizeof piece], wanted[PIECES * sizeof escaped + 2];

    (void)state;
    wanted[0] = '"';
    for (size_t i = 0; i < PIECES; i++) {
        strcat(text, piece);
        strcat(wanted, escaped);
    }
    strcat(wanted, "\"");
    for (size_t less = 0; less < 3; less++) {
        mcp_buf bounded;
        mcp_buf_init(&bounded, strlen(wanted) - less);
        mcp_json_writer_init(&writer, &bounded);
        mcp_write_string(&writer, text);
        assert_int_equal(mcp_json_writer_status(&writer), less == 0 ? MCP_OK : MCP_E_LIMIT);
        if (less == 0)
            assert_string_equal(bounded.data, wanted);
        mcp_buf_clear(&bounded);
    }
    start_again();
}

static void text_that_is_not_utf8_fails(void **state)
{
    static const char *const texts[] = { "\x80", "abcdefgh\xFF", "\xED\xA0\x80", "\xC3",
                                         "\xC0\x80" };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        mcp_write_string(&writer, texts[i]);
        assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
        start_again();
        mcp_write_object(&writer);
        mcp_write_name(&writer, texts[i]);
        mcp_write_null(&writer); /* nothing asserts after a failure */
        mcp_write_end(&writer);
        mcp_write_end(&writer);
        assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
        start_again();
    }
}

static void integers(void **state)
{
    (void)state;
    mcp_write_int(&writer, 0);
    must_have_written("0");
    mcp_write_int(&writer, -1);
    must_have_written("-1");
    mcp_write_int(&writer, INT64_MAX);
    must_have_written("9223372036854775807");
    mcp_write_int(&writer, INT64_MIN);
    must_have_written("-9223372036854775808");
    mcp_write_uint(&writer, UINT64_MAX);
    must_have_written("18446744073709551615");
    mcp_write_uint(&writer, 1000);
    must_have_written("1000");
}

static void doubles_as_people_write_them(void **state)
{
    static const struct {
        double number;
        const char *text;
    } rows[] = {
        { 0.0, "0" },
        { -0.0, "-0.0" },
        { 5.0, "5" },
        { -2.5, "-2.5" },
        { 0.1, "0.1" },
        { 72105.4, "72105.4" },
        { 100000.0, "100000" },
        { 1234567890123456.0, "1234567890123456" },
        { 0.00001, "0.00001" },
        { 0.000001, "1e-06" },
        { 1e16, "10000000000000000" },
        { 1e17, "1e+17" },
        { 1e22, "1e+22" },
        { 0x1p63, "9.223372036854776e+18" },
        { 0x1p64, "1.8446744073709552e+19" },
        { 5e-324, "5e-324" },
        { DBL_MIN, "2.2250738585072014e-308" },
        { DBL_MAX, "1.7976931348623157e+308" },
        { 0.1 + 0.2, "0.30000000000000004" },
        { 1.0 / 3, "0.3333333333333333" },
        { 9007199254740993.0, "9007199254740992" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_write_double(&writer, rows[i].number);
        must_have_written(rows[i].text);
    }
}

static void what_is_no_number(void **state)
{
    static const double numbers[] = { NAN, INFINITY, -INFINITY };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        mcp_write_array(&writer);
        mcp_write_double(&writer, numbers[i]);
        mcp_write_end(&writer);
        assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
        start_again();
        mcp_write_array(&writer);
        mcp_write_double_or_null(&writer, numbers[i]);
        mcp_write_double_or_null(&writer, 1.5);
        mcp_write_end(&writer);
        must_have_written("[null,1.5]");
    }
}

static double read_back(const char *text, size_t length)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *value = NULL;
    double number = NAN;

    assert_int_equal(mcp_json_read(&value, arena, text, length, NULL), MCP_OK);
    assert_true(mcp_json_double(value, &number));
    mcp_arena_free(arena);
    return number;
}

/* How many digits the number has between its first and its last that is not 0. */
static size_t significant_digits(const char *text)
{
    size_t digits = 0;
    size_t significant = 0;

    for (const char *at = text + strspn(text, "-0."); *at && *at != 'e'; at++) {
        digits += *at != '.';
        if (*at != '.' && *at != '0')
            significant = digits;
    }
    return significant;
}

/*
 * Read back by our reader and by the C library. One digit less must not do; but an integer is
 * written with all its digits, because that is shorter than an exponent.
 */
static void must_round_trip(double number)
{
    char text[MCP__JSON_DOUBLE_SIZE + 1];
    char fewer[40];
    size_t length = mcp__json_format_double(text, number);

    assert_in_range(length, 1, MCP__JSON_DOUBLE_SIZE);
    text[length] = '\0';
    if (read_back(text, length) != number || strtod(text, NULL) != number)
        fail_msg("%a is written %s", number, text);
    size_t digits = significant_digits(text);
    if (digits > 1 && strpbrk(text, ".e")) {
        snprintf(fewer, sizeof fewer, "%.*e", (int)digits - 2, number);
        if (strtod(fewer, NULL) == number)
            fail_msg("%s could be written %s", text, fewer);
    }
}

static void doubles_round_trip(void **state)
{
    static const double hard[] = {
        5e-324,
        DBL_MAX,
        -DBL_MAX,
        DBL_MIN,
        0.1,
        72105.4,
        1e23,
        9007199254740991.0,
        0x1p53,
        0x1p54,
        0x1p63,
        0x1p64,
        -0x1p63,
        -0x1.0000000000001p63,
        0x1.fffffffffffffp62,
        0x1.fffffffffffffp63,
        2.2250738585072011e-308,
        1.2345678901234567e-5,
        9.999999999999999e16,
        1e17,
        99999999999999980.0,
        9.5367431640625e-07,
        123456.789,
        0x1.0p-1022,
        0x0.8p-1022,
    };
    uint64_t bits = 88172645463325252u;

    (void)state;
    for (size_t i = 0; i < sizeof hard / sizeof hard[0]; i++)
        must_round_trip(hard[i]);
    for (int exponent = -1074; exponent < 1024; exponent++) {
        must_round_trip(ldexp(1, exponent));
        must_round_trip(-nextafter(ldexp(1, exponent), 0));
    }
    for (int i = 0; i < 20000; i++) {
        double number;
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        memcpy(&number, &bits, sizeof number);
        if (isfinite(number))
            must_round_trip(number);
    }
}

static void nests_64_deep_and_no_deeper(void **state)
{
    (void)state;
    for (unsigned depth = 63; depth <= 66; depth++) {
        for (unsigned i = 0; i < depth; i++) {
            if (i % 2)
                mcp_write_object(&writer);
            else
                mcp_write_array(&writer);
            if (i % 2)
                mcp_write_name(&writer, "a");
        }
        if (depth % 2 == 0 || depth > 64)
            mcp_write_int(&writer, 1);
        for (unsigned i = 0; i < depth; i++)
            mcp_write_end(&writer);
        assert_int_equal(mcp_json_writer_status(&writer), depth <= 64 ? MCP_OK : MCP_E_LIMIT);
        if (depth <= 64) {
            mcp_arena *arena = mcp_arena_new(0);
            const mcp_json *value = NULL;
            assert_int_equal(mcp_json_read(&value, arena, buf.data, buf.length, NULL), MCP_OK);
            mcp_arena_free(arena);
        }
        start_again();
    }
}

static void values_are_written_as_they_were_read(void **state)
{
    static const char *const texts[] = {
        "null",
        "[true,false,null,0,-1,18446744073709551615,1.5,\"a\\u0000\\\"\",[],{}]",
        "{\"z\":1,\"a\":{\"a\":[{}]},\"\":\"\",\"z\":2}",
        "{\"a\\u0000b\":\"\xC3\xA4\"}",
        "-9223372036854775808",
    };
    mcp_arena *arena = mcp_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const mcp_json *value = NULL;
        assert_int_equal(mcp_json_read(&value, arena, texts[i], strlen(texts[i]), NULL), MCP_OK);
        mcp_write_value(&writer, value);
        must_have_written(texts[i]);
    }
    mcp_arena_free(arena);
}

static void the_buffers_bound_fails_the_writer(void **state)
{
    (void)state;
    for (size_t bound = 1; bound < 40; bound++) {
        mcp_buf small;
        mcp_buf_init(&small, bound);
        mcp_json_writer_init(&writer, &small);
        mcp_write_object(&writer);
        mcp_write_member_string(&writer, "name", "a\nb");
        mcp_write_member_array(&writer, "x");
        mcp_write_int(&writer, 1);
        mcp_write_int(&writer, 2);
        mcp_write_end(&writer);
        mcp_write_end(&writer);
        /* {"name":"a\nb","x":[1,2]} */
        assert_int_equal(mcp_json_writer_status(&writer), bound >= 25 ? MCP_OK : MCP_E_LIMIT);
        if (bound >= 25)
            assert_string_equal(small.data, "{\"name\":\"a\\nb\",\"x\":[1,2]}");
        mcp_buf_clear(&small);
    }
}

static void a_failed_buffer_fails_the_writer_at_once(void **state)
{
    mcp_buf small;

    (void)state;
    mcp_buf_init(&small, 3);
    mcp_buf_puts(&small, "abcd");
    mcp_json_writer_init(&writer, &small);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_E_LIMIT);
    mcp_write_null(&writer);
    assert_int_equal(small.length, 0);
    mcp_buf_clear(&small);
}

static void a_string_comes_in_pieces(void **state)
{
    (void)state;
    mcp_write_array(&writer);
    mcp__write_string_open(&writer);
    mcp__write_string_close(&writer);
    mcp__write_string_open(&writer);
    mcp__write_string_part(&writer, "a\"\n", 3);
    mcp__write_string_part(&writer, "", 0);
    mcp__write_string_escaped(&writer, "\\", 1); /* an escape cut in two */
    mcp__write_string_escaped(&writer, "\"b", 2);
    mcp__write_string_part(&writer, "\xc3\xa4\\", 3);
    mcp__write_string_close(&writer);
    mcp_write_int(&writer, 7);
    mcp_write_end(&writer);
    must_have_written("[\"\",\"a\\\"\\n\\\"b\xc3\xa4\\\\\",7]");
    mcp__write_string_open(&writer);
    mcp__write_string_part(&writer, "\xff", 1);
    mcp__write_string_close(&writer);
    assert_int_equal(mcp_json_writer_status(&writer), MCP_E_PARAMS);
}

static mcp_status write_much(void *data)
{
    mcp_buf own;
    mcp_json_writer to;

    (void)data;
    mcp_buf_init(&own, 1 << 20);
    mcp_json_writer_init(&to, &own);
    mcp_write_array(&to);
    for (int i = 0; i < 1000; i++) {
        mcp_write_object(&to);
        mcp_write_member_string(&to, "text", "line\n");
        mcp_write_member_double(&to, "number", i * 0.1);
        mcp_write_end(&to);
    }
    mcp_write_end(&to);
    mcp_status st = mcp_json_writer_status(&to);
    mcp_buf_clear(&own);
    return st;
}

static void survives_running_out_of_memory(void **state)
{
    (void)state;
    oom_walk(write_much, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_writer, close_writer)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(puts_commas_and_colons),
        TEST(a_root_may_be_any_value),
        TEST(escapes_what_must_be),
        TEST(escapes_at_every_place),
        TEST(json_as_text_fits_to_the_byte),
        TEST(text_that_is_not_utf8_fails),
        TEST(a_string_comes_in_pieces),
        TEST(integers),
        TEST(doubles_as_people_write_them),
        TEST(what_is_no_number),
        TEST(doubles_round_trip),
        TEST(nests_64_deep_and_no_deeper),
        TEST(values_are_written_as_they_were_read),
        TEST(the_buffers_bound_fails_the_writer),
        TEST(a_failed_buffer_fails_the_writer_at_once),
        TEST(survives_running_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
