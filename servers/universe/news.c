/*
 * news.c - from committed changes to news of resources.
 *
 * The committing thread only writes the universe's id down, once however often it changes; a thread of our own
 * takes the list, tells the server, and rests for a second, during which the next list grows. So a universe is
 * told of at most once a second, and the first change after a quiet second at once. The list lives in an arena
 * of bounded size that is given up with it.
 */
#include "news.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "resources.h"

enum { REST_MS = 1000, BUCKETS = 256, LIST_BYTES = 16 << 20 };

struct entry {
    struct entry *next;
    char id[];
};

/* Ids that changed and were not told of yet. */
struct list {
    mcp_arena *arena;
    struct entry *buckets[BUCKETS];
    size_t lost; /* for which there was no memory */
};

struct universe_news {
    mcp_server *server;
    universe_service *service;
    mcp_log log;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* the list is not empty any more, or stopping */
    struct list list;
    bool has_some, is_stopping;
};

static size_t bucket_of(const char *id)
{
    uint32_t hash = 2166136261u;
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 16777619u;
    return hash % BUCKETS;
}

static void write_down(struct list *list, const char *id)
{
    struct entry **bucket = &list->buckets[bucket_of(id)];
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

/* The watcher: on the service's threads. */
static void on_change(const char *id, int64_t version, void *data)
{
    universe_news *news = data;
    (void)version;
    pthread_mutex_lock(&news->lock);
    if (!news->is_stopping) {
        write_down(&news->list, id);
        if (!news->has_some)
            pthread_cond_signal(&news->changed);
        news->has_some = true;
    }
    pthread_mutex_unlock(&news->lock);
}

static void tell(universe_news *news, const char *id)
{
    static const char *const parts[] = { "state", "summary" };
    char uri[UNIVERSE_URI_SIZE];
    mcp_error err = MCP_ERROR_INIT;

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        universe_uri(uri, id, parts[i]);
        if (mcp_server_updated(news->server, uri, &err) != MCP_OK)
            mcp_log_write(&news->log, MCP_LOG_WARNING, "news of %.200s: %s", uri, err.message);
    }
}

static void tell_all(universe_news *news, const struct list *list)
{
    for (size_t i = 0; i < BUCKETS; i++) {
        for (const struct entry *entry = list->buckets[i]; entry; entry = entry->next)
            tell(news, entry->id);
    }
    if (list->lost > 0)
        mcp_log_write(&news->log, MCP_LOG_WARNING, "news of %zu changes were lost: no memory",
                      list->lost);
}

/* Under the lock: wait for a change. */
static void await_change(universe_news *news)
{
    while (!news->has_some && !news->is_stopping)
        pthread_cond_wait(&news->changed, &news->lock);
}

/* Under the lock: a second, or less where it stops. */
static void rest(universe_news *news)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += REST_MS / 1000;
    while (!news->is_stopping && pthread_cond_timedwait(&news->changed, &news->lock, &until) == 0)
        ;
}

/* Under the lock: take the list, which goes on in an arena that was made before. */
static struct list take(universe_news *news, mcp_arena *next)
{
    struct list list = news->list;
    news->list = (struct list){ .arena = next };
    news->has_some = false;
    return list;
}

static void *run(void *data)
{
    universe_news *news = data;
    bool is_stopping = false;
    while (!is_stopping) {
        mcp_arena *next = mcp_arena_new(LIST_BYTES);
        pthread_mutex_lock(&news->lock);
        await_change(news);
        struct list list = take(news, next);
        pthread_mutex_unlock(&news->lock);
        tell_all(news, &list);
        mcp_arena_free(list.arena);
        pthread_mutex_lock(&news->lock);
        rest(news);
        is_stopping = news->is_stopping;
        pthread_mutex_unlock(&news->lock);
    }
    return NULL;
}

static mcp_status init_sync(universe_news *news, mcp_error *err)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&news->lock, NULL) != 0)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a lock");
    if (pthread_condattr_init(&monotonic) == 0) {
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        bool is_made = pthread_cond_init(&news->changed, &monotonic) == 0;
        pthread_condattr_destroy(&monotonic);
        if (is_made)
            return MCP_OK;
    }
    pthread_mutex_destroy(&news->lock);
    return mcp_error_set(err, MCP_E_NOMEM, "no memory for a condition");
}

static void end(universe_news *news)
{
    mcp_arena_free(news->list.arena);
    pthread_cond_destroy(&news->changed);
    pthread_mutex_destroy(&news->lock);
    free(news);
}

mcp_status universe_news_start(universe_news **out, mcp_server *server, universe_service *service,
                               const mcp_log *log, mcp_error *err)
{
    universe_news *news = calloc(1, sizeof *news);
    if (!news)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for news of universes");
    news->server = server;
    news->service = service;
    news->log = *log;
    mcp_status st = init_sync(news, err);
    if (st != MCP_OK) {
        free(news);
        return st;
    }
    news->list.arena = mcp_arena_new(LIST_BYTES);
    if (pthread_create(&news->thread, NULL, run, news) != 0) {
        end(news);
        return mcp_error_set(err, MCP_E_LIMIT, "no thread for news of universes");
    }
    universe_service_watch(service, on_change, news);
    *out = news;
    return MCP_OK;
}

void universe_news_stop(universe_news *news)
{
    if (!news)
        return;
    universe_service_watch(news->service, NULL, NULL);
    pthread_mutex_lock(&news->lock);
    news->is_stopping = true;
    pthread_cond_signal(&news->changed);
    pthread_mutex_unlock(&news->lock);
    pthread_join(news->thread, NULL);
    end(news);
}
