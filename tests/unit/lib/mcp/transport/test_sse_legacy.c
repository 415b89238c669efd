/*
 * test_sse_legacy.c - HTTP+SSE as revision 2024-11-05 has it.
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

#include "rig.h"
#include "web_rig.h"

static web_rig *rig_of_test;
static web_answer answer;
static int port;

static int begin(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    http.legacy_sse = true;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

/* Open the stream; where to post is in `address`. */
static int open_stream(char address[128])
{
    char text[4096];
    int fd = web_begin(port, "GET", "/sse", "Accept: text/event-stream\r\n", NULL);

    client_read(fd, text, sizeof(text), "\n\n");
    const char *event = strstr(text, "event: endpoint\ndata: ");
    assert_non_null(event);
    event += strlen("event: endpoint\ndata: ");
    (void)snprintf(address, 128, "%.*s", (int)strcspn(event, "\n"), event);
    assert_true(strncmp(address, "/messages?sessionId=", 20) == 0);
    return fd;
}

static void post(const char *address, const char *body, int status)
{
    web_ask(&answer, port, "POST", address, NULL, body);
    assert_int_equal(answer.status, status);
    assert_string_equal(answer.body, "");
}

static void answers_come_on_the_stream(void **state)
{
    char address[128];
    char text[16384];

    (void)state;
    int fd = open_stream(address);
    post(address,
         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
         "\"2024-11-05\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
         202);
    client_read(fd, text, sizeof(text), "\"protocolVersion\":\"2024-11-05\"");
    assert_non_null(strstr(text, "event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\"result\""));
    assert_null(strstr(text, "\nid: "));
    post(address, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}", 202);
    post(
        address,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","
        "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}",
        202);
    client_read(fd, text, sizeof(text), "\"progressToken\":7");
    web_release();
    client_read(fd, text, sizeof(text), "\"id\":1,\"result\"");
    post(address, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"nope\"}", 202);
    client_read(fd, text, sizeof(text), "-32601");
    close(fd);
}

static void bad_posts_have_their_status(void **state)
{
    char address[128];

    (void)state;
    int fd = open_stream(address);
    post(address, "{", 400);
    post("/messages", "{}", 404);
    post("/messages?sessionId=00000000000000000000000000000000", "{}", 404);
    post("/messages?xsessionId=00000000000000000000000000000000", "{}", 404);
    web_ask(&answer, port, "POST", address, "Content-Type: text/plain\r\n", "{}");
    assert_int_equal(answer.status, 415);
    web_ask(&answer, port, "GET", address, NULL, NULL);
    assert_int_equal(answer.status, 405);
    web_ask(&answer, port, "POST", "/sse", NULL, "{}");
    assert_int_equal(answer.status, 405);
    close(fd);
}

static void the_session_ends_with_the_stream(void **state)
{
    char address[128];
    char text[4096];

    (void)state;
    int fd = open_stream(address);
    post(
        address,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","
        "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}",
        202);
    client_read(fd, text, sizeof(text), "\"progressToken\":7");
    close(fd); /* cancels the call, too: nobody releases it */
    do {
        web_ask(&answer, port, "POST", address, NULL,
                "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    } while (answer.status == 202); /* until the server has seen that the stream is closed */
    assert_int_equal(answer.status, 404);
}

static void on_shutdown_the_answer_still_comes(void **state)
{
    char address[128];
    char text[4096];

    (void)state;
    (void)begin(NULL);
    int fd = open_stream(address);
    post(
        address,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","
        "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}",
        202);
    client_read(fd, text, sizeof(text), "\"progressToken\":7");
    assert_int_equal(web_end(rig_of_test), MCP_OK);
    client_read(fd, text, sizeof(text), "\r\n0\r\n\r\n");
    assert_non_null(strstr(text, "\"id\":1,\"result\""));
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(answers_come_on_the_stream, begin, end),
        cmocka_unit_test_setup_teardown(bad_posts_have_their_status, begin, end),
        cmocka_unit_test_setup_teardown(the_session_ends_with_the_stream, begin, end),
        cmocka_unit_test(on_shutdown_the_answer_still_comes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
