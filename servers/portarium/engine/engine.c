/*
 * engine.c - the threads: one that looks what is due, and those that perform attempts.
 *
 * A step runs in the committer, without a thread of its own. Its attempts are queued for the
 * threads once it is committed. The looking thread asks the database for runs that are due and for
 * leases that have expired, sleeps until the next due time, and renews the leases of attempts in
 * flight.
 */
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/queued.h"
#include "engine/sealed/stored.h"
#include "engine/step.h"
#include "fault/fault.h"
#include "mcp/clock.h"
#include "thread/thread.h"

enum { THREADS = 16, LEASE_MS = 60000, POLL_MS = 1000, GRACE_MS = 10000, LOOK_MAX = 200 };
enum { LOOK_PAUSE_MS = 10 }; /* from one look to the next, at least */
enum { STEP_ARENA = 64 << 20, THREADS_MAX = 256, RESULT_PAUSE_US = 200000 };

/* An attempt in the queue, or in flight. */
typedef struct job {
    struct job *next;
    struct job *next_in_flight;
    char *workspace, *run, *action, *text;
    int64_t fence;
    uint32_t timeout_ms;
    int64_t deadline_mono_ms;
    int64_t lease_mono_ms; /* until when nobody else may take it; under the engine's lock */
    atomic_bool is_cancelled;
} job;

struct portarium_engine {
    db *database;
    portarium_committer *committer;
    const portarium_settings *settings;
    portarium_engine_options options;
    portarium_actor actor; /* of what the engine does by itself */
    pthread_mutex_t lock;  /* of the queue, what is in flight, the counts and the workers */
    thread_worker looker;
    thread_worker *performers;
    int performer_count;
    job *first, *last, *in_flight;
    int steps; /* on their way through the committer */
    portarium_queued queued_steps;
    pthread_cond_t queued;  /* an attempt, or the end */
    pthread_cond_t settled; /* a step or an attempt has ended */
    bool is_look_due;
    atomic_bool is_stopping;
};

static const char system_actor[] = "system:engine";

/* ---- steps ----------------------------------------------------------------------------------- */

/* A step, or a result followed by a step, on its way through the committer. */
typedef struct stepping {
    portarium_engine *engine;
    mcp_arena *arena;
    const char *workspace, *run;
    portarium_dispatches dispatches;
    const char *action; /* of a result; NULL: none */
    int64_t fence;
    portarium_result result;
    int64_t begun_mono_ms; /* of its leases */
    bool is_lost;          /* the action's lease has expired */
    bool is_returned;      /* the attempt was not begun */
    bool has_run;          /* in a transaction, since it was submitted */
    const char *failure;   /* why a step before this one failed, and ends the run; NULL: none did */
    portarium_queued_step queued;
} stepping;

/* The lease has expired, unless it was renewed or taken again since the look. */
static mcp_status expire(const stepping *self, portarium_run *run, portarium_tx *tx, mcp_error *err)
{
    portarium_run_action *action = portarium_run_action_find(run, self->action);
    if (!action || action->fence != self->fence || action->state != PORTARIUM_ACTION_RUNNING)
        return MCP_OK;
    return portarium_attempt_lost(run, action, tx, err);
}

static mcp_status step_work(portarium_tx *tx, void *data, mcp_error *err)
{
    stepping *self = data;
    portarium_run run;
    self->dispatches = (portarium_dispatches){ .executors = self->engine->options.executors };
    self->has_run = true;
    FAULT_POINT("step-begun");
    self->begun_mono_ms = tx->mono_ms;
    mcp_status st = portarium_run_load(&run, tx, self->run, err);
    if (st != MCP_OK)
        return st;
    tx->correlation_id = mcp_json_get_string(run.record.json, "correlationId");
    tx->trace = portarium_trace_read(run.record.hidden);
    if (self->failure)
        return portarium_step_fail(&run, tx, self->failure, err);
    if (self->is_lost)
        st = expire(self, &run, tx, err);
    else if (self->is_returned)
        st = portarium_attempt_return(&run, self->action, self->fence, tx, err);
    else if (self->action)
        st = portarium_attempt_end(&run, self->action, self->fence, &self->result, tx, err);
    if (self->action)
        FAULT_POINT("result-made");
    if (st == MCP_OK && self->engine->is_stopping)
        return portarium_run_due(&run, tx, 0, err); /* for the next process */
    if (st == MCP_OK)
        st = portarium_step(&run, tx, self->engine->options.lease_ms, &self->dispatches, err);
    FAULT_POINT("step-made");
    return st;
}

static char *copy(const char *text)
{
    return text ? strdup(text) : NULL;
}

static void free_job(job *self)
{
    if (!self)
        return;
    free(self->workspace);
    free(self->run);
    free(self->action);
    free(self->text);
    free(self);
}

static job *job_of(const char *workspace, const portarium_dispatch *dispatch)
{
    job *self = calloc(1, sizeof *self);
    if (!self)
        return NULL;
    *self = (job){ .workspace = copy(workspace),
                   .run = copy(dispatch->run),
                   .action = copy(dispatch->action),
                   .text = copy(dispatch->text),
                   .fence = dispatch->fence,
                   .timeout_ms = dispatch->timeout_ms };
    if (self->workspace && self->run && self->action && self->text)
        return self;
    free_job(self);
    return NULL;
}

/* Without memory the attempt is lost like one of a process that died: its lease expires. */
static void queue(portarium_engine *self, const stepping *of)
{
    const portarium_dispatches *dispatches = &of->dispatches;
    for (size_t i = 0; i < dispatches->count; i++) {
        FAULT_POINT("attempt-stored");
        job *made = job_of(of->workspace, &dispatches->items[i]);
        if (!made)
            continue;
        made->lease_mono_ms = of->begun_mono_ms + self->options.lease_ms;
        pthread_mutex_lock(&self->lock);
        if (self->last)
            self->last->next = made;
        else
            self->first = made;
        self->last = made;
        pthread_cond_signal(&self->queued);
        pthread_mutex_unlock(&self->lock);
    }
}

static portarium_tx as_engine(const stepping *self)
{
    return (portarium_tx){ .arena = self->arena,
                           .workspace = self->workspace,
                           .actor = &self->engine->actor,
                           .correlation_id = self->run };
}

/* Whether a step would fail again, however often it is repeated: what is wrong is the run, and
 * neither memory nor a full queue, nor the database, unless it refuses a value. */
static bool is_of_run(const stepping *self, mcp_status status, const mcp_error *err)
{
    static const mcp_status lasting[] = { MCP_E_PARAMS,  MCP_E_SCHEMA, MCP_E_PARSE,
                                          MCP_E_LIMIT,   MCP_E_EXISTS, MCP_E_UNSUPPORTED,
                                          MCP_E_INTERNAL };
    bool lasts = false;
    for (size_t i = 0; i < sizeof lasting / sizeof lasting[0]; i++)
        lasts = lasts || status == lasting[i];
    return lasts && self->has_run && (status == MCP_E_SCHEMA || !db_is_engines(err));
}

static void step_ended(mcp_status status, const mcp_error *err, void *data);

/* End a run that cannot go on, so that it is not looked at for ever, in the place of others.
 * @return false: it is not to be ended */
static bool give_up(stepping *self, mcp_status status, const mcp_error *err)
{
    const portarium_tx as = as_engine(self);
    self->failure = !self->failure && is_of_run(self, status, err)
                        ? mcp_arena_printf(self->arena, "the plane cannot continue it: %s",
                                           err->message)
                        : NULL;
    if (!self->failure)
        return false;
    portarium_commit_submit(self->engine->committer, &as, step_work, step_ended, self);
    return true; /* another thread, or this one, may have freed `self` */
}

static void step_ended(mcp_status status, const mcp_error *err, void *data)
{
    stepping *self = data;
    portarium_engine *engine = self->engine;
    if (status == MCP_OK)
        queue(engine, self);
    else
        mcp_log_write(&engine->settings->log, MCP_LOG_WARNING, "run %s: %s", self->run,
                      err->message);
    if (status != MCP_OK && give_up(self, status, err))
        return;
    pthread_mutex_lock(&engine->lock);
    if (self->queued.run)
        portarium_queued_remove(&engine->queued_steps, &self->queued);
    engine->steps--;
    pthread_cond_broadcast(&engine->settled);
    pthread_mutex_unlock(&engine->lock);
    mcp_arena_free(self->arena);
}

static stepping *stepping_new(portarium_engine *engine, const char *workspace, const char *run)
{
    mcp_arena *arena = mcp_arena_new(STEP_ARENA);
    stepping *self = arena ? mcp_arena_alloc(arena, sizeof *self) : NULL;
    if (self) {
        *self = (stepping){ .engine = engine,
                            .arena = arena,
                            .workspace = mcp_arena_strdup(arena, workspace),
                            .run = mcp_arena_strdup(arena, run) };
        if (self->workspace && self->run)
            return self;
    }
    mcp_arena_free(arena);
    return NULL;
}

/* Hand it to the committer, which frees it at its end. */
static void submit(stepping *self)
{
    portarium_engine *engine = self->engine;
    const portarium_tx as = as_engine(self);
    self->queued = (portarium_queued_step){ self->workspace, self->run, self->action, NULL };
    pthread_mutex_lock(&engine->lock);
    engine->steps++;
    portarium_queued_add(&engine->queued_steps, &self->queued);
    pthread_mutex_unlock(&engine->lock);
    portarium_commit_submit(engine->committer, &as, step_work, step_ended, self);
}

void portarium_engine_wake(portarium_engine *self, const char *workspace, const char *run)
{
    stepping *made = self->is_stopping ? NULL : stepping_new(self, workspace, run);
    if (made) /* without memory the run stays due, and is found by a look */
        submit(made);
}

/* ---- attempts -------------------------------------------------------------------------------- */

/* Cancelled, or longer than it was given. */
static bool is_over(void *data)
{
    const job *what = data;
    return what->is_cancelled || mcp_clock_mono_ms() > what->deadline_mono_ms;
}

static void fail_result(portarium_result *out, portarium_error_class class, const char *message)
{
    *out = (portarium_result){ .outcome = PORTARIUM_OUTCOME_FAILED, .error_class = class };
    snprintf(out->message, sizeof out->message, "%s", message);
}

static void perform(portarium_engine *self, job *what, stepping *end)
{
    const mcp_json *text = NULL;
    mcp_error err = MCP_ERROR_INIT;
    void *data = NULL;
    int64_t attempt = 0;
    if (mcp_json_read(&text, end->arena, what->text, strlen(what->text), &err) != MCP_OK) {
        fail_result(&end->result, PORTARIUM_CLASS_UNKNOWN, err.message);
        return;
    }
    const mcp_json *binding = mcp_json_get(text, "binding");
    const portarium_executor *executor = self->options.executors
                                             ? portarium_executor_find(self->options.executors,
                                                                       binding, &data)
                                             : NULL;
    if (!executor) {
        fail_result(&end->result, PORTARIUM_CLASS_VALIDATION,
                    "the adapter has no binding that this server performs");
        return;
    }
    mcp_json_int(mcp_json_get(text, "attempt"), &attempt);
    what->deadline_mono_ms = mcp_clock_mono_ms() + what->timeout_ms;
    portarium_attempt call = {
        .workspace = what->workspace,
        .run_id = what->run,
        .action_id = what->action,
        .operation = mcp_json_get_string(text, "operation"),
        .key = mcp_json_get_string(text, "key"),
        .attempt = (int)attempt,
        .input = mcp_json_get(text, "input"),
        .binding = binding,
        .machine = mcp_json_get(text, "machine"),
        .egress = mcp_json_get(text, "egress"),
        .provider = mcp_json_get_string(text, "provider"),
        .correlation_id = mcp_json_get_string(text, "correlationId"),
        .trace = portarium_trace_read(text),
        .deadline_mono_ms = what->deadline_mono_ms,
    };
    portarium_stored_open(call.stored, end->arena, self->settings, what->workspace, text);
    const portarium_stop stop = { .is_set = is_over, .data = what };
    FAULT_POINT("dispatch-begun");
    executor->perform(&end->result, &call, &stop, end->arena, data);
    FAULT_POINT("dispatch-done");
}

/* What has waited for the database or was frozen for so long that its lease is over, or nearly, is
 * not begun: another process may have taken it, or a person has been asked. */
static job *take(portarium_engine *self)
{
    job *what = self->first;
    if (!what)
        return NULL;
    self->first = what->next;
    if (!self->first)
        self->last = NULL;
    if (mcp_clock_mono_ms() > what->lease_mono_ms - self->options.lease_ms / 6)
        what->is_cancelled = true;
    what->next_in_flight = self->in_flight;
    self->in_flight = what;
    return what;
}

static void forget(portarium_engine *self, job *what)
{
    pthread_cond_broadcast(&self->settled);
    for (job **at = &self->in_flight; *at; at = &(*at)->next_in_flight) {
        if (*at == what) {
            *at = what->next_in_flight;
            break;
        }
    }
}

/* Store a result. A database that is away for a moment does not lose it: the lease is held. */
static void store(stepping *self)
{
    portarium_engine *engine = self->engine;
    mcp_error err = MCP_ERROR_INIT;
    const portarium_tx as = as_engine(self);
    mcp_status st = portarium_commit(engine->committer, &as, step_work, self, &err);
    int64_t until = mcp_clock_mono_ms() + engine->options.lease_ms;
    while (st != MCP_OK && st != MCP_E_NOT_FOUND && !is_of_run(self, st, &err) &&
           mcp_clock_mono_ms() < until) {
        mcp_log_write(&engine->settings->log, MCP_LOG_WARNING,
                      "the result of action %s of run %s cannot be stored: %s", self->action,
                      self->run, err.message);
        usleep(RESULT_PAUSE_US);
        self->has_run = false;
        st = portarium_commit(engine->committer, &as, step_work, self, &err);
    }
    FAULT_POINT("result-stored");
    pthread_mutex_lock(&engine->lock);
    engine->steps++;
    pthread_mutex_unlock(&engine->lock);
    step_ended(st, &err, self);
}

/* An attempt that was cancelled in the queue was never begun. */
static void perform_and_end(portarium_engine *self, job *what)
{
    stepping *end = stepping_new(self, what->workspace, what->run);
    if (!end)
        return; /* the lease expires */
    end->action = mcp_arena_strdup(end->arena, what->action);
    end->fence = what->fence;
    end->is_returned = what->is_cancelled;
    if (!what->is_cancelled)
        perform(self, what, end);
    store(end);
}

static void run_performer(void *data)
{
    portarium_engine *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->is_stopping) {
        job *what = take(self);
        if (!what) {
            thread_wait(&self->queued, &self->lock, THREAD_FOREVER);
            continue;
        }
        pthread_mutex_unlock(&self->lock);
        perform_and_end(self, what);
        pthread_mutex_lock(&self->lock);
        forget(self, what);
        free_job(what);
    }
    pthread_mutex_unlock(&self->lock);
}

/* ---- what is due ----------------------------------------------------------------------------- */

/* What one look has found. */
typedef struct look {
    portarium_engine *engine;
    stepping *found[2 * LOOK_MAX];
    size_t count;
    int64_t wait_ms; /* until the next run is due */
} look;

static mcp_status find_due(look *self, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_int(tx->now_ms), db_int(LOOK_MAX) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT workspace, id FROM runs WHERE due_at <= $1 ORDER BY due_at "
                             "LIMIT $2",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        stepping *made = stepping_new(self->engine, db_text_at(rows, 0, NULL),
                                      db_text_at(rows, 1, NULL));
        if (made)
            self->found[self->count++] = made;
    }
    db_rows_free(rows);
    return st;
}

static mcp_status find_expired(look *self, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_int(db_time_lapsed(tx->session, tx->now_ms)), db_int(LOOK_MAX) };
    mcp_status st = db_query(&rows, tx->session,
                             "SELECT workspace, run_id, id, fence FROM run_actions WHERE "
                             "lease_until < $1 ORDER BY lease_until LIMIT $2",
                             values, 2, err);
    while (portarium_next(rows, &st, err)) {
        const char *run = db_text_at(rows, 1, NULL), *id = db_text_at(rows, 2, NULL);
        stepping *made = stepping_new(self->engine, db_text_at(rows, 0, NULL), run);
        if (!made)
            continue;
        made->action = mcp_arena_strdup(made->arena, id + strlen(run) + 1);
        if (!made->action) { /* a later look finds it */
            mcp_arena_free(made->arena);
            continue;
        }
        made->fence = db_int_at(rows, 3);
        made->is_lost = true;
        self->found[self->count++] = made;
    }
    db_rows_free(rows);
    return st;
}

static mcp_status find_next(look *self, portarium_tx *tx, mcp_error *err)
{
    db_rows *rows = NULL;
    db_value values[] = { db_int(tx->now_ms) };
    mcp_status st = db_query(&rows, tx->session, "SELECT MIN(due_at) FROM runs WHERE due_at > $1",
                             values, 1, err);
    if (portarium_next(rows, &st, err) && !db_null_at(rows, 0))
        self->wait_ms = db_int_at(rows, 0) - tx->now_ms;
    db_rows_free(rows);
    return st;
}

static mcp_status look_work(portarium_tx *tx, void *data, mcp_error *err)
{
    look *self = data;
    mcp_status st = find_due(self, tx, err);
    if (st == MCP_OK)
        st = find_expired(self, tx, err);
    return st == MCP_OK ? find_next(self, tx, err) : st;
}

/* A run stays due, and a lease expired, until the step is committed. */
static bool is_queued(portarium_engine *self, const stepping *step)
{
    const portarium_queued_step like = { step->workspace, step->run, step->action, NULL };
    pthread_mutex_lock(&self->lock);
    bool is = portarium_queued_has(&self->queued_steps, &like);
    pthread_mutex_unlock(&self->lock);
    return is;
}

/* @return how long to sleep */
static int64_t look_once(portarium_engine *self)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(STEP_ARENA);
    look what = { .engine = self, .wait_ms = self->options.poll_ms };
    const portarium_tx as = { .arena = arena, .actor = &self->actor };
    if (!arena)
        return self->options.poll_ms;
    mcp_status st = portarium_view(self->committer, &as, look_work, &what, &err);
    if (st != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "what is due cannot be read: %s",
                      err.message);
    for (size_t i = 0; i < what.count; i++) {
        if (is_queued(self, what.found[i]))
            mcp_arena_free(what.found[i]->arena);
        else
            submit(what.found[i]);
    }
    mcp_arena_free(arena);
    return what.wait_ms < self->options.poll_ms ? what.wait_ms : self->options.poll_ms;
}

/* ---- leases ---------------------------------------------------------------------------------- */

/* The leases of the attempts that this process has. */
typedef struct leases {
    const portarium_engine *engine;
    struct {
        const char *workspace, *id;
        int64_t fence;
        job *holder;
        bool is_held;
    } * items;
    size_t count;
} leases;

static bool add_lease(leases *self, job *what, mcp_arena *arena, size_t most)
{
    const char *workspace = mcp_arena_strdup(arena, what->workspace);
    const char *id = mcp_arena_printf(arena, "%s/%s", what->run, what->action);
    if (!workspace || !id || self->count >= most)
        return false;
    self->items[self->count].workspace = workspace;
    self->items[self->count].id = id;
    self->items[self->count].fence = what->fence;
    self->items[self->count].holder = what;
    self->count++;
    return true;
}

/* Those that are there now: what begins later is not judged by what the database says before. */
static bool list_leases(portarium_engine *self, leases *out, mcp_arena *arena)
{
    size_t most = 0;
    bool ok = true;
    for (const job *at = self->in_flight; at; at = at->next_in_flight)
        most++;
    for (const job *at = self->first; at; at = at->next)
        most++;
    out->items = mcp_arena_array(arena, most + 1, sizeof *out->items);
    ok = out->items != NULL;
    for (job *at = self->in_flight; ok && at; at = at->next_in_flight)
        ok = add_lease(out, at, arena, most);
    for (job *at = self->first; ok && at; at = at->next)
        ok = add_lease(out, at, arena, most);
    return ok;
}

static mcp_status renew_work(portarium_tx *tx, void *data, mcp_error *err)
{
    leases *self = data;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->count; i++) {
        int64_t changed = 0;
        db_value values[] = { db_text(self->items[i].workspace), db_text(self->items[i].id),
                              db_int(self->items[i].fence),
                              db_text(self->engine->settings->instance),
                              db_int(tx->now_ms + self->engine->options.lease_ms) };
        st = db_run(tx->session, &changed,
                    "UPDATE run_actions SET lease_until = $5 WHERE workspace = $1 AND id = $2 AND "
                    "fence = $3 AND lease_owner = $4",
                    values, 5, err);
        self->items[i].is_held = changed > 0;
    }
    return st;
}

static mcp_status check_work(portarium_tx *tx, void *data, mcp_error *err)
{
    leases *self = data;
    mcp_status st = MCP_OK;
    for (size_t i = 0; st == MCP_OK && i < self->count; i++) {
        db_rows *rows = NULL;
        db_value values[] = { db_text(self->items[i].workspace), db_text(self->items[i].id),
                              db_int(self->items[i].fence),
                              db_text(self->engine->settings->instance) };
        st = db_query(&rows, tx->session,
                      "SELECT 1 FROM run_actions WHERE workspace = $1 AND id = $2 AND fence = $3 "
                      "AND lease_owner = $4",
                      values, 4, err);
        self->items[i].is_held = portarium_next(rows, &st, err);
        db_rows_free(rows);
    }
    return st;
}

/* Attempts whose lease is gone, because their run was cancelled or another process has taken them,
 * are asked to stop. @param until_mono_ms of the leases that are held; 0: they were not renewed */
static void stop_lost(portarium_engine *self, const leases *known, int64_t until_mono_ms)
{
    for (size_t i = 0; i < known->count; i++) {
        job *at = self->in_flight;
        while (at && at != known->items[i].holder)
            at = at->next_in_flight;
        for (job *queued = self->first; !at && queued; queued = queued->next)
            at = queued == known->items[i].holder ? queued : NULL;
        if (!at || at->fence != known->items[i].fence)
            continue;
        if (!known->items[i].is_held)
            at->is_cancelled = true;
        else if (until_mono_ms > 0)
            at->lease_mono_ms = until_mono_ms;
    }
}

/* Hold the leases, or only look whether they are held. */
static void keep_leases(portarium_engine *self, bool renews)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_arena *arena = mcp_arena_new(STEP_ARENA);
    leases known = { .engine = self };
    const portarium_tx as = { .arena = arena, .actor = &self->actor };
    pthread_mutex_lock(&self->lock);
    bool ok = arena && list_leases(self, &known, arena);
    pthread_mutex_unlock(&self->lock);
    mcp_status st = MCP_OK;
    int64_t until = renews ? mcp_clock_mono_ms() + self->options.lease_ms : 0;
    if (ok && known.count > 0)
        st = renews ? portarium_commit(self->committer, &as, renew_work, &known, &err)
                    : portarium_view(self->committer, &as, check_work, &known, &err);
    if (st != MCP_OK)
        mcp_log_write(&self->settings->log, MCP_LOG_WARNING, "leases cannot be renewed: %s",
                      err.message);
    pthread_mutex_lock(&self->lock);
    if (ok && st == MCP_OK)
        stop_lost(self, &known, until);
    pthread_mutex_unlock(&self->lock);
    mcp_arena_free(arena);
}

/* Until a look is due or was asked for, and some time after the last one. */
static void wait_for_look(portarium_engine *self, int64_t looked_ms, int64_t sleep_ms)
{
    if (!self->is_look_due)
        thread_worker_wait(&self->looker, sleep_ms);
    int64_t left_ms = looked_ms + LOOK_PAUSE_MS - mcp_clock_mono_ms();
    for (; left_ms > 0 && !self->looker.is_stopping;
         left_ms = looked_ms + LOOK_PAUSE_MS - mcp_clock_mono_ms())
        thread_worker_wait(&self->looker, left_ms);
    self->is_look_due = false;
}

static void run_looker(void *data)
{
    portarium_engine *self = data;
    int64_t renewed = mcp_clock_mono_ms(), looked = renewed - LOOK_PAUSE_MS, sleep_ms = 0;
    pthread_mutex_lock(&self->lock);
    while (!self->looker.is_stopping) {
        wait_for_look(self, looked, sleep_ms);
        bool has_leases = self->in_flight || self->first;
        if (self->looker.is_stopping)
            break;
        pthread_mutex_unlock(&self->lock);
        sleep_ms = look_once(self);
        looked = mcp_clock_mono_ms();
        bool renews = mcp_clock_mono_ms() - renewed >= self->options.lease_ms / 3;
        if (has_leases)
            keep_leases(self, renews);
        if (renews)
            renewed = mcp_clock_mono_ms();
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

void portarium_engine_look(portarium_engine *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_look_due = true;
    thread_worker_wake(&self->looker);
    pthread_mutex_unlock(&self->lock);
}

/* ---- the engine ------------------------------------------------------------------------------ */

static void fill_options(portarium_engine_options *options)
{
    if (options->threads <= 0)
        options->threads = THREADS;
    if (options->threads > THREADS_MAX)
        options->threads = THREADS_MAX;
    if (options->lease_ms <= 0)
        options->lease_ms = LEASE_MS;
    if (options->poll_ms <= 0)
        options->poll_ms = POLL_MS;
    if (options->poll_ms > options->lease_ms / 3)
        options->poll_ms = options->lease_ms / 3;
    if (options->grace_ms <= 0)
        options->grace_ms = GRACE_MS;
}

static mcp_status start(portarium_engine *self, mcp_error *err)
{
    mcp_status st = thread_worker_start(&self->looker, run_looker, self, err);
    for (int i = 0; st == MCP_OK && i < self->options.threads; i++) {
        thread_worker_init(&self->performers[i], &self->lock);
        st = thread_worker_start(&self->performers[i], run_performer, self, err);
        self->performer_count++;
    }
    return st;
}

mcp_status portarium_engine_new(portarium_engine **out, db *database,
                                portarium_committer *committer, const portarium_settings *settings,
                                const portarium_engine_options *options, mcp_error *err)
{
    portarium_engine *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the engine");
    *self = (portarium_engine){ .database = database,
                                .committer = committer,
                                .settings = settings };
    self->options = options ? *options : (portarium_engine_options){ .threads = 0 };
    self->actor = (portarium_actor){ .subject = system_actor };
    fill_options(&self->options);
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->queued);
    thread_cond_init(&self->settled);
    thread_worker_init(&self->looker, &self->lock);
    self->performers = calloc((size_t)self->options.threads, sizeof *self->performers);
    *out = self; /* before its threads commit, after which it is woken */
    mcp_status st = self->performers ? start(self, err)
                                     : mcp_error_set(err, MCP_E_NOMEM, "no memory for the engine");
    if (st != MCP_OK) {
        portarium_engine_free(self);
        *out = NULL;
        return st;
    }
    return MCP_OK;
}

/* What was not begun is not performed: the next process begins it. */
static void return_queued(portarium_engine *self)
{
    for (job *at = self->first; at; at = self->first) {
        self->first = at->next;
        pthread_mutex_unlock(&self->lock);
        at->is_cancelled = true;
        perform_and_end(self, at);
        free_job(at);
        pthread_mutex_lock(&self->lock);
    }
    self->last = NULL;
}

/* Attempts in flight get the grace, then they are asked to stop. */
static void settle(portarium_engine *self)
{
    int64_t until = mcp_clock_mono_ms() + self->options.grace_ms;
    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    pthread_cond_broadcast(&self->queued);
    while (self->in_flight && thread_wait_until(&self->settled, &self->lock, until))
        continue;
    for (job *at = self->in_flight; at; at = at->next_in_flight)
        at->is_cancelled = true;
    pthread_mutex_unlock(&self->lock);
}

void portarium_engine_free(portarium_engine *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->looker);
    settle(self);
    for (int i = 0; i < self->performer_count; i++)
        thread_worker_stop(&self->performers[i]);
    pthread_mutex_lock(&self->lock);
    while (self->steps > 0)
        thread_wait(&self->settled, &self->lock, THREAD_FOREVER);
    return_queued(self);
    pthread_mutex_unlock(&self->lock);
    free(self->performers);
    pthread_cond_destroy(&self->queued);
    pthread_cond_destroy(&self->settled);
    pthread_mutex_destroy(&self->lock);
    free(self);
}
