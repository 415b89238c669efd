/**
 * hooks.h - what the library asks the server: whether a client sees a tool, and how arguments are
 * refused. `data` is the app everywhere.
 */
#ifndef CASPARIAN_HOOKS_H
#define CASPARIAN_HOOKS_H

#include "mcp/server.h"

/** The library's mcp_visibility. A tool that is denied is not listed; a call of it reaches the
 *  server, which refuses it. */
bool casparian_tool_is_visible(const mcp_call *call, mcp_feature feature, const char *name,
                               void *data);

/** The library's mcp_error_formatter. */
mcp_status casparian_format_error(mcp_call *call, mcp_refusal reason,
                                  const mcp_schema_finding *finding, void *data);

#endif
