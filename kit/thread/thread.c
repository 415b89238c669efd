/*
 * thread.c - waiting on the monotonic clock, and the life of a worker.
 */
#include "thread/thread.h"

#include <errno.h>
#include <time.h>

#include "mcp/clock.h"

void thread_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attributes);
    pthread_condattr_destroy(&attributes);
}

bool thread_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t mono_ms)
{
    const struct timespec until = { .tv_sec = mono_ms / 1000, .tv_nsec = mono_ms % 1000 * 1000000 };

    return pthread_cond_timedwait(cond, lock, &until) != ETIMEDOUT;
}

bool thread_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
    int64_t now_ms = mcp_clock_mono_ms();

    if (ms < INT64_MAX - now_ms)
        return thread_wait_until(cond, lock, now_ms + ms);
    return pthread_cond_wait(cond, lock) == 0;
}

void thread_worker_init(thread_worker *self, pthread_mutex_t *lock)
{
    *self = (thread_worker){ .lock = lock };
    thread_cond_init(&self->woken);
}

static void *thread_main(void *data)
{
    thread_worker *self = data;

    self->run(self->data);
    return NULL;
}

mcp_status thread_worker_start(thread_worker *self, void (*run)(void *data), void *data,
                               mcp_error *err)
{
    self->run = run;
    self->data = data;
    int failure = pthread_create(&self->thread, NULL, thread_main, self);
    self->is_running = failure == 0;
    return failure ? mcp_error_errno(err, failure, "the system has no further thread") : MCP_OK;
}

void thread_worker_wake(thread_worker *self)
{
    pthread_cond_signal(&self->woken);
}

bool thread_worker_wait(thread_worker *self, int64_t ms)
{
    return self->is_stopping || thread_wait(&self->woken, self->lock, ms);
}

bool thread_worker_is_stopping(thread_worker *self)
{
    pthread_mutex_lock(self->lock);
    bool is_stopping = self->is_stopping;
    pthread_mutex_unlock(self->lock);
    return is_stopping;
}

void thread_worker_stop(thread_worker *self)
{
    pthread_mutex_lock(self->lock);
    self->is_stopping = true;
    thread_worker_wake(self);
    pthread_mutex_unlock(self->lock);
    if (self->is_running)
        pthread_join(self->thread, NULL);
    self->is_running = false;
    pthread_cond_destroy(&self->woken);
}
