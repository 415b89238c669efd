/*
 * test_result_ended.c - what a program hears of the end of its calls: once each, by method, name
 * and kind of error.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "conversation.h"
#include "fixture.h"
#include "fixture_task.h"
#include "mcp/clock.h"

struct heard {
    int count;
    char last[200]; /* "method|name|error" */
    int64_t duration_ns;
    bool is_task;
};

static void hear(const mcp_call *call, const mcp_ended *ended, void *data)
{
    struct heard *heard = data;

    (void)call;
    heard->count++;
    heard->duration_ns = ended->duration_ns;
    heard->is_task = ended->is_task;
    (void)snprintf(heard->last, sizeof heard->last, "%s|%s|%s", ended->method,
                   ended->name ? ended->name : "-", ended->error_type ? ended->error_type : "-");
    assert_false(ended->is_route);
    assert_null(ended->session_id);
    assert_string_equal(ended->transport, "pipe");
}

static void open_heard(conversation *c, struct heard *heard)
{
    mcp_server_options options = {
        .name = "t", .version = "1", .limits.timeout_ms = 1000, .ended = hear, .ended_data = heard
    };

    *heard = (struct heard){ .count = 0 };
    conversation_open(c, &options, &fixture_features);
    c->peer.peer.transport = "pipe";
    conversation_initialize(c, "2025-06-18");
    assert_int_equal(heard->count, 1);
    assert_string_equal(heard->last, "initialize|-|-");
    heard->count = 0;
}

#define CALL(name, arguments)                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name         \
    "\",\"arguments\":" arguments "}}"

static void each_end_is_heard_once(void **state)
{
    static const struct {
        const char *text, *heard;
    } rows[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}", "ping|-|-" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"no/such\"}", "other|-|-32601" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
          "\"fix://text\"}}",
          "resources/read|-|-" },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"resources/read\",\"params\":{\"uri\":"
          "\"fix://none\"}}",
          "resources/read|-|-32002" },
        { CALL("fix/echo", "{\"text\":\"a\"}"), "tools/call|fix/echo|-" },
        { CALL("fix_echo", "{\"text\":\"a\"}"), "tools/call|fix/echo|-" },
        { CALL("fix/refuse", "{}"), "tools/call|fix/refuse|tool_error" },
        { CALL("fix/fail", "{\"status\":\"E_INTERNAL\"}"), "tools/call|fix/fail|-32603" },
        { CALL("fix/fail", "{\"status\":\"E_PARAMS\"}"), "tools/call|fix/fail|-32602" },
        { CALL("made/up", "{}"), "tools/call|-|-32602" },
    };
    struct heard heard;
    conversation c;

    (void)state;
    open_heard(&c, &heard);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        conversation_say(&c, rows[i].text);
        assert_string_equal(heard.last, rows[i].heard);
        assert_int_equal(heard.count, (int)i + 1);
        assert_true(heard.duration_ns >= 0);
    }
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    conversation_say(&c, "nonsense"); /* became no call */
    assert_int_equal(heard.count, (int)(sizeof rows / sizeof rows[0]));
    conversation_close(&c);
}

/* Its handler returns later, and that is no second end. */
static void late_and_cancelled_calls_end_before_their_handlers(void **state)
{
    struct heard heard;
    conversation c;

    (void)state;
    open_heard(&c, &heard);
    c.executor.is_held = true;
    conversation_say(&c, CALL("fix/echo", "{\"text\":\"a\"}"));
    assert_int_equal(heard.count, 0);
    (void)mcp__dispatch_tick(&c.session, mcp_clock_mono_ms() + 2000);
    assert_string_equal(heard.last, "tools/call|fix/echo|timeout");
    assert_true(mcp__inline_step(&c.executor));
    conversation_say(&c, CALL("fix/echo", "{\"text\":\"a\"}"));
    conversation_say(&c, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                         "\"requestId\":1}}");
    assert_string_equal(heard.last, "tools/call|fix/echo|cancelled");
    assert_int_equal(heard.count, 2);
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(heard.count, 2);
    conversation_close(&c);
}

#define TASK                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"task/plain\"," \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{\"extensions\":{"                             \
    "\"io.modelcontextprotocol/tasks\":{}}}}}}"

/* Not when its client is answered with the task. */
static void a_task_ends_with_its_result(void **state)
{
    struct heard heard;
    conversation c;

    (void)state;
    open_heard(&c, &heard);
    assert_int_equal(mcp_server_add(c.server, &fixture_task, NULL), MCP_OK);
    c.executor.is_held = true;
    conversation_say(&c, TASK);
    assert_int_equal(c.peer.answers, 1);
    assert_int_equal(heard.count, 0);
    assert_true(mcp__inline_step(&c.executor));
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.last, "tools/call|task/plain|-");
    assert_true(heard.is_task);
    conversation_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_end_is_heard_once),
        cmocka_unit_test(a_task_ends_with_its_result),
        cmocka_unit_test(late_and_cancelled_calls_end_before_their_handlers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
