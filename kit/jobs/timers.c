/*
 * timers.c - the table of timers, and the thread that sleeps until the next is due.
 *
 * The thread looks when it starts, when the time of the next timer has come, when it is woken, and
 * at least once a second; so a lost notification or a clock that was set costs a second at most. A
 * look reads; only if something is due it also writes, to take it.
 *
 * A timer's first fence is random. Its id may have been used by a timer that has finished, and a
 * lease on that one must not hold this one.
 */
#include "jobs/timers.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "mcp/alloc.h"
#include "mcp/arena.h"
#include "mcp/clock.h"
#include "mcp/random.h"
#include "thread/thread.h"

enum { BATCH = 64, TEXTS_MAX = 64 << 20, LEASE_MS = 30000, POLL_MS = 1000, AGAIN_MS = 1000 };
enum { SOON_MS = 2000 };

#define CHANNEL "jobs_timers"

static const jobs_table timers = { .name = "timers", .id = "id", .due = "due_at" };

struct jobs_timers {
    db *db;
    jobs_timers_options options; /* without zeros */
    char *owner;
    db_listener *listener;
    bool is_failing; /* the thread's: the last look failed, and that was logged */
    pthread_mutex_t lock;
    thread_worker worker;
    bool is_woken; /* look again before sleeping */
};

/* ---- rows ------------------------------------------------------------------------------------ */

static mcp_status first_fence(int64_t *out, mcp_error *err)
{
    uint32_t bits[2];
    mcp_status st = mcp_random_bytes(bits, sizeof bits, err);

    if (st == MCP_OK)
        *out = (int64_t)bits[0] << 16 | (bits[1] & 0xffff);
    return st;
}

mcp_status jobs_timer_set(db_session *session, const char *id, int64_t due_ms, const char *kind,
                          const char *ref, mcp_error *err)
{
    char payload[24];
    int64_t fence = 0;

    if (strnlen(id, JOBS_ID_SIZE) >= JOBS_ID_SIZE)
        return mcp_error_set(err, MCP_E_LIMIT, "the id of a timer has more than %d bytes",
                             JOBS_ID_SIZE - 1);
    mcp_status st = first_fence(&fence, err);
    db_value values[] = { db_text(id), db_int(due_ms), db_text(kind), db_text(ref), db_int(fence) };
    if (st == MCP_OK)
        st = db_defer(
            session, MCP_OK,
            "INSERT INTO timers (id, due_at, kind, ref, fence) VALUES ($1, $2, $3, $4, $5) "
            "ON CONFLICT (id) DO UPDATE SET due_at = excluded.due_at, "
            "kind = excluded.kind, ref = excluded.ref, lease_owner = NULL, "
            "lease_until = NULL, fence = timers.fence + 1",
            values, 5, err);
    if (st != MCP_OK || due_ms > mcp_clock_wall_ms() + SOON_MS)
        return st;
    snprintf(payload, sizeof payload, "%" PRId64, due_ms);
    return db_notify(session, CHANNEL, payload, err);
}

mcp_status jobs_timer_cancel(bool *was_set, db_session *session, const char *id, mcp_error *err)
{
    db_value value = db_text(id);
    static const char sql[] = "DELETE FROM timers WHERE id = $1";
    int64_t changed = 0;
    mcp_status st = was_set ? db_run(session, &changed, sql, &value, 1, err)
                            : db_defer(session, MCP_OK, sql, &value, 1, err);

    if (st == MCP_OK && was_set)
        *was_set = changed > 0;
    return st;
}

mcp_status jobs_timer_finish(db_session *session, const jobs_lease *lease, mcp_error *err)
{
    mcp_status st = jobs_check(session, &timers, lease, err);

    return st == MCP_OK ? jobs_timer_cancel(NULL, session, lease->id, err) : st;
}

/* ---- firing ---------------------------------------------------------------------------------- */

/* The rest of a timer that was taken. */
static mcp_status read_timer(jobs_timer *out, db_session *session, const jobs_lease *lease,
                             mcp_arena *arena, mcp_error *err)
{
    db_value value = db_text(lease->id);
    db_rows *rows = NULL;
    bool has_row = false;
    mcp_status st = db_query(&rows, session, "SELECT due_at, kind, ref FROM timers WHERE id = $1",
                             &value, 1, err);

    if (st == MCP_OK)
        st = db_next(rows, &has_row, err);
    if (st == MCP_OK && has_row) {
        *out = (jobs_timer){ .lease = *lease, .due_ms = db_int_at(rows, 0) };
        out->kind = mcp_arena_strdup(arena, db_text_at(rows, 1, NULL));
        out->ref = mcp_arena_strdup(arena, db_text_at(rows, 2, NULL));
        if (!out->kind || !out->ref)
            st = mcp_error_set(err, MCP_E_NOMEM, "no memory for timers");
    }
    db_rows_free(rows);
    return st;
}

/* Take what is due, or was another's who is gone, in one transaction. */
static mcp_status take_due(jobs_timer *out, size_t *count, jobs_timers *self, mcp_arena *arena,
                           mcp_error *err)
{
    const jobs_holder holder = { self->owner, self->options.lease_ms };
    jobs_lease leases[BATCH];
    db_session *session = NULL;
    size_t due = 0;
    size_t expired = 0;
    mcp_status st = db_begin(&session, self->db, DB_WRITE, err);

    if (st != MCP_OK)
        return st;
    st = jobs_take(leases, &due, BATCH, session, &timers, JOBS_FREE, &holder, err);
    if (st == MCP_OK && due < BATCH)
        st = jobs_take(leases + due, &expired, BATCH - due, session, &timers, JOBS_EXPIRED, &holder,
                       err);
    for (size_t i = 0; st == MCP_OK && i < due + expired; i++)
        st = read_timer(&out[i], session, &leases[i], arena, err);
    if (st != MCP_OK) {
        db_rollback(session);
        return st;
    }
    *count = due + expired;
    return db_commit(session, err);
}

/* Let it be due again a little later. If that fails it fires when the lease ends. */
static void postpone(jobs_timers *self, const jobs_lease *lease)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    mcp_status st = db_begin(&session, self->db, DB_WRITE, NULL);

    if (st != MCP_OK)
        return;
    st = jobs_give_up(session, &timers, lease, NULL);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, NULL);
    db_value values[] = { db_text(lease->id), db_int(now_ms + AGAIN_MS) };
    if (st == MCP_OK)
        st = db_run(session, NULL, "UPDATE timers SET due_at = $2 WHERE id = $1", values, 2, NULL);
    if (st == MCP_OK)
        (void)db_commit(session, NULL);
    else
        db_rollback(session);
}

static void fire(jobs_timers *self, const jobs_timer *timer)
{
    mcp_error err = MCP_ERROR_INIT;

    if (self->options.fire(timer, self->options.data, &err) == MCP_OK)
        return;
    mcp_log_write(&self->options.log, MCP_LOG_WARNING,
                  "the timer %s has failed and fires again: %s", timer->lease.id, err.message);
    postpone(self, &timer->lease);
}

/* How long until the next timer is due; 0 or less: one is. */
static mcp_status read_next(int64_t *wait_ms, jobs_timers *self, mcp_error *err)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    int64_t at_ms = 0;
    mcp_status st = db_begin(&session, self->db, DB_READ, err);

    if (st != MCP_OK)
        return st;
    st = db_now(session, &now_ms, err);
    if (st == MCP_OK)
        st = jobs_next(session, &timers, &at_ms, err);
    db_rollback(session);
    if (st == MCP_OK)
        *wait_ms = at_ms == INT64_MAX ? INT64_MAX : at_ms - now_ms;
    return st;
}

/* Look, and fire what is due. @param wait_ms until the next look is needed */
static mcp_status look(int64_t *wait_ms, jobs_timers *self, mcp_error *err)
{
    jobs_timer due[BATCH];
    size_t count = 0;
    mcp_status st = read_next(wait_ms, self, err);

    if (st != MCP_OK || *wait_ms > 0)
        return st;
    mcp_arena *arena = mcp_arena_new(TEXTS_MAX);
    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for timers");
    st = take_due(due, &count, self, arena, err);
    for (size_t i = 0; st == MCP_OK && i < count; i++) {
        if (thread_worker_is_stopping(&self->worker))
            postpone(self, &due[i].lease); /* another process may have it */
        else
            fire(self, &due[i]);
    }
    mcp_arena_free(arena);
    /* Nothing taken: others have what is due locked. */
    *wait_ms = count > 0 ? 0 : self->options.poll_ms;
    return st;
}

static void log_change(jobs_timers *self, mcp_status st, const mcp_error *err)
{
    if (st != MCP_OK && !self->is_failing)
        mcp_log_write(&self->options.log, MCP_LOG_ERROR, "timers do not fire: %s", err->message);
    if (st == MCP_OK && self->is_failing)
        mcp_log_write(&self->options.log, MCP_LOG_INFO, "timers fire again");
    self->is_failing = st != MCP_OK;
}

static void run(void *data)
{
    jobs_timers *self = data;

    while (!thread_worker_is_stopping(&self->worker)) {
        mcp_error err = MCP_ERROR_INIT;
        int64_t wait_ms = 0;
        mcp_status st = look(&wait_ms, self, &err);
        log_change(self, st, &err);
        if (st != MCP_OK || wait_ms > self->options.poll_ms)
            wait_ms = self->options.poll_ms;
        pthread_mutex_lock(&self->lock);
        if (!self->is_woken && wait_ms > 0)
            thread_worker_wait(&self->worker, wait_ms);
        self->is_woken = false;
        pthread_mutex_unlock(&self->lock);
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

void jobs_timers_wake(jobs_timers *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_woken = true;
    thread_worker_wake(&self->worker);
    pthread_mutex_unlock(&self->lock);
}

static void on_notify(const char *payload, void *data)
{
    (void)payload;
    jobs_timers_wake(data);
}

mcp_status jobs_timers_new(jobs_timers **out, db *self, const jobs_timers_options *options,
                           mcp_error *err)
{
    if (!options || !options->fire || !options->owner)
        return mcp_error_set(err, MCP_E_PARAMS, "timers need a function and an owner");
    jobs_timers *made = mcp_alloc_zeroed(1, sizeof *made);
    if (!made)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for timers");
    made->db = self;
    made->options = *options;
    if (options->lease_ms <= 0)
        made->options.lease_ms = LEASE_MS;
    if (options->poll_ms <= 0)
        made->options.poll_ms = POLL_MS;
    pthread_mutex_init(&made->lock, NULL);
    thread_worker_init(&made->worker, &made->lock);
    made->owner = mcp_alloc_strdup(options->owner);
    mcp_status st = made->owner ? MCP_OK : mcp_error_set(err, MCP_E_NOMEM, "no memory for timers");
    if (st == MCP_OK)
        st = db_listen(&made->listener, self, CHANNEL, on_notify, made, err);
    if (st == MCP_OK)
        st = thread_worker_start(&made->worker, run, made, err);
    if (st == MCP_OK)
        *out = made;
    else
        jobs_timers_free(made);
    return st;
}

void jobs_timers_free(jobs_timers *self)
{
    if (!self)
        return;
    db_listener_free(self->listener);
    thread_worker_stop(&self->worker);
    pthread_mutex_destroy(&self->lock);
    free(self->owner);
    free(self);
}
