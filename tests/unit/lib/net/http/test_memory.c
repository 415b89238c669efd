/*
 * test_memory.c - memory that runs out anywhere in a conversation costs that conversation, nothing
 * else.
 *
 * One thread, a socket pair, and the loop turned by hand, so that the allocation that fails can be
 * chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "net/http/connection.h"
#include "net/ws.h"

#define ROUNDS_MAX 500

static char got[1 << 20];
static mcp__loop *loop;
static mcp__http *http;
static int given; /* exchanges handed out and neither answered nor hung up */

static void on_message(mcp__ws *ws, const char *text, size_t length, void *data)
{
    (void)data;
    (void)mcp__ws_send(ws, text, length, NULL);
}

static void on_closed(mcp__ws *ws, void *data)
{
    (void)ws;
    (void)data;
    given--;
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    static const mcp__ws_options options = { .message = on_message, .closed = on_closed };
    static const mcp__http_field_out fields[] = { { "Content-Type", "text/plain" } };
    mcp__http_head_out head = { .status = 200, .fields = fields, .count = 1 };
    mcp__ws *ws = NULL;
    mcp_buf body;

    (void)data;
    if (mcp__ws_is_wanted(exchange)) {
        given += mcp__ws_accept(&ws, exchange, &options, NULL) == MCP_OK;
        return;
    }
    mcp_buf_init(&body, 1 << 20);
    (void)mcp__http_body_take(exchange, &body, NULL);
    if (mcp__http_query(exchange)) {
        mcp_status st = mcp__http_begin(exchange, &head, NULL);
        given += st == MCP_OK;
        if (st == MCP_OK && mcp__http_write_buf(exchange, &body, NULL) == MCP_OK) {
            mcp__http_end(exchange);
            given--;
        }
        mcp_buf_clear(&body);
        return;
    }
    (void)mcp__http_reply_buf(exchange, &head, &body, NULL);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    (void)exchange;
    (void)data;
    given--;
}

static int set_up(void **state)
{
    mcp__http_options options = { .handler = { .request = on_request, .hung_up = on_hung_up } };

    (void)state;
    given = 0;
    if (mcp__loop_new(&loop, NULL) != MCP_OK)
        return -1;
    return mcp__http_new(&http, loop, &options, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__http_free(http);
    mcp__loop_free(loop);
    return 0;
}

/* Send, turn the loop, and read what comes, until nothing more does. */
static size_t converse(int fd, const char *bytes, size_t length)
{
    size_t have = 0;
    ssize_t count = 0;

    for (int quiet = 0; quiet<3; quiet = count> 0 ? 0 : quiet + 1) {
        if (length > 0) {
            ssize_t sent = send(fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
            bytes += sent > 0 ? sent : 0;
            length -= sent > 0 ? (size_t)sent : length;
        }
        (void)uv_run(&loop->uv, UV_RUN_NOWAIT);
        count = recv(fd, got + have, sizeof got - 1 - have, MSG_DONTWAIT);
        have += count > 0 ? (size_t)count : 0;
    }
    got[have] = '\0';
    return have;
}

/* Have the conversation with each allocation failing in turn, until one is reached that it does not
 * make. */
static void survives(const char *bytes, size_t length, const char *wanted)
{
    bool was_refused = true;

    for (long successes = 0; was_refused; successes++) {
        int pair[2];
        assert_true(successes < ROUNDS_MAX);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        mcp__alloc_fail_after(successes);
        mcp_status st = mcp__connection_new(http, pair[0], true, NULL, NULL);
        converse(pair[1], bytes, length);
        was_refused = mcp__alloc_was_refused();
        mcp__alloc_fail_after(-1);
        assert_true(st == MCP_OK || was_refused);
        assert_true(got[0] == '\0' || strncmp(got, "HTTP/1.1 ", 9) == 0);
        if (!was_refused && !strstr(got, wanted))
            fail_msg("\"%s\" is not in: %s", wanted, got);
        close(pair[1]);
        converse(pair[1], NULL, 0);
        assert_int_equal(mcp__http_connections(http), 0);
        assert_int_equal(given, 0);
    }
}

static void requests(void **state)
{
    static char all[200 * 1024];
    size_t length = 0;

    (void)state;
    strcpy(all, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nfirst"
                "POST /?s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                "6\r\nsecond\r\n5\r\nchunk\r\n0\r\n\r\n"
                "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 120000\r\n\r\n");
    length = strlen(all);
    memset(all + length, 'x', 120000);
    strcpy(all + length + 120000, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nlast");
    survives(all, length + 120000 + strlen(all + length + 120000), "last");
}

static void refusals(void **state)
{
    static const char bad[] = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n";

    (void)state;
    survives(bad, sizeof bad - 1, " 413 ");
}

static void websockets(void **state)
{
    static const char all[] =
        "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58";

    (void)state;
    survives(all, sizeof all - 1, "\x81\x05Hello");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(websockets, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("HTTP without memory", tests, NULL, NULL);
}
