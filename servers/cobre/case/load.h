/**
 * load.h - from a case directory to a case in memory, or to a report of what is wrong with it.
 *
 * Every file is opened beneath the directory's descriptor, so nothing outside of it is ever read,
 * whatever the directory's name has become meanwhile. One thread; blocking.
 *
 * Source: the errors page, section 5; the case page, section 1.
 */
#ifndef COBRE_CASE_LOAD_H
#define COBRE_CASE_LOAD_H

#include "mcp/error.h"

#include "case/case.h"
#include "columns/columns.h"
#include "validate/report.h"

/**
 * Run the five layers over a case directory and, where they find no error, build the case.
 *
 * @param out       set only when the report holds no error; the arena's
 * @param dir_fd    the directory, open; borrowed
 * @param directory its path as the user knows it, for messages; copied
 * @param engine    reads the Parquet files; borrowed
 * @param report    gets the findings, sorted, and its coverage
 * @param arena     pays for the case; its bound should be some ten times the input's size
 * @return MCP_OK also when the directory has errors: look at `report`; MCP_E_NOMEM (the arena's
 *         bound too), MCP_E_IO, MCP_E_UNSUPPORTED (no DuckDB) when the work itself failed
 */
mcp_status cobre_case_load(const cobre_case **out, int dir_fd, const char *directory,
                           columns *engine, cobre_report *report, mcp_arena *arena, mcp_error *err);

/** What can be said of a case directory without validating it (output page, section 10). */
typedef struct cobre_inspection {
    const mcp_json *config; /* config.json as it stands */
    int64_t hydros, thermals, buses, lines;
    int64_t stages;                   /* with id >= 0 */
    const char *scenario_source;      /* "par" or "external" */
    const char *const *files_present; /* of the 40 paths of the format, sorted */
    size_t file_count;
} cobre_inspection;

/**
 * Look at a case directory.
 *
 * @param out    filled only when the report holds no error: a missing config.json is MissingFile, a
 *               config.json, stages.json or registry that does not parse is ParseError
 * @return as cobre_case_load
 */
mcp_status cobre_case_inspect(cobre_inspection *out, int dir_fd, cobre_report *report,
                              mcp_arena *arena, mcp_error *err);

/** True when the name is one of the 40 paths of the format. */
bool cobre_case_is_path(const char *relative);

#endif
