/*
 * pool.c - the threads that run handlers.
 *
 * The loop must never wait and a handler may wait for minutes, so handlers run here. A task goes in
 * by `submit` and comes back to the loop as a posted node whose `run` calls `done`. In between the
 * worker owns it.
 *
 * There are three lanes. Short tasks share `short_threads`. Long tasks have as many threads as may
 * run at once, so one training run cannot keep every query waiting. Large messages are read on a thread
 * of their own, so that handlers never keep a message waiting that may be about them. A lane starts a thread only
 * when work comes and no thread of it is idle: a server that is never asked for anything long never
 * has a long thread.
 *
 * A worker never holds the lane's lock while it runs a task or posts to the loop; so nothing can
 * deadlock. Workers block all signals: they are the loop's business.
 *
 * A handler that never returns cannot be ended from outside. mcp__pool_free then leaves the pool to
 * it, memory and all: the process is about to exit, and freeing what a thread still reads would be
 * worse.
 */
#include "net/pool.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "net/loop_int.h"

struct lane {
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t work_came;
    mcp__node *first;
    mcp__node *last;
    int queued;
    int waiting; /* threads that look for work, asleep or just woken */
    bool closing;
    pthread_t *threads; /* written by the loop alone */
    int started;
    int most;
};

struct mcp__pool {
    mcp__executor executor; /* first: an executor of ours is its pool */
    mcp__loop *loop;
    struct lane lanes[MCP__LANES]; /* by mcp__lane */
    int busy;             /* the loop's */
};

/* ---- on a worker ----------------------------------------------------------------------------- */

/* The next task, or NULL when the lane is closing and empty. */
static mcp__task *lane_wait(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    lane->waiting++;
    while (!lane->first && !lane->closing)
        pthread_cond_wait(&lane->work_came, &lane->lock);
    lane->waiting--;
    mcp__node *node = lane->first;
    if (node) {
        lane->queued--;
        lane->first = node->next;
        if (!lane->first)
            lane->last = NULL;
    }
    pthread_mutex_unlock(&lane->lock);
    return (mcp__task *)node; /* the node is the task's first member */
}

static void run_done(mcp__node *node)
{
    mcp__task *task = (mcp__task *)node;

    task->pool->busy--;
    task->pool->loop->away--;
    task->done(task);
}

typedef struct worker {
    mcp__pool *pool;
    struct lane *lane;
} worker;

static void *worker_main(void *data)
{
    worker self = *(worker *)data;
    mcp__task *task;

    free(data);
    while ((task = lane_wait(self.lane)) != NULL) {
        task->work(task);
        task->node.run = run_done;
        mcp__loop_post(self.pool->loop, &task->node);
    }
    return NULL;
}

/* ---- on the loop ----------------------------------------------------------------------------- */

static mcp_status start_thread(mcp__pool *pool, struct lane *lane, mcp_error *err)
{
    worker *self = mcp__alloc(sizeof(*self));
    sigset_t all;
    sigset_t earlier;

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a thread");
    *self = (worker){ .pool = pool, .lane = lane };
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &earlier);
    int code = pthread_create(&lane->threads[lane->started], NULL, worker_main, self);
    pthread_sigmask(SIG_SETMASK, &earlier, NULL);
    if (code != 0) {
        free(self);
        return mcp_error_set(err, MCP_E_BUSY, "the system gives no further thread");
    }
    lane->started++;
    return MCP_OK;
}

static void lane_push(struct lane *lane, mcp__node *node)
{
    node->next = NULL;
    pthread_mutex_lock(&lane->lock);
    if (lane->last)
        lane->last->next = node;
    else
        lane->first = node;
    lane->last = node;
    lane->queued++;
    bool wake = lane->waiting > 0;
    pthread_mutex_unlock(&lane->lock);
    if (wake)
        pthread_cond_signal(&lane->work_came);
}

/* Whether a thread will see to one more task at once: what is queued is spoken for. */
static bool lane_has_idle(struct lane *lane)
{
    pthread_mutex_lock(&lane->lock);
    bool has = lane->waiting > lane->queued;
    pthread_mutex_unlock(&lane->lock);
    return has;
}

static mcp_status pool_submit(mcp__executor *self, mcp__task *task, mcp__lane which, mcp_error *err)
{
    mcp__pool *pool = (mcp__pool *)self;
    struct lane *lane = &pool->lanes[which];

    if (lane->most == 0)
        return mcp_error_set(err, MCP_E_BUSY, "there are no threads for such work");
    if (lane->started < lane->most && !lane_has_idle(lane)) {
        mcp_error reason = MCP_ERROR_INIT;
        mcp_status st = start_thread(pool, lane, &reason);
        /* A short task can wait for a thread that there is; a long one has to have its own. */
        if (st != MCP_OK && (which == MCP__LANE_LONG || lane->started == 0))
            return mcp_error_set(err, st, "%s", reason.message);
    }
    task->pool = pool;
    pool->busy++;
    pool->loop->away++;
    lane_push(lane, &task->node);
    return MCP_OK;
}

static void pool_post(mcp__executor *self, mcp__node *node)
{
    mcp__loop_post(((mcp__pool *)self)->loop, node);
}

static mcp_status lane_init(struct lane *lane, int most, mcp_error *err)
{
    lane->threads = mcp__alloc_zeroed((size_t)(most > 0 ? most : 1), sizeof(*lane->threads));
    if (!lane->threads)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for %d threads", most);
    lane->most = most;
    pthread_mutex_init(&lane->lock, NULL);
    pthread_cond_init(&lane->work_came, NULL);
    return MCP_OK;
}

static void lane_clear(struct lane *lane)
{
    if (!lane->threads)
        return;
    pthread_cond_destroy(&lane->work_came);
    pthread_mutex_destroy(&lane->lock);
    free(lane->threads);
}

mcp_status mcp__pool_new(mcp__pool **out, mcp__loop *loop, int short_threads, int long_threads,
                         mcp_error *err)
{
    mcp__pool *pool = mcp__alloc_zeroed(1, sizeof(*pool));

    if (!pool)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for the worker pool");
    pool->executor = (mcp__executor){ .submit = pool_submit, .post = pool_post };
    pool->loop = loop;
    mcp_status st = lane_init(&pool->lanes[MCP__LANE_SHORT], short_threads, err);
    if (st == MCP_OK)
        st = lane_init(&pool->lanes[MCP__LANE_LONG], long_threads, err);
    if (st == MCP_OK)
        st = lane_init(&pool->lanes[MCP__LANE_READ], 1, err);
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
    return pool->busy;
}

static void lane_close(struct lane *lane)
{
    if (!lane->threads)
        return;
    pthread_mutex_lock(&lane->lock);
    lane->closing = true;
    pthread_mutex_unlock(&lane->lock);
    pthread_cond_broadcast(&lane->work_came);
}

static void lane_leave(struct lane *lane)
{
    for (int i = 0; i < lane->started; i++)
        pthread_detach(lane->threads[i]);
}

static void lane_end(struct lane *lane)
{
    for (int i = 0; i < lane->started; i++)
        pthread_join(lane->threads[i], NULL);
    lane_clear(lane);
}

bool mcp__pool_free(mcp__pool *pool)
{
    if (!pool)
        return true;
    bool can_end = pool->busy == 0;
    for (int i = 0; i < MCP__LANES; i++)
        lane_close(&pool->lanes[i]);
    for (int i = 0; i < MCP__LANES; i++) {
        if (can_end)
            lane_end(&pool->lanes[i]);
        else
            lane_leave(&pool->lanes[i]);
    }
    if (can_end)
        free(pool);
    return can_end;
}
