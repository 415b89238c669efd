/*
 * test_subscribe.c - what clients can subscribe to, its bounds, and which clients are notified.
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
#include "mcp/core/subscriptions/subscribe.h"

#define SUBSCRIBED_MAX 1000

#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static const mcp_server_options options = {
    .name = "n", .version = "1", .subscriptions = true, .list_changed = true
};
static conversation c;

static int begin(void **state)
{
    (void)state;
    conversation_open(&c, &options, &fixture_more);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp__dispatch_stop(&c.session, MCP_STOP_SHUTDOWN); /* ends what listens */
    conversation_close(&c);
    return 0;
}

/* A resource has changed. */
static void tell(const char *uri)
{
    assert_int_equal(mcp_server_resource_updated(c.server, uri, NULL), MCP_OK);
}

static void tell_lists(unsigned lists)
{
    mcp__list_change change = { .lists = lists };

    mcp__subscriptions_lists(c.session.context.subscriptions, &change);
    assert_int_equal(change.state, MCP__CHANGE_IDLE);
}

#define UPDATED(uri)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\",\"params\":{\"uri\":\"" uri \
    "\"}}"

static void a_session_hears_what_it_subscribed_to(void **state)
{
    (void)state;
    conversation_initialize(&c, "2025-11-25");
    assert_int_equal(mcp__subscribe_add(&c.session, "a://1", NULL), MCP_OK);
    assert_int_equal(mcp__subscribe_add(&c.session, "a://1", NULL), MCP_OK);
    tell("a://1");
    conversation_expect(&c, UPDATED("a://1"));
    tell("a://");
    tell("a://12");
    conversation_expect(&c, "");
    mcp__subscribe_remove(&c.session, "a://never");
    mcp__subscribe_remove(&c.session, "a://1");
    tell("a://1");
    conversation_expect(&c, "");
    assert_int_equal(mcp__subscribe_add(&c.session, "a://2", NULL), MCP_OK);
    mcp__subscribe_clear(&c.session);
    tell("a://2");
    conversation_expect(&c, "");
}

static void list_changes_notify_every_open_session(void **state)
{
    (void)state;
    tell_lists(MCP__LIST_TOOLS);
    conversation_expect(&c, ""); /* not opened yet */
    conversation_initialize(&c, "2024-11-05");
    tell_lists(MCP__LIST_TOOLS | MCP__LIST_RESOURCES);
    conversation_expect(
        &c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n"
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/list_changed\"}");
    c.session.listener = NULL; /* a client without a stream of its own */
    tell_lists(MCP__LIST_PROMPTS);
    conversation_expect(&c, "");
}

/* Below the bound, at it, above it; what is there already takes no further room. */
static void subscriptions_have_a_bound(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    char uri[32];

    (void)state;
    conversation_initialize(&c, "2025-06-18");
    for (int i = 0; i < SUBSCRIBED_MAX; i++) {
        (void)snprintf(uri, sizeof uri, "a://%d", i);
        assert_int_equal(mcp__subscribe_add(&c.session, uri, &err), MCP_OK);
    }
    assert_int_equal(mcp__subscribe_add(&c.session, "a://over", &err), MCP_E_LIMIT);
    assert_non_null(strstr(err.message, "1000"));
    assert_int_equal(mcp__subscribe_add(&c.session, "a://7", &err), MCP_OK);
    mcp__subscribe_remove(&c.session, "a://7");
    assert_int_equal(mcp__subscribe_add(&c.session, "a://over", &err), MCP_OK);
}

static void a_subscription_that_cannot_be_kept_is_reported(void **state)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_E_NOMEM;

    (void)state;
    conversation_initialize(&c, "2025-06-18");
    for (long at = 0; st != MCP_OK; at++) {
        mcp__alloc_fail_after(at);
        st = mcp__subscribe_add(&c.session, "a://1", &err);
        mcp__alloc_fail_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        if (st != MCP_OK)
            assert_string_equal(err.message, "no memory for a subscription");
    }
    tell("a://1");
    conversation_expect(&c, UPDATED("a://1"));
}

static void listening_asks_for_as_much_as_a_session_may(void **state)
{
    static char text[64 * 1024];

    (void)state;
    for (int count = SUBSCRIBED_MAX - 1; count <= SUBSCRIBED_MAX + 1; count++) {
        size_t length = (size_t)snprintf(
            text, sizeof(text),
            "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"subscriptions/listen\","
            "\"params\":{" CLAIM ",\"notifications\":{\"resourceSubscriptions\":[",
            count);
        for (int i = 0; i < count; i++)
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s\"a://%d\"",
                                       i ? "," : "", i);
        (void)snprintf(text + length, sizeof(text) - length, "]}}}");
        conversation_say(&c, text);
        assert_non_null(strstr(c.peer.text.data, count > SUBSCRIBED_MAX
                                                     ? "\"code\":-32602"
                                                     : "notifications/subscriptions/acknowledged"));
        mcp__peer_memory_reset(&c.peer);
    }
}

/* A list or a resource that cannot change is left out of the acknowledgement, and never told. */
static void only_what_can_change_is_acknowledged(void **state)
{
    const mcp_server_options still = { .name = "n", .version = "1" };

    (void)state;
    conversation_close(&c);
    conversation_open(&c, &still, &fixture_more);
    conversation_ask(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":\"l\",\"method\":\"subscriptions/listen\",\"params\":{" CLAIM
        ",\"notifications\":{\"toolsListChanged\":true,\"resourceSubscriptions\":[\"a://1\"]}}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\",\"params\":{"
        "\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":\"l\"},\"notifications\":{}}}");
    tell("a://1");
    tell_lists(MCP__LIST_TOOLS);
    conversation_expect(&c, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_hears_what_it_subscribed_to, begin, end),
        cmocka_unit_test_setup_teardown(list_changes_notify_every_open_session, begin, end),
        cmocka_unit_test_setup_teardown(subscriptions_have_a_bound, begin, end),
        cmocka_unit_test_setup_teardown(a_subscription_that_cannot_be_kept_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(listening_asks_for_as_much_as_a_session_may, begin, end),
        cmocka_unit_test_setup_teardown(only_what_can_change_is_acknowledged, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
