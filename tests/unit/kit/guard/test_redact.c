/*
 * test_redact.c - values without secrets, tokens as they are shown, known secrets in texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "guard/redact.h"
#include "oom.h"

static mcp_status write_redacted(mcp_buf *out, const char *text, const guard_secrets *secrets)
{
    const mcp_json *value = NULL;
    mcp_json_writer writer;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_status st = arena ? mcp_json_read(&value, arena, text, strlen(text), NULL) : MCP_E_NOMEM;

    if (st == MCP_OK) {
        mcp_json_writer_init(&writer, out);
        guard_redact_write(&writer, value, secrets);
        st = mcp_json_writer_status(&writer);
    }
    mcp_arena_free(arena);
    return st;
}

static void expect(const char *text, const char *wanted, const guard_secrets *secrets)
{
    mcp_buf out;

    mcp_buf_init(&out, 10000);
    assert_int_equal(write_redacted(&out, text, secrets), MCP_OK);
    assert_string_equal(out.data, wanted);
    mcp_buf_clear(&out);
}

static void members_with_secret_names_lose_their_values(void **state)
{
    (void)state;
    expect("{\"a\":1,\"Authorization\":\"Bearer x\",\"deep\":[{\"dbPassword\":{\"x\":1}}]}",
           "{\"a\":1,\"Authorization\":\"[REDACTED]\",\"deep\":[{\"dbPassword\":\"[REDACTED]\"}]}",
           NULL);
    expect(
        "{\"apiKey\":1,\"API-KEY\":2,\"x_api_key_y\":3,\"credentials\":[4],\"clientSecret\":null,"
        "\"accessToken\":true}",
        "{\"apiKey\":\"[REDACTED]\",\"API-KEY\":\"[REDACTED]\",\"x_api_key_y\":\"[REDACTED]\","
        "\"credentials\":\"[REDACTED]\",\"clientSecret\":\"[REDACTED]\","
        "\"accessToken\":\"[REDACTED]\"}",
        NULL);
    expect("{\"apiary\":1,\"key\":2,\"toke\":3,\"api key\":4,\"\":5}",
           "{\"apiary\":1,\"key\":2,\"toke\":3,\"api key\":4,\"\":5}", NULL);
    expect("[\"token\",1.5,null]", "[\"token\",1.5,null]", NULL);
}

static void tokens_are_shown_by_their_ends(void **state)
{
    static const char *const rows[][2] = {
        { "", "****" },
        { "12345678", "****" },
        { "123456789", "1234*6789" },
        { "abcdefghijkl", "abcd****ijkl" },
        { "0123456789012345678901234567", "0123********************4567" },
        { "01234567890123456789012345678901234567", "0123********************4567" },
        { "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9fxx\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac",
          "\xc3\xa4\xc3\xb6\xc3\xbc\xc3\x9f**\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac\xe2\x82\xac" },
    };
    char out[GUARD_TOKEN_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        guard_redact_token(out, rows[i][0], strlen(rows[i][0]));
        assert_string_equal(out, rows[i][1]);
    }
    char stray[100];
    memset(stray, 0x80, sizeof stray); /* bytes that are no UTF-8 stay within the room */
    guard_redact_token(out, stray, sizeof stray);
    assert_true(strlen(out) < sizeof out);
}

static void expect_clean(const guard_secrets *secrets, const char *text, const char *wanted)
{
    mcp_buf out;

    mcp_buf_init(&out, 1000);
    assert_int_equal(guard_secrets_clean(secrets, &out, text, strlen(text)), MCP_OK);
    assert_string_equal(out.data ? out.data : "", wanted);
    assert_int_equal(guard_secrets_found(secrets, text, strlen(text)), strcmp(text, wanted) != 0);
    mcp_buf_clear(&out);
}

static void known_secrets_are_found_anywhere(void **state)
{
    guard_secrets *secrets = NULL;

    (void)state;
    assert_int_equal(guard_secrets_new(&secrets, NULL), MCP_OK);
    expect_clean(secrets, "nothing is known", "nothing is known");
    assert_int_equal(guard_secrets_add(secrets, "hunter2", 7, NULL), MCP_OK);
    assert_int_equal(guard_secrets_add(secrets, "hunter22", 8, NULL), MCP_OK);
    assert_int_equal(guard_secrets_add(secrets, "a\"b\\c", 5, NULL), MCP_OK);
    assert_int_equal(guard_secrets_add(secrets, "abc", 3, NULL), MCP_E_PARAMS);
    expect_clean(secrets, "hunter2", "[REDACTED]");
    expect_clean(secrets, "xhunter2hunter22,hunter", "x[REDACTED][REDACTED],hunter");
    expect_clean(secrets, "{\"x\":\"a\\\"b\\\\c\"} a\"b\\c", "{\"x\":\"[REDACTED]\"} [REDACTED]");
    expect_clean(secrets, "Hunter2", "Hunter2");
    expect("{\"url\":\"http://u:hunter2@h\",\"q\":\"a\\\"b\\\\c\",\"n\":7}",
           "{\"url\":\"http://u:[REDACTED]@h\",\"q\":\"[REDACTED]\",\"n\":7}", secrets);
    guard_secrets_free(secrets);
    guard_secrets_free(NULL);
}

static void a_secret_counts_its_additions(void **state)
{
    guard_secrets *secrets = NULL;
    char value[32];

    (void)state;
    assert_int_equal(guard_secrets_new(&secrets, NULL), MCP_OK);
    for (int i = 0; i < 2; i++)
        assert_int_equal(guard_secrets_add(secrets, "pass\nword", 9, NULL), MCP_OK);
    guard_secrets_remove(secrets, "pass\nword", 9);
    expect_clean(secrets, "pass\nword pass\\nword", "[REDACTED] [REDACTED]");
    guard_secrets_remove(secrets, "pass\nword", 9);
    expect_clean(secrets, "pass\nword pass\\nword", "pass\nword pass\\nword");
    guard_secrets_remove(secrets, "pass\nword", 9);
    for (int i = 0; i < GUARD_SECRETS_MAX; i++) {
        snprintf(value, sizeof value, "line\n%d", i); /* each has a second form */
        assert_int_equal(guard_secrets_add(secrets, value, strlen(value), NULL), MCP_OK);
    }
    assert_int_equal(guard_secrets_add(secrets, "one\nmore", 8, NULL), MCP_E_LIMIT);
    expect_clean(secrets, "one\nmore", "one\nmore");
    guard_secrets_free(secrets);
}

static mcp_status use_once(void *data)
{
    guard_secrets *secrets = NULL;
    mcp_buf out;
    mcp_status st = guard_secrets_new(&secrets, NULL);

    (void)data;
    mcp_buf_init(&out, 1000);
    if (st == MCP_OK)
        st = guard_secrets_add(secrets, "a\"bcd", 5, NULL);
    if (st == MCP_OK)
        st = guard_secrets_clean(secrets, &out, "x a\"bcd", 7);
    mcp_buf_clear(&out);
    guard_secrets_free(secrets);
    return st;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    oom_walk(use_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_with_secret_names_lose_their_values),
        cmocka_unit_test(tokens_are_shown_by_their_ends),
        cmocka_unit_test(known_secrets_are_found_anywhere),
        cmocka_unit_test(a_secret_counts_its_additions),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
