/*
 * hub.c - a queue and a thread a listener.
 *
 * db_hub_post runs in the committing thread and only appends, under the hub's lock; the listener's
 * thread takes its whole queue at once and calls `on_notify` without a lock. When a queue is full
 * or there is no memory, the listener is marked instead, and receives NULL before any later
 * notification.
 */
#include "db/hub.h"

#include <stdlib.h>
#include <string.h>

#include "mcp/alloc.h"
#include "thread/thread.h"

enum { WAITING_MAX = 10000 };

struct notification {
    struct notification *next;
    bool is_gap; /* forwarded as NULL */
    char payload[];
};

struct db_hub_listener {
    db_listener base;
    struct db_hub *hub;
    struct db_hub_listener *next;
    char *channel;
    db_on_notify *on_notify;
    void *data;
    thread_worker worker;
    /* guarded by the hub's lock */
    struct notification *first;
    struct notification **last; /* the link for the next one */
    size_t waiting;
    bool has_missed;
};

void db_hub_init(struct db_hub *hub)
{
    pthread_mutex_init(&hub->lock, NULL);
    hub->listeners = NULL;
}

void db_hub_clear(struct db_hub *hub)
{
    pthread_mutex_destroy(&hub->lock);
}

static void free_all(struct notification *notification)
{
    while (notification) {
        struct notification *next = notification->next;
        free(notification);
        notification = next;
    }
}

/* While `has_missed` is set nothing is queued: the mark comes after the queue.
 * @param payload NULL: a gap */
static void append(struct db_hub_listener *self, const char *payload)
{
    size_t size = payload ? strlen(payload) + 1 : 0;
    struct notification *notification = self->waiting < WAITING_MAX && !self->has_missed
                                            ? mcp_alloc(sizeof *notification + size)
                                            : NULL;

    if (!notification) {
        self->has_missed = true;
        return;
    }
    notification->next = NULL;
    notification->is_gap = !payload;
    if (payload)
        memcpy(notification->payload, payload, size);
    *self->last = notification;
    self->last = &notification->next;
    self->waiting++;
}

void db_hub_post(struct db_hub *hub, const char *channel, const char *payload)
{
    pthread_mutex_lock(&hub->lock);
    for (struct db_hub_listener *each = hub->listeners; each; each = each->next) {
        if (strcmp(each->channel, channel) != 0)
            continue;
        append(each, payload);
        thread_worker_wake(&each->worker);
    }
    pthread_mutex_unlock(&hub->lock);
}

void db_hub_miss(struct db_hub *hub)
{
    pthread_mutex_lock(&hub->lock);
    for (struct db_hub_listener *each = hub->listeners; each; each = each->next) {
        append(each, NULL);
        thread_worker_wake(&each->worker);
    }
    pthread_mutex_unlock(&hub->lock);
}

/* Wait for notifications and take all of them; false: stop. */
static bool take(struct db_hub_listener *self, struct notification **first, bool *has_missed)
{
    pthread_mutex_lock(&self->hub->lock);
    while (!self->first && !self->has_missed && !self->worker.is_stopping)
        thread_worker_wait(&self->worker, THREAD_FOREVER);
    bool is_stopping = self->worker.is_stopping;
    *first = self->first;
    *has_missed = self->has_missed;
    self->first = NULL;
    self->last = &self->first;
    self->waiting = 0;
    self->has_missed = false;
    pthread_mutex_unlock(&self->hub->lock);
    return !is_stopping;
}

static void run(void *data)
{
    struct db_hub_listener *self = data;
    struct notification *first = NULL;
    bool has_missed = false;

    while (take(self, &first, &has_missed)) {
        for (const struct notification *each = first; each; each = each->next)
            if (!thread_worker_is_stopping(&self->worker))
                self->on_notify(each->is_gap ? NULL : each->payload, self->data);
        if (has_missed && !thread_worker_is_stopping(&self->worker))
            self->on_notify(NULL, self->data);
        free_all(first);
    }
    free_all(first);
}

static void free_listener(struct db_hub_listener *self)
{
    free_all(self->first);
    free(self->channel);
    free(self);
}

static void leave(struct db_hub_listener *self)
{
    struct db_hub_listener **at = &self->hub->listeners;

    pthread_mutex_lock(&self->hub->lock);
    while (*at != self)
        at = &(*at)->next;
    *at = self->next;
    pthread_mutex_unlock(&self->hub->lock);
}

static void end_listener(db_listener *listener)
{
    struct db_hub_listener *self = (struct db_hub_listener *)listener;

    leave(self);
    thread_worker_stop(&self->worker);
    free_listener(self);
}

static struct db_hub_listener *new_listener(struct db_hub *hub, const char *channel)
{
    struct db_hub_listener *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return NULL;
    self->base.end = end_listener;
    self->hub = hub;
    self->last = &self->first;
    self->channel = mcp_alloc_strdup(channel);
    thread_worker_init(&self->worker, &hub->lock);
    if (self->channel)
        return self;
    free_listener(self);
    return NULL;
}

mcp_status db_hub_listen(db_listener **out, struct db_hub *hub, const char *channel,
                         db_on_notify *on_notify, void *data, mcp_error *err)
{
    struct db_hub_listener *self = new_listener(hub, channel);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a listener");
    self->on_notify = on_notify;
    self->data = data;
    pthread_mutex_lock(&hub->lock);
    self->next = hub->listeners;
    hub->listeners = self;
    pthread_mutex_unlock(&hub->lock);
    mcp_status st = thread_worker_start(&self->worker, run, self, err);
    if (st == MCP_OK)
        *out = &self->base;
    else
        end_listener(&self->base);
    return st;
}
