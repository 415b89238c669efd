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

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mcp/core/session/session.h"
#include "mcp/core/session/url_elicitation.h"
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
    mcp__session *first;
    int listeners;
    mcp__interests by_uri, by_task;
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
    for (mcp__session *session = self->first; session; session = session->next_notified) {
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
        messages += mcp__subscribe_notify_uri(&self->by_uri, uri);
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
    mcp__interests_init(&self->by_uri);
    mcp__interests_init(&self->by_task);
    self->node.run = notify;
    *out = self;
    return MCP_OK;
}

void mcp__subscriptions_free(mcp__subscriptions *self)
{
    if (!self)
        return;
    mcp__map_free_values(&self->uris);
    mcp__map_free_values(&self->elicited);
    mcp__map_free_values(&self->notifying);
    mcp__interests_clear(&self->by_uri);
    mcp__interests_clear(&self->by_task);
    pthread_cond_destroy(&self->posted);
    pthread_mutex_destroy(&self->lock);
    free(self);
}

void mcp__subscriptions_enter(mcp__subscriptions *self, mcp__session *session)
{
    session->previous_notified = NULL;
    session->next_notified = self->first;
    if (self->first)
        self->first->previous_notified = session;
    self->first = session;
    if (session->next_notified)
        return;
    pthread_mutex_lock(&self->lock);
    self->executor = session->context.executor;
    pthread_mutex_unlock(&self->lock);
}

void mcp__subscriptions_leave(mcp__subscriptions *self, mcp__session *session)
{
    if (session->previous_notified)
        session->previous_notified->next_notified = session->next_notified;
    else
        self->first = session->next_notified;
    if (session->next_notified)
        session->next_notified->previous_notified = session->previous_notified;
    if (self->first)
        return;
    pthread_mutex_lock(&self->lock);
    self->executor = NULL;
    while (self->posting > 0)
        pthread_cond_wait(&self->posted, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

mcp__interests *mcp__subscriptions_by_uri(mcp__subscriptions *self)
{
    return &self->by_uri;
}

mcp__interests *mcp__subscriptions_by_task(mcp__subscriptions *self)
{
    return &self->by_task;
}

int *mcp__subscriptions_listeners(mcp__subscriptions *self)
{
    return &self->listeners;
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

/* With the lock held. Takes `copy`. */
static mcp_status gather(const mcp__subscriptions *self, mcp__map *into, char *copy)
{
    mcp_status st = MCP_OK;

    if (!copy)
        return MCP_E_NOMEM;
    if (!self->executor || mcp__map_get(into, copy, strlen(copy))) {
        free(copy);
        return MCP_OK;
    }
    st = into->count < GATHERED_MAX ? mcp__map_put(into, copy, strlen(copy), copy) : MCP_E_LIMIT;
    if (st != MCP_OK)
        free(copy);
    return st;
}

/* `into` is one of the two maps. */
static mcp_status spread(mcp__subscriptions *self, mcp__map *into, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mcp_alloc(size);
    mcp__executor *executor = NULL;

    if (copy)
        memcpy(copy, text, size);
    pthread_mutex_lock(&self->lock);
    mcp_status st = gather(self, into, copy);
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
