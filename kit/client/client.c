/*
 * client.c - the life of a client, and the handshake.
 *
 * One thread opens the connection, the others wait for it. First the server is asked by
 * server/discover, which servers before 2026-07-28 do not know: any error, and no answer within a
 * third of the time, leads to initialize. Which of both it was is remembered for the next time.
 */
#include "client/client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/client_int.h"
#include "mcp/alloc.h"
#include "mcp/clock.h"
#include "thread/thread.h"

enum { WAIT_MS = 50, HANDSHAKE_MAX = 1 << 20 };

/* ---- messages -------------------------------------------------------------------------------- */

static void write_identity(mcp_json_writer *writer, const char *member, const client *self)
{
    mcp_write_member_object(writer, member);
    mcp_write_member_string(writer, "name", self->name);
    mcp_write_member_string(writer, "version", self->version);
    mcp_write_end(writer);
}

void client_write_head(mcp_json_writer *writer, const client *self,
                       const struct client_session *session, int64_t number, const char *method)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    if (number >= 0)
        mcp_write_member_int(writer, "id", number);
    mcp_write_member_string(writer, "method", method);
    mcp_write_member_object(writer, "params");
    mcp_write_member_object(writer, "_meta");
    if (!session->is_modern)
        return;
    mcp_write_member_string(writer, "io.modelcontextprotocol/protocolVersion", session->revision);
    mcp_write_member_object(writer, "io.modelcontextprotocol/clientCapabilities");
    mcp_write_end(writer);
    write_identity(writer, "io.modelcontextprotocol/clientInfo", self);
}

static void write_end(mcp_json_writer *writer)
{
    mcp_write_end(writer); /* params */
    mcp_write_end(writer);
}

void client_write_cancelled(mcp_json_writer *writer, const struct client_exchange *exchange)
{
    mcp_write_object(writer);
    mcp_write_member_string(writer, "jsonrpc", "2.0");
    mcp_write_member_string(writer, "method", "notifications/cancelled");
    mcp_write_member_object(writer, "params");
    mcp_write_member_int(writer, "requestId", exchange->number);
    mcp_write_member_string(writer, "reason", "the client no longer waits");
    write_end(writer);
}

void client_list_has_changed(client *self)
{
    if (self->on_list_changed)
        self->on_list_changed(self->data);
}

void client_take_progress(const client_call *call, int64_t number,
                          const struct client_message *message)
{
    const mcp_json *params = message->params;
    int64_t token = -1;
    double progress = 0;
    double total = NAN;

    if (!call || !call->on_progress || strcmp(message->method, "notifications/progress") != 0)
        return;
    if (!mcp_json_int(mcp_json_get(params, "progressToken"), &token) || token != number ||
        !mcp_json_double(mcp_json_get(params, "progress"), &progress))
        return;
    mcp_json_double(mcp_json_get(params, "total"), &total);
    call->on_progress(call->data, progress, total, mcp_json_get_string(params, "message"));
}

/* ---- the handshake --------------------------------------------------------------------------- */

/* One request of the handshake; `answer` is the arena's. */
static mcp_status ask(const mcp_json **answer, client *self, struct client_session *session,
                      mcp_arena *arena, struct client_exchange *exchange, const mcp_buf *text,
                      mcp_error *err)
{
    if (text->status != MCP_OK)
        return mcp_error_set(err, text->status, "%s: the handshake cannot be written", self->label);
    exchange->session = session;
    exchange->is_handshake = true;
    exchange->text = text->data;
    exchange->length = text->length;
    mcp_buf_init(&exchange->answer, self->message_max);
    mcp_status st = self->link->kind->exchange(self->link, exchange, err);
    if (st == MCP_OK)
        st = mcp_json_read(answer, arena, exchange->answer.data, exchange->answer.length, err);
    mcp_buf_clear(&exchange->answer);
    return st;
}

static bool has_text(const mcp_json *array, const char *text)
{
    for (size_t i = 0; i < mcp_json_count(array); i++) {
        const char *item = mcp_json_string(mcp_json_item(array, i), NULL);
        if (item && strcmp(item, text) == 0)
            return true;
    }
    return false;
}

static bool lists_change(const mcp_json *result)
{
    bool changes = false;

    mcp_json_bool(mcp_json_pointer(result, "/capabilities/tools/listChanged"), &changes);
    return changes;
}

/* MCP_OK with session->is_modern, or without: the server is of an older revision. */
static mcp_status discover(client *self, struct client_session *session, mcp_arena *arena,
                           int64_t until_ms, mcp_error *err)
{
    int64_t now_ms = mcp_clock_mono_ms();
    struct client_exchange exchange = { .number = atomic_fetch_add(&self->numbers, 1),
                                        .method = "server/discover",
                                        .until_ms = now_ms + (until_ms - now_ms) / 3 };
    const mcp_json *answer = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    session->is_modern = true;
    memcpy(session->revision, CLIENT_MODERN, sizeof CLIENT_MODERN);
    mcp_buf_init(&text, HANDSHAKE_MAX);
    mcp_json_writer_init(&writer, &text);
    client_write_head(&writer, self, session, exchange.number, exchange.method);
    mcp_write_end(&writer);
    write_end(&writer);
    mcp_status st = ask(&answer, self, session, arena, &exchange, &text, err);
    mcp_buf_clear(&text);
    const mcp_json *result = mcp_json_get(answer, "result");
    session->is_modern = st == MCP_OK &&
                         has_text(mcp_json_get(result, "supportedVersions"), CLIENT_MODERN);
    session->lists_change = lists_change(result);
    /* A server that ends, or does not answer, at a request it does not know is an older one. */
    if (exchange.is_lost && exchange.may_have_arrived && st == MCP_E_IO)
        return self->link->kind->open(self->link, until_ms, err);
    bool is_older = st == MCP_OK || (exchange.may_have_arrived && st == MCP_E_TIMEOUT) ||
                    st == MCP_E_PARSE || st == MCP_E_SCHEMA || st == MCP_E_REQUEST;
    return is_older ? MCP_OK : st;
}

static bool is_legacy_revision(const char *text)
{
    static const char *const revisions[] = { CLIENT_LEGACY, "2025-06-18", "2025-03-26",
                                             "2024-11-05" };

    for (size_t i = 0; text && i < sizeof revisions / sizeof revisions[0]; i++) {
        if (strcmp(text, revisions[i]) == 0)
            return true;
    }
    return false;
}

static mcp_status read_initialized(client *self, struct client_session *session,
                                   const mcp_json *answer, mcp_error *err)
{
    const mcp_json *result = mcp_json_get(answer, "result");
    const char *revision = mcp_json_get_string(result, "protocolVersion");

    if (!result)
        return mcp_error_set(err, MCP_E_REVISION, "%s: it refuses to be initialized", self->label);
    if (!is_legacy_revision(revision))
        return mcp_error_set(err, MCP_E_REVISION, "%s: no protocol revision in common",
                             self->label);
    memcpy(session->revision, revision, CLIENT_REVISION_SIZE);
    session->lists_change = lists_change(result);
    return MCP_OK;
}

static mcp_status initialize(client *self, struct client_session *session, mcp_arena *arena,
                             int64_t until_ms, mcp_error *err)
{
    struct client_exchange exchange = { .number = atomic_fetch_add(&self->numbers, 1),
                                        .method = "initialize",
                                        .until_ms = until_ms };
    const mcp_json *answer = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    session->revision[0] = '\0';
    mcp_buf_init(&text, HANDSHAKE_MAX);
    mcp_json_writer_init(&writer, &text);
    client_write_head(&writer, self, session, exchange.number, exchange.method);
    mcp_write_end(&writer);
    mcp_write_member_string(&writer, "protocolVersion", CLIENT_LEGACY);
    mcp_write_member_object(&writer, "capabilities");
    mcp_write_end(&writer);
    write_identity(&writer, "clientInfo", self);
    write_end(&writer);
    mcp_status st = ask(&answer, self, session, arena, &exchange, &text, err);
    mcp_buf_clear(&text);
    if (st == MCP_E_REQUEST) /* a status of HTTP without a response */
        st = mcp_error_set(err, MCP_E_IO, "%s: it refuses to be initialized", self->label);
    if (st == MCP_OK)
        st = read_initialized(self, session, answer, err);
    memcpy(session->id, exchange.session_id, sizeof session->id);
    return st;
}

static mcp_status begin(client *self, const struct client_session *session, int64_t until_ms,
                        mcp_error *err)
{
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, HANDSHAKE_MAX);
    mcp_json_writer_init(&writer, &text);
    client_write_head(&writer, self, session, -1, "notifications/initialized");
    mcp_write_end(&writer);
    write_end(&writer);
    mcp_status st = text.status;
    if (st == MCP_OK)
        st = self->link->kind->begin(self->link, session, session->is_modern ? NULL : text.data,
                                     text.length, until_ms, err);
    mcp_buf_clear(&text);
    return st;
}

/* By the thread that has made the state CLIENT_OPENING. */
static mcp_status open_connection(client *self, struct client_session *session, bool is_legacy,
                                  int64_t until_ms, mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(self->message_max * 16);

    if (!arena)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a handshake");
    mcp_status st = self->link->kind->open(self->link, until_ms, err);
    if (st == MCP_OK && !is_legacy)
        st = discover(self, session, arena, until_ms, err);
    if (st == MCP_OK && !session->is_modern)
        st = initialize(self, session, arena, until_ms, err);
    if (st == MCP_OK)
        st = begin(self, session, until_ms, err);
    mcp_arena_free(arena);
    return st;
}

/* ---- one connection for all threads ---------------------------------------------------------- */

/* With the lock: wait while another thread opens the connection. */
static mcp_status wait_for_opening(client *self, const client_wait *wait, int64_t until_ms,
                                   mcp_error *err)
{
    while (self->state == CLIENT_OPENING) {
        int64_t now_ms = mcp_clock_mono_ms();
        if (now_ms >= until_ms)
            return mcp_error_set(err, MCP_E_TIMEOUT, "%s: not connected in time", self->label);
        if (wait->should_stop && wait->should_stop(wait->data))
            return mcp_error_set(err, MCP_E_STOPPED, "%s: the call was stopped", self->label);
        thread_wait_until(&self->changed, &self->lock,
                          until_ms - now_ms > WAIT_MS ? now_ms + WAIT_MS : until_ms);
    }
    return MCP_OK;
}

/* With the lock, which is released meanwhile. */
static mcp_status open_by_this_thread(client *self, int64_t until_ms, mcp_error *err)
{
    struct client_session session = { .generation = self->session.generation + 1 };
    int64_t now_ms = mcp_clock_mono_ms();
    bool is_legacy = self->is_legacy;

    if (until_ms - now_ms > self->open_ms)
        until_ms = now_ms + self->open_ms;
    self->state = CLIENT_OPENING;
    pthread_mutex_unlock(&self->lock);
    mcp_status st = open_connection(self, &session, is_legacy, until_ms, err);
    pthread_mutex_lock(&self->lock);
    self->state = st == MCP_OK ? CLIENT_OPEN : CLIENT_CLOSED;
    self->is_legacy = st == MCP_OK && !session.is_modern;
    self->session = session;
    pthread_cond_broadcast(&self->changed);
    return st;
}

mcp_status client_connect(client *self, struct client_session *out, const client_wait *wait,
                          int64_t until_ms, mcp_error *err)
{
    pthread_mutex_lock(&self->lock);
    mcp_status st = wait_for_opening(self, wait, until_ms, err);
    if (st == MCP_OK && self->state == CLIENT_CLOSED)
        st = open_by_this_thread(self, until_ms, err);
    if (st == MCP_OK)
        *out = self->session;
    pthread_mutex_unlock(&self->lock);
    return st;
}

void client_disconnect(client *self, uint64_t generation)
{
    pthread_mutex_lock(&self->lock);
    if (self->state == CLIENT_OPEN && self->session.generation == generation)
        self->state = CLIENT_CLOSED;
    pthread_mutex_unlock(&self->lock);
}

void client_revision(client *self, char out[CLIENT_REVISION_SIZE])
{
    pthread_mutex_lock(&self->lock);
    memset(out, 0, CLIENT_REVISION_SIZE);
    if (self->state == CLIENT_OPEN)
        memcpy(out, self->session.revision, CLIENT_REVISION_SIZE);
    pthread_mutex_unlock(&self->lock);
}

/* ---- life ------------------------------------------------------------------------------------ */

mcp_status client_new(client **out, const client_options *options, mcp_error *err)
{
    client *self = mcp_alloc_zeroed(1, sizeof *self);

    if (!self)
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for an MCP client");
    pthread_mutex_init(&self->lock, NULL);
    thread_cond_init(&self->changed);
    self->label = mcp_alloc_strdup(options->label ? options->label : "the MCP server");
    self->name = mcp_alloc_strdup(options->name ? options->name : "causeway");
    self->version = mcp_alloc_strdup(options->version ? options->version : CAUSEWAY_VERSION);
    self->open_ms = options->open_ms > 0 ? options->open_ms : CLIENT_OPEN_MS;
    self->message_max = options->message_max_bytes ? options->message_max_bytes
                                                   : CLIENT_MESSAGE_MAX;
    self->on_list_changed = options->on_list_changed;
    self->data = options->data;
    mcp_status st = MCP_OK;
    if (!self->label || !self->name || !self->version)
        st = mcp_error_set(err, MCP_E_NOMEM, "no memory for an MCP client");
    else if (options->child && !options->url)
        st = client_stdio_new(&self->link, self, options, err);
    else if (options->url && options->pool && !options->child)
        st = client_http_new(&self->link, self, options, err);
    else
        st = mcp_error_set(err, MCP_E_PARAMS, "%s: it has neither a URL nor a child, or both",
                           self->label);
    if (st == MCP_OK)
        *out = self;
    else
        client_free(self);
    return st;
}

void client_free(client *self)
{
    if (!self)
        return;
    if (self->link)
        self->link->kind->free(self->link);
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    free(self->label);
    free(self->name);
    free(self->version);
    free(self);
}
