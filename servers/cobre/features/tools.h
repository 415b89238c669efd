/**
 * tools.h - the handlers of the tools, and what is done to their arguments before.
 *
 * Each handler opens its directory through the guard, so nothing outside the allowed directories is
 * read or written, calls the domain, and writes the result. A failure becomes an error record.
 *
 * Source: seed SS2; the output page, section 10.
 */
#ifndef COBRE_FEATURES_TOOLS_H
#define COBRE_FEATURES_TOOLS_H

#include "gateway/app.h"

mcp_handler cobre_tool_validate;
mcp_handler cobre_tool_run;
mcp_handler cobre_tool_query_results;
mcp_handler cobre_tool_query_convergence;
mcp_handler cobre_tool_inspect_policy;
mcp_handler cobre_tool_compare_policies;
mcp_handler cobre_tool_inspect_case;
mcp_handler cobre_tool_list_scenarios;
mcp_handler cobre_tool_export_results;
mcp_handler cobre_tool_get_config_schema;

/** mcp_server_options.normalize_arguments: accepts the forms of arguments in the contract's
 *  examples. */
mcp_status cobre_normalize_arguments(mcp_call *call, const char *tool, const mcp_json **arguments,
                                     void *data);

#endif
