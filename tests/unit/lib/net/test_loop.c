/*
 * test_loop.c - posting from other threads, timers, signals that are given back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mcp/clock.h"
#include "net/loop.h"
#include "oom.h"

#define POSTS 10000

static mcp__loop *loop;
static pthread_t loop_thread;
static int ran;
static int waits;

typedef struct post {
    mcp__node node; /* first */
    int number;
} post;

static post posts[POSTS];

static int set_up(void **state)
{
    (void)state;
    ran = 0;
    waits = 0;
    loop_thread = pthread_self();
    return mcp__loop_new(&loop, NULL) == MCP_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mcp__loop_free(loop);
    return 0;
}

static void on_post(mcp__node *node)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    assert_int_equal(((post *)node)->number, ran);
    if (++ran == POSTS)
        mcp__loop_stop(loop);
}

static void *post_all(void *data)
{
    (void)data;
    for (int i = 0; i < POSTS; i++) {
        posts[i] = (post){ .node = { .run = on_post }, .number = i };
        mcp__loop_post(loop, &posts[i].node);
    }
    return NULL;
}

static void posts_run_on_the_loop_in_order(void **state)
{
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, post_all, NULL), 0);
    mcp__loop_run(loop);
    pthread_join(thread, NULL);
    assert_int_equal(ran, POSTS);
}

static void what_was_posted_runs_before_the_end(void **state)
{
    (void)state;
    posts[0] = (post){ .node = { .run = on_post }, .number = 0 };
    mcp__loop_post(loop, &posts[0].node);
    mcp__loop_free(loop);
    loop = NULL;
    assert_int_equal(ran, 1);
}

/* Must run first: libuv wants most descriptors for a process's first loop. */
static void without_descriptors_there_is_an_error(void **state)
{
    struct rlimit limit;
    mcp__loop *none = NULL;
    int next = dup(STDIN_FILENO);

    (void)state;
    assert_true(next >= 0);
    (void)close(next);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int free_ones = 0; free_ones < 5; free_ones++) {
        const struct rlimit tight = { (rlim_t)(next + free_ones), limit.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
        mcp_status st = mcp__loop_new(&none, NULL);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
        assert_int_equal(st, MCP_E_IO);
        assert_null(none);
    }
}

static void stop_loop(void *data)
{
    (void)data;
    mcp__loop_stop(loop);
}

static void count_wait(void *data)
{
    ++*(int *)data;
}

static void timers_fire_once_and_not_early(void **state)
{
    mcp__timer *timer = NULL;
    int64_t begun = mcp_clock_mono_ms();

    (void)state;
    assert_int_equal(mcp__timer_new(&timer, loop, stop_loop, NULL, NULL), MCP_OK);
    mcp__loop_before_wait(loop, count_wait, &waits);
    mcp__timer_start(timer, 100000);
    mcp__timer_start(timer, 30); /* started again */
    mcp__loop_run(loop);
    assert_true(mcp_clock_mono_ms() - begun >= 29);
    assert_true(waits >= 1);
    mcp__timer_stop(timer);
    mcp__timer_free(timer);
    mcp__timer_free(NULL);
}

static void on_signal(int number, void *data)
{
    *(int *)data = number;
    mcp__loop_stop(loop);
}

static volatile sig_atomic_t outer;

static void outer_handler(int number)
{
    outer = number;
}

static void signals_are_given_back(void **state)
{
    struct sigaction own = { .sa_handler = outer_handler };
    struct sigaction before;
    mcp__signal *watched = NULL;
    int seen = 0;

    (void)state;
    assert_int_equal(sigaction(SIGUSR2, &own, &before), 0);
    assert_int_equal(mcp__signal_new(&watched, loop, SIGUSR2, on_signal, &seen, NULL), MCP_OK);
    assert_int_equal(kill(getpid(), SIGUSR2), 0);
    mcp__loop_run(loop);
    assert_int_equal(seen, SIGUSR2);
    assert_int_equal(outer, 0);
    mcp__signal_free(watched);
    assert_int_equal(kill(getpid(), SIGUSR2), 0);
    assert_int_equal(outer, SIGUSR2);
    mcp__signal_free(NULL);
    (void)sigaction(SIGUSR2, &before, NULL);
}

static mcp_status make_and_free(void *data)
{
    mcp__loop *made = NULL;
    mcp__timer *timer = NULL;
    mcp_status st = mcp__loop_new(&made, NULL);

    if (st == MCP_OK)
        st = mcp__timer_new(&timer, made, stop_loop, data, NULL);
    mcp__timer_free(timer);
    mcp__loop_free(made);
    return st;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    oom_walk(make_and_free, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_descriptors_there_is_an_error),
        cmocka_unit_test_setup_teardown(posts_run_on_the_loop_in_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_was_posted_runs_before_the_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(timers_fire_once_and_not_early, set_up, tear_down),
        cmocka_unit_test_setup_teardown(signals_are_given_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(memory_may_run_out, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
