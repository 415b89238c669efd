/**
 * output.h - the records of an output directory that describe its run: for the summary and the
 * report.
 *
 * Source: the output page, sections 3.7 and 5.11.
 */
#ifndef COBRE_REPORT_OUTPUT_H
#define COBRE_REPORT_OUTPUT_H

#include "columns/columns.h"
#include "mcp/arena.h"
#include "mcp/error.h"
#include "mcp/json.h"

#include "results/results.h"

#define REPORT_TRAINING "training/metadata.json"
#define REPORT_SIMULATION "simulation/metadata.json"

typedef struct report_output {
    const mcp_json *training;        /* training/metadata.json; NULL: there is none */
    const mcp_json *simulation;      /* simulation/metadata.json; NULL: there is none */
    results_convergence convergence; /* count 0: there is no record */
    const char *reason;              /* why the training ended; never NULL */
} report_output;

/**
 * Read the records.
 *
 * @param out what it points to is the arena's
 * @return MCP_OK; MCP_E_NOT_FOUND (metadata of neither phase); MCP_E_PARSE (a broken record; the
 *         message names it); as results_read_convergence otherwise
 */
mcp_status report_output_read(report_output *out, columns *engine, int out_fd, mcp_arena *arena,
                              mcp_error *err);

/** The training and the simulation as the run knew them; what no record has is 0. */
sddp_training report_output_training(const report_output *output);
sddp_simulation report_output_simulation(const report_output *output);

/** The status of the training, else of the simulation: "complete", "partial", "failed"; else
 *  "unknown". */
const char *report_output_status(const report_output *output);

/** Write the member of a phase: its metadata, or null. */
void report_output_write(mcp_json_writer *writer, const char *name, const mcp_json *metadata);

/** The number at a JSON pointer; `fallback` when there is none. NULL is fine. */
double report_number(const mcp_json *object, const char *pointer, double fallback);

/** The text at a JSON pointer; `fallback` when there is none. NULL is fine. */
const char *report_text(const mcp_json *object, const char *pointer, const char *fallback);

#endif
