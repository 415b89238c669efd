/*
 * test_reply.c - answers as they arrive: whole, in chunks, to HEAD, to HTTP/1.0, early, and in
 * order.
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

#include "rig.h"
#include "site.h"

static site page;
static rig *server;
static char got[1 << 20];

static int set_up(void **state)
{
    (void)state;
    site_init(&page);
    server = rig_start(&page.options, NULL, NULL, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_end(server);
    return 0;
}

static void has(const char *wanted)
{
    if (!strstr(got, wanted))
        fail_msg("\"%s\" is not in: %s", wanted, got);
}

static void lacks(const char *unwanted)
{
    if (strstr(got, unwanted))
        fail_msg("\"%s\" is in: %s", unwanted, got);
}

static void ask(const char *request)
{
    client_ask(rig_port(server), request, got, sizeof got);
}

/* Whether the text is now, give or take some seconds, as RFC 9110 section 5.6.7 writes it. */
static void is_date_of_now(const char *text)
{
    struct tm date = { 0 };
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &date);

    assert_non_null(end);
    assert_int_equal(strncmp(end, "\r\n", 2), 0);
    assert_true(llabs((long long)(timegm(&date) - time(NULL))) < 10);
}

static void a_whole_answer(void **state)
{
    (void)state;
    ask("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_int_equal(strncmp(got, "HTTP/1.1 200 OK\r\n", 17), 0);
    has("\r\nContent-Type: text/plain\r\n");
    has("\r\nContent-Length: 5\r\n");
    has("\r\nConnection: close\r\n");
    has("\r\n\r\nhello");
    lacks("Transfer-Encoding");
    is_date_of_now(strstr(got, "Date: ") + 6);
}

static void head_has_the_length_only(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd,
               "HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\nHEAD /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);
    site_write(&page, server, 0, "never seen");
    site_write(&page, server, 0, NULL);
    client_say(fd, "GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(fd, got, sizeof got, NULL);
    close(fd);
    has("Content-Length: 5\r\n\r\nHTTP/1.1 200 OK\r\n"); /* nothing between head and next answer */
    has("Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\nHTTP/1.1 200 OK\r\n");
    has("\r\n\r\nbye");
    lacks("never seen");
}

static void old_clients_are_closed_or_kept_as_they_ask(void **state)
{
    (void)state;
    ask("GET /hello HTTP/1.0\r\n\r\n"); /* and no Host */
    has("HTTP/1.1 200 OK\r\n");
    has("Connection: close\r\n");
    ask("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /last HTTP/1.0\r\n\r\n");
    has("Connection: keep-alive\r\n");
    has("bye");
}

static void a_stream_comes_in_chunks(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd, "GET /stream HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);
    client_read(fd, got, sizeof got, "\r\n\r\n");
    has("Content-Type: text/event-stream\r\n");
    has("Transfer-Encoding: chunked\r\n");
    lacks("Content-Length");
    lacks("X-Left-Out");
    site_write(&page, server, 0, "data: one\n\n");
    client_read(fd, got, sizeof got, "b\r\ndata: one\n\n\r\n");
    site_write(&page, server, 0, ""); /* an empty chunk would end the stream */
    site_write(&page, server, 0, "0123456789abcdef0");
    client_read(fd, got, sizeof got, "11\r\n0123456789abcdef0\r\n");
    site_write(&page, server, 0, NULL);
    client_read(fd, got, sizeof got, "0\r\n\r\n");
    client_say(fd, "GET /last HTTP/1.1\r\nHost: a\r\n\r\n"); /* the connection continues */
    client_read(fd, got, sizeof got, NULL);
    has("bye");
    close(fd);
    assert_int_equal(page.hung_up, 0);
}

static void an_old_client_gets_a_stream_that_ends_by_closing(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd, "GET /stream HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    site_wait(&page.holding, 1);
    site_write(&page, server, 0, "plain");
    site_write(&page, server, 0, NULL);
    client_read(fd, got, sizeof got, NULL);
    close(fd);
    has("Connection: close\r\n");
    has("\r\n\r\nplain");
    lacks("chunked");
}

static void pipelined_requests_are_answered_in_order(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none"
                   "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
                   "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3\r\nthr\r\n2\r\nee\r\n0\r\n\r\n"
                   "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n"
                   "GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);
    client_read(fd, got, sizeof got, "one");
    assert_int_equal(page.requests, 2); /* the third waits for the second */
    site_answer(&page, server, 0, "two");
    site_wait(&page.holding, 2);
    site_answer(&page, server, 1, "four");
    client_read(fd, got, sizeof got, NULL);
    close(fd);
    const char *order[] = { "two", "three", "four", "bye" };
    const char *at = got;
    for (int i = 0; i < 4; i++) {
        at = strstr(at, order[i]);
        assert_non_null(at);
    }
}

static void a_hundred_in_one_write_come_back_in_few_reads(void **state)
{
    static const char one[] = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n";
    static char all[100 * sizeof one + 64];
    int fd = client_open(rig_port(server));
    size_t length = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s", one);
    client_send(fd, all, length);
    ssize_t first = recv(fd, got, sizeof got - 1, 0); /* one writev on the other side */
    assert_true(first > 0);
    got[first] = '\0';
    int answers = 0;
    for (const char *at = strstr(got, "\r\n\r\nhello"); at; at = strstr(at + 1, "\r\n\r\nhello"))
        answers++;
    assert_int_equal(answers, 100);
    close(fd);
}

static void what_no_field_may_have_is_not_sent(void **state)
{
    (void)state;
    ask("GET /unfit HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    assert_int_equal(strncmp(got, "HTTP/1.1 500 ", 13), 0);
    lacks("Injected");
}

static void a_refusal_of_head_has_no_body(void **state)
{
    static const char *const refused[] = {
        "HEAD /hello HTTP/1.1\r\n\r\n",                        /* no Host */
        "HEAD /hello HTTP/1.1\r\nHost: a\r\nno field\r\n\r\n", /* a line of the head */
        "HEAD /hello HTTP/1.1\r\nHost: a\n\n",                 /* before the head's end */
        "HEAD /hello HTTP/9.9\r\nHost: a\r\n\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        ask(refused[i]);
        const char *end = strstr(got, "\r\n\r\n");
        assert_non_null(end);
        assert_int_equal(strncmp(got, i < 3 ? "HTTP/1.1 400 " : "HTTP/1.1 505 ", 13), 0);
        if (end[4] != '\0')
            fail_msg("a body of an answer to HEAD: %s", end + 4);
    }
    ask("GET /hello HTTP/1.1\r\n\r\n");
    assert_string_not_equal(strstr(got, "\r\n\r\n"), "\r\n\r\n");
}

/* ---- before the body ------------------------------------------------------------------------- */

static void an_early_answer_keeps_the_connection_when_the_body_is_small(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nX-Refuse: 401\r\nContent-Length: 6\r\n\r\n");
    client_read(fd, got, sizeof got, "refused");
    assert_int_equal(strncmp(got, "HTTP/1.1 401 Unauthorized\r\n", 27), 0);
    lacks("Connection: close");
    client_say(fd, "secretGET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(fd, got, sizeof got, "hello");
    close(fd);
    assert_int_equal(page.requests, 1); /* the refused one never got there */
    assert_int_equal(page.heads, 2);
    assert_int_equal(page.hung_up, 0);
}

static void an_early_answer_closes_when_the_body_is_large(void **state)
{
    static const char *const heads[] = {
        "Content-Length: 1000000\r\n",
        "Transfer-Encoding: chunked\r\n",
        "Content-Length: 10\r\nExpect: 100-continue\r\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        int fd = client_open(rig_port(server));
        char request[256];
        snprintf(request, sizeof request,
                 "POST /echo HTTP/1.1\r\nHost: a\r\nX-Refuse: 403\r\n%s\r\n", heads[i]);
        client_say(fd, request);
        client_say(fd, "the body begins, and the answer must get through all the same");
        client_read(fd, got, sizeof got, NULL);
        has("HTTP/1.1 403 Forbidden\r\n");
        has("Connection: close\r\n");
        lacks("100 Continue");
        close(fd);
    }
    assert_int_equal(page.requests, 0);
}

static void continue_is_said_to_those_who_wait_for_it(void **state)
{
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(
        fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-Continue\r\n\r\n");
    client_read(fd, got, sizeof got, "HTTP/1.1 100 Continue\r\n\r\n");
    client_say(fd, "body");
    client_read(fd, got, sizeof got, "\r\n\r\nbody");
    /* A client that does not wait gets no 100. */
    client_say(
        fd,
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\nmore"
        "GET /last HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(fd, got, sizeof got, NULL);
    lacks("100 Continue");
    has("more");
    close(fd);
}

static void large_answers_arrive_whole(void **state)
{
    static char large[(8 << 20) + 4096];
    int fd = client_open(rig_port(server));

    (void)state;
    client_say(fd, "GET /bytes/8388608 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    size_t length = client_read(fd, large, sizeof large, NULL);
    const char *body = strstr(large, "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(length - (size_t)(body + 4 - large), 8388608);
    assert_int_equal(strspn(body + 4, "x"), 8388608);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_answer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(head_has_the_length_only, set_up, tear_down),
        cmocka_unit_test_setup_teardown(old_clients_are_closed_or_kept_as_they_ask, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_stream_comes_in_chunks, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_old_client_gets_a_stream_that_ends_by_closing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pipelined_requests_are_answered_in_order, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_hundred_in_one_write_come_back_in_few_reads, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(what_no_field_may_have_is_not_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_refusal_of_head_has_no_body, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_early_answer_keeps_the_connection_when_the_body_is_small,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_early_answer_closes_when_the_body_is_large, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(continue_is_said_to_those_who_wait_for_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(large_answers_arrive_whole, set_up, tear_down),
    };

    return cmocka_run_group_tests_name("answers", tests, NULL, NULL);
}
