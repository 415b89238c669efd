/*
 * test_progress.c - which reports leave, in which form and when (the revisions' progress pages).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "conversation.h"
#include <cmocka.h>

/* The clock of the test, linked in place of the real one (tests/CMakeLists.txt): it stands
 * still. */
static int64_t now_ms = 1000;

int64_t __wrap_mcp_clock_mono_ms(void);

int64_t __wrap_mcp_clock_mono_ms(void)
{
    return now_ms;
}

/* Reports the values of its argument "values"; "every" and "metadata" as its arguments say. */
static mcp_status report(mcp_call *call, void *data)
{
    const mcp_json *values = mcp_arg_json(call, "values");

    (void)data;
    for (size_t i = 0; i < mcp_json_count(values); i++) {
        mcp_progress progress = { .every = mcp_arg_bool(call, "every", false),
                                  .total = mcp_arg_double(call, "total", 0),
                                  .message = mcp_arg_string(call, "message"),
                                  .metadata = mcp_arg_string(call, "metadata"),
                                  .meta_key = mcp_arg_string(call, "meta_key") };
        (void)mcp_json_double(mcp_json_item(values, i), &progress.progress);
        mcp_status st = mcp_call_progress(call, &progress);
        if (st != MCP_OK)
            return st;
    }
    return mcp_call_text(call, mcp_call_wants_progress(call) ? "wanted" : "not wanted");
}

static const char definition[] = "{\"name\":\"report\",\"inputSchema\":{\"type\":\"object\"}}";
static const mcp_file files[] = { { "tools/report.json", definition, sizeof definition - 1 },
                                  { 0 } };
static const mcp_tool tools[] = { { "report", report, MCP_READS, 0, 0 }, { 0 } };
static const mcp_features features = { .files = files, .tools = tools };

static conversation c;

static int set_up(void **state)
{
    (void)state;
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
#define CALL(token, arguments) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"report\",\"_meta\":{" token \
    "},\"arguments\":" arguments "}}"
#define TOKEN "\"progressToken\":7"
#define NOTE(members) \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":7," members "}}" "\n"
#define RESULT(text) \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
/* clang-format on */

static void without_a_token_nothing_is_reported(void **state)
{
    (void)state;
    conversation_ask(&c, CALL("", "{\"values\":[1,2,3]}"), RESULT("not wanted"));
}

static void a_token_keeps_its_type(void **state)
{
    (void)state;
    conversation_ask(&c, CALL(TOKEN, "{\"values\":[1]}"), NOTE("\"progress\":1") RESULT("wanted"));
    conversation_ask(
        &c, CALL("\"progressToken\":\"7\"", "{\"values\":[0.5]}"),
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"7\",\"progress\":0.5}}"
        "\n" RESULT("wanted"));
    conversation_ask(&c, CALL("\"progressToken\":[]", "{\"values\":[1]}"),
                     "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":"
                     "\"_meta.progressToken must be a string or an integer\"}}");
}

static void all_members_of_a_report(void **state)
{
    (void)state;
    conversation_ask(
        &c,
        CALL(
            TOKEN,
            "{\"values\":[2],\"total\":8,\"message\":\"at 2\",\"metadata\":\"{\\\"gap\\\": 0.5}\",\"meta_key\":\"causeway/convergence\"}"),
        NOTE(
            "\"progress\":2,\"total\":8,\"message\":\"at 2\",\"metadata\":{\"gap\":0.5},\"_meta\":{\"causeway/convergence\":{\"gap\":0.5}}")
            RESULT("wanted"));
    conversation_ask(&c, CALL(TOKEN, "{\"values\":[2],\"metadata\":\"{\\n\\\"a\\\":\\n1}\"}"),
                     NOTE("\"progress\":2,\"metadata\":{\"a\":1}") RESULT("wanted"));
}

static void metadata_is_one_object(void **state)
{
    (void)state;
    conversation_ask(
        &c, CALL(TOKEN, "{\"values\":[2],\"metadata\":\"{} {}\"}"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32700,\"message\":\"a progress report cannot be written\"}}");
    conversation_ask(
        &c, CALL(TOKEN, "{\"values\":[2],\"metadata\":\"[]\"}"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"a progress report cannot be written\"}}");
}

static void what_does_not_rise_is_dropped(void **state)
{
    (void)state;
    conversation_ask(&c, CALL(TOKEN, "{\"values\":[1,1,0,2,-3,2.5,2.5],\"every\":true}"),
                     NOTE("\"progress\":1") NOTE("\"progress\":2") NOTE("\"progress\":2.5")
                         RESULT("wanted"));
}

/* After a silence 16 leave when they are made, none waits for the answer. */
static void a_few_reports_leave_when_they_are_made(void **state)
{
    (void)state;
    conversation_ask(&c, CALL(TOKEN, "{\"values\":[1,2,3,4]}"),
                     NOTE("\"progress\":1") NOTE("\"progress\":2") NOTE("\"progress\":3")
                         NOTE("\"progress\":4") RESULT("wanted"));
}

/* 16 leave at once; of those that come within 20 ms the newest leaves with the answer. */
static void a_burst_is_thinned_to_its_newest(void **state)
{
    (void)state;
    conversation_ask(
        &c, CALL(TOKEN, "{\"values\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]}"),
        NOTE("\"progress\":1") NOTE("\"progress\":2") NOTE("\"progress\":3") NOTE("\"progress\":4")
            NOTE("\"progress\":5") NOTE("\"progress\":6") NOTE("\"progress\":7")
                NOTE("\"progress\":8") NOTE("\"progress\":9") NOTE("\"progress\":10")
                    NOTE("\"progress\":11") NOTE("\"progress\":12") NOTE("\"progress\":13")
                        NOTE("\"progress\":14") NOTE("\"progress\":15") NOTE("\"progress\":16")
                            NOTE("\"progress\":20") RESULT("wanted"));
}

static void a_slow_client_gets_the_newest(void **state)
{
    (void)state;
    c.peer.is_slow = true;
    conversation_ask(&c, CALL(TOKEN, "{\"values\":[1,2,3,4],\"every\":true}"),
                     NOTE("\"progress\":4") RESULT("wanted"));
}

/* A call that is still running when time passes: driven by hand. */
static void what_was_held_back_leaves_when_it_may(void **state)
{
    mcp_progress first = { .progress = 1 };
    mcp_progress second = { .progress = 2 };
    mcp_progress third = { .progress = 3 };

    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL(TOKEN, "{}"));
    mcp_call *call = TAILQ_FIRST(&c.session.calls.open);
    for (int i = 0; i < 16; i++, first.progress += 0.01)
        assert_int_equal(mcp_call_progress(call, &first), MCP_OK);
    assert_int_equal(c.peer.notifications, 16);
    mcp__peer_memory_reset(&c.peer);
    assert_int_equal(mcp_call_progress(call, &second), MCP_OK);
    conversation_expect(&c, "");
    int64_t due = mcp__dispatch_tick(&c.session, now_ms);
    assert_int_equal(due, now_ms + 20);
    (void)mcp__dispatch_tick(&c.session, due);
    conversation_expect(&c, NOTE("\"progress\":2"));
    c.peer.is_slow = true;
    assert_int_equal(mcp_call_progress(call, &third), MCP_OK);
    (void)mcp__dispatch_tick(&c.session, due + 1000);
    conversation_expect(&c, "");
    c.peer.is_slow = false;
    (void)mcp__dispatch_tick(&c.session, due + 1001);
    conversation_expect(&c, NOTE("\"progress\":3"));
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, RESULT("wanted"));
}

static void after_the_end_of_a_call_no_report_leaves(void **state)
{
    mcp_progress progress = { .progress = 1, .every = true };

    (void)state;
    c.executor.is_held = true;
    conversation_say(&c, CALL(TOKEN, "{}"));
    mcp_call *call = TAILQ_FIRST(&c.session.calls.open);
    conversation_ask(
        &c,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}",
        "");
    assert_int_equal(mcp_call_progress(call, &progress), MCP_OK);
    assert_true(mcp__inline_step(&c.executor));
    conversation_expect(&c, "");
}

static void a_report_of_a_batch_leaves_at_once(void **state)
{
    (void)state;
    conversation_ask(&c, "[" CALL(TOKEN, "{\"values\":[1]}") "]",
                     NOTE("\"progress\":1") "[" RESULT("wanted") "]");
}

/* ---- log messages ---------------------------------------------------------------------------- */

static mcp_status log_at_odd_levels(mcp_call *call, void *data)
{
    (void)data;
    assert_int_equal(mcp_call_log(call, (mcp_level)99, NULL, "x"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_log_json(call, (mcp_level)9, NULL, "{}"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_log(call, MCP_LEVEL_NONE, NULL, "x"), MCP_OK); /* below any level */
    assert_int_equal(mcp_call_log(call, MCP_LEVEL_EMERGENCY, NULL, "x"), MCP_OK);
    return mcp_call_text(call, "logged");
}

/* A message without a level of the protocol would be refused by clients. */
static void a_level_that_there_is_not_is_refused(void **state)
{
    static const mcp_server_options options = { .name = "n", .version = "1", .logging = true };
    static const mcp_tool row[] = { { "report", log_at_odd_levels, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_features logs = { .files = files, .tools = row };

    (void)state;
    conversation_open(&c, &options, &logs);
    conversation_initialize(&c, "2025-06-18");
    conversation_ask(&c, CALL(TOKEN, "{}"),
                     "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":"
                     "{\"level\":\"emergency\",\"data\":\"x\"}}\n" RESULT("logged"));
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_token_nothing_is_reported, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_token_keeps_its_type, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_members_of_a_report, set_up, tear_down),
        cmocka_unit_test_setup_teardown(metadata_is_one_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_does_not_rise_is_dropped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_few_reports_leave_when_they_are_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_burst_is_thinned_to_its_newest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_slow_client_gets_the_newest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_held_back_leaves_when_it_may, set_up, tear_down),
        cmocka_unit_test_setup_teardown(after_the_end_of_a_call_no_report_leaves, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_report_of_a_batch_leaves_at_once, set_up, tear_down),
        cmocka_unit_test(a_level_that_there_is_not_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
