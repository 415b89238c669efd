/**
 * rows.h - the rows of a table of an output directory that match a question, in their order:
 * scenario, stage, entity, block.
 *
 * A simulation has a file a scenario. They are read in batches, and each file once: the rows up to
 * the limit and the count of all come from the same pass.
 *
 *     const query_question question = { .table = table, .names = names, .name_count = n,
 *                                       .rows_max = 1000 };
 *     query_answer answer;
 *     query_rows(&answer, engine, out_fd, &question, &sink, arena, err);
 *
 * Source: the output page, section 10.
 */
#ifndef COBRE_QUERY_ROWS_H
#define COBRE_QUERY_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "columns/columns.h"
#include "mcp/arena.h"
#include "mcp/error.h"

#include "query/tables.h"

/** Inclusive. All zero: no bound. */
typedef struct query_range {
    bool is_set;
    int64_t first, last;
} query_range;

typedef struct query_question {
    const query_table *table;
    const char *const *names; /* of columns (query/tables.h), in this order */
    size_t name_count;
    const int64_t *ids; /* any of these entities; NULL: all */
    size_t id_count;
    query_range stages, scenarios;
    uint64_t rows_max; /* further rows are only counted; UINT64_MAX: no limit */
} query_question;

/** Receives the rows, batch after batch. */
typedef struct query_sink {
    /** @param rows the columns of the question; freed when this returns. @return MCP_OK; anything
     *  else ends the reading */
    mcp_status (*take)(const columns_table *rows, void *data, mcp_error *err);
    /** Asked before each batch; may be NULL. */
    bool (*should_stop)(void *data);
    void *data;
} query_sink;

typedef struct query_answer {
    uint64_t total;   /* rows that match */
    bool is_complete; /* the phase has its _SUCCESS */
    /** When not MCP_OK was returned: the file or folder at fault, the arena's; NULL: the sink, or
     *  memory. */
    const char *file;
} query_answer;

/** Whether the simulation is complete and should have the folder of a table that it lacks. */
bool query_is_lost(const query_table *table, int out_fd, mcp_arena *arena);

/**
 * Read the rows.
 *
 * @param out_fd the output directory
 * @param arena  what outlives the call; the rows have memory of their own
 * @return MCP_OK; MCP_E_NOT_FOUND (no such results); MCP_E_PARSE (a file that is not that table, or
 *         that a complete simulation has lost);
 *         MCP_E_DENIED (a link); MCP_E_LIMIT; MCP_E_STOPPED; MCP_E_IO; MCP_E_NOMEM;
 *         MCP_E_UNSUPPORTED (no DuckDB); what the sink returned
 */
mcp_status query_rows(query_answer *out, columns *engine, int out_fd,
                      const query_question *question, const query_sink *sink, mcp_arena *arena,
                      mcp_error *err);

#endif
