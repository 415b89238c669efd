/*
 * test_result.c - envelopes: results, errors that are reported and errors that are not, answers too
 * large.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "mcp/core/call/result.h"
#include "mcp/core/response.h"
#include "peer_memory.h"

static char logged[2000];

static void sink(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)data;
    (void)snprintf(logged, sizeof logged, "%s", message);
}

static mcp_server_options options = { .limits.reply_max_bytes = 1000,
                                      .log = { .sink = sink, .level = MCP_LOG_ERROR } };
static mcp__context context = { .options = &options };
static mcp_call *call;

static int set_up(void **state)
{
    (void)state;
    logged[0] = '\0';
    assert_int_equal(mcp__call_new(&call, mcp_arena_new(0), &context, NULL), MCP_OK);
    assert_int_equal(mcp_json_read(&call->request.id, call->arena, "5", 1, NULL), MCP_OK);
    call->request.method = "m";
    call->request.revision = MCP_2025_06_18;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__call_free(call);
    return 0;
}

static void expect(const char *reply)
{
    mcp__result_render(call);
    assert_non_null(call->answer.message.data);
    assert_string_equal(call->answer.message.data, reply);
}

static void a_result_is_embedded_as_it_was_written(void **state)
{
    (void)state;
    mcp_write_member_int(mcp_call_result(call), "a", 1);
    mcp_write_member_array(mcp_call_result(call), "b");
    expect("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"a\":1,\"b\":[]}}");
}

static void an_empty_result_is_an_object(void **state)
{
    (void)state;
    expect("{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{}}");
}

static void an_error_is_reported_in_its_words(void **state)
{
    (void)state;
    call->status = mcp_error_set(&call->err, MCP_E_PARAMS, "no \"x\" given");
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32602,\"message\":\"no \\\"x\\\" given\"}}");
    assert_string_equal(logged, "");
}

static void an_error_without_words_gets_the_constant_ones(void **state)
{
    (void)state;
    call->status = MCP_E_BUSY;
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"server busy\"}}");
}

static void causes_inside_the_server_go_to_the_log_alone(void **state)
{
    static const mcp_status hidden[] = { MCP_E_INTERNAL, MCP_E_IO, MCP_E_NOMEM };
    char wanted[200];

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        call->status = mcp_error_set(&call->err, hidden[i], "/secret/path is broken");
        if (i == 0)
            mcp_write_member_string(mcp_call_error_data(call), "secret", "x");
        (void)snprintf(
            wanted, sizeof wanted,
            "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"%s\"}}",
            mcp_status_words(hidden[i]));
        mcp_buf_reset(&call->answer.message);
        expect(wanted);
        assert_non_null(strstr(logged, "/secret/path is broken"));
        assert_non_null(strstr(logged, "m: "));
    }
}

static void an_error_may_have_data(void **state)
{
    (void)state;
    call->status = mcp_error_set(&call->err, MCP_E_RESOURCE, "resource not found");
    mcp_write_member_string(mcp_call_error_data(call), "uri", "x://y");
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32002,\"message\":\"resource not found\",\"data\":{\"uri\":\"x://y\"}}}");
}

static void an_answer_that_is_too_large_says_so(void **state)
{
    char text[1200];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    mcp_write_member_string(mcp_call_result(call), "a", text);
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the answer is larger than 1000 bytes: ask for less\"}}");
}

/* The result alone fits, the message around it does not. */
static void an_answer_may_be_too_large_by_its_envelope(void **state)
{
    char text[990];

    (void)state;
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    mcp_write_member_string(mcp_call_result(call), "a", text);
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the answer is larger than 1000 bytes: ask for less\"}}");
}

static void what_json_cannot_hold_is_our_fault(void **state)
{
    (void)state;
    mcp_write_member_double(mcp_call_result(call), "a", (double)NAN);
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"internal error\"}}");
    assert_non_null(strstr(logged, "JSON cannot"));
}

static void only_tools_refuse(void **state)
{
    (void)state;
    assert_int_equal(mcp_call_tool_error(call, "not today"), MCP_OK);
    expect("{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"not today\"}}");
}

/* As tools report failures. */
static void write_failure(mcp_json_writer *writer, const char *text, size_t length)
{
    mcp_write_name(writer, "failure");
    mcp_write_string_n(writer, text, length);
}

static const mcp__call_kind failing_kind = { .fail = write_failure };

static void a_time_out_of_a_tool_is_its_result(void **state)
{
    mcp__peer_memory client;

    (void)state;
    mcp__peer_memory_init(&client);
    call->peer = &client.peer;
    call->request.name = "t";
    call->plan.timeout_ms = 250;
    mcp__result_send_timeout(call);
    assert_string_equal(
        client.text.data,
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"t ran longer than its time limit of 250 ms\"}}\n");
    assert_int_equal(client.peer.fault, MCP_E_TIMEOUT);
    mcp__peer_memory_reset(&client);
    call->plan.kind = &failing_kind;
    mcp__result_send_timeout(call);
    assert_string_equal(
        client.text.data,
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{\"failure\":\"t ran longer than its time limit of 250 ms\"}}\n");
    mcp__peer_memory_clear(&client);
}

static void an_unknown_id_is_null_or_left_out(void **state)
{
    mcp_buf out;

    (void)state;
    mcp_buf_init(&out, 1000);
    assert_int_equal(
        mcp__response_write_error(&out, NULL, MCP_REVISION_NONE, MCP_E_PARSE, "x", NULL), MCP_OK);
    assert_string_equal(
        out.data,
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}");
    mcp_buf_reset(&out);
    assert_int_equal(mcp__response_write_error(&out, NULL, MCP_2025_11_25, MCP_E_PARSE, "x", NULL),
                     MCP_OK);
    assert_string_equal(out.data,
                        "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}");
    mcp_buf_clear(&out);
}

/* Not too long, and no page of it helps. */
static void a_result_that_is_nested_too_deeply_says_so(void **state)
{
    (void)state;
    for (int i = 0; i < MCP_JSON_DEPTH_MAX; i++)
        mcp_write_member_object(mcp_call_result(call), "a");
    expect(
        "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32603,\"message\":\"the answer has more than "
        "64 levels of arrays and objects\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_result_is_embedded_as_it_was_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_result_that_is_nested_too_deeply_says_so, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_empty_result_is_an_object, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_error_is_reported_in_its_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_error_without_words_gets_the_constant_ones, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(causes_inside_the_server_go_to_the_log_alone, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_error_may_have_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_that_is_too_large_says_so, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_may_be_too_large_by_its_envelope, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_json_cannot_hold_is_our_fault, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_tools_refuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_time_out_of_a_tool_is_its_result, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unknown_id_is_null_or_left_out, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
