/**
 * parse.h - from the bytes of one file to checked input (layer 2); no file access.
 */
#ifndef COBRE_CASE_READ_PARSE_H
#define COBRE_CASE_READ_PARSE_H

#include "case/input.h"

/**
 * Read JSON text; invalid JSON, or a repeated key, is a ParseError in the report.
 *
 * @param root NULL when it was reported
 */
mcp_status cobre_parse_text(const mcp_json **root, const char *file, const char *text,
                            size_t length, cobre_report *report, mcp_arena *arena, mcp_error *err);

/** One of the JSON files, read and checked into the input. */
mcp_status cobre_parse_json(cobre_input *input, cobre_file_id id, const char *text, size_t length,
                            mcp_error *err);

/** One of the Parquet files, as columns, checked into the input. */
mcp_status cobre_parse_table(cobre_input *input, cobre_file_id id, const columns_table *data,
                             mcp_error *err);

#endif
