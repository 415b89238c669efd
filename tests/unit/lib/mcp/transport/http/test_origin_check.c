/*
 * test_origin_check.c - Host, Origin and Sec-Fetch-Site before everything else, on every path. The
 * CORS answers are in tests/wire/http/cors.txt too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/transport/http/header_fields.h"
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

static const mcp_route routes[] = { { "GET", "/hello", hello, MCP_READS, 0 },
                                    { "POST", "/hello", hello, MCP_READS, 0 },
                                    { 0 } };

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
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(ask("GET", paths[i], "Host: evil.example\r\n"), 403);
        assert_int_equal(ask("GET", paths[i], "Origin: https://evil.example\r\n"), 403);
    }
}

/* /hello of a good name is answered by its handler, so the refusals above were the check's. */
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

static int ask_from(const char *method, const char *path, const char *local, int origin_port)
{
    char fields[160];

    (void)snprintf(fields, sizeof fields, "Origin: http://%s:%d\r\n", local, origin_port);
    return ask(method, path, fields);
}

/* A page of another port of this machine is another origin. */
static void only_the_own_port_is_the_own_origin(void **state)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "[::1]" };
    static const char *const paths[] = { "/mcp", "/sse", "/messages", "/ws", "/hello" };

    (void)state;
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++) {
        assert_int_equal(ask_from("GET", "/hello", local[i], port), 200);
        for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++) {
            assert_int_not_equal(ask_from("POST", paths[j], local[i], port), 403);
            assert_int_equal(ask_from("POST", paths[j], local[i], port + 1), 403);
            assert_int_equal(ask_from("GET", paths[j], local[i], port + 1), 403);
        }
    }
    assert_int_equal(ask("POST", "/hello", "Origin: http://127.0.0.1\r\n"), 403);
}

/* What the client calls the server by is its origin: behind a forwarded port, and behind a
 * proxy. */
static void the_host_of_the_request_is_its_own_origin(void **state)
{
    (void)state;
    assert_int_equal(ask("POST", "/hello", "Host: localhost:9\r\nOrigin: http://localhost:9\r\n"),
                     200);
    assert_int_equal(ask("POST", "/hello", "Host: localhost:9\r\nOrigin: http://127.0.0.1:9\r\n"),
                     403);
    assert_int_equal(
        ask("POST", "/hello", "Host: srv.example:8\r\nOrigin: https://SRV.example:8\r\n"), 200);
    assert_int_equal(ask("POST", "/hello", "Origin: https://srv.example\r\n"), 200);
    assert_int_equal(ask("POST", "/hello", "Origin: https://srv.example:443\r\n"), 200);
    assert_int_equal(ask("POST", "/hello", "Origin: https://srv.example:8443\r\n"), 403);
}

/* Requests of pages without an Origin: a browser says by Sec-Fetch-Site where the page is from. */
static void sec_fetch_site_stands_in_for_an_absent_origin(void **state)
{
    static const char *const foreign[] = { "cross-site", "same-site", "", "x" };
    static const char *const paths[] = { "/mcp", "/sse", "/messages", "/ws" };
    char fields[80];

    (void)state;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        (void)snprintf(fields, sizeof fields, "Sec-Fetch-Site: %s\r\n", foreign[i]);
        assert_int_equal(ask("POST", "/hello", fields), 403);
        assert_int_equal(ask("GET", "/hello", fields), 200); /* a link to a page of the server */
        assert_int_equal(ask("HEAD", "/hello", fields), 200);
        for (size_t j = 0; j < sizeof paths / sizeof paths[0]; j++)
            assert_int_equal(ask("GET", paths[j], fields), 403);
    }
    assert_int_equal(ask("POST", "/hello", "Sec-Fetch-Site: same-origin\r\n"), 200);
    assert_int_equal(ask("POST", "/hello", "Sec-Fetch-Site: none\r\n"), 200);
    assert_int_not_equal(ask("GET", "/mcp", "Sec-Fetch-Site: none\r\n"), 403);
    assert_int_equal(
        ask("POST", "/hello", "Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n"), 403);
    assert_int_equal(
        ask("POST", "/hello", "Origin: https://app.example\r\nSec-Fetch-Site: cross-site\r\n"),
        200);
}

/* Only for the origins of the options. */
static void preflights_are_answered_for_named_origins(void **state)
{
    char value[256];

    (void)state;
    assert_int_equal(ask("OPTIONS", "/hello",
                         "Origin: https://app.example\r\n"
                         "Access-Control-Request-Method: GET\r\n"),
                     204);
    assert_string_equal(web_field(&answer, "Access-Control-Allow-Origin", value, sizeof value),
                        "https://app.example");
    assert_string_equal(web_field(&answer, "Vary", value, sizeof value), "Origin");
    assert_int_equal(ask("OPTIONS", "/hello",
                         "Origin: http://localhost:1\r\n"
                         "Access-Control-Request-Method: GET\r\n"),
                     403);
    assert_string_equal(web_field(&answer, "Access-Control-Allow-Origin", value, sizeof value), "");
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
    web_field(&answer, "Access-Control-Allow-Headers", value, sizeof value);
    assert_non_null(strstr(value, ", MCP-PARAM-City"));
    assert_non_null(strstr(value, ", Idempotency-Key, X-Correlation-Id, traceparent, tracestate"));
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
static void a_unix_socket_is_not_checked(void **state)
{
    static char path[SCRATCH_PATH_MAX + 8];
    char text[1024];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    (void)snprintf(path, sizeof path, "%s", scratch_path(&folder, "socket"));
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

static void hosts_are_names_in_full(void **state)
{
    static const char *const hosts[] = { "mcp.example", NULL };
    static const char *const good[] = { "localhost", "LocalHost:80", "127.0.0.1:65535", "[::1]",
                                        "[::1]:1",   "mcp.example",  "MCP.EXAMPLE:443" };
    static const char *const bad[] = { "",
                                       "localhost.",
                                       "localhost:",
                                       "localhost:x",
                                       "localhost:123456",
                                       "localhost.evil.example",
                                       "evil.example",
                                       "[::2]",
                                       "[::1",
                                       "[::1]x",
                                       "127.0.0.2",
                                       "mcp.example.evil",
                                       "a@localhost",
                                       "localhost:80:80",
                                       ":80",
                                       "localhost/" };

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(mcp__host_is_known(good[i], hosts));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(mcp__host_is_known(bad[i], hosts));
    assert_false(mcp__host_is_known("mcp.example", NULL));
}

static void only_web_origins_of_the_server_are_its_own(void **state)
{
    static const char *const hosts[] = { "mcp.example", "dev.example:8443", NULL };
    static const struct {
        const char *origin, *host;
        bool is_own;
    } rows[] = {
        { "http://localhost:4711", "127.0.0.1:4711", true },
        { "HTTPS://[::1]:4711", "localhost", true },
        { "http://localhost:4712", "127.0.0.1:4711", false },
        { "http://localhost:4712", "localhost:4712", true },
        { "http://localhost:4712", "127.0.0.1:4712", false },
        { "http://localhost", "localhost", true },
        { "https://localhost", "localhost:443", true },
        { "http://localhost", "localhost:443", false },
        { "https://mcp.example", "127.0.0.1:4711", true },
        { "http://MCP.example:80", "127.0.0.1:4711", true },
        { "https://mcp.example:80", "127.0.0.1:4711", false },
        { "https://mcp.example:9", "mcp.example:9", true },
        { "https://dev.example:8443", "127.0.0.1:4711", true },
        { "https://dev.example", "127.0.0.1:4711", false },
        { "null", "localhost", false },
        { "", "localhost", false },
        { "localhost:4711", "localhost:4711", false },
        { "file://localhost:4711", "localhost:4711", false },
        { "http://", "localhost", false },
        { "http://:4711", "localhost", false },
        { "http://localhost:4711/", "localhost:4711", false },
        { "http://evil.example", "localhost", false },
        { "https://localhost@evil.example", "localhost", false },
        { "http://localhost evil", "localhost", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (mcp__origin_is_own(rows[i].origin, rows[i].host, 4711, hosts) != rows[i].is_own)
            fail_msg("row %zu", i);
    assert_false(mcp__origin_is_own("http://localhost:0", "127.0.0.1:8", 0, NULL));
    assert_true(mcp__host_is_known("dev.example:8443", hosts));
    assert_false(mcp__host_is_known("dev.example:9", hosts));
    assert_false(mcp__host_is_known("dev.example", hosts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_path_is_behind_it, begin, end),
        cmocka_unit_test_setup_teardown(who_is_known_passes, begin, end),
        cmocka_unit_test_setup_teardown(only_the_own_port_is_the_own_origin, begin, end),
        cmocka_unit_test_setup_teardown(the_host_of_the_request_is_its_own_origin, begin, end),
        cmocka_unit_test_setup_teardown(sec_fetch_site_stands_in_for_an_absent_origin, begin, end),
        cmocka_unit_test_setup_teardown(preflights_are_answered_for_named_origins, begin, end),
        cmocka_unit_test_setup_teardown(headers_of_ours_are_echoed, begin, end),
        cmocka_unit_test_setup_teardown(refusals_are_counted, begin, end),
        cmocka_unit_test(a_unix_socket_is_not_checked),
        cmocka_unit_test(hosts_are_names_in_full),
        cmocka_unit_test(only_web_origins_of_the_server_are_its_own),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
