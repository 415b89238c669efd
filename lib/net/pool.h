/*
 * pool.h - running blocking work away from the loop, behind a port with two drivers: the pool of
 * threads, and in tests an executor that runs work at once or step by step.
 */
#ifndef NET_POOL_H
#define NET_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "mcp/error.h"
#include "net/loop.h"

typedef struct mcp__task mcp__task;

typedef enum mcp__lane {
    MCP__LANE_SHORT, /* shares its threads; waits for a free one */
    MCP__LANE_LONG,  /* a thread of its own, so that no query waits for a training run */
    MCP__LANE_READ   /* one thread, in the order of coming; never behind a handler */
} mcp__lane;

#define MCP__LANES 3

/**
 * One piece of work. It belongs to the executor from submit until `done` is called.
 *
 * Work that waits for something else need not keep its worker: it ends with mcp__work_leave, and is
 * resumed by mcp__work_resume when that has come; then `work` is called again, or the loop ends it.
 */
struct mcp__task {
    mcp__node node;
    bool (*work)(mcp__task *task); /* on a worker; may block; false: it was left */
    void (*done)(mcp__task *task); /* on the loop, after `work` */
    /* the executor's own */
    struct mcp__pool *pool;
    mcp__lane lane;
    bool is_given_up;      /* the loop's */
    atomic_bool has_begun; /* a worker has it */
    atomic_int hold;       /* enum mcp__hold */
};

/** With whom a task is whose work has begun. */
enum mcp__hold {
    MCP__HOLD_WORKER,
    MCP__HOLD_NOBODY, /* it was left, and waits to be resumed */
    MCP__HOLD_RESUMED /* before it was left: its worker continues */
};

/** For `work`, as its last act. @return true: return false, it is another's now; false: it was
 *  resumed already, go on */
bool mcp__work_leave(mcp__task *task);

/** Any thread, once for each time that the task is left, at the earliest while the work runs that
 *  will leave it. @return true: it was left, and is the caller's, for `again` or the loop; false:
 *  its worker continues */
bool mcp__work_resume(mcp__task *task);

/** What became of a task that the loop does not count on any more. */
typedef enum mcp__given_up {
    MCP__UNBEGUN,  /* it is no worker's yet: nothing has changed */
    MCP__REPLACED, /* its lane has one more thread until it ends */
    MCP__BORNE     /* as many were replaced already as may be: its lane has one thread less */
} mcp__given_up;

/** Where work runs, and how a worker hands something to the loop. */
typedef struct mcp__executor mcp__executor;
struct mcp__executor {
    /** Loop only. Takes `task` when MCP_OK is returned; MCP_E_BUSY: no thread can be
     *  had, or too many tasks wait. */
    mcp_status (*submit)(mcp__executor *self, mcp__task *task, mcp__lane lane, mcp_error *err);
    /** Any thread. `node->run` is called on the loop, in the order of posting. */
    void (*post)(mcp__executor *self, mcp__node *node);
    /** Loop only. `task`, which was submitted and is not done, does not end though it should have:
     *  see to it that its lane can go on. Once for each task. NULL: this executor does not. */
    mcp__given_up (*give_up)(mcp__executor *self, mcp__task *task);
    /** Any thread. Have `task`, which was left and resumed, worked on again. */
    void (*again)(mcp__executor *self, mcp__task *task);
    /** Loop only. `task`, which was begun on the loop and not submitted, is about to be left: from
     *  now on it is the executor's. */
    void (*adopt)(mcp__executor *self, mcp__task *task, mcp__lane lane);
    /** Loop only. `task`, which was left and resumed, has ended on the loop: `done` is called. */
    void (*end)(mcp__executor *self, mcp__task *task);
};

typedef struct mcp__pool mcp__pool;

/** What a pool has. */
typedef struct mcp__pool_size {
    int short_threads;
    int long_threads;
    int replacement_threads; /* of each lane of handlers, in place of tasks that were given up */
    int max_queued; /* tasks of the short lane beyond its threads; then submit answers MCP_E_BUSY */
} mcp__pool_size;

/**
 * A pool without threads yet: they are started when work comes.
 *
 * @param out  yours, end it with mcp__pool_free
 * @param loop where `done` runs; borrowed, must outlive the pool
 */
mcp_status mcp__pool_new(mcp__pool **out, mcp__loop *loop, const mcp__pool_size *size,
                         mcp_error *err);

/** The pool's face as an executor; lives as long as the pool. */
mcp__executor *mcp__pool_executor(mcp__pool *pool);

/** Loop only. How many tasks were submitted whose `done` has not run yet. */
int mcp__pool_busy(const mcp__pool *pool);

/** Loop only. How many tasks were given up and have not ended. */
int mcp__pool_given_up(const mcp__pool *pool);

/** Loop only. How many tasks were given up since the beginning. */
uint64_t mcp__pool_given_up_total(const mcp__pool *pool);

/**
 * End the pool. Idle threads are joined. When a task is still running (`mcp__pool_busy` is not 0)
 * the threads cannot be ended from outside: the pool is left to them, memory and all. The process
 * is about to exit, and freeing what a thread still reads would be worse.
 *
 * @return true when all is gone
 */
bool mcp__pool_free(mcp__pool *pool);

#endif
