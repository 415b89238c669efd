/*
 * result.h - the rows of a query as arrays.
 */
#ifndef COLUMNS_RESULT_H
#define COLUMNS_RESULT_H

#include "columns/columns.h"
#include "columns/engine.h"

/*
 * Copy a result into the arena; the result stays the caller's.
 *
 * MCP_E_LIMIT (more than `rows_max` rows), MCP_E_PARSE (a text that holds NUL), MCP_E_NOMEM.
 */
mcp_status result_take(const columns_table **out, const struct engine_api *api,
                       duckdb_result *result, size_t rows_max, mcp_arena *arena, mcp_error *err);

#endif
