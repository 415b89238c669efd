/*
 * test_http_body.c - large bodies on their way through a worker, while the loop serves others.
 *
 * The worker is an executor that is stepped by hand, on the loop, so each moment can be looked at.
 */
#include "mcp/transport/http_int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "inline.h"
#include "rig.h"

static struct {
    mcp__httpd httpd;
    mcp_server_options options;
    mcp__inline worker;
    rig *rig;
    const mcp_principal *caller; /* of the next request */
    long successes;              /* allocations that the next request gets; -1: all */
    int taken;
} it;

/* Says what it got: the text's length, a header field, the caller, and the status. */
static void take(mcp__httpd *httpd, mcp__http_exchange *exchange, mcp__incoming *incoming)
{
    const char *mark = mcp__http_field(exchange, "X-Mark");
    char body[200];

    it.taken++;
    int length = snprintf(body, sizeof body, "%zu %s %s %s", incoming->whole.length,
                          mark ? mark : "-", httpd->caller ? httpd->caller->name : "-",
                          mcp_status_name(incoming->status));
    mcp__http_head_out head = { .status = 200 };
    (void)mcp__http_reply(exchange, &head, body, (size_t)length, NULL);
}

static void on_request(mcp__http_exchange *exchange, void *data)
{
    (void)data;
    it.httpd.caller = it.caller;
    mcp__alloc_fail_after(it.successes);
    mcp__httpd_read_body(&it.httpd, exchange, take);
    mcp__alloc_fail_after(-1);
    it.httpd.caller = NULL;
}

static void on_hung_up(mcp__http_exchange *exchange, void *data)
{
    mcp__exchange_owner *owner = mcp__http_data(exchange);

    (void)data;
    if (owner)
        owner->hung_up(owner);
}

static int begin(void **state)
{
    mcp__http_options http = { .handler = { .request = on_request, .hung_up = on_hung_up } };

    (void)state;
    memset(&it, 0, sizeof(it));
    it.successes = -1;
    it.options.limits.message_max_bytes = (size_t)1 << 20;
    it.options.limits.arena_max_bytes = (size_t)4 << 20;
    mcp__inline_init(&it.worker);
    it.worker.is_held = true;
    it.httpd.serve.options = &it.options;
    it.httpd.http.path = "/mcp";
    it.httpd.serve.executor = &it.worker.executor;
    it.httpd.is_stepping = true; /* no timer is wanted here */
    it.rig = rig_start(&http, NULL, NULL, NULL);
    return 0;
}

static int end(void **state)
{
    (void)state;
    rig_end(it.rig);
    while (mcp__inline_step(&it.worker))
        ;
    return it.httpd.serve.reading;
}

static void step(void *data)
{
    *(bool *)data = mcp__inline_step(&it.worker);
}

/* What the loop's thread knows, and the notifications that it gets. */
struct moment {
    int reading;
    int taken;
    uint64_t hung_up;
};

static void look(void *data)
{
    *(struct moment *)data = (struct moment){ it.httpd.serve.reading, it.taken,
                                              it.httpd.counts.hung_up };
}

static struct moment now(void)
{
    struct moment moment;

    rig_call(it.rig, look, &moment);
    return moment;
}

static int reading(void)
{
    return now().reading;
}

static void set_caller(void *data)
{
    it.caller = data;
}

static void set_successes(void *data)
{
    it.successes = *(long *)data;
}

static void set_full(void *data)
{
    (void)data;
    it.worker.is_full = true;
}

static void let_one_be_read(void)
{
    bool was_there = false;

    rig_call(it.rig, step, &was_there);
    assert_true(was_there);
}

/* A JSON text of exactly that many bytes, in a request. */
static char *request_of(size_t length, const char *mark)
{
    char *text = malloc(length + 300);
    int head = snprintf(text, 300,
                        "POST / HTTP/1.1\r\nHost: x\r\nX-Mark: %s\r\nContent-Length: %zu\r\n\r\n",
                        mark, length);

    memset(text + head, 'x', length);
    text[head] = text[(size_t)head + length - 1] = '"';
    text[(size_t)head + length] = '\0';
    return text;
}

static void say(int fd, size_t length, const char *mark)
{
    char *request = request_of(length, mark);

    assert_true(client_say(fd, request));
    free(request);
}

static void hear(int fd, const char *words)
{
    char text[4096];

    client_read(fd, text, sizeof(text), words);
}

static void wait_until(int count)
{
    for (int i = 0; i < CLIENT_WAIT_MS && reading() != count; i++)
        usleep(1000);
    assert_int_equal(reading(), count);
}

static void others_are_served_while_a_body_is_read(void **state)
{
    int large = client_open(rig_port(it.rig));
    int small = client_open(rig_port(it.rig));

    (void)state;
    say(large, 300000, "first");
    wait_until(1);
    say(small, 20, "second");
    hear(small, "20 second - OK");
    assert_int_equal(now().taken, 1);
    let_one_be_read();
    hear(large, "300000 first - OK");
    assert_int_equal(reading(), 0);
    close(large);
    close(small);
}

static void what_is_large(void **state)
{
    static const size_t lengths[] = { 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1 };
    int fd = client_open(rig_port(it.rig));

    (void)state;
    say(fd, lengths[0], "below");
    hear(fd, "65535 below");
    say(fd, lengths[1], "at");
    hear(fd, "65536 at");
    say(fd, lengths[2], "above");
    wait_until(1);
    let_one_be_read();
    hear(fd, "65537 above");
    close(fd);
}

/* Back pressure: what follows on the connection is not looked at before the answer. */
static void the_connections_next_request_waits(void **state)
{
    int fd = client_open(rig_port(it.rig));

    (void)state;
    say(fd, 100000, "first");
    wait_until(1);
    say(fd, 10, "second");
    assert_int_equal(reading(), 1);
    assert_int_equal(now().taken, 0);
    let_one_be_read();
    hear(fd, "10 second");
    assert_int_equal(now().taken, 2);
    close(fd);
}

static void a_client_may_leave_meanwhile(void **state)
{
    int fd = client_open(rig_port(it.rig));

    (void)state;
    say(fd, 100000, "gone");
    wait_until(1);
    close(fd);
    for (int i = 0; i < CLIENT_WAIT_MS && now().hung_up == 0; i++)
        usleep(1000);
    assert_int_equal(now().hung_up, 1);
    let_one_be_read();
    assert_int_equal(now().taken, 0);
    assert_int_equal(reading(), 0);
}

static void the_caller_is_remembered(void **state)
{
    char name[] = "alice";
    mcp_principal alice = { .name = name, .scopes = "" };
    int fd = client_open(rig_port(it.rig));

    (void)state;
    rig_call(it.rig, set_caller, &alice);
    say(fd, 100000, "hers");
    wait_until(1);
    memcpy(name, "?????", 5); /* what the token was found in may be gone by then */
    let_one_be_read();
    hear(fd, "100000 hers alice OK");
    close(fd);
}

static void a_text_that_is_no_json_is_reported(void **state)
{
    char *request = request_of(100000, "broken");
    int fd = client_open(rig_port(it.rig));

    (void)state;
    request[strlen(request) - 1] = 'x';
    assert_true(client_say(fd, request));
    wait_until(1);
    let_one_be_read();
    hear(fd, "100000 broken - E_PARSE");
    free(request);
    close(fd);
}

static void set_ending(void *data)
{
    (void)data;
    it.httpd.serve.is_ending = true;
}

static void a_server_that_ends_refuses(void **state)
{
    int fd = client_open(rig_port(it.rig));

    (void)state;
    say(fd, 100000, "late");
    wait_until(1);
    rig_call(it.rig, set_ending, NULL);
    let_one_be_read();
    hear(fd, "HTTP/1.1 503 ");
    assert_int_equal(now().taken, 0);
    close(fd);
}

static void without_a_worker_the_client_is_notified(void **state)
{
    int fd = client_open(rig_port(it.rig));

    (void)state;
    rig_call(it.rig, set_full, NULL);
    say(fd, 100000, "busy");
    hear(fd, "HTTP/1.1 503 ");
    assert_int_equal(reading(), 0);
    close(fd);
}

/* Whether the body went to the worker; else the client was answered, or its connection closed. */
static bool was_accepted(int fd)
{
    char text[1024];

    for (int i = 0; i < CLIENT_WAIT_MS; i++) {
        if (reading() == 1)
            return true;
        if (recv(fd, text, sizeof(text), MSG_DONTWAIT) >= 0)
            return false;
        usleep(1000);
    }
    fail_msg("neither an answer nor an end");
    return false;
}

/* With ever more memory: first nothing can be said at all, then that there is none, then it is
 * read. */
static void memory_runs_out_at_every_point(void **state)
{
    bool was_read = false;

    (void)state;
    for (long successes = 0; !was_read && successes < 100; successes++) {
        int fd = client_open(rig_port(it.rig));
        rig_call(it.rig, set_successes, &successes);
        say(fd, 100000, "short");
        was_read = was_accepted(fd);
        if (was_read) {
            let_one_be_read();
            hear(fd, "100000 short");
        }
        close(fd);
    }
    assert_true(was_read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(others_are_served_while_a_body_is_read, begin, end),
        cmocka_unit_test_setup_teardown(what_is_large, begin, end),
        cmocka_unit_test_setup_teardown(the_connections_next_request_waits, begin, end),
        cmocka_unit_test_setup_teardown(a_client_may_leave_meanwhile, begin, end),
        cmocka_unit_test_setup_teardown(the_caller_is_remembered, begin, end),
        cmocka_unit_test_setup_teardown(a_text_that_is_no_json_is_reported, begin, end),
        cmocka_unit_test_setup_teardown(a_server_that_ends_refuses, begin, end),
        cmocka_unit_test_setup_teardown(without_a_worker_the_client_is_notified, begin, end),
        cmocka_unit_test_setup_teardown(memory_runs_out_at_every_point, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
