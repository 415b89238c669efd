/*
 * feature_call.h - one request answered by a feature, without a server around it: from `params` to
 * the message that goes out.
 */
#ifndef FEATURE_CALL_H
#define FEATURE_CALL_H

#include "mcp/arena.h"
#include "mcp/core/call/call_int.h"
#include "mcp/json.h"
#include "mcp/server.h"

/** What the method table would call. */
typedef mcp_status feature_method(mcp_call *call);

/** Options with the bounds that a feature asks for. */
mcp_server_options feature_options(void);

/**
 * Prepare, run and render a call with the id 1.
 *
 * @param params JSON text; NULL: none
 * @return the message, in `arena`
 */
const mcp_json *feature_ask(feature_method *method, const mcp_server_options *options,
                            mcp_revision revision, const char *params, mcp_arena *arena);

/** Fail the test unless the value equals the JSON text. */
void assert_json(const mcp_json *value, const char *text, mcp_arena *arena);

/** Fail the test unless the message is an error of that code whose words hold `words`. */
void assert_rpc_error(const mcp_json *message, int code, const char *words);

#endif
