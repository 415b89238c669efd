/*
 * input_responses.h - requests for input on their way to a client, and its responses on their way
 * back.
 *
 * All on the loop. The handler's side is call/input_requests.h.
 */
#ifndef MCP_CORE_SESSION_INPUT_RESPONSES_H
#define MCP_CORE_SESSION_INPUT_RESPONSES_H

#include <stdbool.h>
#include <stdint.h>

#include "mcp/core/call/call_int.h"
#include "mcp/core/message/incoming.h"
#include "mcp/core/session/session.h"

/** Send the open requests of a suspended call to the client of a session, by one of its peers.
 *  @return MCP_OK; else the status that the call ends with, call->err filled */
mcp_status mcp__input_responses_request(mcp_call *call, mcp__session *session, mcp__peer *peer);

/** The client that the requests were sent to is gone: they may be sent to another one. */
void mcp__input_responses_unsend(mcp_call *call);

/** Notify the client that its responses are no longer needed. */
void mcp__input_responses_withdraw(mcp_call *call);

/** Whether a response answers a request of one of these calls, sent to the client of the session.
 *  Its arena is taken where the call needs it. @param ready the call that can continue with it;
 *  else NULL */
bool mcp__input_responses_take(mcp_call **ready, const mcp__call_table *calls,
                               const mcp__session *session, mcp__element *response);

/* ---- a task without a session: tasks/get lists the requests, tasks/update brings the responses */

/** Name the requests, each by a name that is used once in the task's life. @return MCP_OK;
 *  MCP_E_NOMEM */
mcp_status mcp__input_responses_name(mcp_call *call);

/** Write the open requests as the members of an object. */
void mcp__input_responses_write_open(const mcp_call *call, mcp_json_writer *writer);

/**
 * Take responses by the names of their requests; others are ignored.
 *
 * @param responses an object; copied
 * @param steps     that checks of schemas may do for the message they came in
 * @param is_ready  true when all are there and the handler can continue
 * @return MCP_OK; MCP_E_PARAMS: a response is no object, none was taken; MCP_E_NOMEM
 */
mcp_status mcp__input_responses_take_named(bool *is_ready, mcp_call *call,
                                           const mcp_json *responses, mcp__steps steps,
                                           mcp_error *err);

#endif
