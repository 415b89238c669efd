/*
 * values.h - the engine's values as cells, and the names of its types.
 */
#ifndef COLUMNS_SEALED_VALUES_H
#define COLUMNS_SEALED_VALUES_H

#include <duckdb.h>

#include "columns/engine.h"
#include "mcp/buf.h"
#include "mcp/error.h"

/* What a conversion needs besides the value: room for texts, used again and again. */
struct values {
    const struct engine_api *api;
    mcp_buf text; /* of one cell */
};

/* `api` is borrowed. */
void values_init(struct values *self, const struct engine_api *api);
void values_clear(struct values *self);

/* Append the cell of a row.
 * MCP_E_LIMIT: longer than COLUMNS_SEALED_CELL_MAX, or nested deeper than JSON may be;
 * MCP_E_PARSE: the type has no cell; out->status. */
mcp_status values_put(mcp_buf *out, struct values *self, duckdb_vector vector,
                      duckdb_logical_type type, size_t row, mcp_error *err);

/* Append the name of a type as the engine writes it: "DECIMAL(18,3)[]". @return out->status */
mcp_status values_type_name(mcp_buf *out, const struct engine_api *api, duckdb_logical_type type);

#endif
