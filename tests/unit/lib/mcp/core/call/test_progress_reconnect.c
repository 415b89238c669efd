/*
 * test_progress_reconnect.c - a handler's wish to let its client go reaches the peer while the call
 * is open.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"

static conversation c;
static mcp__peer *let_go;
static int times;

static void note(mcp__peer *peer)
{
    let_go = peer;
    times++;
}

static mcp_status leave(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_close_stream(call);
    return mcp_call_text(call, "back");
}

static const char leave_json[] = "{\"name\":\"leave\",\"description\":\"Lets go.\","
                                 "\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = { { "tools/leave.json", leave_json, sizeof leave_json - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "leave", leave, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

#define CALL                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"leave\"}}"
#define ANSWER                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"back\"}]}}"

static int begin(void **state)
{
    (void)state;
    conversation_open(&c, NULL, &features);
    let_go = NULL;
    times = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    conversation_close(&c);
    return 0;
}

static void the_calls_own_peer_is_asked(void **state)
{
    (void)state;
    c.peer.peer.reconnect = note;
    conversation_ask(&c, CALL, ANSWER);
    assert_int_equal(times, 1);
    assert_ptr_equal(let_go, &c.peer.peer);
}

/* stdio and others cannot: the client keeps its connection, that is all. */
static void a_peer_that_cannot_is_not_asked(void **state)
{
    (void)state;
    c.peer.peer.reconnect = NULL;
    conversation_ask(&c, CALL, ANSWER);
    assert_int_equal(times, 0);
}

static void a_call_that_was_closed_meanwhile_lets_nobody_go(void **state)
{
    (void)state;
    c.peer.peer.reconnect = note;
    c.executor.is_held = true;
    conversation_say(&c, CALL);
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                         "\"requestId\":1}}");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "");
    assert_int_equal(times, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_calls_own_peer_is_asked, begin, end),
        cmocka_unit_test_setup_teardown(a_peer_that_cannot_is_not_asked, begin, end),
        cmocka_unit_test_setup_teardown(a_call_that_was_closed_meanwhile_lets_nobody_go, begin,
                                        end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
