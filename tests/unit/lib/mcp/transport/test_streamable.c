/*
 * test_streamable.c - Streamable HTTP over real sockets: sessions, statuses, streams, resumption.
 *
 * What is expected stands in the transport chapters of revisions 2025-03-26 to 2026-07-28.
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

#include "base/alloc.h"
#include "rig.h"
#include "web_rig.h"

#define INITIALIZE(revision)                                                                              \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" revision \
    "\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}"
#define INITIALIZED "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define HOLD(id)                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                              \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","                                \
    "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}"
#define CLAIM                                                                                      \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

static web_rig *rig_of_test;
static web_answer answer;
static int port;

static void start(const mcp_server_options *server, const mcp_http_options *http)
{
    rig_of_test = web_start(server, http);
    port = web_port(rig_of_test);
}

static int begin(void **state)
{
    (void)state;
    start(NULL, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static int nothing(void **state)
{
    (void)state;
    return 0;
}

static void post(const char *fields, const char *body)
{
    web_ask(&answer, port, "POST", "/mcp", fields, body);
}

static void expect(int status, const char *words)
{
    if (answer.status != status || !strstr(answer.body, words))
        fail_msg("%d is not %d, or no \"%s\" in: %s", answer.status, status, words, answer.body);
}

/* Open a session; `field` becomes the header line that names it. */
static void open_session(char field[100], const char *body)
{
    char id[64];

    post(NULL, body);
    expect(200, "\"result\"");
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    assert_int_equal(strlen(id), 32);
    (void)snprintf(field, 100, "Mcp-Session-Id: %s\r\n", id);
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void a_session_is_opened_used_and_ended(void **state)
{
    char session[100];
    char value[64];

    (void)state;
    open_session(session, INITIALIZE("2025-06-18"));
    expect(200, "\"protocolVersion\":\"2025-06-18\"");
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof value),
                        "application/json");
    post(session, INITIALIZED);
    assert_int_equal(answer.status, 202);
    assert_string_equal(answer.body, "");
    post(session, PING);
    expect(200, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}");
    web_ask(&answer, port, "DELETE", "/mcp", session, NULL);
    assert_int_equal(answer.status, 200);
    post(session, PING);
    expect(404, "-32001");
    web_ask(&answer, port, "DELETE", "/mcp", session, NULL);
    assert_int_equal(answer.status, 404);
}

static void without_a_session_there_is_400_with_a_wrong_one_404(void **state)
{
    (void)state;
    post(NULL, PING);
    expect(400, "-32000");
    expect(400, "\"id\":\"p\"");
    post("Mcp-Session-Id: 00000000000000000000000000000000\r\n", PING);
    expect(404, "-32001");
    web_ask(&answer, port, "GET", "/mcp", "Accept: text/event-stream\r\n", NULL);
    assert_int_equal(answer.status, 400);
}

static void initialize_takes_a_stale_id_and_refuses_a_live_one(void **state)
{
    char session[100];

    (void)state;
    post("Mcp-Session-Id: stale\r\n", INITIALIZE("2025-06-18"));
    expect(200, "\"result\"");
    open_session(session, INITIALIZE("2025-11-25"));
    post(session, INITIALIZE("2025-11-25"));
    expect(400, "-32600");
}

static void a_failed_initialize_opens_nothing(void **state)
{
    char value[64];

    (void)state;
    post(NULL, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}");
    expect(200, "-32602");
    assert_string_equal(web_field(&answer, "Mcp-Session-Id", value, sizeof value), "");
}

static void the_version_header_must_be_one_that_is_served(void **state)
{
    char session[100];
    char fields[200];

    (void)state;
    open_session(session, INITIALIZE("2025-06-18"));
    (void)snprintf(fields, sizeof fields, "%sMCP-Protocol-Version: 1999-01-01\r\n", session);
    post(fields, PING);
    expect(400, "-32000");
    (void)snprintf(fields, sizeof fields, "%sMCP-Protocol-Version: 2025-03-26\r\n", session);
    post(fields, PING);
    expect(200, "\"result\"");
    post("MCP-Protocol-Version: 1999-01-01\r\n", INITIALIZE("2025-06-18"));
    expect(200, "\"result\"");
}

static void sessions_have_a_cap_and_an_end(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char first[100], second[100], third[100];

    (void)state;
    http.limits.sessions_max = 2;
    start(NULL, &http);
    open_session(first, INITIALIZE("2025-06-18"));
    open_session(second, INITIALIZE("2025-06-18"));
    post(first, PING);
    open_session(third, INITIALIZE("2025-06-18"));
    post(second, PING);
    assert_int_equal(answer.status, 404);
    post(first, PING);
    assert_int_equal(answer.status, 200);
    web_ask(&answer, port, "DELETE", "/mcp", third, NULL);
    post(third, PING);
    assert_int_equal(answer.status, 404);
}

static void an_idle_session_ends(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char session[100];

    (void)state;
    http.limits.session_idle_ms = 50;
    start(NULL, &http);
    open_session(session, INITIALIZE("2025-06-18"));
    usleep(100 * 1000); /* the longer this takes, the longer is it idle */
    post(session, PING);
    assert_int_equal(answer.status, 404);
}

static void without_sessions_each_request_stands_alone(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char value[64];

    (void)state;
    http.sessions = MCP_SESSIONS_OFF;
    start(NULL, &http);
    post(NULL, INITIALIZE("2025-06-18"));
    expect(200, "\"result\"");
    assert_string_equal(web_field(&answer, "Mcp-Session-Id", value, sizeof value), "");
    post(NULL, PING);
    expect(200, "\"result\"");
    post("MCP-Protocol-Version: 2025-06-18\r\n", "[" PING "]");
    expect(400, "-32600");
    post("MCP-Protocol-Version: 2025-03-26\r\n", "[" PING "]");
    expect(200, "[{");
    web_ask(&answer, port, "GET", "/mcp", "Accept: text/event-stream\r\n", NULL);
    assert_int_equal(answer.status, 405);
    assert_string_equal(web_field(&answer, "Allow", value, sizeof value), "POST");
}

/* ---- statuses -------------------------------------------------------------------------------- */

static void heads_are_judged_before_bodies(void **state)
{
    static const struct {
        const char *method, *fields, *body;
        int status;
    } rows[] = {
        { "PUT", "", "{}", 405 },
        { "POST", "Content-Type: text/plain\r\n", PING, 415 },
        { "POST", "Content-Type: application/json; charset=utf-8\r\n", PING, 400 },
        { "POST", "Accept: text/html\r\n", PING, 406 },
        { "POST", "Accept: application/json;q=0, text/event-stream;q=0\r\n", PING, 406 },
        { "POST", "Accept: */*\r\n", PING, 400 },
        { "GET", "Accept: application/json\r\n", NULL, 406 },
        { "POST", "Host: evil.example\r\n", PING, 403 },
        { "POST", "Origin: http://evil.example\r\n", PING, 403 },
        { "POST", "Origin: null\r\n", PING, 403 },
        { "POST", "Origin: http://LOCALHOST:4711\r\n", PING, 403 },
        { "POST", "Host: LOCALHOST:4711\r\nOrigin: http://localhost:4711\r\n", PING, 400 },
        { "POST", "Origin: https://[::1]\r\n", PING, 403 },
        { "POST", "Host: [::1]:99\r\n", PING, 400 },
        { "POST", "Host: localhost.\r\n", PING, 403 },
        { "POST", "Host: localhost:123456\r\n", PING, 403 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        web_ask(&answer, port, rows[i].method, "/mcp", rows[i].fields, rows[i].body);
        if (answer.status != rows[i].status)
            fail_msg("row %zu: %d is not %d", i, answer.status, rows[i].status);
    }
    web_ask(&answer, port, "POST", "/other", NULL, PING);
    assert_int_equal(answer.status, 404);
}

static void what_is_no_message_is_400(void **state)
{
    char session[100];

    (void)state;
    open_session(session, INITIALIZE("2025-06-18"));
    post(session, "{");
    expect(400, "-32700");
    post(session, "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}");
    expect(400, "-32600");
    post(session, "[]");
    expect(400, "-32600");
    post(session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}");
    expect(200, "-32601");
    post(session, "{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}");
    assert_int_equal(answer.status, 202);
}

static void batches_belong_to_2025_03_26(void **state)
{
    char session[100];

    (void)state;
    open_session(session, INITIALIZE("2025-03-26"));
    post(session, "[" PING ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}]");
    expect(200, "\"id\":\"p\"");
    expect(200, "\"id\":2");
    assert_int_equal(answer.body[0], '[');
    post(session, "[" INITIALIZED "]");
    assert_int_equal(answer.status, 202);
    open_session(session, INITIALIZE("2025-06-18"));
    post(session, "[" PING "]");
    expect(400, "-32600");
}

static void pages_of_named_origins_may_call(void **state)
{
    static const char *const origins[] = { "https://app.example", NULL };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char value[256];

    (void)state;
    http.origins = origins;
    start(NULL, &http);
    web_ask(&answer, port, "OPTIONS", "/mcp",
            "Origin: https://app.example\r\nAccess-Control-Request-Method: POST\r\n"
            "Access-Control-Request-Headers: content-type, mcp-param-Region\r\n",
            NULL);
    assert_int_equal(answer.status, 204);
    assert_string_equal(web_field(&answer, "Access-Control-Allow-Origin", value, sizeof value),
                        "https://app.example");
    web_field(&answer, "Access-Control-Allow-Headers", value, sizeof value);
    assert_non_null(strstr(value, "Mcp-Session-Id"));
    assert_non_null(strstr(value, "mcp-param-Region"));
    post("Origin: https://app.example\r\n", INITIALIZE("2025-06-18"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(web_field(&answer, "Access-Control-Expose-Headers", value, sizeof value),
                        "Mcp-Session-Id, WWW-Authenticate");
    post("Origin: https://app.example.evil\r\n", INITIALIZE("2025-06-18"));
    assert_int_equal(answer.status, 403);
}

static void others_addresses_need_authorization(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    mcp_server *server = NULL;
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    options.name = options.version = "1";
    http.host = "0.0.0.0";
    assert_int_equal(mcp_server_new(&server, &options, &err), MCP_OK);
    assert_int_equal(mcp_server_http(server, &http, &err), MCP_E_DENIED);
    mcp_server_free(server);
}

/* ---- streams --------------------------------------------------------------------------------- */

static void reports_make_the_answer_a_stream(void **state)
{
    char session[100];
    char value[64];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    web_release();
    post(session, HOLD("1"));
    assert_int_equal(answer.status, 200);
    assert_string_equal(web_field(&answer, "Content-Type", value, sizeof value),
                        "text/event-stream");
    expect(200, "id: 1-0\n");
    expect(200, "retry: ");
    expect(200, "id: 1-1\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":"
                "\"notifications/progress\"");
    expect(200, "id: 1-3\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\"");
}

static void before_2025_11_25_no_event_is_empty(void **state)
{
    char session[100];

    (void)state;
    open_session(session, INITIALIZE("2025-06-18"));
    web_release();
    post(session, HOLD("1"));
    expect(200, "id: 1-1\n");
    assert_null(strstr(answer.body, "1-0"));
}

static void a_client_of_json_alone_gets_no_reports(void **state)
{
    char session[100];
    char fields[200];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    (void)snprintf(fields, sizeof fields, "%sAccept: application/json\r\n", session);
    web_release();
    post(fields, HOLD("1"));
    expect(200, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\"");
    assert_int_equal(answer.body[0], '{');
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\n", session);
    post(fields, PING);
    expect(200, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"result\":{}}\n\n");
}

static void a_silent_answer_becomes_a_stream_with_comments(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    char session[100];
    char text[8192];

    (void)state;
    http.limits.stream_after_ms = 50;
    http.limits.keepalive_ms = 50;
    start(NULL, &http);
    open_session(session, INITIALIZE("2025-06-18"));
    int fd = web_begin(port, "POST", "/mcp", session,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":"
                       "{\"name\":\"rig/hold\",\"arguments\":{}}}");
    client_read(fd, text, sizeof(text), ": keepalive\n\n");
    client_read(fd, text, sizeof(text), ": keepalive\n\n");
    web_release();
    client_read(fd, text, sizeof(text), "\"result\"");
    close(fd);
}

static void a_lost_stream_is_taken_up_again(void **state)
{
    char session[100];
    char fields[200];
    char text[8192];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    int fd = web_begin(port, "POST", "/mcp", session, HOLD("1"));
    client_read(fd, text, sizeof(text), "id: 1-1\n");
    close(fd);
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\nLast-Event-ID: 1-0\r\n",
                   session);
    fd = web_begin(port, "GET", "/mcp", fields, NULL);
    client_read(fd, text, sizeof(text), "id: 1-1\n");
    web_release();
    client_read(fd, text, sizeof(text), "\"result\"");
    close(fd);
    web_ask(&answer, port, "GET", "/mcp", fields, NULL); /* ended by now: from what is kept */
    expect(200, "id: 1-1\n");
    expect(200, "id: 1-3\n");
    expect(200, "\"result\"");
}

#define LEAVE                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/leave\","  \
    "\"arguments\":{}}}"

static void a_handler_may_send_its_client_away(void **state)
{
    char session[100];
    char fields[200];
    char text[8192];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    post(session, LEAVE);
    expect(200, "id: 1-0\n");
    assert_null(strstr(answer.body, "\"result\""));
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\nLast-Event-ID: 1-0\r\n",
                   session);
    int fd = web_begin(port, "GET", "/mcp", fields, NULL);
    client_read(fd, text, sizeof(text), "HTTP/1.1 200 ");
    web_release();
    client_read(fd, text, sizeof(text), "\"result\"");
    close(fd);
    open_session(session, INITIALIZE("2025-06-18")); /* could not come back */
    web_release();
    post(session, LEAVE);
    expect(200, "\"result\"");
}

static void what_is_not_kept_is_refused(void **state)
{
    static const char *const ids[] = { "9-1", "x", "1-", "-1", "1-99", "1-1-1", "4294967296-1" };
    char session[100];
    char fields[200];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    web_release();
    post(session, HOLD("1"));
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        (void)snprintf(fields, sizeof fields,
                       "%sAccept: text/event-stream\r\nLast-Event-ID: %s\r\n", session, ids[i]);
        web_ask(&answer, port, "GET", "/mcp", fields, NULL);
        assert_int_equal(answer.status, 400);
    }
}

static void a_session_has_one_stream_of_its_own(void **state)
{
    char session[100];
    char fields[200];
    char text[8192];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\n", session);
    int fd = web_begin(port, "GET", "/mcp", fields, NULL);
    client_read(fd, text, sizeof(text), "id: 0-0\n");
    web_ask(&answer, port, "GET", "/mcp", fields, NULL);
    expect(409, "-32000");
    web_ask(&answer, port, "DELETE", "/mcp", session, NULL);
    assert_int_equal(answer.status, 200);
    client_read(fd, text, sizeof(text), "0\r\n\r\n");
    close(fd);
}

#define MANY 200

static void many_streams_are_held_at_once(void **state)
{
    int streams[MANY];
    char session[100];
    char fields[200];
    char text[8192];

    (void)state;
    for (int i = 0; i < MANY; i++) {
        open_session(session, INITIALIZE("2025-11-25"));
        (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\n", session);
        streams[i] = web_begin(port, "GET", "/mcp", fields, NULL);
        client_read(streams[i], text, sizeof(text), "id: 0-0\n");
    }
    post(session, PING);
    assert_int_equal(answer.status, 200);
    web_ask(&answer, port, "DELETE", "/mcp", session, NULL);
    client_read(streams[MANY - 1], text, sizeof(text), "0\r\n\r\n");
    for (int i = 0; i < MANY; i++)
        close(streams[i]);
    open_session(session, INITIALIZE("2025-11-25"));
}

static void a_cancelled_request_ends(void **state)
{
    char session[100];
    char text[8192];

    (void)state;
    open_session(session, INITIALIZE("2025-11-25"));
    int fd = web_begin(port, "POST", "/mcp", session, HOLD("\"x\""));
    client_read(fd, text, sizeof(text), "1-1");
    post(session, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":"
                  "{\"requestId\":\"x\"}}");
    assert_int_equal(answer.status, 202);
    client_read(fd, text, sizeof(text), "0\r\n\r\n");
    assert_null(strstr(text, "result"));
    close(fd);
}

static void on_shutdown_running_calls_are_notified_and_answered(void **state)
{
    char session[100];
    char text[8192];
    char fields[200];

    (void)state;
    start(NULL, NULL);
    open_session(session, INITIALIZE("2025-11-25"));
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\n", session);
    int stream = web_begin(port, "GET", "/mcp", fields, NULL);
    client_read(stream, text, sizeof(text), "0-0");
    int fd = web_begin(port, "POST", "/mcp", session, HOLD("1"));
    client_read(fd, text, sizeof(text), "1-1");
    assert_int_equal(web_end(rig_of_test), MCP_OK);
    client_read(fd, text, sizeof(text), "stop\\\":4"); /* MCP_STOP_SHUTDOWN */
    client_read(stream, text, sizeof(text), "0\r\n\r\n");
    close(fd);
    close(stream);
}

/* ---- from 2026-07-28 ------------------------------------------------------------------------- */

#define MODERN "MCP-Protocol-Version: 2026-07-28\r\n"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" CLAIM "}}"
#define CALL(name)                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name "\","   \
    "\"arguments\":{\"text\":\"t\"}," CLAIM "}}"

static void the_newer_era_needs_no_session(void **state)
{
    char value[64];

    (void)state;
    post(MODERN "Mcp-Method: tools/list\r\nMcp-Session-Id: ignored\r\n", LIST);
    expect(200, "\"resultType\":\"complete\"");
    assert_string_equal(web_field(&answer, "Mcp-Session-Id", value, sizeof value), "");
}

static void headers_must_say_what_the_body_says(void **state)
{
    static const struct {
        const char *fields, *body;
        int status;
        const char *words;
    } rows[] = {
        { MODERN "mcp-method:   tools/list  \r\n", LIST, 200, "\"tools\"" },
        { MODERN, LIST, 400, "-32020" },
        { MODERN "Mcp-Method: TOOLS/LIST\r\n", LIST, 400, "-32020" },
        { "Mcp-Method: tools/list\r\n", LIST, 400, "-32020" },
        { MODERN "Mcp-Method: tools/call\r\n", CALL("fix/echo"), 400, "-32020" },
        { MODERN "Mcp-Method: tools/call\r\nMcp-Name: fix/save\r\n", CALL("fix/echo"), 400,
          "-32020" },
        { MODERN "Mcp-Method: tools/call\r\nMcp-Name: fix/echo\r\n", CALL("fix/echo"), 200,
          "\"result\"" },
        { MODERN "Mcp-Method: tools/call\r\nMcp-Name: =?base64?Zml4L2VjaG8=?=\r\n",
          CALL("fix/echo"), 200, "\"result\"" },
        { MODERN "Mcp-Method: tools/call\r\nMcp-Name: =?base64?Zml4L2VjaG8?=\r\n", CALL("fix/echo"),
          400, "-32020" },
        { MODERN "Mcp-Method: nope\r\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\",\"params\":{" CLAIM "}}", 404,
          "-32601" },
        { MODERN "Mcp-Method: tools/list\r\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}", 400, "-32602" },
        { MODERN "Mcp-Method: subscriptions/listen\r\nAccept: application/json\r\n",
          "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\",\"params\":{"
          "\"notifications\":{}," CLAIM "}}",
          406, "-32600" },
        { MODERN, INITIALIZED, 202, "" },
        { MODERN, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", 400, "-32600" },
        { MODERN, "[" LIST "]", 400, "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        post(rows[i].fields, rows[i].body);
        if (answer.status != rows[i].status || !strstr(answer.body, rows[i].words))
            fail_msg("row %zu: %d, %s", i, answer.status, answer.body);
    }
}

static void a_hang_up_cancels_in_the_newer_era(void **state)
{
    char text[8192];

    (void)state;
    int fd = web_begin(
        port, "POST", "/mcp", MODERN "Mcp-Method: tools/call\r\nMcp-Name: rig/hold\r\n",
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"rig/hold\",\"arguments\":{},\"_meta\":{\"progressToken\":7,"
        "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    client_read(fd, text, sizeof(text), "notifications/progress");
    assert_null(strstr(text, "\nid: "));
    close(fd); /* nobody releases it: the server would not end otherwise */
}

/* ---- without memory -------------------------------------------------------------------------- */

/* On a connection that is there already, so that the request is what memory runs out for. */
static int status_with_memory_for(long successes, const char *fields, const char *body)
{
    static char text[256 * 1024];
    char head[600];
    int fd = web_begin(port, "POST", "/mcp", fields, PING);

    client_read(fd, text, sizeof(text), "}");
    (void)snprintf(head, sizeof head,
                   "POST /mcp HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                   "Content-Type: application/json\r\nAccept: application/json\r\n%s"
                   "Content-Length: %zu\r\n\r\n",
                   fields, strlen(body));
    mcp__alloc_fail_after(successes);
    if (client_say(fd, head))
        (void)client_say(fd, body);
    client_read(fd, text, sizeof(text), NULL);
    close(fd);
    return strlen(text) > 12 ? (int)strtol(text + 9, NULL, 10) : 0;
}

/* With ever more memory: no answer but a closed connection, or an error, or the answer. */
static void walk(const char *fields, const char *body)
{
    bool refused = true;

    for (long successes = 0; refused; successes++) {
        assert_true(successes < 2000);
        int status = status_with_memory_for(successes, fields, body);
        refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        if (!(status == 0 || status == 200 || status == 202 || status == 500 || status == 503))
            fail_msg("after %ld allocations: %d", successes, status);
        if (!refused)
            assert_true(status == 200 || status == 202);
    }
    post(fields, PING);
    expect(200, "\"result\":{}");
}

static void memory_may_run_out_anywhere(void **state)
{
    static char large[100 * 1024];
    char session[100];

    (void)state;
    open_session(session, INITIALIZE("2025-03-26"));
    walk(session, PING);
    walk(session, INITIALIZED);
    walk(session, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                  "\"fix/echo\",\"arguments\":{\"text\":\"a\"}}}");
    walk(session, "[" PING "," PING "]");
    memset(large, ' ', sizeof large - 1);
    memcpy(large, PING, sizeof PING - 1);
    walk(session, large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define STANDARD(name) cmocka_unit_test_setup_teardown(name, begin, end)
#define SPECIAL(name) cmocka_unit_test_setup_teardown(name, nothing, end)
        STANDARD(a_session_is_opened_used_and_ended),
        STANDARD(without_a_session_there_is_400_with_a_wrong_one_404),
        STANDARD(initialize_takes_a_stale_id_and_refuses_a_live_one),
        STANDARD(a_failed_initialize_opens_nothing),
        STANDARD(the_version_header_must_be_one_that_is_served),
        SPECIAL(sessions_have_a_cap_and_an_end),
        SPECIAL(an_idle_session_ends),
        SPECIAL(without_sessions_each_request_stands_alone),
        STANDARD(heads_are_judged_before_bodies),
        STANDARD(what_is_no_message_is_400),
        STANDARD(batches_belong_to_2025_03_26),
        SPECIAL(pages_of_named_origins_may_call),
        cmocka_unit_test(others_addresses_need_authorization),
        STANDARD(reports_make_the_answer_a_stream),
        STANDARD(before_2025_11_25_no_event_is_empty),
        STANDARD(a_client_of_json_alone_gets_no_reports),
        SPECIAL(a_silent_answer_becomes_a_stream_with_comments),
        STANDARD(a_lost_stream_is_taken_up_again),
        STANDARD(a_handler_may_send_its_client_away),
        STANDARD(what_is_not_kept_is_refused),
        STANDARD(a_session_has_one_stream_of_its_own),
        STANDARD(many_streams_are_held_at_once),
        STANDARD(a_cancelled_request_ends),
        cmocka_unit_test(on_shutdown_running_calls_are_notified_and_answered),
        STANDARD(the_newer_era_needs_no_session),
        STANDARD(headers_must_say_what_the_body_says),
        STANDARD(a_hang_up_cancels_in_the_newer_era),
        cmocka_unit_test_setup_teardown(memory_may_run_out_anywhere, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
