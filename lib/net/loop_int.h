/*
 * loop_int.h - the body of a loop, for the files of lib/net that hang handles of their own on it.
 */
#ifndef NET_LOOP_INT_H
#define NET_LOOP_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "net/loop.h"

/** Whether the loop should look for the next event a moment longer before it sleeps (loop.c).
 *  Zeroed memory never spins. */
typedef struct mcp__spin {
    int64_t most_ns; /* how long a look may take; 0: it never spins */
    bool is_on;
    int hits;        /* in a row, while it is on */
    int short_waits; /* in a row, while it is off */
    int needed;      /* short waits that turn it on */
} mcp__spin;

/** @param most_ns how long to look; 0, or a single processor for this thread: never */
void mcp__spin_init(mcp__spin *spin, int64_t most_ns);

/** An event came while the thread looked; else none did. */
void mcp__spin_looked(mcp__spin *spin, bool has_come);

/** It slept for so long until one came. */
void mcp__spin_slept(mcp__spin *spin, int64_t ns);

struct mcp__loop {
    uv_loop_t uv;
    uv_async_t wake;      /* fires when `posted` was empty and is no longer */
    uv_prepare_t prepare; /* runs just before the loop waits */
    mcp__queue posted;
    mcp__loop_callback *before_wait;
    void *before_wait_data;
    mcp__spin spin;
    uint64_t came;    /* events that were worth waking for */
    int64_t slept_ns; /* since when the loop sleeps; 0: it does not */
    int away;         /* tasks with workers: they need the processor more than a loop that looks */
    bool is_stopping;
    uint64_t turn_began_ns; /* when it last was about to wait; 0: it does not run */
    uint64_t idle_ns;       /* how long it had waited in all by then */
    uint64_t turn_max_ns;
};

/** Input has come, or a thread has posted something. */
void mcp__loop_came(mcp__loop *loop);

/**
 * A handle to poll a descriptor by; it does not poll yet.
 *
 * @param out  yours, end it with mcp__handle_close
 * @param data the handle's `data`
 * @return 0, or libuv's error: an errno, negated
 */
int mcp__poll_new(uv_poll_t **out, mcp__loop *loop, int fd, void *data);

/** Close a handle that begins a block from malloc; frees the block. NULL is fine. */
void mcp__handle_close(uv_handle_t *handle);

#endif
