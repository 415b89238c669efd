/*
 * test_websocket.c - MCP messages in text frames, both eras on one connection, and its end.
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

#define OPENING                                                                                    \
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"                   \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
#define MCP_OFFER "Sec-WebSocket-Protocol: mcp\r\n"

static web_rig *rig_of_test;
static web_answer answer;

static int begin(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    http.websocket = true;
    rig_of_test = web_start(NULL, &http);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return web_end(rig_of_test) == MCP_OK ? 0 : -1;
}

static int open_socket(void)
{
    char text[2048];
    int fd = web_begin(web_port(rig_of_test), "GET", "/ws", OPENING MCP_OFFER, NULL);

    client_read(fd, text, sizeof(text), "\r\n\r\n");
    assert_non_null(strstr(text, "HTTP/1.1 101 "));
    assert_non_null(strstr(text, "Sec-WebSocket-Protocol: mcp\r\n"));
    assert_non_null(strstr(text, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    return fd;
}

/* A masked text frame whose mask is zero. */
static void say(int fd, const char *text)
{
    size_t length = strlen(text);
    unsigned char head[] = {
        0x81, 0x80 | 126, (unsigned char)(length >> 8), (unsigned char)length, 0, 0, 0, 0
    };

    assert_true(length >= 126 && length < 65536);
    assert_true(client_send(fd, head, sizeof head));
    assert_true(client_send(fd, text, length));
}

#define PAD "                                                                                      "

static void both_eras_come_on_one_connection(void **state)
{
    char text[16384];

    (void)state;
    int fd = open_socket();
    say(fd,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    client_read(fd, text, sizeof(text), "\"protocolVersion\":\"2025-06-18\"");
    say(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
            "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
            "\"io.modelcontextprotocol/clientCapabilities\":{}}}}");
    client_read(fd, text, sizeof(text), "\"resultType\":\"complete\"");
    say(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}" PAD PAD);
    client_read(fd, text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    close(fd);
}

static void reports_come_and_calls_can_be_cancelled(void **state)
{
    char text[16384];

    (void)state;
    int fd = open_socket();
    say(fd,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","
        "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}" PAD);
    client_read(fd, text, sizeof(text), "\"progressToken\":7");
    say(fd,
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}" PAD);
    say(fd, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}" PAD PAD);
    client_read(fd, text, sizeof(text), "\"id\":2");
    assert_null(strstr(text, "\"id\":1,"));
    close(fd);
}

/* A ping of 100,000 bytes, which a worker reads. */
static void say_large(int fd, int id)
{
    const size_t length = 100000;
    unsigned char head[] = { 0x81,
                             0x80 | 127,
                             0,
                             0,
                             0,
                             0,
                             (unsigned char)(length >> 24),
                             (unsigned char)(length >> 16),
                             (unsigned char)(length >> 8),
                             (unsigned char)length,
                             0,
                             0,
                             0,
                             0 };
    char *text = malloc(length + 1);

    memset(text, ' ', length);
    int used = sprintf(text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", id);
    text[used] = ' ';
    assert_true(client_send(fd, head, sizeof head));
    assert_true(client_send(fd, text, length));
    free(text);
}

/* The second is small, and is not answered before the first all the same. */
static void large_messages_keep_their_place(void **state)
{
    char text[16384];

    (void)state;
    int fd = open_socket();
    say(fd,
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
        "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}");
    client_read(fd, text, sizeof(text), "\"protocolVersion\":\"2025-06-18\"");
    for (int i = 1; i < 40; i += 4) {
        char wanted[64];
        say_large(fd, i);
        say(fd, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}" PAD PAD);
        say(fd, "{\"jsonrpc\":\"2.0\",\"id\":\"b\",\"method\":\"ping\"}" PAD PAD);
        say_large(fd, i + 1);
        (void)snprintf(wanted, sizeof wanted, "\"id\":%d,", i + 1);
        client_read(fd, text, sizeof(text), wanted);
        (void)snprintf(wanted, sizeof wanted, "\"id\":%d,", i);
        const char *first = strstr(text, wanted);
        const char *second = strstr(text, "\"id\":\"a\"");
        const char *third = strstr(text, "\"id\":\"b\"");
        assert_true(first && second && third && first < second && second < third);
    }
    close(fd);
}

static void a_client_may_leave_while_its_message_is_read(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        int fd = open_socket();
        say_large(fd, i);
        close(fd);
    }
}

static void the_end_of_the_connection_cancels(void **state)
{
    char text[16384];

    (void)state;
    int fd = open_socket();
    say(fd,
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"rig/hold\","
        "\"arguments\":{},\"_meta\":{\"progressToken\":7}}}" PAD);
    client_read(fd, text, sizeof(text), "\"progressToken\":7");
    close(fd); /* nobody releases it: the server would need its grace time */
}

static void on_shutdown_the_server_goes_away(void **state)
{
    unsigned char frame[4];

    (void)state;
    (void)begin(NULL);
    int fd = open_socket();
    assert_int_equal(web_end(rig_of_test), MCP_OK);
    client_read_exactly(fd, frame, sizeof frame);
    assert_memory_equal(frame, "\x88\x02\x03\xe9", 4); /* close, 1001 */
    close(fd);
}

static void what_is_no_opening_is_refused(void **state)
{
    int port = web_port(rig_of_test);

    (void)state;
    web_ask(&answer, port, "GET", "/ws", NULL, NULL);
    assert_int_equal(answer.status, 426);
    web_ask(&answer, port, "POST", "/ws", NULL, "{}");
    assert_int_equal(answer.status, 405);
    int fd = web_begin(port, "GET", "/ws", OPENING "Sec-WebSocket-Protocol: chat\r\n", NULL);
    char text[2048];
    client_read(fd, text, sizeof(text), "HTTP/1.1 400 ");
    close(fd);
    fd = web_begin(port, "GET", "/ws", OPENING MCP_OFFER "Origin: http://evil.example\r\n", NULL);
    client_read(fd, text, sizeof(text), "HTTP/1.1 403 ");
    close(fd);
}

static void it_is_there_when_asked_for(void **state)
{
    (void)state;
    rig_of_test = web_start(NULL, NULL);
    web_ask(&answer, web_port(rig_of_test), "GET", "/ws", NULL, NULL);
    assert_int_equal(answer.status, 404);
    assert_int_equal(web_end(rig_of_test), MCP_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(both_eras_come_on_one_connection, begin, end),
        cmocka_unit_test_setup_teardown(reports_come_and_calls_can_be_cancelled, begin, end),
        cmocka_unit_test_setup_teardown(large_messages_keep_their_place, begin, end),
        cmocka_unit_test_setup_teardown(a_client_may_leave_while_its_message_is_read, begin, end),
        cmocka_unit_test_setup_teardown(the_end_of_the_connection_cancels, begin, end),
        cmocka_unit_test(on_shutdown_the_server_goes_away),
        cmocka_unit_test_setup_teardown(what_is_no_opening_is_refused, begin, end),
        cmocka_unit_test(it_is_there_when_asked_for),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
