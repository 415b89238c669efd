/*
 * loop.h - the one thread that owns sockets, sessions and timers.
 *
 * A loop belongs to the thread that runs it. mcp__loop_post is the only function that another
 * thread may call.
 */
#ifndef NET_LOOP_H
#define NET_LOOP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/error.h"

typedef struct mcp__loop mcp__loop;
typedef struct mcp__timer mcp__timer;
typedef struct mcp__signal mcp__signal;
typedef struct mcp__node mcp__node;

/** A place in a queue, embedded in what is handed over: pushing allocates nothing. `run` is what
 *  the loop calls for a node that was posted to it. */
struct mcp__node {
    mcp__node *next;
    void (*run)(mcp__node *node);
};

/** First in, first out, between threads; without a lock. All zero: empty. */
typedef struct mcp__queue {
    _Atomic(mcp__node *) last; /* the others behind it, back to the first */
} mcp__queue;

/** Any thread. Takes `node`. @return true when the queue was empty before: its taker must be
 *  woken */
bool mcp__queue_push(mcp__queue *queue, mcp__node *node);

/** Any thread. Everything that is queued, linked by `next` in order, is the caller's; NULL when
 *  there is nothing. */
mcp__node *mcp__queue_take(mcp__queue *queue);

/** What the loop calls back. `data` is what was given with it. */
typedef void mcp__loop_callback(void *data);
typedef void mcp__loop_signal_callback(int number, void *data);

/** @param out yours, free it with mcp__loop_free */
mcp_status mcp__loop_new(mcp__loop **out, mcp_error *err);

/** The loop must not be running; timers, signals and watches must be gone. Posted nodes that were
 * not run are run now, so that what they carry is freed. NULL is fine. */
void mcp__loop_free(mcp__loop *loop);

/** Look so long for an event before sleeping, while they come that fast; 0 or less: never, as at
 *  first. */
void mcp__loop_spin(mcp__loop *loop, int64_t most_us);

/** Run until mcp__loop_stop. */
void mcp__loop_run(mcp__loop *loop);

/** Make mcp__loop_run return soon. */
void mcp__loop_stop(mcp__loop *loop);

/** Any thread: have node->run called on the loop. Nodes run in the order of posting. Takes
 * `node`. */
void mcp__loop_post(mcp__loop *loop, mcp__node *node);

/** Call `callback` each time before the loop waits for something to happen; NULL: nothing. */
void mcp__loop_before_wait(mcp__loop *loop, mcp__loop_callback *callback, void *data);

/** The longest turn so far, in nanoseconds: from an event to the next wait. */
uint64_t mcp__loop_turn_max_ns(const mcp__loop *loop);

/** A timer that is not started. @param out yours, free it with mcp__timer_free */
mcp_status mcp__timer_new(mcp__timer **out, mcp__loop *loop, mcp__loop_callback *callback,
                          void *data, mcp_error *err);

/** Fire once after `delay_ms`; restarted when it runs. */
void mcp__timer_start(mcp__timer *timer, int64_t delay_ms);

void mcp__timer_stop(mcp__timer *timer);

/** NULL is fine. */
void mcp__timer_free(mcp__timer *timer);

/** Call `callback` on the loop when the process gets the signal. @param out yours */
mcp_status mcp__signal_new(mcp__signal **out, mcp__loop *loop, int number,
                           mcp__loop_signal_callback *callback, void *data, mcp_error *err);

/** Stop watching; the signal's earlier handling is in force again. NULL is fine. */
void mcp__signal_free(mcp__signal *signal);

#endif
