/*
 * test_peer.c - how one request is answered: by JSON or by events, and what becomes of it without a
 * client.
 *
 * Whole conversations stand in tests/wire/http/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "web_client.h"
#include "web_rig.h"

#define CALL(id, tool, arguments)                                                                  \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool    \
    "\",\"arguments\":" arguments ",\"_meta\":{\"progressToken\":7}}}"

static web_rig *rig_of_test;
static char session[64];
static mcp_buf field;

static void request(web_client *client, const char *method, const char *fields, const char *body)
{
    char text[2048];
    int length = snprintf(
        text, sizeof(text),
        "%s /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n%s%s%s%s"
        "Content-Length: %zu\r\n\r\n%s",
        method, session[0] ? "Mcp-Session-Id: " : "", session, session[0] ? "\r\n" : "", fields,
        strlen(body), body);

    assert_true(length > 0 && (size_t)length < sizeof(text));
    web_client_connect(client, web_port(rig_of_test));
    web_client_send(client, text, (size_t)length);
}

static void open_session(const char *revision)
{
    char body[300];
    web_client client;
    size_t length = 0;

    (void)snprintf(
        body, sizeof body,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"%s\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}",
        revision);
    web_client_init(&client);
    request(&client, "POST", "", body);
    web_client_read_head(&client, false);
    assert_int_equal(client.status, 200);
    assert_true(web_client_field(&client, "Mcp-Session-Id", &field));
    (void)snprintf(session, sizeof session, "%s", field.data);
    (void)web_client_read_body(&client, &length);
    web_client_close(&client);
}

static int begin(void **state)
{
    const mcp_http_options http = { .limits.stream_after_ms = 60000 };

    (void)state;
    session[0] = '\0';
    mcp_buf_init(&field, 1000);
    rig_of_test = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    mcp_buf_clear(&field);
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static void expect_event(web_client *client, const char *id, const char *words)
{
    web_event event;

    assert_true(web_client_read_event(client, &event));
    if (id ? !event.id || strcmp(event.id, id) != 0 : event.id != NULL)
        fail_msg("the id is %s", event.id ? event.id : "absent");
    if (!strstr(event.data, words))
        fail_msg("no %s in %s", words, event.data);
}

static void expect_end(web_client *client)
{
    web_event event;

    assert_false(web_client_read_event(client, &event));
}

static void what_comes_first_decides(void **state)
{
    web_client client;
    size_t length = 0;

    (void)state;
    open_session("2025-06-18");
    web_client_init(&client);
    request(&client, "POST", "", CALL("1", "fix/echo", "{\"text\":\"a\"}"));
    web_client_read_head(&client, false);
    assert_false(client.is_events);
    assert_non_null(strstr(web_client_read_body(&client, &length), "\"id\":1,\"result\""));
    request(&client, "POST", "", CALL("2", "fix/count", "{\"to\":1}"));
    web_client_read_head(&client, false);
    assert_true(client.is_events);
    expect_event(&client, "1-1", "\"progressToken\":7");
    expect_event(&client, "1-2", "\"id\":2,\"result\"");
    expect_end(&client);
    web_client_close(&client);
}

/* Streams are numbered within the session, and events within their stream. */
static void each_stream_has_its_number(void **state)
{
    web_client client;

    (void)state;
    open_session("2025-03-26");
    web_client_init(&client);
    for (int i = 1; i <= 3; i++) {
        char id[16];
        request(&client, "POST", "Accept: text/event-stream\r\n",
                CALL("1", "fix/echo", "{\"text\":\"a\"}"));
        web_client_read_head(&client, false);
        (void)snprintf(id, sizeof id, "%d-1", i);
        expect_event(&client, id, "\"result\"");
        expect_end(&client);
    }
    web_client_close(&client);
}

static void a_client_that_is_gone_finds_its_events_kept(void **state)
{
    web_client first, second;

    (void)state;
    open_session("2025-11-25");
    web_client_init(&first);
    web_client_init(&second);
    request(&first, "POST", "", CALL("1", "rig/hold", "{}"));
    web_client_read_head(&first, false);
    expect_event(&first, "1-0", "");
    expect_event(&first, "1-1", "\"progress\":1");
    request(&second, "POST", "Accept: text/event-stream\r\n",
            CALL("2", "fix/echo", "{\"text\":\"x\"}"));
    web_client_read_head(&second, false);
    expect_event(&second, "2-0", "");
    expect_event(&second, "2-1", "\"id\":2,\"result\"");
    expect_end(&second);
    web_client_close(&first);
    web_release();
    request(&second, "GET", "Accept: text/event-stream\r\nLast-Event-ID: 1-1\r\n", "");
    web_client_read_head(&second, false);
    expect_event(&second, "1-2", "\"progress\":2");
    expect_event(&second, "1-3", "\"id\":1,\"result\"");
    expect_end(&second); /* and nothing of stream 2 */
    web_client_close(&second);
}

/* Half a connection may be all that is left of it: the newer one continues, the older one ends. */
static void a_stream_has_one_connection(void **state)
{
    web_client first, second;

    (void)state;
    open_session("2025-11-25");
    web_client_init(&first);
    web_client_init(&second);
    request(&first, "POST", "", CALL("1", "rig/hold", "{}"));
    web_client_read_head(&first, false);
    expect_event(&first, "1-0", "");
    expect_event(&first, "1-1", "\"progress\":1");
    request(&second, "GET", "Accept: text/event-stream\r\nLast-Event-ID: 1-1\r\n", "");
    web_client_read_head(&second, false);
    expect_end(&first);
    web_release();
    expect_event(&second, "1-2", "\"progress\":2");
    expect_event(&second, "1-3", "\"result\"");
    expect_end(&second);
    web_client_close(&first);
    web_client_close(&second);
}

/* Not even the event that gives a client of 2025-11-25 an id to come back with. */
static void a_cancelled_request_ends_in_an_empty_stream(void **state)
{
    static const char *const revisions[] = { "2025-06-18", "2025-11-25" };
    static const char cancelled[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                                    "\"params\":{\"requestId\":7}}";
    web_client first, second;
    size_t length = 0;

    (void)state;
    for (size_t i = 0; i < sizeof revisions / sizeof revisions[0]; i++) {
        session[0] = '\0';
        open_session(revisions[i]);
        web_client_init(&first);
        web_client_init(&second);
        request(&first, "POST", "", "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
        web_client_read_head(&first, false); /* it is connected: what it sends next comes first */
        (void)web_client_read_body(&first, &length);
        request(&first, "POST", "",
                "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
                "\"name\":\"rig/hold\"}}");
        request(&second, "POST", "", cancelled);
        web_client_read_head(&second, false);
        assert_int_equal(second.status, 202);
        (void)web_client_read_body(&second, &length);
        web_client_read_head(&first, false);
        assert_int_equal(first.status, 200);
        assert_true(first.is_events);
        expect_end(&first);
        web_client_close(&first);
        web_client_close(&second);
    }
}

static void shut(const web_client *client)
{
    assert_int_equal(shutdown(client->fd, SHUT_WR), 0);
}

/* It has asked all it wants to, and reads. */
static void a_half_closed_client_gets_its_events_to_the_end(void **state)
{
    web_client client;
    web_event event;

    (void)state;
    open_session("2025-06-18");
    web_client_init(&client);
    request(&client, "POST", "", CALL("1", "rig/hold", "{}"));
    web_client_read_head(&client, false);
    expect_event(&client, "1-1", "\"progress\":1");
    shut(&client);
    assert_true(web_client_read_event(&client, &event));
    assert_non_null(event.comment); /* that would find it gone */
    web_release();
    expect_event(&client, "1-2", "\"progress\":2");
    expect_event(&client, "1-3", "\"id\":1,\"result\"");
    expect_end(&client);
    web_client_close(&client);
}

/* Which would last as long as it reads. */
static void a_stream_without_end_ends_when_its_client_sends_no_more(void **state)
{
    static const char listen[] =
        "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"method\":\"subscriptions/listen\",\"params\":{"
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
        "\"io.modelcontextprotocol/clientCapabilities\":{}},"
        "\"notifications\":{\"toolsListChanged\":true}}}";
    web_client client;
    web_event event;

    (void)state;
    open_session("2025-06-18");
    web_client_init(&client);
    request(&client, "GET", "Accept: text/event-stream\r\n", "");
    web_client_read_head(&client, false);
    assert_int_equal(client.status, 200);
    shut(&client);
    while (web_client_read_event(&client, &event))
        assert_non_null(event.comment);
    web_client_close(&client);
    session[0] = '\0';
    request(&client, "POST",
            "Accept: application/json, text/event-stream\r\n"
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n",
            listen);
    web_client_read_head(&client, false);
    assert_int_equal(client.status, 200);
    expect_event(&client, NULL, "subscriptions/acknowledged");
    shut(&client);
    assert_true(web_client_read_event(&client, &event));
    assert_non_null(event.comment);
    expect_event(&client, NULL, "\"id\":\"s\",\"result\"");
    expect_end(&client);
    web_client_close(&client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_comes_first_decides, begin, end),
        cmocka_unit_test_setup_teardown(each_stream_has_its_number, begin, end),
        cmocka_unit_test_setup_teardown(a_client_that_is_gone_finds_its_events_kept, begin, end),
        cmocka_unit_test_setup_teardown(a_stream_has_one_connection, begin, end),
        cmocka_unit_test_setup_teardown(a_cancelled_request_ends_in_an_empty_stream, begin, end),
        cmocka_unit_test_setup_teardown(a_half_closed_client_gets_its_events_to_the_end, begin,
                                        end),
        cmocka_unit_test_setup_teardown(a_stream_without_end_ends_when_its_client_sends_no_more,
                                        begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
