/**
 * tools.h - the tools of casparian, in the order in which they are listed.
 *
 * A new tool: its file tools/NAME.json, a function in a file of features/, a declaration below, and
 * a row in tools.c.
 */
#ifndef CASPARIAN_FEATURES_TOOLS_H
#define CASPARIAN_FEATURES_TOOLS_H

#include "gateway/request.h"

/** Ended by a row without a name. */
extern const casparian_tool casparian_tools[];

/** features/scan.c */
casparian_handler casparian_scan_tool;

/** features/discovery.c */
casparian_handler casparian_plugins_tool;
casparian_handler casparian_files_tool;
casparian_handler casparian_sources_tool;

/** runs/preview.c, runs/run.c, jobs.c, query.c, schemas.c, approvals.c, quarantine.c */
casparian_handler casparian_preview_tool;
casparian_handler casparian_backtest_start_tool;
casparian_handler casparian_run_request_tool;
casparian_handler casparian_job_status_tool;
casparian_handler casparian_job_cancel_tool;
casparian_handler casparian_job_list_tool;
casparian_handler casparian_query_tool;
casparian_handler casparian_schema_propose_tool;
casparian_handler casparian_schema_promote_tool;
casparian_handler casparian_approval_status_tool;
casparian_handler casparian_approval_list_tool;
casparian_handler casparian_approval_decide_tool;
casparian_handler casparian_quarantine_summary_tool;

/** Make the library's table of the tools, in the arena. @return NULL: no memory */
const mcp_tool *casparian_tool_rows(mcp_arena *arena);

#endif
