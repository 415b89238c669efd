/*
 * test_connection.c - clients that are slow, silent, gone, too many or too much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "mcp/clock.h"
#include "net/http/connection.h"
#include "rig.h"
#include "scratch.h"
#include "site.h"

static site page;
static rig *server;
static char got[1 << 20];

static int begin(int timeout_ms, int stall_timeout_ms)
{
    site_init(&page);
    page.options.head_timeout_ms = timeout_ms;
    page.options.body_timeout_ms = timeout_ms;
    page.options.idle_timeout_ms = timeout_ms;
    page.options.stall_timeout_ms = stall_timeout_ms;
    page.options.queue_max_bytes = 64 * 1024;
    page.options.queue_hard_bytes = 64 * 1024 * 1024;
    page.options.bodies_max_bytes = 64 * 1024 * 1024;
    server = rig_start(&page.options, NULL, NULL, NULL);
    return 0;
}

/* Where time is not what is tested, a busy machine may take it. */
static int set_up(void **state)
{
    (void)state;
    return begin(CLIENT_WAIT_MS, CLIENT_WAIT_MS);
}

static int set_up_hasty(void **state)
{
    (void)state;
    return begin(200, 300);
}

static int tear_down(void **state)
{
    (void)state;
    rig_end(server);
    return 0;
}

static void nap(int ms)
{
    struct timespec time = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

    nanosleep(&time, NULL);
}

static int open_and_say(const char *text)
{
    int fd = client_open(rig_port(server));

    assert_true(client_say(fd, text));
    return fd;
}

static void begins(const char *wanted)
{
    if (strncmp(got, wanted, strlen(wanted)) != 0)
        fail_msg("it does not begin with %s: %s", wanted, got);
}

/* ---- time-outs ------------------------------------------------------------------------------- */

static void a_slow_head_is_cut_off(void **state)
{
    static const char head[] = "GET /hello HTTP/1.1\r\nHost: a\r\nX-Long: 0123456789";
    int fd = client_open(rig_port(server));
    int64_t begin_ms = mcp_clock_mono_ms();

    (void)state;
    for (size_t i = 0; i < sizeof head - 1; i++) { /* a byte now and then does not win time */
        if (!client_send(fd, head + i, 1))
            break;
        nap(8);
        if (mcp_clock_mono_ms() - begin_ms > 290)
            break;
    }
    client_read(fd, got, sizeof got, NULL);
    begins("HTTP/1.1 408 ");
    close(fd);
}

/* Empty lines before a request are passed over; they do not win time either. */
static void empty_lines_are_cut_off(void **state)
{
    int fd = client_open(rig_port(server));
    int64_t until_ms = mcp_clock_mono_ms() + CLIENT_WAIT_MS;
    bool is_open = true;

    (void)state;
    for (int i = 0; is_open && mcp_clock_mono_ms() < until_ms; i++) {
        is_open = client_send(fd, i % 2 == 0 ? "\r" : "\n", 1);
        nap(8);
    }
    assert_false(is_open);
    close(fd);
}

static void who_says_nothing_is_closed_without_a_word(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    assert_int_equal(client_read(fd, got, sizeof got, NULL), 0);
    close(fd);
    fd = open_and_say("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"); /* idle between requests */
    client_read(fd, got, sizeof got, NULL);
    begins("HTTP/1.1 200 ");
    assert_null(strstr(got, " 408 "));
    close(fd);
}

static void a_slow_body_is_cut_off(void **state)
{
    int fd = open_and_say("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nbegun");

    (void)state;
    client_read(fd, got, sizeof got, NULL);
    begins("HTTP/1.1 408 ");
    close(fd);
    site_wait(&page.hung_up, 1); /* it had seen the head */
    assert_int_equal(page.requests, 0);
}

static void an_answer_that_takes_long_is_waited_for(void **state)
{
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    nap(500);
    assert_int_equal(page.hung_up, 0);
    site_answer(&page, server, 0, "at last");
    client_read(fd, got, sizeof got, "at last");
    close(fd);
}

/* ---- readers --------------------------------------------------------------------------------- */

static void flood(void *data)
{
    static char large[1 << 20];
    site *self = data;

    for (int i = 0; i < 16; i++)
        assert_int_equal(mcp__http_write(site_held(self, 0), large, sizeof large, NULL), MCP_OK);
    assert_true(mcp__http_queued(site_held(self, 0)) > 16u << 20);
    assert_true(mcp__http_is_full(site_held(self, 0)));
}

static void a_reader_that_takes_nothing_is_closed(void **state)
{
    int slow = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    rig_call(server, flood, &page);
    int quick = open_and_say("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"); /* others do not notice */
    client_read(quick, got, sizeof got, "hello");
    site_wait(&page.hung_up, 1);
    close(quick);
    close(slow);
}

static void look_whether_blocked(void *data)
{
    atomic_store((atomic_bool *)data, mcp__http_is_blocked(site_held(&page, 0)));
}

static void a_slow_reader_is_reported_when_it_has_taken_all(void **state)
{
    static char large[17 << 20];
    atomic_bool is_blocked = false;
    int fd = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    rig_call(server, flood, &page);
    /* A reader that takes all while it is sent is not slow. */
    for (; !is_blocked; nap(10))
        rig_call(server, look_whether_blocked, &is_blocked);
    client_read(fd, got, sizeof got, "\r\n\r\n");
    /* The head, and some of the rest, are in `got`: 16 chunks of 1 MiB come in all. */
    size_t length = 0;
    while (page.drained == 0) {
        ssize_t count = recv(fd, large, sizeof large, MSG_DONTWAIT);
        assert_true(count != 0);
        length += count > 0 ? (size_t)count : 0;
        assert_true(length <= 17u << 20);
    }
    assert_int_equal(page.drained, 1);
    assert_int_equal(page.hung_up, 0);
    close(fd);
    site_wait(&page.hung_up, 1);
}

static void overfill(void *data)
{
    static char large[1 << 20];
    site *self = data;
    mcp_error err = MCP_ERROR_INIT;
    int count = 0;

    while (count < 100 && mcp__http_write(site_held(self, 0), large, sizeof large, &err) == MCP_OK)
        count++;
    assert_int_equal(err.status, MCP_E_LIMIT);
    assert_in_range(count, 60, 64);
    assert_int_equal(self->hung_up, 0); /* told later, not from within */
}

static void the_queue_is_bounded(void **state)
{
    int fd = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    rig_call(server, overfill, &page);
    site_wait(&page.hung_up, 1);
    close(fd);
}

/* Queue a chunk after which `bytes` wait; its head and end count. */
static mcp_status queue_up_to(mcp__http_exchange *exchange, size_t bytes, mcp_error *err)
{
    static char large[64 << 20];
    size_t length = bytes - mcp__http_queued(exchange);
    char head[24];

    for (size_t size = length; size > 0; size--) {
        int around = snprintf(head, sizeof head, "%zx\r\n", size) + 2;
        if (size + (size_t)around == length)
            return mcp__http_write(exchange, large, size, err);
    }
    fail_msg("no chunk takes %zu bytes", length);
    return MCP_E_INTERNAL;
}

static void fill_to_the_byte(void *data)
{
    site *self = data;
    const size_t soft = self->options.queue_max_bytes;
    const size_t hard = self->options.queue_hard_bytes;
    mcp__http_exchange *exchange = site_held(self, 0);
    mcp_error err = MCP_ERROR_INIT;

    assert_int_equal(queue_up_to(exchange, soft - 6, NULL), MCP_OK);
    assert_false(mcp__http_is_full(exchange));
    assert_int_equal(mcp__http_write(exchange, "x", 1, NULL), MCP_OK); /* "1\r\nx\r\n" */
    assert_int_equal(mcp__http_queued(exchange), soft);
    assert_true(mcp__http_is_full(exchange));
    assert_int_equal(queue_up_to(exchange, hard - 7, NULL), MCP_OK);
    assert_int_equal(mcp__http_write(exchange, "x", 1, NULL), MCP_OK);
    assert_int_equal(mcp__http_queued(exchange), hard - 1);
    assert_int_equal(mcp__http_write(exchange, "x", 1, &err), MCP_E_LIMIT);
    assert_int_equal(err.status, MCP_E_LIMIT);
}

static void a_queue_is_full_to_the_byte(void **state)
{
    int fd = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    rig_call(server, fill_to_the_byte, &page);
    site_wait(&page.hung_up, 1);
    close(fd);
}

/* Who sends requests and reads no answers gets no more of them served. */
static void requests_wait_behind_a_full_queue(void **state)
{
    static const char one[] = "GET /bytes/30000 HTTP/1.1\r\nHost: a\r\n\r\n";
    static char large[1 << 22];
    int fd = client_open(rig_port(server));

    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(client_say(fd, one));
    nap(100);
    int served = page.requests;
    assert_true(served < 1000);
    size_t total = 0;
    while (page.requests < 1000) { /* all, once it reads */
        ssize_t count = recv(fd, large, sizeof large, 0);
        assert_true(count > 0);
        total += (size_t)count;
    }
    assert_true(total > 20u * 1000 * 1000);
    close(fd);
}

#define LARGE " /bytes/40000000 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"

/* How the answer to a large request begins. */
static void ask_for_much(void)
{
    int fd = open_and_say("GET" LARGE);

    client_read(fd, got, 4096, "\r\n\r\n");
    close(fd);
}

/* The first waits for its reader; there is no room for another like it. Small ones pass, and all
 * when it has gone. */
static void large_answers_share_their_memory(void **state)
{
    int fd = open_and_say("GET" LARGE);

    (void)state;
    site_wait(&page.requests, 1);
    ask_for_much();
    begins("HTTP/1.1 503 ");
    assert_non_null(strstr(got, "Retry-After: 1\r\n"));
    client_ask(rig_port(server), "GET /bytes/10 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
               got, sizeof got);
    begins("HTTP/1.1 200 ");
    int other = open_and_say("POST" LARGE);
    /* Cut: it must not look undone. */
    assert_int_equal(client_read(other, got, sizeof got, NULL), 0);
    close(other);
    close(fd);
    do /* until the server has seen that */
        ask_for_much();
    while (strncmp(got, "HTTP/1.1 503 ", 13) == 0);
    begins("HTTP/1.1 200 ");
}

/* ---- hanging up ------------------------------------------------------------------------------ */

static void a_hang_up_is_seen_while_the_handler_runs(void **state)
{
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    close(fd);
    site_wait(&page.hung_up, 1);
    fd = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"); /* the same for a stream */
    site_wait(&page.holding, 2);
    close(fd);
    site_wait(&page.hung_up, 2);
}

static void a_reset_is_a_hang_up(void **state)
{
    struct linger now = { .l_onoff = 1, .l_linger = 0 };
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    site_wait(&page.hung_up, 1);
}

/* Even when so much was sent ahead that the socket is not read any more. */
static void a_hang_up_is_seen_behind_unread_bytes(void **state)
{
    static char ahead[100 * 1024]; /* more than is held back, less than the kernel takes */
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    memset(ahead, 'x', sizeof ahead);
    assert_true(client_send(fd, ahead, sizeof ahead));
    nap(50);
    close(fd);
    site_wait(&page.hung_up, 1);
}

static void a_client_that_has_shut_one_side_reads_its_answer(void **state)
{
    int fd = open_and_say("GET /bytes/1000000 HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    shutdown(fd, SHUT_WR);
    size_t length = client_read(fd, got, sizeof got, NULL);
    assert_true(length > 1000000);
    close(fd);
}

static void is_released(int fd, int number)
{
    site_answer(&page, server, number, "late");
    size_t length = client_read(fd, got, sizeof got, NULL);
    got[length] = '\0';
}

static void an_answer_that_is_due_reaches_a_client_that_has_shut_one_side(void **state)
{
    static const char *const versions[] = { "1.0", "1.1" };
    char request[64];

    (void)state;
    for (int i = 0; i < 2; i++) {
        (void)snprintf(request, sizeof request, "GET /hold HTTP/%s\r\nHost: a\r\n\r\n",
                       versions[i]);
        int fd = open_and_say(request);
        site_wait(&page.holding, i + 1);
        shutdown(fd, SHUT_WR);
        nap(50);
        is_released(fd, i);
        begins("HTTP/1.1 200 ");
        assert_non_null(strstr(got, "\r\n\r\nlate"));
        close(fd);
    }
    assert_int_equal(page.hung_up, 0);
}

static void what_was_asked_ahead_is_answered_before_the_end(void **state)
{
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
                          "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"
                          "GET /hello HTTP/1.1\r\nHo");

    (void)state;
    site_wait(&page.holding, 1);
    shutdown(fd, SHUT_WR);
    nap(50);
    is_released(fd, 0);
    begins("HTTP/1.1 200 ");
    const char *second = strstr(got, "lateHTTP/1.1 200 ");
    assert_non_null(second);
    assert_non_null(strstr(second, "\r\n\r\nhello"));
    assert_null(strstr(second + 5, "HTTP/1.1")); /* of the third only a part came */
    assert_int_equal(page.requests, 2);
    close(fd);
}

/* Bytes that any client of HTTP/1.1 passes over find out whether it is there. */
static void an_answer_that_takes_long_is_announced_to_such_a_client(void **state)
{
    int fd = open_and_say("GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");

    (void)state;
    site_wait(&page.holding, 1);
    shutdown(fd, SHUT_WR);
    client_read(fd, got, sizeof got, "\r\n\r\n");
    assert_string_equal(got, "HTTP/1.1 102 Processing\r\n\r\n");
    is_released(fd, 0);
    begins("HTTP/1.1 200 ");
    close(fd);
}

static void a_reset_is_seen_after_one_side_was_shut(void **state)
{
    struct linger now = { .l_onoff = 1, .l_linger = 0 };
    int fd = open_and_say("GET /hold HTTP/1.0\r\n\r\n"); /* no 102 comes to its help */

    (void)state;
    site_wait(&page.holding, 1);
    shutdown(fd, SHUT_WR);
    nap(50);
    assert_int_equal(page.hung_up, 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd);
    site_wait(&page.hung_up, 1);
}

static void nobody_is_notified_twice(void **state)
{
    (void)state;
    int fd = open_and_say("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(fd, got, sizeof got, "hello");
    close(fd);
    fd = open_and_say("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
    site_wait(&page.heads, 2);
    close(fd);
    site_wait(&page.hung_up, 1);
    nap(20);
    assert_int_equal(page.hung_up, 1);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void a_refusal_gets_through_though_more_is_sent(void **state)
{
    static char large[256 * 1024];
    int fd = open_and_say("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n");

    (void)state;
    memset(large, 'x', sizeof large);
    (void)client_send(fd, large, sizeof large);
    client_read(fd, got, sizeof got, NULL);
    begins("HTTP/1.1 413 ");
    assert_non_null(strstr(got, "Connection: close\r\n"));
    close(fd);
}

static void a_chunked_body_that_grows_too_large_is_refused(void **state)
{
    static char chunk[100 * 1024];
    int fd = open_and_say("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    size_t head = (size_t)snprintf(chunk, sizeof(chunk), "18000\r\n");

    (void)state;
    memset(chunk + head, 'x', 0x18000);
    memcpy(chunk + head + 0x18000, "\r\n", 2);
    for (int i = 0; i < 60; i++) {
        if (!client_send(fd, chunk, head + 0x18000 + 2))
            break;
    }
    client_read(fd, got, sizeof got, NULL);
    begins("HTTP/1.1 413 ");
    close(fd);
    site_wait(&page.hung_up, 1);
}

/* A client that keeps sending after a refusal is closed in the end. */
static void lingering_is_bounded(void **state)
{
    static char large[256 * 1024];
    int fd = open_and_say("nonsense\r\n\r\n");
    size_t sent = 0;

    (void)state;
    while (sent < 64u << 20 && client_send(fd, large, sizeof large))
        sent += sizeof large;
    assert_true(sent < 64u << 20);
    close(fd);
}

struct row {
    const char *bytes;
    const char *wanted;
};

static void hostile_input_is_refused_and_closed(void **state)
{
    static const struct row rows[] = {
        { "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\n",
          "HTTP/1.1 400 " }, /* TLS to a plain port */
        { "GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 " },
        { "GET / HTTP/9.9\r\nHost: a\r\n\r\n", "HTTP/1.1 505 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
          "0\r\n\r\n",
          "HTTP/1.1 400 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
          "HTTP/1.1 400 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 " },
        { "POST / HTTP/1.1\r\nHost: a\r\nExpect: magic\r\n\r\n", "HTTP/1.1 417 " },
        { "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 505 " },
        { "\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200 " },
        { "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
          "GET /last HTTP/1.1\r\nHost: a\r\n\r\n",
          "HTTP/1.1 200 " },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        client_ask(rig_port(server), rows[i].bytes, got, sizeof got);
        if (strncmp(got, rows[i].wanted, strlen(rows[i].wanted)) != 0)
            fail_msg("not %s to %s but %s", rows[i].wanted, rows[i].bytes, got);
    }
    assert_non_null(strstr(got, "bye")); /* the one behind the offered h2c */
}

/* ---- many ------------------------------------------------------------------------------------ */

static void two_thousand_idle_streams(void **state)
{
    enum { STREAMS = 2000 };
    static int fds[STREAMS];

    (void)state;
    size_t limit = 0;
    assert_int_equal(mcp__descriptors_raise(&limit, NULL), MCP_OK);
    assert_true(limit > 2 * STREAMS + 100);
    for (int i = 0; i < STREAMS; i++)
        fds[i] = open_and_say("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, STREAMS);
    for (int i = 0; i < STREAMS; i += 97) {
        site_write(&page, server, i, "data: here\n\n");
        client_read(fds[i], got, sizeof got, "data: here\n\n");
    }
    for (int i = 0; i < STREAMS; i++)
        close(fds[i]);
    site_wait(&page.hung_up, STREAMS);
}

/* 10,000 in under 10 MB with what the program itself needs: half a kilobyte each. */
static void an_idle_connection_is_small(void **state)
{
    (void)state;
    assert_true(sizeof(connection) <= 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_slow_head_is_cut_off, set_up_hasty, tear_down),
        cmocka_unit_test_setup_teardown(empty_lines_are_cut_off, set_up_hasty, tear_down),
        cmocka_unit_test_setup_teardown(who_says_nothing_is_closed_without_a_word, set_up_hasty,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slow_body_is_cut_off, set_up_hasty, tear_down),
        cmocka_unit_test_setup_teardown(an_answer_that_takes_long_is_waited_for, set_up_hasty,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_reader_that_takes_nothing_is_closed, set_up_hasty,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_slow_reader_is_reported_when_it_has_taken_all, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_queue_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_queue_is_full_to_the_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(requests_wait_behind_a_full_queue, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_answers_share_their_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_is_seen_while_the_handler_runs, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_reset_is_a_hang_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_hang_up_is_seen_behind_unread_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_client_that_has_shut_one_side_reads_its_answer, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            an_answer_that_is_due_reaches_a_client_that_has_shut_one_side, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_asked_ahead_is_answered_before_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_answer_that_takes_long_is_announced_to_such_a_client,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_reset_is_seen_after_one_side_was_shut, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nobody_is_notified_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_gets_through_though_more_is_sent, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_chunked_body_that_grows_too_large_is_refused, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lingering_is_bounded, set_up_hasty, tear_down),
        cmocka_unit_test_setup_teardown(hostile_input_is_refused_and_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(two_thousand_idle_streams, set_up, tear_down),
        cmocka_unit_test(an_idle_connection_is_small),
    };

    return cmocka_run_group_tests_name("connections", tests, NULL, NULL);
}
