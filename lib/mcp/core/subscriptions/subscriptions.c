/*
 * subscriptions.c - clients that subscribe to changes, in both eras, and their notifications.
 *
 *     a session      resources/subscribe names URIs one by one; changes of lists are notified to everybody; all of
 *                    it goes to the session's `listener`, where the transport has one
 *     2026-07-28     subscriptions/listen is a call that stays open; what it subscribed to goes to its own stream,
 *                    each message with the call's id, and nothing else does
 *
 * A listening call is open without a worker. It ends when its client hangs up or cancels it, or
 * with a result when the server stops.
 *
 *     any thread: a change -> [gathered here] -> one node is posted -> loop: every subscriber is notified
 *
 * A change that is reported twice before the loop gets to it is notified once. Without subscribers
 * nothing is gathered. Where there is much to send the loop does it in turns, so that nobody waits
 * for all of it.
 *
 * `lock` guards the gathered changes and the executor that takes the node. It is not held while
 * posting, so who detaches the executor, which ends soon afterwards, waits until nobody is posting.
 */
#include "mcp/core/subscriptions/subscriptions.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/call/suspend.h"
#include "mcp/core/response.h"
#include "mcp/core/session/session.h"

#define GATHERED_MAX 10000
#define MESSAGES_A_TURN 1000
#define SUBSCRIBED_MAX 1000
#define LISTENERS_MAX 10000
#define URI_MAX ((size_t)16384) /* no resource has a longer one (feature/uri_template.h) */
#define MESSAGE_MAX ((size_t)1024 * 1024)
#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

static const struct list {
    unsigned bit;
    const char *member; /* of params.notifications */
    const char *method;
} lists[] = {
    { MCP__LIST_TOOLS, "toolsListChanged", "notifications/tools/list_changed" },
    { MCP__LIST_PROMPTS, "promptsListChanged", "notifications/prompts/list_changed" },
    { MCP__LIST_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed" },
};

/* By mcp_feature. */
static const unsigned list_of[] = {
    [MCP_FEATURE_TOOL] = MCP__LIST_TOOLS,
    [MCP_FEATURE_RESOURCE] = MCP__LIST_RESOURCES,
    [MCP_FEATURE_PROMPT] = MCP__LIST_PROMPTS,
};

#define LIST_COUNT (sizeof lists / sizeof lists[0])

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
    mcp__map by_uri, by_task; /* from a key to its topic */
    int listeners;            /* calls that listen */
    mcp__map notifying;       /* URIs that are being notified */
    size_t notified;          /* where in it */
};

/* ---- the index ------------------------------------------------------------------------------- */

/*
 * An index has the subscribers of each URI and each task:
 *
 *     key -> topic -> interest -> interest -> ...
 *
 * A topic is there while it has subscribers. With ten thousand listeners of a thousand keys each, a
 * key that changes is found at once, and then only its own listeners are looked at. Whether a
 * subscriber may be notified is decided when there is a change: features come and go, and a URI may
 * be subscribed to before there is anything there; so what is hidden is subscribed to like what
 * does not exist, and never notified.
 */
struct mcp__topic {
    mcp__map *topics; /* that it is in */
    LIST_HEAD(, mcp__interest) interests;
    size_t length;
    char key[];
};

static mcp__topic *topic_new(mcp__map *topics, const char *key, size_t length)
{
    mcp__topic *topic = mcp_alloc(sizeof *topic + length + 1);

    if (!topic)
        return NULL;
    topic->topics = topics;
    topic->length = length;
    LIST_INIT(&topic->interests);
    memcpy(topic->key, key, length);
    topic->key[length] = '\0';
    if (mcp__map_put(topics, topic->key, length, topic) == MCP_OK)
        return topic;
    free(topic);
    return NULL;
}

mcp_status mcp__interest_add(mcp__map *topics, mcp__interest *interest, const char *key,
                             size_t length)
{
    mcp__topic *topic = mcp__map_get(topics, key, length);

    if (!topic)
        topic = topic_new(topics, key, length);
    if (!topic)
        return MCP_E_NOMEM;
    interest->topic = topic;
    LIST_INSERT_HEAD(&topic->interests, interest, of_topic);
    return MCP_OK;
}

void mcp__interest_remove(mcp__interest *interest)
{
    mcp__topic *topic = interest->topic;

    if (!topic)
        return;
    LIST_REMOVE(interest, of_topic);
    interest->topic = NULL;
    if (!LIST_EMPTY(&topic->interests))
        return;
    (void)mcp__map_remove(topic->topics, topic->key, topic->length);
    free(topic);
}

mcp__interest *mcp__interest_first(const mcp__map *topics, const char *key, size_t length)
{
    const mcp__topic *topic = mcp__map_get(topics, key, length);

    return topic ? LIST_FIRST(&topic->interests) : NULL;
}

/* ---- within a session ------------------------------------------------------------------------ */

/* The map's key is the index's own copy, so the two go together. */
static mcp_status enter(mcp__session *session, const char *uri, size_t length)
{
    mcp__map *by_uri = &session->context.subscriptions->by_uri;
    mcp__interest *interest = mcp_alloc_zeroed(1, sizeof *interest);

    if (!interest)
        return MCP_E_NOMEM;
    interest->session = session;
    mcp_status st = mcp__interest_add(by_uri, interest, uri, length);
    if (st == MCP_OK)
        st = mcp__map_put(&session->subscribed, interest->topic->key, length, interest);
    if (st == MCP_OK)
        return MCP_OK;
    mcp__interest_remove(interest);
    free(interest);
    return st;
}

mcp_status mcp__subscribe_add(mcp__session *session, const char *uri, mcp_error *err)
{
    const mcp__map *subscribed = &session->subscribed;
    size_t length = strlen(uri);

    if (length > URI_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a URI longer than %zu bytes", URI_MAX);
    if (mcp__map_get(subscribed, uri, length))
        return MCP_OK;
    if (subscribed->count >= SUBSCRIBED_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a client may subscribe to %d resources",
                             SUBSCRIBED_MAX);
    mcp_status st = enter(session, uri, length);
    return st == MCP_OK ? st : mcp_error_set(err, st, "no memory for a subscription");
}

static void leave(mcp__interest *interest)
{
    if (interest)
        mcp__interest_remove(interest);
    free(interest);
}

void mcp__subscribe_remove(mcp__session *session, const char *uri)
{
    leave(mcp__map_remove(&session->subscribed, uri, strlen(uri)));
}

void mcp__subscribe_clear(mcp__session *session)
{
    size_t at = 0;
    mcp__interest *interest;

    for (interest = mcp__map_next(&session->subscribed, &at); interest != NULL;
         interest = mcp__map_next(&session->subscribed, &at))
        leave(interest);
    mcp__map_clear(&session->subscribed);
}

/* ---- listening ------------------------------------------------------------------------------- */

static mcp_status read_lists(mcp_call *call, const mcp_json *filter, unsigned can_change)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const mcp_json *flagged = mcp_json_get(filter, lists[i].member);
        bool flag = false;
        if (flagged && !mcp_json_bool(flagged, &flag))
            return mcp_error_set(&call->err, MCP_E_PARAMS,
                                 "params.notifications.%s must be a boolean", lists[i].member);
        if (flag)
            call->subscription->lists |= lists[i].bit & can_change;
    }
    return MCP_OK;
}

/* An array of strings. `bound` says in words what `max_bytes` is; "": no bound is needed. */
static mcp_status read_keys(const mcp_json **out, mcp_call *call, const mcp_json *filter,
                            const char *member, size_t max_bytes, const char *bound)
{
    const mcp_json *keys = mcp_json_get(filter, member);
    bool fits = !keys || (mcp_json_is_array(keys) && mcp_json_count(keys) <= SUBSCRIBED_MAX);
    size_t length = 0;

    for (size_t i = 0; fits && i < mcp_json_count(keys); i++)
        fits = mcp_json_string(mcp_json_item(keys, i), &length) && length <= max_bytes;
    if (!fits)
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.notifications.%s must be an array of at most %d strings%s",
                             member, SUBSCRIBED_MAX, bound);
    *out = keys;
    return MCP_OK;
}

static mcp_status read_filter(mcp_call *call, const mcp_json *filter, unsigned can_change,
                              bool of_uris)
{
    const mcp_json *uris = NULL, *tasks = NULL;
    mcp_status st = read_lists(call, filter, can_change);

    if (st == MCP_OK)
        st = read_keys(&uris, call, filter, "resourceSubscriptions", URI_MAX,
                       " of at most 16384 bytes");
    if (st == MCP_OK)
        st = read_keys(&tasks, call, filter, "taskIds", SIZE_MAX, "");
    if (of_uris)
        call->subscription->uris = uris;
    if (call->context->tasks && mcp_call_client_can(call, MCP_CLIENT_TASKS))
        call->subscription->tasks = tasks;
    return st;
}

/* Enter the call for each of its keys, an array of strings or NULL. The call pays. */
static mcp_status index_keys(mcp_call *call, mcp__map *topics, const mcp_json *keys)
{
    size_t count = mcp_json_count(keys);
    mcp__interest *interests = mcp_arena_array(call->arena, count, sizeof *interests);

    if (!interests)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *key = mcp_json_string(mcp_json_item(keys, i), &length);
        const mcp__interest *first = mcp__interest_first(topics, key, length);
        if (first && first->call == call)
            continue; /* a key that a client names twice is notified once */
        interests[i].call = call;
        if (mcp__interest_add(topics, &interests[i], key, length) != MCP_OK)
            return MCP_E_NOMEM;
        interests[i].of_call = call->subscription->interests;
        call->subscription->interests = &interests[i];
    }
    return MCP_OK;
}

void mcp__subscribe_leave(mcp_call *call)
{
    for (mcp__interest *i = call->subscription->interests; i; i = i->of_call)
        mcp__interest_remove(i);
    call->subscription = NULL;
}

/* The id as it came, on every message and on the result. */
static mcp_status note_id(mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, MESSAGE_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, call->request.id);
    mcp_status st = mcp_json_writer_status(&writer);
    const char *copy = st == MCP_OK ? mcp_arena_strndup(call->arena, text.data, text.length) : NULL;
    mcp_buf_clear(&text);
    if (!copy)
        return mcp_error_set(&call->err, st == MCP_OK ? MCP_E_NOMEM : st,
                             "the id of a subscription cannot be kept");
    return mcp__call_note(call, SUBSCRIPTION_ID, copy);
}

mcp_status mcp__subscribe_listen(mcp_call *call, unsigned can_change, bool of_uris)
{
    const mcp_json *filter = mcp_json_get(call->request.params, "notifications");
    mcp__subscriptions *all = call->context->subscriptions;

    if (!mcp_json_is_object(filter))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.notifications must be an object");
    call->subscription = mcp_arena_alloc(call->arena, sizeof *call->subscription);
    if (!call->subscription)
        return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a subscription");
    mcp_status st = read_filter(call, filter, can_change, of_uris);
    if (st == MCP_OK)
        st = note_id(call);
    if (st != MCP_OK)
        return st;
    if (all->listeners >= LISTENERS_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "%d calls are listening already",
                             LISTENERS_MAX);
    call->plan.active = &all->listeners;
    all->listeners++;
    (void)mcp_call_result(call);
    st = index_keys(call, &all->by_uri, call->subscription->uris);
    if (st == MCP_OK)
        st = index_keys(call, &all->by_task, call->subscription->tasks);
    if (st != MCP_OK)
        return mcp_error_set(&call->err, st, "no memory for what a call listens to");
    (void)mcp__call_suspend(call, MCP__WAIT_SUBSCRIPTION);
    return MCP_OK;
}

/* ---- notifying ------------------------------------------------------------------------------- */

void mcp__subscribe_write_id(const mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "_meta");
    mcp_write_member_value(writer, SUBSCRIPTION_ID, call->request.id);
    mcp_write_end(writer);
}

/* Those that there are, for this client. */
static void write_task_ids(const mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_array(writer, "taskIds");
    for (size_t i = 0; i < mcp_json_count(call->subscription->tasks); i++) {
        size_t length = 0;
        const char *id = mcp_json_string(mcp_json_item(call->subscription->tasks, i), &length);
        if (call->context->hooks->knows_task(call, id, length))
            mcp_write_string_n(writer, id, length);
    }
    mcp_write_end(writer);
}

void mcp__subscribe_acknowledge(mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf message;

    mcp__notification_begin(&writer, &message, MESSAGE_MAX,
                            "notifications/subscriptions/acknowledged");
    mcp_write_member_object(&writer, "params");
    mcp__subscribe_write_id(call, &writer);
    mcp_write_member_object(&writer, "notifications");
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (call->subscription->lists & lists[i].bit)
            mcp_write_member_bool(&writer, lists[i].member, true);
    if (call->subscription->uris)
        mcp_write_member_value(&writer, "resourceSubscriptions", call->subscription->uris);
    if (call->subscription->tasks)
        write_task_ids(call, &writer);
    mcp_write_end(&writer);
    mcp__notification_send(call->notification_peer, &writer, &message);
}

/* One message to a peer; for a listening call, or for a session (NULL). */
static void notify_one(mcp__peer *peer, const mcp_call *call, const char *method, const char *uri)
{
    mcp_json_writer writer;
    mcp_buf message;

    mcp__notification_begin(&writer, &message, MESSAGE_MAX, method);
    if (call || uri)
        mcp_write_member_object(&writer, "params");
    if (call)
        mcp__subscribe_write_id(call, &writer);
    if (uri)
        mcp_write_member_string(&writer, "uri", uri);
    mcp__notification_send(peer, &writer, &message);
}

/* A call of now on behalf of a subscriber, a session or a listening call: visibility is decided for
 * calls. */
static mcp_call *probe_new(mcp__session *session, const mcp_call *call)
{
    const mcp__context *context = &session->context;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_call *probe = NULL;

    if (!arena || mcp__call_new(&probe, arena, context, NULL) != MCP_OK) {
        mcp_arena_free(arena);
        mcp_log_write(&context->options->log, MCP_LOG_ERROR,
                      "no memory to notify a client of a change");
        return NULL;
    }
    probe->session = session;
    probe->request.method = call ? call->request.method : "resources/subscribe";
    probe->request.revision = call ? call->request.revision : session->revision;
    probe->request.client_can = call ? call->request.client_can : session->client_can;
    probe->request.meta = call ? call->request.meta : NULL;
    probe->principal = call ? call->principal : session->listener_principal;
    probe->features = context->hold ? context->hold(context->server) : NULL;
    return probe;
}

/* The lists that have changed for a subscriber. */
static unsigned lists_for(mcp__session *session, const mcp_call *call,
                          const mcp__list_change *changes)
{
    const mcp__visibility *visibility = session->context.visibility;
    mcp_call *probe = visibility ? probe_new(session, call) : NULL;
    unsigned changed = 0;

    for (; changes && (probe || !visibility); changes = changes->next) {
        if (!visibility || changes->is_of_view)
            changed |= changes->lists;
        for (size_t i = 0; visibility && i < changes->count; i++)
            if (visibility->may_know(probe, &changes->features[i]))
                changed |= list_of[changes->features[i].kind];
    }
    mcp__call_free(probe);
    return changed;
}

static void notify_lists(mcp__peer *peer, const mcp_call *call, unsigned changed)
{
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (changed & lists[i].bit)
            notify_one(peer, call, lists[i].method, NULL);
}

/* A session, and every listening call of it, of the lists that have changed for them. */
static void notify_of_lists(mcp__session *session, const mcp__list_change *changes)
{
    if (!changes)
        return;
    if (session->listener && session->revision != MCP_REVISION_NONE)
        notify_lists(session->listener, NULL, lists_for(session, NULL, changes));
    for (mcp_call *call = TAILQ_FIRST(&session->calls.open); call;
         call = TAILQ_NEXT(call, loop.open))
        if (mcp__call_waits_for(call, MCP__WAIT_SUBSCRIPTION) && call->subscription->lists)
            notify_lists(call->notification_peer, call,
                         call->subscription->lists & lists_for(session, call, changes));
}

static bool may_notify(mcp__session *session, const mcp_call *call, const char *uri)
{
    const mcp__visibility *visibility = session->context.visibility;

    if (!visibility)
        return true;
    mcp_call *probe = probe_new(session, call);
    bool may = probe && visibility->may_notify(probe, uri);
    mcp__call_free(probe);
    return may;
}

static void notify_uri(const mcp__interest *interest, const char *uri)
{
    const mcp_call *call = interest->call;
    mcp__session *session = call ? call->session : interest->session;
    mcp__peer *peer = call ? call->notification_peer : session->listener;

    if (peer && (call || session->revision != MCP_REVISION_NONE) && may_notify(session, call, uri))
        notify_one(peer, call, "notifications/resources/updated", uri);
}

/* Those that may know the URI. Returns how many were looked at. */
static int notify_subscribers(const mcp__subscriptions *self, const char *uri)
{
    const mcp__interest *interest = mcp__interest_first(&self->by_uri, uri, strlen(uri));
    int count = 0;

    for (; interest; interest = LIST_NEXT(interest, of_topic), count++)
        notify_uri(interest, uri);
    return count;
}

/* ---- posting --------------------------------------------------------------------------------- */

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

/* ---- rounds of notifications, on the loop ---------------------------------------------------- */

/* With the lock held. */
static void gather_change(mcp__subscriptions *self, mcp__list_change *change)
{
    change->state = MCP__CHANGE_GATHERED;
    change->next = self->changes;
    self->changes = change;
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
    mcp__list_change *changes = self->changes;
    self->changes = NULL;
    for (mcp__list_change *change = changes; change; change = change->next)
        change->state = MCP__CHANGE_NOTIFYING;
    mcp__map elicited = self->elicited;
    self->notifying = self->uris;
    self->notified = 0;
    mcp__map_init(&self->uris, NULL);
    mcp__map_init(&self->elicited, NULL);
    pthread_mutex_unlock(&self->lock);
    for (mcp__session *session = LIST_FIRST(&self->sessions); session;
         session = LIST_NEXT(session, notified)) {
        notify_of_lists(session, changes);
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
        messages += notify_subscribers(self, uri);
        uri = messages < MESSAGES_A_TURN ? mcp__map_next(&self->notifying, &self->notified) : NULL;
    }
    if (messages < MESSAGES_A_TURN)
        mcp__map_free_values(&self->notifying);
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
    if (self->notifying.count > 0 || self->changes || self->uris.count > 0 ||
        self->elicited.count > 0)
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
    mcp__map_init(&self->by_uri, NULL);
    mcp__map_init(&self->by_task, NULL);
    self->node.run = notify;
    *out = self;
    return MCP_OK;
}

void mcp__subscriptions_free(mcp__subscriptions *self)
{
    if (!self)
        return;
    assert(self->by_uri.count == 0 && self->by_task.count == 0);
    mcp__map_free_values(&self->uris);
    mcp__map_free_values(&self->elicited);
    mcp__map_free_values(&self->notifying);
    mcp__map_clear(&self->by_uri);
    mcp__map_clear(&self->by_task);
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
    if (LIST_EMPTY(&self->sessions))
        mcp__subscriptions_detach(self);
}

void mcp__subscriptions_detach(mcp__subscriptions *self)
{
    pthread_mutex_lock(&self->lock);
    self->executor = NULL;
    while (self->posting > 0)
        pthread_cond_wait(&self->posted, &self->lock);
    pthread_mutex_unlock(&self->lock);
}

mcp__interest *mcp__subscriptions_of_task(const mcp__subscriptions *self, const char *id)
{
    return mcp__interest_first(&self->by_task, id, strlen(id));
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
