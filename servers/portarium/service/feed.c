/*
 * feed.c - one thread that reads the outboxes of the workspaces in which something was committed.
 */
#include "service/feed.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault.h"
#include "mcp/hash.h"
#include "store/tx.h"
#include "thread/thread.h"

enum { BATCH = 200, KEY_MAX = 512, KEYS_MAX = 512 << 10, BUCKETS = 1024, RETRY_MS = 1000 };

/* A workspace. */
typedef struct followed {
    struct followed *next;       /* in its bucket */
    struct followed *next_dirty; /* in the queue */
    int64_t seq;                 /* of the last event that was published */
    bool has_policies;           /* policies were changed since the last news */
    bool is_dirty;               /* in the queue */
    char workspace[];
} followed;

struct portarium_feed {
    db *database;
    const portarium_settings *settings;
    portarium_on_news *on_news;
    void *data;
    bus *events;
    jobs_waits *waits;
    db_listener *listener;
    pthread_mutex_t lock; /* of the buckets, the queue and the worker */
    thread_worker worker;
    followed *buckets[BUCKETS];
    followed *first_dirty, *last_dirty;
    bool is_behind; /* others have committed, nobody knows where */
};

/* ---- events ---------------------------------------------------------------------------------- */

/* Keys of waits, each with NUL before and behind. A commit has several events of a run, and who
 * waits for that looks once. */
static void add_key(portarium_feed *self, mcp_buf *keys, const char *workspace, const char *kind,
                    const char *id)
{
    char key[KEY_MAX] = "";
    int length = snprintf(key + 1, sizeof key - 1, "%s/%s/%s", workspace, kind, id);
    size_t size = length < KEY_MAX - 1 ? (size_t)length + 2 : KEY_MAX;
    if (keys->length > 0 && memmem(keys->data, keys->length, key, size))
        return;
    if (mcp_buf_append(keys, key, size) != MCP_OK)
        jobs_wake(self->waits, key + 1);
}

static void wake(portarium_feed *self, mcp_buf *keys)
{
    for (size_t at = 0; at < keys->length; at += strlen(keys->data + at + 1) + 2)
        jobs_wake(self->waits, keys->data + at + 1);
    mcp_buf_clear(keys);
}

static bus_event event_of(const db_rows *rows)
{
    bus_event event = { .id = db_int_at(rows, 0), .name = db_text_at(rows, 1, NULL) };
    event.data = db_text_at(rows, 4, &event.length);
    return event;
}

#define EVENTS_SQL                                                                                 \
    "SELECT seq, type, kind, aggregate, json, run_id FROM outbox WHERE workspace = $1 AND "        \
    "seq > $2 ORDER BY seq LIMIT $3"

/* Streams of callers who may not read any more end before the event. Who waits has to look again,
 * and is refused. @return whether it is such an event */
static bool end_readers(portarium_feed *self, const char *workspace, const char *type,
                        const char *id)
{
    char group[PORTARIUM_GROUP_SIZE];
    bool is_user = strcmp(type, "UserDeactivated") == 0;
    if (!is_user && strcmp(type, "TokenRevoked") != 0)
        return false;
    if (is_user)
        portarium_feed_group(group, id);
    bus_end_owner(self->events, workspace, is_user ? group : id);
    return true;
}

/* Publish the events behind `*seq`. @param more whether there may be further ones */
static mcp_status publish(portarium_feed *self, followed *what, bool *more, mcp_error *err)
{
    const char *workspace = what->workspace;
    db_session *session = NULL;
    db_rows *rows = NULL;
    mcp_buf keys;
    int count = 0;
    bool has_ended = false;
    db_value values[] = { db_text(workspace), db_int(what->seq), db_int(BATCH) };
    mcp_buf_init(&keys, KEYS_MAX);
    mcp_status st = db_begin(&session, self->database, DB_READ, err);
    if (st == MCP_OK)
        st = db_query(&rows, session, EVENTS_SQL, values, 3, err);
    while (portarium_next(rows, &st, err)) {
        bus_event event = event_of(rows);
        const char *kind = db_text_at(rows, 2, NULL), *run = db_text_at(rows, 5, NULL);
        FAULT_POINT("feed-read");
        if (end_readers(self, workspace, event.name, db_text_at(rows, 3, NULL)))
            has_ended = true;
        st = bus_publish(self->events, workspace, &event, 1, err);
        add_key(self, &keys, workspace, kind, db_text_at(rows, 3, NULL));
        add_key(self, &keys, workspace, kind, "*");
        if (run && strcmp(kind, "run") != 0)
            add_key(self, &keys, workspace, "run", run);
        what->seq = event.id;
        what->has_policies = what->has_policies || strcmp(kind, "policy") == 0;
        count++;
    }
    *more = count == BATCH;
    db_rows_free(rows);
    db_rollback(session);
    wake(self, &keys);
    if (has_ended)
        jobs_wake_all(self->waits);
    return st;
}

/* The number of a workspace's newest event. */
static mcp_status read_newest(int64_t *out, db_session *session, const char *workspace,
                              mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(workspace) };
    *out = 0;
    mcp_status st = db_query(&rows, session, "SELECT event_seq FROM heads WHERE workspace = $1",
                             values, 1, err);
    if (portarium_next(rows, &st, err))
        *out = db_int_at(rows, 0);
    db_rows_free(rows);
    return st;
}

/* Send the events behind one. Where the first of them, or all, are deleted, and where that one is
 * none of the workspace, as after an older state was restored, the reader has to read again. */
static mcp_status send_behind(bus_sink *sink, db_session *session, const char *workspace,
                              int64_t after, mcp_error *err)
{
    db_rows *rows = NULL;
    int64_t newest = 0, seen = after;
    db_value values[] = { db_text(workspace), db_int(after), db_int(BATCH) };
    mcp_status st = read_newest(&newest, session, workspace, err);
    if (st == MCP_OK && after > newest)
        return mcp_error_set(err, MCP_E_NOT_FOUND, "there is no such event");
    if (st == MCP_OK)
        st = db_query(&rows, session, EVENTS_SQL, values, 3, err);
    while (portarium_next(rows, &st, err)) {
        bus_event event = event_of(rows);
        if (event.id != ++seen)
            st = mcp_error_set(err, MCP_E_NOT_FOUND, "older events are deleted");
        else
            st = bus_sink_add(sink, &event);
    }
    db_rows_free(rows);
    return st == MCP_OK && seen == after && after < newest
               ? mcp_error_set(err, MCP_E_NOT_FOUND, "older events are deleted")
               : st;
}

/* A reader that reconnects continues here. */
static mcp_status catch_up(const char *topic, int64_t after, bus_sink *sink, void *data,
                           mcp_error *err)
{
    portarium_feed *self = data;
    db_session *session = NULL;
    mcp_status st = db_begin(&session, self->database, DB_READ, err);
    if (st == MCP_OK)
        st = send_behind(sink, session, topic, after, err);
    db_rollback(session);
    return st == MCP_E_LIMIT ? MCP_OK : st;
}

static mcp_event *resync(const char *topic, int64_t newest, void *data)
{
    mcp_event *event = NULL;
    char id[24];
    (void)topic;
    (void)data;
    snprintf(id, sizeof id, "%" PRId64, newest);
    return mcp_event_new(&event, newest >= 0 ? id : NULL, "resync", "{}", 2, NULL) == MCP_OK ? event
                                                                                             : NULL;
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* With the lock held. */
static void add_dirty(portarium_feed *self, followed *what)
{
    if (what->is_dirty)
        return;
    what->is_dirty = true;
    what->next_dirty = NULL;
    if (self->last_dirty)
        self->last_dirty->next_dirty = what;
    else
        self->first_dirty = what;
    self->last_dirty = what;
    thread_worker_wake(&self->worker);
}

static followed *take_dirty(portarium_feed *self)
{
    followed *what = self->first_dirty;
    if (!what)
        return NULL;
    self->first_dirty = what->next_dirty;
    if (!self->first_dirty)
        self->last_dirty = NULL;
    what->is_dirty = false;
    return what;
}

/* With the lock held. @return NULL: no memory */
static followed *find(portarium_feed *self, const char *workspace)
{
    followed **bucket = &self->buckets[mcp_fnv1a(workspace) % BUCKETS];
    for (followed *at = *bucket; at; at = at->next) {
        if (strcmp(at->workspace, workspace) == 0)
            return at;
    }
    size_t size = strlen(workspace) + 1;
    followed *made = calloc(1, sizeof *made + size);
    if (made) {
        memcpy(made->workspace, workspace, size);
        made->next = *bucket;
        *bucket = made;
    }
    return made;
}

/*
 * Read how far each workspace is. At the start, that is where the feed begins: older events are in
 * the outbox for those who ask. Later, workspaces with newer events get into the queue, also those
 * that other processes have made meanwhile.
 */
static mcp_status read_heads(portarium_feed *self, bool is_start, mcp_error *err)
{
    db_session *session = NULL;
    db_rows *rows = NULL;
    mcp_status st = db_begin(&session, self->database, DB_READ, err);
    if (st == MCP_OK)
        st = db_query(&rows, session, "SELECT workspace, event_seq FROM heads", NULL, 0, err);
    while (portarium_next(rows, &st, err)) {
        int64_t seq = db_int_at(rows, 1);
        pthread_mutex_lock(&self->lock);
        followed *what = find(self, db_text_at(rows, 0, NULL));
        if (!what)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for the workspaces");
        else if (is_start)
            what->seq = seq;
        else if (seq > what->seq)
            add_dirty(self, what);
        pthread_mutex_unlock(&self->lock);
    }
    db_rows_free(rows);
    db_rollback(session);
    return st;
}

/* @return false: the events could not be read, and will be tried again */
static bool serve(portarium_feed *self, followed *what)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;
    bool more = true;
    while (st == MCP_OK && more)
        st = publish(self, what, &more, &err);
    if (st == MCP_OK && self->on_news)
        st = self->on_news(what->workspace, what->has_policies, self->data, &err);
    if (st == MCP_OK)
        what->has_policies = false;
    else
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "events of %s cannot be read: %s",
                      what->workspace, err.message);
    return st == MCP_OK;
}

/* Others have committed somewhere. With the lock held, which is released meanwhile. */
static void catch_up_with_others(portarium_feed *self)
{
    mcp_error err = MCP_ERROR_INIT;
    self->is_behind = false;
    pthread_mutex_unlock(&self->lock);
    mcp_status st = read_heads(self, false, &err);
    pthread_mutex_lock(&self->lock);
    if (st == MCP_OK)
        return;
    mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "workspaces cannot be read: %s",
                  err.message);
    self->is_behind = true;
    thread_worker_wait(&self->worker, RETRY_MS);
}

static void run(void *data)
{
    portarium_feed *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        if (self->is_behind)
            catch_up_with_others(self);
        followed *what = take_dirty(self);
        if (!what) {
            thread_worker_wait(&self->worker, THREAD_FOREVER);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        bool done = serve(self, what);
        pthread_mutex_lock(&self->lock);
        if (!done) {
            add_dirty(self, what);
            thread_worker_wait(&self->worker, RETRY_MS);
        }
    }
    pthread_mutex_unlock(&self->lock);
}

void portarium_feed_notify(portarium_feed *self, const char *workspace)
{
    pthread_mutex_lock(&self->lock);
    followed *what = find(self, workspace);
    if (what)
        add_dirty(self, what);
    pthread_mutex_unlock(&self->lock);
}

/* Another process has committed: in that workspace, or anywhere. */
static void on_notify(const char *workspace, void *data)
{
    portarium_feed *self = data;
    if (workspace) {
        portarium_feed_notify(self, workspace);
        return;
    }
    pthread_mutex_lock(&self->lock);
    self->is_behind = true;
    thread_worker_wake(&self->worker);
    pthread_mutex_unlock(&self->lock);
}

/* Whether the call of a wait should stop: its client is gone, or the server shuts down. */
static bool is_over(void *data)
{
    mcp_call *const *call = data;
    return mcp_call_stop(*call) != MCP_STOP_NONE;
}

/* ---- the feed -------------------------------------------------------------------------------- */

mcp_status portarium_feed_new(portarium_feed **out, db *database,
                              const portarium_settings *settings, portarium_on_news *on_news,
                              void *data, mcp_error *err)
{
    portarium_feed *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the feed of events");
    *self = (portarium_feed){ .database = database, .settings = settings, .on_news = on_news };
    self->data = data;
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    const bus_options options = { .catch_up = catch_up, .resync = resync, .data = self };
    const jobs_waits_options waits = { .is_over = is_over };
    mcp_status st = bus_new(&self->events, &options, err);
    if (st == MCP_OK)
        st = jobs_waits_new(&self->waits, &waits, err);
    if (st == MCP_OK)
        st = db_listen(&self->listener, database, PORTARIUM_CHANNEL, on_notify, self, err);
    if (st == MCP_OK)
        st = read_heads(self, true, err);
    if (st == MCP_OK)
        st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        portarium_feed_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_feed_free(portarium_feed *self)
{
    if (!self)
        return;
    db_listener_free(self->listener);
    thread_worker_stop(&self->worker);
    jobs_waits_free(self->waits);
    bus_free(self->events);
    for (size_t i = 0; i < BUCKETS; i++) {
        for (followed *at = self->buckets[i], *next; at; at = next) {
            next = at->next;
            free(at);
        }
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void portarium_feed_group(char out[PORTARIUM_GROUP_SIZE], const char *subject)
{
    snprintf(out, PORTARIUM_GROUP_SIZE, "user:%s", subject);
}

bus *portarium_feed_bus(portarium_feed *self)
{
    return self->events;
}

jobs_waits *portarium_feed_waits(portarium_feed *self)
{
    return self->waits;
}
