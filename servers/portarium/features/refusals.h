/**
 * refusals.h - how the tools say that a call cannot be: the form of each revision.
 *
 *                                        2024-11-05   up to 2025-06-18   later
 *     an argument is missing or unfit    -32603       -32602             a result with isError
 *     the control plane refuses          -32603       a result           a result
 *
 * A failure of the control plane has a JSON record: the `data` of the error, or the result's text.
 */
#ifndef PORTARIUM_FEATURES_REFUSALS_H
#define PORTARIUM_FEATURES_REFUSALS_H

#include "gateway/app.h"

/** The first required argument of the call that is absent, not a string, or blank; NULL: none. */
const char *portarium_missing(const mcp_call *call);

/** Refuse the arguments of a call. @return what the handler returns */
mcp_status portarium_refuse_arguments(mcp_call *call, const portarium_app *app, const char *format,
                                      ...) MCP_PRINTF(3, 4);

/** Answer with a reply of 400 or above. @return what the handler returns */
mcp_status portarium_answer_failure(mcp_call *call, const portarium_reply *reply,
                                    const portarium_client_call *what);

#endif
