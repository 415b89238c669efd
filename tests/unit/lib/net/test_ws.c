/*
 * test_ws.c - WebSocket frame by frame, written by hand after RFC 6455.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/ws.h"
#include "rig.h"
#include "site.h"

#define MESSAGE_MAX 100000

struct room {
    mcp__http_options options;
    mcp__ws_options ws;
    mcp__ws *last; /* the loop's */
    atomic_int opened;
    atomic_int messages;
    atomic_int closed;
    atomic_int refused;
};

static struct room room;
static rig *server;
static char got[1 << 20];

/* ---- the server: echoes each message --------------------------------------------------------- */

static void on_message(mcp__ws *ws, const char *text, size_t length, void *data)
{
    struct room *self = data;

    atomic_fetch_add(&self->messages, 1);
    if (length == 3 && memcmp(text, "bye", 3) == 0) {
        mcp__ws_close(ws, MCP__WS_NORMAL);
        assert_int_equal(mcp__ws_send(ws, "x", 1, NULL), MCP_E_STOPPED);
        return;
    }
    if (length == 5 && memcmp(text, "pause", 5) == 0)
        mcp__ws_pause(ws, true);
    (void)mcp__ws_send(ws, text, length, NULL);
}

static void on_closed(mcp__ws *ws, void *data)
{
    struct room *self = data;

    if (self->last == ws)
        self->last = NULL;
    atomic_fetch_add(&self->closed, 1);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    struct room *self = data;

    if (mcp__ws_accept(&self->last, exchange, &self->ws, NULL) == MCP_OK)
        atomic_fetch_add(&self->opened, 1);
    else
        atomic_fetch_add(&self->refused, 1);
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    (void)exchange;
    (void)data;
    fail_msg("an exchange that was taken over cannot hang up");
}

static int set_up(void **state)
{
    (void)state;
    memset(&room, 0, sizeof(room));
    room.options.handler = (mcp__http_handler){ .request = on_request,
                                                .hung_up = on_hung_up,
                                                .data = &room };
    room.options.stall_timeout_ms = 100; /* the clock ticks each 25 ms */
    room.ws = (mcp__ws_options){ .protocol = "mcp",
                                 .message_max_bytes = MESSAGE_MAX,
                                 .message = on_message,
                                 .closed = on_closed,
                                 .data = &room };
    server = rig_start(&room.options, NULL, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_end(server);
    return 0;
}

/* ---- a client -------------------------------------------------------------------------------- */

#define OPENING                                                                                    \
    "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"     \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"

static int opened(void)
{
    int fd = client_open(rig_port(server));

    client_say(fd, OPENING "Sec-WebSocket-Protocol: mcp\r\n\r\n");
    client_read(fd, got, sizeof got, "\r\n\r\n");
    return fd;
}

/* A frame with any first byte, masked with any mask. Returns its length. */
static size_t frame(unsigned char *out, unsigned first, const void *payload, size_t length)
{
    static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
    size_t at = 0;

    out[at++] = (unsigned char)first;
    if (length < 126) {
        out[at++] = (unsigned char)(0x80 | length);
    } else if (length < 65536) {
        out[at++] = 0x80 | 126;
        out[at++] = (unsigned char)(length >> 8);
        out[at++] = (unsigned char)length;
    } else {
        out[at++] = 0x80 | 127;
        for (int shift = 56; shift >= 0; shift -= 8)
            out[at++] = (unsigned char)((uint64_t)length >> shift);
    }
    memcpy(out + at, mask, 4);
    at += 4;
    for (size_t i = 0; i < length; i++)
        out[at++] = ((const unsigned char *)payload)[i] ^ mask[i % 4];
    return at;
}

static void send_frame(int fd, unsigned first, const void *payload, size_t length)
{
    static unsigned char bytes[1 << 20];

    client_send(fd, bytes, frame(bytes, first, payload, length));
}

/* A whole frame from the server: its first byte; the payload is in `got`. */
static unsigned hear_frame(int fd, size_t *length)
{
    unsigned char head[2];
    unsigned char more[8];

    client_read_exactly(fd, head, 2);
    assert_int_equal(head[1] & 0x80, 0); /* a server does not mask: section 5.1 */
    *length = head[1];
    if (head[1] == 126) {
        client_read_exactly(fd, more, 2);
        *length = (size_t)more[0] << 8 | more[1];
    } else if (head[1] == 127) {
        client_read_exactly(fd, more, 8);
        *length = 0;
        for (int i = 0; i < 8; i++)
            *length = *length << 8 | more[i];
    }
    assert_true(*length < sizeof got);
    client_read_exactly(fd, got, *length);
    got[*length] = '\0';
    return head[0];
}

static void hears_text(int fd, const char *wanted)
{
    size_t length = 0;

    assert_int_equal(hear_frame(fd, &length), 0x81);
    assert_string_equal(got, wanted);
}

static void hears_close(int fd, int code)
{
    size_t length = 0;

    assert_int_equal(hear_frame(fd, &length), 0x88);
    assert_true(length >= 2);
    assert_int_equal((unsigned char)got[0] << 8 | (unsigned char)got[1], code);
    assert_true(client_is_closed_within(fd, 2000));
    close(fd);
}

/* ---- the opening ----------------------------------------------------------------------------- */

static void shakes_hands_as_the_rfc_does(void **state)
{
    (void)state;
    int fd = opened();
    assert_int_equal(strncmp(got, "HTTP/1.1 101 Switching Protocols\r\n", 34), 0);
    assert_non_null(strstr(got, "Upgrade: websocket\r\n"));
    assert_non_null(strstr(got, "Connection: Upgrade\r\n"));
    assert_non_null(strstr(got, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));
    assert_non_null(strstr(got, "Sec-WebSocket-Protocol: mcp\r\n"));
    assert_null(strstr(got, "Content-Length"));
    client_send(fd, "\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58", 11); /* section 5.7 */
    char answer[7];
    client_read_exactly(fd, answer, 7);
    assert_memory_equal(answer, "\x81\x05Hello", 7);
    close(fd);
    site_wait(&room.closed, 1);
}

/* What comes in the same packet as the opening is not lost. */
static void frames_may_follow_at_once(void **state)
{
    static const char request[] = OPENING "Sec-WebSocket-Protocol: x, mcp\r\n\r\n";
    unsigned char bytes[512];
    size_t length = sizeof request - 1;

    (void)state;
    memcpy(bytes, request, length);
    length += frame(bytes + length, 0x81, "one", 3);
    length += frame(bytes + length, 0x81, "two", 3);
    int fd = client_open(rig_port(server));
    client_send(fd, bytes, length);
    client_read_exactly(fd, got, 17);
    got[17] = '\0';
    while (!strstr(got, "\r\n\r\n")) {
        size_t have = strlen(got);
        client_read_exactly(fd, got + have, 1);
        got[have + 1] = '\0';
    }
    hears_text(fd, "one");
    hears_text(fd, "two");
    close(fd);
}

struct row {
    const char *request;
    const char *wanted;
};

static void refuses_other_openings(void **state)
{
    static const struct row rows[] = {
        { OPENING "\r\n", "HTTP/1.1 400 " }, /* no subprotocol */
        { OPENING "Sec-WebSocket-Protocol: mcpx, chat\r\n\r\n", "HTTP/1.1 400 " },
        { "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 8\r\n"
          "Sec-WebSocket-Protocol: mcp\r\n\r\n",
          "HTTP/1.1 426 " },
        { "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: c2hvcnQ=\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: mcp\r\n\r\n",
          "HTTP/1.1 400 " },
        { "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ!==\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: mcp\r\n\r\n",
          "HTTP/1.1 400 " },
        { OPENING "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                  "Sec-WebSocket-Protocol: mcp\r\n\r\n",
          "HTTP/1.1 400 " },
        { "GET /ws HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400 " },
        { "GET /ws HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
          "HTTP/1.1 400 " },
        { "POST /ws HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
          "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
          "Sec-WebSocket-Protocol: mcp\r\n\r\n",
          "HTTP/1.1 400 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int fd = client_open(rig_port(server));
        client_say(fd, rows[i].request);
        client_read(fd, got, sizeof got, "\r\n\r\n");
        if (strncmp(got, rows[i].wanted, strlen(rows[i].wanted)) != 0)
            fail_msg("not %s to %s but %s", rows[i].wanted, rows[i].request, got);
        assert_non_null(strstr(got, "Sec-WebSocket-Version: 13\r\n"));
        close(fd);
    }
    assert_int_equal(room.opened, 0);
    assert_int_equal(room.refused, 9);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void fragments_are_joined_pings_are_answered(void **state)
{
    size_t length = 0;
    int fd = opened();

    (void)state;
    send_frame(fd, 0x01, "one ", 4);
    send_frame(fd, 0x89, "are you there", 13); /* control frames may come between */
    send_frame(fd, 0x00, "two ", 4);
    send_frame(fd, 0x00, "", 0);
    send_frame(fd, 0x80, "three", 5);
    assert_int_equal(hear_frame(fd, &length), 0x8a);
    assert_string_equal(got, "are you there");
    hears_text(fd, "one two three");
    send_frame(fd, 0x81, "", 0);
    hears_text(fd, "");
    assert_int_equal(room.messages, 2);
    close(fd);
}

static void frames_may_come_byte_by_byte(void **state)
{
    unsigned char bytes[64];
    int fd = opened();
    size_t length = frame(bytes, 0x81, "caf\xc3\xa9", 5);

    (void)state;
    for (size_t i = 0; i < length; i++)
        client_send(fd, bytes + i, 1);
    hears_text(fd, "caf\xc3\xa9");
    close(fd);
}

static void messages_are_bounded(void **state)
{
    static char large[MESSAGE_MAX + 1];
    size_t length = 0;
    int fd = opened();

    (void)state;
    memset(large, 'x', sizeof large);
    send_frame(fd, 0x81, large, MESSAGE_MAX - 1);
    assert_int_equal(hear_frame(fd, &length), 0x81);
    assert_int_equal(length, MESSAGE_MAX - 1);
    send_frame(fd, 0x81, large, MESSAGE_MAX);
    assert_int_equal(hear_frame(fd, &length), 0x81);
    assert_int_equal(length, MESSAGE_MAX);
    send_frame(fd, 0x81, large, MESSAGE_MAX + 1);
    hears_close(fd, 1009);
    fd = opened(); /* the sum of fragments counts */
    send_frame(fd, 0x01, large, MESSAGE_MAX);
    send_frame(fd, 0x80, large, 1);
    hears_close(fd, 1009);
    fd = opened(); /* and what a head announces */
    client_send(fd, "\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0x", 15);
    hears_close(fd, 1009);
    site_wait(&room.closed, 3);
}

/* 16,384 frames of one message; the next would be one too many, whatever is in it. */
static void fragments_are_counted(void **state)
{
    const int most = 16384;
    size_t length = 0;

    (void)state;
    for (int extra = -1; extra <= 1; extra++) {
        int fd = opened();
        send_frame(fd, 0x01, "x", 1);
        for (int i = 2; i < most + extra; i++)
            send_frame(fd, 0x00, "", 0);
        send_frame(fd, 0x80, "y", 1);
        if (extra <= 0) {
            assert_int_equal(hear_frame(fd, &length), 0x81);
            assert_int_equal(length, 2);
        } else {
            hears_close(fd, 1008);
        }
        close(fd);
    }
}

struct fault {
    const char *frame;
    size_t length;
    int code;
};

/* Masked with zeros, so that the payload can be read here. */
static void faults_are_closed_with_their_code(void **state)
{
    static const struct fault faults[] = {
        { "\x82\x81\0\0\0\0x", 7, 1003 },                   /* binary */
        { "\x81\x01x", 3, 1002 },                           /* not masked */
        { "\xc1\x81\0\0\0\0x", 7, 1002 },                   /* a reserved bit */
        { "\x83\x81\0\0\0\0x", 7, 1002 },                   /* a reserved opcode */
        { "\x80\x81\0\0\0\0x", 7, 1002 },                   /* a continuation of nothing */
        { "\x01\x81\0\0\0\0x\x81\x81\0\0\0\0x", 14, 1002 }, /* a beginning within a message */
        { "\x09\x80\0\0\0\0", 6, 1002 },                    /* a control frame in fragments */
        { "\x89\xfe\x00\x7e\0\0\0\0", 8, 1002 },            /* a control frame of 126 bytes */
        { "\x81\x81\0\0\0\0\xff", 7, 1007 },                /* not UTF-8 */
        { "\x81\x82\0\0\0\0\xc0\x80", 8, 1007 },            /* overlong */
        { "\x81\x83\0\0\0\0\xed\xa0\x80", 9, 1007 },        /* a surrogate */
        { "\x81\x81\0\0\0\0\xc3", 7, 1007 },                /* cut within a character */
        { "\x81\xfe\x00\x01\0\0\0\0x", 9, 1002 }, /* a length that is longer than it need be */
        { "\x88\x81\0\0\0\0x", 7, 1002 },         /* a close of one byte */
        { "\x88\x82\0\0\0\0\x03\xed", 8, 1002 },  /* 1005 may not be sent */
    };

    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int fd = opened();
        client_send(fd, faults[i].frame, faults[i].length);
        hears_close(fd, faults[i].code);
    }
    assert_int_equal(room.messages, 0);
    site_wait(&room.closed, sizeof faults / sizeof faults[0]);
}

static void either_side_may_close(void **state)
{
    int fd = opened();

    (void)state;
    send_frame(fd, 0x88,
               "\x03\xe8"
               "done",
               6);
    hears_close(fd, 1000);
    site_wait(&room.closed, 1);
    fd = opened();
    send_frame(fd, 0x81, "bye", 3);
    send_frame(fd, 0x81, "too late", 8);
    hears_close(fd, 1000);
    site_wait(&room.closed, 2);
    assert_int_equal(room.messages, 1);
    fd = opened();
    close(fd); /* without a word */
    site_wait(&room.closed, 3);
}

static void stopping_says_goodbye(void **state)
{
    int fd = opened();

    (void)state;
    site_wait(&room.opened, 1);
    rig_stop(server);
    hears_close(fd, 1001);
    assert_int_equal(room.closed, 1);
}

static void unpause(void *data)
{
    mcp__ws_pause(((struct room *)data)->last, false);
}

static void a_paused_one_is_not_read(void **state)
{
    static char large[60000];
    size_t length = 0;
    int fd = opened();

    (void)state;
    memset(large, 'x', sizeof large);
    send_frame(fd, 0x81, "pause", 5);
    hears_text(fd, "pause");
    send_frame(fd, 0x81, large, sizeof large);
    send_frame(fd, 0x81, large, sizeof large);
    struct timespec nap = { .tv_nsec = 50000000 };
    nanosleep(&nap, NULL);
    assert_int_equal(room.messages, 1);
    rig_call(server, unpause, &room);
    assert_int_equal(hear_frame(fd, &length), 0x81);
    assert_int_equal(hear_frame(fd, &length), 0x81);
    assert_int_equal(length, sizeof large);
    close(fd);
}

static void who_does_not_answer_pings_is_closed(void **state)
{
    size_t length = 0;
    int answering;
    int silent;

    (void)state;
    room.ws.ping_ms = 60;
    answering = opened();
    silent = opened();
    for (int i = 0; i < 5; i++) { /* a client that answers stays */
        assert_int_equal(hear_frame(answering, &length), 0x89);
        send_frame(answering, 0x8a, got, length);
    }
    assert_int_equal(hear_frame(silent, &length), 0x89);
    assert_int_equal(hear_frame(silent, &length), 0x89);
    hears_close(silent, 1001);
    site_wait(&room.closed, 1);
    assert_int_equal(room.closed, 1);
    close(answering);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shakes_hands_as_the_rfc_does, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_may_follow_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_other_openings, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fragments_are_joined_pings_are_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(frames_may_come_byte_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(messages_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fragments_are_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(faults_are_closed_with_their_code, set_up, tear_down),
        cmocka_unit_test_setup_teardown(either_side_may_close, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stopping_says_goodbye, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_paused_one_is_not_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(who_does_not_answer_pings_is_closed, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("WebSocket", tests, NULL, NULL);
}
