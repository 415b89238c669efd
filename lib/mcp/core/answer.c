/*
 * answer.c - the last step of a message: its peer takes the answer.
 *
 * What a call's handler wrote is ready by then. Errors that no call writes are written here, also where there is
 * no memory left.
 */
#include "mcp/core/answer.h"

#include "mcp/core/call/reply.h"
#include "mcp/core/envelope.h"
#include "mcp/core/outcome.h"
#include "mcp/core/session/errand.h"

/* An error for which there may be no memory: then the session's spare buffer, filled beforehand, serves. */
static void answer_fault(mcp__session *session, mcp__peer *peer, const mcp_json *id,
                         mcp_revision revision, mcp_status status, const char *message)
{
    const mcp_server_options *options = session->setup.options;
    mcp_buf *out = &session->spare;

    peer->http_status = mcp__outcome_http(status, revision);
    peer->fault = status;
    peer->scopes_needed = NULL;
    mcp_buf_reset(out);
    mcp_status st = mcp__reply_error(out, id, revision, status, message);
    if (st != MCP_OK) { /* a long id or message */
        mcp_buf large;
        mcp_buf_init(&large, options->reply_max_bytes);
        st = mcp__reply_error(&large, id, revision, status, message);
        if (st == MCP_OK)
            peer->answer(peer, &large);
        mcp_buf_clear(&large);
    } else {
        peer->answer(peer, out);
    }
    if (st != MCP_OK) {
        mcp_log_write(&options->log, MCP_LOG_ERROR, "no memory to answer a request");
        if (peer->lose)
            peer->lose(peer);
        else
            peer->skip(peer);
    }
    mcp_buf_reset(out);
    (void)mcp_buf_reserve(out, MCP__SESSION_SPARE);
    out->status = MCP_OK;
}

/* The same where no call knows its revision. */
void mcp__answer_error(mcp__session *session, mcp__peer *peer, const mcp_json *id,
                       mcp_status status, const char *message)
{
    answer_fault(session, peer, id, mcp__envelope_revision(session, peer), status, message);
}

void mcp__answer_call_fault(mcp_call *call, mcp_status status, const char *message)
{
    answer_fault(call->session, call->peer, call->id, call->revision, status, message);
}

void mcp__answer_call(mcp_call *call)
{
    mcp__peer *peer = call->peer;

    if (call->status == MCP_E_URL)
        mcp__errand_keep(call);
    peer->http_status = mcp__outcome_http(call->status, call->revision);
    peer->fault = MCP_OK;
    peer->scopes_needed = call->status == MCP_E_SCOPE ? call->scopes_needed : NULL;
    if (call->reply.length > 0 || call->rest) /* a route's answer may have no body */
        peer->answer(peer, &call->reply);
    else
        mcp__answer_call_fault(call, MCP_E_NOMEM, mcp_status_words(MCP_E_NOMEM));
}
