/**
 * result.h - the body of a casparian_query_result, and how it is filled.
 */
#ifndef CASPARIAN_QUERY_RESULT_H
#define CASPARIAN_QUERY_RESULT_H

#include "mcp/buf.h"
#include "query/query.h"

/** A result that is kept is known by its token, which nobody can guess. */
#define CASPARIAN_QUERY_TOKEN_SIZE 33

/** One page in memory, and what is known of the rows after it. */
struct casparian_query_result {
    mcp_arena *arena; /* columns, warnings */
    casparian_query_facts facts;
    mcp_buf cells;      /* of the page, perhaps of rows after it */
    uint64_t first_row; /* of the page, in the whole result */
    uint64_t all_rows;  /* of the whole result, as far as it is known */
    bool is_cut;        /* and there are more that nobody has read */
    bool is_plain;      /* a plan, or names of the catalog: no data to be redacted */
    char token[CASPARIAN_QUERY_TOKEN_SIZE]; /* "": it is not kept */
};

/** @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_query_result_new(casparian_query_result **out, mcp_error *err);

/** Copy the columns. @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_query_result_columns(casparian_query_result *self, size_t count,
                                          const char *const *names, const char *const *types,
                                          mcp_error *err);

/** Copy the warnings. @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_query_result_warnings(casparian_query_result *self, size_t count,
                                           const char *const *warnings, mcp_error *err);

/** The bytes of so many rows from `at` on; stops at the end of the cells. */
size_t casparian_query_rows_length(const mcp_buf *cells, size_t at, size_t columns, uint64_t rows);

#endif
