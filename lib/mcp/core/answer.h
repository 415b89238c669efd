/*
 * answer.h - giving a message's answer to its peer.
 */
#ifndef MCP_CORE_ANSWER_H
#define MCP_CORE_ANSWER_H

#include "mcp/core/call/call_int.h"
#include "mcp/core/peer.h"
#include "mcp/core/session/session.h"

/** Answer what became no call with an error. `id` NULL: it has none that could be read. */
void mcp__answer_error(mcp__session *session, mcp__peer *peer, const mcp_json *id,
                       mcp_status status, const char *message);

/** Answer with an error in the place of the call, which a worker may have. */
void mcp__answer_call_fault(mcp_call *call, mcp_status status, const char *message);

/** Answer with what the call's reply holds. */
void mcp__answer_call(mcp_call *call);

#endif
