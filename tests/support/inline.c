/*
 * inline.c - the executor's second driver: one thread is both loop and worker.
 *
 * Held work lets a test examine a call while "a worker has it", without any thread. Nodes that
 * other threads post wait until that thread takes them.
 */
#include "inline.h"

#include <errno.h>
#include <time.h>

static void run(mcp__task *task)
{
    if (task->work(task))
        task->done(task);
}

static void keep(mcp__inline *self, mcp__task *task)
{
    task->node.next = NULL;
    if (self->last)
        self->last->next = &task->node;
    else
        self->first = &task->node;
    self->last = &task->node;
    self->held++;
}

static mcp_status inline_submit(mcp__executor *executor, mcp__task *task, mcp__lane lane,
                                mcp_error *err)
{
    mcp__inline *self = (mcp__inline *)executor;

    (void)lane;
    if (self->is_full)
        return mcp_error_set(err, MCP_E_BUSY, "no thread is free");
    atomic_store_explicit(&task->hold, MCP__HOLD_WORKER, memory_order_relaxed);
    if (self->is_held)
        keep(self, task);
    else
        run(task);
    return MCP_OK;
}

static void inline_adopt(mcp__executor *executor, mcp__task *task, mcp__lane lane)
{
    (void)executor, (void)task, (void)lane;
}

static void inline_post(mcp__executor *executor, mcp__node *node)
{
    mcp__inline *self = (mcp__inline *)executor;

    if (pthread_equal(self->owner, pthread_self())) {
        node->run(node);
        return;
    }
    (void)mcp__queue_push(&self->handed_in, node);
    sem_post(&self->came);
}

static void on_again(mcp__node *node)
{
    run((mcp__task *)node); /* the node is the task's first member */
}

static void inline_again(mcp__executor *executor, mcp__task *task)
{
    mcp__inline *self = (mcp__inline *)executor;

    task->node.run = on_again;
    if (self->is_held && pthread_equal(self->owner, pthread_self()))
        keep(self, task);
    else
        inline_post(executor, &task->node);
}

static void inline_end(mcp__executor *executor, mcp__task *task)
{
    (void)executor;
    task->done(task);
}

void mcp__inline_init(mcp__inline *self)
{
    *self = (mcp__inline){ .owner = pthread_self() };
    self->executor = (mcp__executor){ .submit = inline_submit,
                                      .post = inline_post,
                                      .again = inline_again,
                                      .adopt = inline_adopt,
                                      .end = inline_end };
    sem_init(&self->came, 0, 0); /* cannot fail; there is nothing to give back */
}

static void run_handed_in(mcp__inline *self)
{
    mcp__node *node = mcp__queue_take(&self->handed_in);

    while (node) {
        mcp__node *next = node->next;
        node->run(node);
        node = next;
    }
}

bool mcp__inline_await(mcp__inline *self, int ms)
{
    struct timespec until;
    bool has_come;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += ms / 1000 + (until.tv_nsec + ms % 1000 * 1000000L) / 1000000000L;
    until.tv_nsec = (until.tv_nsec + ms % 1000 * 1000000L) % 1000000000L;
    do {
        has_come = sem_timedwait(&self->came, &until) == 0;
    } while (!has_come && errno == EINTR);
    run_handed_in(self); /* perhaps more than one node */
    return has_come;
}

bool mcp__inline_step(mcp__inline *self)
{
    mcp__node *node = self->first;

    if (!node)
        return false;
    self->first = node->next;
    if (!self->first)
        self->last = NULL;
    self->held--;
    run((mcp__task *)node); /* the node is the task's first member */
    return true;
}
