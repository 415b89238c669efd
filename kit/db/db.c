/*
 * db.c - opening a database, and the pool of its sessions.
 *
 * A session is a slot of the pool, made once; its connection is opened when it is first needed and
 * again when it was lost. Where an engine has one writer (SQLite) the first session writes and the
 * others read; elsewhere, and with one connection, all sessions do both. A thread that finds no
 * free session waits in line until the deadline.
 *
 * SQLite does not announce commits of other processes. It has a number that changes on a connection
 * when another one has committed. It is read on the connection through which this process writes,
 * so own commits do not change it: when a transaction begins there, and while none does, by a
 * thread, the watcher.
 *
 * No lock is held while the engine is called.
 */
#include <errno.h>
#include <stdlib.h>

#include "db/db_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"

enum {
    CONNECTIONS = 8,
    CONNECTIONS_MAX = 1000,
    WAIT_MS = 10000,
    STATEMENT_MS = 60000,
    NOTIFICATIONS_MAX = 8 << 20,
    LOOK_MS = 200
};

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static const db_driver *driver_of(const char *url)
{
    if (strcmp(url, "memory") == 0 || begins_with(url, "sqlite:"))
        return &db_sqlite;
    if (begins_with(url, "postgres://") || begins_with(url, "postgresql://"))
        return &db_postgres;
    return NULL;
}

static db_options filled(const db_options *options)
{
    db_options all = options ? *options : (db_options){ 0 };

    if (all.connections <= 0)
        all.connections = CONNECTIONS;
    if (all.connections > CONNECTIONS_MAX)
        all.connections = CONNECTIONS_MAX;
    if (all.wait_ms <= 0)
        all.wait_ms = WAIT_MS;
    if (all.statement_ms <= 0)
        all.statement_ms = STATEMENT_MS;
    return all;
}

static db *new_pool(size_t count)
{
    db *self = mcp_alloc_zeroed(1, sizeof *self + count * sizeof self->sessions[0]);

    if (!self)
        return NULL;
    db_hub_init(&self->hub);
    db_clock_init(&self->clock);
    self->version = -1;
    pthread_mutex_init(&self->watch_lock, NULL);
    thread_worker_init(&self->watcher, &self->watch_lock);
    pthread_mutex_init(&self->lock, NULL);
    self->count = count;
    for (size_t i = 0; i < count; i++) {
        self->sessions[i].db = self;
        mcp_buf_init(&self->sessions[i].notifications, NOTIFICATIONS_MAX);
    }
    return self;
}

/* Whether the first session alone writes. */
static bool has_writer(const db *self)
{
    return self->driver->has_one_writer && self->count > 1 && !self->target.options.read_only;
}

/* The mode of a session's connection. */
static db_mode link_mode(const db *self, const db_session *session)
{
    if (self->target.options.read_only)
        return DB_READ;
    return has_writer(self) && session != &self->sessions[0] ? DB_READ : DB_WRITE;
}

static mcp_status connect_session(db_session *session, mcp_error *err)
{
    db *self = session->db;

    return self->driver->open(&session->link, &self->target, link_mode(self, session), err);
}

static void disconnect(db_session *session)
{
    if (session->link)
        session->db->driver->close(session->link);
    session->link = NULL;
    if (session == &session->db->sessions[0])
        session->db->version = -1; /* the number of another connection says nothing */
}

/* Notify the listeners if other processes have committed. The caller holds the first session, which
 * is in no transaction or in one that has the lock to write. */
static mcp_status look_for_others(db *self, mcp_error *err)
{
    int64_t version = 0;
    mcp_status st = self->driver->version(self->sessions[0].link, &version, err);

    if (st != MCP_OK || version == self->version)
        return st;
    self->version = version;
    db_hub_miss(&self->hub);
    return MCP_OK;
}

mcp_status db_open(db **out, const char *url, const db_options *options, mcp_error *err)
{
    const db_driver *driver = driver_of(url);
    db_target target = { .driver = driver, .options = filled(options) };

    if (!driver)
        /* Only the beginning is shown: what follows may have a password. */
        return mcp_error_set(err, MCP_E_PARAMS,
                             "\"%.*s\" is no database: it is given as sqlite:PATH, "
                             "postgres://USER@HOST:PORT/NAME or memory",
                             (int)strcspn(url, ":@= "), url);
    mcp_status st = driver->parse_url(&target, url, err);
    if (st != MCP_OK)
        return st;
    if (target.is_memory)
        target.options.connections = 1;
    db *self = new_pool((size_t)target.options.connections);
    if (!self) {
        driver->free(&target);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a database");
    }
    self->driver = driver;
    self->target = target;
    self->clock.is_steady = target.options.steady_time;
    self->hears_others = target.options.hears_others && driver->version && !target.is_memory;
    st = connect_session(&self->sessions[0], err);
    if (st == MCP_OK && self->hears_others)
        st = look_for_others(self, err);
    if (st == MCP_OK)
        *out = self;
    else
        db_close(self);
    return st;
}

void db_close(db *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->watcher);
    pthread_mutex_destroy(&self->watch_lock);
    for (size_t i = 0; i < self->count; i++) {
        disconnect(&self->sessions[i]);
        mcp_buf_clear(&self->sessions[i].notifications);
    }
    db_hub_clear(&self->hub);
    db_clock_clear(&self->clock);
    pthread_mutex_destroy(&self->lock);
    self->driver->free(&self->target);
    free(self);
}

bool db_is_engines(const mcp_error *err)
{
    return strncmp(err->message, DB_ENGINE_SAYS, sizeof DB_ENGINE_SAYS - 1) == 0;
}

bool db_is_shared(const db *self)
{
    return self->driver->is_shared;
}

const char *db_engine(const db *self)
{
    return self->driver->name;
}

/* A free session for that mode, preferably a connected one; NULL when all are taken. */
static db_session *free_session(db *self, db_mode mode)
{
    size_t begin = has_writer(self) && mode == DB_READ ? 1 : 0;
    size_t end = has_writer(self) && mode == DB_WRITE ? 1 : self->count;
    db_session *found = NULL;

    for (size_t i = begin; i < end; i++) {
        db_session *session = &self->sessions[i];
        if (session->is_taken)
            continue;
        if (session->link)
            return session;
        if (!found)
            found = session;
    }
    return found;
}

/* The line of threads that wait for a session of that mode. */
static struct db_waiter **lane(db *self, db_mode mode)
{
    return &self->waiting[has_writer(self) && mode == DB_WRITE ? DB_LANE_WRITE : DB_LANE_READ];
}

static void join(struct db_waiter **at, struct db_waiter *who)
{
    while (*at)
        at = &(*at)->next;
    *at = who;
}

static void leave(struct db_waiter **at, const struct db_waiter *who)
{
    while (*at != who)
        at = &(*at)->next;
    *at = who->next;
}

/* Under the lock. NULL: none became free in time. */
static db_session *wait_for_session(db *self, db_mode mode)
{
    int64_t until_ms = mcp_clock_mono_ms() + self->target.options.wait_ms;
    struct db_waiter me = { .session = NULL };
    bool has_time = true;

    thread_cond_init(&me.handed);
    join(lane(self, mode), &me);
    while (!me.session && has_time)
        has_time = thread_wait_until(&me.handed, &self->lock, until_ms);
    if (!me.session)
        leave(lane(self, mode), &me);
    pthread_cond_destroy(&me.handed);
    return me.session;
}

static mcp_status acquire(db_session **out, db *self, db_mode mode, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    db_session *session = free_session(self, mode);
    if (session)
        session->is_taken = true;
    else
        session = wait_for_session(self, mode);
    pthread_mutex_unlock(&self->lock);
    if (!session)
        return mcp_error_set(err, MCP_E_BUSY, "no connection to the database was free for %d ms",
                             self->target.options.wait_ms);
    *out = session;
    return MCP_OK;
}

/* Under the lock. A free session goes to the first thread in line and not back to the pool: a
 * thread with many small transactions would otherwise take it again before every other thread. */
static void forward(db_session *session)
{
    db *self = session->db;
    bool is_writer = has_writer(self) && session == &self->sessions[0];
    struct db_waiter **first = &self->waiting[is_writer ? DB_LANE_WRITE : DB_LANE_READ];
    struct db_waiter *next = *first;

    if (!next) {
        session->is_taken = false;
        return;
    }
    *first = next->next;
    next->session = session;
    pthread_cond_signal(&next->handed);
}

static void release(db_session *session)
{
    db *self = session->db;

    if (session->rows)
        db_rows_detach(session->rows);
    if (session->link && session->link->is_lost)
        disconnect(session);
    mcp_buf_reset(&session->notifications);
    db_session_forget(session);
    session->savepoints = 0;
    db_session_before(session, NULL, NULL);
    session->failure = (mcp_error)MCP_ERROR_INIT;
    pthread_mutex_lock(&self->lock);
    forward(session);
    pthread_mutex_unlock(&self->lock);
}

/* Take the first session if it is free and connected. One that is in use needs no look: it looked
 * when it began, and no other process commits while it may write. */
static bool take_first(db *self)
{
    db_session *first = &self->sessions[0];

    pthread_mutex_lock(&self->lock);
    bool is_free = !first->is_taken && first->link;
    if (is_free)
        first->is_taken = true;
    pthread_mutex_unlock(&self->lock);
    return is_free;
}

static void watch(void *data)
{
    db *self = data;

    while (!thread_worker_is_stopping(&self->watcher)) {
        if (take_first(self)) {
            /* A failure is met again, and returned, by the next session. */
            (void)look_for_others(self, NULL);
            release(&self->sessions[0]);
        }
        pthread_mutex_lock(&self->watch_lock);
        thread_worker_wait(&self->watcher, LOOK_MS);
        pthread_mutex_unlock(&self->watch_lock);
    }
}

static mcp_status start_watcher(db *self, mcp_error *err)
{
    mcp_status st = MCP_OK;

    pthread_mutex_lock(&self->watch_lock);
    if (self->hears_others && !self->watcher.is_running)
        st = thread_worker_start(&self->watcher, watch, self, err);
    pthread_mutex_unlock(&self->watch_lock);
    return st;
}

/* The log has the reason why a server cannot be reached; the caller may try again later. */
static mcp_status connect_again(db_session *session, mcp_error *err)
{
    const db *self = session->db;
    mcp_error cause = MCP_ERROR_INIT;
    mcp_status st = connect_session(session, &cause);

    if (st == MCP_E_IO && self->driver->is_shared) {
        mcp_log_write(&self->target.options.log, MCP_LOG_WARNING, "%s", cause.message);
        return mcp_error_set(err, MCP_E_BUSY, "the database cannot be reached; nothing was done");
    }
    if (st != MCP_OK && err)
        *err = cause;
    return st;
}

/* An idle connection may have been lost: then begin again on a new one. */
static mcp_status begin_on(db_session *session, db_mode mode, mcp_error *err)
{
    const db_driver *driver = session->db->driver;
    mcp_status st = MCP_OK;

    if (session->link) {
        st = driver->begin(session->link, mode, err);
        if (!session->link->is_lost)
            return st;
        mcp_log_write(&session->db->target.options.log, MCP_LOG_WARNING,
                      "the connection to the database was lost; making a new one");
        disconnect(session);
    }
    st = connect_again(session, err);
    return st == MCP_OK ? driver->begin(session->link, mode, err) : st;
}

mcp_status db_begin(db_session **out, db *self, db_mode mode, mcp_error *err)
{
    db_session *session = NULL;

    if (mode == DB_WRITE && self->target.options.read_only)
        return mcp_error_set(err, MCP_E_DENIED, "the database was opened for reading only");
    mcp_status st = acquire(&session, self, mode, err);
    if (st != MCP_OK)
        return st;
    st = begin_on(session, mode, err);
    if (st == MCP_OK && self->hears_others && session == &self->sessions[0])
        st = look_for_others(self, err);
    if (st != MCP_OK) {
        db_rollback(session);
        return st;
    }
    session->mode = mode;
    *out = session;
    return MCP_OK;
}

/* Deliver the notifications of this transaction before the session can commit another one. */
static void post_notifications(db_session *session)
{
    const char *at = session->notifications.data;
    const char *end = at + session->notifications.length;

    while (at < end) {
        const char *payload = at + strlen(at) + 1;
        db_hub_post(&session->db->hub, at, payload);
        at = payload + strlen(payload) + 1;
    }
}

mcp_status db_commit(db_session *session, mcp_error *err)
{
    const db_driver *driver = session->db->driver;
    mcp_status st = session->failure.status;

    if (session->rows)
        db_rows_detach(session->rows);
    if (st != MCP_OK && err)
        *err = session->failure;
    if (st == MCP_OK)
        st = driver->commit(session->link, err);
    if (st != MCP_OK) {
        db_rollback(session);
        return st;
    }
    if (session->notifications.length > 0)
        post_notifications(session);
    release(session);
    return MCP_OK;
}

void db_rollback(db_session *session)
{
    if (!session)
        return;
    if (session->rows)
        db_rows_detach(session->rows);
    if (session->link && !session->link->is_lost)
        session->db->driver->rollback(session->link);
    release(session);
}

mcp_status db_listen(db_listener **out, db *self, const char *channel,
                     void (*on_notify)(const char *payload, void *data), void *data, mcp_error *err)
{
    if (!db_channel_is_good(channel))
        return mcp_error_set(err, MCP_E_PARAMS, "not a name for a channel");
    if (self->driver->listen)
        return self->driver->listen(out, &self->target, channel, on_notify, data, err);
    mcp_status st = start_watcher(self, err);
    return st == MCP_OK ? db_hub_listen(out, &self->hub, channel, on_notify, data, err) : st;
}

void db_listener_free(db_listener *listener)
{
    if (listener)
        listener->end(listener);
}
