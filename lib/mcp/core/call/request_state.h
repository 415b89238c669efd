/*
 * request_state.h - what a handler knows between two requests of one call, kept by the client in a
 * sealed text.
 */
#ifndef MCP_CORE_CALL_REQUEST_STATE_H
#define MCP_CORE_CALL_REQUEST_STATE_H

#include "mcp/core/call/call_int.h"

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
