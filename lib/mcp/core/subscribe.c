/*
 * subscribe.c - clients that want news, in both eras.
 *
 *     a session      resources/subscribe names URIs one by one; changes of lists are told to everyone; what
 *                    there is to tell goes to the session's `news` peer, where the transport has one
 *     2026-07-28     subscriptions/listen is a call that stays open; what it asked for is told on its own
 *                    stream, each message with the call's id; nothing else is
 *
 * A listening call is open without a worker. It ends by the client's hanging up or cancelling, or with a
 * result when the server goes down.
 */
#include "mcp/core/subscribe.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/session.h"
#include "mcp/core/task.h"

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

mcp_status mcp__subscribe_add(mcp__session *session, const char *uri, mcp_error *err)
{
    mcp__map *subscribed = &session->subscribed;
    size_t length = strlen(uri);

    if (length > URI_MAX)
        return mcp_error_set(err, MCP_E_PARAMS, "a URI longer than %zu bytes", URI_MAX);
    if (mcp__map_get(subscribed, uri, length))
        return MCP_OK;
    if (subscribed->count >= SUBSCRIBED_MAX)
        return mcp_error_set(err, MCP_E_LIMIT, "a client may subscribe to %d resources",
                             SUBSCRIBED_MAX);
    char *copy = mcp__alloc(length + 1);
    if (copy)
        memcpy(copy, uri, length + 1);
    mcp_status st = copy ? mcp__map_put(subscribed, copy, length, copy) : MCP_E_NOMEM;
    if (st == MCP_OK)
        return MCP_OK;
    free(copy);
    return mcp_error_set(err, st, "no memory for a subscription");
}

void mcp__subscribe_remove(mcp__session *session, const char *uri)
{
    free(mcp__map_remove(&session->subscribed, uri, strlen(uri)));
}

void mcp__subscribe_clear(mcp__session *session)
{
    mcp__subscribe_free_uris(&session->subscribed);
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
    return MCP_OK;
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

static bool wants(const mcp_call *call, const char *uri)
{
    for (size_t i = 0; i < mcp_json_count(call->listens_to_uris); i++)
        if (strcmp(mcp_json_string(mcp_json_item(call->listens_to_uris, i), NULL), uri) == 0)
            return true;
    return false;
}

static void tell_call(mcp_call *call, unsigned changed, const mcp__map *uris)
{
    size_t at = 0;
    const char *uri;

    for (size_t i = 0; i < LIST_COUNT; i++)
        if (changed & call->listens_to & lists[i].bit)
            tell_one(call->notices, call, lists[i].method, NULL);
    while ((uri = mcp__map_next(uris, &at)) != NULL)
        if (wants(call, uri))
            tell_one(call->notices, call, "notifications/resources/updated", uri);
}

static void tell_session(mcp__session *session, unsigned changed, const mcp__map *uris)
{
    size_t at = 0;
    const char *uri;

    for (size_t i = 0; i < LIST_COUNT; i++)
        if (changed & lists[i].bit)
            tell_one(session->news, NULL, lists[i].method, NULL);
    while ((uri = mcp__map_next(uris, &at)) != NULL)
        if (mcp__map_get(&session->subscribed, uri, strlen(uri)))
            tell_one(session->news, NULL, "notifications/resources/updated", uri);
}

void mcp__subscribe_tell(mcp__session *session, unsigned changed, const mcp__map *uris)
{
    if (session->news && session->revision != MCP_REVISION_NONE)
        tell_session(session, changed, uris);
    for (mcp_call *call = session->calls.first; call; call = call->loop.next)
        if (call->is_listening)
            tell_call(call, changed, uris);
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

static bool listens_to(const mcp_call *call, const mcp__task_entry *entry)
{
    for (size_t i = 0; i < mcp_json_count(call->listens_to_tasks); i++)
        if (strcmp(mcp_json_string(mcp_json_item(call->listens_to_tasks, i), NULL), entry->id) == 0)
            return mcp__task_table_is_of(entry, call);
    return false;
}

void mcp__subscribe_tell_task(const mcp__task_entry *entry)
{
    mcp__news *news = entry->table->news;

    if (!news || *mcp__news_listeners(news) == 0)
        return;
    for (mcp__session *session = mcp__news_first(news); session; session = session->next_told)
        for (mcp_call *call = session->calls.first; call; call = call->loop.next)
            if (call->is_listening && listens_to(call, entry))
                tell_status(call, entry);
}
