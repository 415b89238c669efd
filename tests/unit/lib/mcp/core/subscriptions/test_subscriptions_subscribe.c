/*
 * test_subscriptions_subscribe.c - what clients subscribe to, in both eras, and the index: a key
 * that changes leads to those who want it, and to nobody else.
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
#include "mcp/core/subscriptions/subscriptions.h"

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

#define LISTENERS 1000
#define KEYS 100

static size_t count(const mcp__map *all, const char *key)
{
    size_t found = 0;

    for (const mcp__interest *i = mcp__interest_first(all, key, strlen(key)); i;
         i = LIST_NEXT(i, of_topic))
        found++;
    return found;
}

/* Listener n wants the keys that divide it, so key k has those at 0, k, 2k, ... */
static void a_key_leads_to_its_listeners_alone(void **state)
{
    static mcp__interest interests[LISTENERS][KEYS];
    mcp__map all;
    char key[16];

    (void)state;
    mcp__map_init(&all, NULL);
    for (int n = 0; n < LISTENERS; n++)
        for (int k = 1; k < KEYS; k++) {
            (void)snprintf(key, sizeof key, "a://%d", k);
            if (n % k == 0)
                assert_int_equal(mcp__interest_add(&all, &interests[n][k], key, strlen(key)),
                                 MCP_OK);
        }
    for (int k = 1; k < KEYS; k++) {
        (void)snprintf(key, sizeof key, "a://%d", k);
        assert_int_equal(count(&all, key), (LISTENERS + k - 1) / k);
    }
    assert_int_equal(count(&all, "a://"), 0);
    assert_int_equal(count(&all, "a://100"), 0);
    for (int n = 0; n < LISTENERS; n++)
        for (int k = 1; k < KEYS; k++)
            mcp__interest_remove(&interests[n][k]); /* those that are not in are passed over */
    assert_int_equal(all.count, 0);
    mcp__map_clear(&all);
}

static void the_first_the_middle_and_the_last_may_leave(void **state)
{
    mcp__interest interests[4] = { { 0 } };
    mcp__map all;

    (void)state;
    mcp__map_init(&all, NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(mcp__interest_add(&all, &interests[i], "k", 1), MCP_OK);
    mcp__interest_remove(&interests[1]);
    assert_int_equal(count(&all, "k"), 3);
    mcp__interest_remove(&interests[0]);
    assert_int_equal(count(&all, "k"), 2);
    mcp__interest_remove(&interests[3]);
    assert_int_equal(count(&all, "k"), 1);
    assert_ptr_equal(mcp__interest_first(&all, "k", 1), &interests[2]);
    mcp__interest_remove(&interests[2]);
    assert_null(mcp__interest_first(&all, "k", 1));
    mcp__map_clear(&all);
}

static void what_finds_no_memory_is_not_in(void **state)
{
    mcp__interest interest = { 0 };
    mcp_status st = MCP_E_NOMEM;
    mcp__map all;

    (void)state;
    mcp__map_init(&all, NULL);
    for (long at = 0; st != MCP_OK; at++) {
        assert_true(at < 10);
        mcp__alloc_fail_after(at);
        st = mcp__interest_add(&all, &interest, "k", 1);
        mcp__alloc_fail_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        assert_int_equal(count(&all, "k"), st == MCP_OK);
    }
    mcp__interest_remove(&interest);
    mcp__interest_remove(&interest);
    mcp__map_clear(&all);
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
        cmocka_unit_test(a_key_leads_to_its_listeners_alone),
        cmocka_unit_test(the_first_the_middle_and_the_last_may_leave),
        cmocka_unit_test(what_finds_no_memory_is_not_in),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
