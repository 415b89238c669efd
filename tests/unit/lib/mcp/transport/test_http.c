/*
 * test_http.c - what the server over HTTP refuses to begin with, where else it listens, and its
 * bounds.
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
#include "web_client.h"
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
    static const int closed = 999;
    static const mcp_http_auth lost = { .tokens_file = "/nowhere/tokens" };
    static const char *const slashed[] = { "https://a.example", "https://app.example/", NULL };
    static const char *const bare[] = { "localhost:5173", NULL };
    static const char *const any[] = { "*", NULL };
    static const char *const null[] = { "null", NULL };
    static const char *const large[] = { "https://App.example", NULL };
    static const char *const standard[] = { "https://app.example:443", NULL };
    static const char *const url[] = { "http://app.example", NULL };
    static const char *const empty[] = { "app.example", "", NULL };
    static const struct {
        mcp_http_options http;
        mcp_status status;
        const char *words;
    } rows[] = {
        { { .origins = slashed }, MCP_E_PARAMS, "origin \"https://app.example/\"" },
        { { .origins = bare }, MCP_E_PARAMS, "localhost:5173" },
        { { .origins = any }, MCP_E_PARAMS, "\"*\"" },
        { { .origins = null }, MCP_E_PARAMS, "\"null\"" },
        { { .origins = large }, MCP_E_PARAMS, "App.example" },
        { { .origins = standard }, MCP_E_PARAMS, ":443" },
        { { .hosts = url }, MCP_E_PARAMS, "\"http://app.example\" is no name" },
        { { .hosts = any }, MCP_E_PARAMS, "\"*\" is no name" },
        { { .hosts = empty }, MCP_E_PARAMS, "\"\" is no name" },
        { { .path = "mcp" }, MCP_E_PARAMS, "must begin with /" },
        { { .path = "/mcp/" }, MCP_E_PARAMS, "must not end with /: /mcp/" },
        { { .path = "/mcp?x" }, MCP_E_PARAMS, "/mcp?x" },
        { { .path = "/m cp" }, MCP_E_PARAMS, "has a byte that no path" },
        { { .limits.connections_max = -1 }, MCP_E_PARAMS, "negative" },
        { { .limits.sessions_max = -1 }, MCP_E_PARAMS, "negative" },
        { { .limits.session_idle_ms = -1 }, MCP_E_PARAMS, "negative" },
        { { .limits.keepalive_ms = -1 }, MCP_E_PARAMS, "negative" },
        { { .limits.stream_after_ms = -1 }, MCP_E_PARAMS, "negative" },
        { { .host = "" }, MCP_E_PARAMS, "neither an address nor a socket" },
        { { .port = 65536 }, MCP_E_PARAMS, "65536" },
        { { .sockets = &closed, .socket_count = 1 }, MCP_E_PARAMS, "descriptor 999" },
        { { .socket_count = 1 }, MCP_E_PARAMS, "none is given" },
        { { .sockets = &closed, .socket_count = 1, .host = "::1" },
          MCP_E_PARAMS,
          "sockets are given, and an address" },
        { { .sockets = &closed, .socket_count = MCP_SOCKETS_MAX + 1 },
          MCP_E_PARAMS,
          "more than 16 sockets" },
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
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mcp_error err = MCP_ERROR_INIT;
        mcp_status st = try_to_serve(&rows[i].http, &err);
        if (st != rows[i].status || !strstr(err.message, rows[i].words))
            fail_msg("row %zu: %s, %s", i, mcp_status_name(st), err.message);
    }
}

/* What only a server that does not serve may do. */
static mcp_status begin_again(mcp_call *call, void *data)
{
    mcp_server *server = mcp_call_server(call);
    mcp_features nothing = MCP_FEATURES_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_error err = MCP_ERROR_INIT;

    (void)data;
    mcp_write_member_string(mcp_call_result(call), "add",
                            mcp_status_name(mcp_server_add(server, &nothing, &err)));
    mcp_write_member_string(mcp_call_result(call), "add_text", err.message);
    mcp_write_member_string(mcp_call_result(call), "http",
                            mcp_status_name(mcp_server_http(server, &http, &err)));
    mcp_write_member_string(mcp_call_result(call), "http_text", err.message);
    mcp_write_member_string(mcp_call_result(call), "stdio",
                            mcp_status_name(mcp_server_stdio(server, NULL)));
    return MCP_OK;
}

static void a_server_serves_once_at_a_time(void **state)
{
    static const char definition[] = "{\"name\":\"again\",\"inputSchema\":{\"type\":\"object\"}}";
    static const mcp_file files[] = { { "tools/again.json", definition, sizeof definition - 1 },
                                      { 0 } };
    static const mcp_tool tools[] = { { "again", begin_again, MCP_READS, 0, 0 }, { 0 } };
    static const mcp_features more = { .files = files, .tools = tools };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    http.sessions = MCP_SESSIONS_OFF;
    web_rig *server = web_start_with(NULL, &http, &more);
    web_ask(&answer, web_port(server), "POST", "/mcp", NULL,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
            "{\"name\":\"again\",\"arguments\":{}}}");
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\\\"add\\\":\\\"E_BUSY\\\""));
    assert_non_null(strstr(answer.body, "mcp_server_add_features adds features meanwhile"));
    assert_non_null(strstr(answer.body, "\\\"http\\\":\\\"E_BUSY\\\""));
    assert_non_null(strstr(answer.body, "the server serves already"));
    assert_non_null(strstr(answer.body, "\\\"stdio\\\":\\\"E_BUSY\\\""));
    assert_int_equal(web_end(server), MCP_OK);
}

static void a_port_that_is_taken_is_reported(void **state)
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
    (void)snprintf(path, sizeof path, "%s", scratch_path(&folder, "socket"));
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
    options.limits.message_max_bytes = 1000;
    web_rig *server = web_start(&options, NULL);
    memset(body, ' ', sizeof body - 1);
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

/* From another thread than the one that serves: what runs is asked to stop, and is answered. */
static void a_server_can_be_stopped_by_any_thread(void **state)
{
    char text[4096];

    (void)state;
    web_rig *server = web_start(NULL, NULL);
    int fd = web_begin(web_port(server), "POST", "/mcp",
                       "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
                       "Mcp-Name: rig/hold\r\nConnection: close\r\n",
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
                       "\"name\":\"rig/hold\",\"arguments\":{},\"_meta\":{\"progressToken\":1,"
                       "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
                       "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    client_read(fd, text, sizeof text, "\"progress\":1");
    web_request_stop(server);
    client_read(fd, text, sizeof text, "{\\\"stop\\\":4}");
    close(fd);
    assert_int_equal(web_end(server), MCP_OK);
}

static mcp_status framed(mcp_call *call, void *data)
{
    (void)data;
    (void)mcp_call_header_set(call, "cross-origin-resource-policy", "same-site");
    return mcp_call_send(call, "text/plain", "x", 1);
}

static mcp_status plain(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_send(call, "text/plain", "x", 1);
}

/* What browsers may do with an answer: take it for no other type, and keep it from pages of other
 * origins. */
static void every_answer_has_its_policies(void **state)
{
    static const mcp_route routes[] = { { "GET", "/framed", framed, MCP_READS, 0 },
                                        { "GET", "/plain", plain, MCP_READS, 0 },
                                        { 0 } };
    static const char *const origins[] = { "https://app.example", NULL };
    static const struct {
        const char *method, *path, *fields;
        int status;
        const char *policy;
    } rows[] = {
        { "GET", "/plain", "", 200, "same-origin" },
        { "GET", "/plain", "Origin: https://app.example\r\n", 200, "cross-origin" },
        { "OPTIONS", "/plain", "Origin: https://app.example\r\n", 204, "cross-origin" },
        { "GET", "/plain", "Origin: https://evil.example\r\n", 403, "same-origin" },
        { "GET", "/framed", "", 200, "same-site" },
        { "GET", "/nothing", "", 404, "same-origin" },
        { "POST", "/plain", "", 405, "same-origin" },
        { "GET", "/health", "", 200, "same-origin" },
        { "GET", "/metrics", "", 200, "same-origin" },
        { "POST", "/mcp", "", 415, "same-origin" },
        { "GET", "/sse", "", 200, "same-origin" },
        { "GET", "/ws", "", 426, "same-origin" },
        { "GET", "/ws", "Connection: upgrade\r\nUpgrade: websocket\r\n", 400, "same-origin" },
        { "GET", "/plain", "Broken\r\n", 400, "same-origin" },
    };
    const mcp_http_options http = { .routes = routes,
                                    .origins = origins,
                                    .health = true,
                                    .metrics = true,
                                    .legacy_sse = true,
                                    .websocket = true };
    web_client client;
    mcp_buf value;
    char text[512];

    (void)state;
    mcp_buf_init(&value, 1000);
    web_rig *server = web_start(NULL, &http);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
                       rows[i].method, rows[i].path, rows[i].fields);
        web_client_init(&client);
        web_client_connect(&client, web_port(server));
        web_client_send(&client, text, strlen(text));
        web_client_read_head(&client, false);
        if (client.status != rows[i].status)
            fail_msg("row %zu: %d is not %d", i, client.status, rows[i].status);
        if (!web_client_field(&client, "X-Content-Type-Options", &value) ||
            strcmp(value.data, "nosniff") != 0)
            fail_msg("row %zu: no nosniff", i);
        if (!web_client_field(&client, "Cross-Origin-Resource-Policy", &value) ||
            strcmp(value.data, rows[i].policy) != 0)
            fail_msg("row %zu: policy", i);
        web_client_close(&client);
    }
    mcp_buf_clear(&value);
    assert_int_equal(web_end(server), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_that_cannot_be_are_named),
        cmocka_unit_test(a_server_serves_once_at_a_time),
        cmocka_unit_test(a_port_that_is_taken_is_reported),
        cmocka_unit_test(a_socket_in_the_file_system_needs_no_host),
        cmocka_unit_test(messages_have_a_bound),
        cmocka_unit_test(every_answer_has_its_policies),
        cmocka_unit_test(a_server_can_be_stopped_by_any_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
