/*
 * queue.h - scenarios on their way to the disk: a bounded queue and the thread that writes them.
 *
 * One thread fills the next vacant slot and submits it; the queue's thread writes the slots in
 * their order. The first thread waits only while every slot is taken. After a failure nothing more
 * is written, and the failure comes out of the calls that follow.
 *
 *     queue_begin(queue, slots, count, write, data);
 *     for each scenario: queue_vacant(&slot, queue, err), fill it, queue_submit(queue);
 *     queue_end(queue);
 *
 * Where the system has no further thread, queue_submit writes the slot itself.
 */
#ifndef RESULTS_QUEUE_H
#define RESULTS_QUEUE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "mcp/error.h"
#include "thread/thread.h"

/* One scenario. Its sheets belong to the thread that fills it, then to the one that writes it. */
struct queue_slot {
    uint32_t scenario;
    struct sheet *const *sheets; /* by entity; NULL: the case has none of that entity */
};

/* Writes a slot, on the queue's thread. */
typedef mcp_status queue_write(const struct queue_slot *slot, void *data, mcp_error *err);

struct queue {
    pthread_mutex_t lock; /* guards what is below up to `failure` */
    pthread_cond_t vacated;
    thread_worker worker;
    size_t first, count; /* the slots that are submitted; the first is being written */
    uint32_t written, failed;
    mcp_error failure; /* the first */

    struct queue_slot *slots; /* from here on constant between begin and end */
    size_t slot_count;        /* 0: not begun, or ended */
    queue_write *write;
    void *data;
};

/* Begin, with every slot vacant. `slots` is borrowed until queue_end. */
void queue_begin(struct queue *self, struct queue_slot *slots, size_t count, queue_write *write,
                 void *data);

/* The next slot to fill; waits while there is none. A failure is why an earlier slot could not be
 * written. */
mcp_status queue_vacant(struct queue_slot **out, struct queue *self, mcp_error *err);

/* Let the slot from queue_vacant be written. */
void queue_submit(struct queue *self);

/* Wait until all that is submitted is written, or one slot could not be; end the thread. `written`,
 * `failed` and `failure` may be read then. Also for a queue that has not begun. */
void queue_end(struct queue *self);

#endif
