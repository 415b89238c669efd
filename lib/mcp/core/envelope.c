/*
 * envelope.c - which era a request is of: the only place that decides it.
 *
 *     initialize without a claim that holds     a session
 *     a claim in params._meta                   no session; the claim must hold, and headers agree
 *     a header that names such a revision       refused: what the header says, the body must say
 *     anything else                             the session, negotiated or not
 *
 * Every message is decided by itself, because clients probe: one process, and one connection, may
 * see both eras at once. Nothing that an earlier request said counts for a later one without a
 * session.
 */
#include "mcp/core/envelope.h"

#include <string.h>

#include "mcp/core/call/client.h"
#include "mcp/core/headers.h"
#include "mcp/core/session/session.h"

#define PREFIX "io.modelcontextprotocol/"
#define KEY_REVISION PREFIX "protocolVersion"
#define KEY_CAPABILITIES PREFIX "clientCapabilities"
#define KEY_CLIENT PREFIX "clientInfo"
#define KEY_LOG_LEVEL PREFIX "logLevel"

static const mcp_revision oldest_stateless = (mcp_revision)(MCP_REVISION_NEWEST_SESSION + 1);

bool mcp__envelope_is_stateless(const mcp__headers *headers)
{
    size_t count = 0;
    const char *version = headers ? headers->field(headers, "MCP-Protocol-Version", &count) : NULL;

    return version && strcmp(version, mcp_revision_name(oldest_stateless)) >= 0;
}

bool mcp__envelope_is_claimed(const mcp_json *meta)
{
    return mcp_json_get(meta, KEY_REVISION) != NULL;
}

static bool claim_holds(const mcp_json *meta)
{
    const char *name = mcp_json_get_string(meta, KEY_REVISION);

    return name && strcmp(name, mcp_revision_name(oldest_stateless)) >= 0 &&
           mcp_json_is_object(mcp_json_get(meta, KEY_CAPABILITIES));
}

bool mcp__envelope_is_of_session(const char *method, const mcp_json *meta,
                                 const mcp__headers *headers)
{
    if (method && strcmp(method, "initialize") == 0)
        return !claim_holds(meta);
    return !mcp__envelope_is_claimed(meta) && !mcp__envelope_is_stateless(headers);
}

mcp_revision mcp__envelope_revision(const mcp__session *session, const mcp__peer *peer)
{
    if (mcp__envelope_is_stateless(peer->headers))
        return MCP_REVISION_NEWEST;
    return session->revision;
}

void mcp__envelope_write_revisions(mcp_json_writer *writer, const char *member, mcp_revision oldest,
                                   mcp_revision newest)
{
    mcp_write_member_array(writer, member);
    for (int revision = newest; revision >= (int)oldest; revision--)
        mcp_write_string(writer, mcp_revision_name((mcp_revision)revision));
    mcp_write_end(writer);
}

/* ---- without a session ----------------------------------------------------------------------- */

static mcp_status check_keys(mcp_call *call)
{
    if (!mcp_json_is_string(mcp_json_get(call->request.meta, KEY_REVISION)))
        return mcp_error_set(&call->err, MCP_E_ENVELOPE,
                             "params._meta needs the string \"" KEY_REVISION "\"");
    if (!mcp_json_is_object(mcp_json_get(call->request.meta, KEY_CAPABILITIES)))
        return mcp_error_set(&call->err, MCP_E_ENVELOPE,
                             "params._meta needs the object \"" KEY_CAPABILITIES "\"");
    return MCP_OK;
}

/* Headers that are there must agree before anything is said about the revision; that they are there
 * at all is asked afterwards. */
static mcp_status check_headers(mcp_call *call, const char *revision, bool are_required)
{
    const mcp__headers *headers = call->notification_peer->headers;

    if (!headers)
        return MCP_OK;
    mcp_status st = mcp__headers_check(headers, "MCP-Protocol-Version", revision, are_required,
                                       &call->err);
    if (st == MCP_OK)
        st = mcp__headers_check(headers, "Mcp-Method", call->request.method, are_required,
                                &call->err);
    return st;
}

static mcp_status refuse_revision(mcp_call *call, const char *requested)
{
    mcp_json_writer *data = mcp_call_error_data(call);

    mcp__envelope_write_revisions(data, "supported", call->context->options->oldest,
                                  call->context->options->newest);
    mcp_write_member_string(data, "requested", requested);
    return mcp_error_set(&call->err, MCP_E_REVISION, "Unsupported protocol version");
}

static mcp_status find_revision(mcp_call *call, const char *name)
{
    mcp_revision revision = mcp_revision_find(name);

    if (revision < oldest_stateless || revision < call->context->options->oldest ||
        revision > call->context->options->newest)
        return refuse_revision(call, name);
    call->request.revision = revision;
    return MCP_OK;
}

static mcp_status read_log_level(mcp_call *call)
{
    const mcp_json *level = mcp_json_get(call->request.meta, KEY_LOG_LEVEL);

    call->request.log_level = MCP_LEVEL_NONE;
    if (!level)
        return MCP_OK;
    call->request.log_level = mcp_level_find(mcp_json_string(level, NULL));
    if (call->request.log_level == MCP_LEVEL_NONE)
        return mcp_error_set(&call->err, MCP_E_ENVELOPE,
                             "params._meta has an unknown level in \"" KEY_LOG_LEVEL "\"");
    return MCP_OK;
}

static mcp_status no_memory(mcp_call *call)
{
    return mcp_error_set(&call->err, MCP_E_NOMEM, "no memory for a request");
}

static mcp_status open_stateless(mcp_call *call)
{
    const char *name = mcp_json_get_string(call->request.meta, KEY_REVISION);

    call->request.revision = oldest_stateless; /* whose rules for errors hold from here on */
    mcp_status st = check_keys(call);
    if (st != MCP_OK)
        return st;
    st = check_headers(call, name, false);
    if (st == MCP_OK)
        st = find_revision(call, name);
    if (st == MCP_OK)
        st = check_headers(call, name, true);
    if (st == MCP_OK)
        st = read_log_level(call);
    call->request.client_can = mcp__client_read(mcp_json_get(call->request.meta, KEY_CAPABILITIES));
    if (st == MCP_OK)
        st = mcp__client_names_read(&call->request.client, call->arena,
                                    mcp_json_get(call->request.meta, KEY_CLIENT));
    return st == MCP_E_NOMEM ? no_memory(call) : st;
}

/* ---- with one -------------------------------------------------------------------------------- */

static mcp_status open_session(mcp_call *call)
{
    const mcp__session *session = call->session;
    const char *requested = mcp_json_get_string(call->request.params, "protocolVersion");

    if (call->context->options->default_revision == MCP_REVISION_NONE) {
        call->request.revision = oldest_stateless;
        return requested ? refuse_revision(call, requested) : check_keys(call);
    }
    call->request.client_can = session->client_can;
    call->request.log_level = session->log_level;
    /* Copied: a second initialize may free the session's while a worker has the call. */
    mcp_status st = mcp__client_names_copy(&call->request.client, call->arena,
                                           &session->client_names);
    return st == MCP_OK ? st : no_memory(call);
}

mcp_status mcp__envelope_open(mcp_call *call)
{
    if (mcp__envelope_is_of_session(call->request.method, call->request.meta,
                                    call->notification_peer->headers))
        return open_session(call);
    if (mcp__envelope_is_claimed(call->request.meta))
        return open_stateless(call);
    call->request.revision = oldest_stateless;
    return check_keys(call);
}
