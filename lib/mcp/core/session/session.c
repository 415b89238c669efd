/*
 * session.c - the memory of an older client between its messages.
 *
 * Revisions up to 2025-11-25 open with initialize, and what was agreed there holds until the next
 * one. Calls that are open then keep the revision they came under, because they carry their own
 * copy.
 */
#include "mcp/core/session/session.h"

#include <assert.h>

#include "mcp/core/principal.h"
#include "mcp/core/response.h"
#include "mcp/core/session/client.h"
#include "mcp/core/session/url_elicitation.h"

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
    assert(!session->calls.first && session->calls.running == 0);
    if (session->context.hooks)
        session->context.hooks->session_ends(session);
    mcp__url_elicitation_clear(session);
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

/* A copy in an arena of its own: the message that it came in goes when it is answered. */
static const mcp_json *copy(mcp_arena *arena, const mcp_json *params)
{
    const mcp_json *out = NULL;
    mcp_json_writer writer;
    mcp_buf text;

    mcp_buf_init(&text, CLIENT_MAX);
    mcp_json_writer_init(&writer, &text);
    mcp_write_object(&writer);
    mcp_write_member_value(&writer, "info", mcp_json_get(params, "clientInfo"));
    mcp_write_member_value(&writer, "capabilities", mcp_json_get(params, "capabilities"));
    mcp_write_end(&writer);
    if (mcp_json_writer_status(&writer) == MCP_OK)
        (void)mcp_json_read(&out, arena, text.data, text.length, NULL);
    mcp_buf_clear(&text);
    return out;
}

mcp_status mcp__session_open(mcp__session *session, mcp_revision revision, const mcp_json *params,
                             mcp_error *err)
{
    mcp_arena *arena = mcp_arena_new(CLIENT_MAX * 4);
    const mcp_json *client = arena ? copy(arena, params) : NULL;

    if (!client) {
        mcp_arena_free(arena);
        return mcp_error_set(err, MCP_E_NOMEM, "no memory for a session");
    }
    mcp_arena_free(session->client);
    session->client = arena;
    session->client_info = mcp_json_get(client, "info");
    session->client_capabilities = mcp_json_get(client, "capabilities");
    session->client_can = mcp__client_read(session->client_capabilities);
    session->log_level = MCP_LEVEL_INFO;
    if (session->context.hooks)
        session->context.hooks->session_reopens(session);
    mcp__url_elicitation_clear(session);
    session->revision = revision;
    session->is_initialized = false;
    return MCP_OK;
}
