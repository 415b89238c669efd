/*
 * upkeep.c - a thread that looks what the time has brought.
 */
#include "service/trail/upkeep.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/trail/checkpoint_file.h"
#include "service/trail/checkpoints.h"
#include "store/idempotency.h"
#include "store/journal.h"
#include "thread/thread.h"

enum {
    LOOK_MS = 1000,
    TURNS = 5,
    RARE_TURNS = 600,
    ARENA_MAX = 64 << 20,
    FOUND_MAX = 200,
    DISPOSED_MAX = 500
};

#define DAY_MS (INT64_C(24) * 3600 * 1000)
#define EVENTS_MS (7 * DAY_MS)

static const struct {
    const char *class;
    int64_t kept_ms;
} classes[] = { { "Operational", 30 * DAY_MS },
                { "Compliance", 365 * DAY_MS },
                { "Forensic", 2555 * DAY_MS } };

enum { CLASSES = sizeof classes / sizeof classes[0] };

struct portarium_upkeep {
    portarium_committer *committer;
    const portarium_settings *settings;
    portarium_actor actor;
    db *database;
    db_clock_step step;               /* of the database's clock: the last one that was noted */
    char noted[PORTARIUM_ID_MAX + 1]; /* the last workspace whose evidence has it; "": none */
    bool is_noting;                   /* there are more workspaces */
    bool is_file_behind;              /* checkpoints could not be appended */
    pthread_mutex_t lock;             /* of the worker */
    thread_worker worker;
};

/* Workspaces in which something is to be done. */
typedef struct found {
    const char *items[FOUND_MAX];
    size_t count;
} found;

static mcp_status collect(found *out, portarium_tx *tx, const char *sql, const db_value *values,
                          size_t count, mcp_error *err)
{
    db_rows *rows = NULL;
    mcp_status st = db_query(&rows, tx->session, sql, values, count, err);
    while (portarium_next(rows, &st, err) && out->count < FOUND_MAX)
        out->items[out->count++] = mcp_arena_strdup(tx->arena, db_text_at(rows, 0, NULL));
    db_rows_free(rows);
    return st;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

static mcp_status find_uncovered(portarium_tx *tx, void *data, mcp_error *err)
{
    db_value values[] = { db_int(PORTARIUM_CHECKPOINT_ENTRIES),
                          db_int(tx->now_ms - PORTARIUM_CHECKPOINT_MS) };
    found *out = data;
    out->count = 0;
    return collect(out, tx,
                   "SELECT h.workspace FROM heads h WHERE h.evidence_seq > COALESCE((SELECT "
                   "MAX(size) FROM checkpoints c WHERE c.workspace = h.workspace), 0) AND "
                   "(h.evidence_seq >= $1 + COALESCE((SELECT MAX(size) FROM checkpoints c WHERE "
                   "c.workspace = h.workspace), 0) OR NOT EXISTS (SELECT 1 FROM checkpoints c "
                   "WHERE c.workspace = h.workspace AND c.created_at > $2)) LIMIT 200",
                   values, 2, err);
}

static mcp_status make_checkpoint(portarium_tx *tx, void *data, mcp_error *err)
{
    portarium_made_checkpoint made;
    (void)data;
    return portarium_checkpoint_make(&made, NULL, tx, err);
}

/* What is not written now is written later, so it is logged once. */
static void append_checkpoints(portarium_upkeep *self)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = portarium_checkpoint_file_append(self->settings->checkpoint_file,
                                                     self->committer, &err);
    if (st != MCP_OK && !self->is_file_behind)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "upkeep: %s", err.message);
    self->is_file_behind = st != MCP_OK;
}

/* ---- retention ------------------------------------------------------------------------------- */

/* A legal hold, of its run or of the workspace, wins over the end of a payload's retention. */
#define NOT_HELD                                                                                   \
    "NOT EXISTS (SELECT 1 FROM legal_holds AS h WHERE h.workspace = p.workspace AND "              \
    "(h.run_id IS NULL OR h.run_id = p.run_id))"

static mcp_status find_expired(portarium_tx *tx, void *data, mcp_error *err)
{
    found *out = data;
    mcp_status st = MCP_OK;
    out->count = 0;
    for (size_t i = 0; i < CLASSES && st == MCP_OK; i++) {
        db_value values[] = { db_text(classes[i].class), db_int(tx->now_ms - classes[i].kept_ms) };
        st = collect(out, tx,
                     "SELECT DISTINCT p.workspace FROM payloads AS p WHERE p.class = $1 AND "
                     "p.created_at < $2 AND p.disposed_at IS NULL AND " NOT_HELD " LIMIT 200",
                     values, 2, err);
    }
    return st;
}

mcp_status portarium_dispose(portarium_tx *tx, void *data, mcp_error *err)
{
    int64_t now = *(const int64_t *)data;
    mcp_status st = MCP_OK;
    for (size_t i = 0; i < CLASSES && st == MCP_OK; i++) {
        int64_t changed = 0;
        db_value values[] = { db_text(tx->workspace), db_text(classes[i].class),
                              db_int(now - classes[i].kept_ms), db_int(tx->now_ms),
                              db_int(DISPOSED_MAX) };
        st = db_run(tx->session, &changed,
                    "UPDATE payloads SET bytes = NULL, disposed_at = $4 WHERE workspace = $1 AND "
                    "id IN (SELECT p.id FROM payloads AS p WHERE p.workspace = $1 AND "
                    "p.class = $2 AND p.created_at < $3 AND p.disposed_at IS NULL AND " NOT_HELD
                    " LIMIT $5)",
                    values, 5, err);
        const portarium_evidence entry = {
            .category = "System",
            .summary = mcp_arena_printf(tx->arena, "%" PRId64 " %s payloads disposed of", changed,
                                        classes[i].class),
            .by = PORTARIUM_BY_SYSTEM,
        };
        if (st == MCP_OK && changed > 0)
            st = portarium_evidence_add(tx, &entry, err);
    }
    return st;
}

static mcp_status dispose_now(portarium_tx *tx, void *data, mcp_error *err)
{
    (void)data;
    return portarium_dispose(tx, &tx->now_ms, err);
}

static mcp_status expire(portarium_tx *tx, void *data, mcp_error *err)
{
    db_value values[] = { db_int(tx->now_ms - EVENTS_MS) };
    (void)data;
    mcp_status st = db_run(tx->session, NULL, "DELETE FROM outbox WHERE created_at < $1", values, 1,
                           err);
    return st == MCP_OK ? portarium_idempotency_expire(tx, err) : st;
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* Workspaces that come after that of the id. */
typedef struct later {
    found found;
    const char *after;
} later;

static mcp_status find_later(portarium_tx *tx, void *data, mcp_error *err)
{
    later *self = data;
    db_value values[] = { db_text(self->after), db_int(FOUND_MAX) };
    self->found.count = 0;
    return collect(&self->found, tx,
                   "SELECT workspace FROM heads WHERE workspace > $1 ORDER BY workspace LIMIT $2",
                   values, 2, err);
}

static mcp_status note_step(portarium_tx *tx, void *data, mcp_error *err)
{
    const db_clock_step *step = data;
    int64_t by_s = step->by_ms / 1000;
    const portarium_evidence entry = {
        .category = "System",
        .summary = mcp_arena_printf(tx->arena,
                                    by_s > 0
                                        ? "The database's clock went forth by %" PRId64
                                          " s: what is due by it ends now"
                                        : "The database's clock went back by %" PRId64
                                          " s: time continues half as fast until it has caught up",
                                    by_s > 0 ? by_s : -by_s),
        .by = PORTARIUM_BY_SYSTEM,
    };
    return portarium_evidence_add(tx, &entry, err);
}

/* In the next workspaces. One that is gone meanwhile needs no evidence. */
static mcp_status note_in_some(portarium_upkeep *self, mcp_arena *arena, mcp_error *err)
{
    later *next = mcp_arena_alloc(arena, sizeof *next);
    portarium_tx as = { .arena = arena, .actor = &self->actor, .correlation_id = "upkeep" };
    if (!next)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the workspaces");
    next->after = self->noted;
    mcp_status st = portarium_view(self->committer, &as, find_later, next, err);
    if (st != MCP_OK)
        return st;
    for (size_t i = 0; i < next->found.count; i++) {
        as.workspace = next->found.items[i];
        st = portarium_commit(self->committer, &as, note_step, &self->step, err);
        if (st != MCP_OK && st != MCP_E_NOT_FOUND)
            return st;
        snprintf(self->noted, sizeof self->noted, "%s", as.workspace);
    }
    self->is_noting = next->found.count == FOUND_MAX;
    return MCP_OK;
}

static void begin_to_note(portarium_upkeep *self)
{
    if (self->is_noting)
        return;
    db_clock_step step = db_clock_step_after(self->database, self->step.number);
    if (step.number == 0)
        return;
    self->step = step;
    self->noted[0] = '\0';
    self->is_noting = true;
    mcp_log_write(
        &self->settings->log, MCP_LOG_WARNING, "the database's clock went %s by %" PRId64 " s",
        step.by_ms > 0 ? "forth" : "back", (step.by_ms > 0 ? step.by_ms : -step.by_ms) / 1000);
}

/* A step is in the evidence of every workspace: what ended too soon by it has its reason there.
 * After a failure it continues at the next turn, where it was. */
static void note_steps(portarium_upkeep *self)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;
    begin_to_note(self);
    while (self->is_noting && st == MCP_OK && !thread_worker_is_stopping(&self->worker)) {
        mcp_arena *arena = mcp_arena_new(ARENA_MAX);
        st = arena ? note_in_some(self, arena, &err)
                   : mcp_error_set(&err, MCP_E_NOMEM, "no memory for the workspaces");
        mcp_arena_free(arena);
    }
    if (st != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "upkeep: %s", err.message);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Run work in a transaction. @param workspace NULL: in none */
static void commit(portarium_upkeep *self, const char *workspace, mcp_arena *arena,
                   portarium_work *work)
{
    mcp_error err = MCP_ERROR_INIT;
    const portarium_tx as = {
        .arena = arena, .workspace = workspace, .actor = &self->actor, .correlation_id = "upkeep"
    };
    if (portarium_commit(self->committer, &as, work, NULL, &err) != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "upkeep of %s: %s",
                      workspace ? workspace : "events", err.message);
}

/* Find workspaces, and do the work in each. */
static void serve(portarium_upkeep *self, portarium_work *find, portarium_work *work)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(ARENA_MAX);
    found *what = arena ? mcp_arena_alloc(arena, sizeof *what) : NULL;
    const portarium_tx as = { .arena = arena, .actor = &self->actor };
    if (what) {
        what->count = 0;
        if (portarium_view(self->committer, &as, find, what, &err) != MCP_OK)
            mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "upkeep: %s", err.message);
        for (size_t i = 0; i < what->count; i++)
            commit(self, what->items[i], arena, work);
    }
    mcp_arena_free(arena);
}

static void run(void *data)
{
    portarium_upkeep *self = data;
    unsigned turn = 0;
    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        if (thread_worker_wait(&self->worker, LOOK_MS))
            continue;
        pthread_mutex_unlock(&self->lock);
        note_steps(self);
        if (self->settings->evidence_key && turn % TURNS == 0)
            serve(self, find_uncovered, make_checkpoint);
        if (self->settings->checkpoint_file && turn % TURNS == 0)
            append_checkpoints(self);
        if (turn++ % RARE_TURNS == 0) {
            mcp_arena *arena = mcp_arena_new(ARENA_MAX);
            serve(self, find_expired, dispose_now);
            if (arena)
                commit(self, NULL, arena, expire);
            mcp_arena_free(arena);
        }
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

mcp_status portarium_upkeep_new(portarium_upkeep **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                mcp_error *err)
{
    portarium_upkeep *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the upkeep");
    *self = (portarium_upkeep){ .database = database,
                                .committer = committer,
                                .settings = settings,
                                .actor = { .subject = "system:upkeep" } };
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = thread_worker_start(&self->worker, run, self, err);
    if (st != MCP_OK) {
        portarium_upkeep_free(self);
        return st;
    }
    *out = self;
    return MCP_OK;
}

void portarium_upkeep_free(portarium_upkeep *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
