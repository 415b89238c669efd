/*
 * test_input_requests.c - calls that wait for their client: how long, and what ends them. What is
 * asked and answered stands in tests/wire/library/ask.txt and stateless-ask.txt.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "conversation.h"
#include "fixture_more.h"
#include "mcp/clock.h"

#define ASK                                                                                        \
    "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":\"more/roots\"}}"
#define QUESTION "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n"

static void open_with_roots(conversation *c)
{
    conversation_open(c, NULL, &fixture_more);
    conversation_say(
        c,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{\"roots\":{}}}}");
    mcp__peer_memory_reset(&c->peer);
}

static void open_asking(conversation *c)
{
    open_with_roots(c);
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
    conversation_expect(
        &c,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
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

/* Its handler ran when the end of the input was seen. */
static void a_client_that_is_gone_is_asked_nothing(void **state)
{
    conversation c;

    (void)state;
    open_with_roots(&c);
    c.executor.is_held = true;
    conversation_say(&c, ASK);
    mcp__dispatch_stop(&c.session, MCP_STOP_CLIENT_GONE);
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c,
                        "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"error\":{\"code\":-32603,\"message\":"
                        "\"the client is gone, or the server is going down\"}}");
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_close(&c);
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
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{\"elicitation\":{}}}}");
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":\"more/steps\"}}");
    for (int i = 1; i <= 16; i++) {
        assert_false(mcp__dispatch_is_idle(&c.session));
        (void)snprintf(text, sizeof(text),
                       "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"action\":\"accept\"}}", i);
        conversation_say(&c, text);
    }
    assert_true(mcp__dispatch_is_idle(&c.session));
    assert_non_null(strstr(c.peer.text.data, "asked 16 times"));
    conversation_close(&c);
}

#define CALLS 40

__attribute__((format(printf, 2, 3))) static void say_of(conversation *c, const char *format, ...)
{
    char text[200];
    va_list arguments;

    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_true(length > 0 && (size_t)length < sizeof text);
    conversation_say(c, text);
}

static void say_roots(conversation *c, int id)
{
    say_of(c, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{\"roots\":[{\"uri\":\"file:///%d\"}]}}",
           id, id);
}

/* The call of number k makes the request of number k; each fifth is cancelled. 7 has no factor in
 * common with 40. */
static void each_response_finds_its_call(void **state)
{
    char wanted[200];
    conversation c;

    (void)state;
    open_with_roots(&c);
    for (int k = 1; k <= CALLS; k++)
        say_of(&c,
               "{\"jsonrpc\":\"2.0\",\"id\":\"%d\",\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"more/roots\"}}",
               k);
    assert_int_equal(c.peer.notifications, CALLS);
    for (int k = 5; k <= CALLS; k += 5)
        say_of(&c,
               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
               "\"requestId\":\"%d\"}}",
               k);
    mcp__peer_memory_reset(&c.peer);
    say_roots(&c, 0);
    say_roots(&c, CALLS + 1);
    for (int i = 0; i < CALLS; i++) {
        int k = i * 7 % CALLS + 1;
        conversation_expect(&c, "");
        say_roots(&c, k);
        (void)snprintf(
            wanted, sizeof wanted,
            "{\"jsonrpc\":\"2.0\",\"id\":\"%d\",\"result\":{\"content\":[{\"type\":\"text\","
            "\"text\":\"file:///%d\"}]}}",
            k, k);
        conversation_expect(&c, k % 5 == 0 ? "" : wanted);
        say_roots(&c, k);
    }
    conversation_expect(&c, "");
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_close(&c);
}

/* ---- without memory -------------------------------------------------------------------------- */

#define MODERN                                                                                     \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"elicitation\":{}}}"
#define STEPS                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"more/steps\","

/* Says them one after another with ever more memory: each time the server ends idle and
 * continues. */
static void walk(const char *opening, const char *const *texts, size_t count, const char *last)
{
    bool refused = true;

    for (long successes = 0; refused; successes++) {
        conversation c;
        assert_true(successes < 10000);
        conversation_open(&c, NULL, &fixture_more);
        conversation_say(&c, opening);
        mcp__peer_memory_reset(&c.peer);
        (void)mcp_buf_reserve(&c.peer.text, 65536); /* the peer is not what is tested */
        mcp__alloc_fail_after(successes);
        for (size_t i = 0; i < count; i++)
            conversation_say(&c, texts[i]);
        refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        if (!refused)
            assert_non_null(strstr(c.peer.text.data, last));
        mcp__dispatch_stop(&c.session, MCP_STOP_CANCELLED);
        assert_true(mcp__dispatch_is_idle(&c.session));
        mcp__peer_memory_reset(&c.peer);
        conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"ping\"}",
                         "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n");
        conversation_close(&c);
    }
}

static void a_session_may_run_out_of_memory(void **state)
{
    static const char *const texts[] = {
        "{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{\"name\":\"more/steps\"}}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"accept\",\"content\":{\"name\":\"B\"}}}",
    };

    (void)state;
    walk("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
         "\"2025-06-18\",\"capabilities\":{\"elicitation\":{}}}}",
         texts, 3, "A, B, kept two");
}

static void without_a_session_memory_may_run_out_too(void **state)
{
    static const char *const texts[] = {
        STEPS MODERN "}}",
        STEPS
        "\"inputResponses\":{\"first\":{\"action\":\"accept\",\"content\":{\"name\":\"A\"}}}," MODERN
        "}}",
        STEPS "\"requestState\":\"v1.AAAA.AAAA\"," MODERN "}}",
    };

    (void)state;
    walk("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", texts, 2, "\"requestState\":\"v1.");
    walk("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}", texts + 2, 1,
         "invalid requestState");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_five_minutes),
        cmocka_unit_test(a_client_that_is_gone_ends_it),
        cmocka_unit_test(a_client_that_is_gone_is_asked_nothing),
        cmocka_unit_test(what_is_cancelled_or_abandoned_leaves_nothing),
        cmocka_unit_test(questions_have_an_end),
        cmocka_unit_test(each_response_finds_its_call),
        cmocka_unit_test(a_session_may_run_out_of_memory),
        cmocka_unit_test(without_a_session_memory_may_run_out_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
