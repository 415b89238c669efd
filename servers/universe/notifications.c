/*
 * notifications.c - resource notifications from committed changes.
 *
 * The watcher, on the threads of the service, only adds the id of the universe to a list, once
 * however often the universe changes. A thread of our own takes the list, notifies the server, and
 * waits for a second, during which the next list gathers. So clients get at most one notification a
 * second for each universe, and at once for the first change after a quiet second. Each list has an
 * arena of bounded size.
 */
#include "notifications.h"

#include <stdlib.h>
#include <string.h>

#include "features/resources.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "mcp/hash.h"
#include "thread/thread.h"

enum { PAUSE_MS = 1000, BUCKETS = 256, LIST_BYTES = 16 << 20 };

struct entry {
    struct entry *next;
    char id[];
};

/* Universes that changed. */
struct list {
    mcp_arena *arena;
    struct entry *buckets[BUCKETS];
    size_t lost; /* changes without memory for them */
};

struct universe_notifications {
    mcp_server *server;
    universe_service *service;
    mcp_log log;
    pthread_mutex_t lock;
    thread_worker worker;
    struct list list;
    bool has_some;
};

static void add(struct list *list, const char *id)
{
    struct entry **bucket = &list->buckets[mcp_fnv1a(id) % BUCKETS];
    size_t size = strlen(id) + 1;

    for (struct entry *entry = *bucket; entry; entry = entry->next) {
        if (strcmp(entry->id, id) == 0)
            return;
    }
    struct entry *entry = list->arena ? mcp_arena_alloc(list->arena, sizeof *entry + size) : NULL;
    if (!entry) {
        list->lost++;
        return;
    }
    memcpy(entry->id, id, size);
    entry->next = *bucket;
    *bucket = entry;
}

/* The watcher, on the threads of the service. */
static void on_change(const char *id, int64_t version, void *data)
{
    universe_notifications *notifications = data;
    (void)version;
    pthread_mutex_lock(&notifications->lock);
    if (!notifications->worker.is_stopping) {
        add(&notifications->list, id);
        if (!notifications->has_some)
            thread_worker_wake(&notifications->worker);
        notifications->has_some = true;
    }
    pthread_mutex_unlock(&notifications->lock);
}

static void notify(universe_notifications *notifications, const char *id)
{
    static const char *const parts[] = { "state", "summary" };
    char uri[UNIVERSE_URI_SIZE];
    mcp_error err = MCP_ERROR_INIT;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        universe_uri(uri, id, parts[i]);
        if (mcp_server_resource_updated(notifications->server, uri, &err) != MCP_OK)
            mcp_log_write(&notifications->log, MCP_LOG_WARNING, "notification of %.200s: %s", uri,
                          err.message);
    }
}

static void notify_all(universe_notifications *notifications, const struct list *list)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (const struct entry *entry = list->buckets[i]; entry; entry = entry->next)
            notify(notifications, entry->id);
    }
    if (list->lost > 0)
        mcp_log_write(&notifications->log, MCP_LOG_WARNING,
                      "notifications of %zu changes were lost: no memory", list->lost);
}

/* Under the lock: take the list; the next one gets the arena `next`. */
static struct list take(universe_notifications *notifications, mcp_arena *next)
{
    struct list list = notifications->list;
    notifications->list = (struct list){ .arena = next };
    notifications->has_some = false;
    return list;
}

static void run(void *data)
{
    universe_notifications *notifications = data;
    bool is_stopping = false;
    while (!is_stopping) {
        mcp_arena *next = mcp_arena_new(LIST_BYTES);
        pthread_mutex_lock(&notifications->lock);
        while (!notifications->has_some && !notifications->worker.is_stopping)
            thread_worker_wait(&notifications->worker, THREAD_FOREVER);
        struct list list = take(notifications, next);
        pthread_mutex_unlock(&notifications->lock);
        notify_all(notifications, &list);
        mcp_arena_free(list.arena);
        int64_t until_ms = mcp_clock_mono_ms() + PAUSE_MS;
        pthread_mutex_lock(&notifications->lock);
        while (!notifications->worker.is_stopping && mcp_clock_mono_ms() < until_ms)
            thread_worker_wait(&notifications->worker, until_ms - mcp_clock_mono_ms());
        is_stopping = notifications->worker.is_stopping;
        pthread_mutex_unlock(&notifications->lock);
    }
}

static void end(universe_notifications *notifications)
{
    thread_worker_stop(&notifications->worker);
    mcp_arena_free(notifications->list.arena);
    pthread_mutex_destroy(&notifications->lock);
    free(notifications);
}

mcp_status universe_notifications_start(universe_notifications **out, mcp_server *server,
                                        universe_service *service, const mcp_log *log,
                                        mcp_error *err)
{
    universe_notifications *notifications = mcp_alloc_zeroed(1, sizeof *notifications);
    if (!notifications)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for notifications");
    notifications->server = server;
    notifications->service = service;
    notifications->log = *log;
    pthread_mutex_init(&notifications->lock, NULL);
    thread_worker_init(&notifications->worker, &notifications->lock);
    notifications->list.arena = mcp_arena_new(LIST_BYTES);
    mcp_status st = thread_worker_start(&notifications->worker, run, notifications, err);
    if (st != MCP_OK) {
        end(notifications);
        return st;
    }
    universe_service_watch(service, on_change, notifications);
    *out = notifications;
    return MCP_OK;
}

void universe_notifications_stop(universe_notifications *notifications)
{
    if (!notifications)
        return;
    universe_service_watch(notifications->service, NULL, NULL);
    end(notifications);
}
