/*
 * test_request.c - a request's framing: what the parser and our checks on top of it take and
 * refuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "net/http/request.h"

#define BODY_MAX 1000

static mcp__request *request;
static size_t left_over; /* bytes behind the request */

static int set_up(void **state)
{
    (void)state;
    request = mcp__request_new(100);
    return request ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__request_free(request);
    return 0;
}

/* Body bytes in steps of `step`; each step in a block of its own that goes away. */
static int feed(const char *bytes, size_t length, size_t step)
{
    while (length > 0 && !request->is_complete) {
        size_t count = step < length ? step : length;
        size_t used = 0;
        char *exact = malloc(count);
        memcpy(exact, bytes, count);
        mcp__refusal refusal = mcp__request_feed(request, &used, exact, count);
        assert_int_equal(mcp__request_keep(request), MCP_OK);
        free(exact);
        if (refusal.status != 0)
            return refusal.status;
        assert_true(used <= count && (used == count || request->is_complete));
        bytes += used;
        length -= used;
    }
    left_over = length;
    return request->is_complete ? 0 : -1;
}

/* The status that refuses it; 0: whole, -1: more is wanted. */
static int read_all(const char *bytes, size_t length, size_t step)
{
    static const mcp__head_limits limits = { 16384, 8192, 100 };
    mcp__head_scan scan = { 0 };
    size_t end = 0;

    mcp__request_reset(request);
    if (mcp__head_find_end(&end, &scan, bytes, length, &limits).status != 0 || end == 0)
        return 1000; /* the test's own head is at fault */
    char *head = malloc(end);
    memcpy(head, bytes, end);
    mcp__refusal refusal = mcp__request_begin(request, head, end, BODY_MAX);
    if (refusal.status == 0)
        assert_int_equal(mcp__request_keep(request), MCP_OK);
    free(head);
    return refusal.status != 0 ? refusal.status : feed(bytes + end, length - end, step);
}

static int read_text(const char *text)
{
    int status = read_all(text, strlen(text), 1);
    bool is_keeping = request->keeps_alive;

    assert_int_equal(read_all(text, strlen(text), 5), status);
    assert_int_equal(read_all(text, strlen(text), 1 << 20), status);
    assert_int_equal(request->keeps_alive, is_keeping);
    return status;
}

static void body_is(const char *wanted)
{
    size_t length = 0;
    const char *body = mcp__request_body(request, &length);

    assert_int_equal(length, strlen(wanted));
    assert_memory_equal(body, wanted, length);
}

#define HEAD "POST / HTTP/1.1\r\nHost: a\r\n"

static void bodies_by_length_and_in_chunks(void **state)
{
    (void)state;
    assert_int_equal(read_text(HEAD "\r\n"), 0);
    body_is("");
    assert_int_equal(read_text(HEAD "Content-Length: 0\r\n\r\n"), 0);
    body_is("");
    assert_int_equal(read_text(HEAD "Content-Length: 5\r\n\r\nhello"), 0);
    body_is("hello");
    assert_int_equal(read_text(HEAD "Content-Length: 6\r\n\r\nhello"), -1);
    assert_int_equal(read_text(HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 0);
    body_is("");
    assert_int_equal(read_text(HEAD
                               "Transfer-Encoding: Chunked\r\n\r\n3\r\nhel\r\n0002;a=\"d\"\r\nlo"
                               "\r\n0\r\nTrailer: x\r\n\r\n"),
                     0);
    body_is("hello");
    assert_int_equal(read_text(HEAD "Transfer-Encoding: chunked\r\n\r\na\r\n0123456789\r\n0\r\n"),
                     -1);
}

static void stops_at_its_end(void **state)
{
    (void)state;
    assert_int_equal(read_text(HEAD "Content-Length: 2\r\n\r\nabGET / HTTP/1.1\r\n"), 0);
    body_is("ab");
    assert_int_equal(left_over, strlen("GET / HTTP/1.1\r\n"));
    assert_int_equal(read_text(HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\nGET"), 0);
    body_is("a");
    assert_int_equal(left_over, 3);
}

/* Java's client offers h2c with its first POST; the body and the next request must not be lost. */
static void an_offered_upgrade_changes_nothing(void **state)
{
    (void)state;
    assert_int_equal(read_text(HEAD "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                                    "HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA\r\n"
                                    "Content-Length: 4\r\n\r\nbodyGET"),
                     0);
    body_is("body");
    assert_int_equal(left_over, 3);
    assert_true(request->keeps_alive);
    assert_int_equal(
        read_text("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                  "\r\nframe"),
        0);
    assert_int_equal(left_over, 5);
}

struct row {
    const char *bytes;
    int status;
};

static void refuses_ambiguous_framing(void **state)
{
    static const struct row rows[] = {
        { HEAD "Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", 400 },
        { HEAD "Content-Length: 5, 5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: +5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: -5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: 0x5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: 5 5\r\n\r\nhello", 400 },
        { HEAD "Content-Length: \r\n\r\nhello", 400 },
        { HEAD "Content-Length: 99999999999999999999999\r\n\r\nhello", 400 },
        { HEAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501 },
        { HEAD "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 501 },
        { HEAD "Transfer-Encoding: identity\r\n\r\n", 501 },
        { HEAD "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501 },
        { HEAD "Transfer-Encoding:\r\n\r\n", 501 },
        { "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\nx\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\n-1\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\n1 \r\na\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\n1\na\n0\n\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400 },
        { HEAD "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", 400 },
        { HEAD "X: a\rb\r\n\r\n", 400 },    /* a bare CR */
        { HEAD "X: a\x01 b\r\n\r\n", 400 }, /* control bytes */
        { HEAD "X: a\x7f\r\n\r\n", 400 },
        { HEAD "X: caf\xe9\r\n\r\n", 0 }, /* obs-text is legal */
        { HEAD "Expect: 200-ok\r\n\r\n", 417 },
        { "NOSUCH / HTTP/1.1\r\nHost: a\r\n\r\n", 501 },
        { "get / HTTP/1.1\r\nHost: a\r\n\r\n", 501 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int status = read_text(rows[i].bytes);
        if (status != rows[i].status)
            fail_msg("%d, not %d: %s", status, rows[i].status, rows[i].bytes);
    }
}

static void a_nul_is_refused(void **state)
{
    static const char in_value[] = HEAD "X: a\0b\r\n\r\n";
    static const char in_target[] = "GET /a\0b HTTP/1.1\r\nHost: a\r\n\r\n";

    (void)state;
    assert_int_equal(read_all(in_value, sizeof in_value - 1, 100), 400);
    assert_int_equal(read_all(in_target, sizeof in_target - 1, 100), 400);
}

static const char *text_of_body(size_t length, bool is_chunked)
{
    static char text[8192];
    int head = is_chunked
                   ? snprintf(text, sizeof(text), HEAD "Transfer-Encoding: chunked\r\n\r\n%zx\r\n",
                              length)
                   : snprintf(text, sizeof(text), HEAD "Content-Length: %zu\r\n\r\n", length);

    memset(text + head, 'x', length);
    strcpy(text + head + length, is_chunked ? "\r\n0\r\n\r\n" : "");
    return text;
}

static int read_body_of(size_t length, bool is_chunked)
{
    return read_text(text_of_body(length, is_chunked));
}

/* In small steps, so that it has to be gathered. */
static int gather_body_of(size_t length, bool is_chunked)
{
    const char *text = text_of_body(length, is_chunked);

    return read_all(text, strlen(text), 5);
}

static void the_body_is_bounded(void **state)
{
    (void)state;
    for (int chunked = 0; chunked < 2; chunked++) {
        assert_int_equal(read_body_of(BODY_MAX - 1, chunked), 0);
        assert_int_equal(read_body_of(BODY_MAX, chunked), 0);
        assert_int_equal(read_body_of(BODY_MAX + 1, chunked), 413);
    }
}

static void bodies_share_their_memory(void **state)
{
    static mcp__bodies bodies; /* the tear-down still counts */

    (void)state;
    bodies = (mcp__bodies){ .max_bytes = 300 };
    request->bodies = &bodies;
    assert_int_equal(gather_body_of(200, 0), 0);
    assert_true(bodies.used >= 200);
    assert_int_equal(gather_body_of(BODY_MAX, 0), 503);
    mcp__request_free(request);
    assert_int_equal(bodies.used, 0);
    request = mcp__request_new(100);
    request->bodies = &bodies;
    bodies.used = 300; /* another one's */
    assert_int_equal(gather_body_of(200, 1), 503);
    bodies.used = 0;
    assert_int_equal(gather_body_of(200, 1), 0);
}

/* A thousand one-byte chunks are honest; one with an endless extension, or endless trailers, are
 * not. */
static void framing_is_bounded(void **state)
{
    static char text[65536];
    size_t at = (size_t)snprintf(text, sizeof(text), HEAD "Transfer-Encoding: chunked\r\n\r\n");
    size_t head = at;

    (void)state;
    for (int i = 0; i < BODY_MAX; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "1\r\nx\r\n");
    snprintf(text + at, sizeof(text) - at, "0\r\n\r\n");
    assert_int_equal(read_text(text), 0);

    at = head + (size_t)snprintf(text + head, sizeof(text) - head, "1;");
    memset(text + at, 'e', 8000);
    strcpy(text + at + 8000, "\r\nx\r\n0\r\n\r\n");
    assert_int_equal(read_text(text), 400);
    for (size_t bytes = 4095; bytes <= 4097; bytes++) { /* with "1;" and its line's end */
        memset(text + at, 'e', bytes - 4);
        strcpy(text + at + bytes - 4, "\r\nx\r\n0\r\n\r\n");
        assert_int_equal(read_text(text), bytes <= 4096 ? 0 : 400);
    }

    at = head + (size_t)snprintf(text + head, sizeof(text) - head, "0\r\n");
    for (int i = 0; i < 1000; i++)
        at += (size_t)snprintf(text + at, sizeof(text) - at, "T%d: x\r\n", i);
    snprintf(text + at, sizeof(text) - at, "\r\n");
    assert_int_equal(read_text(text), 400);
}

static void keeps_alive_as_asked(void **state)
{
    static const struct {
        const char *bytes;
        bool keeps;
    } rows[] = {
        { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", true },
        { "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false },
        { "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", false },
        { "GET / HTTP/1.0\r\n\r\n", false },
        { "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(read_text(rows[i].bytes), 0);
        if (request->keeps_alive != rows[i].keeps)
            fail_msg("%d: %s", request->keeps_alive, rows[i].bytes);
    }
}

static void an_unwanted_body_is_not_stored(void **state)
{
    char head[] = HEAD "Content-Length: 900\r\n\r\n";
    char body[900];
    size_t used = 0;
    size_t length = 0;

    (void)state;
    memset(body, 'x', sizeof body);
    assert_int_equal(mcp__request_begin(request, head, sizeof head - 1, BODY_MAX).status, 0);
    request->is_unwanted = true;
    assert_int_equal(mcp__request_feed(request, &used, body, 400).status, 0);
    assert_int_equal(mcp__request_feed(request, &used, body, 500).status, 0);
    assert_true(request->is_complete);
    (void)mcp__request_body(request, &length);
    assert_int_equal(length, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_by_length_and_in_chunks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(stops_at_its_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_offered_upgrade_changes_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refuses_ambiguous_framing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_nul_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_body_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bodies_share_their_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(framing_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(keeps_alive_as_asked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_unwanted_body_is_not_stored, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("requests", tests, NULL, NULL);
}
