/*
 * hub.c - a queue and a thread a listener.
 *
 * db_hub_post runs in the committing thread and only appends, under the hub's lock; the listener's
 * thread takes its whole queue at once and calls `heard` without any lock. A queue that is full, or
 * an append without memory, leaves a mark instead, which is heard as NULL before anything later.
 */
#include "db/hub.h"

#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 10000 };

struct news {
    struct news *next;
    char payload[];
};

struct db_hub_listener {
    db_listener base;
    struct db_hub *hub;
    struct db_hub_listener *next;
    char *channel;
    db_heard *heard;
    void *data;
    pthread_t thread;
    pthread_cond_t woken;
    /* guarded by the hub's lock */
    struct news *first;
    struct news **last; /* where the next one is hung */
    size_t waiting;
    bool has_missed;
    bool is_stopping;
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

static void free_news(struct news *news)
{
    while (news) {
        struct news *next = news->next;
        free(news);
        news = next;
    }
}

/* Once something was missed nothing more is queued until the mark is taken: it stands last. */
static void append(struct db_hub_listener *self, const char *payload)
{
    size_t size = strlen(payload) + 1;
    struct news *news = self->waiting < WAITING_MAX && !self->has_missed
                            ? malloc(sizeof *news + size)
                            : NULL;

    if (!news) {
        self->has_missed = true;
        return;
    }
    news->next = NULL;
    memcpy(news->payload, payload, size);
    *self->last = news;
    self->last = &news->next;
    self->waiting++;
}

void db_hub_post(struct db_hub *hub, const char *channel, const char *payload)
{
    pthread_mutex_lock(&hub->lock);
    for (struct db_hub_listener *each = hub->listeners; each; each = each->next) {
        if (strcmp(each->channel, channel) != 0)
            continue;
        append(each, payload);
        pthread_cond_signal(&each->woken);
    }
    pthread_mutex_unlock(&hub->lock);
}

/* Wait for news and take all of it; false: stop. */
static bool take(struct db_hub_listener *self, struct news **news, bool *has_missed)
{
    pthread_mutex_lock(&self->hub->lock);
    while (!self->first && !self->has_missed && !self->is_stopping)
        pthread_cond_wait(&self->woken, &self->hub->lock);
    bool goes_on = !self->is_stopping;
    *news = self->first;
    *has_missed = self->has_missed;
    self->first = NULL;
    self->last = &self->first;
    self->waiting = 0;
    self->has_missed = false;
    pthread_mutex_unlock(&self->hub->lock);
    return goes_on;
}

static bool is_stopping(struct db_hub_listener *self)
{
    pthread_mutex_lock(&self->hub->lock);
    bool answer = self->is_stopping;
    pthread_mutex_unlock(&self->hub->lock);
    return answer;
}

static void *listen_until_stopped(void *data)
{
    struct db_hub_listener *self = data;
    struct news *news = NULL;
    bool has_missed = false;

    while (take(self, &news, &has_missed)) {
        for (struct news *each = news; each && !is_stopping(self); each = each->next)
            self->heard(each->payload, self->data);
        if (has_missed && !is_stopping(self))
            self->heard(NULL, self->data);
        free_news(news);
    }
    free_news(news);
    return NULL;
}

static void free_listener(struct db_hub_listener *self)
{
    free_news(self->first);
    pthread_cond_destroy(&self->woken);
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
    self->is_stopping = true;
    pthread_cond_signal(&self->woken);
    pthread_mutex_unlock(&self->hub->lock);
}

static void end_listener(db_listener *listener)
{
    struct db_hub_listener *self = (struct db_hub_listener *)listener;

    leave(self);
    pthread_join(self->thread, NULL);
    free_listener(self);
}

static struct db_hub_listener *new_listener(struct db_hub *hub, const char *channel)
{
    struct db_hub_listener *self = calloc(1, sizeof *self);

    if (!self)
        return NULL;
    pthread_cond_init(&self->woken, NULL);
    self->base.end = end_listener;
    self->hub = hub;
    self->last = &self->first;
    self->channel = strdup(channel);
    if (self->channel)
        return self;
    free_listener(self);
    return NULL;
}

mcp_status db_hub_listen(db_listener **out, struct db_hub *hub, const char *channel,
                         db_heard *heard, void *data, mcp_error *err)
{
    struct db_hub_listener *self = new_listener(hub, channel);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a listener");
    self->heard = heard;
    self->data = data;
    pthread_mutex_lock(&hub->lock);
    self->next = hub->listeners;
    hub->listeners = self;
    pthread_mutex_unlock(&hub->lock);
    int failure = pthread_create(&self->thread, NULL, listen_until_stopped, self);
    if (failure) {
        leave(self);
        free_listener(self);
        return mcp_error_errno(err, failure, "no thread for a listener");
    }
    *out = &self->base;
    return MCP_OK;
}
