/*
 * test_thread.c - waits that end in time, and workers that are woken and stopped.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "mcp/clock.h"
#include "thread/thread.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    thread_worker worker;
    int todo, done;
    bool has_ended;
} owner;

static int set_up(void **state)
{
    (void)state;
    pthread_mutex_init(&owner.lock, NULL);
    thread_cond_init(&owner.changed);
    thread_worker_init(&owner.worker, &owner.lock);
    owner.todo = owner.done = 0;
    owner.has_ended = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pthread_cond_destroy(&owner.changed);
    pthread_mutex_destroy(&owner.lock);
    return 0;
}

static void run(void *data)
{
    assert_ptr_equal(data, &owner);
    pthread_mutex_lock(&owner.lock);
    while (!owner.worker.is_stopping) {
        if (owner.todo == 0) {
            thread_worker_wait(&owner.worker, THREAD_FOREVER);
            continue;
        }
        owner.todo--;
        owner.done++;
        pthread_cond_signal(&owner.changed);
    }
    owner.has_ended = true;
    pthread_mutex_unlock(&owner.lock);
}

static void a_wait_ends_when_its_time_is_up(void **state)
{
    int64_t began_ms = mcp_clock_mono_ms();

    (void)state;
    pthread_mutex_lock(&owner.lock);
    while (thread_wait(&owner.changed, &owner.lock, 20))
        ;
    assert_true(mcp_clock_mono_ms() - began_ms >= 19);
    assert_false(thread_wait_until(&owner.changed, &owner.lock, began_ms));
    assert_false(thread_wait(&owner.changed, &owner.lock, 0));
    assert_false(thread_wait(&owner.changed, &owner.lock, -5));
    pthread_mutex_unlock(&owner.lock);
    thread_worker_stop(&owner.worker);
}

static void a_worker_is_woken_and_stopped(void **state)
{
    mcp_error err = MCP_ERROR_INIT;

    (void)state;
    assert_int_equal(thread_worker_start(&owner.worker, run, &owner, &err), MCP_OK);
    for (int i = 1; i <= 100; i++) {
        pthread_mutex_lock(&owner.lock);
        owner.todo++;
        thread_worker_wake(&owner.worker);
        while (owner.done < i)
            thread_wait(&owner.changed, &owner.lock, THREAD_FOREVER);
        pthread_mutex_unlock(&owner.lock);
    }
    assert_false(thread_worker_is_stopping(&owner.worker));
    thread_worker_stop(&owner.worker);
    assert_true(owner.has_ended);
}

/* The owner's cleanup is the same whether the thread was started or not. */
static void a_worker_that_never_ran_is_stopped_too(void **state)
{
    (void)state;
    thread_worker_stop(&owner.worker);
    assert_false(owner.has_ended);
}

/* A request to stop that comes before the wait is not lost. */
static void a_worker_that_is_stopping_does_not_wait(void **state)
{
    (void)state;
    pthread_mutex_lock(&owner.lock);
    owner.worker.is_stopping = true;
    assert_true(thread_worker_wait(&owner.worker, THREAD_FOREVER));
    pthread_mutex_unlock(&owner.lock);
    assert_true(thread_worker_is_stopping(&owner.worker));
    thread_worker_stop(&owner.worker);
}

int main(void)
{
#define EACH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        EACH(a_wait_ends_when_its_time_is_up),
        EACH(a_worker_is_woken_and_stopped),
        EACH(a_worker_that_never_ran_is_stopped_too),
        EACH(a_worker_that_is_stopping_does_not_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
