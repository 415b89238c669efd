/*
 * commit.c - the queue of changes and the thread that commits them.
 *
 * Group commit without a timer: while one batch is being written the next changes gather, and the
 * thread takes as many of them as fit. A quiet service commits each change at once, a busy one
 * shares the price of making it durable. `done` of a change is called when it is committed or
 * refused; every step of a batch has a deadline (the database's), so it is.
 *
 * No thread is woken and no `done` called under the lock, and the committer is woken only when it
 * sleeps.
 */
#include <errno.h>
#include <semaphore.h>
#include <stdlib.h>

#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "service/service_int.h"

/* Under the lock. @return whether to signal `work` after it */
static bool push(universe_service *service, universe_change *change)
{
    bool sleeps = service->committer_sleeps;

    change->next = NULL;
    *service->end = change;
    service->end = &change->next;
    service->figures.waiting++;
    service->committer_sleeps = false; /* it is on its way */
    return sleeps;
}

static mcp_status push_if_open(bool *wakes, universe_service *service, universe_change *change,
                               mcp_error *err)
{
    if (service->closing)
        return mcp_error_set(err, MCP_E_STOPPED, "the server is going down");
    if (service->figures.waiting >= QUEUE_MAX)
        return mcp_error_set(err, MCP_E_BUSY, "%d changes wait already; try again", QUEUE_MAX);
    *wakes = push(service, change) || *wakes;
    return MCP_OK;
}

mcp_status universe_queue(universe_service *service, universe_change *change, mcp_error *err)
{
    bool wakes = false;

    if (service->options.read_only)
        return mcp_error_set(err, MCP_E_DENIED,
                             "the server is read only; start it without --read-only");
    pthread_mutex_lock(&service->lock);
    mcp_status st = push_if_open(&wakes, service, change, err);
    pthread_mutex_unlock(&service->lock);
    if (wakes)
        pthread_cond_signal(&service->work);
    return st;
}

static void post(void *done)
{
    sem_post(done);
}

static void await(sem_t *done, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        while (sem_wait(done) != 0 && errno == EINTR)
            ;
    }
}

mcp_status universe_commit(universe_service *service, universe_change *change, mcp_error *err)
{
    sem_t done;

    sem_init(&done, 0, 0); /* cannot fail */
    change->err = err;
    change->done = post;
    change->done_data = &done;
    mcp_status st = universe_queue(service, change, err);
    if (st == MCP_OK) {
        await(&done, 1);
        st = change->status;
    }
    sem_destroy(&done);
    return st;
}

void universe_commit_all(universe_service *service, universe_change *changes, size_t count)
{
    size_t queued = 0;
    bool wakes = false;
    sem_t done;

    sem_init(&done, 0, 0);
    pthread_mutex_lock(&service->lock);
    for (size_t i = 0; i < count; i++) {
        changes[i].done = post;
        changes[i].done_data = &done;
        mcp_status st = push_if_open(&wakes, service, &changes[i], changes[i].err);
        if (st == MCP_OK)
            queued++;
        else
            changes[i].status = st;
    }
    pthread_mutex_unlock(&service->lock);
    if (wakes)
        pthread_cond_signal(&service->work);
    await(&done, queued);
    sem_destroy(&done);
}

void universe_catch_up(universe_service *service, universe_live *live)
{
    universe_change *change = mcp_alloc_zeroed(1, sizeof *change);
    bool wakes = false;
    pthread_mutex_lock(&service->lock);
    if (change && !live->is_catching_up && !service->closing &&
        service->figures.waiting < QUEUE_MAX) {
        change->kind = UNIVERSE_CHANGE_CATCH_UP;
        change->live = live;
        live->users++;
        live->is_catching_up = true;
        wakes = push(service, change);
        change = NULL;
    }
    pthread_mutex_unlock(&service->lock);
    if (wakes)
        pthread_cond_signal(&service->work);
    free(change); /* too much to do: the next change of that universe takes it in */
}

void universe_catch_up_to(bool *is_loaded, universe_service *service, const char *id,
                          int64_t version, int64_t created_ms)
{
    pthread_mutex_lock(&service->lock);
    universe_live *live = universe_live_find(service, id);
    bool is_behind = live && !live->is_loading &&
                     (version < 0 || live->version < version ||
                      (created_ms > 0 && live->created_ms != created_ms));
    if (is_behind)
        live->users++;
    if (live && live->is_loading)
        live->is_behind = true;
    *is_loaded = live;
    pthread_mutex_unlock(&service->lock);
    if (is_behind) {
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

/* Takes what has gathered, but not so much that small changes wait long behind large batches; 0:
 * the service closes and nothing is left. */
static size_t take(universe_service *service, universe_change **changes)
{
    size_t count = 0, commands = 0;
    pthread_mutex_lock(&service->lock);
    while (!service->first && !service->closing) {
        service->committer_sleeps = true;
        pthread_cond_wait(&service->work, &service->lock);
    }
    service->committer_sleeps = false;
    while (service->first && count < COMMIT_MAX && commands < UNIVERSE_BATCH_MAX) {
        universe_change *change = service->first;
        service->first = change->next;
        changes[count++] = change;
        commands += change->count;
        if (change->kind == UNIVERSE_CHANGE_CATCH_UP)
            change->live->is_catching_up = false; /* later changes need another */
    }
    if (!service->first)
        service->end = &service->first;
    service->figures.waiting -= (int64_t)count;
    pthread_mutex_unlock(&service->lock);
    return count;
}

/* A change is its sender's again once `done` was called; a CATCH_UP is the queue's own and is
 * freed. */
static void finish(universe_service *service, universe_change **changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        universe_change *change = changes[i];
        if (change->kind == UNIVERSE_CHANGE_CATCH_UP) {
            universe_live_release(service, change->live);
            free(change);
        } else {
            change->done(change->done_data);
        }
    }
}

void *universe_committer(void *data)
{
    universe_service *service = data;
    universe_change *changes[COMMIT_MAX];

    for (;;) {
        universe_publication publication;
        size_t count = take(service, changes);
        if (count == 0)
            return NULL;
        universe_commit_batch(&publication, service, changes, count);
        finish(service, changes, count); /* first: streams may be many */
        universe_publish(service, &publication);
    }
}
