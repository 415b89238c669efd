/*
 * test_encode.c - settings as lines of JSON, as words of a shell and as parts of URLs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/host_int.h"

static mcp_buf text;

static int set_up(void **state)
{
    (void)state;
    mcp_buf_init(&text, 4096);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mcp_buf_clear(&text);
    return 0;
}

/* A member a line; arrays in one line, with all that is in them; strings unchanged. */
static void json_has_lines(void **state)
{
    (void)state;
    assert_int_equal(host_add_lines(&text, "{\"a\":{\"b\":[\"{,:\\\"]\",{\"c\":1}],\"d\":null}}"),
                     MCP_OK);
    assert_string_equal(text.data, "{\n"
                                   "  \"a\": {\n"
                                   "    \"b\": [\"{,:\\\"]\", {\"c\": 1}],\n"
                                   "    \"d\": null\n"
                                   "  }\n"
                                   "}");
}

static const char *quoted(const char *word)
{
    mcp_buf_reset(&text);
    assert_int_equal(host_add_shell(&text, word), MCP_OK);
    return text.data;
}

/* POSIX, Shell Command Language, 2.2.2: nothing is special between single quotes. */
static void words_of_a_shell_are_quoted(void **state)
{
    (void)state;
    assert_string_equal(quoted("--tool-names=safe"), "--tool-names=safe");
    assert_string_equal(quoted(""), "''");
    assert_string_equal(quoted("a b"), "'a b'");
    assert_string_equal(quoted("$HOME"), "'$HOME'");
    assert_string_equal(quoted("it's"), "'it'\\''s'");
    assert_string_equal(quoted("~"), "'~'");
}

/* RFC 3986, 2.3: all but the unreserved characters. */
static void parts_of_urls_are_encoded(void **state)
{
    static const char bytes[] = "az-._~/ \"{\xc3\xa9\x7f";
    (void)state;
    assert_int_equal(host_add_percent(&text, bytes, sizeof bytes), MCP_OK); /* with its NUL */
    assert_string_equal(text.data, "az-._~%2F%20%22%7B%C3%A9%7F%00");
}

static void a_text_that_does_not_fit_is_an_error(void **state)
{
    (void)state;
    mcp_buf_clear(&text);
    mcp_buf_init(&text, 8);
    assert_int_equal(host_add_shell(&text, "much longer than that"), MCP_E_LIMIT);
}

#define EACH(test_) cmocka_unit_test_setup_teardown(test_, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        EACH(json_has_lines),
        EACH(words_of_a_shell_are_quoted),
        EACH(parts_of_urls_are_encoded),
        EACH(a_text_that_does_not_fit_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
