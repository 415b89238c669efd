/*
 * test_asking.c - calls that wait for their client: how long, and what ends them. What is asked and answered
 * stands in tests/wire/library/ask.txt and stateless-ask.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include "conversation.h"
#include "fixture_more.h"
#include "mcp/clock.h"

#define ASK "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":\"more/roots\"}}"
#define QUESTION "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n"

static void open_asking(conversation *c)
{
    conversation_open(c, NULL, &fixture_more);
    conversation_say(c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                        "\"2025-06-18\",\"capabilities\":{\"roots\":{}}}}");
    mcp__peer_memory_reset(&c->peer);
    conversation_ask(c, ASK, QUESTION);
    assert_int_equal(c->session.calls.running, 0); /* no worker waits */
    assert_false(mcp__dispatch_is_idle(&c->session));
}

static void a_client_has_five_minutes(void **state)
{
    int64_t begun_ms = mcp_clock_mono_ms();
    conversation c;

    (void)state;
    open_asking(&c);
    (void)mcp__dispatch_tick(&c.session, begun_ms + 299000);
    conversation_expect(&c, "");
    (void)mcp__dispatch_tick(&c.session, mcp_clock_mono_ms() + 300001);
    conversation_expect(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
                            "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
                            "\"the client did not answer what more/roots asked in time\"}],\"isError\":true}}");
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_close(&c);
}

static void a_client_that_is_gone_ends_it(void **state)
{
    static const mcp_stop reasons[] = { MCP_STOP_CLIENT_GONE, MCP_STOP_SHUTDOWN };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        conversation c;
        open_asking(&c);
        mcp__dispatch_stop(&c.session, reasons[i]);
        assert_int_equal(c.peer.answers, 1);
        assert_true(mcp__dispatch_is_idle(&c.session));
        conversation_close(&c);
    }
}

static void what_is_cancelled_or_abandoned_leaves_nothing(void **state)
{
    conversation c;

    (void)state;
    open_asking(&c);
    mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
    assert_int_equal(c.peer.answers, 0);
    conversation_close(&c);
    open_asking(&c);
    mcp__dispatch_abandon(&c.session);
    assert_int_equal(c.peer.answers, 1);
    conversation_close(&c);
}

static void questions_have_an_end(void **state)
{
    conversation c;
    char text[128];

    (void)state;
    conversation_open(&c, NULL, &fixture_more);
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
                         "\"2025-06-18\",\"capabilities\":{\"elicitation\":{}}}}");
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":\"more/steps\"}}");
    for (int i = 1; i <= 16; i++) {
        assert_false(mcp__dispatch_is_idle(&c.session));
        (void)snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"accept\"}}", i);
        conversation_say(&c, text);
    }
    assert_true(mcp__dispatch_is_idle(&c.session));
    assert_non_null(strstr(c.peer.text.data, "asked 16 times"));
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_five_minutes),
        cmocka_unit_test(a_client_that_is_gone_ends_it),
        cmocka_unit_test(what_is_cancelled_or_abandoned_leaves_nothing),
        cmocka_unit_test(questions_have_an_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
