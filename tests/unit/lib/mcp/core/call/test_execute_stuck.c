/*
 * test_execute_stuck.c - when a handler that was asked to stop is given up, and when not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversation.h"
#include "mcp/clock.h"
#include <cmocka.h>

static mcp_status answer(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_text(call, "done");
}

#define TOOL(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"
static const mcp_file files[] = {
    { "tools/brief.json", TOOL("brief"), sizeof TOOL("brief") - 1 },
    { "tools/once.json", TOOL("once"), sizeof TOOL("once") - 1 },
    { 0 },
};
static const mcp_tool tools[] = {
    { "brief", answer, MCP_READS, 1000, 0 },
    { "once", answer, MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP, 0, 1 },
    { 0 },
};
static const mcp_features features = { .files = files, .tools = tools };

static conversation c;
static mcp__given_up fate; /* of the next task that is given up */
static int given_up;

static mcp__given_up give_up(mcp__executor *self, mcp__task *task)
{
    (void)self;
    (void)task;
    given_up++;
    return fate;
}

static int set_up(void **state)
{
    mcp_server_options options = { .name = "test",
                                   .version = "1.0",
                                   .limits.stuck_handler_ms = 500 };

    (void)state;
    conversation_open(&c, &options, &features);
    c.executor.executor.give_up = give_up;
    c.executor.is_held = true;
    given_up = 0;
    fate = MCP__REPLACED;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    conversation_close(&c);
    return 0;
}

static void call(const char *id, const char *tool)
{
    char text[200];

    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":\"%s\"}}",
        id, tool);
    conversation_say(&c, text);
}

static void cancel(const char *id)
{
    char text[200];

    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                   "\"requestId\":%s}}",
                   id);
    conversation_say(&c, text);
}

static void a_handler_beyond_both_deadlines_is_given_up_once(void **state)
{
    int64_t now = mcp_clock_mono_ms();

    (void)state;
    call("1", "brief");
    int64_t due = mcp__dispatch_tick(&c.session, now);
    due = mcp__dispatch_tick(&c.session, due); /* its own deadline */
    assert_int_equal(c.peer.answers, 1);
    assert_int_equal(given_up, 0);
    assert_true(due >= now + 500 && due < INT64_MAX);
    (void)mcp__dispatch_tick(&c.session, due - 1);
    assert_int_equal(given_up, 0);
    assert_true(mcp__dispatch_tick(&c.session, due) == INT64_MAX);
    assert_int_equal(given_up, 1);
    (void)mcp__dispatch_tick(&c.session, due + 100000);
    assert_int_equal(given_up, 1);
    assert_true(mcp__inline_step(&c.executor));
    assert_true(mcp__dispatch_is_idle(&c.session));
    assert_int_equal(c.peer.answers, 1);
    mcp__peer_memory_reset(&c.peer);
}

static void one_that_stops_in_time_is_not(void **state)
{
    int64_t now = mcp_clock_mono_ms();

    (void)state;
    call("1", "brief");
    cancel("1");
    int64_t due = mcp__dispatch_tick(&c.session, now);
    assert_true(due < INT64_MAX);
    assert_true(mcp__inline_step(&c.executor));
    (void)mcp__dispatch_tick(&c.session, due + 100000);
    assert_int_equal(given_up, 0);
    conversation_expect(&c, "");
}

static void one_that_no_worker_has_yet_is_looked_at_again(void **state)
{
    (void)state;
    fate = MCP__UNBEGUN;
    call("1", "brief");
    cancel("1");
    int64_t due = mcp__dispatch_tick(&c.session, mcp_clock_mono_ms());
    int64_t again = mcp__dispatch_tick(&c.session, due);
    assert_int_equal(given_up, 1);
    assert_true(again == due + 500);
    fate = MCP__REPLACED;
    assert_true(mcp__dispatch_tick(&c.session, again) == INT64_MAX);
    assert_int_equal(given_up, 2);
}

/* A client that hung up does not keep a tool busy for ever; where no thread is left, it is
 * busy. */
static void a_long_tool_is_free_again_if_it_was_replaced(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        fate = i == 0 ? MCP__BORNE : MCP__REPLACED;
        call("1", "once");
        mcp__dispatch_stop(&c.session, MCP_STOP_CLIENT_GONE);
        int64_t due = mcp__dispatch_tick(&c.session, mcp_clock_mono_ms());
        (void)mcp__dispatch_tick(&c.session, due);
        assert_int_equal(given_up, i + 1);
        call("2", "once");
        assert_int_equal(c.peer.answers, i == 0 ? 1 : 0);
        while (mcp__inline_step(&c.executor))
            ;
        mcp__peer_memory_reset(&c.peer);
    }
    call("3", "once");
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(c.peer.answers, 1);
    mcp__peer_memory_reset(&c.peer);
}

static void going_down_gives_up_nobody(void **state)
{
    (void)state;
    call("1", "once");
    mcp__dispatch_stop(&c.session, MCP_STOP_SHUTDOWN);
    assert_true(mcp__dispatch_tick(&c.session, mcp_clock_mono_ms() + 100000) == INT64_MAX);
    assert_int_equal(given_up, 0);
    assert_true(mcp__inline_step(&c.executor));
    mcp__peer_memory_reset(&c.peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_handler_beyond_both_deadlines_is_given_up_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(one_that_stops_in_time_is_not, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_that_no_worker_has_yet_is_looked_at_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_long_tool_is_free_again_if_it_was_replaced, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(going_down_gives_up_nobody, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
