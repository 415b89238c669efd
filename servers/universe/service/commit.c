/*
 * commit.c - the queue of changes and the thread that commits them.
 *
 * Group commit without a timer: while one window is being written the next changes gather, and the
 * thread takes as many of them as fit. A quiet service commits each change at once, a busy one shares
 * the price of making it durable. A sender waits until its change is done: every step of a window has a
 * deadline (the database's), so it is.
 */
#include <stdlib.h>

#include "mcp/clock.h"
#include "service/service_int.h"

/* Under the lock. */
static void push(universe_service *service, universe_change *change)
{
    change->next = NULL;
    *service->end = change;
    service->end = &change->next;
    service->figures.waiting++;
    pthread_cond_signal(&service->work);
}

mcp_status universe_commit(universe_service *service, universe_change *change, mcp_error *err)
{
    if (service->options.read_only)
        return mcp_error_set(err, MCP_E_DENIED,
                             "the server is read only; start it without --read-only");
    if (pthread_cond_init(&change->done, NULL) != 0)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory to wait for a commit");
    change->err = err;
    change->is_done = false;

    pthread_mutex_lock(&service->lock);
    if (service->closing) {
        change->status = mcp_error_set(err, MCP_E_STOPPED, "the server is going down");
    } else if (service->figures.waiting >= QUEUE_MAX) {
        change->status =
            mcp_error_set(err, MCP_E_BUSY, "%d changes wait already; try again", QUEUE_MAX);
    } else {
        push(service, change);
        while (!change->is_done)
            pthread_cond_wait(&change->done, &service->lock);
    }
    pthread_mutex_unlock(&service->lock);
    pthread_cond_destroy(&change->done);
    return change->status;
}

/* Under the lock. */
static void push_or_refuse(universe_service *service, universe_change *change)
{
    change->done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    change->is_done = service->closing || service->figures.waiting >= QUEUE_MAX;
    if (service->closing)
        change->status = mcp_error_set(change->err, MCP_E_STOPPED, "the server is going down");
    else if (change->is_done)
        change->status =
            mcp_error_set(change->err, MCP_E_BUSY, "%d changes wait already", QUEUE_MAX);
    else
        push(service, change);
}

void universe_commit_all(universe_service *service, universe_change *changes, size_t count)
{
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < count; i++)
        push_or_refuse(service, &changes[i]);
    for (size_t i = 0; i < count; i++) {
        while (!changes[i].is_done)
            pthread_cond_wait(&changes[i].done, &service->lock);
        pthread_cond_destroy(&changes[i].done);
    }
    pthread_mutex_unlock(&service->lock);
}

void universe_catch_up(universe_service *service, universe_live *live)
{
    universe_change *change = calloc(1, sizeof *change);
    pthread_mutex_lock(&service->lock);
    if (change && !live->is_catching_up && !service->closing &&
        service->figures.waiting < QUEUE_MAX) {
        change->kind = UNIVERSE_CHANGE_CATCH_UP;
        change->live = live;
        live->users++;
        live->is_catching_up = true;
        push(service, change);
        change = NULL;
    }
    pthread_mutex_unlock(&service->lock);
    free(change); /* too much to do: the next change of that universe takes it in */
}

void universe_hear(bool *is_loaded, universe_service *service, const char *id, int64_t version,
                   int64_t created_ms)
{
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    bool is_news = live && !live->is_loading &&
                   (version < 0 || live->version < version ||
                    (created_ms > 0 && live->created_ms != created_ms));
    if (is_news)
        live->users++;
    if (live && live->is_loading)
        live->is_behind = true;
    *is_loaded = live;
    pthread_mutex_unlock(&service->lock);
    if (is_news) {
        universe_catch_up(service, live);
        universe_live_release(service, live);
    }
}

/* A page of the loaded universes, held; a universe is behind no more than once for each call. */
static size_t hold_some(universe_service *service, size_t bucket, universe_live **held, size_t max)
{
    size_t count = 0;
    pthread_mutex_lock(&service->lock);
    for (universe_live *live = service->live[bucket]; live && count < max; live = live->next) {
        if (!live->is_loading) {
            live->users++;
            held[count++] = live;
        }
    }
    pthread_mutex_unlock(&service->lock);
    return count;
}

void universe_catch_up_all(universe_service *service)
{
    universe_live *held[64];
    for (size_t bucket = 0; bucket < LIVE_BUCKETS; bucket++) {
        size_t count = hold_some(service, bucket, held, sizeof held / sizeof held[0]);
        for (size_t i = 0; i < count; i++) {
            universe_catch_up(service, held[i]);
            universe_live_release(service, held[i]);
        }
    }
}

/* Takes what has gathered, but not so much that small changes wait long behind large batches; 0: the service closes
 * and nothing is left. */
static size_t take(universe_service *service, universe_change **changes)
{
    size_t count = 0, orders = 0;
    pthread_mutex_lock(&service->lock);
    while (!service->first && !service->closing)
        pthread_cond_wait(&service->work, &service->lock);
    while (service->first && count < WINDOW_MAX && orders < UNIVERSE_BATCH_MAX) {
        universe_change *change = service->first;
        service->first = change->next;
        changes[count++] = change;
        orders += change->count;
        if (change->kind == UNIVERSE_CHANGE_CATCH_UP)
            change->live->is_catching_up = false; /* news from now on are another's */
    }
    if (!service->first)
        service->end = &service->first;
    service->figures.waiting -= (int64_t)count;
    pthread_mutex_unlock(&service->lock);
    return count;
}

/* Wakes the senders; what nobody waits for is the queue's own and goes. */
static void finish(universe_service *service, universe_change **changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (changes[i]->kind == UNIVERSE_CHANGE_CATCH_UP) {
            universe_live_release(service, changes[i]->live);
            free(changes[i]);
            changes[i] = NULL;
        }
    }
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < count; i++) {
        if (changes[i]) {
            changes[i]->is_done = true;
            pthread_cond_signal(&changes[i]->done);
        }
    }
    pthread_mutex_unlock(&service->lock);
}

void *universe_committer(void *data)
{
    universe_service *service = data;
    universe_change *changes[WINDOW_MAX];
    size_t count = 0;

    while ((count = take(service, changes)) > 0) {
        universe_window(service, changes, count);
        finish(service, changes, count);
    }
    return NULL;
}
