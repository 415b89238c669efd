/**
 * arguments.h - arguments before they reach a tool: in the domain's words, and refused.
 */
#ifndef PORTARIUM_ARGUMENTS_H
#define PORTARIUM_ARGUMENTS_H

#include "gateway/app.h"
#include "mcp/server.h"

/** The library's mcp_argument_normalizer: a status of work items or of heartbeats in the words of
 *  the domain ("InProgress", "ok") becomes the tool's ("in-progress", "healthy"). */
mcp_status portarium_normalize_arguments(mcp_call *call, const char *tool,
                                         const mcp_json **arguments, void *data);

/** The library's mcp_error_formatter; `data` is the app. */
mcp_status portarium_refuse_call(mcp_call *call, mcp_refusal reason,
                                 const mcp_schema_finding *finding, void *data);

#endif
