/*
 * warm.c - guests that stay for the next preview.
 *
 * A thread ends those whose time is over. A guest is ended outside of the lock, since that may take
 * as long as its process takes to end.
 */
#include "jobs/drive/warm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mcp/clock.h"
#include "schema/definition.h"
#include "thread/thread.h"

typedef struct place {
    casparian_guest *guest; /* NULL: free */
    char key[CASPARIAN_HASH_SIZE];
    int64_t until_ms;
} place;

struct casparian_warm {
    pthread_mutex_t lock;
    thread_worker worker;
    place places[CASPARIAN_WARM_MAX];
};

/* The place whose time is over first; NULL: all are free. Under the lock. */
static place *first_due(casparian_warm *self)
{
    place *first = NULL;
    for (int i = 0; i < CASPARIAN_WARM_MAX; i++) {
        place *each = &self->places[i];
        if (each->guest && (!first || each->until_ms < first->until_ms))
            first = each;
    }
    return first;
}

/* Empty a place. Under the lock. */
static casparian_guest *empty(place *from)
{
    casparian_guest *guest = from->guest;
    from->guest = NULL;
    return guest;
}

static void end_guests(void *data)
{
    casparian_warm *self = data;
    pthread_mutex_lock(&self->lock);
    while (!self->worker.is_stopping) {
        place *due = first_due(self);
        int64_t left_ms = due ? due->until_ms - mcp_clock_mono_ms() : THREAD_FOREVER;
        if (left_ms > 0) {
            thread_worker_wait(&self->worker, left_ms);
            continue;
        }
        casparian_guest *guest = empty(due);
        pthread_mutex_unlock(&self->lock);
        casparian_guest_free(guest);
        pthread_mutex_lock(&self->lock);
    }
    pthread_mutex_unlock(&self->lock);
}

mcp_status casparian_warm_new(casparian_warm **out, mcp_error *err)
{
    casparian_warm *self = calloc(1, sizeof *self);
    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for warm guests");
    pthread_mutex_init(&self->lock, NULL);
    thread_worker_init(&self->worker, &self->lock);
    mcp_status st = thread_worker_start(&self->worker, end_guests, self, err);
    if (st == MCP_OK)
        *out = self;
    else
        casparian_warm_free(self);
    return st;
}

void casparian_warm_free(casparian_warm *self)
{
    if (!self)
        return;
    thread_worker_stop(&self->worker);
    for (int i = 0; i < CASPARIAN_WARM_MAX; i++)
        casparian_guest_free(self->places[i].guest);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

casparian_guest *casparian_warm_take(casparian_warm *self, const char *key)
{
    casparian_guest *guest = NULL;
    pthread_mutex_lock(&self->lock);
    for (int i = 0; i < CASPARIAN_WARM_MAX && !guest; i++)
        if (self->places[i].guest && strcmp(self->places[i].key, key) == 0)
            guest = empty(&self->places[i]);
    pthread_mutex_unlock(&self->lock);
    return guest;
}

void casparian_warm_put(casparian_warm *self, const char *key, casparian_guest *guest)
{
    casparian_guest *ended = NULL;
    if (!guest)
        return;
    pthread_mutex_lock(&self->lock);
    place *to = NULL;
    for (int i = 0; i < CASPARIAN_WARM_MAX && !to; i++)
        if (!self->places[i].guest)
            to = &self->places[i];
    if (!to) {
        to = first_due(self);
        ended = empty(to);
    }
    to->guest = guest;
    to->until_ms = mcp_clock_mono_ms() + CASPARIAN_WARM_MS;
    snprintf(to->key, sizeof to->key, "%s", key);
    thread_worker_wake(&self->worker);
    pthread_mutex_unlock(&self->lock);
    casparian_guest_free(ended);
}
