/**
 * json_rows.h - rows of JSON (CFJ1) as the columns of a batch.
 */
#ifndef CASPARIAN_PLUGINS_RUN_JSON_ROWS_H
#define CASPARIAN_PLUGINS_RUN_JSON_ROWS_H

#include "check/batch.h"
#include "mcp/arena.h"
#include "mcp/error.h"

/** Most cells of a payload, rows times columns. */
#define CASPARIAN_JSON_CELLS_MAX ((size_t)8 << 20)

/**
 * Read the JSON of a CFJ1 payload, what follows its four bytes: `{"c": [names], "r": [[cells]...]}`
 * or `{"d": [{row}...]}`.
 *
 * The type of a column is that of its first value; it is NULL where there is none. Decimals have
 * the most digits behind the point that a cell of the column has; a cell that has no room for them
 * then, and every cell of another kind, is odd. In "d" a row may lack a column.
 *
 * @param out in the arena
 * @return MCP_OK; MCP_E_PARSE: no such JSON (err names the row and the column); MCP_E_LIMIT: too
 *         many rows, columns or cells; MCP_E_NOMEM
 */
mcp_status casparian_json_rows_read(casparian_batch *out, mcp_arena *arena, const char *text,
                                    size_t length, mcp_error *err);

#endif
