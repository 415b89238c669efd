/**
 * load.h - validates a case directory and loads it into memory.
 *
 * Every file is opened beneath the directory's descriptor, so nothing outside of it is read, even
 * when the directory is renamed meanwhile. One thread; blocking.
 *
 * Source: the errors page, section 5; the case page, section 1.
 */
#ifndef COBRE_VALIDATE_LOAD_H
#define COBRE_VALIDATE_LOAD_H

#include "mcp/error.h"

#include "case/case.h"
#include "case/input.h"
#include "columns/columns.h"
#include "findings/report.h"

/**
 * Run the five layers over a case directory and, where they find no error, build the case.
 *
 * @param out       set only when the report holds no error; the arena's
 * @param dir_fd    the directory, open; borrowed
 * @param directory its path for messages; copied
 * @param engine    reads the Parquet files; borrowed
 * @param report    receives the findings, sorted, and the coverage
 * @param arena     pays for the case; its bound should be some ten times the input's size
 * @return MCP_OK also when the directory has errors: look at `report`; MCP_E_NOMEM (the arena's
 *         bound too), MCP_E_IO, MCP_E_UNSUPPORTED (no DuckDB) when the work itself failed
 */
mcp_status cobre_case_load(const cobre_case **out, int dir_fd, const char *directory,
                           columns *engine, cobre_report *report, mcp_arena *arena, mcp_error *err);

/**
 * Layers 1 and 2 alone: the contents of the files, unresolved.
 *
 * @param out the arena's; incomplete when the report holds an error
 * @return as cobre_case_load
 */
mcp_status cobre_input_load(cobre_input **out, int dir_fd, columns *engine, cobre_report *report,
                            mcp_arena *arena, mcp_error *err);

#endif
