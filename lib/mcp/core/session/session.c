/*
 * session.c - the memory of an older client between its messages.
 *
 * Revisions up to 2025-11-25 open with initialize, and what was agreed there holds until the next
 * one. Calls that are open then keep the revision they came under, because they carry their own
 * copy.
 *
 * notifications/elicitation/complete goes to the one client that it concerns. An elicitation is
 * remembered when the client learns of it, and forgotten when it is complete, or with the session.
 * Programs that complete them in another way never report it, so their number is bounded: beyond it
 * the client is not notified, which it has to expect in any case.
 */
#include "mcp/core/session/session.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "mcp/core/call/client.h"
#include "mcp/core/call/input_requests.h"
#include "mcp/core/call/suspend.h"
#include "mcp/core/response.h"

#define ELICITATIONS_MAX 100
#define ELICITATION_MESSAGE_MAX ((size_t)64 * 1024)
#define CLIENT_MAX ((size_t)8 * 1024 * 1024) /* memory for what a client says about itself */

mcp_status mcp__session_init(mcp__session *session, const mcp__context *context, mcp_error *err)
{
    *session = (mcp__session){ .context = *context, .log_level = MCP_LEVEL_INFO };
    session->context.calls = &session->calls;
    session->context.spare = &session->spare;
    mcp__call_table_init(&session->calls);
    mcp_buf_init(&session->spare, MCP__RESPONSE_SPARE * 2);
    if (!mcp_buf_reserve(&session->spare, MCP__RESPONSE_SPARE))
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    mcp__map_init(&session->subscribed, NULL);
    mcp__map_init(&session->elicitations, NULL);
    mcp__map_init(&session->requested, NULL);
    if (context->hooks)
        context->hooks->session_begins(session);
    return MCP_OK;
}

void mcp__session_clear(mcp__session *session)
{
    assert(TAILQ_EMPTY(&session->calls.open) && session->calls.running == 0);
    if (session->context.hooks)
        session->context.hooks->session_ends(session);
    mcp__map_free_values(&session->elicitations);
    mcp__map_clear(&session->requested);
    mcp_buf_clear(&session->spare);
    mcp_arena_free(session->client);
    mcp_arena_free(session->listener_arena);
    session->client = session->listener_arena = NULL;
}

mcp_status mcp__session_set_listener(mcp__session *session, const mcp_principal *principal,
                                     mcp_error *err)
{
    mcp_arena *arena = NULL;
    const mcp_principal *kept = NULL;
    bool is_lost = false;

    if (principal && session->context.visibility) { /* else it makes no difference */
        arena = mcp_arena_new(0);
        is_lost = !arena;
        if (arena)
            kept = mcp__principal_copy(arena, principal, &is_lost);
    }
    if (is_lost) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a stream");
    }
    mcp_arena_free(session->listener_arena);
    session->listener_arena = arena;
    session->listener_principal = kept;
    return MCP_OK;
}

mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(CLIENT_MAX * 4); /* the message goes when it is answered */
    const mcp_json *client = mcp__message_copy(arena, params, CLIENT_MAX, NULL);
    mcp__client_names names = { 0 };

    if (!client ||
        mcp__client_names_read(&names, arena, mcp_json_get(client, "clientInfo")) != MCP_OK) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    }
    mcp_arena_free(session->client);
    session->client = arena;
    session->client_names = names;
    session->client_capabilities = mcp_json_get(client, "capabilities");
    session->client_can = mcp__client_read(session->client_capabilities);
    session->log_level = MCP_LEVEL_INFO;
    if (session->context.hooks)
        session->context.hooks->session_reopens(session);
    mcp__map_free_values(&session->elicitations);
    session->revision = revision;
    session->is_initialized = false;
    return MCP_OK;
}

/* ---- URLs that the user was sent to ---------------------------------------------------------- */

static void keep_elicitation(mcp__session *session, const char *id)
{
    mcp__map *elicitations = &session->elicitations;

    if (mcp__map_get(elicitations, id, strlen(id)) || elicitations->count >= ELICITATIONS_MAX)
        return;
    char *copy = mcp_alloc_strdup(id);
    if (copy && mcp__map_put(elicitations, copy, strlen(copy), copy) != MCP_OK)
        free(copy);
}

void mcp__url_elicitation_keep(mcp__session *session, const mcp_call *call)
{
    const mcp__url_elicitation *elicitation = session ? call->input.elicitations : NULL;

    for (; elicitation; elicitation = elicitation->next)
        keep_elicitation(session, elicitation->id);
}

static void notify_complete(mcp__session *session, const char *id)
{
    mcp_json_writer writer;
    mcp_buf message;

    mcp__notification_begin(&writer, &message, ELICITATION_MESSAGE_MAX,
                            "notifications/elicitation/complete");
    mcp_write_member_object(&writer, "params");
    mcp_write_member_string(&writer, "elicitationId", id);
    mcp__notification_send(session->listener, &writer, &message);
}

void mcp__url_elicitation_complete(mcp__session *session, const mcp__map *ids)
{
    size_t at = 0;
    const char *id;

    for (id = mcp__map_next(ids, &at); id != NULL; id = mcp__map_next(ids, &at)) {
        char *kept = mcp__map_remove(&session->elicitations, id, strlen(id));
        if (kept && session->listener)
            notify_complete(session, kept);
        free(kept);
    }
}

/* ---- requests for input, and their responses ------------------------------------------------- */

/* A task says by its notes that the request is its. */
static mcp_status write_request(mcp_buf *out, const mcp_call *call,
                                const mcp__input_request *request)
{
    mcp_json_writer writer;

    mcp_json_writer_init(&writer, out);
    mcp_write_object(&writer);
    mcp_write_member_string(&writer, "jsonrpc", "2.0");
    mcp_write_member_int(&writer, "id", request->request_id);
    mcp__input_request_write(&writer, call, request, call->answer.notes);
    mcp_write_end(&writer);
    return mcp_json_writer_status(&writer);
}

/* From here on a response is taken. The number in the request is the key. */
static mcp_status register_request(mcp__session *session, mcp_call *call,
                                   mcp__input_request *request)
{
    request->request_id = ++session->last_request_id;
    mcp_status st = mcp__map_put(&session->requested, (const char *)&request->request_id,
                                 sizeof request->request_id, call);
    if (st != MCP_OK)
        request->request_id = 0;
    return st;
}

static void unregister_request(mcp__session *session, const mcp__input_request *request)
{
    (void)mcp__map_remove(&session->requested, (const char *)&request->request_id,
                          sizeof request->request_id);
}

mcp_status mcp__input_responses_request(mcp_call *call, mcp__session *session, mcp__peer *peer)
{
    mcp__input_request *request = call->input.requests;
    mcp_status st = MCP_OK;

    mcp__input_responses_unsend(call);
    call->input.session = session;
    mcp__url_elicitation_keep(session, call);
    for (; request && st == MCP_OK; request = request->next) {
        mcp_buf message;
        if (request->is_answered)
            continue;
        mcp_buf_init(&message, call->context->options->limits.reply_max_bytes);
        st = register_request(session, call, request);
        if (st == MCP_OK)
            st = write_request(&message, call, request);
        if (st == MCP_OK)
            peer->notify(peer, &message);
        else
            (void)mcp_error_set(&call->err, st, "a question to the client cannot be written");
        mcp_buf_clear(&message);
    }
    return st;
}

void mcp__input_responses_unsend(mcp_call *call)
{
    mcp__input_request *request = call->input.session ? call->input.requests : NULL;

    for (; request; request = request->next) {
        if (request->request_id != 0 && !request->is_answered)
            unregister_request(call->input.session, request);
        request->request_id = 0;
    }
    call->input.session = NULL;
}

void mcp__input_responses_withdraw(mcp_call *call)
{
    const mcp__input_request *request = call->input.requests;

    for (; request; request = request->next) {
        mcp_json_writer writer;
        mcp_buf message;
        if (request->request_id == 0 || request->is_answered)
            continue;
        mcp__notification_begin(&writer, &message, 256, "notifications/cancelled");
        mcp_write_member_object(&writer, "params");
        mcp_write_member_int(&writer, "requestId", request->request_id);
        mcp__notification_send(call->notification_peer, &writer, &message);
    }
}

/* The memory of the message is the call's from now on, within the bound that the call has. A
 * response without a result, or too large, is one as well: an error. */
static void take_result(mcp_call *call, const char *key, mcp__element *response)
{
    const mcp_json *result = mcp_json_get(response->value, "result");
    size_t bytes = mcp_arena_used(response->arena);
    mcp__input_requests *input = &call->input;
    bool fits = bytes <= call->context->options->limits.arena_max_bytes - input->response_bytes;

    if (mcp__input_requests_add(call, key, fits && mcp_json_is_object(result) ? result : NULL) !=
            MCP_OK ||
        !fits)
        return;
    input->response_bytes += bytes;
    input->responses->arena = response->arena;
    response->arena = NULL;
    call->request.steps.left = response->steps.left;
}

/* @return whether all is answered */
static bool end_round(mcp_call *call)
{
    const mcp__input_request *request = call->input.requests;

    while (request && request->is_answered)
        request = request->next;
    if (!request)
        call->input.rounds++;
    return !request;
}

mcp_call *mcp__input_responses_take(mcp__session *session, mcp__element *response)
{
    int64_t id = 0;
    mcp_call *call = mcp_json_int(mcp_json_get(response->value, "id"), &id)
                         ? mcp__map_get(&session->requested, (const char *)&id, sizeof id)
                         : NULL;

    if (!call)
        return NULL;
    mcp__input_request *request = call->input.requests;
    while (request && request->request_id != id)
        request = request->next;
    if (!request)
        return NULL;
    unregister_request(session, request);
    request->is_answered = true;
    take_result(call, request->key, response);
    if (!end_round(call))
        return NULL;
    call->input.session = NULL; /* nothing is open, and a worker may have the requests next */
    return call;
}

/* ---- a task without a session ---------------------------------------------------------------- */

/* The number of the round makes the name of a request another one when it is made again. */
mcp_status mcp__input_responses_name(mcp_call *call)
{
    for (mcp__input_request *request = call->input.requests; request; request = request->next) {
        request->name = mcp_arena_printf(call->arena, "%s-%d", request->key,
                                         call->input.rounds + 1);
        if (!request->name)
            return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a request");
    }
    return MCP_OK;
}

void mcp__input_responses_write_open(const mcp_call *call, mcp_json_writer *writer)
{
    const mcp__input_request *request = call->input.requests;

    for (; request; request = request->next) {
        if (request->is_answered)
            continue;
        mcp_write_member_object(writer, request->name);
        mcp__input_request_write(writer, call, request, NULL);
        mcp_write_end(writer);
    }
}

mcp_status mcp__input_responses_take_named(bool *is_ready, mcp_call *call,
                                           const mcp_json *responses, mcp__steps steps,
                                           mcp_error *err)
{
    mcp__input_request *request = call->input.requests;

    for (; request; request = request->next) {
        const mcp_json *response = mcp_json_get(responses, request->name);
        if (response && !request->is_answered && !mcp_json_is_object(response))
            return mcp_error_set(err, MCP_E_PARAMS, "the answer to %s must be an object",
                                 request->name);
    }
    for (request = call->input.requests; request; request = request->next) {
        const mcp_json *response = mcp_json_get(responses, request->name);
        if (!response || request->is_answered)
            continue;
        const mcp_json *copied = mcp__message_copy(call->arena, response, MCP__INPUT_COPY_MAX,
                                                   NULL);
        if (!copied || mcp__input_requests_add(call, request->key, copied) != MCP_OK)
            return mcp_error_set(err, MCP_E_NOMEM, "no memory for an answer");
        request->is_answered = true;
    }
    call->request.steps.left = steps.left;
    *is_ready = end_round(call);
    return MCP_OK;
}
