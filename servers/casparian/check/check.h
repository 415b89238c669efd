/**
 * check.h - holds the rows of one output against its schema, in one job: good rows become exactly
 * the columns of the schema, bad rows go to quarantine with their reasons, and what was wrong is
 * counted, explained and given a suggested fix.
 *
 *     casparian_check_new(&check, &options, err);
 *     for each source file:
 *         casparian_check_begin(check, path);
 *         casparian_check_batch(check, &checked, &batch, arena, err);    any number of times
 *         casparian_check_end(check, is_ok);
 *     casparian_check_write(check, json);
 *     casparian_check_free(check);
 *
 * A row is valid if it has no violation and no error of the parser. Conversions are exact: nothing
 * is guessed or lost, and only what becomes a float64 is rounded, to the nearest. Nothing is
 * allocated for a cell. One thread at a time.
 *
 * Source: casparian's data model, 3 (validation), 4 (suggested fixes), 7.2 (quarantine).
 */
#ifndef CASPARIAN_CHECK_CHECK_H
#define CASPARIAN_CHECK_CHECK_H

#include "check/batch.h"
#include "check/redact.h"
#include "check/violation.h"
#include "schema/definition.h"

/** How many rows are profiled for suggested fixes. */
#define CASPARIAN_PROFILED_ROWS_MAX 100000

typedef struct casparian_check casparian_check;

/** What an output is held against. Borrowed until casparian_check_free. */
typedef struct casparian_check_options {
    const char *output;
    const casparian_definition *definition;
    const casparian_redaction *redaction;
    /* The definition was inferred: its string columns take the text of any value. */
    bool is_inferred;
    bool has_no_profile; /* no suggested fixes are wanted */
} casparian_check_options;

/** The rows of a batch, apart. Buffers are the arena's or the batch's. */
typedef struct casparian_checked {
    casparian_batch
        valid; /* the columns of the schema, in its order, without odd or absent cells */
    /* The columns of the schema, all nullable, then _error_msg, _violation_type, _violations,
     * _source_row, _output_row_index, _source_path and _raw_row: the quarantine table without its
     * lineage columns. */
    casparian_batch invalid;
} casparian_checked;

/**
 * @param out yours, free it with casparian_check_free
 * @return MCP_OK; MCP_E_NOT_FOUND, MCP_E_PARSE, MCP_E_IO: the zone of a column; MCP_E_NOMEM
 */
mcp_status casparian_check_new(casparian_check **out, const casparian_check_options *options,
                               mcp_error *err);

/** NULL is fine. */
void casparian_check_free(casparian_check *self);

/** A source file begins. @param path for quarantined rows and `first_seen`; copied */
mcp_status casparian_check_begin(casparian_check *self, const char *path, mcp_error *err);

/**
 * Hold the rows of a batch against the schema.
 *
 * @param out   lives as long as the arena and the batch
 * @return MCP_OK; MCP_E_LIMIT: the arena's bound; MCP_E_NOMEM
 */
mcp_status casparian_check_batch(casparian_check *self, casparian_checked *out,
                                 const casparian_batch *batch, mcp_arena *arena, mcp_error *err);

/** The source file ends. @param is_kept false: the file failed, and its rows were never seen */
void casparian_check_end(casparian_check *self, bool is_kept);

/** The figures of the files that ended and were kept, and of the one that has not ended. */
typedef struct casparian_check_counts {
    int64_t rows_emitted, rows_valid, rows_quarantined;
    int64_t parser_errors;         /* rows that the parser itself called bad */
    int64_t extra_columns_dropped; /* cells, in mode allow_extra */
    int64_t profiled_rows;
} casparian_check_counts;

void casparian_check_count(const casparian_check *self, casparian_check_counts *out);

/** One kind of violation of one column. */
typedef struct casparian_violation_count {
    const char *column; /* borrowed until the next batch */
    casparian_violation violation;
    int64_t count; /* of rows */
} casparian_violation_count;

/** The most frequent violations, those of the file that has not ended too.
 *  @param out room for `max`. @return how many there are in `out` */
size_t casparian_check_top(const casparian_check *self, casparian_violation_count *out, size_t max);

/**
 * Write the figures of the output as members of an open object: rows_emitted, rows_valid,
 * rows_quarantined, pass_rate, quarantine_pct, schema_hash, violations, parser_errors,
 * extra_columns_dropped and, where there are some, the names in extra_columns; profiled_rows where
 * not all rows were profiled. A file that has not ended is not in them.
 */
void casparian_check_write(const casparian_check *self, mcp_json_writer *out);

/** Write the member parser_errors: how many rows the parser called bad, and some of its reasons. */
void casparian_write_parser_errors(const casparian_tally *tally,
                                   const casparian_redaction *redaction, mcp_json_writer *out);

/** Write the array of violations alone, as in casparian_check_write. */
void casparian_check_write_violations(const casparian_check *self, mcp_json_writer *out);

#endif
