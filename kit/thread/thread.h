/**
 * thread.h - condition variables on the monotonic clock, and threads that work until they are
 * stopped.
 *
 * All times are of mcp_clock_mono_ms. A worker uses its owner's lock, so one lock guards the
 * owner's queue, `is_stopping` and the waiting:
 *
 *     static void run(void *data)
 *     {
 *         pthread_mutex_lock(&owner->lock);
 *         while (!owner->worker.is_stopping) {
 *             if (!has_work(owner))
 *                 thread_worker_wait(&owner->worker, THREAD_FOREVER);
 *             else
 *                 work(owner);
 *         }
 *         pthread_mutex_unlock(&owner->lock);
 *     }
 */
#ifndef THREAD_THREAD_H
#define THREAD_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/error.h"

/** A wait without a limit. */
#define THREAD_FOREVER INT64_MAX

/** Initialise a condition for the two functions below; ended by pthread_cond_destroy. */
void thread_cond_init(pthread_cond_t *cond);

/** Wait, with the lock held, at most `ms`. May wake early. @return false: the time is up */
bool thread_wait(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms);

/** The same until a moment of the monotonic clock. */
bool thread_wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t mono_ms);

/** A thread that its owner can wake and stop. */
typedef struct thread_worker {
    pthread_mutex_t *lock; /* the owner's; guards `is_stopping` */
    pthread_cond_t woken;
    bool is_stopping;
    bool is_running; /* between start and stop; the owner's thread only */
    void (*run)(void *data);
    void *data;
    pthread_t thread;
} thread_worker;

/** @param lock outlives the worker */
void thread_worker_init(thread_worker *self, pthread_mutex_t *lock);

/**
 * Start the thread.
 *
 * @param run returns soon after `is_stopping` is set; called without the lock
 * @return MCP_OK; MCP_E_LIMIT or MCP_E_IO: the system has no thread
 */
mcp_status thread_worker_start(thread_worker *self, void (*run)(void *data), void *data,
                               mcp_error *err);

/** Wake the thread. With the lock held. */
void thread_worker_wake(thread_worker *self);

/** In `run`, with the lock held: wait at most `ms` to be woken or stopped. @return false: the
 * time is up */
bool thread_worker_wait(thread_worker *self, int64_t ms);

/** Whether it is stopping. Takes the lock. */
bool thread_worker_is_stopping(thread_worker *self);

/** Stop the thread, wait for its end, and end the worker. Without the lock. Also for one that
 * never ran. */
void thread_worker_stop(thread_worker *self);

#endif
