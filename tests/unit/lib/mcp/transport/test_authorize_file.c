/*
 * test_authorize_file.c - lines that are tokens, and lines that are refused with their number.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/transport/authorize.h"

/* SHA-256 of "abc" and of "" (FIPS 180-4, NIST's examples). */
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define NOTHING "E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855"

static mcp_arena *arena;
static mcp__token_file file;
static mcp_error err;

static int begin(void **state)
{
    (void)state;
    arena = mcp_arena_new(0);
    return arena ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    mcp_arena_free(arena);
    return 0;
}

static mcp_status parse(const char *text)
{
    return mcp__token_file_parse(&file, arena, text, strlen(text), "tokens", &err);
}

static const mcp_principal *find(const char *token)
{
    uint8_t hash[MCP_SHA256_SIZE];

    assert_int_equal(mcp_sha256(hash, token, strlen(token), NULL), MCP_OK);
    return mcp__token_file_find(&file, hash);
}

static void lines_are_tokens(void **state)
{
    (void)state;
    assert_int_equal(parse("# comment\n\n  " ABC "  ann\tread  write \r\n" NOTHING " bob"), MCP_OK);
    assert_int_equal(file.count, 2);
    assert_string_equal(find("abc")->name, "ann");
    assert_string_equal(find("abc")->scopes, "read write");
    assert_string_equal(find("")->name, "bob");
    assert_string_equal(find("")->scopes, "");
    assert_null(find("abd"));
    assert_int_equal(parse(""), MCP_OK);
    assert_null(find("abc"));
}

static void faults_name_their_line(void **state)
{
    static const char *const bad[] = { "\nabc ann", "\n" ABC, "\n" ABC "0 ann", "\nz" ABC " ann",
                                       "#\n" NOTHING "\tx\xff" };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0] - 1; i++) {
        assert_int_equal(parse(bad[i]), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, "tokens, line 2: "));
    }
    assert_int_equal(parse(bad[4]), MCP_E_PARAMS);
    assert_int_equal(mcp__token_file_parse(&file, arena, "a\0b", 3, "tokens", &err), MCP_E_PARAMS);
    assert_int_equal(mcp__token_file_read(&file, arena, "/nowhere/tokens", &err), MCP_E_NOT_FOUND);
}

/* Lines of 65 bytes with the number in front, so that no two are alike. */
static char *tokens(size_t count)
{
    char *text = malloc(count * 70 + 1);
    size_t length = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        length += (size_t)sprintf(text + length, "%064zx a\n", i);
    return text;
}

static void ten_thousand_tokens_are_taken(void **state)
{
    (void)state;
    for (size_t count = 9999; count <= 10001; count++) {
        char *text = tokens(count);
        assert_int_equal(parse(text), count <= 10000 ? MCP_OK : MCP_E_PARAMS);
        free(text);
    }
    assert_non_null(strstr(err.message, "more than 10000 tokens"));
}

static void tokens_in_clear_are_kept_with_those_of_the_file(void **state)
{
    const mcp_principal bearer = { .name = "token", .scopes = "read" };

    (void)state;
    assert_int_equal(parse(NOTHING " bob"), MCP_OK);
    assert_int_equal(mcp__token_file_add(&file, arena, "abc", &bearer, &err), MCP_OK);
    assert_string_equal(find("abc")->name, "token");
    assert_string_equal(find("abc")->scopes, "read");
    assert_string_equal(find("")->name, "bob");
    assert_null(find("ab"));
    file = (mcp__token_file){ 0 };
    assert_int_equal(mcp__token_file_add(&file, arena, "xyz", &bearer, &err), MCP_OK);
    assert_non_null(find("xyz"));
    assert_null(find("abc"));
    while (file.count < MCP__TOKENS_MAX)
        file.tokens[file.count++] = file.tokens[0];
    assert_int_equal(mcp__token_file_add(&file, arena, "abc", &bearer, &err), MCP_E_PARAMS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(lines_are_tokens, begin, end),
        cmocka_unit_test_setup_teardown(faults_name_their_line, begin, end),
        cmocka_unit_test_setup_teardown(tokens_in_clear_are_kept_with_those_of_the_file, begin,
                                        end),
        cmocka_unit_test_setup_teardown(ten_thousand_tokens_are_taken, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
