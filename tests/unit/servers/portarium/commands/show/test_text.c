/*
 * Texts of others: what a terminal would obey becomes a number, everything else stays; JSON stays
 * JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "commands/show/text.h"
#include "mcp/json.h"

static int set_up(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int tear_down(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

static void shows(mcp_arena *arena, const char *text, const char *expected)
{
    assert_string_equal(portarium_visible_text(arena, text), expected);
}

static void test_plain_text_stays(void **state)
{
    shows(*state, "", "");
    shows(*state, "deploy v1.2 \\ \"x\"", "deploy v1.2 \\ \"x\"");
    shows(*state, "na\u00efve \u4f60\u597d \U0001F600", "na\u00efve \u4f60\u597d \U0001F600");
    assert_null(portarium_visible_text(*state, NULL));
}

static void test_controls_become_numbers(void **state)
{
    shows(*state, "a\033[2Jb", "a\\u001b[2Jb");
    shows(*state, "one\ntwo\r\tthree\177", "one\\u000atwo\\u000d\\u0009three\\u007f");
    shows(*state,
          "\xc2\x9b"
          "31m",
          "\\u009b31m");
    shows(*state, "user\u202egnp.exe\u2066x\u2069", "user\\u202egnp.exe\\u2066x\\u2069");
    shows(*state, "a\u200bb\u00adc\ufeff", "a\\u200bb\\u00adc\\ufeff");
    /* A tag character, as its two surrogates (RFC 8259, section 7). */
    shows(*state, "x\U000E0041", "x\\udb40\\udc41");
}

static void test_invalid_bytes_become_numbers(void **state)
{
    shows(*state,
          "a\xff"
          "b",
          "a\\u00ffb");
    shows(*state, "\xc0\xaf", "\\u00c0\\u00af");            /* an overlong slash */
    shows(*state, "\xe2\x80", "\\u00e2\\u0080");            /* cut */
    shows(*state, "\xe0\x80\xae", "\\u00e0\\u0080\\u00ae"); /* an overlong full stop */
}

static void test_json_keeps_its_value(void **state)
{
    static const char text[] = "{\"a\u202e\":\"\xc2\x9b \U000E0041 \u4f60\\n\"}";
    mcp_buf out;
    const mcp_json *before = NULL, *after = NULL;
    mcp_buf_init(&out, 1024);
    portarium_visible(&out, text, strlen(text));
    assert_int_equal(mcp_json_read(&before, *state, text, strlen(text), NULL), MCP_OK);
    assert_int_equal(mcp_json_read(&after, *state, out.data, out.length, NULL), MCP_OK);
    assert_true(mcp_json_equal(before, after));
    assert_null(memmem(out.data, out.length, "\u202e", 3));
    mcp_buf_clear(&out);
}

static void test_times_are_local(void **state)
{
    setenv("TZ", "XXX-09:00", 1); /* nine hours east of Greenwich (POSIX) */
    tzset();
    assert_string_equal(portarium_local_time(*state, "2026-01-02T20:04:05.678Z"),
                        "2026-01-03 05:04:05");
    assert_string_equal(portarium_local_time(*state, "soon"), "soon");
    assert_null(portarium_local_time(*state, NULL));
}

static void test_cut_counts_characters(void **state)
{
    assert_string_equal(portarium_cut(*state, "four", 4), "four");
    assert_string_equal(portarium_cut(*state, "fives", 4), "five\u2026");
    assert_string_equal(portarium_cut(*state, "\u4f60\u597d\u4f60", 2), "\u4f60\u597d\u2026");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_text_stays),
        cmocka_unit_test(test_controls_become_numbers),
        cmocka_unit_test(test_invalid_bytes_become_numbers),
        cmocka_unit_test(test_json_keeps_its_value),
        cmocka_unit_test(test_times_are_local),
        cmocka_unit_test(test_cut_counts_characters),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
