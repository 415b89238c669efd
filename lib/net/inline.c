/*
 * inline.c - the executor's second driver: one thread is both loop and worker.
 *
 * Held work lets a test look at a call while "a worker has it" without any thread.
 */
#include "net/inline.h"

static void run(mcp__task *task)
{
    task->work(task);
    task->done(task);
}

static mcp_status inline_submit(mcp__executor *executor, mcp__task *task, mcp__lane lane,
                                mcp_error *err)
{
    mcp__inline *self = (mcp__inline *)executor;

    (void)lane;
    if (self->is_full)
        return mcp_error_set(err, MCP_E_BUSY, "no thread is free");
    if (!self->is_held) {
        run(task);
        return MCP_OK;
    }
    task->node.next = NULL;
    if (self->last)
        self->last->next = &task->node;
    else
        self->first = &task->node;
    self->last = &task->node;
    self->held++;
    return MCP_OK;
}

static void inline_post(mcp__executor *executor, mcp__node *node)
{
    (void)executor;
    node->run(node);
}

void mcp__inline_init(mcp__inline *self)
{
    *self = (mcp__inline){ .executor = { .submit = inline_submit, .post = inline_post } };
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
