/*
 * test_server.c - options and their defaults, and what is no server.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "mcp/server_int.h"
#include "oom.h"
#include <cmocka.h>

static mcp_server *make(const mcp_server_options *options)
{
    mcp_server *server = NULL;

    assert_int_equal(mcp_server_new(&server, options, NULL), MCP_OK);
    return server;
}

static void zero_is_the_safe_default(void **state)
{
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_server *server = make(&options);

    (void)state;
    assert_false(server->options.allow_write);
    assert_int_equal(server->options.oldest, MCP_2024_11_05);
    assert_int_equal(server->options.newest, MCP_2026_07_28);
    assert_int_equal(server->options.default_revision, MCP_2025_03_26);
    assert_int_equal(server->options.limits.message_max_bytes, 4 << 20);
    assert_int_equal(server->options.limits.reply_max_bytes, 16 << 20);
    assert_int_equal(server->options.limits.arena_max_bytes, 64 << 20);
    assert_int_equal(server->options.limits.calls_max_running, 32);
    assert_int_equal(server->options.limits.calls_max_queued, 256);
    assert_true(server->options.limits.short_threads >= 2);
    assert_int_equal(server->options.limits.timeout_ms, 60000);
    assert_int_equal(server->options.limits.grace_ms, 10000);
    mcp_server_free(server);
}

static void what_is_set_stays(void **state)
{
    mcp_server_options options = { .name = "n",
                                   .version = "1",
                                   .limits.message_max_bytes = 100,
                                   .limits.calls_max_running = 1,
                                   .limits.timeout_ms = 5,
                                   .limits.grace_ms = 6,
                                   .limits.short_threads = 3 };
    mcp_server *server = make(&options);

    (void)state;
    assert_int_equal(server->options.limits.message_max_bytes, 100);
    assert_int_equal(server->options.limits.calls_max_running, 1);
    assert_int_equal(server->options.limits.timeout_ms, 5);
    assert_int_equal(server->options.limits.grace_ms, 6);
    assert_int_equal(server->options.limits.short_threads, 3);
    mcp_server_free(server);
}

static void options_that_cannot_be_are_named(void **state)
{
    static const struct {
        mcp_server_options options;
        const char *words;
    } wrong[] = {
        { { .version = "1" }, "name" },
        { { .name = "n" }, "version" },
        { { .name = "n", .version = "1", .oldest = MCP_2025_11_25, .newest = MCP_2024_11_05 },
          "oldest" },
        { { .name = "n", .version = "1", .newest = (mcp_revision)77 }, "revision" },
        { { .name = "n", .version = "1", .default_revision = (mcp_revision)-1 }, "revision" },
        { { .name = "n", .version = "1", .limits.calls_max_running = -1 }, "negative" },
        { { .name = "n", .version = "1", .limits.grace_ms = -1 }, "negative" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_server *server = NULL;
        assert_int_equal(mcp_server_new(&server, &wrong[i].options, &err), MCP_E_PARAMS);
        assert_non_null(strstr(err.message, wrong[i].words));
        assert_null(server);
    }
}

static void a_table_declares_its_capability_even_when_empty(void **state)
{
    static const mcp_tool no_tools[] = { { 0 } };
    mcp_server_options options = { .name = "n", .version = "1" };
    mcp_features nothing = { 0 };
    mcp_features empty = { .tools = no_tools };
    mcp_server *server = make(&options);

    (void)state;
    assert_int_equal(mcp_server_add(server, &nothing, NULL), MCP_OK);
    assert_int_equal(server->set->capabilities, 0);
    assert_int_equal(mcp_server_add(server, &empty, NULL), MCP_OK);
    assert_int_equal(server->set->capabilities, MCP__CAN_TOOLS);
    mcp_server_free(server);
    mcp_server_free(NULL);
}

static mcp_status new_and_free(void *data)
{
    mcp_server *server = NULL;
    mcp_status st = mcp_server_new(&server, data, NULL);

    mcp_server_free(server);
    return st;
}

static void memory_may_run_out(void **state)
{
    mcp_server_options options = { .name = "n", .version = "1" };

    (void)state;
    oom_walk(new_and_free, &options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zero_is_the_safe_default),
        cmocka_unit_test(what_is_set_stays),
        cmocka_unit_test(options_that_cannot_be_are_named),
        cmocka_unit_test(a_table_declares_its_capability_even_when_empty),
        cmocka_unit_test(memory_may_run_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
