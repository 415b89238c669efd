/*
 * test_http.c - a server of this library over Streamable HTTP, in each revision.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "mcp/http.h"
#include "web_rig.h"

enum { LONG_MS = 60000 };

static const char *const loopback[] = { "127.0.0.0/8" };

struct world {
    web_rig *rig;
    fetch *pool;
    client *client;
    mcp_arena *arena;
    mcp_error err;
    atomic_int reports;
};

static void begin(struct world *world, mcp_revision newest)
{
    mcp_server_options server = MCP_SERVER_OPTIONS_INIT;
    const fetch_options fetching = { .egress = loopback, .egress_count = 1 };
    char url[64];

    memset(world, 0, sizeof *world);
    server.newest = newest;
    world->rig = web_start(&server, NULL);
    world->arena = mcp_arena_new(0);
    assert_int_equal(fetch_open(&world->pool, &fetching, NULL), MCP_OK);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/mcp", web_port(world->rig));
    const client_options options = { .pool = world->pool, .url = url, .label = "fixture" };
    assert_int_equal(client_new(&world->client, &options, NULL), MCP_OK);
}

static void end(struct world *world)
{
    client_free(world->client);
    fetch_close(world->pool);
    web_end(world->rig);
    mcp_arena_free(world->arena);
}

/* The tool under the name that the revision gives it. */
static const char *name_of(struct world *world, const char *part)
{
    client_tools tools = { .count = 0 };
    const client_wait wait = { .timeout_ms = LONG_MS };

    assert_int_equal(client_list_tools(&tools, world->client, world->arena, &wait, &world->err),
                     MCP_OK);
    for (size_t i = 0; i < tools.count; i++) {
        const char *name = mcp_json_get_string(tools.items[i], "name");
        if (strstr(name, part))
            return name;
    }
    fail_msg("there is no tool %s", part);
    return NULL;
}

static const mcp_json *read_json(mcp_arena *arena, const char *text)
{
    const mcp_json *value = NULL;

    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    return value;
}

static void count_report(void *data, double progress, double total, const char *message)
{
    struct world *world = data;

    (void)total, (void)message;
    assert_true(progress >= 1);
    atomic_fetch_add(&world->reports, 1);
    web_release();
}

/* ---- in each revision ------------------------------------------------------------------------ */

static void converse(mcp_revision newest, const char *revision)
{
    struct world world;
    client_result result;
    char text[CLIENT_REVISION_SIZE];

    begin(&world, newest);
    client_revision(world.client, text);
    assert_string_equal(text, "");
    client_call call = { .name = name_of(&world, "echo"),
                         .arguments = read_json(world.arena, "{\"text\":\"hello \\u00e4\"}"),
                         .meta = read_json(world.arena, "{\"example/key\":7}"),
                         .timeout_ms = LONG_MS };
    client_revision(world.client, text);
    assert_string_equal(text, revision);
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_OK);
    assert_true(result.may_have_run);
    const mcp_json *block = mcp_json_pointer(result.result, "/content/0/text");
    assert_non_null(strstr(mcp_json_string(block, NULL), "hello \xc3\xa4"));
    /* Reports of progress come while the call runs. */
    call = (client_call){ .name = name_of(&world, "hold"),
                          .on_progress = count_report,
                          .data = &world,
                          .timeout_ms = LONG_MS };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_OK);
    assert_true(atomic_load(&world.reports) >= 1);
    /* A tool that the server does not have was not run. */
    call = (client_call){ .name = "no-such-tool", .timeout_ms = LONG_MS };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_OK);
    assert_non_null(result.error);
    assert_false(result.may_have_run);
    end(&world);
}

static void revision_2026_07_28(void **state)
{
    (void)state;
    converse(MCP_REVISION_NONE, "2026-07-28");
}

static void revision_2025_11_25(void **state)
{
    (void)state;
    converse(MCP_2025_11_25, "2025-11-25");
}

static void revision_2025_03_26(void **state)
{
    (void)state;
    converse(MCP_2025_03_26, "2025-03-26");
}

static void revision_2024_11_05(void **state)
{
    (void)state;
    converse(MCP_2024_11_05, "2024-11-05");
}

/* ---- ends ------------------------------------------------------------------------------------ */

static bool stop_once_it_runs(void *data)
{
    (void)data;
    web_await_held(1);
    return true;
}

static void cancel(mcp_revision newest)
{
    struct world world;
    client_result result;

    begin(&world, newest);
    client_call call = { .name = name_of(&world, "hold"),
                         .should_stop = stop_once_it_runs,
                         .timeout_ms = LONG_MS };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_E_STOPPED);
    assert_true(result.may_have_run);
    /* The server ends only once its handlers have, and this one waits to be cancelled. */
    end(&world);
}

static void a_stopped_call_is_cancelled_at_the_server(void **state)
{
    (void)state;
    cancel(MCP_REVISION_NONE);
    cancel(MCP_2025_11_25);
}

static void a_call_has_a_deadline(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, MCP_2025_11_25);
    client_call call = { .name = name_of(&world, "hold"), .timeout_ms = 300 };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_E_TIMEOUT);
    end(&world);
}

/* The server closes the stream of the call; the answer is fetched by GET. */
static void a_closed_stream_is_resumed(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, MCP_2025_11_25);
    client_call call = { .name = name_of(&world, "leave"), .timeout_ms = LONG_MS };
    web_release();
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_OK);
    assert_non_null(result.result);
    end(&world);
}

static void a_server_that_ended_is_reported(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, MCP_2025_11_25);
    client_call call = { .name = name_of(&world, "echo"), .timeout_ms = LONG_MS };
    web_end(world.rig);
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_E_IO);
    world.rig = web_start(NULL, NULL);
    end(&world);
}

/* ---- many at once ---------------------------------------------------------------------------- */

struct caller {
    struct world *world;
    const char *name;
    int number;
    pthread_t thread;
};

static void *call_often(void *data)
{
    struct caller *self = data;
    char text[64];
    char want[32];

    for (int i = 0; i < 20; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        client_result result;
        snprintf(want, sizeof want, "caller %d call %d.", self->number, i);
        snprintf(text, sizeof text, "{\"text\":\"%s\"}", want);
        client_call call = { .name = self->name,
                             .arguments = read_json(arena, text),
                             .timeout_ms = LONG_MS };
        assert_int_equal(client_call_tool(&result, self->world->client, arena, &call, NULL),
                         MCP_OK);
        const mcp_json *block = mcp_json_pointer(result.result, "/content/0/text");
        assert_non_null(strstr(mcp_json_string(block, NULL), want));
        mcp_arena_free(arena);
    }
    return NULL;
}

static void threads_share_a_client(void **state)
{
    struct world world;
    struct caller callers[6];

    (void)state;
    begin(&world, MCP_REVISION_NONE);
    const char *name = name_of(&world, "echo");
    for (int i = 0; i < 6; i++) {
        callers[i] = (struct caller){ &world, name, i, 0 };
        assert_int_equal(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < 6; i++)
        pthread_join(callers[i].thread, NULL);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(revision_2026_07_28),
        cmocka_unit_test(revision_2025_11_25),
        cmocka_unit_test(revision_2025_03_26),
        cmocka_unit_test(revision_2024_11_05),
        cmocka_unit_test(a_stopped_call_is_cancelled_at_the_server),
        cmocka_unit_test(a_call_has_a_deadline),
        cmocka_unit_test(a_closed_stream_is_resumed),
        cmocka_unit_test(a_server_that_ended_is_reported),
        cmocka_unit_test(threads_share_a_client),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
