/*
 * queue.c - a ring of slots between two threads.
 *
 * The slots [first, first + count) are submitted and belong to the writing thread, the others to
 * the filling one; only moving `first` and `count` needs the lock.
 */
#include "results/queue.h"

/* Write the first slot, with the lock held, which is let go in between. */
static void write_first(struct queue *self)
{
    const struct queue_slot *slot = &self->slots[self->first];
    mcp_error err = MCP_ERROR_INIT;

    if (self->failure.status == MCP_OK) {
        pthread_mutex_unlock(&self->lock);
        mcp_status st = self->write(slot, self->data, &err);
        pthread_mutex_lock(&self->lock);
        self->written += st == MCP_OK;
        self->failed += st != MCP_OK;
        self->failure = err;
    }
    self->first = (self->first + 1) % self->slot_count;
    self->count--;
    pthread_cond_signal(&self->vacated);
}

/* The worker: it ends when it is stopped and nothing is left. */
static void run(void *data)
{
    struct queue *self = data;

    pthread_mutex_lock(&self->lock);
    while (self->count > 0 || !self->worker.is_stopping) {
        if (self->count > 0)
            write_first(self);
        else
            thread_worker_wait(&self->worker, THREAD_FOREVER);
    }
    pthread_mutex_unlock(&self->lock);
}

void queue_begin(struct queue *self, struct queue_slot *slots, size_t count, queue_write *write,
                 void *data)
{
    *self = (struct queue){ .failure = MCP_ERROR_INIT };
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->vacated);
    self->slots = slots;
    self->slot_count = count;
    self->write = write;
    self->data = data;
    thread_worker_init(&self->worker, &self->lock);
    thread_worker_start(&self->worker, run, self, NULL);
}

mcp_status queue_vacant(struct queue_slot **out, struct queue *self, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    while (self->count == self->slot_count && self->failure.status == MCP_OK)
        thread_wait(&self->vacated, &self->lock, THREAD_FOREVER);
    mcp_status st = self->failure.status;
    if (st == MCP_OK)
        *out = &self->slots[(self->first + self->count) % self->slot_count];
    else if (err)
        *err = self->failure;
    pthread_mutex_unlock(&self->lock);
    return st;
}

void queue_submit(struct queue *self)
{
    pthread_mutex_lock(&self->lock);
    self->count++;
    if (self->worker.is_running)
        thread_worker_wake(&self->worker);
    else
        write_first(self);
    pthread_mutex_unlock(&self->lock);
}

void queue_end(struct queue *self)
{
    if (self->slot_count == 0)
        return;
    thread_worker_stop(&self->worker);
    pthread_cond_destroy(&self->vacated);
    pthread_mutex_destroy(&self->lock);
    self->slot_count = 0;
}
