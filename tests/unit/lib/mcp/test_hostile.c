/*
 * test_hostile.c - what messages are answered that are made to hold a server.
 *
 * How long they hold it is measured by bench/hostile.c, in full length; here they are cut, and what counts
 * is that each has its right answer, leaves nothing behind, and that the server goes on.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "hostile.h"

enum { CUT = 128 * 1024 };

static void say_and_look(const hostile *row)
{
    conversation talk;
    size_t length = 0;
    char *text = hostile_write(row, CUT, &length);

    assert_non_null(text);
    conversation_open(&talk, NULL, &hostile_features);
    mcp__dispatch_message(&talk.session, &talk.peer.peer, text, length);
    const char *got = talk.peer.text.data ? talk.peer.text.data : "";
    if (!strstr(got, row->answer))
        fail_msg("%s: no \"%s\" in: %.300s", row->name, row->answer, got);
    mcp__peer_memory_reset(&talk.peer);
    conversation_ask(&talk, "{\"jsonrpc\":\"2.0\",\"id\":\"after\",\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":\"after\",\"result\":{}}\n");
    conversation_close(&talk);
    free(text);
}

static void each_has_its_answer(void **state)
{
    (void)state;
    for (const hostile *row = hostile_messages; row->name; row++)
        say_and_look(row);
}

/* Arguments that the loop cannot judge in the steps it gives go to a worker, and nobody waits for them. */
static void dear_checks_are_left_to_a_worker(void **state)
{
    static const hostile tree = {
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hostile/take\","
        "\"arguments\":{\"tree\":",
        "[",
        "1]]]]]]]]]]]]]]]]]]]]}}}",
        20,
        "takes too much work",
    };
    conversation talk;
    size_t length = 0;
    char *text = hostile_write(&tree, CUT, &length);

    (void)state;
    conversation_open(&talk, NULL, &hostile_features);
    talk.executor.is_held = true;
    mcp__dispatch_message(&talk.session, &talk.peer.peer, text, length);
    conversation_expect(&talk, "");
    assert_int_equal(talk.executor.held, 1);
    conversation_ask(&talk, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}",
                     "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}\n");
    assert_true(mcp__inline_step(&talk.executor));
    assert_non_null(strstr(talk.peer.text.data, tree.answer));
    assert_non_null(strstr(talk.peer.text.data, "/$defs/tree/"));
    mcp__peer_memory_reset(&talk.peer);
    conversation_close(&talk);
    free(text);
}

/* A prompt's too, though nobody but us fills it. */
static void large_prompts_are_left_to_a_worker(void **state)
{
    static const hostile names = {
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"prompts/get\",\"params\":{\"name\":\"hostile\","
        "\"arguments\":{",
        "\"#\":\"\",",
        "\"word\":\"w\",\"word\":\"v\"}}}",
        CUT,
        "stands twice",
    };
    conversation talk;
    size_t length = 0;
    char *text = hostile_write(&names, CUT, &length);

    (void)state;
    conversation_open(&talk, NULL, &hostile_features);
    talk.executor.is_held = true;
    mcp__dispatch_message(&talk.session, &talk.peer.peer, text, length);
    conversation_expect(&talk, "");
    assert_int_equal(talk.executor.held, 1);
    assert_true(mcp__inline_step(&talk.executor));
    assert_non_null(strstr(talk.peer.text.data, names.answer));
    mcp__peer_memory_reset(&talk.peer);
    conversation_close(&talk);
    free(text);
}

/* The same arguments, small: the loop says at once that they do not fit, no worker is asked. */
static void cheap_checks_need_no_worker(void **state)
{
    conversation talk;

    (void)state;
    conversation_open(&talk, NULL, &hostile_features);
    talk.executor.is_held = true;
    conversation_say(&talk, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                            "\"name\":\"hostile/take\",\"arguments\":{\"closed\":{\"y\":1}}}}");
    assert_int_equal(talk.executor.held, 0);
    assert_non_null(strstr(talk.peer.text.data, "is not allowed"));
    mcp__peer_memory_reset(&talk.peer);
    conversation_close(&talk);
}

/* A call whose arguments a worker still looks at can be cancelled: then its handler never runs. */
static void a_check_can_be_cancelled(void **state)
{
    static const hostile numbers = {
        "",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"hostile/take\","
        "\"arguments\":{\"numbers\":[",
        "1,",
        "1]}}}",
        CUT,
        "",
    };
    conversation talk;
    size_t length = 0;
    char *text = hostile_write(&numbers, CUT, &length);

    (void)state;
    conversation_open(&talk, NULL, &hostile_features);
    talk.executor.is_held = true;
    mcp__dispatch_message(&talk.session, &talk.peer.peer, text, length);
    assert_int_equal(talk.executor.held, 1);
    conversation_say(&talk,
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                     "\"requestId\":1}}");
    assert_true(mcp__inline_step(&talk.executor));
    conversation_expect(&talk, "");
    conversation_close(&talk);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_has_its_answer),
        cmocka_unit_test(dear_checks_are_left_to_a_worker),
        cmocka_unit_test(large_prompts_are_left_to_a_worker),
        cmocka_unit_test(cheap_checks_need_no_worker),
        cmocka_unit_test(a_check_can_be_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
