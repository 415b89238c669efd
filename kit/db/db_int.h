/*
 * db_int.h - the bodies of a db, a session and rows, for the files between the header and the port.
 */
#ifndef DB_DB_INT_H
#define DB_DB_INT_H

#include <pthread.h>

#include "db/db.h"
#include "db/driver.h"
#include "db/hub.h"
#include "db/time/clock.h"
#include "mcp/arena.h"
#include "mcp/buf.h"
#include "thread/thread.h"

enum { DB_LANE_READ = DB_READ, DB_LANE_WRITE = DB_WRITE, DB_LANES = 2 };

/* A thread that waits for a session, on its own stack. The first in line receives the next free
 * one. */
struct db_waiter {
    struct db_waiter *next;
    pthread_cond_t handed;
    struct db_session *session; /* NULL: not yet */
};

/* A slot of the pool. `is_taken` is guarded by the pool's lock; the rest belongs to the holder. */
struct db_session {
    struct db *db;
    db_link *link; /* NULL: not connected */
    bool is_taken;
    db_mode mode;
    mcp_error failure;     /* not MCP_OK: the session has failed */
    db_rows *rows;         /* open ones; NULL: none */
    mcp_buf notifications; /* for the hub after the commit: channel, NUL, payload, NUL, ... */
    int savepoints;        /* open ones */
    uint64_t writes;       /* statements but SELECT, and notifications, since it was made */
    db_shared shared;      /* arena NULL: nobody has asked for it */
    db_before *before;     /* NULL: none, or it is being called */
    void *before_data;
};

struct db {
    db_target target;
    const db_driver *driver;
    struct db_clock clock;
    struct db_hub hub; /* where the driver has no notifications of its own */
    bool hears_others; /* listens for commits of other processes by the driver's version() */
    int64_t version;   /* of the first session's holder; -1: not known */
    pthread_mutex_t watch_lock;
    thread_worker watcher; /* runs from the first listener to db_close */
    pthread_mutex_t lock;
    struct db_waiter
        *waiting[DB_LANES]; /* in the order of coming; the second only where one writes */
    size_t count;
    struct db_session sessions[]; /* where one writes, the first is the writer's */
};

/* The rows of a query. */
struct db_rows {
    db_session *session; /* whose `rows` these are; NULL: read to the end, or the session ended */
    bool is_over;        /* read to the end */
    bool has_row;
    mcp_arena *texts; /* of numbers read as texts in this row; NULL: none yet */
};

/* Drop what its functions share. */
void db_session_forget(db_session *session);

/* Mark the session as failed, and return the failure. @param cause its status is set */
mcp_status db_session_fail(db_session *session, const mcp_error *cause, mcp_error *err);

bool db_channel_is_good(const char *channel);

/* Detach open rows, so that the session can continue or end, and the rows outlive it. */
void db_rows_detach(db_rows *rows);

#endif
