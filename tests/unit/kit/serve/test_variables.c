/*
 * test_variables.c - tokens that variables have: which are taken, and that a message never repeats
 * one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/variables.h"

#define ONE "0123456789abcdef"
#define TWO "-._~+/ABCDEFGHIJK=="

static const char *const names[] = { "TEST_TOKEN", "TEST_TOKENS", NULL };

static void put(const char *one, const char *many)
{
    unsetenv(names[0]);
    unsetenv(names[1]);
    if (one)
        setenv(names[0], one, 1);
    if (many)
        setenv(names[1], many, 1);
}

static void assert_read(const char *one, const char *many, size_t count)
{
    mcp_arena *arena = mcp_arena_new(0);
    const char *const *tokens = NULL;
    mcp_error err = MCP_ERROR_INIT;
    size_t found = 0;

    put(one, many);
    if (serve_variables_read(&tokens, names, arena, &err) != MCP_OK)
        fail_msg("%s", err.message);
    while (tokens && tokens[found])
        found++;
    assert_int_equal(found, count);
    assert_int_equal(serve_variables_given(names), count > 0);
    assert_int_equal(serve_variables_check(names, &err), MCP_OK);
    assert_false(serve_variables_given(NULL));
    for (size_t i = 0; i < count; i++)
        assert_true(strcmp(tokens[i], ONE) == 0 || strcmp(tokens[i], TWO) == 0);
    mcp_arena_free(arena);
}

static void tokens_stand_between_commas(void **state)
{
    (void)state;
    assert_read(NULL, NULL, 0);
    assert_read("", " , ", 0);
    assert_read(ONE, NULL, 1);
    assert_read(NULL, ONE "," TWO, 2);
    assert_read(TWO, " " ONE " ,\n" TWO ",", 3);
}

static void assert_refused(const char *text, const char *words)
{
    mcp_error err = MCP_ERROR_INIT;

    put(NULL, text);
    assert_int_equal(serve_variables_check(names, &err), MCP_E_PARAMS);
    if (!strstr(err.message, words) || !strstr(err.message, "TEST_TOKENS"))
        fail_msg("%s", err.message);
    assert_null(strstr(err.message, text));
}

static void what_is_no_token_is_refused(void **state)
{
    char many[65 * 17 + 1] = "";

    (void)state;
    assert_refused("short", "5 characters");
    assert_refused(ONE ",123456789012345", "15 characters");
    assert_refused("0123456789\"abcdef", "characters that no token has");
    assert_refused("0123456789=abcdef", "characters that no token has");
    assert_refused("=0123456789abcde", "characters that no token has");
    assert_refused("0123456789abcd\xc3\xa4", "characters that no token has");
    for (size_t i = 0; i < 65; i++)
        memcpy(many + i * 17, ONE ",", 18);
    assert_refused(many, "more than 64 tokens");
    many[64 * 17] = '\0';
    put(NULL, many);
    assert_int_equal(serve_variables_check(names, NULL), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_stand_between_commas),
        cmocka_unit_test(what_is_no_token_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
