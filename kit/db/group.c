/*
 * group.c - the queues of a group, and its threads that write.
 *
 * Each thread has a lane: a queue of its own. A key always leads to the same lane, so functions
 * with equal keys follow each other and never meet in two transactions of this process. A thread
 * takes what its lane has (a batch), runs it in one transaction, commits, and answers. A savepoint
 * for each function would cost as much as a third of its work, so a batch begins without them. When
 * a function fails that may have changed something, the transaction is rolled back, and the batch
 * runs again with savepoints. If the transaction is lost for a reason that is not
 * one function's, they are run again, each alone: also those that had failed by themselves, because
 * they may have seen what others of the batch had written.
 *
 * A lane has two queues, because callers that wait go first: a batch takes them, and the more
 * submitted functions the longer their queue is. So a burst of callers is answered soon, and what
 * was submitted neither starves nor grows without end.
 *
 * No caller is answered and no thread woken under the lock, which the woken would wait for; a
 * thread is woken only when it sleeps.
 */
#include "db/group.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "db/db_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"

enum { THREADS_FEW = 2, THREADS_MANY = 4, THREADS_MAX = 64, BATCH = 500, BATCH_SHARED = 60 };
enum { BATCH_MIN = 2, BATCH_MAX = 1000 }; /* one for each queue */
enum { BATCH_MS = 20, QUEUE_MAX = 10000, RETRY_MS = 10000, PAUSE_MAX_MS = 50 };

/* Who waits in db_group_run. */
struct waiter {
    sem_t told;
    mcp_status status;
    mcp_error *err;
};

struct item {
    struct item *next;
    db_group_fn *fn;
    void *data;
    db_group_done *done;   /* NULL: `waiter` */
    struct waiter *waiter; /* on the stack of the caller, as the item itself */
    uint64_t order;        /* of its key; those without one are the last */
    uint64_t number;       /* in order of submission */
    int64_t retry_until_ms;
    bool is_answered;
    mcp_status status;
    mcp_error err;
};

struct queue {
    struct item *first;
    struct item **end;
    size_t count;
};

struct lane {
    db_group *group;
    thread_worker worker;
    /* under the group's lock */
    struct queue waited; /* of db_group_run */
    struct queue submitted;
    bool sleeps; /* and nobody is waking it */
};

struct db_group {
    db *db;
    db_group_options options; /* without zeros */
    atomic_bool is_closing;
    pthread_mutex_t lock;
    db_group_counts counts;
    size_t lane_count;
    struct lane lanes[];
};

/* The functions of a transaction, the first `ran` of which have run. */
struct batch {
    size_t count, ran;
    size_t submitted; /* of those that have run */
    struct item *items[BATCH_MAX];
};

static int or_default(int value, int otherwise, int max)
{
    if (value <= 0)
        return otherwise;
    return value < max ? value : max;
}

/* With more threads than processors there are more transactions, and fewer functions in each. */
static int threads_of_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    if (count < THREADS_FEW)
        return THREADS_FEW;
    return count < THREADS_MANY ? (int)count : THREADS_MANY;
}

static db_group_options filled(const db_group_options *options, const db *self)
{
    db_group_options all = options ? *options : (db_group_options){ 0 };
    bool is_shared = db_is_shared(self);
    int spare = self->count > 1 ? (int)self->count - 1 : 1;

    all.threads = is_shared ? or_default(all.threads, threads_of_processors(), THREADS_MAX) : 1;
    if (all.threads > spare)
        all.threads = spare;
    all.batch_max = or_default(all.batch_max, is_shared ? BATCH_SHARED : BATCH, BATCH_MAX);
    if (all.batch_max < BATCH_MIN)
        all.batch_max = BATCH_MIN;
    all.batch_ms = or_default(all.batch_ms, BATCH_MS, INT32_MAX);
    all.queue_max = or_default(all.queue_max, QUEUE_MAX, INT32_MAX);
    all.retry_ms = or_default(all.retry_ms, RETRY_MS, INT32_MAX);
    return all;
}

/* ---- the queues ------------------------------------------------------------------------------ */

static uint64_t order_of(const char *key)
{
    return key ? mcp_fnv1a(key) : UINT64_MAX;
}

static struct queue *queue_of(struct lane *lane, const struct item *item)
{
    return item->done ? &lane->submitted : &lane->waited;
}

static void append(struct queue *queue, struct item *item)
{
    *queue->end = item;
    queue->end = &item->next;
    queue->count++;
}

static void prepend(struct queue *queue, struct item *item)
{
    item->next = queue->first;
    if (!queue->first)
        queue->end = &item->next;
    queue->first = item;
    queue->count++;
}

static struct item *shift(struct queue *queue)
{
    struct item *item = queue->first;

    queue->first = item->next;
    if (!queue->first)
        queue->end = &queue->first;
    queue->count--;
    return item;
}

static mcp_status push(db_group *group, struct item *item, const char *key, mcp_error *err)
{
    mcp_status st = MCP_OK;
    bool wakes = false;

    item->order = order_of(key);
    item->retry_until_ms = mcp_clock_mono_ms() + group->options.retry_ms;
    pthread_mutex_lock(&group->lock);
    struct lane
        *lane = &group->lanes[(key ? item->order : group->counts.accepted) % group->lane_count];
    if (atomic_load(&group->is_closing))
        st = mcp_error_set(err, MCP_E_STOPPED, "the program is going down");
    else if (group->counts.waiting >= (size_t)group->options.queue_max)
        st = mcp_error_set(err, MCP_E_LIMIT, "%d changes wait for the database already",
                           group->options.queue_max);
    if (st == MCP_OK) {
        item->number = group->counts.accepted++;
        append(queue_of(lane, item), item);
        group->counts.waiting++;
        wakes = lane->sleeps;
        lane->sleeps = false;
    }
    pthread_mutex_unlock(&group->lock);
    if (wakes)
        pthread_cond_signal(&lane->worker.woken);
    return st;
}

mcp_status db_group_run(db_group *group, const char *key, db_group_fn *fn, void *data,
                        mcp_error *err)
{
    struct waiter waiter = { .err = err };
    struct item item = { .fn = fn, .data = data, .waiter = &waiter };

    sem_init(&waiter.told, 0, 0); /* cannot fail */
    mcp_status st = push(group, &item, key, err);
    if (st == MCP_OK) {
        while (sem_wait(&waiter.told) != 0 && errno == EINTR)
            ;
        st = waiter.status;
    }
    sem_destroy(&waiter.told);
    return st;
}

mcp_status db_group_submit(db_group *group, const char *key, db_group_fn *fn, void *data,
                           db_group_done *done, mcp_error *err)
{
    struct item *item = mcp_alloc_zeroed(1, sizeof *item);

    if (!item)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a change");
    item->fn = fn;
    item->data = data;
    item->done = done;
    mcp_status st = push(group, item, key, err);
    if (st != MCP_OK)
        free(item);
    return st;
}

/* How many submitted functions go with callers into a transaction. The fuller the queue is, the
 * more: callers who submit do not fill it. */
static size_t share_of(const db_group *group, size_t callers, size_t submitted)
{
    size_t queue_max = (size_t)group->options.queue_max;
    size_t most = (size_t)group->options.batch_max / 2;
    size_t room = submitted < queue_max ? queue_max - submitted : 1;
    size_t share = 1 + callers * submitted / room;

    return share < most ? share : most;
}

/* Fill a batch from both queues, evenly mixed: the time may be over before its end. */
static void fill(struct lane *lane, struct batch *batch)
{
    size_t room = (size_t)lane->group->options.batch_max;
    size_t share = lane->waited.first
                       ? share_of(lane->group, lane->waited.count, lane->submitted.count)
                       : room;
    if (share > lane->submitted.count)
        share = lane->submitted.count;
    size_t callers = lane->waited.count < room - share ? lane->waited.count : room - share;
    size_t waited = 0, submitted = 0;

    while (waited < callers || submitted < share) {
        bool is_turn = submitted * callers <= waited * share;
        struct item **at = &batch->items[waited + submitted];
        if (submitted < share && (is_turn || waited == callers)) {
            *at = shift(&lane->submitted);
            submitted++;
        } else {
            *at = shift(&lane->waited);
            waited++;
        }
    }
    batch->count = waited + submitted;
    lane->group->counts.waiting -= batch->count;
}

/* Wait for functions and take them. @return false: the group ends and nothing is left */
static bool take(struct lane *lane, struct batch *batch)
{
    db_group *group = lane->group;

    pthread_mutex_lock(&group->lock);
    while (!lane->waited.first && !lane->submitted.first && !lane->worker.is_stopping) {
        lane->sleeps = true;
        thread_worker_wait(&lane->worker, THREAD_FOREVER);
    }
    lane->sleeps = false;
    fill(lane, batch);
    pthread_mutex_unlock(&group->lock);
    return batch->count > 0;
}

/* Put those that have not run back to where they were. Under the lock. */
static void put_back(struct lane *lane, struct batch *batch)
{
    lane->group->counts.waiting += batch->count - batch->ran;
    while (batch->count > batch->ran) {
        struct item *item = batch->items[--batch->count];
        prepend(queue_of(lane, item), item);
    }
}

/* Callers that have come meanwhile do not wait for more submitted functions than if they had been
 * there: they are next. Where a batch has an order, that is in the next batch. */
static void let_in(struct lane *lane, struct batch *batch)
{
    db_group *group = lane->group;
    size_t room = (size_t)group->options.batch_max;
    size_t rest = batch->count - batch->ran;

    if (rest == 0 || !batch->items[batch->ran]->done)
        return;
    pthread_mutex_lock(&group->lock);
    if (lane->waited.first &&
        batch->submitted >= share_of(group, lane->waited.count, lane->submitted.count + rest)) {
        put_back(lane, batch);
        room = db_is_shared(group->db) ? 0 : room;
        for (; lane->waited.first && batch->count < room; group->counts.waiting--)
            batch->items[batch->count++] = shift(&lane->waited);
    }
    pthread_mutex_unlock(&group->lock);
}

static int by_order(const void *a, const void *b)
{
    const struct item *left = *(struct item *const *)a;
    const struct item *right = *(struct item *const *)b;

    if (left->order != right->order)
        return left->order < right->order ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void settle(struct item *item, mcp_status status, const mcp_error *err)
{
    item->is_answered = true;
    item->status = status;
    item->err = *err;
}

static void tell(struct item *item)
{
    struct waiter *waiter = item->waiter;

    item->err.status = item->status;
    if (item->done) {
        item->done(item->data, item->status, &item->err);
        free(item);
        return;
    }
    waiter->status = item->status;
    if (waiter->err && item->status != MCP_OK)
        *waiter->err = item->err;
    sem_post(&waiter->told); /* the item is gone now */
}

/* Tell those that have an answer; the others come first in the list then. @return how many */
static size_t tell_answered(struct item **items, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        if (items[i]->is_answered)
            tell(items[i]);
        else
            items[left++] = items[i];
    }
    return left;
}

static void settle_all(struct item **items, size_t count, mcp_status status, const mcp_error *err)
{
    for (size_t i = 0; i < count; i++)
        settle(items[i], status, err);
}

static void raise_count(db_group *group, uint64_t *counter, size_t more)
{
    pthread_mutex_lock(&group->lock);
    *counter += more;
    pthread_mutex_unlock(&group->lock);
}

/* ---- transactions ---------------------------------------------------------------------------- */

/* Whether nothing was done, and the same may succeed later: before a commit a connection can be
 * lost without doubt about that. */
static bool is_passing(const db_session *session, mcp_status st)
{
    bool is_lost = session && db_is_shared(session->db) && session->link->is_lost;

    return st == MCP_E_BUSY || (st == MCP_E_IO && is_lost);
}

/* A little longer each time, and not as long as others who had to give way to each other. */
static void pause_before(int tries)
{
    int64_t most_ms = tries < 6 ? 1 << tries : PAUSE_MAX_MS;
    int64_t pause_us = most_ms * 500 + mcp_clock_mono_ns() / 1000 % (most_ms * 500);
    const struct timespec pause = { .tv_nsec = pause_us * 1000 };

    nanosleep(&pause, NULL);
}

static bool may_retry(db_group *group, const struct item *item)
{
    return !atomic_load(&group->is_closing) && mcp_clock_mono_ms() < item->retry_until_ms;
}

/* Begin, and again while the database is busy or away. @param last who may wait longest */
static mcp_status begin(db_session **out, db_group *group, const struct item *last, mcp_error *err)
{
    mcp_status st = db_begin(out, group->db, DB_WRITE, err);

    for (int tries = 0; st == MCP_E_BUSY && may_retry(group, last); tries++) {
        pause_before(tries);
        st = db_begin(out, group->db, DB_WRITE, err);
    }
    return st;
}

/* What all functions of a transaction, or of a savepoint, have left to be done. */
static mcp_status finish(db_group *group, db_session *session, mcp_error *err)
{
    const db_group_options *options = &group->options;

    return options->finish ? options->finish(session, options->finish_data, err) : MCP_OK;
}

/* Run one function in a transaction of its own. @return false: the database is not to be reached */
static bool run_alone(db_group *group, struct item *item)
{
    db_session *session = NULL;

    for (int tries = 0;; tries++) {
        item->err = (mcp_error)MCP_ERROR_INIT;
        mcp_status st = begin(&session, group, item, &item->err);
        if (st != MCP_OK) {
            settle(item, st, &item->err);
            return false;
        }
        st = item->fn(session, item->data, &item->err);
        if (st == MCP_OK)
            st = finish(group, session, &item->err);
        bool is_done = st == MCP_OK;
        bool may_pass = !is_done && is_passing(session, st);
        if (is_done)
            st = db_commit(session, &item->err);
        else
            db_rollback(session);
        if (is_done && st == MCP_OK)
            raise_count(group, &group->counts.commits, 1);
        may_pass = may_pass || st == MCP_E_BUSY;
        if (!may_pass || !may_retry(group, item)) {
            settle(item, st, &item->err);
            return true;
        }
        raise_count(group, &group->counts.repeated, 1);
        pause_before(tries);
    }
}

static void run_each(db_group *group, struct item **items, size_t count)
{
    bool is_there = true;

    for (size_t i = 0; i < count && is_there; i++) {
        is_there = run_alone(group, items[i]);
        if (!is_there)
            settle_all(items + i + 1, count - i - 1, items[i]->status, &items[i]->err);
    }
}

/* Run one function of several, without a savepoint. @return false: it has failed and may have
 * changed something, or the session has failed, also by a deferred statement of one before */
static bool run_bare(db_group *group, db_session *session, struct item *item)
{
    uint64_t writes = session->writes;

    (void)group;
    item->err = (mcp_error)MCP_ERROR_INIT;
    item->status = item->fn(session, item->data, &item->err);
    if (session->failure.status != MCP_OK)
        return false;
    return item->status == MCP_OK ||
           (session->writes == writes && !is_passing(session, item->status));
}

/*
 * The same in a savepoint. @return false: the transaction is spoiled. Then the function has an
 * answer if the cause was its own.
 */
static bool run_saved(db_group *group, db_session *session, struct item *item)
{
    db_savepoint point;

    item->err = (mcp_error)MCP_ERROR_INIT;
    mcp_status st = db_savepoint_begin(&point, session, &item->err);
    if (st != MCP_OK)
        return false;
    st = item->fn(session, item->data, &item->err);
    if (st == MCP_OK)
        st = finish(group, session, &item->err);
    if (st == MCP_OK)
        st = db_savepoint_release(session, &point, &item->err);
    item->status = st;
    if (st == MCP_OK)
        return true;
    bool may_pass = is_passing(session, st);
    if (!may_pass && db_savepoint_rollback(session, &point, NULL) == MCP_OK)
        return true;
    item->is_answered = !may_pass;
    return false;
}

/* Whether the failure of a commit can be one function's: of a lock, of a condition that is checked
 * late, or of a deferred statement. Then nothing was committed. */
static bool may_be_one(mcp_status st)
{
    return st == MCP_E_BUSY || st == MCP_E_EXISTS || st == MCP_E_SCHEMA || st == MCP_E_DENIED ||
           st == MCP_E_PARAMS || st == MCP_E_LIMIT || st == MCP_E_INTERNAL;
}

/* Commit. @return false: the functions are to run again, and nothing was done */
static bool commit_all(db_group *group, db_session *session, mcp_status *st, mcp_error *err)
{
    *st = finish(group, session, err);
    if (*st != MCP_OK) {
        bool may_pass = is_passing(session, *st);
        db_rollback(session);
        return !may_pass && !may_be_one(*st);
    }
    *st = db_commit(session, err);
    return !may_be_one(*st);
}

/* Commit, and answer where that is possible: else the functions run again. */
static void commit(db_group *group, db_session *session, struct item **items, size_t count)
{
    mcp_error err = MCP_ERROR_INIT;
    mcp_status st = MCP_OK;
    bool is_final = commit_all(group, session, &st, &err);

    if (st == MCP_OK)
        raise_count(group, &group->counts.commits, 1);
    for (size_t i = 0; i < count && is_final; i++) {
        if (st == MCP_OK)
            items[i]->is_answered = true;
        else
            settle(items[i], st, &err);
    }
}

/* Run one function of a batch. @return false: the transaction is spoiled */
typedef bool run_one(db_group *group, db_session *session, struct item *item);

/* Run the functions in one transaction, as long as there is time. Those that have run and have no
 * answer must run again. @return false: the transaction was spoiled */
static bool run_batch(struct lane *lane, struct batch *batch, run_one *run)
{
    db_group *group = lane->group;
    mcp_error err = MCP_ERROR_INIT;
    db_session *session = NULL;
    mcp_status st = begin(&session, group, batch->items[batch->count - 1], &err);
    int64_t until_ms = mcp_clock_mono_ms() + group->options.batch_ms;
    bool is_whole = true;

    batch->ran = batch->submitted = 0;
    if (st != MCP_OK) {
        batch->ran = batch->count;
        settle_all(batch->items, batch->count, st, &err);
        return true;
    }
    do {
        struct item *item = batch->items[batch->ran++];
        batch->submitted += item->done != NULL;
        is_whole = run(group, session, item);
        if (is_whole)
            let_in(lane, batch);
    } while (is_whole && batch->ran < batch->count && mcp_clock_mono_ms() < until_ms);
    if (is_whole)
        commit(group, session, batch->items, batch->ran);
    else
        db_rollback(session);
    return is_whole;
}

/* Run the functions together, and once more with savepoints if one of them has to be undone. After
 * a lock or a connection that was lost each runs alone. */
static void run_together(struct lane *lane, struct batch *batch)
{
    if (run_batch(lane, batch, run_bare))
        return;
    mcp_status st = batch->items[batch->ran - 1]->status;
    if (st == MCP_E_BUSY || st == MCP_E_IO)
        return;
    raise_count(lane->group, &lane->group->counts.repeated, batch->ran);
    (void)run_batch(lane, batch, run_saved);
}

/* Run a batch and tell its callers. */
static void work_off(struct lane *lane, struct batch *batch)
{
    db_group *group = lane->group;
    size_t left = 1;

    if (batch->count > 1) {
        run_together(lane, batch);
        pthread_mutex_lock(&group->lock);
        put_back(lane, batch);
        pthread_mutex_unlock(&group->lock);
        left = tell_answered(batch->items, batch->count);
        raise_count(group, &group->counts.repeated, left);
    }
    run_each(group, batch->items, left);
    tell_answered(batch->items, left);
}

static void work(void *data)
{
    struct lane *lane = data;
    struct batch batch;

    while (take(lane, &batch)) {
        if (db_is_shared(lane->group->db))
            qsort(batch.items, batch.count, sizeof batch.items[0], by_order);
        work_off(lane, &batch);
    }
}

/* ---- start and end --------------------------------------------------------------------------- */

static db_group *new_group(db *self, const db_group_options *options)
{
    db_group *group = mcp_alloc_zeroed(1, sizeof *group +
                                              (size_t)options->threads * sizeof group->lanes[0]);

    if (!group)
        return NULL;
    group->db = self;
    group->options = *options;
    group->lane_count = (size_t)options->threads;
    pthread_mutex_init(&group->lock, NULL);
    for (size_t i = 0; i < group->lane_count; i++) {
        group->lanes[i].group = group;
        group->lanes[i].waited.end = &group->lanes[i].waited.first;
        group->lanes[i].submitted.end = &group->lanes[i].submitted.first;
        thread_worker_init(&group->lanes[i].worker, &group->lock);
    }
    return group;
}

mcp_status db_group_new(db_group **out, db *self, const db_group_options *options, mcp_error *err)
{
    const db_group_options all = filled(options, self);
    mcp_status st = MCP_OK;

    if (self->target.options.read_only)
        return mcp_error_set(err, MCP_E_DENIED, "the database was opened for reading only");
    db_group *group = new_group(self, &all);
    if (!group)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a group");
    for (size_t i = 0; st == MCP_OK && i < group->lane_count; i++)
        st = thread_worker_start(&group->lanes[i].worker, work, &group->lanes[i], err);
    if (st == MCP_OK)
        *out = group;
    else
        db_group_free(group);
    return st;
}

void db_group_free(db_group *group)
{
    if (!group)
        return;
    pthread_mutex_lock(&group->lock);
    atomic_store(&group->is_closing, true);
    pthread_mutex_unlock(&group->lock);
    for (size_t i = 0; i < group->lane_count; i++)
        thread_worker_stop(&group->lanes[i].worker);
    pthread_mutex_destroy(&group->lock);
    free(group);
}

void db_group_count(db_group *group, db_group_counts *out)
{
    pthread_mutex_lock(&group->lock);
    *out = group->counts;
    pthread_mutex_unlock(&group->lock);
}
