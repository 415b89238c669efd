/*
 * test_web.c - what the server over HTTP refuses to begin with, where else it listens, and its bounds.
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

static web_answer answer;

static mcp_status try_to_serve(const mcp_http_options *http, mcp_error *err)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_server *server = NULL;

    options.name = options.version = "1";
    assert_int_equal(mcp_server_new(&server, &options, err), MCP_OK);
    mcp_status st = mcp_server_http(server, http, err);
    mcp_server_free(server);
    return st;
}

static void options_that_cannot_be_are_named(void **state)
{
    static const mcp_route nameless[] = { { "GET", "/x", NULL, 0, 0 }, { 0 } };
    static const mcp_http_auth open = { .scope = "x" };
    static const mcp_http_auth lost = { .tokens_file = "/nowhere/tokens" };
    static const struct {
        mcp_http_options http;
        mcp_status status;
        const char *words;
    } rows[] = {
        { { .path = "mcp" }, MCP_E_PARAMS, "must begin with /" },
        { { .host = "" }, MCP_E_PARAMS, "neither an address nor a socket" },
        { { .port = 65536 }, MCP_E_PARAMS, "65536" },
        { { .tls_key = "key.pem" }, MCP_E_PARAMS, "certificate and its key" },
        { { .host = "0.0.0.0" }, MCP_E_DENIED, "0.0.0.0" },
        { { .host = "127.evil.example" }, MCP_E_DENIED, "127.evil.example" },
        { { .host = "::" }, MCP_E_DENIED, "::" },
        { { .routes = nameless }, MCP_E_PARAMS, "/x" },
        { { .auth = &open }, MCP_E_PARAMS, "tokens or a verifier" },
        { { .auth = &lost }, MCP_E_NOT_FOUND, "/nowhere/tokens" },
        { { .tls_certificate = "/nowhere/c", .tls_key = "/nowhere/k" },
          MCP_E_PARAMS,
          "/nowhere/c" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = try_to_serve(&rows[i].http, &err);
        if (st != rows[i].status || !strstr(err.message, rows[i].words))
            fail_msg("row %zu: %s, %s", i, mcp_status_name(st), err.message);
    }
}

static void a_port_that_is_taken_is_told(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    web_rig *first = web_start(NULL, NULL);
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    http.port = web_port(first);
    assert_int_not_equal(try_to_serve(&http, &err), MCP_OK);
    assert_true(err.message[0] != '\0');
    assert_int_equal(web_end(first), MCP_OK);
}

static void a_socket_in_the_file_system_needs_no_host(void **state)
{
    static const char request[] =
        "POST /mcp HTTP/1.1\r\nHost: whatever\r\nContent-Type: application/json\r\n"
        "Connection: close\r\nContent-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}";
    static char path[SCRATCH_PATH_MAX + 8];
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char text[2048];
    scratch folder;

    (void)state;
    scratch_open(&folder);
    (void)snprintf(path, sizeof(path), "%s", scratch_path(&folder, "socket"));
    http.unix_path = path;
    web_rig *server = web_start(NULL, &http);
    int fd = client_open_unix(path);
    assert_true(client_say(fd, request));
    client_read(fd, text, sizeof(text), "Mcp-Session-Id header is required");
    close(fd);
    web_ask(&answer, web_port(server), "POST", "/mcp", "Host: whatever\r\n", "{}");
    assert_int_equal(answer.status, 403);
    assert_int_equal(web_end(server), MCP_OK);
    assert_int_not_equal(access(path, F_OK), 0);
    scratch_close(&folder);
}

static void messages_have_a_bound(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    static char body[2001];

    (void)state;
    options.message_max_bytes = 1000;
    web_rig *server = web_start(&options, NULL);
    memset(body, ' ', sizeof(body) - 1);
    body[999] = '\0';
    web_ask(&answer, web_port(server), "POST", "/mcp", NULL, body);
    assert_int_equal(answer.status, 400);
    body[999] = ' ';
    body[1000] = '\0';
    web_ask(&answer, web_port(server), "POST", "/mcp", NULL, body);
    assert_int_equal(answer.status, 400); /* blanks are no JSON, but may be sent */
    body[1000] = ' ';
    body[1001] = '\0';
    web_ask(&answer, web_port(server), "POST", "/mcp", NULL, body);
    assert_int_equal(answer.status, 413);
    assert_int_equal(web_end(server), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_cannot_be_are_named),
        cmocka_unit_test(a_port_that_is_taken_is_told),
        cmocka_unit_test(a_socket_in_the_file_system_needs_no_host),
        cmocka_unit_test(messages_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
