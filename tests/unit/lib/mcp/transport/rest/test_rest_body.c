/*
 * test_rest_body.c - bodies in pieces, over real sockets: short and long ones, readers that are
 * slow or leave, sources that fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "mcp/core/call/call_int.h"
#include "rig.h"
#include "web_rig.h"

#define PIECE ((size_t)256 * 1024)
#define MANY 400 /* pieces: more than the kernel holds for a reader that does not read */

/* ---- the source ------------------------------------------------------------------------------ */

/* Pieces of one letter each, "aaa...", "bbb...". */
typedef struct letters {
    int64_t count, fail_at;
    size_t size;
    int next;
} letters;

static atomic_int asked_count, done_count;
static char logged[1000];

static void hear(mcp_log_level level, const char *message, void *data)
{
    (void)level;
    (void)data;
    (void)snprintf(logged, sizeof logged, "%s", message);
}

static void fill(char *out, size_t length, int number)
{
    memset(out, 'a' + number % 26, length);
}

static mcp_status next_letters(mcp_buf *piece, bool *is_last, void *data, mcp_error *err)
{
    letters *it = data;

    atomic_fetch_add(&asked_count, 1);
    if (it->next == it->fail_at)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "the letters are out");
    char *room = mcp_buf_reserve(piece, it->size);
    if (room) {
        fill(room, it->size, it->next);
        mcp_buf_commit(piece, it->size);
    }
    *is_last = ++it->next == it->count;
    return MCP_OK;
}

static void done(void *data)
{
    free(data);
    atomic_fetch_add(&done_count, 1);
}

static int64_t number_of(const mcp_call *call, const char *name, int64_t otherwise)
{
    const char *text = mcp_arg_string(call, name);

    return text ? strtoll(text, NULL, 10) : otherwise;
}

static mcp_status answer_letters(mcp_call *call, int64_t count, int64_t fail_at, size_t size)
{
    mcp_body_source source = { .next = next_letters, .done = done };
    letters *it = malloc(sizeof(*it));

    assert_non_null(it);
    *it = (letters){ .count = count, .fail_at = fail_at, .size = size };
    source.data = it;
    return mcp_call_send_from(call, "text/plain", &source);
}

static mcp_status give_letters(mcp_call *call, void *data)
{
    (void)data;
    assert_int_equal(mcp_call_header_set(call, "ETag", "\"v1\""), MCP_OK);
    mcp_call_status(call, 201);
    return answer_letters(call, number_of(call, "count", 1), number_of(call, "fail", -1),
                          (size_t)number_of(call, "size", PIECE));
}

/* The body is there, and then something else goes wrong, or another body is sent instead. */
static mcp_status change_its_mind(mcp_call *call, void *data)
{
    (void)data;
    assert_int_equal(answer_letters(call, 3, -1, PIECE), MCP_OK);
    if (number_of(call, "fail", 0))
        return mcp_error_set(mcp_call_error(call), MCP_E_BUSY, "not now");
    return mcp_call_send(call, "text/plain", "short", 5);
}

/* A status whose answers have no body, and a body in pieces all the same. */
static mcp_status give_nothing(mcp_call *call, void *data)
{
    (void)data;
    mcp_call_status(call, (int)number_of(call, "status", 204));
    return answer_letters(call, 3, -1, 10);
}

static atomic_long allocations_left;

static mcp_status run_out(mcp_call *call, void *data)
{
    mcp_status st = give_letters(call, data);

    mcp__alloc_fail_after(atomic_load(&allocations_left));
    return st;
}

static const mcp_route routes[] = { { "GET", "/letters", give_letters, MCP_READS, 0 },
                                    { "GET", "/mind", change_its_mind, MCP_READS, 0 },
                                    { "GET", "/run-out", run_out, MCP_READS, 0 },
                                    { "GET", "/nothing", give_nothing, MCP_READS, 0 },
                                    { 0 } };

/* ---- around each test ------------------------------------------------------------------------ */

static web_rig *server;
static web_answer answer;
static int port;

static int begin(void **state)
{
    mcp_server_options options = MCP_SERVER_OPTIONS_INIT;
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    (void)state;
    atomic_store(&asked_count, 0);
    atomic_store(&done_count, 0);
    logged[0] = '\0';
    options.name = "body";
    options.version = "1";
    options.log = (mcp_log){ .sink = hear, .level = MCP_LOG_ERROR };
    http.routes = routes;
    server = web_start(&options, &http);
    port = web_port(server);
    return 0;
}

static int end(void **state)
{
    (void)state;
    return !server || web_end(server) == MCP_OK ? 0 : -1;
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

/* A request of HTTP/1.0 has its pieces side by side. The head is read. */
static int begin_old(const char *path)
{
    char request[200];
    char head[1000] = "";
    int fd = client_open(port);

    (void)snprintf(request, sizeof request, "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
    client_say(fd, request);
    for (size_t length = 0; !strstr(head, "\r\n\r\n"); length++) {
        assert_true(length < sizeof head - 1);
        client_read_exactly(fd, head + length, 1);
    }
    assert_non_null(strstr(head, " 201 "));
    assert_null(strstr(head, "chunked"));
    return fd;
}

static void read_letters(int fd, int from, int to)
{
    static char piece[PIECE], wanted[PIECE];

    for (int i = from; i < to; i++) {
        client_read_exactly(fd, piece, PIECE);
        fill(wanted, PIECE, i);
        assert_memory_equal(piece, wanted, PIECE);
    }
}

static void expect_field(const char *name, const char *wanted)
{
    char value[100];

    assert_string_equal(web_field(&answer, name, value, sizeof value), wanted);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void one_piece_is_sent_with_its_length(void **state)
{
    (void)state;
    web_ask(&answer, port, "GET", "/letters?size=5", NULL, NULL);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.body, "aaaaa");
    expect_field("Content-Length", "5");
    expect_field("ETag", "\"v1\"");
    assert_int_equal(atomic_load(&done_count), 1);
}

static void pieces_come_in_their_order(void **state)
{
    (void)state;
    web_ask(&answer, port, "GET", "/letters?count=4&size=3", NULL, NULL);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.body, "aaabbbcccddd");
    expect_field("Content-Length", "");
    expect_field("Transfer-Encoding", "chunked");
    expect_field("Content-Type", "text/plain");
    expect_field("ETag", "\"v1\"");
    wait_for(&done_count, 1);
    assert_int_equal(atomic_load(&asked_count), 4);
}

/* The connection serves on behind such an answer. */
static void the_next_request_is_answered(void **state)
{
    char text[3000];

    (void)state;
    int fd = client_open(port);
    client_say(fd, "GET /letters?count=2&size=3 HTTP/1.1\r\nHost: localhost\r\n\r\n"
                   "GET /letters?size=4 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_read(fd, text, sizeof(text), "\r\n\r\naaaa");
    assert_non_null(strstr(text, "\r\n\r\n3\r\naaa\r\n3\r\nbbb\r\n0\r\n\r\nHTTP/1.1 201 "));
    close(fd);
}

/* RFC 9112 section 6.3: the answer ends with its head. A body would be read as the next answer. */
static void an_answer_without_a_body_has_no_pieces(void **state)
{
    static const char *const paths[] = { "/nothing", "/nothing?status=304" };
    char text[4000];

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        int fd = client_open(port);
        (void)snprintf(text, sizeof text,
                       "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\nGET /letters?size=4 HTTP/1.1\r\n"
                       "Host: localhost\r\nConnection: close\r\n\r\n",
                       paths[i]);
        client_say(fd, text);
        client_read(fd, text, sizeof text, NULL);
        close(fd);
        const char *next = strstr(text, "\r\n\r\n");
        assert_non_null(next);
        if (strncmp(next + 4, "HTTP/1.1 201 ", 13) != 0)
            fail_msg("%s is followed by: %s", paths[i], next);
        assert_null(strstr(text, "chunked"));
        assert_null(strstr(text, "bbbb"));
    }
    wait_for(&done_count, 4);
}

static void a_slow_reader_holds_two_pieces_and_no_more(void **state)
{
    struct timespec nap = { .tv_nsec = 50000000 };
    char path[64];
    int before = -1;

    (void)state;
    (void)snprintf(path, sizeof path, "/letters?count=%d", MANY);
    int fd = begin_old(path);
    /* Until no more are asked for; on a slow machine that may be early. */
    while (atomic_load(&asked_count) != before) {
        before = atomic_load(&asked_count);
        nanosleep(&nap, NULL);
    }
    assert_true(before < MANY);
    web_ask(&answer, port, "GET", "/letters?size=2", NULL, NULL); /* others are served */
    assert_string_equal(answer.body, "aa");
    read_letters(fd, 0, MANY);
    assert_true(client_is_closed_within(fd, CLIENT_WAIT_MS));
    close(fd);
    wait_for(&done_count, 2);
}

static void a_reader_that_leaves_ends_the_source(void **state)
{
    char path[64];

    (void)state;
    (void)snprintf(path, sizeof path, "/letters?count=%d", MANY);
    for (int i = 0; i < 8; i++) {
        int fd = begin_old(path);
        read_letters(fd, 0, i);
        close(fd);
        wait_for(&done_count, i + 1);
    }
    assert_true(atomic_load(&asked_count) < 8 * MANY);
}

static void a_failure_at_once_is_an_error(void **state)
{
    (void)state;
    web_ask(&answer, port, "GET", "/letters?fail=0", NULL, NULL);
    assert_int_equal(answer.status, 404);
    assert_non_null(strstr(answer.body, "the letters are out"));
    web_ask(&answer, port, "GET", "/mind?fail=1", NULL, NULL);
    assert_int_equal(answer.status, 503);
    web_ask(&answer, port, "GET", "/mind", NULL, NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.body, "short");
    wait_for(&done_count, 3);
}

/* Half an answer must not look like a whole one. */
static void a_failure_later_breaks_the_answer_off(void **state)
{
    char text[1000];

    (void)state;
    int fd = client_open(port);
    client_say(fd, "GET /letters?count=9&size=3&fail=2 HTTP/1.1\r\nHost: localhost\r\n\r\n");
    client_read(fd, text, sizeof(text), NULL);
    assert_non_null(strstr(text, "\r\n\r\n3\r\naaa\r\n3\r\nbbb\r\n"));
    assert_null(strstr(text, "0\r\n\r\n"));
    close(fd);
    wait_for(&done_count, 1);
    assert_int_equal(web_end(server), MCP_OK); /* nobody writes the log any more */
    server = NULL;
    assert_non_null(strstr(logged, "the letters are out"));
}

static void head_is_the_head_alone(void **state)
{
    (void)state;
    web_ask(&answer, port, "HEAD", "/letters?count=4", NULL, NULL);
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.body, "");
    expect_field("ETag", "\"v1\"");
    expect_field("Content-Length", "");
    wait_for(&done_count, 1);
    web_ask(&answer, port, "HEAD", "/letters?size=4", NULL, NULL);
    assert_string_equal(answer.body, "");
    expect_field("Content-Length", "4");
}

static void going_down_lets_an_answer_end(void **state)
{
    char path[64];

    (void)state;
    (void)snprintf(path, sizeof path, "/letters?count=%d", MANY);
    int fd = begin_old(path);
    web_stop(server);
    read_letters(fd, 0, MANY);
    close(fd);
    assert_int_equal(web_end(server), MCP_OK);
    server = NULL;
    assert_int_equal(atomic_load(&done_count), 1);
}

/* Whatever the reader gets, the source ends once and the server lives on. */
static void memory_may_run_out_anywhere(void **state)
{
    char text[4000];

    (void)state;
    for (int i = 0; i < 40; i++) {
        atomic_store(&allocations_left, i);
        int fd = web_begin(port, "GET", "/run-out?count=3&size=1000", "Connection: close\r\n",
                           NULL);
        client_read(fd, text, sizeof(text), NULL);
        mcp__alloc_fail_after(-1);
        close(fd);
        wait_for(&done_count, i + 1);
    }
    assert_non_null(strstr(text, "ccc\r\n0\r\n\r\n")); /* there was enough in the end */
}

static void a_tool_cannot_answer_so(void **state)
{
    mcp_call call = { .plan.kind = &mcp__plain_kind };

    (void)state;
    atomic_store(&done_count, 0);
    assert_int_equal(answer_letters(&call, 1, -1, 1), MCP_E_UNSUPPORTED);
    assert_int_equal(atomic_load(&done_count), 1);
}

#define OVER_SOCKETS(test) cmocka_unit_test_setup_teardown(test, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OVER_SOCKETS(one_piece_is_sent_with_its_length),
        OVER_SOCKETS(pieces_come_in_their_order),
        OVER_SOCKETS(the_next_request_is_answered),
        OVER_SOCKETS(an_answer_without_a_body_has_no_pieces),
        OVER_SOCKETS(a_slow_reader_holds_two_pieces_and_no_more),
        OVER_SOCKETS(a_reader_that_leaves_ends_the_source),
        OVER_SOCKETS(a_failure_at_once_is_an_error),
        OVER_SOCKETS(a_failure_later_breaks_the_answer_off),
        OVER_SOCKETS(head_is_the_head_alone),
        OVER_SOCKETS(going_down_lets_an_answer_end),
        OVER_SOCKETS(memory_may_run_out_anywhere),
        cmocka_unit_test(a_tool_cannot_answer_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
