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

mcp_revision mcp__session_revision(const mcp__session *session)
{
    const mcp_server_options *options = session->context.options;

    if (session->revision != MCP_REVISION_NONE)
        return session->revision;
    if (options->default_revision != MCP_REVISION_NONE)
        return options->default_revision;
    return options->newest; /* no revision with sessions is served */
}

mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(CLIENT_MAX * 4); /* the message goes when it is answered */
    const mcp_json *client = mcp__message_copy(arena, params, CLIENT_MAX, NULL);

    if (!client) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    }
    mcp_arena_free(session->client);
    session->client = arena;
    session->client_info = mcp_json_get(client, "clientInfo");
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
    mcp_write_end(&writer);
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
