/*
 * test_http.c - the server as a whole: what it understands, how many it takes, how it stops.
 */
#include <pthread.h>
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

#include "oom.h"
#include "rig.h"
#include "scratch.h"
#include "site.h"

static site page;
static rig *server;
static scratch folder;
static char got[1 << 20];

static void start(void)
{
    server = rig_start(&page.options, NULL, NULL, scratch_path(&folder, "socket"));
}

static int set_up(void **state)
{
    (void)state;
    scratch_open(&folder);
    site_init(&page);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_end(server);
    scratch_close(&folder);
    return 0;
}

static void has(const char *wanted)
{
    if (!strstr(got, wanted))
        fail_msg("\"%s\" is not in: %s", wanted, got);
}

static void nap(int ms)
{
    struct timespec time = { .tv_nsec = (long)ms * 1000000 };

    nanosleep(&time, NULL);
}

static void facts_of_a_request(void **state)
{
    (void)state;
    start();
    client_ask(rig_port(server),
               "PUT /facts?a=b&c HTTP/1.1\r\nhost:  localhost:1 \r\nX-A:1\r\nx-a: 2\r\n"
               "Connection: close\r\n\r\n",
               got, sizeof got);
    has("method=PUT\ntarget=/facts?a=b&c\npath=/facts\nquery=a=b&c\nminor=1\ntls=0\nunix=0\n");
    has("hosts=1\n[host]=[localhost:1]\n[X-A]=[1]\n[x-a]=[2]\n[Connection]=[close]\n");
}

static void a_unix_socket_is_served_too(void **state)
{
    (void)state;
    start();
    int fd = client_open_unix(scratch_path(&folder, "socket"));
    client_say(fd, "GET /facts HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
    client_read(fd, got, sizeof got, NULL);
    has("query=(none)\n");
    has("unix=1\n");
    close(fd);
}

/* The head in one packet, the body byte by byte: what is read of the request stays the same. */
static void facts_survive_a_body_in_pieces(void **state)
{
    (void)state;
    start();
    int fd = client_open(rig_port(server));
    client_say(fd,
               "POST /facts?x HTTP/1.1\r\nHost: a\r\nX-Mark: here\r\nContent-Length: 20\r\n\r\n");
    site_wait(&page.heads, 1);
    for (int i = 0; i < 20; i++) {
        client_say(fd, "b");
        nap(2);
    }
    client_read(fd, got, sizeof got, "[Content-Length]=[20]\n");
    has("method=POST\ntarget=/facts?x\npath=/facts\nquery=x\n");
    has("[X-Mark]=[here]\n");
    close(fd);
}

static void a_request_may_come_byte_by_byte(void **state)
{
    static const char all[] = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                              "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: t\r\n\r\n"
                              "GET /last HTTP/1.1\r\nHost: a\r\n\r\n";

    (void)state;
    start();
    int fd = client_open(rig_port(server));
    for (size_t i = 0; i < sizeof all - 1; i++) {
        assert_true(client_send(fd, all + i, 1));
        if (i % 8 == 0)
            nap(1);
    }
    client_read(fd, got, sizeof got, NULL);
    has("\r\n\r\nhello world");
    has("bye");
    close(fd);
}

static void a_body_of_the_full_size_is_echoed(void **state)
{
    static char large[(4 << 20) + 1024];
    size_t size = 4 << 20;
    int head = snprintf(large, sizeof large,
                        "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                        "Content-Length: %zu\r\n\r\n",
                        size);
    static char back[(4 << 20) + 1024];

    (void)state;
    start();
    for (size_t i = 0; i < size; i++)
        large[(size_t)head + i] = (char)(i * 31 >> 5);
    int fd = client_open(rig_port(server));
    assert_true(client_send(fd, large, (size_t)head + size));
    size_t length = client_read(fd, back, sizeof back, NULL);
    const char *body = strstr(back, "\r\n\r\n");
    assert_non_null(body);
    assert_int_equal(length - (size_t)(body + 4 - back), size);
    assert_memory_equal(body + 4, large + head, size);
    close(fd);
}

/* ---- how many -------------------------------------------------------------------------------- */

static void more_connections_than_allowed_wait(void **state)
{
    (void)state;
    page.options.connections_max = 2;
    start();
    int first = client_open(rig_port(server));
    int second = client_open(rig_port(server));
    client_say(first, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    client_say(second, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 2);
    int third = client_open(rig_port(server)); /* the kernel's queue takes it */
    client_say(third, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    nap(50);
    assert_int_equal(page.requests, 2);
    close(first);
    client_read(third, got, sizeof got, "hello");
    close(third);
    close(second);
}

static void idle_connections_are_closed(void **state)
{
    (void)state;
    page.options.idle_timeout_ms = 80;
    start();
    int fd = client_open(rig_port(server));
    client_say(fd, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(fd, got, sizeof got, "hello");
    assert_true(client_is_closed_within(fd, 2000));
    close(fd);
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void *stop_main(void *data)
{
    rig_stop(data);
    return NULL;
}

static void what_is_open_ends_before_the_server_does(void **state)
{
    pthread_t stopper;

    (void)state;
    start();
    int port = rig_port(server);
    int idle = client_open(port);
    client_say(idle, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n");
    client_read(idle, got, sizeof got, "hello");
    int fresh = client_open(port);
    int open = client_open(port);
    client_say(open, "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n");
    site_wait(&page.holding, 1);

    assert_int_equal(pthread_create(&stopper, NULL, stop_main, server), 0);
    assert_true(client_is_closed_within(idle, 2000));
    assert_true(client_is_closed_within(fresh, 2000));
    assert_int_equal(page.hung_up, 0);
    site_answer(&page, server, 0, "the last one");
    client_read(open, got, sizeof got, NULL);
    has("Connection: close\r\n");
    has("the last one");
    close(open);
    pthread_join(stopper, NULL); /* it is empty */
    close(idle);
    close(fresh);
    assert_int_not_equal(access(scratch_path(&folder, "socket"), F_OK), 0); /* the file is gone */
}

static void an_empty_server_stops_at_once(void **state)
{
    (void)state;
    start();
    rig_stop(server);
}

/* The rig's end frees the server with all that is open. */
static void what_is_still_open_in_the_end_hangs_up(void **state)
{
    size_t before = scratch_open_descriptors();

    (void)state;
    start();
    int port = rig_port(server);
    int fds[4];
    static const char *const begun[4] = {
        "GET /hold HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /stream HTTP/1.1\r\nHost: a\r\n\r\nGET /hello HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nhalf",
        "GET /hel",
    };
    for (int i = 0; i < 4; i++) {
        fds[i] = client_open(port);
        client_say(fds[i], begun[i]);
    }
    site_wait(&page.holding, 2);
    site_wait(&page.heads, 3);
    rig_end(server);
    assert_int_equal(page.hung_up, 3);
    for (int i = 0; i < 4; i++)
        close(fds[i]);
    assert_int_equal(scratch_open_descriptors(), before);
    start(); /* for the teardown */
}

/* ---- memory ---------------------------------------------------------------------------------- */

static mcp_status make_and_free(void *data)
{
    mcp__http_options options = { .head_max_bytes = 0 };
    mcp__loop *loop = NULL;
    mcp__http *http = NULL;
    int port = 0;

    (void)data;
    mcp_status st = mcp__loop_new(&loop, NULL);
    if (st != MCP_OK)
        return st;
    st = mcp__http_new(&http, loop, &options, NULL);
    if (st == MCP_OK)
        st = mcp__http_listen(http, "127.0.0.1", 0, NULL, &port, NULL);
    mcp__http_free(http);
    mcp__loop_free(loop);
    return st;
}

static void making_a_server_without_memory(void **state)
{
    (void)state;
    oom_walk(make_and_free, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(facts_of_a_request, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_unix_socket_is_served_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(facts_survive_a_body_in_pieces, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_request_may_come_byte_by_byte, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_body_of_the_full_size_is_echoed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(more_connections_than_allowed_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(idle_connections_are_closed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_open_ends_before_the_server_does, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_empty_server_stops_at_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_still_open_in_the_end_hangs_up, set_up, tear_down),
        cmocka_unit_test(making_a_server_without_memory),
    };

    return cmocka_run_group_tests_name("the HTTP server", tests, NULL, NULL);
}
