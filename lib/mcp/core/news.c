/*
 * news.c - telling clients what changed.
 *
 *     any thread: what changed -> [gathered here] -> one node is posted -> loop: every session is told
 *
 * What is said twice before the loop gets to it is told once. Nobody to tell: nothing is gathered.
 *
 * `lock` guards what is gathered and the executor that takes the node. It is not held while posting, so the
 * last session to leave, whose executor ends soon afterwards, waits until nobody is posting.
 */
#include "mcp/core/news.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "mcp/core/errand.h"
#include "mcp/core/session.h"
#include "mcp/core/subscribe.h"

#define GATHERED_MAX 10000

struct mcp__news {
    pthread_mutex_t lock; /* guards the seven below */
    pthread_cond_t posted;
    mcp__executor *executor; /* of the sessions; NULL: there are none */
    int posting;             /* threads that are about to use it */
    unsigned lists;
    mcp__map uris;     /* each its own copy */
    mcp__map elicited; /* ids of errands, likewise */
    bool is_posted;

    mcp__node node;
    mcp__session *first; /* the loop's */
    int listeners;       /* the loop's */
};

/* ---- on the loop ------------------------------------------------------------------------------ */

static void tell(mcp__node *node)
{
    mcp__news *news = (mcp__news *)((char *)node - offsetof(mcp__news, node));

    pthread_mutex_lock(&news->lock);
    unsigned lists = news->lists;
    mcp__map uris = news->uris;
    mcp__map elicited = news->elicited;
    news->lists = 0;
    mcp__map_init(&news->uris, NULL);
    mcp__map_init(&news->elicited, NULL);
    news->is_posted = false;
    pthread_mutex_unlock(&news->lock);
    for (mcp__session *session = news->first; session; session = session->next_told) {
        mcp__subscribe_tell(session, lists, &uris);
        mcp__errand_tell(session, &elicited);
    }
    mcp__subscribe_free_uris(&uris);
    mcp__subscribe_free_uris(&elicited);
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

mcp__session *mcp__news_first(const mcp__news *news)
{
    return news->first;
}

int *mcp__news_listeners(mcp__news *news)
{
    return &news->listeners;
}

/* ---- on any thread ---------------------------------------------------------------------------- */

/* With the lock held: the executor that must get the node, or NULL. */
static mcp__executor *begin_posting(mcp__news *news)
{
    if (news->is_posted)
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

void mcp__news_lists(mcp__news *news, unsigned lists)
{
    mcp__executor *executor = NULL;

    pthread_mutex_lock(&news->lock);
    if (news->executor && lists) {
        news->lists |= lists;
        executor = begin_posting(news);
    }
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
