/*
 * test_rest.c - REST routes and probes next to MCP, over real sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"
#include "web_rig.h"

static mcp_status show(mcp_call *call, void *data)
{
    mcp_json_writer *result = mcp_call_result(call);

    mcp_write_member_string(result, "id", mcp_arg_string(call, "id"));
    mcp_write_member_string(result, "q", mcp_arg_string(call, "q"));
    mcp_write_member_string(result, "data", data);
    return MCP_OK;
}

static mcp_status keep(mcp_call *call, void *data)
{
    const mcp_json *body = mcp_call_body_json(call, mcp_call_error(call));

    (void)data;
    if (!body)
        return MCP_E_PARAMS;
    mcp_call_status(call, 201);
    mcp_write_member_value(mcp_call_result(call), "kept", body);
    return MCP_OK;
}

static mcp_status page(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_send(call, "text/html", "<p>", 3);
}

/* One function for several routes. */
static mcp_status tell_route(mcp_call *call, void *data)
{
    const mcp_route *route = mcp_call_route(call);

    (void)data;
    mcp_write_member_string(mcp_call_result(call), "route", route->path);
    mcp_write_member_int(mcp_call_result(call), "flags", route->flags & MCP_WRITES);
    return MCP_OK;
}

static mcp_status none(mcp_call *call, void *data)
{
    (void)call;
    (void)data;
    return MCP_OK;
}

static mcp_status go_wrong(mcp_call *call, void *data)
{
    const char *how = mcp_arg_string(call, "how");

    (void)data;
    if (strcmp(how, "missing") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "there is no such thing");
    if (strcmp(how, "secret") == 0)
        return mcp_error_set(mcp_call_error(call), MCP_E_IO, "disk /dev/secret is broken");
    if (strcmp(how, "conflict") == 0) {
        mcp_call_status(call, 409);
        return mcp_error_set(mcp_call_error(call), MCP_E_PARAMS, "changed meanwhile");
    }
    return mcp_call_tool_error(call, "no, because %s", how);
}

static mcp_status slow(mcp_call *call, void *data)
{
    (void)data;
    while (mcp_call_stop(call) == MCP_STOP_NONE)
        usleep(1000);
    return MCP_OK;
}

static const mcp_route routes[] = { { "GET", "/things/{id}", show, MCP_READS, 0 },
                                    { "POST", "/things", keep, MCP_READS, 0 },
                                    { "PUT", "/things/{id}", keep, MCP_WRITES, 0 },
                                    { "PUT", "/raw", page, MCP_READS | MCP_RAW_BODY, 0 },
                                    { "GET", "/page", page, MCP_READS, 0 },
                                    { "GET", "/told/{id}", tell_route, MCP_READS, 0 },
                                    { "GET", "/told", tell_route, MCP_READS, 0 },
                                    { "DELETE", "/page", none, MCP_READS, 0 },
                                    { "GET", "/fail/{how}", go_wrong, MCP_READS, 0 },
                                    { "GET", "/slow", slow, MCP_READS, 100 },
                                    { "GET", "/left", slow,
                                      MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP, 0 },
                                    { 0 } };

static char app[] = "app";
static web_rig *rig_of_test;
static web_answer answer;
static int port;

static int begin(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    http.routes = routes;
    http.routes_data = app;
    http.health = http.metrics = true;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
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
    web_ask(&answer, port, method, path, NULL, body);
    if (answer.status != status || strcmp(answer.body, words) != 0)
        fail_msg("%s %s: %d, %s", method, path, answer.status, answer.body);
}

static void routes_are_answered(void **state)
{
    char value[64];

    (void)state;
    expect("GET", "/things/a%20b?q=x+y", NULL, 200,
           "{\"id\":\"a b\",\"q\":\"x y\",\"data\":\"app\"}");
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof value),
                        "application/json");
    expect("GET", "/told/1", NULL, 200, "{\"route\":\"/told/{id}\",\"flags\":0}");
    expect("GET", "/told", NULL, 200, "{\"route\":\"/told\",\"flags\":0}");
    expect("POST", "/things", "{\"n\":1}", 201, "{\"kept\":{\"n\":1}}");
    expect("GET", "/page", NULL, 200, "<p>");
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof value), "text/html");
    expect("HEAD", "/page", NULL, 200, "");
    expect("DELETE", "/page", NULL, 204, "");
}

static void faults_have_their_status_and_tell_no_secrets(void **state)
{
    char value[64];

    (void)state;
    expect("GET", "/fail/missing", NULL, 404,
           "{\"error\":{\"status\":\"E_NOT_FOUND\",\"message\":\"there is no such thing\"}}");
    expect("GET", "/fail/conflict", NULL, 409,
           "{\"error\":{\"status\":\"E_PARAMS\",\"message\":\"changed meanwhile\"}}");
    expect("GET", "/fail/me", NULL, 400,
           "{\"error\":{\"status\":\"E_PARAMS\",\"message\":\"no, because me\"}}");
    expect("GET", "/fail/secret", NULL, 500,
           "{\"error\":{\"status\":\"E_IO\",\"message\":\"input/output error\"}}");
    expect("PUT", "/things/1", "{}", 403,
           "{\"error\":{\"status\":\"E_DENIED\",\"message\":\"write operations are disabled\"}}");
    web_ask(&answer, port, "POST", "/things", NULL, "{");
    assert_int_equal(answer.status, 400);
    expect(
        "GET", "/nothing", NULL, 404,
        "{\"error\":{\"status\":\"E_NOT_FOUND\",\"message\":\"there is nothing at this path\"}}");
    expect("PATCH", "/page", NULL, 405,
           "{\"error\":{\"status\":\"E_METHOD\","
           "\"message\":\"this path does not have this method\"}}");
    assert_string_equal(web_field(&answer, "Allow", value, sizeof value), "GET, HEAD, DELETE");
    web_ask(&answer, port, "GET", "/things/%00", NULL, NULL);
    assert_int_equal(answer.status, 400);
}

static void time_limits_hold(void **state)
{
    (void)state;
    expect("GET", "/slow", NULL, 504,
           "{\"error\":{\"status\":\"E_TIMEOUT\",\"message\":\"timed out\"}}");
}

static void a_hang_up_stops_those_that_want_it(void **state)
{
    (void)state;
    int fd = web_begin(port, "GET", "/left", NULL, NULL);
    usleep(50 * 1000);
    close(fd); /* otherwise the server would need its grace time to end */
}

static void the_gate_is_for_routes_too(void **state)
{
    (void)state;
    web_ask(&answer, port, "GET", "/page", "Host: evil.example\r\n", NULL);
    assert_int_equal(answer.status, 403);
    web_ask(&answer, port, "GET", "/page", "Origin: https://evil.example\r\n", NULL);
    assert_int_equal(answer.status, 403);
}

static void probes_answer_any_host(void **state)
{
    (void)state;
    web_ask(&answer, port, "GET", "/health", "Host: 10.0.0.7:8080\r\n", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "{\"status\":\"ok\"}");
    web_ask(&answer, port, "GET", "/metrics", "Host: 10.0.0.7:8080\r\n", NULL);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "# TYPE mcp_http_requests_total counter\n"
                                        "mcp_http_requests_total 2\n"));
    web_ask(&answer, port, "POST", "/health", NULL, "{}");
    assert_int_equal(answer.status, 405);
}

/* Any page may have a browser send text/plain, a form, or a body without a type. */
static void bodies_are_json_unless_the_route_takes_others(void **state)
{
    static const struct {
        const char *method, *path, *fields, *body;
        int status;
    } rows[] = {
        { "POST", "/things", "Content-Type: text/plain;charset=UTF-8\r\n", "{}", 415 },
        { "POST", "/things", "Content-Type: application/x-www-form-urlencoded\r\n", "{}", 415 },
        { "POST", "/things", "Content-Type:\r\n", "{}", 415 },
        { "POST", "/things", "Content-Type: application/json; charset=utf-8\r\n", "{}", 201 },
        { "POST", "/things", "Content-Type: application/merge-patch+json\r\n", "{}", 201 },
        { "DELETE", "/page", "Content-Type: text/plain\r\n", "", 204 },
        { "PUT", "/raw", "Content-Type: application/octet-stream\r\n", "{", 200 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        web_ask(&answer, port, rows[i].method, rows[i].path, rows[i].fields, rows[i].body);
        if (answer.status != rows[i].status)
            fail_msg("row %zu: %d is not %d", i, answer.status, rows[i].status);
    }
}

static void probes_are_there_when_asked_for(void **state)
{
    (void)state;
    rig_of_test = web_start(NULL, NULL);
    web_ask(&answer, web_port(rig_of_test), "GET", "/health", NULL, NULL);
    assert_int_equal(answer.status, 404);
    assert_int_equal(web_end(rig_of_test), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(routes_are_answered, begin, end),
        cmocka_unit_test_setup_teardown(faults_have_their_status_and_tell_no_secrets, begin, end),
        cmocka_unit_test_setup_teardown(time_limits_hold, begin, end),
        cmocka_unit_test_setup_teardown(a_hang_up_stops_those_that_want_it, begin, end),
        cmocka_unit_test_setup_teardown(the_gate_is_for_routes_too, begin, end),
        cmocka_unit_test_setup_teardown(probes_answer_any_host, begin, end),
        cmocka_unit_test_setup_teardown(bodies_are_json_unless_the_route_takes_others, begin, end),
        cmocka_unit_test(probes_are_there_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
