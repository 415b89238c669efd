/**
 * data.h - the data of the report as one JSON object: what the page shows, and `cobre report
 * --json` prints.
 *
 * Its size is bounded by the number of entities a section shows, the stages, and
 * REPORT_POINTS_MAX points of a curve; quantiles are computed by the engine.
 */
#ifndef COBRE_REPORT_DATA_H
#define COBRE_REPORT_DATA_H

#include "columns/columns.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#include "report/output.h"

#define REPORT_ENTITIES_MAX 200

typedef struct report_order {
    const report_output *output;
    int out_fd;
    const char *output_dir; /* canonical */
    size_t entities_max;    /* 1 to REPORT_ENTITIES_MAX, shown in a section */
    const char *sections;   /* names between commas; NULL: all */
} report_order;

/** The names of the sections in the order of the page, ended by NULL. */
extern const char *const report_section_names[];

/** Whether a list of names between commas has only sections; `*wrong` receives the first that is
 *  none, the arena's. */
bool report_sections_exist(const char *list, const char **wrong, mcp_arena *arena);

/** The name of the case, from the path of its output directory; the arena's. */
const char *report_case_name(const char *output_dir, mcp_arena *arena);

/**
 * Write the object.
 *
 * @return MCP_OK; MCP_E_NOMEM; MCP_E_UNSUPPORTED (no DuckDB)
 */
mcp_status report_data_write(mcp_json_writer *writer, columns *engine, const report_order *order,
                             mcp_arena *arena, mcp_error *err);

/** Write the member `sections` alone. */
mcp_status report_sections_write(mcp_json_writer *writer, columns *engine,
                                 const report_order *order, mcp_arena *arena, mcp_error *err);

#endif
