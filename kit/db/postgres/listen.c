/*
 * listen.c - a connection and a thread that wait for notifications.
 *
 * The thread sleeps in poll() on the connection and on an eventfd that stops it. When the
 * connection breaks it is opened again, at first soon and then every few seconds; after LISTEN has
 * succeeded again the program receives NULL, because notifications in between are lost.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "db/postgres/postgres_int.h"
#include "mcp/alloc.h"

enum { PAUSE_MIN_MS = 100, PAUSE_MAX_MS = 5000, CHANNEL_ROOM = 64 };

typedef struct pg_listener {
    db_listener base;
    const db_target *target; /* the db's, which outlives the listener */
    char channel[CHANNEL_ROOM];
    db_on_notify *on_notify;
    void *data;
    pthread_t thread;
    int stop;     /* eventfd: readable when the thread must end */
    PGconn *conn; /* the thread's; NULL: lost */
} pg_listener;

/* Wait for the connection (where there is one) or the request to stop. @return false: stop */
static bool wait_for_notification(const pg_listener *self, int timeout_ms)
{
    struct pollfd fds[] = { { .fd = self->stop, .events = POLLIN },
                            { .fd = self->conn ? pg_lib.PQsocket(self->conn) : -1,
                              .events = POLLIN } };

    (void)poll(fds, 2, timeout_ms);
    return !(fds[0].revents & POLLIN);
}

/* Connect and begin to listen. The link is only a shell for pg_wait. */
static mcp_status connect_and_listen(pg_listener *self, mcp_error *err)
{
    pg_link link = { .target = self->target };
    char sql[CHANNEL_ROOM + 16];
    mcp_status st = pg_connect(&link.conn, self->target, err);

    if (st != MCP_OK)
        return st;
    snprintf(sql, sizeof sql, "LISTEN \"%s\"", self->channel);
    if (!pg_lib.PQsendQuery(link.conn, sql))
        st = pg_lose(&link, err);
    while (st == MCP_OK) {
        st = pg_wait(&link, err);
        PGresult *result = st == MCP_OK ? pg_lib.PQgetResult(link.conn) : NULL;
        if (!result)
            break;
        if (pg_lib.PQresultStatus(result) != PGRES_COMMAND_OK)
            st = pg_fail(&link, result, err);
        pg_lib.PQclear(result);
    }
    if (st == MCP_OK)
        self->conn = link.conn;
    else
        pg_lib.PQfinish(link.conn);
    return st;
}

static bool is_stopping(const pg_listener *self)
{
    struct pollfd fd = { .fd = self->stop, .events = POLLIN };

    return poll(&fd, 1, 0) > 0;
}

/* Forward the notifications received; false: the connection is lost. */
static bool forward(pg_listener *self)
{
    PGnotify *notification = NULL;

    if (!pg_lib.PQconsumeInput(self->conn) || pg_lib.PQstatus(self->conn) == CONNECTION_BAD)
        return false;
    for (notification = pg_lib.PQnotifies(self->conn); notification;
         notification = pg_lib.PQnotifies(self->conn)) {
        if (!is_stopping(self))
            self->on_notify(notification->extra, self->data);
        pg_lib.PQfreemem(notification);
    }
    return true;
}

/* Try until there is a connection; false: stop. */
static bool reconnect(pg_listener *self)
{
    int pause_ms = PAUSE_MIN_MS;

    pg_lib.PQfinish(self->conn);
    self->conn = NULL;
    mcp_log_write(&self->target->options.log, MCP_LOG_WARNING,
                  "the connection that listens to the database was lost; making a new one");
    while (connect_and_listen(self, NULL) != MCP_OK) {
        if (!wait_for_notification(self, pause_ms))
            return false;
        pause_ms = pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : pause_ms * 2;
    }
    self->on_notify(NULL, self->data);
    return true;
}

static void *listen_until_stopped(void *data)
{
    pg_listener *self = data;

    /* libpq already has notifications that arrived with the answer to LISTEN: poll() does not
     * show them. */
    bool is_connected = forward(self);
    for (;;) {
        if (!is_connected && !reconnect(self))
            return NULL;
        if (is_connected && !wait_for_notification(self, -1))
            return NULL;
        is_connected = forward(self);
    }
}

static void free_listener(pg_listener *self)
{
    pg_lib.PQfinish(self->conn);
    if (self->stop >= 0)
        close(self->stop);
    free(self);
}

static void end_listener(db_listener *listener)
{
    pg_listener *self = (pg_listener *)listener;

    (void)eventfd_write(self->stop, 1);
    pthread_join(self->thread, NULL);
    free_listener(self);
}

static mcp_status start(pg_listener *self, mcp_error *err)
{
    if (self->stop < 0)
        return mcp_error_errno(err, errno, "no eventfd for a listener");
    mcp_status st = connect_and_listen(self, err);
    if (st != MCP_OK)
        return st;
    int failure = pthread_create(&self->thread, NULL, listen_until_stopped, self);
    return failure ? mcp_error_errno(err, failure, "no thread for a listener") : MCP_OK;
}

mcp_status pg_listen(db_listener **out, const db_target *target, const char *channel,
                     db_on_notify *on_notify, void *data, mcp_error *err)
{
    pg_listener *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a listener");
    self->base.end = end_listener;
    self->target = target;
    self->on_notify = on_notify;
    self->data = data;
    self->stop = eventfd(0, EFD_CLOEXEC);
    snprintf(self->channel, sizeof self->channel, "%s", channel);
    mcp_status st = start(self, err);
    if (st == MCP_OK)
        *out = &self->base;
    else
        free_listener(self);
    return st;
}
