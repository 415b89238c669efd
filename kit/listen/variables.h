/*
 * variables.h - bearer tokens that stand in variables of the environment, in clear, several between commas.
 *
 * A container is given its secrets that way. What a variable says is held to be a token only where it could be
 * one: something short can be guessed, and something with other characters no client could send.
 */
#ifndef LISTEN_VARIABLES_H
#define LISTEN_VARIABLES_H

#include "listen/listen.h"
#include "mcp/arena.h"

/** How short a token may be, and how many there may be. */
enum { LISTEN_TOKEN_MIN = 16, LISTEN_TOKENS_MAX = 64 };

/** Whether one of the service's variables says anything. */
bool listen_variables_given(const listen_service *service);

/** @return MCP_OK; MCP_E_PARAMS: a variable has what can be no token, or too many; the message names it, not what it says */
mcp_status listen_variables_check(const listen_service *service, mcp_error *err);

/** All tokens, ending with NULL, in `arena`; NULL: there are none. @return as listen_variables_check; MCP_E_NOMEM */
mcp_status listen_variables_read(const char *const **out, const listen_service *service,
                                 mcp_arena *arena, mcp_error *err);

#endif
