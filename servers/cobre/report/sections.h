/**
 * sections.h - what the sections of the report share: their data as JSON, read by statements over
 * the output files.
 *
 * A section first reads everything, then writes the members of its object. A part of the output
 * that is missing or broken makes the section absent, with the reason as a text; the other sections
 * do not depend on it.
 */
#ifndef COBRE_REPORT_SECTIONS_H
#define COBRE_REPORT_SECTIONS_H

#include "columns/columns.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#include "query/entities.h"
#include "report/output.h"

/** Bounds of the page: a study has fewer stages than this, and a longer record is thinned out. */
#define REPORT_STAGES_MAX 4096
#define REPORT_POINTS_MAX 1000

typedef struct report_context {
    const report_output *output;
    columns *engine;
    int out_fd;
    size_t entities_max; /* shown in a section */
    query_entities names;
    mcp_arena *arena; /* of the section; freed after it */
    mcp_json_writer *writer;
} report_context;

/**
 * Write the members of a section.
 *
 * @param absent set to a reason when nothing was written
 * @return MCP_OK, also when absent; MCP_E_NOMEM; MCP_E_UNSUPPORTED (no DuckDB)
 */
typedef mcp_status report_section(const report_context *context, const char **absent,
                                  mcp_error *err);

report_section report_convergence, report_cuts, report_solver;  /* training_sections.c */
report_section report_costs, report_generation, report_deficit; /* simulation_sections.c */
report_section report_storage, report_marginal_cost;            /* fan_sections.c */

/* ---- reading --------------------------------------------------------------------------------- */

/** The rows of a statement over a table of the simulation. */
typedef struct report_rows {
    const columns_table *table;
    size_t scenarios, left_out;
} report_rows;

/**
 * Run a statement over simulation/<folder>. Every column must be a DOUBLE.
 *
 * @param fd_max  most files; 0: all
 * @param absent  set when there are no rows to read, and why
 */
mcp_status report_query(report_rows *out, const report_context *context, const char *folder,
                        size_t fd_max, const char *sql, const char **absent, mcp_error *err);

/** The same over one file of the output directory; NULL without `absent` when there is none. */
mcp_status report_query_file(const columns_table **out, const report_context *context,
                             const char *path, const char *sql, const char **absent,
                             mcp_error *err);

/** A value of a table of DOUBLEs; NAN where null. */
double report_value(const columns_table *table, size_t column, size_t row);

/** The name of an entity, else its id as text; the arena's. */
const char *report_name(const report_context *context, int64_t code, int64_t id);

/** A text in the arena of the section; "" when memory is out. */
const char *report_format(const report_context *context, const char *format, ...) MCP_PRINTF(2, 3);

/* ---- writing --------------------------------------------------------------------------------- */

/** Write a number with seven digits; null for NaN and infinity. */
void report_write_number(mcp_json_writer *writer, double number);

/** Write a member that is an array of a column's values. */
void report_write_column(const report_context *context, const char *name,
                         const columns_table *table, size_t column);

/** Write the member `note`: a text, or null. */
void report_write_note(const report_context *context, const char *note);

/** The words about scenarios that were not read, or NULL. */
const char *report_scenarios_note(const report_context *context, const report_rows *rows);

#endif
