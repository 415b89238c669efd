/*
 * tools.c - the table of the ten tools.
 */
#include "features/tools.h"

#include <string.h>

#include "gateway/errors.h"

/* ---- what this version does not do yet ------------------------------------------------------- */

/* Tools that this version lists and does not support, and the alternative to each. */
static const struct unsupported {
    const char *tool, *suggestion;
} unsupported[] = {
    { "cobre/query-results", "Read the Parquet files below simulation/ of the output directory." },
    { "cobre/export-results", "Read the Parquet files below simulation/ of the output directory." },
    { "cobre/inspect-policy", "cobre/query-convergence tells how good the policy of a run is." },
    { "cobre/compare-policies", "Compare the runs' bounds by cobre/query-convergence." },
    { "cobre/list-scenarios",
      "cobre/inspect-case tells where scenarios come from; the branching of "
      "each stage is num_scenarios in stages.json." },
    { NULL, NULL },
};

static mcp_status unsupported_tool(mcp_call *call, void *data)
{
    (void)data;
    const char *name = mcp_call_name(call);
    const struct unsupported *row = unsupported;
    while (row->tool && strcmp(row->tool, name) != 0)
        row++;
    const char *message = mcp_arena_printf(mcp_call_arena(call),
                                           "This version of cobre does not serve %s yet", name);
    if (!message)
        return mcp_error_set(mcp_call_error(call), MCP_E_NOMEM, "no memory for the error record");
    return cobre_refuse_use(call, name, row->suggestion, message);
}

/* More than one, so that the handler refuses a second run with a record. */
#define RUNS_MAX 4

/* clang-format off */
const mcp_tool cobre_tools[] = {
    /* name                      run                flags         timeout_ms, max_running */
    { "cobre/validate",          cobre_tool_validate,MCP_READS,                     60000, 0 },
    { "cobre/run",               cobre_tool_run,MCP_WRITES | MCP_LONG | MCP_STOP_ON_HANGUP,
                                                                                   0, RUNS_MAX },
    { "cobre/query-results",     unsupported_tool,        MCP_READS,                     30000, 0 },
    { "cobre/query-convergence", cobre_tool_query_convergence, MCP_READS,                     10000, 0 },
    { "cobre/inspect-policy",    unsupported_tool,        MCP_READS,                     10000, 0 },
    { "cobre/compare-policies",  unsupported_tool,        MCP_READS,                     30000, 0 },
    { "cobre/inspect-case",      cobre_tool_inspect_case,MCP_READS,                     10000, 0 },
    { "cobre/list-scenarios",    unsupported_tool,        MCP_READS,                     10000, 0 },
    { "cobre/export-results",    unsupported_tool,        MCP_WRITES,                    60000, 0 },
    { "cobre/get-config-schema", cobre_tool_get_config_schema, MCP_READS,                      5000, 0 },
    { 0 }
};
/* clang-format on */
