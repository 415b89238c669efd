/*
 * test_hostile.c - what messages are answered that are made to hold a server.
 *
 * How long they hold it is measured by bench/hostile.c, in full length; here they are cut, and what
 * counts is that each has its right answer, leaves nothing behind, and that the server continues.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* Arguments that the loop cannot judge in the steps it gives go to a worker, and nobody waits for
 * them. */
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
        "duplicate member",
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
static const char *ones(size_t count)
{
    static char text[16 * 1024];

    assert_true(count >= 1 && count * 2 < sizeof(text));
    for (size_t i = 0; i < 2 * count; i++)
        text[i] = i % 2 == 0 ? '1' : ',';
    text[2 * count - 1] = '\0';
    return text;
}

/* What the schema of hostile/take does for an array of so many numbers. */
static uint64_t steps_for(size_t count)
{
    mcp_arena *arena = mcp_arena_new(0);
    const mcp_json *tool = NULL;
    const mcp_json *value = NULL;
    mcp_schema *schema = NULL;
    uint64_t left = 1000000;
    const mcp_file *file = mcp_files_find(hostile_features.files, "tools/hostile/take.json");
    const char *text = mcp_arena_printf(arena, "{\"numbers\":[%s]}", ones(count));

    assert_int_equal(mcp_json_read(&tool, arena, file->bytes, file->length, NULL), MCP_OK);
    assert_int_equal(mcp_json_read(&value, arena, text, strlen(text), NULL), MCP_OK);
    assert_int_equal(mcp_schema_compile(&schema, mcp_json_get(tool, "inputSchema"), NULL, NULL),
                     MCP_OK);
    assert_int_equal(mcp_schema_check_within(schema, value, &left, arena, NULL, NULL), MCP_OK);
    mcp_schema_free(schema);
    mcp_arena_free(arena);
    return 1000000 - left;
}

/* Whether the loop itself judges that many; a text among them, so that it answers at once. */
static bool is_judged_on_loop(size_t count)
{
    static char text[20 * 1024];
    conversation talk;

    conversation_open(&talk, NULL, &hostile_features);
    talk.executor.is_held = true;
    (void)snprintf(text, sizeof(text),
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                   "\"name\":\"hostile/take\",\"arguments\":{\"numbers\":[%s,\"\"]}}}",
                   ones(count - 1));
    conversation_say(&talk, text);
    bool is_judged = talk.executor.held == 0;
    while (mcp__inline_step(&talk.executor))
        ;
    assert_non_null(strstr(talk.peer.text.data, "/numbers/"));
    mcp__peer_memory_reset(&talk.peer);
    conversation_close(&talk);
    return is_judged;
}

/* An element costs more steps than one, so the bound lies between two numbers of them. */
static void the_loop_gives_5000_steps(void **state)
{
    size_t count = 3;

    (void)state;
    while (steps_for(count + 1) <= 5000)
        count++;
    assert_true(steps_for(count) > 5000 - 10);
    assert_true(is_judged_on_loop(count - 1));
    assert_true(is_judged_on_loop(count));
    assert_false(is_judged_on_loop(count + 1));
}

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
        cmocka_unit_test(the_loop_gives_5000_steps),
        cmocka_unit_test(cheap_checks_need_no_worker),
        cmocka_unit_test(a_check_can_be_cancelled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
