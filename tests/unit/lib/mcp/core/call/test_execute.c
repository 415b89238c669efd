/*
 * test_execute.c - handlers that answer later: who resumes them, when, and what becomes of the call
 * meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "conversation.h"
#include "mcp/clock.h"

/* The call that was left last, and how often a function went on with one. */
static mcp_call *left;
static int went_on;

static mcp_status leave(mcp_call *call, void *data)
{
    (void)data;
    left = call;
    return MCP_E_DEFERRED;
}

static mcp_status tell(mcp_call *call, void *words)
{
    went_on++;
    return mcp_call_text(call, words);
}

static char first_words[] = "first", done_words[] = "done";

static mcp_status tell_and_leave(mcp_call *call, void *data)
{
    (void)tell(call, first_words);
    return leave(call, data);
}

/* What it waits for is there before it returns. */
static mcp_status hurry(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_resume(call, tell, done_words, 0);
    return MCP_E_DEFERRED;
}

/* The same twice: the handler that continues finds that it, too, need not wait. */
static mcp_status hurry_again(mcp_call *call, void *data)
{
    went_on++;
    return hurry(call, data);
}

static mcp_status hurry_twice(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_resume(call, hurry_again, NULL, MCP_NONBLOCKING);
    return MCP_E_DEFERRED;
}

static mcp_status lose(mcp_call *call, void *data)
{
    (void)data;
    return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "it is gone");
}

static mcp_status report(mcp_call *call, void *words)
{
    (void)mcp_call_progress(call, &(mcp_progress){ .progress = 1 });
    return tell(call, words);
}

static mcp_status dawdle(mcp_call *call, void *data)
{
    (void)usleep(15000);
    return leave(call, data);
}

#define FILE_OF(name) "{\"name\":\"" name "\",\"inputSchema\":{\"type\":\"object\"}}"

static const char later_json[] = FILE_OF("later"), swift_json[] = FILE_OF("swift");
static const char hurried_json[] = FILE_OF("hurried"), dawdling_json[] = FILE_OF("dawdling");
static const char twice_json[] = FILE_OF("twice"), long_json[] = FILE_OF("long");
static const char task_json[] = FILE_OF("task");
static const mcp_file files[] = {
    { "tools/later.json", later_json, sizeof later_json - 1 },
    { "tools/swift.json", swift_json, sizeof swift_json - 1 },
    { "tools/hurried.json", hurried_json, sizeof hurried_json - 1 },
    { "tools/dawdling.json", dawdling_json, sizeof dawdling_json - 1 },
    { "tools/twice.json", twice_json, sizeof twice_json - 1 },
    { "tools/long.json", long_json, sizeof long_json - 1 },
    { "tools/task.json", task_json, sizeof task_json - 1 },
    { 0 },
};
static const mcp_tool tools[] = {
    { "later", leave, MCP_READS, 1000, 0 },
    { "swift", leave, MCP_READS | MCP_NONBLOCKING, 1000, 0 },
    { "hurried", hurry, MCP_READS | MCP_NONBLOCKING, 0, 0 },
    { "dawdling", dawdle, MCP_READS | MCP_NONBLOCKING, 0, 0 },
    { "twice", hurry_twice, MCP_READS | MCP_NONBLOCKING, 0, 0 },
    { "long", leave, MCP_READS | MCP_LONG, 0, 1 },
    { "task", leave, MCP_READS | MCP_TASK_OPTIONAL, 0, 0 },
    { 0 },
};
static const mcp_features features = { .files = files, .tools = tools };

static conversation c;

static int set_up(void **state)
{
    (void)state;
    left = NULL;
    went_on = 0;
    conversation_open(&c, NULL, &features);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    conversation_close(&c);
    return 0;
}

/* clang-format off */
#define CALL(id, name) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\"}}"
#define TEXT(text) "{\"type\":\"text\",\"text\":\"" text "\"}"
#define ANSWER(id, content) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[" content "]}}"
#define CANCEL(id) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":" id "}}"
/* clang-format on */

static void a_call_that_was_left_is_answered_when_it_is_resumed(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "later"), "");
    assert_false(mcp__dispatch_is_idle(&c.session));
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, ANSWER("1", TEXT("done")));
    assert_true(mcp__dispatch_is_idle(&c.session));
    conversation_ask(&c, CALL("2", "later"), "");
    mcp_call_resume(left, lose, NULL, 0);
    conversation_expect(&c, "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32603,\"message\":"
                            "\"it is gone\"}}");
}

static void it_holds_no_worker(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_ask(&c, CALL("1", "later"), "");
    assert_true(mcp__inline_step(&c.executor));
    assert_false(mcp__inline_step(&c.executor));
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, "");
    assert_true(mcp__inline_step(&c.executor)); /* it continues where handlers run */
    conversation_expect(&c, ANSWER("1", TEXT("done")));
}

static void it_may_be_resumed_before_it_is_left(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "hurried"), ANSWER("1", TEXT("done")));
    assert_int_equal(went_on, 1);
}

static void it_may_be_left_again(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "later"), "");
    mcp_call_resume(left, tell_and_leave, NULL, 0);
    conversation_expect(&c, "");
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, ANSWER("1", TEXT("first") "," TEXT("done")));
}

static void a_batch_waits_for_it(void **state)
{
    (void)state;
    conversation_initialize(&c, "2025-03-26");
    conversation_ask(&c, "[" CALL("1", "later") "," CALL("2", "hurried") "]", "");
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, "[" ANSWER("2", TEXT("done")) "," ANSWER("1", TEXT("done")) "]");
}

static void a_cancelled_call_continues_but_is_not_answered(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "later"), "");
    conversation_ask(&c, CANCEL("1"), "");
    assert_int_equal(mcp_call_stop(left), MCP_STOP_CANCELLED);
    assert_false(mcp__dispatch_is_idle(&c.session)); /* the handler may still look at it */
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, "");
    assert_int_equal(went_on, 1);
    assert_true(mcp__dispatch_is_idle(&c.session));
}

static void its_deadline_is_answered(void **state)
{
    static const char *const names[] = { "later", "swift" };
    char words[256];

    (void)state;
    for (int i = 0; i < 2; i++) {
        int64_t now = mcp_clock_mono_ms();
        (void)snprintf(words, sizeof words, CALL("1", "%s"), names[i]);
        conversation_ask(&c, words, "");
        int64_t due = mcp__dispatch_tick(&c.session, now);
        assert_in_range(due, now + 1000, mcp_clock_mono_ms() + 1000);
        (void)mcp__dispatch_tick(&c.session, due);
        (void)snprintf(words, sizeof words,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[" TEXT(
                           "%s ran longer than its time limit of 1000 ms") "],\"isError\":true}}",
                       names[i]);
        conversation_expect(&c, words);
        mcp_call_resume(left, tell, done_words, MCP_NONBLOCKING);
        conversation_expect(&c, "");
        assert_int_equal(went_on, i + 1);
        assert_true(mcp__dispatch_is_idle(&c.session));
    }
}

static void a_server_that_goes_down_still_answers_it(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "later"), "");
    mcp__dispatch_stop(&c.session, MCP_STOP_SHUTDOWN);
    mcp__dispatch_refuse_waiting(&c.session);
    assert_int_equal(mcp_call_stop(left), MCP_STOP_SHUTDOWN);
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, ANSWER("1", TEXT("done")));
}

static void a_long_tool_counts_it_as_running(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "long"), "");
    conversation_ask(
        &c, CALL("2", "long"),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"content\":[" TEXT(
            "long is running already; try again when it has ended.") "],\"isError\":true}}");
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, ANSWER("1", TEXT("done")));
    conversation_ask(&c, CALL("3", "long"), "");
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, ANSWER("3", TEXT("done")));
}

static void it_may_be_a_task(void **state)
{
    char text[256];

    (void)state;
    conversation_initialize(&c, "2025-11-25");
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                         "\"name\":\"task\",\"task\":{}}}");
    assert_non_null(strstr(c.peer.text.data, "\"status\":\"working\""));
    mcp__peer_memory_reset(&c.peer);
    (void)snprintf(
        text, sizeof(text),
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"%s\"}}",
        LIST_FIRST(&c.tasks->entries)->id);
    conversation_ask(&c, text, "");
    mcp_call_resume(left, tell, done_words, 0);
    assert_int_equal(c.peer.answers, 1);
    assert_non_null(strstr(c.peer.text.data, "{\"content\":[" TEXT("done") "]"));
    mcp__peer_memory_reset(&c.peer);
}

/* ---- on the loop itself ---------------------------------------------------------------------- */

static void a_quick_one_needs_no_worker(void **state)
{
    (void)state;
    c.executor.is_held = true;
    c.executor.is_full = true;
    conversation_ask(&c, CALL("1", "swift"), "");
    mcp_call_resume(left, tell, done_words, MCP_NONBLOCKING);
    conversation_expect(&c, ANSWER("1", TEXT("done")));
    conversation_ask(&c, CALL("2", "swift"), "");
    mcp_call_resume(left, tell_and_leave, NULL, MCP_NONBLOCKING);
    conversation_expect(&c, "");
    mcp_call_resume(left, tell, done_words, MCP_NONBLOCKING);
    conversation_expect(&c, ANSWER("2", TEXT("first") "," TEXT("done")));
    assert_int_equal(c.executor.held, 0);
    assert_true(mcp__dispatch_is_idle(&c.session));
}

static void its_report_comes_before_its_answer(void **state)
{
    (void)state;
    conversation_ask(&c,
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                     "\"name\":\"swift\",\"_meta\":{\"progressToken\":7}}}",
                     "");
    mcp_call_resume(left, report, done_words, MCP_NONBLOCKING);
    conversation_expect(&c,
                        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                        "\"progressToken\":7,\"progress\":1}}\n" ANSWER("1", TEXT("done")));
}

static void a_quick_one_that_takes_longer_goes_to_a_worker(void **state)
{
    (void)state;
    c.executor.is_held = true;
    conversation_ask(&c, CALL("1", "hurried"), "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("1", TEXT("done")));
    conversation_ask(&c, CALL("2", "swift"), "");
    mcp_call_resume(left, tell, done_words, 0);
    conversation_expect(&c, "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("2", TEXT("done")));
    went_on = 0;
    conversation_ask(&c, CALL("3", "twice"), "");
    assert_int_equal(went_on, 1); /* the first step on the loop, the second not */
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("3", TEXT("done")));
}

static void what_is_not_declared_quick_goes_to_a_worker(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "later"), "");
    c.executor.is_held = true;
    mcp_call_resume(left, tell, done_words, MCP_NONBLOCKING);
    conversation_expect(&c, "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("1", TEXT("done")));
}

static void a_slow_handler_continues_with_a_worker(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("1", "dawdling"), "");
    c.executor.is_held = true;
    mcp_call_resume(left, tell, done_words, MCP_NONBLOCKING);
    conversation_expect(&c, "");
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, ANSWER("1", TEXT("done")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_call_that_was_left_is_answered_when_it_is_resumed, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(it_holds_no_worker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_may_be_resumed_before_it_is_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_may_be_left_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_batch_waits_for_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_cancelled_call_continues_but_is_not_answered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(its_deadline_is_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_server_that_goes_down_still_answers_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_long_tool_counts_it_as_running, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_may_be_a_task, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_quick_one_needs_no_worker, set_up, tear_down),
        cmocka_unit_test_setup_teardown(its_report_comes_before_its_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_quick_one_that_takes_longer_goes_to_a_worker, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_declared_quick_goes_to_a_worker, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slow_handler_continues_with_a_worker, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
