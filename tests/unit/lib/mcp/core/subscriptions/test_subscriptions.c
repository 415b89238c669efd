/*
 * test_subscriptions.c - news from other threads, and whom it reaches. What is sent stands in
 * tests/wire/library/changes.txt and stateless-listen.txt.
 */
#include <pthread.h>
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
#include "net/loop.h"

#define THREADS 4
#define ROUNDS 2000
#define SUBSCRIBE                                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/subscribe\",\"params\":{\"uri\":\"more://kept\"}}"

/* An executor whose posted nodes run when the test says so, as a loop's would. */
struct postbox {
    mcp__executor face; /* first */
    mcp__queue queue;
};

static void put(mcp__executor *face, mcp__node *node)
{
    (void)mcp__queue_push(&((struct postbox *)face)->queue, node);
}

static size_t empty(struct postbox *box)
{
    mcp__node *node = mcp__queue_take(&box->queue);
    size_t count = 0;

    while (node) {
        mcp__node *next = node->next;
        node->run(node);
        node = next;
        count++;
    }
    return count;
}

static void *say_much(void *data)
{
    mcp_server *server = data;
    char uri[32];

    for (int i = 0; i < ROUNDS; i++) {
        (void)snprintf(uri, sizeof uri, "more://%d", i % 10);
        if (mcp_server_resource_updated(server, uri, NULL) != MCP_OK)
            return server;
    }
    return NULL;
}

static const mcp_server_options options = {
    .name = "n", .version = "1", .subscriptions = true, .list_changed = true
};

static void threads_may_tell_at_once(void **state)
{
    struct postbox box = { .face = { .post = put } };
    mcp__peer_memory peer;
    mcp__context setup;
    mcp__session session;
    mcp_server *server = NULL;
    pthread_t threads[THREADS];
    size_t posted = 0;

    (void)state;
    mcp__peer_memory_init(&peer);
    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    setup = mcp__server_context(server, &box.face);
    assert_int_equal(mcp_server_resource_updated(server, "more://early", NULL),
                     MCP_OK); /* nobody to tell */
    assert_int_equal(mcp__session_init(&session, &setup, NULL), MCP_OK);
    session.listener = &peer.peer;
    session.revision = MCP_2025_11_25;
    for (int i = 0; i < 10; i++) {
        char uri[32];
        (void)snprintf(uri, sizeof uri, "more://%d", i);
        assert_int_equal(mcp__subscribe_add(&session, uri, NULL), MCP_OK);
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, say_much, server), 0);
    for (int i = 0; i < 1000; i++)
        posted += empty(&box);
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        (void)pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    posted += empty(&box);
    assert_true(posted > 0);
    /* each turn tells each of the ten at most once, and the last of each is never lost */
    assert_true(peer.notifications >= 10 && peer.notifications <= 10 * posted);
    assert_null(strstr(peer.text.data, "early"));
    mcp__session_clear(&session);
    assert_int_equal(mcp_server_resource_updated(server, "more://late", NULL), MCP_OK);
    assert_int_equal(empty(&box), 0);
    mcp__peer_memory_clear(&peer);
    mcp_server_free(server);
    assert_null(mcp__queue_take(&box.queue));
}

static void every_session_is_notified_by_its_own_peer(void **state)
{
    static const mcp_tool none[] = { { 0 } };
    static const mcp_features empty_set = { .tools = none };
    mcp__peer_memory other;
    mcp__context setup;
    mcp__session second;
    conversation c;

    (void)state;
    conversation_open(&c, &options, &fixture_more);
    conversation_initialize(&c, "2025-03-26");
    mcp__peer_memory_init(&other);
    setup = mcp__server_context(c.server, &c.executor.executor);
    assert_int_equal(mcp__session_init(&second, &setup, NULL), MCP_OK);
    second.revision = MCP_2024_11_05;
    assert_int_equal(mcp_server_add_features(c.server, &empty_set, NULL), MCP_OK);
    assert_int_equal(c.peer.notifications, 1);
    second.listener = &other.peer; /* its stream was not open */
    assert_int_equal(other.notifications, 0);
    assert_int_equal(mcp_server_add_features(c.server, &empty_set, NULL), MCP_E_PARAMS); /* twice */
    assert_int_equal(mcp_server_remove_features(c.server, &empty_set, NULL), MCP_OK);
    assert_int_equal(mcp_server_remove_features(c.server, &empty_set, NULL), MCP_E_PARAMS);
    assert_int_equal(c.peer.notifications, 2);
    assert_int_equal(other.notifications, 1);
    mcp__session_clear(&second);
    mcp__peer_memory_clear(&other);
    conversation_close(&c);
}

#define MANY 600

/* So that nobody waits for all of it: 600 sessions of 4 URIs are 2,400 messages, a thousand of them
 * a turn, and one more URI is never cut in two. */
static void many_notifications_go_out_in_turns(void **state)
{
    static mcp__session sessions[MANY];
    struct postbox box = { .face = { .post = put } };
    mcp__context setup;
    mcp__peer_memory peer;
    mcp_server *server = NULL;
    char uri[32];

    (void)state;
    mcp__peer_memory_init(&peer);
    assert_int_equal(mcp_server_new(&server, &options, NULL), MCP_OK);
    setup = mcp__server_context(server, &box.face);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(mcp__session_init(&sessions[i], &setup, NULL), MCP_OK);
        sessions[i].listener = &peer.peer;
        sessions[i].revision = MCP_2025_11_25;
        for (int k = 0; k < 4; k++) {
            (void)snprintf(uri, sizeof uri, "more://%d", k);
            assert_int_equal(mcp__subscribe_add(&sessions[i], uri, NULL), MCP_OK);
        }
    }
    for (int k = 0; k < 6; k++) { /* two of them nobody wants */
        (void)snprintf(uri, sizeof uri, "more://%d", k);
        assert_int_equal(mcp_server_resource_updated(server, uri, NULL), MCP_OK);
    }
    for (size_t told = 2 * MANY; told <= 4 * MANY; told += 2 * MANY) {
        assert_int_equal(empty(&box), 1);
        assert_int_equal(peer.notifications, told);
        /* Meanwhile; it posts nothing of its own. */
        (void)mcp_server_resource_updated(server, "more://5", NULL);
    }
    while (empty(&box) > 0)
        ;
    assert_int_equal(peer.notifications, 4 * MANY);
    for (int i = 0; i < MANY; i++)
        mcp__session_clear(&sessions[i]);
    mcp__peer_memory_clear(&peer);
    mcp_server_free(server);
    assert_null(mcp__queue_take(&box.queue));
}

static void a_client_subscribes_to_a_thousand(void **state)
{
    conversation c;
    char uri[32];

    (void)state;
    conversation_open(&c, &options, &fixture_more);
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(uri, sizeof uri, "more://%d", i);
        assert_int_equal(mcp__subscribe_add(&c.session, uri, NULL), MCP_OK);
    }
    assert_int_equal(mcp__subscribe_add(&c.session, "more://999", NULL), MCP_OK);
    assert_int_equal(mcp__subscribe_add(&c.session, "more://1000", NULL), MCP_E_LIMIT);
    mcp__subscribe_remove(&c.session, "more://0");
    assert_int_equal(mcp__subscribe_add(&c.session, "more://1000", NULL), MCP_OK);
    conversation_close(&c);
}

static mcp_status do_nothing(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

/* In one step: the same name may be in both, and what cannot be added leaves the old ones. */
static void features_are_replaced_in_one_step(void **state)
{
    static const char first[] =
        "{\"name\":\"t\",\"title\":\"1\",\"inputSchema\":{\"type\":\"object\"}}";
    static const char second[] =
        "{\"name\":\"t\",\"title\":\"2\",\"inputSchema\":{\"type\":\"object\"}}";
    static const char broken[] = "{\"name\":\"t\",\"inputSchema\":{\"type\":\"array\"}}";
    static const mcp_file files[][2] = { { { "tools/t.json", first, sizeof first - 1 }, { 0 } },
                                         { { "tools/t.json", second, sizeof second - 1 }, { 0 } },
                                         { { "tools/t.json", broken, sizeof broken - 1 }, { 0 } } };
    static const mcp_tool rows[] = { { "t", do_nothing, MCP_READS, 0, 0 }, { 0 } };
    const mcp_features sets[] = { { .files = files[0], .tools = rows },
                                  { .files = files[1], .tools = rows },
                                  { .files = files[2], .tools = rows } };
    conversation c;

    (void)state;
    conversation_open(&c, &options, NULL);
    conversation_initialize(&c, "2025-06-18");
    assert_int_equal(mcp_server_add_features(c.server, &sets[0], NULL), MCP_OK);
    conversation_expect(&c,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    assert_int_equal(mcp_server_replace_features(c.server, &sets[0], &sets[2], NULL), MCP_E_PARAMS);
    conversation_ask(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[{\"name\":\"t\",\"title\":\"1\","
        "\"inputSchema\":{\"type\":\"object\"}}]}}");
    assert_int_equal(mcp_server_replace_features(c.server, &sets[0], &sets[1], NULL), MCP_OK);
    conversation_expect(&c,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}");
    conversation_ask(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[{\"name\":\"t\",\"title\":\"2\","
        "\"inputSchema\":{\"type\":\"object\"}}]}}");
    assert_int_equal(mcp_server_replace_features(c.server, &sets[0], &sets[1], NULL), MCP_E_PARAMS);
    assert_int_equal(mcp_server_remove_features(c.server, &sets[1], NULL), MCP_OK);
    conversation_close(&c);
}

/* A call that runs keeps its tool, though it is withdrawn meanwhile. */
static void calls_keep_what_they_began_with(void **state)
{
    conversation c;

    (void)state;
    conversation_open(&c, &options, NULL);
    assert_int_equal(mcp_server_add_features(c.server, &fixture_more, NULL), MCP_OK);
    c.executor.is_held = true;
    conversation_say(
        &c,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"more/value\"}}");
    assert_int_equal(mcp_server_remove_features(c.server, &fixture_more, NULL), MCP_OK);
    conversation_ask(&c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"tools\":[]}}");
    while (mcp__inline_step(&c.executor))
        ;
    conversation_expect(
        &c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
            "\"[1,2.5,null]\"}]}}");
    conversation_close(&c);
}

/* A change that could not be queued for want of memory is refused to its caller; the next one is
 * sent again. */
static void memory_may_run_out_anywhere(void **state)
{
    mcp_status st = MCP_E_NOMEM;
    conversation c;

    (void)state;
    for (long successes = 0; st != MCP_OK; successes++) {
        assert_true(successes < 100);
        conversation_open(&c, &options, &fixture_more);
        conversation_initialize(&c, "2025-11-25");
        conversation_ask(&c, SUBSCRIBE, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
        mcp__alloc_fail_after(successes);
        st = mcp_server_resource_updated(c.server, "more://kept", NULL);
        mcp__alloc_fail_after(-1);
        assert_true(st == MCP_OK || st == MCP_E_NOMEM);
        mcp__peer_memory_reset(&c.peer);
        assert_int_equal(mcp_server_resource_updated(c.server, "more://kept", NULL), MCP_OK);
        conversation_expect(&c,
                            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/resources/updated\","
                            "\"params\":{\"uri\":\"more://kept\"}}\n");
        conversation_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_may_tell_at_once),
        cmocka_unit_test(every_session_is_notified_by_its_own_peer),
        cmocka_unit_test(many_notifications_go_out_in_turns),
        cmocka_unit_test(a_client_subscribes_to_a_thousand),
        cmocka_unit_test(features_are_replaced_in_one_step),
        cmocka_unit_test(calls_keep_what_they_began_with),
        cmocka_unit_test(memory_may_run_out_anywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
