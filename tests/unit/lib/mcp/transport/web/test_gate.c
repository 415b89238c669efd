/*
 * test_gate.c - Host and Origin before everything else, on every path. Which names are known is
 * field.c's; what browsers are told stands in tests/wire/http/cors.txt too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "rig.h"
#include "scratch.h"
#include "web_rig.h"

static web_rig *rig_of_test;
static web_answer answer;
static int port;

static mcp_status hello(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_send(call, "text/plain", "hello", 5);
}

static const mcp_route routes[] = { { "GET", "/hello", hello, MCP_READS, 0 }, { 0 } };

static int begin(void **state)
{
    static const char *const hosts[] = { "srv.example", NULL };
    static const char *const origins[] = { "https://app.example", NULL };
    const mcp_http_options http = { .hosts = hosts,
                                    .origins = origins,
                                    .routes = routes,
                                    .metrics = true,
                                    .legacy_sse = true,
                                    .websocket = true };

    (void)state;
    rig_of_test = web_start(NULL, &http);
    port = web_port(rig_of_test);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static int ask(const char *method, const char *path, const char *fields)
{
    web_ask(&answer, port, method, path, fields, NULL);
    return answer.status;
}

static void every_path_is_behind_it(void **state)
{
    static const char *const paths[] = { "/mcp", "/sse", "/messages", "/ws", "/hello", "/nowhere" };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        assert_int_equal(ask("GET", paths[i], "Host: evil.example\r\n"), 403);
        assert_int_equal(ask("GET", paths[i], "Origin: https://evil.example\r\n"), 403);
    }
}

/* /hello of a good name is answered by its handler, so the refusals above were the gate's. */
static void who_is_known_passes(void **state)
{
    (void)state;
    assert_int_equal(ask("GET", "/hello", NULL), 200);
    assert_string_equal(answer.body, "hello");
    assert_int_equal(ask("GET", "/hello", "Origin: https://app.example\r\n"), 200);
    assert_int_equal(
        ask("GET", "/hello", "Origin: https://app.example\r\nOrigin: https://app.example\r\n"),
        403);
    assert_int_equal(ask("GET", "/hello", "Origin: \r\n"), 403);
}

/* Only for the origins of the options, and not for local pages that may call all the same. */
static void preflights_are_answered_for_named_origins(void **state)
{
    char value[256];

    (void)state;
    assert_int_equal(ask("OPTIONS", "/hello",
                         "Origin: https://app.example\r\n"
                         "Access-Control-Request-Method: GET\r\n"),
                     204);
    assert_string_equal(web_field(&answer, "Access-Control-Allow-Origin", value, sizeof(value)),
                        "https://app.example");
    assert_string_equal(web_field(&answer, "Vary", value, sizeof(value)), "Origin");
    assert_int_equal(ask("OPTIONS", "/hello",
                         "Origin: http://localhost:1\r\n"
                         "Access-Control-Request-Method: GET\r\n"),
                     405);
    assert_string_equal(web_field(&answer, "Access-Control-Allow-Origin", value, sizeof(value)),
                        "");
}

/* What the browser asks for is echoed for headers of our own family alone. */
static void headers_of_ours_are_echoed(void **state)
{
    char value[512];

    (void)state;
    assert_int_equal(ask("OPTIONS", "/mcp",
                         "Origin: https://app.example\r\n"
                         "Access-Control-Request-Headers: x-evil,MCP-PARAM-City , "
                         "mcp-paramour\r\n"),
                     204);
    web_field(&answer, "Access-Control-Allow-Headers", value, sizeof(value));
    assert_non_null(strstr(value, ", MCP-PARAM-City"));
    assert_null(strstr(value, "x-evil"));
    assert_null(strstr(value, "paramour"));
}

static void refusals_are_counted(void **state)
{
    (void)state;
    (void)ask("GET", "/hello", "Host: evil.example\r\n");
    (void)ask("GET", "/hello", NULL);
    (void)ask("GET", "/hello", "Origin: null\r\n");
    assert_int_equal(ask("GET", "/metrics", NULL), 200);
    assert_non_null(strstr(answer.body, "\nmcp_http_refused_total 2\n"));
}

/* No browser gets to a socket in the file system; its mode guards it. */
static void a_unix_socket_has_no_gate(void **state)
{
    static char path[SCRATCH_PATH_MAX + 8];
    char text[1024];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&folder, "socket"));
    const mcp_http_options http = { .unix_path = path, .routes = routes };
    web_rig *server = web_start(NULL, &http);
    int fd = client_open_unix(path);
    assert_true(client_say(fd,
                           "GET /hello HTTP/1.1\r\nHost: any\r\nOrigin: https://evil.example\r\n"
                           "Connection: close\r\n\r\n"));
    client_read(fd, text, sizeof(text), "hello");
    assert_non_null(strstr(text, "HTTP/1.1 200 "));
    (void)close(fd);
    assert_int_equal(web_end(server), MCP_OK);
    scratch_close(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_path_is_behind_it, begin, end),
        cmocka_unit_test_setup_teardown(who_is_known_passes, begin, end),
        cmocka_unit_test_setup_teardown(preflights_are_answered_for_named_origins, begin, end),
        cmocka_unit_test_setup_teardown(headers_of_ours_are_echoed, begin, end),
        cmocka_unit_test_setup_teardown(refusals_are_counted, begin, end),
        cmocka_unit_test(a_unix_socket_has_no_gate),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
