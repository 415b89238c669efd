/*
 * loop_int.h - the body of a loop, for the files of lib/net that hang handles of their own on it.
 */
#ifndef NET_LOOP_INT_H
#define NET_LOOP_INT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "net/loop.h"
#include "net/spin.h"

struct mcp__loop {
    uv_loop_t uv;
    uv_async_t wake;      /* fires when `posted` was empty and is no longer */
    uv_prepare_t prepare; /* runs just before the loop waits */
    mcp__queue posted;
    mcp__loop_callback *before_wait;
    void *before_wait_data;
    mcp__loop_callback *turn_end; /* the very last before the loop waits; the pool's */
    void *turn_end_data;
    bool is_running; /* so that there will be a turn's end */
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

/** Close a handle whose memory is the first member of a block from malloc; frees the block. */
void mcp__handle_close(uv_handle_t *handle);

/** Fill `err` from a libuv error code (a negative errno). */
mcp_status mcp__uv_error(mcp_error *err, int code, const char *what);

#endif
