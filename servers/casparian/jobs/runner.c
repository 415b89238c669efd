/*
 * runner.c - threads that claim queued jobs and run them.
 *
 * The watch wakes when anything is committed that may concern it, and at least once a second while
 * a job runs. Each time it looks by reading, and writes only where there is something to do.
 *
 * A job's thread belongs to its slot. It tells by `has_ended` that the slot can be joined; until
 * then the slot is its own, but for `stop`, which the watch and the end write.
 */
#include "jobs/runner.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jobs/driver.h"
#include "jobs/state/peek.h"
#include "jobs/sweep.h"
#include "mcp/clock.h"
#include "thread/thread.h"

enum {
    SLOTS_MAX = 8,
    BEAT_MS = 10000,
    BUSY_MS = 1000,
    IDLE_MS = 5000,
    NOTE_MS = 20000,
    SWEEP_MS = 600000,
    GRACE_MS = 2000,
    ALIVE_MS = 60000,
    NICE = 5 /* as the guests of plugins/run */
};

/* A job that runs here. */
typedef struct slot {
    casparian_runner *runner;
    pthread_t thread;
    bool is_busy;          /* the thread has not been joined; of the watch, and of the end */
    bool has_ended;        /* under the lock */
    casparian_claim claim; /* the watch renews its own copy */
    casparian_claim beaten;
    int64_t beat_ms;
    atomic_int stop; /* casparian_stop */
} slot;

struct casparian_runner {
    casparian_runner_options options;
    casparian_store *store;
    char name[CASPARIAN_RUNNER_SIZE];
    pthread_mutex_t lock;
    thread_worker watch;
    pthread_cond_t ended; /* a job's thread is at its end */
    bool is_ending;       /* nothing is claimed any more; under the lock */
    bool has_news;        /* something was committed since the last look; under the lock */
    db_listener *listener;
    slot slots[SLOTS_MAX];
    int slot_count;
    int64_t noted_ms, swept_ms; /* of the watch */
};

static void log_failure(const casparian_runner *self, const char *what, const mcp_error *err)
{
    mcp_log_write(casparian_store_log(self->store), MCP_LOG_WARNING, "runner: %s: %s", what,
                  err->message);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* A job that could not be brought to its end is decided about at once, not when its lease ends. */
static void give_up(slot *self, mcp_status st, const mcp_error *failure)
{
    casparian_runner *runner = self->runner;
    mcp_error err = MCP_ERROR_INIT;
    log_failure(runner, "a job has stopped", failure);
    if (st == MCP_E_STOPPED)
        return;
    st = casparian_driver_recover(runner->options.driver, &self->claim, &err);
    if (st != MCP_OK)
        log_failure(runner, "a job cannot be given up", &err);
}

/* A job yields the processor to queries. Linux has a nice value for each thread, and the threads
 * that this one starts have its own; it cannot be raised again, and ends with the job. One that is
 * higher already stays. */
static void lower_priority(void)
{
    id_t self = (id_t)syscall(SYS_gettid);

    errno = 0;
    if (getpriority(PRIO_PROCESS, self) < NICE && errno == 0)
        setpriority(PRIO_PROCESS, self, NICE);
}

static void *run_job(void *data)
{
    slot *self = data;
    casparian_runner *runner = self->runner;
    mcp_error err = MCP_ERROR_INIT;
    lower_priority();
    mcp_status st = casparian_driver_run(runner->options.driver, &self->claim, &self->stop, &err);
    if (st != MCP_OK)
        give_up(self, st, &err);
    pthread_mutex_lock(&runner->lock);
    self->has_ended = true;
    pthread_cond_broadcast(&runner->ended);
    thread_worker_wake(&runner->watch);
    pthread_mutex_unlock(&runner->lock);
    return NULL;
}

static bool start_thread(slot *self)
{
    casparian_runner *runner = self->runner;
    pthread_mutex_lock(&runner->lock);
    self->has_ended = false;
    self->is_busy = pthread_create(&self->thread, NULL, run_job, self) == 0;
    bool is_busy = self->is_busy;
    pthread_mutex_unlock(&runner->lock);
    return is_busy;
}

static void start_job(slot *self, const casparian_claim *claim)
{
    mcp_error err = MCP_ERROR_INIT;
    self->claim = *claim;
    self->beaten = *claim;
    self->beat_ms = mcp_clock_mono_ms();
    atomic_store(&self->stop, CASPARIAN_STOP_NONE);
    if (start_thread(self))
        return;
    mcp_error_set(&err, MCP_E_LIMIT, "the system has no thread for job %lld",
                  (long long)claim->job);
    log_failure(self->runner, "a job cannot start", &err);
    casparian_claim_give_back(self->runner->store, claim, NULL);
}

static void ask_to_stop(slot *self, casparian_stop why)
{
    int none = CASPARIAN_STOP_NONE;
    atomic_compare_exchange_strong(&self->stop, &none, why);
}

/* ---- the watch ------------------------------------------------------------------------------- */

static void join_ended(casparian_runner *self)
{
    for (int i = 0; i < self->slot_count; i++) {
        slot *each = &self->slots[i];
        pthread_mutex_lock(&self->lock);
        bool has_ended = each->is_busy && each->has_ended;
        pthread_mutex_unlock(&self->lock);
        if (!has_ended)
            continue;
        pthread_join(each->thread, NULL);
        pthread_mutex_lock(&self->lock);
        each->is_busy = false;
        pthread_cond_broadcast(&self->ended);
        pthread_mutex_unlock(&self->lock);
    }
}

static void look_at_claim(slot *self)
{
    casparian_runner *runner = self->runner;
    mcp_error err = MCP_ERROR_INIT;
    bool is_held = true;
    bool is_cancelled = false;
    int64_t now_ms = mcp_clock_mono_ms();
    mcp_status st = MCP_OK;
    if (now_ms - self->beat_ms >= BEAT_MS) {
        st = casparian_claim_beat(runner->store, &self->beaten, &is_cancelled, &err);
        if (st == MCP_OK)
            self->beat_ms = now_ms;
        is_held = st != MCP_E_STOPPED;
    } else {
        st = casparian_peek_claim(&is_held, &is_cancelled, runner->store, &self->claim, &err);
    }
    if (st != MCP_OK && st != MCP_E_STOPPED)
        log_failure(runner, "a lease", &err);
    else if (!is_held)
        ask_to_stop(self, CASPARIAN_STOP_LOST);
    else if (is_cancelled)
        ask_to_stop(self, CASPARIAN_STOP_CANCELLED);
}

static slot *free_slot(casparian_runner *self)
{
    for (int i = 0; i < self->slot_count; i++)
        if (!self->slots[i].is_busy)
            return &self->slots[i];
    return NULL;
}

static bool is_ending(casparian_runner *self)
{
    pthread_mutex_lock(&self->lock);
    bool ends = self->is_ending;
    pthread_mutex_unlock(&self->lock);
    return ends;
}

/* Claim one job. False: there is none for this runner now. */
static bool claim_one(casparian_runner *self, slot *place)
{
    mcp_error err = MCP_ERROR_INIT;
    casparian_claim claim;
    bool found = false;
    mcp_status st = casparian_claim_take(&claim, &found, self->store, self->name, &err);
    if (st != MCP_OK)
        log_failure(self, "the queue", &err);
    if (st == MCP_OK && found)
        start_job(place, &claim);
    return st == MCP_OK && found;
}

static void claim_jobs(casparian_runner *self)
{
    for (slot *place = free_slot(self); place && !is_ending(self); place = free_slot(self))
        if (!claim_one(self, place))
            return;
}

/* After the machine has slept, the leases of this runner may have ended: it still holds them. */
static void renew_all(casparian_runner *self)
{
    for (int i = 0; i < self->slot_count; i++) {
        if (!self->slots[i].is_busy)
            continue;
        self->slots[i].beat_ms = mcp_clock_mono_ms() - BEAT_MS;
        look_at_claim(&self->slots[i]);
    }
}

static void recover_jobs(casparian_runner *self)
{
    mcp_error err = MCP_ERROR_INIT;
    casparian_claim claim;
    bool found = true;
    mcp_status st = MCP_OK;
    while (st == MCP_OK && found) {
        st = casparian_claim_take_expired(&claim, &found, self->store, self->name, &err);
        if (st == MCP_OK && found)
            st = casparian_driver_recover(self->options.driver, &claim, &err);
    }
    if (st != MCP_OK)
        log_failure(self, "a job whose runner disappeared", &err);
}

static void keep_house(casparian_runner *self, int64_t now_ms)
{
    mcp_error err = MCP_ERROR_INIT;
    if (now_ms - self->noted_ms >= NOTE_MS) {
        self->noted_ms = now_ms;
        if (casparian_runner_note(self->store, self->name, &err) != MCP_OK)
            log_failure(self, "its own row", &err);
    }
    if (now_ms - self->swept_ms >= SWEEP_MS) {
        self->swept_ms = now_ms;
        if (casparian_sweep(self->store, NULL, &err) != MCP_OK)
            log_failure(self, "the sweep", &err);
    }
}

/* Outside of the lock. */
static void look(casparian_runner *self)
{
    mcp_error err = MCP_ERROR_INIT;
    casparian_peek peek = { .can_claim = false };
    join_ended(self);
    for (int i = 0; i < self->slot_count; i++)
        if (self->slots[i].is_busy)
            look_at_claim(&self->slots[i]);
    mcp_status st = casparian_peek_read(&peek, self->store, &err);
    if (st != MCP_OK)
        log_failure(self, "the state", &err);
    if (peek.has_expired) {
        renew_all(self);
        recover_jobs(self);
    }
    if (peek.has_stalled && casparian_note_stalls(self->store, &err) != MCP_OK)
        log_failure(self, "stalled jobs", &err);
    if (peek.can_claim || (peek.has_expired && peek.has_queued))
        claim_jobs(self);
    keep_house(self, mcp_clock_mono_ms());
}

static bool is_busy(const casparian_runner *self)
{
    for (int i = 0; i < self->slot_count; i++)
        if (self->slots[i].is_busy)
            return true;
    return false;
}

static void watch(void *data)
{
    casparian_runner *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->watch.is_stopping) {
        self->has_news = false;
        pthread_mutex_unlock(&self->lock);
        look(self);
        pthread_mutex_lock(&self->lock);
        if (!self->has_news && !self->watch.is_stopping)
            thread_worker_wait(&self->watch, is_busy(self) ? BUSY_MS : IDLE_MS);
    }
    pthread_mutex_unlock(&self->lock);
}

/* On the thread of the listener: a commit, of this or another process. */
static void on_notify(const char *key, void *data)
{
    casparian_runner *self = data;
    (void)key;
    pthread_mutex_lock(&self->lock);
    self->has_news = true;
    thread_worker_wake(&self->watch);
    pthread_mutex_unlock(&self->lock);
}

/* ---- the runner ------------------------------------------------------------------------------ */

static void init(casparian_runner *self, const casparian_runner_options *options)
{
    int threads = options->threads > 0 ? options->threads
                                       : (int)casparian_max_concurrent(options->store);
    int64_t now_ms = mcp_clock_mono_ms();
    self->options = *options;
    self->store = options->store;
    self->slot_count = threads < SLOTS_MAX ? threads : SLOTS_MAX;
    self->noted_ms = now_ms - NOTE_MS;
    self->swept_ms = now_ms - SWEEP_MS;
    for (int i = 0; i < SLOTS_MAX; i++)
        self->slots[i].runner = self;
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->ended);
    thread_worker_init(&self->watch, &self->lock);
}

mcp_status casparian_runner_new(casparian_runner **out, const casparian_runner_options *options,
                                mcp_error *err)
{
    casparian_runner *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a runner");
    init(self, options);
    mcp_status st = casparian_runner_name(self->name, err);
    if (st == MCP_OK)
        st = db_listen(&self->listener, casparian_store_database(self->store), CASPARIAN_CHANNEL,
                       on_notify, self, err);
    if (st == MCP_OK)
        st = thread_worker_start(&self->watch, watch, self, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_runner_free(self);
    return st;
}

/* Wait until no job runs; at most `ms`. Under the lock. The watch joins the threads. */
static bool wait_for_jobs(casparian_runner *self, int64_t ms)
{
    int64_t until_ms = ms == THREAD_FOREVER ? THREAD_FOREVER : mcp_clock_mono_ms() + ms;
    while (is_busy(self))
        if (!thread_wait_until(&self->ended, &self->lock, until_ms))
            return !is_busy(self);
    return true;
}

static void end_jobs(casparian_runner *self)
{
    int64_t grace_ms = casparian_store_settings(self->store)->jobs.shutdown_grace_ms;
    pthread_mutex_lock(&self->lock);
    self->is_ending = true;
    bool has_ended = wait_for_jobs(self, self->options.finishes_jobs ? THREAD_FOREVER
                                         : grace_ms > 0              ? grace_ms
                                                                     : GRACE_MS);
    for (int i = 0; !has_ended && i < self->slot_count; i++)
        if (self->slots[i].is_busy)
            ask_to_stop(&self->slots[i], CASPARIAN_STOP_SHUTDOWN);
    if (!has_ended)
        wait_for_jobs(self, THREAD_FOREVER);
    pthread_mutex_unlock(&self->lock);
}

void casparian_runner_free(casparian_runner *self)
{
    if (!self)
        return;
    if (self->watch.is_running)
        end_jobs(self);
    db_listener_free(self->listener);
    thread_worker_stop(&self->watch);
    for (int i = 0; i < self->slot_count; i++) { /* claimed while the end began */
        if (!self->slots[i].is_busy)
            continue;
        ask_to_stop(&self->slots[i], CASPARIAN_STOP_SHUTDOWN);
        pthread_join(self->slots[i].thread, NULL);
    }
    casparian_runner_forget(self->store, self->name, NULL);
    pthread_cond_destroy(&self->ended);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

mcp_status casparian_runner_is_idle(casparian_runner *self, bool *out, mcp_error *err)
{
    casparian_peek peek;
    mcp_status st = casparian_peek_read(&peek, self->store, err);
    pthread_mutex_lock(&self->lock);
    bool runs = is_busy(self);
    pthread_mutex_unlock(&self->lock);
    if (st == MCP_OK)
        *out = !peek.has_queued && !peek.has_expired && !runs;
    return st;
}

mcp_status casparian_runner_is_alive(casparian_store *store, bool *out, mcp_error *err)
{
    db_session *session = NULL;
    int64_t now_ms = 0;
    int64_t seen = 0;
    mcp_status st = db_begin(&session, casparian_store_database(store), DB_READ, err);
    if (st == MCP_OK)
        st = db_now(session, &now_ms, err);
    /* After the clock was set back, a row of a dead one is of the future. */
    const db_value times[] = { db_int(now_ms - ALIVE_MS), db_int(now_ms + ALIVE_MS) };
    if (st == MCP_OK)
        st = casparian_query_int(&seen, 0, session,
                                 "SELECT 1 FROM cf_runners WHERE seen_at > $1 AND seen_at < $2 "
                                 "LIMIT 1",
                                 times, 2, err);
    st = casparian_store_end(session, st, err);
    if (st == MCP_OK)
        *out = seen == 1;
    return st;
}
