/*
 * tools.c - the table of the ten tools.
 */
#include "features/tools.h"

/* More than one, so that the handler refuses a second run with a record. */
#define RUNS_MAX 4

/* clang-format off */
const mcp_tool cobre_tools[] = {
    /* name                      run                           flags       timeout_ms, max_running */
    { "cobre/validate",          cobre_tool_validate,          MCP_READS,  60000, 0 },
    { "cobre/run",               cobre_tool_run,
      MCP_WRITES | MCP_LONG | MCP_STOP_ON_HANGUP | MCP_TASK_OPTIONAL,                          0,     RUNS_MAX },
    { "cobre/query-results",     cobre_tool_query_results,     MCP_READS,  30000, 0 },
    { "cobre/query-convergence", cobre_tool_query_convergence, MCP_READS,  10000, 0 },
    { "cobre/inspect-policy",    cobre_tool_inspect_policy,    MCP_READS,  10000, 0 },
    { "cobre/compare-policies",  cobre_tool_compare_policies,  MCP_READS,  30000, 0 },
    { "cobre/inspect-case",      cobre_tool_inspect_case,      MCP_READS,  10000, 0 },
    { "cobre/list-scenarios",    cobre_tool_list_scenarios,    MCP_READS,  10000, 0 },
    { "cobre/export-results",    cobre_tool_export_results,    MCP_WRITES, 60000, 0 },
    { "cobre/get-config-schema", cobre_tool_get_config_schema, MCP_READS,  5000,  0 },
    { 0 }
};
/* clang-format on */
