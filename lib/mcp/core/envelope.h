/*
 * envelope.h - which revision a request is served under, and what its client can do.
 */
#ifndef MCP_CORE_ENVELOPE_H
#define MCP_CORE_ENVELOPE_H

#include "mcp/core/call/call_int.h"

/** Whether MCP-Protocol-Version names a revision without sessions, known to us or not. NULL: no. */
bool mcp__envelope_is_stateless(const mcp__headers *headers);

/**
 * Whether a request is of a session.
 *
 * @param method NULL: of a message that has none
 * @param meta   params._meta
 */
bool mcp__envelope_is_of_session(const char *method, const mcp_json *meta,
                                 const mcp__headers *headers);

/** True when params._meta says which revision the request speaks. */
bool mcp__envelope_is_claimed(const mcp_json *meta);

/**
 * Settle a request's revision, capabilities and log level, from its own words or else from its
 * session.
 *
 * @return MCP_OK; MCP_E_ENVELOPE, MCP_E_HEADERS or MCP_E_REVISION: call->err and, for the last, the
 *         error's data are filled
 */
mcp_status mcp__envelope_open(mcp_call *call);

/** The revision whose rules for errors hold for a message of this peer that is no request. */
mcp_revision mcp__envelope_revision(const mcp__session *session, const mcp__peer *peer);

/** Write the revisions from `newest` down to `oldest` as an array member. */
void mcp__envelope_write_revisions(mcp_json_writer *writer, const char *member, mcp_revision oldest,
                                   mcp_revision newest);

#endif
