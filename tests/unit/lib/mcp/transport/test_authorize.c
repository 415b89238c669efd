/*
 * test_authorize.c - tokens over real sockets: challenges, principals, the verifier, metadata.
 *
 * RFC 6750 says what the challenges are, RFC 9728 where the metadata stand. The file's token is
 * "abc", its hash is from FIPS 180-4's example.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/clock.h"
#include "rig.h"
#include "scratch.h"
#include "web_client.h"
#include "web_rig.h"

#define INITIALIZE                                                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"     \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}"
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"
#define FILE_TOKEN "Authorization: Bearer abc\r\n"

static atomic_int asked;

/* Tokens "name.scope"; "brief.mcp" expires soon, "down" cannot be looked at, "secret" has no scope,
 * all others are bad. */
static mcp_status verify(mcp_principal *out, const char *token, mcp_arena *arena, void *data,
                         mcp_error *err)
{
    (void)data;
    atomic_fetch_add(&asked, 1);
    if (strcmp(token, "down") == 0)
        return mcp_error_set(err, MCP_E_IO, "no connection to the keys");
    if (strcmp(token, "brief.mcp") == 0)
        out->expires_ms = mcp_clock_wall_ms() + 500;
    else if (strncmp(token, "eve.", 4) != 0)
        return mcp_error_set(err, MCP_E_DENIED, "the \"token\" is not signed");
    out->name = "eve";
    out->scopes = mcp_arena_strdup(arena, strchr(token, '.') + 1);
    return MCP_OK;
}

static mcp_status whoami(mcp_call *call, void *data)
{
    size_t length = 0;
    const char *body = mcp_call_body(call, &length);

    (void)data;
    mcp_write_member_string(mcp_call_result(call), "name", mcp_call_principal(call));
    mcp_write_member_bool(mcp_call_result(call), "may", mcp_call_has_scopes(call, "mcp write"));
    mcp_write_member_int(mcp_call_result(call), "body", body ? (int64_t)length : 0);
    return MCP_OK;
}

/* A stream that says who follows it. */
static mcp_status follow(mcp_call *call, void *data)
{
    const char *name = mcp_call_principal(call);
    mcp_stream *stream = NULL;
    mcp_event *event = NULL;

    (void)data;
    mcp_status st = mcp_event_new(&event, mcp_call_last_event_id(call), NULL, name, strlen(name),
                                  mcp_call_error(call));
    if (st == MCP_OK)
        st = mcp_call_stream(&stream, call, NULL, mcp_call_error(call));
    if (st == MCP_OK)
        st = mcp_stream_send(stream, event, mcp_call_error(call));
    mcp_stream_close(stream);
    mcp_stream_release(stream);
    mcp_event_release(event);
    return st;
}

/* A stream that nobody closes. */
static mcp_status stay(mcp_call *call, void *data)
{
    mcp_stream *stream = NULL;
    mcp_status st = mcp_call_stream(&stream, call, NULL, mcp_call_error(call));

    (void)data;
    mcp_stream_release(stream);
    return st;
}

static mcp_status need_admin(mcp_call *call, void *data)
{
    (void)data;
    return mcp_call_require_scopes(call, "admin");
}

static mcp_status welcome(mcp_call *call, void *data)
{
    const char *name = mcp_call_principal(call);
    (void)data;
    mcp_write_member_string(mcp_call_result(call), "name", name ? name : "nobody");
    return MCP_OK;
}

static const mcp_route routes[] = { { "POST", "/whoami", whoami, MCP_READS, 0 },
                                    { "GET", "/front", welcome, MCP_READS | MCP_PUBLIC, 0 },
                                    { "POST", "/front", welcome, MCP_READS, 0 },
                                    { "POST", "/admin", need_admin, MCP_READS, 0 },
                                    { "GET", "/follow", follow, MCP_READS, 0 },
                                    { "GET", "/stay", stay, MCP_READS, 0 },
                                    { "POST", "/token", whoami, MCP_READS, 0 },
                                    { 0 } };
static const char *const servers[] = { "https://as.example", NULL };

static scratch folder;
static web_rig *rig_of_test;
static web_answer answer;
static int port;

static void write_tokens(void)
{
    static const char line[] =
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad ann mcp write\n";

    scratch_open(&folder);
    scratch_write(&folder, "tokens", line, sizeof(line) - 1);
}

static void begin_with(const mcp_server_options *options)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;
    static mcp_http_auth auth;
    static char tokens_path[SCRATCH_PATH_MAX + 8];

    write_tokens();
    (void)snprintf(tokens_path, sizeof tokens_path, "%s", scratch_path(&folder, "tokens"));
    atomic_store(&asked, 0);
    auth = (mcp_http_auth){ .tokens_file = tokens_path,
                            .verify = verify,
                            .scope = "mcp",
                            .resource = "https://mcp.example/mcp",
                            .servers = servers };
    http.auth = &auth;
    http.routes = routes;
    http.websocket = http.legacy_sse = http.health = true;
    rig_of_test = web_start(options, &http);
    port = web_port(rig_of_test);
}

static int begin(void **state)
{
    (void)state;
    begin_with(NULL);
    return 0;
}

static int begin_hiding(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;

    (void)state;
    options.hide_by_scope = true;
    begin_with(&options);
    return 0;
}

/* Only ann may know of it, whatever tokens allow. */
static bool is_anns(const mcp_call *call, mcp_feature feature, const char *name, void *data)
{
    const char *who = mcp_call_principal(call);

    (void)data;
    return feature != MCP_FEATURE_TOOL || strcmp(name, "rig/hold") != 0 ||
           (who && strcmp(who, "ann") == 0);
}

static int begin_choosing(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;

    (void)state;
    options.visible = is_anns;
    begin_with(&options);
    return 0;
}

static int end(void **state)
{
    (void)state;
    scratch_close(&folder);
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static void expect_challenge(int status, const char *words)
{
    char field[1024];

    web_field(&answer, "WWW-Authenticate", field, sizeof field);
    if (answer.status != status || !strstr(field, words) ||
        !strstr(field, "resource_metadata=\"https://mcp.example/.well-known/"
                       "oauth-protected-resource/mcp\""))
        fail_msg("%d, %s", answer.status, field);
}

static void post(const char *fields)
{
    web_ask(&answer, port, "POST", "/mcp", fields, INITIALIZE);
}

static void without_a_good_token_there_is_a_challenge(void **state)
{
    char field[1024];

    (void)state;
    post(NULL);
    expect_challenge(401, "Bearer scope=\"mcp\"");
    assert_null(strstr(web_field(&answer, "WWW-Authenticate", field, sizeof field), "error"));
    assert_string_equal(web_field(&answer, "Content-Type", field, sizeof field),
                        "application/json");
    assert_string_equal(answer.body, "{\"error\":\"invalid_token\",\"error_description\":"
                                     "\"a bearer token is required\"}");
    post("Authorization: Basic YTpi\r\n");
    expect_challenge(401, "Bearer scope");
    post("Authorization: Bearer\r\n");
    expect_challenge(400, "error=\"invalid_request\"");
    post("Authorization: Bearer a b\r\n");
    expect_challenge(400, "error=\"invalid_request\"");
    post(FILE_TOKEN FILE_TOKEN);
    expect_challenge(400, "error=\"invalid_request\"");
    post("Authorization: a\r\n" FILE_TOKEN);
    expect_challenge(400, "error=\"invalid_request\"");
    post("Authorization: Bearer bad\r\n");
    expect_challenge(401,
                     "error=\"invalid_token\", error_description=\"the 'token' is not signed\"");
    post("Authorization: Bearer eve.read\r\n");
    expect_challenge(403, "error=\"insufficient_scope\"");
    assert_non_null(strstr(answer.body, "{\"error\":\"insufficient_scope\","));
    post("Authorization: Bearer down\r\n");
    assert_int_equal(answer.status, 503);
    web_ask(&answer, port, "POST", "/mcp?access_token=abc", NULL, INITIALIZE);
    expect_challenge(401, "Bearer scope");
}

/* A longer one is no token at all; one of 8 KiB is looked up, and not found. */
static void a_token_has_8_kib(void **state)
{
    static char field[9000];

    (void)state;
    for (size_t length = 8191; length <= 8193; length++) {
        int head = snprintf(field, sizeof field, "Authorization: Bearer ");
        memset(field + head, 'x', length);
        (void)snprintf(field + (size_t)head + length, 3, "\r\n");
        post(field);
        if (length <= 8192)
            assert_int_equal(answer.status, 401);
        else
            expect_challenge(400, "error=\"invalid_request\"");
    }
}

static void every_endpoint_asks(void **state)
{
    (void)state;
    web_ask(&answer, port, "POST", "/whoami", NULL, "{}");
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/ws", NULL, NULL);
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/nowhere", NULL, NULL);
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/health", NULL, NULL);
    assert_int_equal(answer.status, 200);
}

/* A client that looks for an authorization server learns that there is none here; a 401 would send
 * it on. */
static void paths_of_authorization_servers_are_404_unless_a_route_serves_them(void **state)
{
    static const char *const paths[] = { "/.well-known/oauth-authorization-server",
                                         "/.well-known/openid-configuration/mcp",
                                         "/.well-known/oauth-protected-resource/other",
                                         "/register",
                                         "/authorize",
                                         "/register/" };

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        web_ask(&answer, port, "GET", paths[i], NULL, NULL);
        assert_int_equal(answer.status, 404);
        web_ask(&answer, port, "POST", paths[i], NULL, "{}");
        assert_int_equal(answer.status, 404);
    }
    web_ask(&answer, port, "POST", "/token", NULL, "{}"); /* a route */
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/token", NULL, NULL);
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/registered", NULL, NULL);
    assert_int_equal(answer.status, 401);
}

static void handlers_know_who_asks(void **state)
{
    (void)state;
    web_ask(&answer, port, "POST", "/whoami", FILE_TOKEN, "{}");
    assert_string_equal(answer.body, "{\"name\":\"ann\",\"may\":true,\"body\":2}");
    assert_int_equal(atomic_load(&asked), 0);
    web_ask(&answer, port, "POST", "/whoami", "authorization: bearer eve.mcp==\r\n", "{ }");
    assert_int_equal(answer.status, 403); /* the scope is "mcp==" */
}

/* MCP_PUBLIC is of a route, not of its path; whether a token is good there makes no difference. */
static void an_open_route_asks_for_no_token(void **state)
{
    static const char *const fields[] = { NULL, "Authorization: Bearer nobody.knows\r\n" };
    (void)state;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        web_ask(&answer, port, "GET", "/front", fields[i], NULL);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body, "{\"name\":\"nobody\"}");
    }
    web_ask(&answer, port, "HEAD", "/front", NULL, NULL);
    assert_int_equal(answer.status, 200);
    web_ask(&answer, port, "POST", "/front", NULL, "{}");
    expect_challenge(401, "Bearer");
    web_ask(&answer, port, "GET", "/front/else", NULL, NULL);
    assert_int_equal(answer.status, 401);
    web_ask(&answer, port, "GET", "/front", "Host: evil.example\r\n", NULL);
    assert_int_not_equal(answer.status, 200);
    assert_int_equal(atomic_load(&asked), 0);
}

static void a_verdict_is_kept_for_a_while(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        web_ask(&answer, port, "POST", "/whoami", "Authorization: Bearer eve.mcp\r\n", "{   }");
        assert_string_equal(answer.body, "{\"name\":\"eve\",\"may\":false,\"body\":5}");
    }
    assert_int_equal(atomic_load(&asked), 1);
}

static void a_session_is_its_principals(void **state)
{
    char id[64], fields[256];

    (void)state;
    post(FILE_TOKEN);
    assert_int_equal(answer.status, 200);
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    (void)snprintf(fields, sizeof fields, FILE_TOKEN "Mcp-Session-Id: %s\r\n", id);
    web_ask(&answer, port, "POST", "/mcp", fields, PING);
    assert_int_equal(answer.status, 200);
    (void)snprintf(fields, sizeof fields, "Authorization: Bearer eve.mcp\r\nMcp-Session-Id: %s\r\n",
                   id);
    web_ask(&answer, port, "POST", "/mcp", fields, PING);
    assert_int_equal(answer.status, 404);
    web_ask(&answer, port, "DELETE", "/mcp", fields, NULL);
    assert_int_equal(answer.status, 404);
}

static int open_socket(const char *token, char *text, size_t size)
{
    char fields[512];

    (void)snprintf(fields, sizeof fields,
                   "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                   "Sec-WebSocket-Protocol: mcp\r\nAuthorization: Bearer %s\r\n",
                   token);
    int fd = web_begin(port, "GET", "/ws", fields, NULL);
    client_read(fd, text, size, "\r\n\r\n");
    assert_int_equal(strncmp(text, "HTTP/1.1 101 ", 13), 0);
    return fd;
}

static void a_socket_opens_for_a_verified_token(void **state)
{
    char text[2048];

    (void)state;
    close(open_socket("eve.mcp", text, sizeof text));
}

static void a_socket_ends_with_its_token(void **state)
{
    char text[2048];

    (void)state;
    int fd = open_socket("brief.mcp", text, sizeof text);
    client_read_exactly(fd, text, 4);
    assert_memory_equal(text, "\x88\x02\x03\xf0", 4); /* a close frame, 1008 */
    close(fd);
}

/* In order: their clients come again with another token. */
static void streams_without_end_end_with_their_token(void **state)
{
    static const char brief[] = "Authorization: Bearer brief.mcp\r\n";
    char id[64], fields[256];
    char text[4096];

    (void)state;
    int fd = web_begin(port, "GET", "/stay", brief, NULL);
    client_read(fd, text, sizeof text, "0\r\n\r\n");
    assert_int_equal(strncmp(text, "HTTP/1.1 200 ", 13), 0);
    close(fd);
    post(brief);
    assert_int_equal(answer.status, 200);
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    (void)snprintf(fields, sizeof fields, "%sAccept: text/event-stream\r\nMcp-Session-Id: %s\r\n",
                   brief, id);
    fd = web_begin(port, "GET", "/mcp", fields, NULL);
    client_read(fd, text, sizeof text, "0\r\n\r\n");
    assert_int_equal(strncmp(text, "HTTP/1.1 200 ", 13), 0);
    close(fd);
    web_ask(&answer, port, "POST", "/mcp", fields, PING); /* the session lasts */
    assert_int_equal(answer.status, 200);
    fd = web_begin(port, "GET", "/sse", brief, NULL);
    client_read(fd, text, sizeof text, NULL); /* its session ends with it */
    assert_non_null(strstr(text, "event: endpoint"));
    close(fd);
}

static void metadata_are_for_everybody(void **state)
{
    static const char *const paths[] = { "/.well-known/oauth-protected-resource",
                                         "/.well-known/oauth-protected-resource/mcp" };

    (void)state;
    for (int i = 0; i < 2; i++) {
        web_ask(&answer, port, "GET", paths[i], NULL, NULL);
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer.body,
                            "{\"resource\":\"https://mcp.example/mcp\",\"authorization_servers\":"
                            "[\"https://as.example\"],\"scopes_supported\":[\"mcp\",\"write\"],"
                            "\"bearer_methods_supported\":[\"header\"]}");
    }
    web_ask(&answer, port, "GET", "/.well-known/oauth-protected-resource/else", NULL, NULL);
    assert_int_equal(answer.status, 404);
}

/* Also where the token has to be looked at on a worker first. */
static void streams_are_for_those_who_may(void **state)
{
    char type[64];

    (void)state;
    web_ask(&answer, port, "GET", "/follow", NULL, NULL);
    expect_challenge(401, "Bearer");
    assert_string_equal(web_field(&answer, "Content-Type", type, sizeof type), "application/json");
    assert_string_equal(answer.body, "{\"error\":{\"status\":\"E_DENIED\","
                                     "\"message\":\"a bearer token is required\"}}");
    web_ask(&answer, port, "GET", "/follow", "Authorization: Bearer eve.else\r\n", NULL);
    assert_int_equal(answer.status, 403);
    web_ask(&answer, port, "GET", "/follow",
            "Authorization: Bearer eve.mcp\r\nLast-Event-ID: 9\r\n", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "id: 9\ndata: eve\n\n");
    web_ask(&answer, port, "GET", "/follow", FILE_TOKEN, NULL);
    assert_string_equal(answer.body, "data: ann\n\n");
}

/* ---- scopes of single features --------------------------------------------------------------- */

#define EVE "Authorization: Bearer eve.mcp\r\n"
#define STATELESS                                                                                  \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                       \
    "\"io.modelcontextprotocol/clientCapabilities\":{}}"

/* One request of 2026-07-28, which needs no session. `more` begins with a comma, or is empty. */
static void ask(const char *token, const char *method, const char *name, const char *more)
{
    char fields[512], body[1024];

    (void)snprintf(fields, sizeof fields,
                   "%sMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: %s\r\n%s%s%s", token, method,
                   name ? "Mcp-Name: " : "", name ? name : "", name ? "\r\n" : "");
    (void)snprintf(body, sizeof body,
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{" STATELESS "%s}}",
                   method, more);
    web_ask(&answer, port, "POST", "/mcp", fields, body);
}

static void call_scoped(const char *token)
{
    ask(token, "tools/call", "rig/scoped", ",\"name\":\"rig/scoped\"");
}

static void a_tool_says_which_scopes_it_needs(void **state)
{
    (void)state;
    call_scoped(EVE);
    expect_challenge(403, "Bearer error=\"insufficient_scope\"");
    expect_challenge(403, ", scope=\"mcp write\"");
    assert_non_null(strstr(answer.body, "\"id\":1,\"error\":{\"code\":-32600,"));
    assert_null(strstr(answer.body, "\"result\""));
    call_scoped(FILE_TOKEN);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"text\":\"ann\""));
    ask(EVE, "tools/list", NULL, "");
    assert_non_null(strstr(answer.body, "\"name\":\"rig/scoped\""));
    assert_non_null(strstr(answer.body, "\"cacheScope\":\"public\""));
}

/* One element of a batch is not the whole answer, so its refusal has no say in the status line. */
static void in_a_batch_it_is_one_error(void **state)
{
    char id[64], fields[256];

    (void)state;
    web_ask(
        &answer, port, "POST", "/mcp", EVE,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-03-26\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    web_field(&answer, "Mcp-Session-Id", id, sizeof id);
    (void)snprintf(fields, sizeof fields, EVE "Mcp-Session-Id: %s\r\n", id);
    web_ask(&answer, port, "POST", "/mcp", fields,
            "[" PING
            ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
            "\"rig/scoped\"}}]");
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, "\"id\":1,\"result\":{}"));
    assert_non_null(strstr(answer.body, "\"id\":2,\"error\":{\"code\":-32600,"));
}

#define CALL_SCOPED(id)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" id                                                              \
    ",\"method\":\"tools/call\",\"params\":{\"name\":\"rig/scoped\"}}"
#define REFUSED(id)                                                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"error\":{\"code\":-32600,\"message\":"                   \
    "\"insufficient scope: mcp write\"}}"

static void open_as(web_client *client, const char *request, const char *token, int status)
{
    mcp_buf head;

    web_client_init(client);
    web_client_connect(client, port);
    mcp_buf_init(&head, 4096);
    assert_int_equal(mcp_buf_printf(&head, "%sHost: localhost\r\n%s\r\n", request, token), MCP_OK);
    web_client_send(client, head.data, head.length);
    mcp_buf_clear(&head);
    web_client_read_head(client, false);
    assert_int_equal(client->status, status);
}

#define OPEN_SOCKET                                                                                  \
    "GET /ws HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: mcp\r\n"

static const char *answer_in_frame(web_client *client, const char *text)
{
    static web_frame frame;

    web_client_send_frame(client, 0x81, text, strlen(text));
    assert_true(web_client_read_frame(client, &frame));
    return frame.bytes;
}

/* The token of the opening request holds for the connection; a message has no status line of its
 * own. */
static void in_a_frame_it_is_an_error(void **state)
{
    web_client client;

    (void)state;
    open_as(&client, OPEN_SOCKET, EVE, 101);
    assert_string_equal(answer_in_frame(&client, CALL_SCOPED("1")), REFUSED("1"));
    assert_string_equal(answer_in_frame(&client, PING),
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    web_client_close(&client);
    open_as(&client, OPEN_SOCKET, FILE_TOKEN, 101);
    assert_non_null(strstr(answer_in_frame(&client, CALL_SCOPED("2")), "\"text\":\"ann\""));
    web_client_close(&client);
    open_as(&client, OPEN_SOCKET, "Authorization: Bearer eve.else\r\n", 403);
    web_client_close(&client);
}

/* The answer to the post is 202 whatever becomes of the message; each post has a token of its
 * own. */
static void on_a_stream_it_is_an_error(void **state)
{
    web_client client;
    web_event event;
    char address[128];

    (void)state;
    open_as(&client, "GET /sse HTTP/1.1\r\nAccept: text/event-stream\r\n", EVE, 200);
    assert_true(web_client_read_event(&client, &event));
    (void)snprintf(address, sizeof address, "%s", event.data);
    web_ask(&answer, port, "POST", address, EVE, CALL_SCOPED("1"));
    assert_int_equal(answer.status, 202);
    assert_true(web_client_read_event(&client, &event));
    assert_string_equal(event.data, REFUSED("1"));
    web_ask(&answer, port, "POST", address, FILE_TOKEN, CALL_SCOPED("2"));
    assert_int_equal(answer.status, 404); /* the session is eve's */
    web_ask(&answer, port, "POST", address, "Authorization: Bearer eve.mcp write\r\n",
            CALL_SCOPED("3"));
    assert_int_equal(answer.status, 400); /* a token has no blank */
    web_ask(&answer, port, "POST", address, EVE, PING);
    assert_true(web_client_read_event(&client, &event));
    assert_string_equal(event.data, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    web_client_close(&client);
    open_as(&client, "GET /sse HTTP/1.1\r\nAccept: text/event-stream\r\n", FILE_TOKEN, 200);
    assert_true(web_client_read_event(&client, &event));
    (void)snprintf(address, sizeof address, "%s", event.data);
    web_ask(&answer, port, "POST", address, FILE_TOKEN, CALL_SCOPED("4"));
    assert_true(web_client_read_event(&client, &event));
    assert_non_null(strstr(event.data, "\"text\":\"ann\""));
    web_client_close(&client);
}

/* The answers to a hidden tool and to one that does not exist, but for the name. */
static void expect_unknown(const char *token, const char *name)
{
    char more[128], words[128];

    (void)snprintf(more, sizeof more, ",\"name\":\"%s\"", name);
    (void)snprintf(words, sizeof words, "{\"code\":-32602,\"message\":\"there is no tool %s\"}",
                   name);
    ask(token, "tools/call", name, more);
    assert_int_equal(answer.status, 200);
    assert_non_null(strstr(answer.body, words));
}

static void what_scopes_hide_does_not_exist(void **state)
{
    char field[64];

    (void)state;
    ask(EVE, "tools/list", NULL, "");
    assert_null(strstr(answer.body, "rig/scoped"));
    assert_non_null(strstr(answer.body, "rig/hold"));
    assert_non_null(strstr(answer.body, "\"cacheScope\":\"private\""));
    expect_unknown(EVE, "rig/scoped");
    assert_string_equal(web_field(&answer, "WWW-Authenticate", field, sizeof field), "");
    expect_unknown(EVE, "rig_scoped");
    expect_unknown(EVE, "rig/nothing");
    ask(FILE_TOKEN, "tools/list", NULL, "");
    assert_non_null(strstr(answer.body, "rig/scoped"));
    assert_non_null(strstr(answer.body, "\"cacheScope\":\"private\""));
    call_scoped(FILE_TOKEN);
    assert_non_null(strstr(answer.body, "\"text\":\"ann\""));
}

static void a_server_chooses_who_knows_of_what(void **state)
{
    (void)state;
    ask(EVE, "tools/list", NULL, "");
    assert_null(strstr(answer.body, "rig/hold"));
    assert_non_null(strstr(answer.body, "rig/scoped"));
    assert_non_null(strstr(answer.body, "\"cacheScope\":\"private\""));
    expect_unknown(EVE, "rig/hold");
    ask(FILE_TOKEN, "tools/list", NULL, "");
    assert_non_null(strstr(answer.body, "rig/hold"));
}

static void a_handler_may_insist_too(void **state)
{
    (void)state;
    web_ask(&answer, port, "POST", "/admin", FILE_TOKEN, "{}");
    expect_challenge(403, "scope=\"mcp admin\"");
    assert_string_equal(answer.body, "{\"error\":{\"status\":\"E_SCOPE\",\"message\":"
                                     "\"insufficient scope: admin\"}}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_good_token_there_is_a_challenge, begin, end),
        cmocka_unit_test_setup_teardown(a_token_has_8_kib, begin, end),
        cmocka_unit_test_setup_teardown(every_endpoint_asks, begin, end),
        cmocka_unit_test_setup_teardown(
            paths_of_authorization_servers_are_404_unless_a_route_serves_them, begin, end),
        cmocka_unit_test_setup_teardown(handlers_know_who_asks, begin, end),
        cmocka_unit_test_setup_teardown(an_open_route_asks_for_no_token, begin, end),
        cmocka_unit_test_setup_teardown(a_verdict_is_kept_for_a_while, begin, end),
        cmocka_unit_test_setup_teardown(a_session_is_its_principals, begin, end),
        cmocka_unit_test_setup_teardown(a_socket_opens_for_a_verified_token, begin, end),
        cmocka_unit_test_setup_teardown(a_socket_ends_with_its_token, begin, end),
        cmocka_unit_test_setup_teardown(streams_without_end_end_with_their_token, begin, end),
        cmocka_unit_test_setup_teardown(streams_are_for_those_who_may, begin, end),
        cmocka_unit_test_setup_teardown(metadata_are_for_everybody, begin, end),
        cmocka_unit_test_setup_teardown(a_tool_says_which_scopes_it_needs, begin, end),
        cmocka_unit_test_setup_teardown(in_a_batch_it_is_one_error, begin, end),
        cmocka_unit_test_setup_teardown(in_a_frame_it_is_an_error, begin, end),
        cmocka_unit_test_setup_teardown(on_a_stream_it_is_an_error, begin, end),
        cmocka_unit_test_setup_teardown(what_scopes_hide_does_not_exist, begin_hiding, end),
        cmocka_unit_test_setup_teardown(a_server_chooses_who_knows_of_what, begin_choosing, end),
        cmocka_unit_test_setup_teardown(a_handler_may_insist_too, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
