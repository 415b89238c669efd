/**
 * export.h - writes the rows of a table to a file below exports/ of the output directory.
 *
 * Source: seed SS2.9; the output page, section 10.
 */
#ifndef COBRE_QUERY_EXPORT_H
#define COBRE_QUERY_EXPORT_H

#include "query/filters.h"

#define QUERY_EXPORTS "exports"

typedef enum query_format { QUERY_CSV, QUERY_JSON, QUERY_ARROW } query_format;

typedef struct query_export_result {
    const char *name; /* of the file, below exports/; the arena's */
    uint64_t rows;
    int64_t size_bytes;
    query_answer answer; /* its file is the one at fault */
} query_export_result;

/**
 * Write the rows of a question. The file is written under a temporary name and renamed; an earlier
 * export of the same name is replaced.
 *
 * @param filters     those of the question, for the name of the file
 * @param should_stop asked before each batch; may be NULL
 * @return as query_rows; MCP_E_IO also when the file cannot be written (MCP_E_STORAGE: the disk is
 *         full), with `answer.file` NULL
 */
mcp_status query_export(query_export_result *out, columns *engine, int out_fd,
                        const query_question *question, const query_filters *filters,
                        query_format format, bool (*should_stop)(void *data), void *data,
                        mcp_arena *arena, mcp_error *err);

#endif
