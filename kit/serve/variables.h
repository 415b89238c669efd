/*
 * variables.h - bearer tokens in clear in variables of the environment, several between commas.
 *
 * Containers receive their secrets this way. A value is accepted as a token only where it can be
 * one: a short one can be guessed, and one with other characters cannot be sent by a client.
 * `names` ends with NULL and may be NULL.
 */
#ifndef SERVE_VARIABLES_H
#define SERVE_VARIABLES_H

#include <stdbool.h>

#include "mcp/arena.h"
#include "mcp/error.h"

/** The least length of a token, and how many there may be. */
enum { SERVE_TOKEN_MIN = 16, SERVE_TOKENS_MAX = 64 };

/** Whether one of the variables has a token. */
bool serve_variables_given(const char *const *names);

/** @return MCP_OK; MCP_E_PARAMS: a text that is no token, or too many; the message has the
 * variable's name only */
mcp_status serve_variables_check(const char *const *names, mcp_error *err);

/** All tokens, ending with NULL, in `arena`; NULL: there are none. @return as
 * serve_variables_check; MCP_E_NOMEM */
mcp_status serve_variables_read(const char *const **out, const char *const *names, mcp_arena *arena,
                                mcp_error *err);

#endif
