/*
 * outputs.h - the rows that a plugin emits: each output held against its schema, counted, and given
 * to a sink.
 *
 * An output without a schema is inferred. In a backtest and a preview its rows are only counted and
 * seen. In a run the file that has first rows of it is parsed twice: once to infer, with the rows
 * dropped, and once with the schema, which counts for the rest of the job.
 */
#ifndef CASPARIAN_JOBS_DRIVE_OUTPUTS_H
#define CASPARIAN_JOBS_DRIVE_OUTPUTS_H

#include "jobs/drive/drive.h"

void casparian_outputs_free(casparian_outputs *self);

/* The output of that name, made if it is new. */
mcp_status casparian_outputs_find(casparian_output **out, casparian_outputs *self, const char *name,
                                  mcp_error *err);

/* Add the tables of all outputs that have a schema to a new sink. */
mcp_status casparian_outputs_add_tables(casparian_outputs *self, mcp_error *err);

/* A file begins. */
mcp_status casparian_outputs_begin(casparian_outputs *self, const char *path, mcp_error *err);

/* casparian_guest_events.output and .batch; `data` is the casparian_outputs. A run stops with
 * MCP_E_STOPPED and `needs_schemas` at rows of an output without a schema. */
mcp_status casparian_outputs_named(void *data, const char *name, mcp_error *err);
mcp_status casparian_outputs_batch(void *data, const char *name, const casparian_batch *batch,
                                   mcp_error *err);

/* The file ends; `is_kept` false: it has failed, and its rows were never seen. */
void casparian_outputs_end(casparian_outputs *self, bool is_kept);

/* Fix the schemas of the outputs that have none by what was seen of them. */
mcp_status casparian_outputs_infer(casparian_outputs *self, mcp_error *err);

/* Figures of an output, with those of the present file. */
void casparian_output_count(const casparian_output *output, casparian_check_counts *out);

/* Rows of all outputs. */
void casparian_outputs_count(const casparian_outputs *self, int64_t *emitted, int64_t *quarantined);

/* The warning of texts that were repaired: letters are lost, and nobody would know. */
#define CASPARIAN_REPAIRED_FORMAT                                                                  \
    "values with bytes that are not UTF-8: %llu (first in %.200s), with U+FFFD in their place; "   \
    "read the file in its encoding, or convert it, as by iconv -f WINDOWS-1252 -t UTF-8"

/* Why the rows of an output without a schema make none; NULL: they do, or there are none. */
#define CASPARIAN_FLAW_FORMAT "output '%s' gives no schema, so a run of it fails: %s"
const char *casparian_output_flaw(const casparian_output *output, mcp_arena *arena);

/* Write the figures of an output as members of an open object. A failure is the writer's. */
void casparian_output_write(const casparian_output *output, mcp_arena *arena, mcp_json_writer *out);

#endif
