/*
 * test_request_head.c - finding a head's end within its limits, and cutting it: what RFC 9112
 * allows and no more.
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

#define FIELDS_MAX 100

static const mcp__head_limits limits = { .block_max = 16384,
                                         .line_max = 8192,
                                         .fields_max = FIELDS_MAX };
static char text[64 * 1024];

/* The status that a head is refused with; 0: taken, -1: more is wanted. Fed in steps of `step`. */
static int scan(const char *bytes, size_t length, size_t step, size_t *end)
{
    mcp__head_scan state = { 0 };
    mcp__refusal refusal = { 0, NULL };
    char *exact = malloc(length ? length : 1);

    assert_non_null(exact);
    *end = 0;
    for (size_t have = 0; have < length && *end == 0 && refusal.status == 0;) {
        size_t next = have + step < length ? have + step : length;
        memcpy(exact + have, bytes + have, next - have);
        have = next;
        refusal = mcp__head_find_end(end, &state, exact, have, &limits);
    }
    free(exact);
    if (refusal.status != 0) {
        assert_non_null(refusal.words);
        return refusal.status;
    }
    return *end > 0 ? 0 : -1;
}

/* The same answer, however the bytes come. */
static void scans_to(int wanted, size_t length)
{
    static const size_t steps[] = { 1, 7, 1000, sizeof(text) };
    size_t end = 0;

    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(scan(text, length, steps[i], &end), wanted);
        if (wanted == 0)
            assert_int_equal(end, length);
    }
}

static size_t put(size_t at, const char *what)
{
    memcpy(text + at, what, strlen(what));
    return at + strlen(what);
}

static size_t put_many(size_t at, char what, size_t count)
{
    memset(text + at, what, count);
    return at + count;
}

static void finds_the_end(void **state)
{
    size_t end = 0;

    (void)state;
    assert_int_equal(scan("GET / HTTP/1.1\r\nHost: a\r\n\r\nbody\r\n\r\n", 35, 35, &end), 0);
    assert_int_equal(end, 27);
    assert_int_equal(scan("GET / HTTP/1.1\r\nHost: a\r\n\r", 26, 1, &end), -1);
    assert_int_equal(scan("GET / HTTP/1.1\r\n\r\n", 18, 3, &end), 0);
    assert_int_equal(end, 18);
}

static void a_line_ends_in_cr_lf(void **state)
{
    static const char *const bad[] = {
        "GET / HTTP/1.1\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "\nGET / HTTP/1.1\r\n\r\n",
        "\r\n",
    };
    size_t end = 0;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(scan(bad[i], strlen(bad[i]), 1, &end), 400);
        assert_int_equal(scan(bad[i], strlen(bad[i]), 100, &end), 400);
    }
}

/* "GET /xxx HTTP/1.1" of exactly `line` bytes, with its CR LF and the head's end. */
static size_t request_line_of(size_t line)
{
    size_t at = put(0, "GET /");

    at = put_many(at, 'x', line - strlen("GET / HTTP/1.1"));
    return put(put(at, " HTTP/1.1\r\n"), "\r\n");
}

static void the_request_line_is_bounded(void **state)
{
    (void)state;
    scans_to(0, request_line_of(8191));
    scans_to(0, request_line_of(8192));
    scans_to(414, request_line_of(8193));
    scans_to(414, put_many(0, 'x', 8195)); /* without an end in sight */
}

static size_t block_of(size_t block)
{
    size_t at = put(0, "GET / HTTP/1.1\r\nX: ");

    at = put_many(at, 'y', block - at - 4);
    return put(at, "\r\n\r\n");
}

static void the_block_is_bounded(void **state)
{
    (void)state;
    scans_to(0, block_of(16383));
    scans_to(0, block_of(16384));
    scans_to(431, block_of(16385));
    scans_to(431, put_many(put(0, "GET / HTTP/1.1\r\nX: "), 'y', 40000));
}

static size_t fields_of(int count)
{
    size_t at = put(0, "GET / HTTP/1.1\r\n");

    for (int i = 0; i < count; i++)
        at = put(at, "A: b\r\n");
    return put(at, "\r\n");
}

static void the_fields_are_counted(void **state)
{
    (void)state;
    scans_to(0, fields_of(99));
    scans_to(0, fields_of(100));
    scans_to(431, fields_of(101));
}

/* ---- cutting --------------------------------------------------------------------------------- */

static mcp__request *request;

static int set_up(void **state)
{
    (void)state;
    request = mcp__request_new(FIELDS_MAX);
    return request ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__request_free(request);
    return 0;
}

static int cut(const char *bytes)
{
    mcp__request_reset(request);
    return mcp__request_begin(request, text, put(0, bytes), 0).status;
}

static const char *value(const char *name)
{
    size_t length = 0;
    const char *found = mcp__head_value(&request->head, name, &length);

    assert_true(!found || strlen(found) == length);
    return found;
}

static void cuts_lines_and_fields(void **state)
{
    (void)state;
    assert_int_equal(cut("POST /a/b?c=d?e HTTP/1.1\r\nHost:\thost \t\r\nX-Empty:\r\n"
                         "x-both:  a b  \r\nX-Both: c:d\r\n\r\n"),
                     0);
    assert_string_equal(request->head.bytes, "POST");
    assert_string_equal(request->head.bytes + request->head.target, "/a/b?c=d?e");
    assert_int_equal(request->head.path_length, 4);
    assert_memory_equal(request->head.bytes + request->head.path, "/a/b", 4);
    assert_string_equal(request->head.bytes + request->head.query, "c=d?e");
    assert_int_equal(request->head.minor, 1);
    assert_int_equal(request->head.count, 4);
    assert_string_equal(value("HOST"), "host");
    assert_string_equal(value("X-empty"), "");
    assert_string_equal(value("X-BOTH"), "a b");
    assert_int_equal(mcp__head_count(&request->head, "x-both"), 2);
    assert_null(value("X-Bot"));
    assert_null(value("X-Botha"));
}

static void a_query_may_be_empty_or_missing(void **state)
{
    (void)state;
    assert_int_equal(cut("GET /a? HTTP/1.0\r\n\r\n"), 0);
    assert_true(request->head.query > 0);
    assert_string_equal(request->head.bytes + request->head.query, "");
    assert_int_equal(request->head.path_length, 2);
    assert_int_equal(cut("GET /a HTTP/1.0\r\n\r\n"), 0);
    assert_int_equal(request->head.query, 0);
    assert_int_equal(request->head.minor, 0);
}

struct row {
    const char *bytes;
    int status;
};

static void refuses_what_it_must(void **state)
{
    static const struct row rows[] = {
        { "GET / HTTP/1.1\r\nHost: a\r\n\r\n", 0 },
        { "GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400 }, /* two spaces */
        { "GET /  HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET /\tHTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { " GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET /\r\nHost: a\r\n\r\n", 400 }, /* HTTP/0.9 */
        { "GET\r\n\r\n", 400 },
        { "G@T / HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/9.9\r\nHost: a\r\n\r\n", 505 },
        { "GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505 },
        { "GET / HTTP/1.2\r\nHost: a\r\n\r\n", 505 },
        { "GET / HTTP/1.11\r\nHost: a\r\n\r\n", 400 },
        { "GET / http/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400 },
        { "PRI * HTTP/2.0\r\n\r\n", 505 },
        { "GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n", 400 }, /* bytes of the target */
        { "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET /a\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET a HTTP/1.1\r\nHost: a\r\n\r\n", 400 }, /* its form */
        { "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 0 },
        { "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n", 400 },
        { "GET http://a/b HTTP/1.1\r\nHost: a\r\n\r\n", 0 },
        { "GET HTTPS://A:1/b HTTP/1.1\r\nHost: a:1\r\n\r\n", 0 },
        { "GET http://b/b HTTP/1.1\r\nHost: a\r\n\r\n", 400 }, /* checked is not what is meant */
        { "GET http://a@b/ HTTP/1.1\r\nHost: b\r\n\r\n", 400 },
        { "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET http:// HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n\r\n", 400 }, /* hosts */
        { "GET / HTTP/1.0\r\n\r\n", 0 },
        { "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400 },
        { "GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost:\r\n\r\n", 0 },
        { "GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400 }, /* names */
        { "GET / HTTP/1.1\r\nHost\t: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n: a\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX(Y): b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX\xe9: b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX: \rY: b\r\n\r\n",
          400 }, /* values: the parser takes this one */
        { "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX:\r\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX: a\x7f\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\nHost: a\r\nX: a\tb \xe9\r\n\r\n", 0 },
        { "GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400 }, /* folding */
        { "GET / HTTP/1.1\r\nHost: a\r\n\tfolded: b\r\n\r\n", 400 },
        { "GET / HTTP/1.1\r\n Host: a\r\n\r\n", 400 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (cut(rows[i].bytes) != rows[i].status)
            fail_msg("not %d: %s", rows[i].status, rows[i].bytes);
    }
}

static void the_absolute_form_has_its_path(void **state)
{
    (void)state;
    assert_int_equal(cut("GET http://a:80/p/q?r HTTP/1.1\r\nHost: A:80\r\n\r\n"), 0);
    assert_int_equal(request->head.path_length, 4);
    assert_memory_equal(request->head.bytes + request->head.path, "/p/q", 4);
    assert_string_equal(request->head.bytes + request->head.query, "r");
    assert_string_equal(request->head.bytes + request->head.target, "http://a:80/p/q?r");
}

static void lists_have_tokens(void **state)
{
    (void)state;
    assert_int_equal(cut("GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive ,\tUpGrade\r\n"
                         "Connection: ,,x\r\nUpgrade: websockets\r\n\r\n"),
                     0);
    assert_true(mcp__head_has_token(&request->head, "connection", "upgrade"));
    assert_true(mcp__head_has_token(&request->head, "connection", "keep-alive"));
    assert_true(mcp__head_has_token(&request->head, "connection", "x"));
    assert_false(mcp__head_has_token(&request->head, "connection", "keep"));
    assert_false(mcp__head_has_token(&request->head, "upgrade", "websocket"));
    assert_false(mcp__head_has_token(&request->head, "absent", "x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_end),
        cmocka_unit_test(a_line_ends_in_cr_lf),
        cmocka_unit_test(the_request_line_is_bounded),
        cmocka_unit_test(the_block_is_bounded),
        cmocka_unit_test(the_fields_are_counted),
        cmocka_unit_test(cuts_lines_and_fields),
        cmocka_unit_test(a_query_may_be_empty_or_missing),
        cmocka_unit_test(refuses_what_it_must),
        cmocka_unit_test(the_absolute_form_has_its_path),
        cmocka_unit_test(lists_have_tokens),
    };

    return cmocka_run_group_tests_name("heads", tests, set_up, tear_down);
}
