/*
 * subscriptions.c - notifying clients of changes.
 *
 *     any thread: a change -> [gathered here] -> one node is posted -> loop: every subscriber is notified
 *
 * A change that is reported twice before the loop gets to it is notified once. Without subscribers
 * nothing is gathered. Where there is much to send the loop does it in turns, so that nobody waits
 * for all of it.
 *
 * `lock` guards the gathered changes and the executor that takes the node. It is not held while
 * posting, so the last session to leave, whose executor ends soon afterwards, waits until nobody is
 * posting.
 */
#include "mcp/core/subscriptions/subscriptions.h"

#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mcp/core/session/session.h"
#include "mcp/core/subscriptions/subscribe.h"

#define GATHERED_MAX 10000
#define MESSAGES_A_TURN 1000

struct mcp__subscriptions {
    pthread_mutex_t lock; /* guards the eight below */
    pthread_cond_t posted;
    mcp__executor *executor;   /* of the sessions; NULL: there are none */
    int posting;               /* threads that are about to use it */
    mcp__list_change *changes; /* the newest first */
    mcp__map uris;             /* each its own copy */
    mcp__map elicited;         /* ids of elicitations, likewise */
    bool is_posted;            /* and not done */

    mcp__node node;

    /* the loop's */
    LIST_HEAD(, mcp__session) sessions;
    mcp__subscribers subscribers;
    mcp__map notifying; /* URIs that are being notified */
    size_t notified;    /* where in it */
};

/* ---- both ------------------------------------------------------------------------------------ */

/* With the lock held: the executor that must get the node, or NULL. */
static mcp__executor *begin_posting(mcp__subscriptions *self)
{
    if (self->is_posted || !self->executor)
        return NULL;
    self->is_posted = true;
    self->posting++;
    return self->executor;
}

static void post(mcp__subscriptions *self, mcp__executor *executor)
{
    if (!executor)
        return;
    executor->post(executor, &self->node);
    pthread_mutex_lock(&self->lock);
    if (--self->posting == 0)
        pthread_cond_broadcast(&self->posted);
    pthread_mutex_unlock(&self->lock);
}

/* ---- on the loop ----------------------------------------------------------------------------- */

/* With the lock held. */
static void gather_change(mcp__subscriptions *self, mcp__list_change *change)
{
    change->state = MCP__CHANGE_GATHERED;
    change->next = self->changes;
    self->changes = change;
}

/* With the lock held. */
static mcp__list_change *take_changes(mcp__subscriptions *self)
{
    mcp__list_change *taken = self->changes;

    for (mcp__list_change *change = taken; change; change = change->next)
        change->state = MCP__CHANGE_NOTIFYING;
    self->changes = NULL;
    return taken;
}

/* With the lock held. */
static void return_changes(mcp__subscriptions *self, mcp__list_change *taken)
{
    while (taken) {
        mcp__list_change *next = taken->next;
        if (taken->state == MCP__CHANGE_AGAIN)
            gather_change(self, taken);
        else
            taken->state = MCP__CHANGE_IDLE;
        taken = next;
    }
}

/* Take the changes. Lists and elicitations, which are few, are notified at once; URIs in turns. */
static void begin_round(mcp__subscriptions *self)
{
    pthread_mutex_lock(&self->lock);
    mcp__list_change *changes = take_changes(self);
    mcp__map elicited = self->elicited;
    self->notifying = self->uris;
    self->notified = 0;
    mcp__map_init(&self->uris, NULL);
    mcp__map_init(&self->elicited, NULL);
    pthread_mutex_unlock(&self->lock);
    for (mcp__session *session = LIST_FIRST(&self->sessions); session;
         session = LIST_NEXT(session, notified)) {
        mcp__subscribe_notify_lists(session, changes);
        mcp__url_elicitation_complete(session, &elicited);
    }
    pthread_mutex_lock(&self->lock);
    return_changes(self, changes);
    pthread_mutex_unlock(&self->lock);
    mcp__map_free_values(&elicited);
}

static void notify_uris(mcp__subscriptions *self)
{
    const char *uri = mcp__map_next(&self->notifying, &self->notified);
    int messages = 0;

    while (uri) {
        messages += mcp__subscribe_notify_uri(self, uri);
        uri = messages < MESSAGES_A_TURN ? mcp__map_next(&self->notifying, &self->notified) : NULL;
    }
    if (messages < MESSAGES_A_TURN)
        mcp__map_free_values(&self->notifying);
}

/* With the lock held. */
static bool has_more(const mcp__subscriptions *self)
{
    return self->notifying.count > 0 || self->changes || self->uris.count > 0 ||
           self->elicited.count > 0;
}

/* One turn. Until all is notified the node is on its way, so nobody else posts it. */
static void notify(mcp__node *node)
{
    mcp__subscriptions *self = (mcp__subscriptions *)((char *)node -
                                                      offsetof(mcp__subscriptions, node));
    mcp__executor *executor = NULL;

    if (self->notifying.count == 0)
        begin_round(self);
    notify_uris(self);
    pthread_mutex_lock(&self->lock);
    self->is_posted = false;
    if (has_more(self))
        executor = begin_posting(self);
    pthread_mutex_unlock(&self->lock);
    post(self, executor);
}

mcp_status mcp__subscriptions_new(mcp__subscriptions **out, mcp_error *err)
{
    mcp__subscriptions *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for subscriptions");
    pthread_mutex_init(&self->lock, NULL);
    pthread_cond_init(&self->posted, NULL);
    mcp__map_init(&self->uris, NULL);
    mcp__map_init(&self->elicited, NULL);
    mcp__map_init(&self->notifying, NULL);
    mcp__map_init(&self->subscribers.by_uri, NULL);
    mcp__map_init(&self->subscribers.by_task, NULL);
    self->node.run = notify;
    *out = self;
    return MCP_OK;
}

void mcp__subscriptions_free(mcp__subscriptions *self)
{
    if (!self)
        return;
    assert(self->subscribers.by_uri.count == 0 && self->subscribers.by_task.count == 0);
    mcp__map_free_values(&self->uris);
    mcp__map_free_values(&self->elicited);
    mcp__map_free_values(&self->notifying);
    mcp__map_clear(&self->subscribers.by_uri);
    mcp__map_clear(&self->subscribers.by_task);
    pthread_cond_destroy(&self->posted);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void mcp__subscriptions_enter(mcp__subscriptions *self, mcp__session *session)
{
    bool is_first = LIST_EMPTY(&self->sessions);

    LIST_INSERT_HEAD(&self->sessions, session, notified);
    if (!is_first)
        return;
    pthread_mutex_lock(&self->lock);
    self->executor = session->context.executor;
    pthread_mutex_unlock(&self->lock);
}

void mcp__subscriptions_leave(mcp__subscriptions *self, mcp__session *session)
{
    LIST_REMOVE(session, notified);
    if (!LIST_EMPTY(&self->sessions))
        return;
    pthread_mutex_lock(&self->lock);
    self->executor = NULL;
    while (self->posting > 0)
        pthread_cond_wait(&self->posted, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

mcp__subscribers *mcp__subscriptions_subscribers(mcp__subscriptions *self)
{
    return &self->subscribers;
}

/* ---- on any thread --------------------------------------------------------------------------- */

void mcp__subscriptions_lists(mcp__subscriptions *self, mcp__list_change *change)
{
    mcp__executor *executor = NULL;

    pthread_mutex_lock(&self->lock);
    if (change->state == MCP__CHANGE_NOTIFYING)
        change->state = MCP__CHANGE_AGAIN;
    else if (change->state == MCP__CHANGE_IDLE && self->executor)
        gather_change(self, change);
    if (self->changes)
        executor = begin_posting(self);
    pthread_mutex_unlock(&self->lock);
    post(self, executor);
}

/* With the lock held. */
static mcp_status gather(const mcp__subscriptions *self, mcp__map *into, const char *text)
{
    if (!self->executor || mcp__map_get(into, text, strlen(text)))
        return MCP_OK;
    if (into->count >= GATHERED_MAX)
        return MCP_E_LIMIT;
    char *copy = mcp_alloc_strdup(text);
    mcp_status st = copy ? mcp__map_put(into, copy, strlen(copy), copy) : MCP_E_NOMEM;
    if (st != MCP_OK)
        free(copy);
    return st;
}

/* `into` is one of the two maps. */
static mcp_status spread(mcp__subscriptions *self, mcp__map *into, const char *text)
{
    mcp__executor *executor = NULL;

    pthread_mutex_lock(&self->lock);
    mcp_status st = gather(self, into, text);
    if (st == MCP_OK && into->count > 0)
        executor = begin_posting(self);
    pthread_mutex_unlock(&self->lock);
    post(self, executor);
    return st;
}

mcp_status mcp__subscriptions_resource(mcp__subscriptions *self, const char *uri, mcp_error *err)
{
    mcp_status st = spread(self, &self->uris, uri);

    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "the change of a resource cannot be notified");
}

mcp_status mcp__subscriptions_elicited(mcp__subscriptions *self, const char *id, mcp_error *err)
{
    mcp_status st = spread(self, &self->elicited, id);

    return st == MCP_OK ? st
                        : mcp_error_set(err, st, "the end of an elicitation cannot be notified");
}
