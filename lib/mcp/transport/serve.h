/*
 * serve.h - what every transport has while it serves: loop, workers, tasks, signals, large
 * messages, its end.
 *
 * A transport embeds a mcp__serve as its first member and says by a driver what differs. All on the
 * loop, but for mcp__stop_request.
 */
#ifndef MCP_TRANSPORT_SERVE_H
#define MCP_TRANSPORT_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/core/context.h"
#include "mcp/core/message/message.h"
#include "mcp/core/task/task.h"
#include "net/loop.h"
#include "net/pool.h"

struct mcp_http_options;

typedef struct mcp__serve mcp__serve;

/** By which other threads stop a server: its own, initialized and destroyed with it. */
typedef struct mcp__stop {
    pthread_mutex_t lock; /* guards the two below */
    mcp__serve *serving;  /* NULL: the server does not serve */
    bool is_requested;    /* before it serves */
} mcp__stop;

/** Any thread: end what serves as SIGTERM does; where nothing serves yet, end the next as soon as
 *  it begins. */
void mcp__stop_request(mcp__stop *request);

/** What to serve. */
typedef struct mcp__serve_setup {
    mcp__context context; /* without executor and tasks */
    mcp__stop *stop;
    int long_threads;     /* how many calls of MCP_LONG features may run at once */
    bool is_left_running; /* set: a handler did not end in time; what it may use must stay */
} mcp__serve_setup;

/** What differs between transports. */
typedef struct mcp__serve_driver {
    /** Before the loop waits: do what is due. @return when to be called again at the latest;
     *  INT64_MAX: not for the sake of time */
    int64_t (*settle)(mcp__serve *self);
    /** That time has come; NULL: `settle` follows and is enough. */
    void (*due)(mcp__serve *self);
    /** Take no further message or connection. May be called again. */
    void (*close)(mcp__serve *self);
    /** Answer calls that have not begun with an error. */
    void (*refuse_waiting)(mcp__serve *self);
    void (*stop_calls)(mcp__serve *self, mcp_stop why);
    /** Answer every open call with an error, whatever its worker still does. */
    void (*abandon)(mcp__serve *self);
    /** SIGHUP; NULL: it does what it did before. */
    void (*reload)(mcp__serve *self);
    /** While it ends: whether all is answered and sent. */
    bool (*is_done)(const mcp__serve *self);
} mcp__serve_driver;

struct mcp__serve {
    const mcp__serve_driver *driver;
    const mcp_server_options *options;
    mcp__context context; /* for sessions */
    mcp__loop *loop;
    mcp__pool *pool;
    mcp__executor *executor; /* the pool's */
    mcp__task_table *tasks;
    mcp__timer *due_timer, *leave_timer;
    mcp__signal *signals[2], *hangup;
    mcp__stop *stop;
    mcp__node stop_node; /* in the loop's queue while `is_stop_posted` */
    int64_t due_ms;      /* when due_timer fires; INT64_MAX: it does not run */
    int reading;         /* large messages that a worker reads */
    bool is_stop_posted; /* guarded by stop->lock */
    bool is_ending;
    bool is_stopping;  /* ... by a signal or mcp__stop_request */
    bool is_abandoned; /* open calls were answered with an error */
};

/**
 * Make loop, workers, tasks and signals.
 *
 * @param long_threads beyond those of `setup`
 * @param max_queued   short tasks that may wait for a worker; then one more is MCP_E_BUSY
 * @return an error: mcp__serve_close and mcp__serve_free follow all the same
 */
mcp_status mcp__serve_open(mcp__serve *serve, const mcp__serve_driver *driver,
                           const mcp__serve_setup *setup, int long_threads, int max_queued,
                           mcp_error *err);

/** Call the driver's `reload` at SIGHUP from now on. */
mcp_status mcp__serve_watch_hangup(mcp__serve *serve, mcp_error *err);

/** Serve until the end. */
void mcp__serve_run(mcp__serve *serve);

/** Begin the end: the loop is left when all is answered, or when the grace time is over. */
void mcp__serve_end(mcp__serve *serve, const char *why);

/** Ask all calls to stop, tasks included. */
void mcp__serve_stop_calls(mcp__serve *serve, mcp_stop why);

/** On the loop, with what was read. What `incoming` holds may be taken; the remainder is freed
 *  afterwards. */
typedef void mcp__large_done(void *owner, mcp__incoming *incoming);

/**
 * Read a large message on a worker. Messages are read in the order in which they are given.
 *
 * @param text taken: it is empty afterwards, whatever is returned; one whose status is an error is
 *             refused
 * @return MCP_OK; MCP_E_NOMEM, MCP_E_BUSY: `done` will not be called
 */
mcp_status mcp__serve_read(mcp__serve *serve, mcp_buf *text, mcp__large_done *done, void *owner,
                           mcp_error *err);

/** End workers, timers and signals. @return false: a handler did not end, and keeps the pool, the
 *  loop and its call; nothing that it may use may be freed */
bool mcp__serve_close(mcp__serve *serve);

/** After mcp__serve_close has returned true and the sessions are gone. */
void mcp__serve_free(mcp__serve *serve);

/* ---- what serves; each blocks ---------------------------------------------------------------- */

/**
 * One client on standard input and output (stdio.c), until input has ended and all is answered, a
 * stop is requested, or no reader is left.
 *
 * @return MCP_OK; MCP_E_IO (the descriptors cannot be used, or fail); MCP_E_NOMEM
 */
mcp_status mcp__stdio_serve(mcp__serve_setup *setup, mcp_error *err);

/** Many clients over HTTP (http.c), until a signal or a stop that is requested. @return as
 *  mcp_server_http */
mcp_status mcp__httpd_serve(mcp__serve_setup *setup, const struct mcp_http_options *options,
                            mcp_error *err);

#endif
