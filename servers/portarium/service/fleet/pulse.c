/*
 * pulse.c - a table of the last heartbeats, and the thread that stores them.
 */
#include "service/fleet/pulse.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/hash.h"
#include "model/identity.h"
#include "store/journal.h"
#include "thread/thread.h"

enum {
    BUCKETS = 1024,
    SENDERS_MAX = 100000,
    BODY_MAX = 16 << 10,
    ARENA_MAX = 16 << 20,
    LOST = 200
};

/* A sender. */
typedef struct sender {
    struct sender *next; /* in its bucket */
    char *workspace, *kind, *id;
    char *body;
    portarium_pulse pulse;
    bool is_dirty; /* not stored yet */
} sender;

struct portarium_pulses {
    portarium_committer *committer;
    const portarium_settings *settings;
    portarium_actor actor;
    pthread_mutex_t lock; /* of the table and the worker */
    thread_worker worker;
    sender *buckets[BUCKETS];
    size_t count;
};

static int64_t or_standard(int64_t value, int64_t standard)
{
    return value > 0 ? value : standard;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* Where the sender is, or would be. With the lock held. */
static sender **place_of(portarium_pulses *self, const char *workspace, const char *kind,
                         const char *id)
{
    sender **at = &self->buckets[(mcp_fnv1a(workspace) ^ mcp_fnv1a(id)) % BUCKETS];
    while (*at && (strcmp((*at)->id, id) != 0 || strcmp((*at)->kind, kind) != 0 ||
                   strcmp((*at)->workspace, workspace) != 0))
        at = &(*at)->next;
    return at;
}

static void free_sender(sender *self)
{
    if (!self)
        return;
    free(self->workspace);
    free(self->kind);
    free(self->id);
    free(self->body);
    free(self);
}

static sender *sender_new(const char *workspace, const char *kind, const char *id)
{
    sender *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    self->workspace = strdup(workspace);
    self->kind = strdup(kind);
    self->id = strdup(id);
    if (self->workspace && self->kind && self->id)
        return self;
    free_sender(self);
    return NULL;
}

mcp_status portarium_pulse_beat(portarium_pulses *self, const char *workspace, const char *kind,
                                const char *id, const portarium_pulse *pulse, const mcp_json *body,
                                mcp_error *err)
{
    mcp_buf text;
    mcp_json_writer json;
    mcp_buf_init(&text, BODY_MAX);
    mcp_json_writer_init(&json, &text);
    mcp_write_value(&json, body);
    mcp_status st = mcp_json_writer_status(&json);
    char *copy = st == MCP_OK ? strndup(text.data, text.length) : NULL;
    mcp_buf_clear(&text);
    if (!copy)
        return mcp_error_set(err, st == MCP_OK ? MCP_E_NOMEM : st, "a heartbeat is too long");
    pthread_mutex_lock(&self->lock);
    sender **at = place_of(self, workspace, kind, id);
    if (!*at && self->count < SENDERS_MAX) {
        *at = sender_new(workspace, kind, id);
        self->count += *at != NULL;
    }
    sender *found = *at;
    if (found) {
        free(found->body);
        found->body = copy;
        found->pulse = *pulse;
        found->is_dirty = true;
    }
    pthread_mutex_unlock(&self->lock);
    if (found)
        return MCP_OK;
    free(copy);
    return mcp_error_set(err, MCP_E_LIMIT, "too many senders of heartbeats");
}

/* ---- reading --------------------------------------------------------------------------------- */

static mcp_status read_stored(portarium_pulse *out, portarium_tx *tx, const char *kind,
                              const char *id, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_text(tx->workspace), db_text(kind), db_text(id) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT at, status FROM heartbeats WHERE workspace = $1 AND "
                             "kind = $2 AND id = $3",
                             values, 3, err);
    *out = (portarium_pulse){ .at_ms = 0 };
    if (portarium_next(rows, &st, err)) {
        out->at_ms = db_int_at(rows, 0);
        portarium_heartbeat_read(&out->status, db_text_at(rows, 1, NULL));
    }
    db_rows_free(rows);
    return st;
}

mcp_status portarium_pulse_read(portarium_pulse *out, portarium_tx *tx, const char *kind,
                                const char *id, mcp_error *err)
{
    portarium_pulses *self = tx->settings->pulses;
    mcp_status st = read_stored(out, tx, kind, id, err);
    if (!self)
        return st;
    pthread_mutex_lock(&self->lock);
    const sender *found = *place_of(self, tx->workspace, kind, id);
    if (found && found->pulse.at_ms > out->at_ms)
        *out = found->pulse;
    pthread_mutex_unlock(&self->lock);
    return st;
}

const char *portarium_pulse_liveness(const portarium_pulse *pulse, const portarium_tx *tx)
{
    int64_t age = tx->now_ms - pulse->at_ms;
    if (pulse->at_ms == 0)
        return "never-seen";
    if (age > or_standard(tx->settings->offline_ms, PORTARIUM_OFFLINE_MS))
        return "offline";
    if (pulse->status == PORTARIUM_HEARTBEAT_DRAINING)
        return "draining";
    return age > or_standard(tx->settings->stale_ms, PORTARIUM_STALE_MS) ? "stale" : "online";
}

/* ---- storing --------------------------------------------------------------------------------- */

/* A heartbeat that is to be stored: a copy, in the arena of its transaction. */
typedef struct beat {
    const char *workspace, *kind, *id, *body;
    portarium_pulse pulse;
} beat;

static mcp_status add_event(portarium_tx *tx, const char *type, const char *kind, const char *id,
                            const mcp_json *data, mcp_error *err)
{
    const portarium_event event = { .type = type, .kind = kind, .id = id, .data = data };
    return portarium_event_add(tx, &event, err);
}

static mcp_status store(portarium_tx *tx, void *data, mcp_error *err)
{
    const beat *what = data;
    portarium_pulse before;
    const mcp_json *change = NULL;
    const char *status = portarium_heartbeat_text(what->pulse.status);
    mcp_status st = read_stored(&before, tx, what->kind, what->id, err);
    if (st != MCP_OK || before.at_ms > what->pulse.at_ms)
        return st;
    db_value values[] = { db_text(tx->workspace), db_text(what->kind),       db_text(what->id),
                          db_text(status),        db_int(what->pulse.at_ms), db_text(what->body) };
    st = db_run(tx->session, NULL,
                "INSERT INTO heartbeats (workspace, kind, id, status, at, json, offline) VALUES "
                "($1, $2, $3, $4, $5, $6, 0) ON CONFLICT (workspace, kind, id) DO UPDATE SET "
                "status = $4, at = $5, json = $6, offline = 0",
                values, sizeof values / sizeof values[0], err);
    if (st != MCP_OK || (before.at_ms > 0 && before.status == what->pulse.status))
        return st;
    st = portarium_object(tx, &change, err, "status", status, "previousStatus",
                          before.at_ms > 0 ? portarium_heartbeat_text(before.status) : NULL, NULL);
    return st == MCP_OK ? add_event(tx, "AgentStatusChanged", what->kind, what->id, change, err)
                        : st;
}

/* Take a heartbeat that is not stored. @return false: there is none */
static bool take(portarium_pulses *self, size_t *bucket, beat *out, mcp_arena *arena)
{
    bool found = false;
    pthread_mutex_lock(&self->lock);
    for (; *bucket < BUCKETS && !found; *bucket += !found) {
        for (sender *at = self->buckets[*bucket]; at && !found; at = at->next) {
            if (!at->is_dirty)
                continue;
            found = true;
            at->is_dirty = false;
            *out = (beat){ .workspace = mcp_arena_strdup(arena, at->workspace),
                           .kind = mcp_arena_strdup(arena, at->kind),
                           .id = mcp_arena_strdup(arena, at->id),
                           .body = mcp_arena_strdup(arena, at->body),
                           .pulse = at->pulse };
        }
    }
    pthread_mutex_unlock(&self->lock);
    return found && out->workspace && out->kind && out->id && out->body;
}

/* Run work in a transaction of its own. */
static void commit(portarium_pulses *self, const char *workspace, mcp_arena *arena,
                   portarium_work *work, void *data)
{
    mcp_error err = MCP_ERROR_INIT;
    const portarium_tx as = { .arena = arena,
                              .workspace = workspace,
                              .actor = &self->actor,
                              .correlation_id = "heartbeats" };
    if (portarium_commit(self->committer, &as, work, data, &err) != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "heartbeats of %s: %s", workspace,
                      err.message);
}

static void flush(portarium_pulses *self)
{
    beat what;
    size_t bucket = 0;
    bool more = true;
    while (more) {
        mcp_arena *arena = mcp_arena_new(ARENA_MAX);
        more = arena && take(self, &bucket, &what, arena);
        if (more)
            commit(self, what.workspace, arena, store, &what);
        mcp_arena_free(arena);
    }
}

/* ---- silence --------------------------------------------------------------------------------- */

/* Senders that were silent for too long. */
typedef struct lost {
    beat items[LOST];
    size_t count;
    int64_t offline_ms;
} lost;

static mcp_status find_lost(portarium_tx *tx, void *data, mcp_error *err)
{
    lost *self = data;
    db_rows *rows = NULL;
    db_value values[] = { db_int(tx->now_ms - self->offline_ms), db_int(LOST) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT workspace, kind, id FROM heartbeats WHERE offline = 0 AND "
                             "at < $1 LIMIT $2",
                             values, 2, err);
    for (self->count = 0; portarium_next(rows, &st, err); self->count++)
        self->items[self->count] = (beat){
            .workspace = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL)),
            .kind = mcp_arena_strdup(tx->arena, db_text_at(rows, 1, NULL)),
            .id = mcp_arena_strdup(tx->arena, db_text_at(rows, 2, NULL)),
        };
    db_rows_free(rows);
    return st;
}

/* One transaction marks it, so its event is there once. */
static mcp_status mark_lost(portarium_tx *tx, void *data, mcp_error *err)
{
    const beat *what = data;
    int64_t changed = 0;
    db_value values[] = { db_text(tx->workspace), db_text(what->kind), db_text(what->id),
                          db_int(tx->now_ms -
                                 or_standard(tx->settings->offline_ms, PORTARIUM_OFFLINE_MS)) };
    mcp_status st = db_run(tx->session, &changed,
                           "UPDATE heartbeats SET offline = 1 WHERE workspace = $1 AND kind = $2 "
                           "AND id = $3 AND offline = 0 AND at < $4",
                           values, 4, err);
    return st == MCP_OK && changed > 0
               ? add_event(tx, "AgentWentOffline", what->kind, what->id, NULL, err)
               : st;
}

static void sweep(portarium_pulses *self)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    lost *found = arena ? mcp_arena_alloc(arena, sizeof *found) : NULL;
    const portarium_tx as = { .arena = arena, .actor = &self->actor };
    if (found) {
        *found = (lost){ .offline_ms = or_standard(self->settings->offline_ms,
                                                   PORTARIUM_OFFLINE_MS) };
        if (portarium_view(self->committer, &as, find_lost, found, &err) != MCP_OK)
            mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "heartbeats: %s", err.message);
        for (size_t i = 0; i < found->count; i++)
            commit(self, found->items[i].workspace, arena, mark_lost, &found->items[i]);
    }
    mcp_arena_free(arena);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void run(void *data)
{
    portarium_pulses *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        thread_worker_wait(&self->worker,
                           or_standard(self->settings->flush_ms, PORTARIUM_FLUSH_MS));
        pthread_mutex_unlock(&self->lock);
        flush(self);
        sweep(self);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

mcp_status portarium_pulses_new(portarium_pulses **out, portarium_committer *committer,
                                const portarium_settings *settings, mcp_error *err)
{
    portarium_pulses *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for heartbeats");
    *self = (portarium_pulses){ .committer = committer,
                                .settings = settings,
                                .actor = { .subject = "system:heartbeats" } };
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        portarium_pulses_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_pulses_free(portarium_pulses *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    for (size_t i = 0; i < BUCKETS; i++) {
        while (self->buckets[i]) {
            sender *next = self->buckets[i]->next;
            free_sender(self->buckets[i]);
            self->buckets[i] = next;
        }
    }
    pthread_mutex_destroy(&self->lock);
    free(self);
}
