/*
 * test_rest_fields.c - what a route's handler reads of its request and says of its answer, over
 * real sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/core/call/call_int.h"
#include "rig.h"
#include "web_rig.h"

#define LARGE ((size_t)80 * 1024 * 1024) /* more than a connection queues of anything else */
#define PIECE ((size_t)1024 * 1024)

/* ---- handlers -------------------------------------------------------------------------------- */

static mcp_status show_request(mcp_call *call, void *data)
{
    mcp_json_writer *result = mcp_call_result(call);
    const char *missing = mcp_call_header(call, "X-Missing");
    size_t length = 0;

    (void)data;
    (void)mcp_call_body(call, &length);
    mcp_write_member_string(result, "path", mcp_call_path(call));
    mcp_write_member_string(result, "id", mcp_arg_string(call, "id"));
    mcp_write_member_string(result, "match", mcp_call_header(call, "if-match"));
    mcp_write_member_string(result, "empty", mcp_call_header(call, "X-EMPTY"));
    mcp_write_member_string(result, "missing", missing ? missing : "(none)");
    mcp_write_member_int(result, "length", (int64_t)length);
    return MCP_OK;
}

static mcp_status tagged(mcp_call *call, void *data)
{
    const char *known = mcp_call_header(call, "If-None-Match");

    (void)data;
    assert_int_equal(mcp_call_header_set(call, "ETag", "\"v0\""), MCP_OK);
    assert_int_equal(mcp_call_header_set(call, "etag", "\"v1\""), MCP_OK);
    assert_int_equal(mcp_call_header_set(call, "Location", "/tagged"), MCP_OK);
    assert_int_equal(mcp_call_header_set(call, "X-Taken", "back"), MCP_OK);
    assert_int_equal(mcp_call_header_set(call, "x-taken", NULL), MCP_OK);
    if (known && strcmp(known, "\"v1\"") == 0) {
        mcp_call_status(call, 304);
        return MCP_OK;
    }
    return mcp_call_send(call, "text/plain", "one", 3);
}

/* No field can be forged, and what frames the answer cannot be said. */
static mcp_status forge(mcp_call *call, void *data)
{
    char name[32];

    (void)data;
    assert_int_equal(mcp_call_header_set(call, "X-A", "a\r\nX-Injected: b"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_header_set(call, "X-A: b\r\nX", "c"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_header_set(call, "", "c"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_header_set(call, "Content-Length", "5"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_header_set(call, "transfer-encoding", "chunked"), MCP_E_PARAMS);
    assert_int_equal(mcp_call_send(call, "text/plain\r\nX-Injected: b", "x", 1), MCP_E_PARAMS);
    for (int i = 0; i < 16; i++) {
        (void)snprintf(name, sizeof name, "X-Field-%d", i);
        assert_int_equal(mcp_call_header_set(call, name, "1"), MCP_OK);
    }
    assert_int_equal(mcp_call_header_set(call, "X-Field-16", "1"), MCP_E_LIMIT);
    mcp_call_status(call, 429);
    return mcp_error_set(mcp_call_error(call), MCP_E_BUSY, "too many");
}

static mcp_status give_large(mcp_call *call, void *data)
{
    mcp_buf body;

    (void)data;
    mcp_buf_init(&body, LARGE);
    char *room = mcp_buf_reserve(&body, LARGE);
    assert_non_null(room);
    for (size_t i = 0; i < LARGE / PIECE; i++)
        memset(room + i * PIECE, (int)(i + 1), PIECE);
    mcp_buf_commit(&body, LARGE);
    mcp_status st = mcp_call_send_buf(call, "application/octet-stream", &body);
    assert_null(body.data);
    return st;
}

static mcp_status own_error(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_status(call, 422);
    mcp_write_member_string(mcp_call_result(call), "error", "in a form of my own");
    return MCP_OK;
}

static mcp_status refuse(mcp_call *call, void *data)
{
    (void)data;
    return mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "no such universe");
}

/* Of the fields that an answer has already none is replaced. */
static void add_fields(const mcp_problem *problem, const char *value)
{
    const char *mark = mcp_problem_header(problem, "x-mark");

    assert_int_equal(mcp_problem_header_set(problem, "X-App", value), MCP_OK);
    assert_int_equal(mcp_problem_header_set(problem, "x-app", "another"), MCP_OK);
    assert_int_equal(mcp_problem_header_set(problem, "X-Mark", mark), MCP_OK);
    assert_int_equal(mcp_problem_header_set(problem, "allow", NULL), MCP_OK);
    assert_int_equal(mcp_problem_header_set(problem, "content-type", "text/plain"), MCP_E_PARAMS);
    assert_int_equal(mcp_problem_header_set(problem, "X-Line", "a\r\nb: c"), MCP_E_PARAMS);
    if (problem->http_status == 405)
        assert_int_equal(mcp_problem_header_set(problem, "allow", "everything"), MCP_OK);
}

/* As many as there is room for, and more. */
static void add_many_fields(const mcp_problem *problem)
{
    char name[24];
    mcp_status st = MCP_OK;

    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "X-Field-%d", i);
        st = mcp_problem_header_set(problem, name, "of many");
    }
    assert_int_equal(st, MCP_E_LIMIT);
}

static mcp_status write_problem(mcp_buf *body, const char **mime_type, const mcp_problem *problem,
                                void *data)
{
    mcp_json_writer writer;

    *mime_type = "application/problem+json";
    if (problem->http_status != 414) /* the head of the request could not be read */
        add_fields(problem, data);
    else
        assert_int_equal(mcp_problem_header_set(problem, "X-App", data), MCP_E_UNSUPPORTED);
    if (problem->path && strcmp(problem->path, "/many") == 0)
        add_many_fields(problem);
    mcp_json_writer_init(&writer, body);
    mcp_write_object(&writer);
    mcp_write_member_int(&writer, "status", problem->http_status);
    mcp_write_member_string(&writer, "title", mcp_status_name(problem->status));
    mcp_write_member_string(&writer, "detail", problem->message);
    if (problem->path)
        mcp_write_member_string(&writer, "instance", problem->path);
    mcp_write_member_string(&writer, "app", data);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

static const mcp_route routes[] = { { "GET", "/things/{id}", show_request, MCP_READS, 0 },
                                    { "POST", "/things/{id}", show_request, MCP_READS, 0 },
                                    { "GET", "/tagged", tagged, MCP_READS, 0 },
                                    { "GET", "/forge", forge, MCP_READS, 0 },
                                    { "GET", "/large", give_large, MCP_READS, 0 },
                                    { "GET", "/own-error", own_error, MCP_READS, 0 },
                                    { "GET", "/refuse", refuse, MCP_READS, 0 },
                                    { 0 } };

/* ---- around each test ------------------------------------------------------------------------ */

static char app[] = "app";
static web_rig *server;
static web_answer answer;
static int port;

static void start(mcp_problem_writer *problem, size_t body_max)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    http.routes = routes;
    http.routes_data = app;
    http.problem = problem;
    http.limits.body_max_bytes = body_max;
    server = web_start(NULL, &http);
    port = web_port(server);
}

static int begin(void **state)
{
    (void)state;
    start(NULL, 1000);
    return 0;
}

static int begin_with_problems(void **state)
{
    (void)state;
    start(write_problem, (size_t)10 * 1024 * 1024);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(server) == MCP_OK ? 0 : -1;
}

static void expect(const char *method, const char *path, const char *fields, const char *body,
                   int status, const char *words)
{
    web_ask(&answer, port, method, path, fields, body);
    if (answer.status != status || strcmp(answer.body, words) != 0)
        fail_msg("%s %s: %d, %s", method, path, answer.status, answer.body);
}

static void expect_field(const char *name, const char *wanted)
{
    char value[128];

    assert_string_equal(web_field(&answer, name, value, sizeof value), wanted);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void requests_tell_their_fields(void **state)
{
    (void)state;
    expect("GET", "/things/a%2Fb", "IF-Match: \"v1\"\r\nIf-Match:   \"v2\"  \r\nX-Empty:\r\n", NULL,
           200,
           "{\"path\":\"/things/a%2Fb\",\"id\":\"a/b\",\"match\":\"\\\"v1\\\", \\\"v2\\\"\","
           "\"empty\":\"\",\"missing\":\"(none)\",\"length\":0}");
}

static void answers_have_the_fields_that_were_set(void **state)
{
    (void)state;
    expect("GET", "/tagged", NULL, NULL, 200, "one");
    expect_field("ETag", "\"v1\"");
    expect_field("Location", "/tagged");
    expect_field("X-Taken", "");
    expect("GET", "/tagged", "If-None-Match: \"v1\"\r\n", NULL, 304, "");
    expect_field("ETag", "\"v1\"");
    expect("HEAD", "/tagged", NULL, NULL, 200, "");
    expect_field("Content-Length", "3");
}

static void no_field_can_be_forged(void **state)
{
    (void)state;
    expect("GET", "/forge", NULL, NULL, 429,
           "{\"error\":{\"status\":\"E_BUSY\",\"message\":\"too many\"}}");
    expect_field("X-Injected", "");
    expect_field("X-Field-15", "1"); /* errors have what was set, too */
    expect_field("X-Field-16", "");
}

static void variables_may_be_long(void **state)
{
    static char path[8300];

    (void)state;
    memcpy(path, "/things/", 8);
    memset(path + 8, 'v', 4096);
    path[8 + 4096] = '\0';
    web_ask(&answer, port, "GET", path, "If-Match: *\r\nX-Empty:\r\n", NULL);
    assert_int_equal(answer.status, 200);
    const char *id = strstr(answer.body, "\"id\":\"");
    assert_non_null(id);
    assert_int_equal(strspn(id + 6, "v"), 4096);
    memset(path + 8, 'v', 8200);
    path[8 + 8200] = '\0';
    web_ask(&answer, port, "GET", path, NULL, NULL);
    assert_int_equal(answer.status, 414);
    assert_memory_equal(answer.body, "{\"error\":{\"status\":\"E_LIMIT\"", 28);
}

static void bodies_are_bounded_for_routes_and_for_mcp(void **state)
{
    static char body[1002];

    (void)state;
    memset(body, 'b', 1000);
    web_ask(&answer, port, "POST", "/things/1", "If-Match: *\r\nX-Empty:\r\n", body);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"length\":1000}"));
    body[1000] = 'b';
    expect("POST", "/things/1", NULL, body, 413,
           "{\"error\":{\"status\":\"E_LIMIT\",\"message\":\"the body is too large\"}}");
}

static void chunked_bodies_are_bounded_too(void **state)
{
    char out[2048];

    (void)state;
    int fd = web_begin(port, "POST", "/things/1", "Transfer-Encoding: chunked\r\n", NULL);
    assert_true(client_say(fd, "3e8\r\n"));
    for (int i = 0; i < 100; i++)
        assert_true(client_say(fd, "0123456789"));
    assert_true(client_say(fd, "\r\n1\r\nx\r\n"));
    client_read(fd, out, sizeof out, "too large");
    assert_memory_equal(out, "HTTP/1.1 413 ", 13);
    close(fd);
}

static void large_answers_leave_as_fast_as_they_are_read(void **state)
{
    static char head[4096];
    static char piece[PIECE], wanted[PIECE];

    (void)state;
    int fd = web_begin(port, "GET", "/large", "Connection: close\r\n", NULL);
    for (size_t length = 0; !strstr(head, "\r\n\r\n"); length++)
        client_read_exactly(fd, head + length, 1);
    assert_non_null(strstr(head, "\r\nContent-Length: 83886080\r\n"));
    for (size_t i = 0; i < LARGE / PIECE; i++) {
        client_read_exactly(fd, piece, PIECE);
        memset(wanted, (int)(i + 1), PIECE);
        assert_memory_equal(piece, wanted, PIECE);
    }
    assert_true(client_is_closed_within(fd, CLIENT_WAIT_MS));
    close(fd);
}

static void a_handler_may_write_its_own_errors(void **state)
{
    (void)state;
    expect("GET", "/own-error", NULL, NULL, 422, "{\"error\":\"in a form of my own\"}");
    expect_field("Content-Type", "application/json");
}

static void problems_have_the_programs_form(void **state)
{
    static char path[9000];

    (void)state;
    expect("GET", "/refuse?x=1", NULL, NULL, 404,
           "{\"status\":404,\"title\":\"E_NOT_FOUND\",\"detail\":\"no such universe\","
           "\"instance\":\"/refuse\",\"app\":\"app\"}");
    expect_field("Content-Type", "application/problem+json");
    expect_field("X-App", "app");
    expect("GET", "/nowhere", "X-Mark: one\r\n", NULL, 404,
           "{\"status\":404,\"title\":\"E_NOT_FOUND\",\"detail\":\"there is nothing at this path\","
           "\"instance\":\"/nowhere\",\"app\":\"app\"}");
    expect_field("X-App", "app");
    expect_field("X-Mark", "one");
    expect(
        "PUT", "/tagged", NULL, "{}", 405,
        "{\"status\":405,\"title\":\"E_METHOD\",\"detail\":\"this path does not have this method\","
        "\"instance\":\"/tagged\",\"app\":\"app\"}");
    expect_field("Allow", "GET, HEAD");
    expect_field("X-App", "app");
    expect("GET", "/tagged", "Host: evil.example\r\n", NULL, 403,
           "{\"status\":403,\"title\":\"E_DENIED\",\"detail\":\"this Host is not served\","
           "\"instance\":\"/tagged\",\"app\":\"app\"}");
    expect_field("X-App", "app");
    expect("GET", "/many", NULL, NULL, 404,
           "{\"status\":404,\"title\":\"E_NOT_FOUND\",\"detail\":\"there is nothing at this path\","
           "\"instance\":\"/many\",\"app\":\"app\"}");
    expect_field("X-Field-9", "of many");
    expect_field("Content-Type", "application/problem+json");
    memset(path, 'v', sizeof path - 1);
    path[0] = '/';
    web_ask(&answer, port, "GET", path, NULL, NULL);
    assert_int_equal(answer.status, 414);
    assert_memory_equal(answer.body, "{\"status\":414,\"title\":\"E_LIMIT\"", 31);
}

/* The bound of routes is larger than that of messages here: each holds where it belongs. */
static void a_message_keeps_its_own_bound(void **state)
{
    size_t length = (size_t)5 * 1024 * 1024;
    char *body = malloc(length + 1);

    (void)state;
    assert_non_null(body);
    memset(body, ' ', length);
    body[length] = '\0';
    web_ask(&answer, port, "POST", "/things/1", "If-Match: *\r\nX-Empty:\r\n", body);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"length\":5242880}"));
    web_ask(&answer, port, "POST", "/mcp", NULL, body);
    assert_int_equal(answer.status, 413);
    assert_non_null(strstr(answer.body, "\"jsonrpc\":\"2.0\""));
    free(body);
}

static void other_handlers_have_none_of_it(void **state)
{
    mcp_call call = { .plan.kind = &mcp__plain_kind };
    mcp_buf body;

    (void)state;
    mcp_buf_init(&body, 10);
    mcp_buf_puts(&body, "x");
    assert_null(mcp_call_header(&call, "Host"));
    assert_null(mcp_call_path(&call));
    assert_int_equal(mcp_call_header_set(&call, "X-A", "b"), MCP_E_UNSUPPORTED);
    assert_int_equal(mcp_call_send_buf(&call, "text/plain", &body), MCP_E_UNSUPPORTED);
    assert_null(body.data);
}

#define OVER_SOCKETS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SOCKETS(requests_tell_their_fields),
        OVER_SOCKETS(answers_have_the_fields_that_were_set),
        OVER_SOCKETS(no_field_can_be_forged),
        OVER_SOCKETS(variables_may_be_long),
        OVER_SOCKETS(bodies_are_bounded_for_routes_and_for_mcp),
        OVER_SOCKETS(chunked_bodies_are_bounded_too),
        OVER_SOCKETS(large_answers_leave_as_fast_as_they_are_read),
        OVER_SOCKETS(a_handler_may_write_its_own_errors),
        cmocka_unit_test_setup_teardown(problems_have_the_programs_form, begin_with_problems, end),
        cmocka_unit_test_setup_teardown(a_message_keeps_its_own_bound, begin_with_problems, end),
        cmocka_unit_test(other_handlers_have_none_of_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
