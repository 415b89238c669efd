/*
 * test_rest_call.c - what a route's handler says of its answer, and what becomes of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "web_rig.h"

static mcp_status with_status(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_status(call, (int)strtol(mcp_arg_string(call, "status"), NULL, 10));
    mcp_write_member_bool(mcp_call_result(call), "here", true);
    return MCP_OK;
}

static mcp_status bare(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_status(call, 202);
    return MCP_OK;
}

/* How long the body is, whether it is JSON, or why not. */
static mcp_status weigh(mcp_call *call, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    size_t length = 7;
    const char *body = mcp_call_body(call, &length);
    const mcp_json *value = mcp_call_body_json(call, &err);
    mcp_json_writer *result = mcp_call_result(call);

    (void)data;
    mcp_write_member_bool(result, "there", body != NULL);
    mcp_write_member_int(result, "length", (int64_t)length);
    mcp_write_member_bool(result, "json", value != NULL);
    mcp_write_member_string(result, "fault", mcp_status_name(err.status));
    return MCP_OK;
}

static mcp_status twice(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_bool(mcp_call_result(call), "lost", true);
    (void)mcp_call_send(call, "text/plain", "first", 5);
    return mcp_call_send(call, "text/css", "a\0b", 3);
}

static mcp_status half(mcp_call *call, void *data)
{
    (void)data;
    mcp_write_member_array(mcp_call_result(call), "open");
    mcp_write_int(mcp_call_result(call), 1);
    return MCP_OK;
}

static mcp_status broken(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_status(call, 201);
    mcp_write_member_bool(mcp_call_result(call), "half", true);
    return mcp_error_set(mcp_call_error(call), MCP_E_INTERNAL, "the secret is 42");
}

/* Ignores the status, as handlers do that tools share. */
static mcp_status in_words(mcp_call *call, void *data)
{
    (void)data;
    if (mcp_arg_string(call, "with"))
        mcp_write_member_bool(mcp_call_result(call), "here", true);
    (void)mcp_call_text(call, "in words");
    return MCP_OK;
}

static const mcp_route routes[] = {
    { "GET", "/words", in_words, MCP_READS, 0 },
    { "GET", "/status/{status}", with_status, MCP_READS, 0 },
    { "GET", "/bare", bare, MCP_READS, 0 },
    { "POST", "/weigh", weigh, MCP_READS, 0 },
    { "GET", "/twice", twice, MCP_READS, 0 },
    { "GET", "/half", half, MCP_READS, 0 },
    { "GET", "/broken", broken, MCP_READS, 0 },
    { 0 },
};

static web_rig *rig_of_test;
static web_answer answer;

static int begin(void **state)
{
    const mcp_http_options http = { .routes = routes };

    (void)state;
    rig_of_test = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static void expect(const char *method, const char *path, const char *body, int status,
                   const char *words)
{
    web_ask(&answer, web_port(rig_of_test), method, path, NULL, body);
    if (answer.status != status || strcmp(answer.body, words) != 0)
        fail_msg("%s %s: %d, %s", method, path, answer.status, answer.body);
}

static void statuses_are_taken_within_their_range(void **state)
{
    (void)state;
    expect("GET", "/status/200", NULL, 200, "{\"here\":true}");
    expect("GET", "/status/599", NULL, 599, "{\"here\":true}");
    expect("GET", "/status/418", NULL, 418, "{\"here\":true}");
    expect("GET", "/status/199", NULL, 200, "{\"here\":true}");
    expect("GET", "/status/600", NULL, 200, "{\"here\":true}");
    expect("GET", "/bare", NULL, 202, "");
}

/* Without an error it would be an empty 204, and nobody would know why. */
static void words_alone_are_no_answer_of_a_route(void **state)
{
    (void)state;
    expect("GET", "/words", NULL, 500,
           "{\"error\":{\"status\":\"E_INTERNAL\",\"message\":\"internal error\"}}");
    expect("GET", "/words?with=x", NULL, 200, "{\"here\":true}");
}

static void a_body_is_there_or_not(void **state)
{
    (void)state;
    expect("POST", "/weigh", "", 200,
           "{\"there\":false,\"length\":0,\"json\":false,\"fault\":\"E_PARAMS\"}");
    expect("POST", "/weigh", "[1]", 200,
           "{\"there\":true,\"length\":3,\"json\":true,\"fault\":\"OK\"}");
    expect("POST", "/weigh", "[1", 200,
           "{\"there\":true,\"length\":2,\"json\":false,\"fault\":\"E_PARSE\"}");
}

static void what_is_sent_last_is_the_answer(void **state)
{
    char type[64];
    char length[16];

    (void)state;
    web_ask(&answer, web_port(rig_of_test), "GET", "/twice", NULL, NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(web_field(&answer, "Content-Type", type, sizeof type), "text/css");
    assert_string_equal(web_field(&answer, "Content-Length", length, sizeof length), "3");
    assert_memory_equal(answer.body, "a\0b", 3);
    expect("GET", "/half", NULL, 200, "{\"open\":[1]}");
}

static void a_failure_drops_what_was_begun_and_hides_its_cause(void **state)
{
    (void)state;
    expect("GET", "/broken", NULL, 500,
           "{\"error\":{\"status\":\"E_INTERNAL\",\"message\":\"internal error\"}}");
}

static mcp_status send_from_tool(mcp_call *call, void *data)
{
    mcp_error *err = mcp_call_error(call);
    size_t length = 7;

    (void)data;
    mcp_call_status(call, 418); /* nothing happens */
    assert_int_equal(mcp_call_send(call, "text/plain", "x", 1), MCP_E_UNSUPPORTED);
    assert_non_null(strstr(err->message, "route"));
    assert_null(mcp_call_body(call, &length));
    assert_int_equal(length, 0);
    assert_null(mcp_call_body_json(call, NULL));
    return mcp_call_text(call, "as tools do");
}

static void tools_have_no_bodies(void **state)
{
    static const char json[] =
        "{\"name\":\"t\",\"description\":\"T\",\"inputSchema\":{\"type\":\"object\"}}";
    static const mcp_file files[] = { { "tools/t.json", json, sizeof json - 1 }, { 0 } };
    static const mcp_tool tools[] = { { "t", send_from_tool, MCP_READS, 0, 0 }, { 0 } };
    const mcp_features features = { .files = files, .tools = tools };
    const mcp_http_options http = { .sessions = MCP_SESSIONS_OFF };

    (void)state;
    rig_of_test = web_start_with(NULL, &http, &features);
    expect("POST", "/mcp",
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\"}}",
           200,
           "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"content\":[{\"type\":\"text\",\"text\":"
           "\"as tools do\"}]}}");
    assert_int_equal(web_end(rig_of_test), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(statuses_are_taken_within_their_range, begin, end),
        cmocka_unit_test_setup_teardown(words_alone_are_no_answer_of_a_route, begin, end),
        cmocka_unit_test_setup_teardown(a_body_is_there_or_not, begin, end),
        cmocka_unit_test_setup_teardown(what_is_sent_last_is_the_answer, begin, end),
        cmocka_unit_test_setup_teardown(a_failure_drops_what_was_begun_and_hides_its_cause, begin,
                                        end),
        cmocka_unit_test(tools_have_no_bodies),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
