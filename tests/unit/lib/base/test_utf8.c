/*
 * test_utf8.c - UTF-8 by RFC 3629, whose table of well-formed byte sequences is the expectation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"

/* Encode any number below 2^21 by the bit pattern alone, legal or not. */
static size_t encode(char out[4], uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    uint32_t lead = 0xF00U >> size & 0xFF;
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(lead | point);
    return size;
}

static void every_code_point(void **state)
{
    (void)state;
    for (uint32_t point = 0; point < 0x200000; point++) {
        char text[4];
        uint32_t decoded = 0xFFFFFFFF;
        size_t size = encode(text, point);
        bool is_legal = point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
        size_t taken = mcp__utf8_next(text, size, &decoded);
        if (taken != (is_legal ? size : 0) || (is_legal && decoded != point))
            fail_msg("U+%04X is read as U+%04X in %zu bytes", point, decoded, taken);
        if (mcp__utf8_valid(text, size, NULL) != is_legal)
            fail_msg("U+%04X", point);
        if (is_legal && size > 1 && mcp__utf8_next(text, size - 1, NULL) != 0)
            fail_msg("U+%04X cut short", point);
    }
}

static void ill_formed(void **state)
{
    static const struct {
        const char *text;
        size_t bad_offset;
    } rows[] = {
        { "\x80", 0 },
        { "\xBF", 0 },
        { "\xC0\x80", 0 },         /* overlong NUL */
        { "\xC1\xBF", 0 },         /* overlong */
        { "\xE0\x9F\xBF", 0 },     /* overlong */
        { "\xF0\x8F\xBF\xBF", 0 }, /* overlong */
        { "\xED\xA0\x80", 0 },     /* U+D800 */
        { "\xED\xBF\xBF", 0 },     /* U+DFFF */
        { "\xF4\x90\x80\x80", 0 }, /* U+110000 */
        { "\xF5\x80\x80\x80", 0 },
        { "\xFE", 0 },
        { "\xFF", 0 },
        { "abc\xC3", 3 },
        { "abc\xC3(", 3 },
        { "\xE2\x82", 0 },
        { "\xE2\x28\xA1", 0 },
        { "\xE2\x82\x28", 0 },
        { "\xF0\x9F\x98", 0 },
        { "\xF0\x9F\x28\x80", 0 },
        { "0123456789abcdef\xFF", 16 },
        { "0123456\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xA4", 15 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        size_t bad_offset = 99;
        assert_false(mcp__utf8_valid(rows[i].text, strlen(rows[i].text), &bad_offset));
        assert_int_equal(bad_offset, rows[i].bad_offset);
    }
}

static void well_formed_and_counted(void **state)
{
    size_t bad_offset = 99;

    (void)state;
    assert_true(mcp__utf8_valid("", 0, &bad_offset));
    assert_true(mcp__utf8_valid("a\0b", 3, &bad_offset));
    assert_int_equal(bad_offset, 99);
    assert_int_equal(mcp__utf8_length("", 0), 0);
    assert_int_equal(mcp__utf8_length("abc", 3), 3);
    assert_int_equal(mcp__utf8_length("\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80", 9), 3);
    assert_int_equal(mcp__utf8_next("", 0, NULL), 0);
}

static void cuts_between_characters(void **state)
{
    static const char text[] = "a\xC3\xA4\xF0\x9F\x98\x80z"; /* 1 + 2 + 4 + 1 bytes */
    static const size_t kept[] = { 0, 1, 1, 3, 3, 3, 3, 7, 8, 8 };

    (void)state;
    for (size_t max = 0; max < sizeof kept / sizeof kept[0]; max++)
        assert_int_equal(mcp__utf8_cut(text, 8, max), kept[max]);
}

static void tidies(void **state)
{
    char text[] = "a\r\n\xC3\xA4\xFF\x7Fz\xE2\x82";

    (void)state;
    mcp__utf8_tidy(text, strlen(text), 100);
    assert_string_equal(text, "a  \xC3\xA4? z?\?");
    mcp__utf8_tidy(text, strlen(text), 4);
    assert_string_equal(text, "a  ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_point),
        cmocka_unit_test(ill_formed),
        cmocka_unit_test(well_formed_and_counted),
        cmocka_unit_test(cuts_between_characters),
        cmocka_unit_test(tidies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
