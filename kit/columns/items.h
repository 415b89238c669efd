/*
 * items.h - repeated fields as JSON, and moments in one unit.
 */
#ifndef COLUMNS_ITEMS_H
#define COLUMNS_ITEMS_H

#include <stddef.h>

#include "columns/engine.h"
#include "mcp/arena.h"

/* A column of lists in a chunk, and what of their items is wanted. */
struct items {
    const struct engine_api *api;
    duckdb_vector list;
    const size_t *path; /* of children, from an item to its value */
    size_t depth;
    duckdb_logical_type type; /* of that value */
};

/* The list of a row as a JSON array, the arena's. MCP_E_LIMIT (too long, too deep), MCP_E_NOMEM. */
mcp_status items_text(const char **out, const struct items *items, size_t row, mcp_arena *arena,
                      mcp_error *err);

/* A moment of one of DuckDB's types in microseconds; INT64_MAX when it is out of range. */
int64_t items_moment(duckdb_type type, int64_t value);

#endif
