/*
 * test_exposure.c - what texts are scopes, and who is shown what they guard.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mcp/feature/list/exposure.h"

/* RFC 6749, 3.3: words of %x21, %x23-5B and %x5D-7E, single spaces between them. */
static void scopes_are_words_between_spaces(void **state)
{
    static const char *const good[] = { "a",           "a b", "cases.read cases.write",
                                        "https://x/y", "!~",  "[]" };
    static const char *const bad[] = { "",     " ",    "a ",   " a",          "a  b",
                                       "a\tb", "a\"b", "a\\b", "caf\xc3\xa9", "a\x7f" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mcp__exposure_are_scopes(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mcp__exposure_are_scopes(bad[i]));
}

static mcp_status read_scopes(const char **out, const char *entry, mcp_arena *arena, mcp_error *err)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, entry, strlen(entry), NULL), MCP_OK);
    return mcp__exposure_scopes(out, value, err);
}

static void an_entry_names_them_in_its_meta(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    mcp_error err = MCP_ERROR_INIT;
    const char *scopes = "before";

    (void)state;
    assert_int_equal(read_scopes(&scopes, "{}", arena, &err), MCP_OK);
    assert_null(scopes);
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":\"a b\"}}", arena, &err),
                     MCP_OK);
    assert_string_equal(scopes, "a b");
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":[\"a\"]}}", arena, &err),
                     MCP_E_PARAMS);
    assert_int_equal(read_scopes(&scopes, "{\"_meta\":{\"causeway/scopes\":\"\"}}", arena, &err),
                     MCP_E_PARAMS);
    assert_non_null(strstr(err.message, "causeway/scopes"));
    mcp_arena_free(arena);
}

/* Without tokens nobody lacks a scope; with them one is hidden only where the option says so. */
static void scopes_hide_only_when_told(void **state)
{
    mcp_server_options options = { .limits.reply_max_bytes = 1024 };
    mcp__context context = { .options = &options };
    const mcp_principal poor = { "eve", "b", 0 };
    const mcp_principal rich = { "ann", "b a", 0 };
    mcp_call *call = NULL;

    (void)state;
    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    assert_false(mcp__exposure_varies(&options));
    call->principal = &poor;
    assert_true(mcp__exposure_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    options.hide_by_scope = true;
    assert_true(mcp__exposure_varies(&options));
    assert_false(mcp__exposure_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    assert_true(mcp__exposure_shows(call, MCP_FEATURE_TOOL, "t", NULL));
    call->principal = &rich;
    assert_true(mcp__exposure_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    call->principal = NULL;
    assert_true(mcp__exposure_shows(call, MCP_FEATURE_TOOL, "t", "a"));
    mcp__call_free(call);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_words_between_spaces),
        cmocka_unit_test(an_entry_names_them_in_its_meta),
        cmocka_unit_test(scopes_hide_only_when_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
