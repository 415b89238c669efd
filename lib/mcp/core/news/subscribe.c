/*
 * subscribe.c - clients that want news, in both eras.
 *
 *     a session      resources/subscribe names URIs one by one; changes of lists are told to everyone; what
 *                    there is to tell goes to the session's `news` peer, where the transport has one
 *     2026-07-28     subscriptions/listen is a call that stays open; what it asked for is told on its own
 *                    stream, each message with the call's id; nothing else is
 *
 * Who wants which URI, or task, is in an index (interest.c). Whether one may hear of it is asked when there is
 * something to tell: features come and go, and a URI may be subscribed to before there is anything there; so
 * what is hidden is subscribed to as what does not exist, and never told.
 *
 * A listening call is open without a worker. It ends by the client's hanging up or cancelling, or with a
 * result when the server goes down.
 */
#include "mcp/core/news/subscribe.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/session/session.h"
#include "mcp/core/task/task.h"

#define SUBSCRIBED_MAX 1000
#define LISTENERS_MAX 10000
#define URI_MAX ((size_t)16 * 1024) /* no resource has a longer one (feature/uri_template.h) */
#define MESSAGE_MAX ((size_t)1024 * 1024)
#define SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"

static const struct list {
    unsigned bit;
    const char *wish; /* its member of `notifications` */
    const char *method;
} lists[] = {
    { MCP__NEWS_TOOLS,     "toolsListChanged",     "notifications/tools/list_changed" },
    { MCP__NEWS_PROMPTS,   "promptsListChanged",   "notifications/prompts/list_changed" },
    { MCP__NEWS_RESOURCES, "resourcesListChanged", "notifications/resources/list_changed" },
};

/* By mcp_feature. */
static const unsigned list_of[] = {
    [MCP_FEATURE_TOOL] = MCP__NEWS_TOOLS,
    [MCP_FEATURE_RESOURCE] = MCP__NEWS_RESOURCES,
    [MCP_FEATURE_PROMPT] = MCP__NEWS_PROMPTS,
};

#define LIST_COUNT (sizeof(lists) / sizeof(lists[0]))

/* ---- within a session ------------------------------------------------------------------------- */

void mcp__subscribe_free_uris(mcp__map *uris)
{
    size_t at = 0;
    char *uri;

    while ((uri = mcp__map_next(uris, &at)) != NULL)
        free(uri);
    mcp__map_clear(uris);
}

/* The map's key is the index's own copy, so the two go together. */
static mcp_status enter(mcp__session *session, const char *uri, size_t length)
{
    mcp__interests *by_uri = mcp__news_by_uri(session->setup.news);
    mcp__interest *interest = mcp__alloc_zeroed(1, sizeof(*interest));

    if (!interest)
        return MCP_E_NOMEM;
    interest->session = session;
    mcp_status st = mcp__interest_add(by_uri, interest, uri, length);
    if (st == MCP_OK)
        st = mcp__map_put(&session->subscribed, mcp__interest_key(interest), length, interest);
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

    while ((interest = mcp__map_next(&session->subscribed, &at)) != NULL)
        leave(interest);
    mcp__map_clear(&session->subscribed);
}

/* ---- listening -------------------------------------------------------------------------------- */

static mcp_status read_lists(mcp_call *call, const mcp_json *wishes, unsigned can_change)
{
    for (size_t i = 0; i < LIST_COUNT; i++) {
        const mcp_json *wish = mcp_json_get(wishes, lists[i].wish);
        bool flag = false;
        if (wish && !mcp_json_bool(wish, &flag))
            return mcp_error_set(&call->err, MCP_E_PARAMS,
                                 "params.notifications.%s must be a boolean", lists[i].wish);
        if (flag)
            call->listens_to |= lists[i].bit & can_change;
    }
    return MCP_OK;
}

static bool is_uri(const mcp_json *value)
{
    size_t length = 0;

    return mcp_json_string(value, &length) && length <= URI_MAX;
}

static mcp_status read_uris(mcp_call *call, const mcp_json *wishes, bool of_uris)
{
    const mcp_json *uris = mcp_json_get(wishes, "resourceSubscriptions");
    bool fits = !uris || (mcp_json_is_array(uris) && mcp_json_count(uris) <= SUBSCRIBED_MAX);

    for (size_t i = 0; fits && i < mcp_json_count(uris); i++)
        fits = is_uri(mcp_json_item(uris, i));
    if (!fits)
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.notifications.resourceSubscriptions must be an array of at most "
                             "%d strings of at most %zu bytes", SUBSCRIBED_MAX, URI_MAX);
    if (of_uris)
        call->listens_to_uris = uris;
    return MCP_OK;
}

/* Ids of tasks, for clients that know tasks. */
static mcp_status read_tasks(mcp_call *call, const mcp_json *wishes)
{
    const mcp_json *ids = mcp_json_get(wishes, "taskIds");
    bool fits = !ids || (mcp_json_is_array(ids) && mcp_json_count(ids) <= SUBSCRIBED_MAX);

    for (size_t i = 0; fits && i < mcp_json_count(ids); i++)
        fits = mcp_json_is_string(mcp_json_item(ids, i));
    if (!fits)
        return mcp_error_set(&call->err, MCP_E_PARAMS,
                             "params.notifications.taskIds must be an array of at most %d strings",
                             SUBSCRIBED_MAX);
    if (call->session->setup.tasks && mcp_call_client_can(call, MCP_CLIENT_TASKS))
        call->listens_to_tasks = ids;
    return MCP_OK;
}

/* A key that a client names twice is told once. */
static bool is_in(const mcp__interests *all, const mcp_call *call, const char *key, size_t length)
{
    const mcp__interest *first = mcp__interest_first(all, key, length);

    return first && first->call == call;
}

/* Enter the call for each of its keys, an array of strings or NULL. The call pays. */
static mcp_status index_keys(mcp_call *call, mcp__interests *all, const mcp_json *keys)
{
    size_t count = mcp_json_count(keys);
    mcp__interest *interests = count > 0 ? mcp_arena_alloc(call->arena, count * sizeof(*interests))
                                         : NULL;

    if (count > 0 && !interests)
        return MCP_E_NOMEM;
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *key = mcp_json_string(mcp_json_item(keys, i), &length);
        if (is_in(all, call, key, length))
            continue;
        interests[i].call = call;
        if (mcp__interest_add(all, &interests[i], key, length) != MCP_OK)
            return MCP_E_NOMEM;
        interests[i].of_call = call->interests;
        call->interests = &interests[i];
    }
    return MCP_OK;
}

static mcp_status index_call(mcp_call *call)
{
    mcp__news *news = call->session->setup.news;
    mcp_status st = index_keys(call, mcp__news_by_uri(news), call->listens_to_uris);

    if (st == MCP_OK)
        st = index_keys(call, mcp__news_by_task(news), call->listens_to_tasks);
    return st == MCP_OK ? st
                        : mcp_error_set(&call->err, st, "no memory for what a call listens to");
}

void mcp__subscribe_leave(mcp_call *call)
{
    for (mcp__interest *interest = call->interests; interest; interest = interest->of_call)
        mcp__interest_remove(interest);
    call->interests = NULL;
}

/* The id as it came, on every message and on the result. */
static mcp_status note_id(mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, MESSAGE_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_value(&writer, call->id);
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
    const mcp_json *wishes = mcp_json_get(call->params, "notifications");
    mcp__news *news = call->session->setup.news;
    mcp_status st;

    if (!mcp_json_is_object(wishes))
        return mcp_error_set(&call->err, MCP_E_PARAMS, "params.notifications must be an object");
    st = read_lists(call, wishes, can_change);
    if (st == MCP_OK)
        st = read_uris(call, wishes, of_uris);
    if (st == MCP_OK)
        st = read_tasks(call, wishes);
    if (st == MCP_OK)
        st = note_id(call);
    if (st != MCP_OK)
        return st;
    if (*mcp__news_listeners(news) >= LISTENERS_MAX)
        return mcp_error_set(&call->err, MCP_E_LIMIT, "%d calls are listening already",
                             LISTENERS_MAX);
    call->tally = mcp__news_listeners(news);
    (*call->tally)++;
    call->is_listening = true;
    (void)mcp_call_result(call);
    return index_call(call);
}

/* ---- telling ---------------------------------------------------------------------------------- */

static void begin(mcp_json_writer *writer, mcp_buf *message, const char *method)
{
    mcp_buf_init(message, MESSAGE_MAX);
    mcp_json_writer_init(writer, message);
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    mcp_write_member_string(writer, "method", method);
}

static void send(mcp__peer *peer, mcp_json_writer *writer, mcp_buf *message)
{
    mcp_write_end(writer);
    if (mcp_json_writer_status(writer) == MCP_OK)
        peer->notify(peer, message);
    mcp_buf_clear(message);
}

static void write_id(const mcp_call *call, mcp_json_writer *writer)
{
    mcp_write_member_object(writer, "_meta");
    mcp_write_member_value(writer, SUBSCRIPTION_ID, call->id);
    mcp_write_end(writer);
}

/* Those that there are, for this client. */
static void write_task_ids(const mcp_call *call, mcp_json_writer *writer)
{
    const mcp__task_table *tasks = call->session->setup.tasks;

    mcp_write_member_array(writer, "taskIds");
    for (size_t i = 0; i < mcp_json_count(call->listens_to_tasks); i++) {
        size_t length = 0;
        const char *id = mcp_json_string(mcp_json_item(call->listens_to_tasks, i), &length);
        if (mcp__task_table_find(tasks, id, length, call))
            mcp_write_string_n(writer, id, length);
    }
    mcp_write_end(writer);
}

void mcp__subscribe_acknowledge(mcp_call *call)
{
    mcp_json_writer writer;
    mcp_buf message;

    begin(&writer, &message, "notifications/subscriptions/acknowledged");
    mcp_write_member_object(&writer, "params");
    write_id(call, &writer);
    mcp_write_member_object(&writer, "notifications");
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (call->listens_to & lists[i].bit)
            mcp_write_member_bool(&writer, lists[i].wish, true);
    if (call->listens_to_uris)
        mcp_write_member_value(&writer, "resourceSubscriptions", call->listens_to_uris);
    if (call->listens_to_tasks)
        write_task_ids(call, &writer);
    mcp_write_end(&writer);
    mcp_write_end(&writer);
    send(call->notices, &writer, &message);
}

/* One message to a peer; for a listening call, or for a session (NULL). */
static void tell_one(mcp__peer *peer, const mcp_call *call, const char *method, const char *uri)
{
    mcp_json_writer writer;
    mcp_buf message;

    begin(&writer, &message, method);
    if (call || uri)
        mcp_write_member_object(&writer, "params");
    if (call)
        write_id(call, &writer);
    if (uri)
        mcp_write_member_string(&writer, "uri", uri);
    if (call || uri)
        mcp_write_end(&writer);
    send(peer, &writer, &message);
}

/* Someone to ask the audience about, as a call of now: on a session's behalf, or a listening call's. */
static mcp_call *guest_new(mcp__session *session, const mcp_call *call)
{
    const mcp__session_setup *setup = &session->setup;
    mcp_arena *arena = mcp_arena_new(0);
    mcp_call *guest = NULL;

    if (!arena || mcp__call_new(&guest, arena, setup->options, setup->no_arguments, NULL) != MCP_OK) {
        mcp_arena_free(arena);
        mcp_log_write(&setup->options->log, MCP_LOG_ERROR, "no memory to tell a client of a change");
        return NULL;
    }
    guest->server = setup->server;
    guest->session = session;
    guest->method = call ? call->method : "resources/subscribe";
    guest->revision = call ? call->revision : session->revision;
    guest->client_can = call ? call->client_can : session->client_can;
    guest->meta = call ? call->meta : NULL;
    guest->principal = call ? call->principal : session->hearer;
    guest->set = setup->hold ? setup->hold(setup->server) : NULL;
    return guest;
}

/* The lists that have changed for who asks. */
static unsigned lists_for(mcp__session *session, const mcp_call *call,
                          const mcp__news_change *changes)
{
    const mcp__audience *audience = session->setup.audience;
    mcp_call *guest = audience ? guest_new(session, call) : NULL;
    unsigned changed = 0;

    for (; changes && (guest || !audience); changes = changes->next) {
        if (!audience)
            changed |= changes->lists;
        for (size_t i = 0; audience && i < changes->count; i++)
            if (audience->may_know(guest, &changes->features[i]))
                changed |= list_of[changes->features[i].kind];
    }
    mcp__call_free(guest);
    return changed;
}

static void tell_lists(mcp__peer *peer, const mcp_call *call, unsigned changed)
{
    for (size_t i = 0; i < LIST_COUNT; i++)
        if (changed & lists[i].bit)
            tell_one(peer, call, lists[i].method, NULL);
}

void mcp__subscribe_tell_lists(mcp__session *session, const mcp__news_change *changes)
{
    if (!changes)
        return;
    if (session->news && session->revision != MCP_REVISION_NONE)
        tell_lists(session->news, NULL, lists_for(session, NULL, changes));
    for (mcp_call *call = session->calls.first; call; call = call->loop.next)
        if (call->is_listening && call->listens_to)
            tell_lists(call->notices, call, call->listens_to & lists_for(session, call, changes));
}

static bool may_hear(mcp__session *session, const mcp_call *call, const char *uri)
{
    const mcp__audience *audience = session->setup.audience;

    if (!audience)
        return true;
    mcp_call *guest = guest_new(session, call);
    bool may = guest && audience->may_hear(guest, uri);
    mcp__call_free(guest);
    return may;
}

static void tell_uri(const mcp__interest *interest, const char *uri)
{
    const mcp_call *call = interest->call;
    mcp__session *session = call ? call->session : interest->session;
    mcp__peer *peer = call ? call->notices : session->news;

    if (peer && (call || session->revision != MCP_REVISION_NONE) && may_hear(session, call, uri))
        tell_one(peer, call, "notifications/resources/updated", uri);
}

int mcp__subscribe_tell_uri(const mcp__interests *by_uri, const char *uri)
{
    const mcp__interest *interest = mcp__interest_first(by_uri, uri, strlen(uri));
    int count = 0;

    for (; interest; interest = interest->next, count++)
        tell_uri(interest, uri);
    return count;
}

/* ---- tasks ------------------------------------------------------------------------------------ */

static void tell_status(const mcp_call *call, const mcp__task_entry *entry)
{
    mcp_json_writer writer;
    mcp_buf message;

    begin(&writer, &message, "notifications/tasks");
    message.max_bytes = call->options->reply_max_bytes; /* what the task ended with is in it */
    mcp_write_member_object(&writer, "params");
    write_id(call, &writer);
    mcp__task_write_detailed(entry, &writer);
    mcp_write_end(&writer);
    send(call->notices, &writer, &message);
}

void mcp__subscribe_tell_task(const mcp__task_entry *entry)
{
    mcp__news *news = entry->table->news;

    if (!news)
        return;
    const mcp__interest *interest = mcp__interest_first(mcp__news_by_task(news), entry->id,
                                                        strlen(entry->id));
    for (; interest; interest = interest->next)
        if (mcp__task_table_is_of(entry, interest->call))
            tell_status(interest->call, entry);
}
