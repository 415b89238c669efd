/*
 * test_sdk.c - servers of the official TypeScript SDK, over stdio and over Streamable HTTP.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "child.h"
#include "client/client.h"

enum { LONG_MS = 120000 };

#define SCRIPT "tests/client/support/sdk-server.mjs"

struct world {
    client *client;
    mcp_arena *arena;
    mcp_error err;
    atomic_int changes;
    atomic_int reports;
};

static void count_change(void *data)
{
    struct world *world = data;

    atomic_fetch_add(&world->changes, 1);
}

static void take_report(void *data, double progress, double total, const char *message)
{
    struct world *world = data;

    assert_true(progress == 1 && total == 2);
    assert_string_equal(message, "half");
    atomic_fetch_add(&world->reports, 1);
}

static void expect_call(struct world *world, const char *name)
{
    const mcp_json *arguments = NULL;
    client_result result;

    mcp_json_read(&arguments, world->arena, "{\"text\":\"you\"}", 14, NULL);
    const client_call call = { .name = name,
                               .arguments = arguments,
                               .timeout_ms = LONG_MS,
                               .on_progress = take_report,
                               .data = world };
    if (client_call_tool(&result, world->client, world->arena, &call, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    const mcp_json *text = mcp_json_pointer(result.result, "/content/0/text");
    assert_string_equal(mcp_json_string(text, NULL), "hello you");
}

static void converse(struct world *world)
{
    static const char *const names[] = { "greet", "change", "last" };
    client_tools tools = { .count = 0 };
    const client_wait wait = { .timeout_ms = LONG_MS };
    char revision[CLIENT_REVISION_SIZE];
    bool is_read_only = false;

    if (client_list_tools(&tools, world->client, world->arena, &wait, &world->err) != MCP_OK)
        fail_msg("%s", world->err.message);
    assert_int_equal(tools.count, 3);
    for (size_t i = 0; i < tools.count; i++)
        assert_string_equal(mcp_json_get_string(tools.items[i], "name"), names[i]);
    assert_true(mcp_json_bool(mcp_json_pointer(tools.items[0], "/annotations/readOnlyHint"),
                              &is_read_only));
    client_revision(world->client, revision);
    assert_string_equal(revision, "2025-11-25");
    expect_call(world, "greet");
    expect_call(world, "change");
    assert_int_equal(atomic_load(&world->reports), 2);
    for (int ms = 0; atomic_load(&world->changes) == 0; ms += 10) {
        assert_true(ms < LONG_MS);
        usleep(10000);
        if (ms % 1000 == 990) /* over HTTP the stream of changes may have begun after the first */
            expect_call(world, "change");
    }
}

static void over_stdio(void **state)
{
    const char *const argv[] = { NODE, SCRIPT, "stdio", NULL };
    struct world world = { .arena = mcp_arena_new(0), .err = MCP_ERROR_INIT };
    const proc_spec spec = { .argv = argv, .cwd = getenv("CAUSEWAY_SOURCE"), .err = PROC_INHERIT };
    const client_options options = { .label = "sdk",
                                     .child = &spec,
                                     .open_ms = LONG_MS,
                                     .on_list_changed = count_change,
                                     .data = &world };

    (void)state;
    assert_int_equal(client_new(&world.client, &options, NULL), MCP_OK);
    converse(&world);
    client_free(world.client);
    mcp_arena_free(world.arena);
}

static void over_http(void **state)
{
    static const char *const loopback[] = { "127.0.0.1" };
    char node[] = NODE;
    char script[] = SCRIPT;
    char mode[] = "http";
    char *argv[] = { node, script, mode, NULL };
    struct world world = { .arena = mcp_arena_new(0), .err = MCP_ERROR_INIT };
    const fetch_options fetching = { .egress = loopback, .egress_count = 1 };
    fetch *pool = NULL;
    child server;
    const char *port = NULL;
    size_t length = 0;
    char url[64];

    (void)state;
    child_start(&server, argv);
    assert_true(child_next(&server, &port, &length));
    snprintf(url, sizeof url, "http://127.0.0.1:%.*s/mcp", (int)length, port);
    assert_int_equal(fetch_open(&pool, &fetching, NULL), MCP_OK);
    const client_options options = { .label = "sdk",
                                     .pool = pool,
                                     .url = url,
                                     .open_ms = LONG_MS,
                                     .on_list_changed = count_change,
                                     .data = &world };
    assert_int_equal(client_new(&world.client, &options, NULL), MCP_OK);
    converse(&world);
    client_free(world.client);
    fetch_close(pool);
    child_end(&server);
    child_clear(&server);
    mcp_arena_free(world.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(over_stdio),
        cmocka_unit_test(over_http),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
