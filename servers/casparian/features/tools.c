/*
 * tools.c - the table of tools. Its order is that of tools/list.
 */
#include "features/tools.h"

/* The longest statement (query/query.h), and what its answer takes. */
enum { QUERY_MS = 330000 };

/* clang-format off */
const casparian_tool casparian_tools[] = {
    /* name, function, flags, traits, timeout_ms */
    { "casparian_plugins", casparian_plugins_tool, MCP_READS, 0, 0 },
    { "casparian_scan", casparian_scan_tool, MCP_READS, 0, 0 },
    { "casparian_files", casparian_files_tool, MCP_READS, 0, 0 },
    { "casparian_sources", casparian_sources_tool, MCP_READS, 0, 0 },
    { "casparian_preview", casparian_preview_tool, MCP_READS, CASPARIAN_EXPENSIVE, 0 },
    { "casparian_backtest_start", casparian_backtest_start_tool, MCP_WRITES, CASPARIAN_EXPENSIVE, 0 },
    { "casparian_run_request", casparian_run_request_tool, MCP_WRITES, CASPARIAN_EXPENSIVE | CASPARIAN_CHANGES, 0 },
    { "casparian_job_status", casparian_job_status_tool, MCP_READS, 0, 0 },
    { "casparian_job_cancel", casparian_job_cancel_tool, MCP_WRITES, CASPARIAN_CHANGES, 0 },
    { "casparian_job_list", casparian_job_list_tool, MCP_READS, 0, 0 },
    { "casparian_query", casparian_query_tool, MCP_READS, CASPARIAN_EXPENSIVE, QUERY_MS },
    { "casparian_schema_propose", casparian_schema_propose_tool, MCP_WRITES, 0, 0 },
    { "casparian_schema_promote", casparian_schema_promote_tool, MCP_WRITES, CASPARIAN_CHANGES, 0 },
    { "casparian_approval_status", casparian_approval_status_tool, MCP_READS, 0, 0 },
    { "casparian_approval_list", casparian_approval_list_tool, MCP_READS, 0, 0 },
    { "casparian_approval_decide", casparian_approval_decide_tool, MCP_WRITES, CASPARIAN_CHANGES | CASPARIAN_DECIDES, 0 },
    { "casparian_quarantine_summary", casparian_quarantine_summary_tool, MCP_READS, 0, 0 },
    { 0 },
};
/* clang-format on */

#define TOOL_COUNT (sizeof casparian_tools / sizeof casparian_tools[0])

const mcp_tool *casparian_tool_rows(mcp_arena *arena)
{
    mcp_tool *rows = mcp_arena_array(arena, TOOL_COUNT, sizeof *rows);
    for (size_t i = 0; rows && casparian_tools[i].name; i++)
        rows[i] = (mcp_tool){ .name = casparian_tools[i].name,
                              .run = casparian_request_run,
                              .flags = casparian_tools[i].flags,
                              .timeout_ms = casparian_tools[i].timeout_ms };
    return rows;
}
