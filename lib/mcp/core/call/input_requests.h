/*
 * input_requests.h - input that a handler requests of its client, and the responses it has: the
 * handler's side.
 *
 * session/session.h has the other side: requests on their way to a client, responses on their way
 * back.
 */
#ifndef MCP_CORE_CALL_INPUT_REQUESTS_H
#define MCP_CORE_CALL_INPUT_REQUESTS_H

#include "mcp/core/call/call_int.h"

/** How long a client may take to respond within a session. */
#define MCP__INPUT_WAIT_MS ((int64_t)5 * 60 * 1000)

/** Bytes of a text that is copied on the way. */
#define MCP__INPUT_COPY_MAX ((size_t)8 * 1024 * 1024)

/**
 * On the worker, before the handler of a stateless request first runs: take the responses and the
 * state that came with it. The call's name and arguments are known.
 *
 * @return MCP_OK; MCP_E_PARAMS
 */
mcp_status mcp__input_requests_read(mcp_call *call);

/** Write the members of an input_required result, for `finish`. */
mcp_status mcp__input_requests_write(mcp_call *call, mcp_json_writer *writer);

/** Write `method` and `params` of one request. @param notes for its _meta; NULL: none but those of
 *  the call's trace */
void mcp__input_request_write(mcp_json_writer *writer, const mcp_call *call,
                              const mcp__input_request *request, const mcp__note *notes);

/** Add a response. @return MCP_OK; MCP_E_NOMEM, call->err filled */
mcp_status mcp__input_requests_add(mcp_call *call, const char *key, const mcp_json *result);

/** Free the responses' own arenas. */
void mcp__input_requests_clear(mcp__input_requests *input);

/* ---- requestState: what a handler knows between two requests, kept by the client in a seal --- */

/** How long a seal holds. */
#define MCP__STATE_LIFE_MS ((int64_t)600 * 1000)

/**
 * Seal a payload for this call: its method, name, arguments and caller.
 *
 * @param out the arena's, ends in NUL
 */
mcp_status mcp__request_state_seal(const char **out, mcp_call *call, const char *payload,
                                   size_t length, int64_t now_ms);

/**
 * The payload of a seal that was made for such a call, by this server, not too long ago.
 *
 * @return MCP_OK; MCP_E_PARAMS: anything else, and call->err does not say what
 */
mcp_status mcp__request_state_open(const char **out, size_t *length, mcp_call *call,
                                   const char *text, size_t text_length, int64_t now_ms);

#endif
