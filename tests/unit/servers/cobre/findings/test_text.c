/*
 * test_text.c - bytes that are not UTF-8 by RFC 3629 become '?', and long text is cut at a
 * character.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/text.h"

static int setup(void **state)
{
    *state = mcp_arena_new(0);
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    mcp_arena_free(*state);
    return 0;
}

/* The rows of the RFC's table of well-formed sequences, their first and last characters. */
static void characters_stay(void **state)
{
    static const char *const texts[] = {
        "",
        "plain\n\t\x01\x7F",
        "\xC2\x80\xDF\xBF",
        "\xE0\xA0\x80\xE0\xBF\xBF",
        "\xE1\x80\x80\xEC\xBF\xBF",
        "\xED\x80\x80\xED\x9F\xBF",
        "\xEE\x80\x80\xEF\xBF\xBF",
        "\xF0\x90\x80\x80\xF0\xBF\xBF\xBF",
        "\xF1\x80\x80\x80\xF3\xBF\xBF\xBF",
        "\xF4\x80\x80\x80\xF4\x8F\xBF\xBF",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_string_equal(cobre_text_clean(*state, texts[i]), texts[i]);
    assert_null(cobre_text_clean(*state, NULL));
}

static void other_bytes_go(void **state)
{
    static const struct {
        const char *text, *clean;
    } rows[] = {
        { "a\xFF\xFE"
          "b",
          "a??b" },
        { "\x80", "?" },
        { "\xC0\xAF", "??" }, /* overlong '/' */
        { "\xC1\xBF", "??" },
        { "\xE0\x9F\xBF", "???" },      /* overlong */
        { "\xED\xA0\x80", "???" },      /* a surrogate */
        { "\xF0\x8F\xBF\xBF", "????" }, /* overlong */
        { "\xF4\x90\x80\x80", "????" }, /* above U+10FFFF */
        { "\xF5\x80\x80\x80", "????" },
        { "\xE2\x82", "??" }, /* cut */
        { "\xF0\x9F\x98", "???" },
        { "\xE2(\xA1", "?(?" },
        { "\xC3\xC3\xA9", "?\xC3\xA9" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(cobre_text_clean(*state, rows[i].text), rows[i].clean);
}

static void long_text_is_cut_at_a_character(void **state)
{
    assert_string_equal(cobre_text_short(*state, "123456", 6), "123456");
    assert_string_equal(cobre_text_short(*state, "1234567", 6), "123...");
    assert_string_equal(cobre_text_short(*state,
                                         "12\xC3\xA9"
                                         "4567",
                                         6),
                        "12...");
    assert_string_equal(cobre_text_short(*state,
                                         "1\xC3\xA9"
                                         "4567",
                                         6),
                        "1\xC3\xA9...");
    assert_string_equal(cobre_text_short(*state, "\x80\x80\x80\x80\x80\x80\x80", 6), "...");
    assert_null(cobre_text_short(*state, NULL, 6));
}

static void no_memory_is_no_text(void **state)
{
    mcp_arena *small = mcp_arena_new(8);

    (void)state;
    assert_null(cobre_text_clean(small, "0123456789"));
    assert_null(cobre_text_short(small, "0123456789", 9));
    mcp_arena_free(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(characters_stay, setup, teardown),
        cmocka_unit_test_setup_teardown(other_bytes_go, setup, teardown),
        cmocka_unit_test_setup_teardown(long_text_is_cut_at_a_character, setup, teardown),
        cmocka_unit_test(no_memory_is_no_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
