/**
 * page.h - the report as one HTML file: the page that the build made, with the data inside.
 *
 * The file needs nothing else: its script, its style and its charts are in it, and its policy
 * forbids the network.
 */
#ifndef COBRE_REPORT_PAGE_H
#define COBRE_REPORT_PAGE_H

#include <stddef.h>

#include "mcp/error.h"
#include "mcp/files.h"

#include "report/data.h"

#define REPORT_PAGE "report.html"

/** Most bytes of the data in a page. */
#define REPORT_DATA_MAX ((size_t)32 << 20)

/**
 * Write the report into a folder, under a temporary name that is renamed.
 *
 * @param dir_fd    the folder
 * @param name      one component, "report.html"
 * @param page      the file REPORT_PAGE of the build; NULL: it was built without one
 * @return MCP_OK; MCP_E_UNSUPPORTED (no page, no DuckDB); MCP_E_LIMIT (REPORT_DATA_MAX); MCP_E_IO;
 *         MCP_E_NOMEM
 */
mcp_status report_page_write(int dir_fd, const char *name, const mcp_file *page, columns *engine,
                             const report_order *order, mcp_arena *arena, mcp_error *err);

#endif
