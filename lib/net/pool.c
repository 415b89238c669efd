/*
 * pool.c - the threads that run handlers.
 *
 * The loop must never wait and a handler may wait for minutes, so handlers run here. A task goes in
 * by `submit` and comes back to the loop as a posted node whose `run` calls `done`; in between the
 * worker owns it. A lane starts a thread only when work comes and no thread of it is idle: a server
 * that is never asked for anything long never has a long thread.
 *
 * Waking a thread costs more than many a handler. So of a lane's threads no more than one is on its
 * way from sleep: it takes a task, and while there are more it wakes the next. Where tasks end
 * soon, few threads do them all; where one blocks, the next is awake before it does.
 *
 * A task that was left has no thread. It comes back from any thread, straight to one that is free;
 * else by way of the loop, which may start one.
 *
 * A task that is given up keeps its thread, whatever its lane's number; so that a few such tasks do
 * not stop the lane, it may have that many threads more, up to a bound. When the task ends after
 * all, a thread that is free leaves, and is joined when its seat is wanted again, or in the end.
 *
 * A worker never holds the lane's lock while it runs a task or posts to the loop; so nothing can
 * deadlock. Workers block all signals: they are the loop's business.
 */
#include "net/pool.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "net/loop_int.h"

/* Where a thread of a lane has its place. */
struct seat {
    pthread_t thread;
    mcp__pool *pool;
    struct lane *lane;
    bool is_taken; /* the loop's: the thread is to be joined */
    bool has_left; /* it has ended, or is about to */
};

struct lane {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work_came;
    mcp__node *first;
    mcp__node *last;
    int queued;
    int waiting;    /* threads that look for work, asleep or just woken */
    bool is_waking; /* one of them is being woken, or just was: it wakes the others */
    bool closing;
    struct seat *seats; /* most + spare; only `has_left` is not the loop's alone */
    int threads;        /* that have not left */
    int allowed; /* threads that may be: `most`, and one for each task given up, up to `spare` */
    /* the loop's */
    int most;
    int spare;
    int busy;       /* tasks that were submitted and whose `done` has not run */
    int max_queued; /* of them, beyond `most` */
    int given_up;   /* tasks that have not ended */
};

struct mcp__pool {
    mcp__executor executor; /* first: an executor of ours is its pool */
    mcp__loop *loop;
    struct lane lanes[MCP__LANES]; /* by mcp__lane */
    uint64_t given_up_total;       /* the loop's */
};

/* ---- on a worker ----------------------------------------------------------------------------- */

/* Let go of the lock, and wake a thread where one should be. No wake-up is lost: a thread that
 * waits was counted under the lock, so it either sleeps and the signal wakes it or another, or it
 * has woken and comes for the lock. A worker that comes clears `is_waking`, looks for work and
 * comes by here again. The signal is given under the lock: once it is free, a worker may perform
 * the task of another thread's mcp_call_resume, and the pool may end. */
static void lane_unlock(struct lane *lane)
{
    bool wakes = lane->first && lane->waiting > 0 && !lane->is_waking;

    lane->is_waking = lane->is_waking || wakes;
    if (wakes)
        pthread_cond_signal(&lane->work_came);
    pthread_mutex_unlock(&lane->lock);
}

/* The next task, once there is one, or NULL when the thread must end. */
static mcp__task *lane_wait(struct lane *lane, struct seat *seat)
{
    mcp__node *node = NULL;

    pthread_mutex_lock(&lane->lock);
    lane->waiting++;
    while (!lane->first && !lane->closing && lane->threads <= lane->allowed) {
        pthread_cond_wait(&lane->work_came, &lane->lock);
        lane->is_waking = false;
    }
    lane->waiting--;
    if (lane->threads > lane->allowed) { /* there should be fewer, and this one is free */
        lane->threads--;
        seat->has_left = true;
    } else if (lane->first) {
        node = lane->first;
        lane->first = node->next;
        lane->queued--;
    }
    lane_unlock(lane);
    return (mcp__task *)node; /* the node is the task's first member */
}

/* How many threads there may be after `change` tasks more were given up. Loop only. Returns whether
 * that is another number than before. */
static bool lane_allow(struct lane *lane, int change)
{
    int before = lane->given_up < lane->spare ? lane->given_up : lane->spare;

    lane->given_up += change;
    int now = lane->given_up < lane->spare ? lane->given_up : lane->spare;
    pthread_mutex_lock(&lane->lock);
    lane->allowed = lane->most + now;
    pthread_mutex_unlock(&lane->lock);
    if (now < before) /* one of those that wait leaves; else the next that has ended its task */
        pthread_cond_signal(&lane->work_came);
    return now != before;
}

static void let_go(const mcp__task *task)
{
    task->pool->lanes[task->lane].busy--;
    task->pool->loop->away--;
}

static void run_done(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node; /* the node is the task's first member */

    let_go(task);
    if (task->is_given_up)
        (void)lane_allow(&task->pool->lanes[task->lane], -1);
    task->done(task);
}

static void *worker_main(void *data)
{
    struct seat *seat = data;
    mcp__pool *pool = seat->pool;
    struct lane *lane = seat->lane;

    for (mcp__task *task = lane_wait(lane, seat); task; task = lane_wait(lane, seat)) {
        atomic_store_explicit(&task->has_begun, true, memory_order_relaxed);
        if (!task->work(task))
            continue; /* it was left */
        task->node.run = run_done;
        mcp__loop_post(pool->loop, &task->node);
    }
    return NULL;
}

bool mcp__work_leave(mcp__task *task)
{
    int held = MCP__HOLD_WORKER;

    atomic_store_explicit(&task->has_begun, false, memory_order_relaxed);
    if (atomic_compare_exchange_strong(&task->hold, &held, MCP__HOLD_NOBODY))
        return true;
    atomic_store(&task->hold, MCP__HOLD_WORKER);
    atomic_store_explicit(&task->has_begun, true, memory_order_relaxed);
    return false;
}

bool mcp__work_resume(mcp__task *task)
{
    int held = MCP__HOLD_WORKER;

    if (atomic_compare_exchange_strong(&task->hold, &held, MCP__HOLD_RESUMED))
        return false;
    assert(held == MCP__HOLD_NOBODY);
    atomic_store(&task->hold, MCP__HOLD_WORKER);
    return true;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

/* A free place; one is, where fewer threads are than may be. Who has left it is waited for: that
 * takes no longer than returning from a function. */
static struct seat *find_seat(struct lane *lane)
{
    struct seat *seat = lane->seats;
    bool has_left;

    for (;; seat++) {
        if (!seat->is_taken)
            return seat;
        pthread_mutex_lock(&lane->lock);
        has_left = seat->has_left;
        pthread_mutex_unlock(&lane->lock);
        if (has_left)
            break;
    }
    pthread_join(seat->thread, NULL);
    *seat = (struct seat){ .is_taken = false };
    return seat;
}

static void count_threads(struct lane *lane, int change)
{
    pthread_mutex_lock(&lane->lock);
    lane->threads += change;
    pthread_mutex_unlock(&lane->lock);
}

static mcp_status start_thread(mcp__pool *pool, struct lane *lane, mcp_error *err)
{
    struct seat *seat = find_seat(lane);
    sigset_t all;
    sigset_t earlier;

    seat->pool = pool;
    seat->lane = lane;
    count_threads(lane, 1);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &earlier);
    int code = pthread_create(&seat->thread, NULL, worker_main, seat);
    pthread_sigmask(SIG_SETMASK, &earlier, NULL);
    if (code != 0) {
        count_threads(lane, -1);
        return mcp_error_set(err, MCP_E_BUSY, "the system gives no further thread");
    }
    seat->is_taken = true;
    return MCP_OK;
}

/* Under the lock. */
static void append(struct lane *lane, mcp__node *node)
{
    node->next = NULL;
    if (lane->first)
        lane->last->next = node;
    else
        lane->first = node;
    lane->last = node;
    lane->queued++;
}

/* Any thread. Queue a task where a thread is free for it (what is queued is spoken for), or where
 * no more can be started. */
static bool lane_takes(struct lane *lane, mcp__task *task)
{
    pthread_mutex_lock(&lane->lock);
    bool takes = lane->waiting > lane->queued || lane->threads >= lane->allowed;
    if (takes)
        append(lane, &task->node);
    lane_unlock(lane);
    return takes;
}

/* Queue a task that the lane does not take, and start a thread for it. Where the system refuses
 * that, a short task can wait for a thread that there is; a long one has to have its own. */
static mcp_status lane_extend(mcp__pool *pool, mcp__task *task, bool is_resumed, mcp_error *err)
{
    struct lane *lane = &pool->lanes[task->lane];
    mcp_error reason = MCP_ERROR_INIT;
    mcp_status st = start_thread(pool, lane, &reason);

    pthread_mutex_lock(&lane->lock);
    bool can_wait = is_resumed || (task->lane != MCP__LANE_LONG && lane->threads > 0);
    if (st == MCP_OK || can_wait)
        append(lane, &task->node);
    lane_unlock(lane);
    return st == MCP_OK || can_wait ? MCP_OK : mcp_error_set(err, st, "%s", reason.message);
}

static void take_on(mcp__pool *pool, mcp__task *task, mcp__lane which)
{
    task->pool = pool;
    task->lane = which;
    task->is_given_up = false;
    atomic_store_explicit(&task->has_begun, false, memory_order_relaxed);
    pool->lanes[which].busy++;
    pool->loop->away++;
}

static mcp_status pool_submit(mcp__executor *self, mcp__task *task, mcp__lane which, mcp_error *err)
{
    mcp__pool *pool = (mcp__pool *)self;
    struct lane *lane = &pool->lanes[which];

    if (lane->most == 0)
        return mcp_error_set(err, MCP_E_BUSY, "there are no threads for such work");
    if (lane->busy - lane->most >= lane->max_queued)
        return mcp_error_set(err, MCP_E_BUSY, "%s", mcp_status_words(MCP_E_BUSY));
    take_on(pool, task, which);
    atomic_store_explicit(&task->hold, MCP__HOLD_WORKER, memory_order_relaxed);
    mcp_status st = lane_takes(lane, task) ? MCP_OK : lane_extend(pool, task, false, err);
    if (st != MCP_OK)
        let_go(task);
    return st;
}

/* It may have been resumed by now: `hold` is not touched. */
static void pool_adopt(mcp__executor *self, mcp__task *task, mcp__lane which)
{
    take_on((mcp__pool *)self, task, which);
}

static void pool_end(mcp__executor *self, mcp__task *task)
{
    (void)self;
    run_done(&task->node);
}

/* No thread was free. One that the system refuses now may be had later; there are others, which
 * come to the task. */
static void on_again(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node; /* the node is the task's first member */

    if (!lane_takes(&task->pool->lanes[task->lane], task))
        (void)lane_extend(task->pool, task, true, NULL);
}

static void pool_again(mcp__executor *self, mcp__task *task)
{
    mcp__pool *pool = (mcp__pool *)self;

    if (lane_takes(&pool->lanes[task->lane], task))
        return;
    task->node.run = on_again;
    mcp__loop_post(pool->loop, &task->node);
}

/* Whether what is queued lacks a thread that may be. Just after the number was lowered there may be
 * more threads than that: those that have taken another task meanwhile. */
static bool lane_lacks_thread(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    bool lacks = lane->queued > lane->waiting && lane->threads < lane->allowed;
    pthread_mutex_unlock(&lane->lock);
    return lacks;
}

static mcp__given_up pool_give_up(mcp__executor *self, mcp__task *task)
{
    mcp__pool *pool = (mcp__pool *)self;

    if (!atomic_load_explicit(&task->has_begun, memory_order_relaxed))
        return MCP__UNBEGUN;
    struct lane *lane = &pool->lanes[task->lane];
    task->is_given_up = true;
    pool->given_up_total++;
    if (!lane_allow(lane, 1))
        return MCP__BORNE;
    /* What comes later starts it; a thread that the system refuses now may be had then. */
    if (lane_lacks_thread(lane))
        (void)start_thread(pool, lane, NULL);
    return MCP__REPLACED;
}

static void pool_post(mcp__executor *self, mcp__node *node)
{
    mcp__loop_post(((mcp__pool *)self)->loop, node);
}

static mcp_status lane_init(struct lane *lane, int most, int spare, int max_queued, mcp_error *err)
{
    lane->seats = mcp_alloc_zeroed((size_t)most + (size_t)spare + 1, sizeof *lane->seats);
    if (!lane->seats)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %d threads", most);
    lane->most = most;
    lane->spare = spare;
    lane->allowed = most;
    lane->max_queued = max_queued;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->work_came, NULL);
    return MCP_OK;
}

mcp_status mcp__pool_new(mcp__pool **out, mcp__loop *loop, const mcp__pool_size *size,
                         mcp_error *err)
{
    mcp__pool *pool = mcp_alloc_zeroed(1, sizeof *pool);
    int spare = size->replacement_threads;

    if (!pool)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the worker pool");
    pool->executor = (mcp__executor){ .submit = pool_submit,
                                      .post = pool_post,
                                      .give_up = pool_give_up,
                                      .again = pool_again,
                                      .adopt = pool_adopt,
                                      .end = pool_end };
    pool->loop = loop;
    mcp_status st = lane_init(&pool->lanes[MCP__LANE_SHORT], size->short_threads, spare,
                              size->max_queued, err);
    if (st == MCP_OK)
        st = lane_init(&pool->lanes[MCP__LANE_LONG], size->long_threads, spare, INT_MAX, err);
    if (st == MCP_OK)
        st = lane_init(&pool->lanes[MCP__LANE_READ], 1, 0, INT_MAX, err);
    if (st != MCP_OK) {
        (void)mcp__pool_free(pool);
        return st;
    }
    *out = pool;
    return MCP_OK;
}

mcp__executor *mcp__pool_executor(mcp__pool *pool)
{
    return &pool->executor;
}

int mcp__pool_busy(const mcp__pool *pool)
{
    return pool->lanes[MCP__LANE_SHORT].busy + pool->lanes[MCP__LANE_LONG].busy +
           pool->lanes[MCP__LANE_READ].busy;
}

int mcp__pool_given_up(const mcp__pool *pool)
{
    return pool->lanes[MCP__LANE_SHORT].given_up + pool->lanes[MCP__LANE_LONG].given_up;
}

uint64_t mcp__pool_given_up_total(const mcp__pool *pool)
{
    return pool->given_up_total;
}

/* Join the threads, or leave them to themselves. */
static void lane_end(struct lane *lane, bool can_end)
{
    if (!lane->seats)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->closing = true;
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_broadcast(&lane->work_came);
    for (int i = 0; i < lane->most + lane->spare; i++) {
        if (!lane->seats[i].is_taken)
            continue;
        if (can_end)
            pthread_join(lane->seats[i].thread, NULL);
        else
            pthread_detach(lane->seats[i].thread);
    }
    if (!can_end)
        return;
    pthread_cond_destroy(&lane->work_came);
    pthread_mutex_destroy(&lane->lock);
    free(lane->seats);
}

bool mcp__pool_free(mcp__pool *pool)
{
    if (!pool)
        return true;
    bool can_end = mcp__pool_busy(pool) == 0;
    for (int i = 0; i < MCP__LANES; i++)
        lane_end(&pool->lanes[i], can_end);
    if (can_end)
        free(pool);
    return can_end;
}
