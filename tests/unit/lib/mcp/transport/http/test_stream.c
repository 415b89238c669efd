/*
 * test_stream.c - streams of events from a route's handler to readers on real sockets.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mcp/core/call/call_int.h"
#include "mcp/transport/http/stream.h"
#include "mcp/transport/rest/rest.h"
#include "oom.h"
#include "rig.h"
#include "web_rig.h"

#define STREAMS_MAX 16

/* What a handler opened. */
typedef struct opened {
    mcp_stream *stream;
    atomic_int closed;
    atomic_int drained;
} opened;

static opened all[STREAMS_MAX];
static atomic_int opened_count;
static atomic_int closed_count;
static mcp_stream_options wanted; /* of the streams that are opened next */
static char seen_id[64];
static web_rig *server;
static int port;
static web_answer answer;
static char text[1024 * 1024];

static void on_drained(mcp_stream *stream, void *data)
{
    opened *it = data;

    assert_ptr_equal(stream, it->stream);
    atomic_fetch_add(&it->drained, 1);
}

static void on_closed(mcp_stream *stream, void *data)
{
    opened *it = data;

    assert_ptr_equal(stream, it->stream);
    atomic_fetch_add(&it->closed, 1);
    atomic_fetch_add(&closed_count, 1);
}

static mcp_event *make(const char *id, const char *data)
{
    mcp_event *event = NULL;

    assert_int_equal(mcp_event_new(&event, id, NULL, data, strlen(data), NULL), MCP_OK);
    return event;
}

static mcp_status send_text(mcp_stream *stream, const char *data)
{
    mcp_event *event = make(NULL, data);
    mcp_status st = mcp_stream_send(stream, event, NULL);

    mcp_event_release(event);
    return st;
}

static mcp_status open_one(mcp_call *call)
{
    opened *it = &all[atomic_load(&opened_count)];
    mcp_stream_options options = wanted;

    options.drained = on_drained;
    options.closed = on_closed;
    options.data = it;
    return mcp_call_stream(&it->stream, call, &options, mcp_call_error(call));
}

static void wait_for(atomic_int *counter, int count)
{
    struct timespec nap = { .tv_nsec = 1000000 };

    for (int i = 0; atomic_load(counter) < count; i++) {
        if (i > 10000)
            fail_msg("it came to %d only, %d are wanted", atomic_load(counter), count);
        nanosleep(&nap, NULL);
    }
}

/* ---- handlers -------------------------------------------------------------------------------- */

static mcp_status follow(mcp_call *call, void *data)
{
    const char *id = mcp_call_last_event_id(call);

    (void)data;
    (void)snprintf(seen_id, sizeof seen_id, "%s", id ? id : "(none)");
    mcp_status st = open_one(call);
    if (st == MCP_OK)
        st = send_text(all[atomic_load(&opened_count)].stream, "hello");
    if (st == MCP_OK)
        st = mcp_call_header_set(call, "X-Version", "42");
    atomic_fetch_add(&opened_count, 1);
    return st;
}

static mcp_status fail_late(mcp_call *call, void *data)
{
    (void)data;
    mcp_status st = open_one(call);
    atomic_fetch_add(&opened_count, 1);
    return st == MCP_OK ? mcp_error_set(mcp_call_error(call), MCP_E_NOT_FOUND, "no such universe")
                        : st;
}

static mcp_status linger(mcp_call *call, void *data)
{
    (void)data;
    mcp_status st = open_one(call);
    atomic_fetch_add(&opened_count, 1);
    while (mcp_call_stop(call) == MCP_STOP_NONE)
        usleep(1000);
    return st;
}

static mcp_status say_goodbye(mcp_call *call, void *data)
{
    mcp_status st = follow(call, data);

    mcp_stream_close(all[atomic_load(&opened_count) - 1].stream);
    return st;
}

/* As long as the handler runs nothing leaves, so the queue holds what it may to the event, or the
 * byte. */
static mcp_status fill_up(mcp_call *call, void *data)
{
    char digits[8];
    unsigned sent = 0;

    (void)data;
    mcp_status st = open_one(call);
    mcp_stream *stream = all[atomic_load(&opened_count)].stream;
    while (st == MCP_OK) {
        st = send_text(stream, "123456789012"); /* 20 bytes each */
        sent += st == MCP_OK;
    }
    assert_int_equal(st, MCP_E_LIMIT);
    assert_int_equal(send_text(stream, "1"), wanted.queue_bytes % 20 >= 9 ? MCP_OK : MCP_E_LIMIT);
    (void)snprintf(digits, sizeof digits, "%u", sent);
    st = mcp_call_header_set(call, "X-Sent", digits);
    mcp_stream_close(stream);
    atomic_fetch_add(&opened_count, 1);
    return st;
}

/* What cannot be is said in the result. */
static mcp_status go_wrong(mcp_call *call, void *data)
{
    mcp_stream_options options = MCP_STREAM_OPTIONS_INIT;
    mcp_stream *first = NULL, *other = NULL;

    (void)data;
    options.first = ":half a line";
    assert_int_equal(mcp_call_stream(&other, call, &options, NULL), MCP_E_PARAMS);
    assert_int_equal(mcp_call_stream(&first, call, NULL, NULL), MCP_OK);
    assert_int_equal(mcp_call_stream(&other, call, NULL, NULL), MCP_E_PARAMS);
    assert_null(other);
    mcp_stream_release(first);
    return mcp_call_tool_error(call, "as it should");
}

static atomic_long allocations_left;

/* From here on memory runs out after some allocations more, wherever that is. */
static mcp_status run_out(mcp_call *call, void *data)
{
    mcp_status st = follow(call, data);

    mcp__alloc_fail_after(atomic_load(&allocations_left));
    return st;
}

/* clang-format off */
static const mcp_route routes[] = {
    { "GET", "/follow", follow, MCP_READS, 0 },
    { "GET", "/run-out", run_out, MCP_READS, 0 },
    { "GET", "/fail", fail_late, MCP_READS, 0 },
    { "GET", "/linger", linger, MCP_READS, 100 },
    { "GET", "/left", linger, MCP_READS | MCP_LONG | MCP_STOP_ON_HANGUP, 0 },
    { "GET", "/goodbye", say_goodbye, MCP_READS, 0 },
    { "GET", "/wrong", go_wrong, MCP_READS, 0 },
    { "GET", "/fill", fill_up, MCP_READS, 0 },
    { 0 }
};
/* clang-format on */

/* ---- around each test ------------------------------------------------------------------------ */

static const char *const origins[] = { "https://app.example", NULL };

static int begin(void **state)
{
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    memset(all, 0, sizeof all);
    wanted = (mcp_stream_options)MCP_STREAM_OPTIONS_INIT;
    atomic_store(&opened_count, 0);
    atomic_store(&closed_count, 0);
    http.routes = routes;
    http.origins = origins;
    http.metrics = true;
    server = web_start(NULL, &http);
    port = web_port(server);
    return 0;
}

/* However a test ends its streams: each is closed once. */
static int end(void **state)
{
    (void)state;
    if (server && web_end(server) != MCP_OK)
        return -1;
    server = NULL;
    for (int i = 0; i < atomic_load(&opened_count); i++) {
        if (atomic_load(&all[i].closed) != 1)
            return -1;
        if (send_text(all[i].stream, "too late") != MCP_E_STOPPED)
            return -1;
        mcp_stream_release(all[i].stream);
    }
    return 0;
}

static int follow_as(const char *fields)
{
    int before = atomic_load(&opened_count);
    int fd = web_begin(port, "GET", "/follow", fields, NULL);

    wait_for(&opened_count, before + 1);
    return fd;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_stream_begins_with_what_its_handler_said(void **state)
{
    (void)state;
    wanted.first = ":connected\n\n";
    wanted.retry_ms = 2000;
    int fd = follow_as("Last-Event-ID: 41\r\nOrigin: https://app.example\r\n");
    client_read(fd, text, sizeof(text), "hello\n\n");
    assert_memory_equal(text, "HTTP/1.1 200 OK\r\n", 17);
    assert_non_null(strstr(text, "\r\nContent-Type: text/event-stream\r\n"));
    assert_non_null(strstr(text, "\r\nCache-Control: no-cache"));
    assert_non_null(strstr(text, "\r\nX-Version: 42\r\n"));
    assert_non_null(strstr(text, "\r\nAccess-Control-Allow-Origin: https://app.example\r\n"));
    assert_non_null(
        strstr(text, "\r\n\r\n19\r\n:connected\n\nretry: 2000\n\n\r\nd\r\ndata: hello\n\n"));
    assert_string_equal(seen_id, "41");
    close(fd);
    wait_for(&closed_count, 1);
}

static void what_threads_send_arrives_in_their_order(void **state)
{
    char line[32];
    int fd;

    (void)state;
    wanted.queue_events = 5000;
    fd = follow_as(NULL);
    assert_string_equal(seen_id, "(none)");
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(line, sizeof(line), "number %d.", i);
        assert_int_equal(send_text(all[0].stream, line), MCP_OK);
    }
    assert_int_equal(send_text(all[0].stream, "the end"), MCP_OK);
    client_read(fd, text, sizeof(text), "data: the end\n\n");
    const char *at = text;
    for (int i = 0; i < 3000; i++) {
        (void)snprintf(line, sizeof(line), "data: number %d.\n\n", i);
        at = strstr(at, "data: number ");
        assert_non_null(at);
        assert_memory_equal(at, line, strlen(line));
        at += strlen(line);
    }
    assert_null(strstr(at, "number"));
    close(fd);
}

static void long_events_are_whole_between_short_ones(void **state)
{
    static char data[200 * 1024];
    int fds[2];

    (void)state;
    fds[0] = follow_as(NULL);
    fds[1] = follow_as(NULL);
    memset(data, 'L', sizeof data - 1);
    mcp_event *large = make(NULL, data);
    mcp_event *small = make("2", "small");
    for (int i = 0; i < 2; i++) {
        assert_int_equal(mcp_stream_send(all[i].stream, small, NULL), MCP_OK);
        assert_int_equal(mcp_stream_send(all[i].stream, large, NULL), MCP_OK);
        assert_int_equal(mcp_stream_send(all[i].stream, small, NULL), MCP_OK);
        mcp_stream_close(all[i].stream);
    }
    mcp_event_release(large);
    mcp_event_release(small);
    for (int i = 0; i < 2; i++) {
        client_read(fds[i], text, sizeof(text), "0\r\n\r\n");
        const char *at = strstr(text, "data: small\n\n");
        assert_non_null(at);
        at = strstr(at, "data: LLL");
        assert_non_null(at);
        assert_int_equal(strspn(at + 6, "L"), sizeof data - 1);
        assert_non_null(strstr(at, "L\n\n\r\n13\r\nid: 2\ndata: small\n\n\r\n0\r\n\r\n"));
        close(fds[i]);
    }
    wait_for(&closed_count, 2);
}

static void a_closed_stream_ends_after_what_was_sent(void **state)
{
    web_answer *answer = calloc(1, sizeof(*answer));

    (void)state;
    assert_non_null(answer);
    web_ask(answer, port, "GET", "/goodbye", NULL, NULL);
    assert_int_equal(answer->status, 200);
    assert_string_equal(answer->body, "data: hello\n\n");
    wait_for(&closed_count, 1);
    assert_int_equal(send_text(all[0].stream, "more"), MCP_E_STOPPED);
    mcp_stream_close(all[0].stream); /* again is fine */
    free(answer);
}

static void a_reader_that_goes_is_noticed(void **state)
{
    (void)state;
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), "hello\n\n");
    close(fd);
    wait_for(&closed_count, 1);
    assert_int_equal(send_text(all[0].stream, "more"), MCP_E_STOPPED);
}

/* It would last as long as its reader reads; what was sent before arrives. */
static void a_reader_that_shuts_its_side_is_at_the_end(void **state)
{
    (void)state;
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), "hello\n\n");
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
    client_read(fd, text, sizeof(text), "0\r\n\r\n");
    wait_for(&closed_count, 1);
    close(fd);
}

/* Sends numbers until the queue stays full: the kernel's buffers are full too then. */
static int fill(mcp_stream *stream, char *data)
{
    struct timespec nap = { .tv_nsec = 1000000 };
    int sent = 0;

    for (int refused = 0; refused < 300;) {
        (void)snprintf(data, 16, "%010d", sent);
        data[10] = 'x';
        mcp_status st = send_text(stream, data);
        if (st == MCP_OK) {
            sent++;
            refused = 0;
        } else {
            assert_int_equal(st, MCP_E_LIMIT);
            refused++;
            nanosleep(&nap, NULL);
        }
        assert_true(sent < 20000);
    }
    return sent;
}

/* Every number once, in order. */
static void read_numbers(int fd, int count)
{
    char piece[64 * 1024 + 32];
    size_t have = 0;
    int next = 0;

    while (next < count) {
        ssize_t got = read(fd, piece + have, sizeof piece - 1 - have);
        assert_true(got > 0);
        have += (size_t)got;
        piece[have] = '\0';
        const char *at = piece;
        const char *rest = piece;
        for (at = strstr(rest, "data: 0"); at && at + 17 <= piece + have;
             at = strstr(rest, "data: 0")) {
            assert_int_equal(strtol(at + 6, NULL, 10), next);
            next++;
            rest = at + 17;
        }
        size_t kept = (size_t)(piece + have - rest) < 32 ? (size_t)(piece + have - rest) : 32;
        memmove(piece, piece + have - kept, kept);
        have = kept;
    }
}

static void a_reader_that_stops_harms_nobody_and_loses_nothing(void **state)
{
    static char data[16 * 1024];

    (void)state;
    wanted.queue_events = 100;
    int slow = follow_as(NULL);
    int brisk = follow_as(NULL);
    memset(data, 'x', sizeof data - 1);
    int sent = fill(all[0].stream, data);
    int before = atomic_load(&all[0].drained);
    assert_int_equal(send_text(all[1].stream, "for the brisk one"), MCP_OK);
    client_read(brisk, text, sizeof(text), "for the brisk one\n\n");
    read_numbers(slow, sent);
    wait_for(&all[0].drained, before + 1);
    assert_int_equal(send_text(all[0].stream, "again"), MCP_OK);
    client_read(slow, text, sizeof(text), "data: again\n\n");
    close(slow);
    close(brisk);
}

static void expect_sent(unsigned events, size_t bytes, const char *sent)
{
    char value[16];

    wanted.queue_events = events;
    wanted.queue_bytes = bytes;
    web_ask(&answer, port, "GET", "/fill", NULL, NULL);
    assert_string_equal(web_field(&answer, "X-Sent", value, sizeof value), sent);
}

static void a_queue_has_its_bounds(void **state)
{
    (void)state;
    expect_sent(99, 0, "99");
    expect_sent(100, 0, "100");
    expect_sent(101, 0, "101");
    expect_sent(0, 0, "1000"); /* without being told */
    expect_sent(0, 2000 - 1, "99");
    expect_sent(0, 2000, "100");
    expect_sent(0, 2000 + 1, "100");
}

static void one_event_may_be_larger_than_the_queue(void **state)
{
    static char data[64 * 1024];

    (void)state;
    wanted.queue_bytes = 1000;
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), "hello\n\n");
    memset(data, 'x', sizeof data - 1);
    assert_int_equal(send_text(all[0].stream, data), MCP_OK);
    client_read(fd, text, sizeof(text), "x\n\n");
    close(fd);
}

static void an_error_is_answered_as_one(void **state)
{
    web_answer *answer = calloc(1, sizeof(*answer));

    (void)state;
    assert_non_null(answer);
    web_ask(answer, port, "GET", "/fail", NULL, NULL);
    assert_int_equal(answer->status, 404);
    assert_non_null(strstr(answer->body, "no such universe"));
    wait_for(&closed_count, 1);
    web_ask(answer, port, "GET", "/wrong", NULL, NULL);
    assert_int_equal(answer->status, 400);
    assert_non_null(strstr(answer->body, "as it should"));
    web_ask(answer, port, "GET", "/linger", NULL, NULL); /* beyond its time */
    assert_int_equal(answer->status, 504);
    wait_for(&closed_count, 2);
    free(answer);
}

static void head_is_the_head_alone(void **state)
{
    web_answer *answer = calloc(1, sizeof(*answer));
    char value[64];

    (void)state;
    assert_non_null(answer);
    web_ask(answer, port, "HEAD", "/follow", NULL, NULL);
    assert_int_equal(answer->status, 200);
    assert_string_equal(answer->body, "");
    assert_string_equal(web_field(answer, "Content-Type", value, sizeof value),
                        "text/event-stream");
    wait_for(&closed_count, 1);
    free(answer);
}

static void a_reader_may_be_gone_before_the_handler_returns(void **state)
{
    (void)state;
    int fd = web_begin(port, "GET", "/left", NULL, NULL);
    wait_for(&opened_count, 1);
    close(fd);
    wait_for(&closed_count, 1);
}

static void http_1_0_readers_get_no_chunks(void **state)
{
    (void)state;
    int fd = client_open(port);
    client_say(fd, "GET /follow HTTP/1.0\r\nHost: localhost\r\n\r\n");
    client_read(fd, text, sizeof(text), "hello\n\n");
    assert_non_null(strstr(text, "\r\n\r\ndata: hello\n\n"));
    assert_null(strstr(text, "chunked"));
    mcp_stream_close(all[0].stream);
    assert_true(client_is_closed_within(fd, CLIENT_WAIT_MS));
    close(fd);
}

static void silence_is_broken_by_comments(void **state)
{
    (void)state;
    wanted.keepalive_ms = 20;
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), ": keepalive\n\n");
    client_read(fd, text, sizeof(text), ": keepalive\n\n");
    close(fd);
}

static void streams_are_counted(void **state)
{
    web_answer *answer = calloc(1, sizeof(*answer));

    (void)state;
    assert_non_null(answer);
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), "hello\n\n");
    web_ask(answer, port, "GET", "/metrics", NULL, NULL);
    assert_non_null(strstr(answer->body, "\nmcp_route_streams 1\n"));
    assert_non_null(strstr(answer->body, "\nmcp_route_events_total 1\n"));
    assert_non_null(strstr(answer->body, "\nmcp_streams_total 1\n"));
    close(fd);
    free(answer);
}

static void the_gate_is_for_streams_too(void **state)
{
    web_answer *answer = calloc(1, sizeof(*answer));

    (void)state;
    assert_non_null(answer);
    web_ask(answer, port, "GET", "/follow", "Origin: https://evil.example\r\n", NULL);
    assert_int_equal(answer->status, 403);
    web_ask(answer, port, "GET", "/follow", "Host: evil.example\r\n", NULL);
    assert_int_equal(answer->status, 403);
    assert_int_equal(atomic_load(&opened_count), 0);
    free(answer);
}

static void going_down_ends_streams_in_order(void **state)
{
    (void)state;
    int fd = follow_as(NULL);
    client_read(fd, text, sizeof(text), "hello\n\n");
    assert_int_equal(web_end(server), MCP_OK);
    server = NULL;
    client_read(fd, text, sizeof(text), NULL);
    assert_non_null(strstr(text, "0\r\n\r\n"));
    close(fd);
}

static void *send_many(void *data)
{
    mcp_event *event = make(NULL, "from a thread");

    (void)data;
    for (int i = 0; i < 4000; i++) {
        mcp_status st = mcp_stream_send(all[i % 8].stream, event, NULL);
        if (st != MCP_OK && st != MCP_E_LIMIT)
            assert_int_equal(st, MCP_E_STOPPED);
        if (i == 3000)
            mcp_stream_close(all[i % 8].stream);
    }
    mcp_event_release(event);
    return NULL;
}

/* For ThreadSanitizer; `end` sees that each was closed once. */
static void threads_send_while_readers_go(void **state)
{
    pthread_t threads[4];
    int fds[8];

    (void)state;
    for (int i = 0; i < 8; i++)
        fds[i] = follow_as(NULL);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_many, NULL), 0);
    for (int i = 0; i < 4; i++) {
        client_read(fds[i], text, sizeof(text), "from a thread\n\n");
        close(fds[i]);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 4; i < 8; i++)
        close(fds[i]);
    wait_for(&closed_count, 8);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static mcp_status open_and_send(void *data)
{
    mcp__rest rest = { .http_status = 0 };
    mcp_call call = { .plan = { .kind = &mcp__rest_kind, .feature = &rest } };
    mcp_stream *stream = NULL;
    mcp_event *event = NULL;

    (void)data;
    mcp_status st = mcp_event_new(&event, NULL, NULL, "x", 1, NULL);
    if (st == MCP_OK)
        st = mcp_call_stream(&stream, &call, NULL, NULL);
    for (int i = 0; i < 100 && st == MCP_OK; i++)
        st = mcp_stream_send(stream, event, NULL);
    if (stream)
        mcp__stream_abandon(stream);
    mcp_stream_release(stream);
    mcp_event_release(event);
    return st;
}

static void memory_may_run_out_anywhere(void **state)
{
    (void)state;
    oom_walk(open_and_send, NULL);
}

/* Whatever the reader gets, its stream is closed once (see `end`) and the server lives on. */
static void memory_may_run_out_while_the_answer_begins(void **state)
{
    int begun = 0;

    (void)state;
    wanted.retry_ms = 10;
    for (int i = 0; i < STREAMS_MAX; i++) {
        atomic_store(&allocations_left, i);
        int fd = web_begin(port, "GET", "/run-out", "Connection: close\r\n", NULL);
        wait_for(&opened_count, i + 1);
        ssize_t got = recv(fd, text, sizeof(text) - 1, 0);
        mcp__alloc_fail_after(-1);
        text[got > 0 ? got : 0] = '\0';
        begun += strncmp(text, "HTTP/1.1 200 OK\r\n", 17) == 0;
        close(fd);
        wait_for(&closed_count, i + 1);
    }
    assert_true(begun > 0);
}

static void a_tool_cannot_answer_with_a_stream(void **state)
{
    mcp_call call = { .plan.kind = &mcp__plain_kind };
    mcp_stream *stream = NULL;

    (void)state;
    assert_int_equal(mcp_call_stream(&stream, &call, NULL, NULL), MCP_E_UNSUPPORTED);
    assert_null(stream);
    assert_null(mcp_call_last_event_id(&call));
    mcp_stream_close(NULL);
    mcp_stream_release(NULL);
}

#define OVER_SOCKETS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SOCKETS(a_stream_begins_with_what_its_handler_said),
        OVER_SOCKETS(what_threads_send_arrives_in_their_order),
        OVER_SOCKETS(long_events_are_whole_between_short_ones),
        OVER_SOCKETS(a_closed_stream_ends_after_what_was_sent),
        OVER_SOCKETS(a_reader_that_goes_is_noticed),
        OVER_SOCKETS(a_reader_that_shuts_its_side_is_at_the_end),
        OVER_SOCKETS(a_reader_that_stops_harms_nobody_and_loses_nothing),
        OVER_SOCKETS(a_queue_has_its_bounds),
        OVER_SOCKETS(one_event_may_be_larger_than_the_queue),
        OVER_SOCKETS(an_error_is_answered_as_one),
        OVER_SOCKETS(head_is_the_head_alone),
        OVER_SOCKETS(a_reader_may_be_gone_before_the_handler_returns),
        OVER_SOCKETS(http_1_0_readers_get_no_chunks),
        OVER_SOCKETS(silence_is_broken_by_comments),
        OVER_SOCKETS(streams_are_counted),
        OVER_SOCKETS(the_gate_is_for_streams_too),
        OVER_SOCKETS(going_down_ends_streams_in_order),
        OVER_SOCKETS(threads_send_while_readers_go),
        OVER_SOCKETS(memory_may_run_out_while_the_answer_begins),
        cmocka_unit_test(memory_may_run_out_anywhere),
        cmocka_unit_test(a_tool_cannot_answer_with_a_stream),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
