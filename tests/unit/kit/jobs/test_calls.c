/*
 * test_calls.c - long polls of a real server: calls that wait for a key, without a thread each.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "jobs/waits.h"
#include "mcp/clock.h"
#include "mcp/mcp.h"
#include "rig.h"
#include "web_rig.h"

enum { WAIT_S = 60, POLLS = 60 };

static jobs_waits *waits;
static atomic_int version;
static atomic_int patience_ms;
static atomic_int resumed;

static mcp_status answer(mcp_call *call, void *data);

static void resume(void *call, jobs_outcome outcome)
{
    (void)outcome;
    atomic_fetch_add(&resumed, 1);
    mcp_call_resume(call, answer, call, 0);
}

/* The continuation has the call as its data: it has waited once. */
static mcp_status answer(mcp_call *call, void *data)
{
    uint64_t mark = jobs_waits_mark(waits, "version");
    int now = atomic_load(&version);

    if (now > 0 || data == call) {
        mcp_write_member_int(mcp_call_result(call), "version", now);
        return MCP_OK;
    }
    mcp_status st = jobs_wait(waits, "version", mark, mcp_clock_mono_ms() + patience_ms, resume,
                              call, mcp_call_error(call));
    return st == MCP_OK ? MCP_E_DEFERRED : st;
}

/* A handler's own data is another. */
static mcp_status poll_version(mcp_call *call, void *data)
{
    (void)data;
    return answer(call, NULL);
}

static bool is_over(void *call)
{
    return mcp_call_stop(call) != MCP_STOP_NONE;
}

static web_rig *start(void)
{
    static const mcp_route routes[] = {
        { "GET", "/version", poll_version, MCP_READS | MCP_STOP_ON_HANGUP, 0 }, { 0 }
    };
    mcp_http_options http = MCP_HTTP_OPTIONS_INIT;

    http.routes = routes;
    atomic_store(&version, 0);
    atomic_store(&resumed, 0);
    atomic_store(&patience_ms, 3600000);
    assert_int_equal(jobs_waits_new(&waits, &(jobs_waits_options){ .is_over = is_over }, NULL),
                     MCP_OK);
    return web_start(NULL, &http);
}

static void await_waits(size_t count)
{
    const struct timespec nap = { .tv_nsec = 5000000 };
    int64_t until_ms = mcp_clock_mono_ms() + WAIT_S * 1000;

    while (jobs_waits_count(waits) != count && mcp_clock_mono_ms() < until_ms)
        nanosleep(&nap, NULL);
    assert_int_equal(jobs_waits_count(waits), count);
}

/* More than the server has threads. */
static void a_change_answers_all_that_wait_for_it(void **state)
{
    web_rig *server = start();
    char text[4096];
    int fds[POLLS];

    (void)state;
    for (int i = 0; i < POLLS; i++)
        fds[i] = web_begin(web_port(server), "GET", "/version", NULL, NULL);
    await_waits(POLLS);
    atomic_store(&version, 7);
    jobs_wake(waits, "version");
    for (int i = 0; i < POLLS; i++) {
        client_read(fds[i], text, sizeof text, "{\"version\":7}");
        close(fds[i]);
    }
    assert_int_equal(web_end(server), MCP_OK);
    jobs_waits_free(waits);
    assert_int_equal(resumed, POLLS);
}

static void a_poll_without_news_is_answered_too(void **state)
{
    web_rig *server = start();
    web_answer out;

    (void)state;
    atomic_store(&patience_ms, 50);
    web_ask(&out, web_port(server), "GET", "/version", NULL, NULL);
    assert_int_equal(out.status, 200);
    assert_string_equal(out.body, "{\"version\":0}");
    assert_int_equal(web_end(server), MCP_OK);
    jobs_waits_free(waits);
}

static void a_client_that_hangs_up_waits_no_more(void **state)
{
    web_rig *server = start();
    int fd = web_begin(web_port(server), "GET", "/version", NULL, NULL);

    (void)state;
    await_waits(1);
    close(fd);
    await_waits(0);
    assert_int_equal(web_end(server), MCP_OK);
    jobs_waits_free(waits);
    assert_int_equal(resumed, 1);
}

static void a_server_that_stops_waits_for_nothing(void **state)
{
    web_rig *server = start();
    int fd = web_begin(web_port(server), "GET", "/version", NULL, NULL);

    (void)state;
    await_waits(1);
    assert_int_equal(web_end(server), MCP_OK);
    assert_int_equal(jobs_waits_count(waits), 0);
    jobs_waits_free(waits);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_answers_all_that_wait_for_it),
        cmocka_unit_test(a_poll_without_news_is_answered_too),
        cmocka_unit_test(a_client_that_hangs_up_waits_no_more),
        cmocka_unit_test(a_server_that_stops_waits_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
