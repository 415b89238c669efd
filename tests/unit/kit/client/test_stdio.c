/*
 * test_stdio.c - servers as children: programs of this project, and a guest that behaves badly.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "client/client.h"
#include "scratch.h"

enum { LONG_MS = 60000, SHORT_MS = 500 };

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

static void begin(struct world *world, const char *program, const char *mode, const char *mark,
                  size_t message_max)
{
    const char *argv[] = { program, mode, mode ? mark : NULL, NULL };
    static const char *kept[4];
    static proc_spec spec;

    memset(world, 0, sizeof *world);
    memcpy(kept, argv, sizeof kept);
    spec = (proc_spec){ .argv = kept, .err = PROC_NULL };
    world->arena = mcp_arena_new(0);
    const client_options options = { .label = "guest",
                                     .child = &spec,
                                     /* A third of it is lost on a server that ignores what
                                      * precedes initialize. */
                                     .open_ms = mode && strcmp(mode, "legacy") == 0 ? 6000 : 0,
                                     .message_max_bytes = message_max,
                                     .on_list_changed = count_change,
                                     .data = world };
    assert_int_equal(client_new(&world->client, &options, NULL), MCP_OK);
}

static void end(struct world *world)
{
    client_free(world->client);
    mcp_arena_free(world->arena);
}

static void take_report(void *data, double progress, double total, const char *message)
{
    struct world *world = data;

    assert_true(progress == 1 && total == 2);
    assert_string_equal(message, "half");
    atomic_fetch_add(&world->reports, 1);
}

static mcp_status call_tool(struct world *world, client_result *result, const char *name,
                            int64_t timeout_ms)
{
    const client_call call = {
        .name = name, .timeout_ms = timeout_ms, .on_progress = take_report, .data = world
    };

    return client_call_tool(result, world->client, world->arena, &call, &world->err);
}

/* A number that the guest reports in the schema of its tool. */
static int64_t count_of(struct world *world, const char *name)
{
    client_tools tools = { .count = 0 };
    const client_wait wait = { .timeout_ms = LONG_MS };
    int64_t count = -1;

    assert_int_equal(client_list_tools(&tools, world->client, world->arena, &wait, &world->err),
                     MCP_OK);
    mcp_json_int(mcp_json_get(mcp_json_get(tools.items[0], "inputSchema"), name), &count);
    return count;
}

static void expect_done(struct world *world)
{
    client_result result;

    assert_int_equal(call_tool(world, &result, "t", LONG_MS), MCP_OK);
    const mcp_json *text = mcp_json_pointer(result.result, "/content/0/text");
    assert_string_equal(mcp_json_string(text, NULL), "done");
    assert_true(result.may_have_run);
}

/* ---- servers --------------------------------------------------------------------------------- */

static void a_program_of_ours_is_called(void **state)
{
    struct world world;
    client_tools tools = { .count = 0 };
    client_result result;
    char revision[CLIENT_REVISION_SIZE];

    (void)state;
    begin(&world, EXAMPLE, NULL, NULL, 0);
    assert_int_equal(client_list_tools(&tools, world.client, world.arena, NULL, &world.err),
                     MCP_OK);
    assert_true(tools.count >= 1);
    client_revision(world.client, revision);
    assert_string_equal(revision, "2026-07-28");
    const char *name = mcp_json_get_string(tools.items[0], "name");
    assert_int_equal(call_tool(&world, &result, name, LONG_MS), MCP_OK);
    assert_true(result.result || result.error);
    end(&world);
}

static void both_eras_are_spoken(void **state)
{
    static const char *const rows[][2] = { { "legacy", "2025-11-25" },
                                           { "modern", "2026-07-28" },
                                           { "shy", "2025-11-25" } };
    struct world world;
    char revision[CLIENT_REVISION_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(&world, GUEST, rows[i][0], NULL, 0);
        expect_done(&world);
        client_revision(world.client, revision);
        assert_string_equal(revision, rows[i][1]);
        end(&world);
    }
}

static void noise_around_an_answer(void **state)
{
    struct world world;

    (void)state;
    begin(&world, GUEST, "noisy", NULL, 0);
    expect_done(&world);
    expect_done(&world);
    assert_int_equal(atomic_load(&world.reports), 2);
    assert_int_equal(atomic_load(&world.changes), 2);
    assert_int_equal(count_of(&world, "pongs"), 2);
    assert_int_equal(count_of(&world, "refusals"), 2);
    end(&world);
}

/* ---- ends ------------------------------------------------------------------------------------ */

static void a_child_that_dies_ends_the_call(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, GUEST, "dies", NULL, 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(call_tool(&world, &result, "t", LONG_MS), MCP_E_IO);
        assert_true(result.may_have_run);
    }
    end(&world);
}

static void the_next_call_starts_it_again(void **state)
{
    struct world world;
    client_result result;
    scratch folder;

    (void)state;
    scratch_open(&folder);
    begin(&world, GUEST, "dies-once", scratch_path(&folder, "mark"), 0);
    assert_int_equal(call_tool(&world, &result, "t", LONG_MS), MCP_E_IO);
    expect_done(&world);
    end(&world);
    scratch_close(&folder);
}

static void children_that_cannot_be_talked_to(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, GUEST, "quits", NULL, 0);
    assert_int_equal(call_tool(&world, &result, "t", LONG_MS), MCP_E_IO);
    assert_false(result.may_have_run);
    end(&world);
    begin(&world, "/does/not/exist", NULL, NULL, 0);
    assert_int_equal(call_tool(&world, &result, "t", LONG_MS), MCP_E_NOT_FOUND);
    assert_false(result.may_have_run);
    end(&world);
    begin(&world, GUEST, "mute", NULL, 0);
    assert_int_equal(call_tool(&world, &result, "t", SHORT_MS), MCP_E_TIMEOUT);
    assert_false(result.may_have_run);
    end(&world);
}

static void a_deadline_cancels_and_the_child_stays(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, GUEST, "modern", NULL, 0);
    expect_done(&world);
    assert_int_equal(call_tool(&world, &result, "hold", SHORT_MS), MCP_E_TIMEOUT);
    /* On a busy machine the time may be up before the call was sent. */
    assert_int_equal(count_of(&world, "cancelled"), result.may_have_run);
    end(&world);
}

static bool stop(void *data)
{
    atomic_int *polls = data;

    return atomic_fetch_add(polls, 1) > 0;
}

static void a_call_is_stopped(void **state)
{
    struct world world;
    client_result result;
    atomic_int polls = 0;

    (void)state;
    begin(&world, GUEST, "modern", NULL, 0);
    expect_done(&world);
    const client_call call = {
        .name = "hold", .should_stop = stop, .data = &polls, .timeout_ms = LONG_MS
    };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_E_STOPPED);
    expect_done(&world);
    end(&world);
}

static void an_endless_line_is_cut(void **state)
{
    struct world world;
    client_result result;

    (void)state;
    begin(&world, GUEST, "endless", NULL, 100000);
    assert_int_equal(call_tool(&world, &result, "t", LONG_MS), MCP_E_LIMIT);
    assert_true(result.may_have_run);
    end(&world);
}

/* The pipe is full before the line is written, so the call may have been received in part. */
static void a_child_that_does_not_read(void **state)
{
    static char text[500000];
    struct world world;
    client_result result;
    const mcp_json *arguments = NULL;
    size_t length = sizeof text - 1;

    (void)state;
    begin(&world, GUEST, "deaf", NULL, 0);
    memset(text, 'x', length);
    memcpy(text, "{\"a\":\"", 6);
    memcpy(text + length - 2, "\"}", 2);
    assert_int_equal(mcp_json_read(&arguments, world.arena, text, length, NULL), MCP_OK);
    const client_call call = { .name = "t", .arguments = arguments, .timeout_ms = 2000 };
    assert_int_equal(client_call_tool(&result, world.client, world.arena, &call, &world.err),
                     MCP_E_TIMEOUT);
    end(&world);
}

/* ---- many at once ---------------------------------------------------------------------------- */

static void *call_often(void *data)
{
    struct world *shared = data;

    for (int i = 0; i < 25; i++) {
        mcp_arena *arena = mcp_arena_new(0);
        client_result result;
        const client_call call = { .name = "t", .timeout_ms = LONG_MS };
        assert_int_equal(client_call_tool(&result, shared->client, arena, &call, NULL), MCP_OK);
        assert_non_null(result.result);
        mcp_arena_free(arena);
    }
    return NULL;
}

static void *call_and_die(void *data)
{
    struct world *shared = data;
    mcp_arena *arena = mcp_arena_new(0);
    client_result result;
    const client_call call = { .name = "t", .timeout_ms = LONG_MS };

    assert_int_equal(client_call_tool(&result, shared->client, arena, &call, NULL), MCP_E_IO);
    mcp_arena_free(arena);
    return NULL;
}

static void run_threads(struct world *world, void *(*body)(void *data))
{
    pthread_t threads[6];

    for (int i = 0; i < 6; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, world), 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

static void threads_share_a_child(void **state)
{
    struct world world;

    (void)state;
    begin(&world, GUEST, "modern", NULL, 0);
    run_threads(&world, call_often);
    end(&world);
    begin(&world, GUEST, "dies", NULL, 0);
    run_threads(&world, call_and_die);
    end(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_of_ours_is_called),
        cmocka_unit_test(both_eras_are_spoken),
        cmocka_unit_test(noise_around_an_answer),
        cmocka_unit_test(a_child_that_dies_ends_the_call),
        cmocka_unit_test(the_next_call_starts_it_again),
        cmocka_unit_test(children_that_cannot_be_talked_to),
        cmocka_unit_test(a_deadline_cancels_and_the_child_stays),
        cmocka_unit_test(a_call_is_stopped),
        cmocka_unit_test(an_endless_line_is_cut),
        cmocka_unit_test(a_child_that_does_not_read),
        cmocka_unit_test(threads_share_a_child),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
