/*
 * news.c - telling clients what changed.
 *
 *     any thread: what changed -> [gathered here] -> one node is posted -> loop: every session is told
 *
 * What is said twice before the loop gets to it is told once. Nobody to tell: nothing is gathered. When there
 * is much to tell the loop does it in turns, so that nobody waits for all of it.
 *
 * `lock` guards what is gathered and the executor that takes the node. It is not held while posting, so the
 * last session to leave, whose executor ends soon afterwards, waits until nobody is posting.
 */
#include "mcp/core/news/news.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mcp/core/news/subscribe.h"
#include "mcp/core/session/errand.h"
#include "mcp/core/session/session.h"

#define GATHERED_MAX 10000
#define MESSAGES_A_TURN 1000

struct mcp__news {
    pthread_mutex_t lock; /* guards the eight below */
    pthread_cond_t posted;
    mcp__executor *executor; /* of the sessions; NULL: there are none */
    int posting;             /* threads that are about to use it */
    mcp__news_change *changes; /* the newest first */
    mcp__map uris;     /* each its own copy */
    mcp__map elicited; /* ids of errands, likewise */
    bool is_posted;    /* and not done */

    mcp__node node;

    /* the loop's */
    mcp__session *first;
    int listeners;
    mcp__interests by_uri, by_task;
    mcp__map telling; /* URIs that are told just now */
    size_t told;      /* where in it */
};

/* ---- both -------------------------------------------------------------------------------------- */

/* With the lock held: the executor that must get the node, or NULL. */
static mcp__executor *begin_posting(mcp__news *news)
{
    if (news->is_posted || !news->executor)
        return NULL;
    news->is_posted = true;
    news->posting++;
    return news->executor;
}

static void post(mcp__news *news, mcp__executor *executor)
{
    if (!executor)
        return;
    executor->post(executor, &news->node);
    pthread_mutex_lock(&news->lock);
    if (--news->posting == 0)
        pthread_cond_broadcast(&news->posted);
    pthread_mutex_unlock(&news->lock);
}

/* ---- on the loop ------------------------------------------------------------------------------ */

/* With the lock held. */
static void gather_change(mcp__news *news, mcp__news_change *change)
{
    change->state = MCP__CHANGE_GATHERED;
    change->next = news->changes;
    news->changes = change;
}

/* With the lock held. */
static mcp__news_change *take_changes(mcp__news *news)
{
    mcp__news_change *taken = news->changes;

    for (mcp__news_change *change = taken; change; change = change->next)
        change->state = MCP__CHANGE_TOLD;
    news->changes = NULL;
    return taken;
}

/* With the lock held. */
static void return_changes(mcp__news *news, mcp__news_change *told)
{
    while (told) {
        mcp__news_change *next = told->next;
        if (told->state == MCP__CHANGE_AGAIN)
            gather_change(news, told);
        else
            told->state = MCP__CHANGE_IDLE;
        told = next;
    }
}

/* Take what was gathered. Lists and errands, which are few, are told at once; URIs in turns. */
static void begin_telling(mcp__news *news)
{
    pthread_mutex_lock(&news->lock);
    mcp__news_change *changes = take_changes(news);
    mcp__map elicited = news->elicited;
    news->telling = news->uris;
    news->told = 0;
    mcp__map_init(&news->uris, NULL);
    mcp__map_init(&news->elicited, NULL);
    pthread_mutex_unlock(&news->lock);
    for (mcp__session *session = news->first; session; session = session->next_told) {
        mcp__subscribe_tell_lists(session, changes);
        mcp__errand_tell(session, &elicited);
    }
    pthread_mutex_lock(&news->lock);
    return_changes(news, changes);
    pthread_mutex_unlock(&news->lock);
    mcp__subscribe_free_uris(&elicited);
}

static void tell_uris(mcp__news *news)
{
    const char *uri = NULL;
    int messages = 0;

    while (messages < MESSAGES_A_TURN && (uri = mcp__map_next(&news->telling, &news->told)) != NULL)
        messages += mcp__subscribe_tell_uri(&news->by_uri, uri);
    if (messages < MESSAGES_A_TURN)
        mcp__subscribe_free_uris(&news->telling);
}

/* With the lock held. */
static bool has_more(const mcp__news *news)
{
    return news->telling.count > 0 || news->changes || news->uris.count > 0 ||
           news->elicited.count > 0;
}

/* One turn. Until all is told the node is on its way, so nobody else posts it. */
static void tell(mcp__node *node)
{
    mcp__news *news = (mcp__news *)((char *)node - offsetof(mcp__news, node));
    mcp__executor *executor = NULL;

    if (news->telling.count == 0)
        begin_telling(news);
    tell_uris(news);
    pthread_mutex_lock(&news->lock);
    news->is_posted = false;
    if (has_more(news))
        executor = begin_posting(news);
    pthread_mutex_unlock(&news->lock);
    post(news, executor);
}

mcp_status mcp__news_new(mcp__news **out, mcp_error *err)
{
    mcp__news *news = mcp__alloc_zeroed(1, sizeof(*news));

    if (!news)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for news");
    pthread_mutex_init(&news->lock, NULL);
    pthread_cond_init(&news->posted, NULL);
    mcp__map_init(&news->uris, NULL);
    mcp__map_init(&news->elicited, NULL);
    mcp__map_init(&news->telling, NULL);
    mcp__interests_init(&news->by_uri);
    mcp__interests_init(&news->by_task);
    news->node.run = tell;
    *out = news;
    return MCP_OK;
}

void mcp__news_free(mcp__news *news)
{
    if (!news)
        return;
    mcp__subscribe_free_uris(&news->uris);
    mcp__subscribe_free_uris(&news->elicited);
    mcp__subscribe_free_uris(&news->telling);
    mcp__interests_clear(&news->by_uri);
    mcp__interests_clear(&news->by_task);
    pthread_cond_destroy(&news->posted);
    pthread_mutex_destroy(&news->lock);
    free(news);
}

void mcp__news_enter(mcp__news *news, mcp__session *session)
{
    session->previous_told = NULL;
    session->next_told = news->first;
    if (news->first)
        news->first->previous_told = session;
    news->first = session;
    if (session->next_told)
        return;
    pthread_mutex_lock(&news->lock);
    news->executor = session->setup.executor;
    pthread_mutex_unlock(&news->lock);
}

void mcp__news_leave(mcp__news *news, mcp__session *session)
{
    if (session->previous_told)
        session->previous_told->next_told = session->next_told;
    else
        news->first = session->next_told;
    if (session->next_told)
        session->next_told->previous_told = session->previous_told;
    if (news->first)
        return;
    pthread_mutex_lock(&news->lock);
    news->executor = NULL;
    while (news->posting > 0)
        pthread_cond_wait(&news->posted, &news->lock);
    pthread_mutex_unlock(&news->lock);
}

mcp__interests *mcp__news_by_uri(mcp__news *news)
{
    return &news->by_uri;
}

mcp__interests *mcp__news_by_task(mcp__news *news)
{
    return &news->by_task;
}

int *mcp__news_listeners(mcp__news *news)
{
    return &news->listeners;
}

/* ---- on any thread ---------------------------------------------------------------------------- */

void mcp__news_lists(mcp__news *news, mcp__news_change *change)
{
    mcp__executor *executor = NULL;

    pthread_mutex_lock(&news->lock);
    if (change->state == MCP__CHANGE_TOLD)
        change->state = MCP__CHANGE_AGAIN;
    else if (change->state == MCP__CHANGE_IDLE && news->executor)
        gather_change(news, change);
    if (news->changes)
        executor = begin_posting(news);
    pthread_mutex_unlock(&news->lock);
    post(news, executor);
}

/* With the lock held. Takes `copy`. */
static mcp_status gather(const mcp__news *news, mcp__map *into, char *copy)
{
    mcp_status st = MCP_OK;

    if (!copy)
        return MCP_E_NOMEM;
    if (!news->executor || mcp__map_get(into, copy, strlen(copy))) {
        free(copy);
        return MCP_OK;
    }
    st = into->count < GATHERED_MAX ? mcp__map_put(into, copy, strlen(copy), copy) : MCP_E_LIMIT;
    if (st != MCP_OK)
        free(copy);
    return st;
}

/* `into` is one of the two maps. */
static mcp_status spread(mcp__news *news, mcp__map *into, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = mcp__alloc(size);
    mcp__executor *executor = NULL;

    if (copy)
        memcpy(copy, text, size);
    pthread_mutex_lock(&news->lock);
    mcp_status st = gather(news, into, copy);
    if (st == MCP_OK && into->count > 0)
        executor = begin_posting(news);
    pthread_mutex_unlock(&news->lock);
    post(news, executor);
    return st;
}

mcp_status mcp__news_resource(mcp__news *news, const char *uri, mcp_error *err)
{
    mcp_status st = spread(news, &news->uris, uri);

    return st == MCP_OK ? st : mcp_error_set(err, st, "the change of a resource cannot be told");
}

mcp_status mcp__news_elicited(mcp__news *news, const char *id, mcp_error *err)
{
    mcp_status st = spread(news, &news->elicited, id);

    return st == MCP_OK ? st : mcp_error_set(err, st, "the end of an errand cannot be told");
}
