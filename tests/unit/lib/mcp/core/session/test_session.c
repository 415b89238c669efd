/*
 * test_session.c - what is remembered of a client, and for how long.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/core/session/session.h"
#include "oom.h"
#include <cmocka.h>

static mcp_server_options options = { .limits.reply_max_bytes = 4096,
                                      .default_revision = MCP_2025_03_26 };
static const char params_text[] =
    "{\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"},\"capabilities\":{\"roots\":{}}}";

static void a_session_begins_without_a_revision(void **state)
{
    mcp__session session;
    mcp__context setup = { .options = &options };

    (void)state;
    assert_int_equal(mcp__session_init(&session, &setup, NULL), MCP_OK);
    assert_int_equal(session.revision, MCP_REVISION_NONE);
    assert_int_equal(mcp__session_revision(&session), MCP_2025_03_26);
    mcp__session_clear(&session);
}

static void the_client_outlives_its_message(void **state)
{
    mcp__session session;
    mcp__context setup = { .options = &options };
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *params = NULL;

    (void)state;
    assert_int_equal(mcp__session_init(&session, &setup, NULL), MCP_OK);
    assert_int_equal(mcp_json_read(&params, arena, params_text, strlen(params_text), NULL), MCP_OK);
    assert_int_equal(mcp__session_open(&session, MCP_2025_11_25, params, NULL), MCP_OK);
    mcp_arena_free(arena);
    assert_string_equal(session.client_names.name, "x");
    assert_true(mcp_json_is_object(mcp_json_get(session.client_capabilities, "roots")));
    assert_int_equal(mcp__session_revision(&session), MCP_2025_11_25);
    assert_int_equal(mcp__session_open(&session, MCP_2024_11_05, NULL, NULL), MCP_OK);
    assert_null(session.client_names.name);
    mcp__session_clear(&session);
}

static mcp_status open_and_clear(void *data)
{
    mcp__session session;
    mcp__context setup = { .options = &options };
    mcp_status st = mcp__session_init(&session, &setup, NULL);

    if (st != MCP_OK)
        return st;
    st = mcp__session_open(&session, MCP_2025_06_18, data, NULL);
    mcp__session_clear(&session);
    return st;
}

static void memory_may_run_out(void **state)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *params = NULL;

    (void)state;
    assert_int_equal(mcp_json_read(&params, arena, params_text, strlen(params_text), NULL), MCP_OK);
    oom_walk(open_and_clear, (void *)(uintptr_t)params);
    mcp_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_begins_without_a_revision),
        cmocka_unit_test(the_client_outlives_its_message),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
