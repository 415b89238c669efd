/*
 * test_client_principal.c - copies, and scopes as whole words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/core/call/client.h"

static void scopes_are_whole_words(void **state)
{
    (void)state;
    assert_true(mcp__scopes_cover("read write", "read"));
    assert_true(mcp__scopes_cover("read write", " write  read "));
    assert_true(mcp__scopes_cover("", ""));
    assert_false(mcp__scopes_cover("", "read"));
    assert_false(mcp__scopes_cover("reader", "read"));
    assert_false(mcp__scopes_cover("read", "reader"));
    assert_false(mcp__scopes_cover("read", "read write"));
}

static void a_copy_is_whole_or_lost(void **state)
{
    mcp_principal ann = { "ann", NULL, 7 };
    mcp_arena *arena = mcp_arena_new(0);
    bool is_lost = true;

    (void)state;
    assert_null(mcp__principal_copy(arena, NULL, &is_lost));
    assert_false(is_lost);
    const mcp_principal *copy = mcp__principal_copy(arena, &ann, &is_lost);
    assert_string_equal(copy->name, "ann");
    assert_string_equal(copy->scopes, "");
    assert_int_equal(copy->expires_ms, 7);
    mcp_arena_free(arena);
    arena = mcp_arena_new(16);
    assert_null(mcp__principal_copy(arena, &ann, &is_lost));
    assert_true(is_lost);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_are_whole_words),
        cmocka_unit_test(a_copy_is_whole_or_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
