/**
 * infer.h - the schema of an output that has none: the narrowest types that all rows fit.
 *
 * Types keep to what the plugin emitted: a string that looks like a number stays a string. A column
 * is nullable unless every row that was seen has a value. One thread at a time.
 *
 * Source: casparian's data model, 6.
 */
#ifndef CASPARIAN_CHECK_INFER_H
#define CASPARIAN_CHECK_INFER_H

#include "check/batch.h"
#include "schema/definition.h"

typedef struct casparian_infer casparian_infer;

/** @param out yours, free it with casparian_infer_free. @return MCP_OK; MCP_E_NOMEM */
mcp_status casparian_infer_new(casparian_infer **out, mcp_error *err);

/** NULL is fine. */
void casparian_infer_free(casparian_infer *self);

/** See the rows of a batch. @return MCP_OK; MCP_E_LIMIT: more columns than CASPARIAN_COLUMNS_MAX;
 *  MCP_E_NOMEM */
mcp_status casparian_infer_add(casparian_infer *self, const casparian_batch *batch, mcp_error *err);

/** How many rows were seen. */
int64_t casparian_infer_rows(const casparian_infer *self);

/**
 * The schema of what was seen: columns in the order of their first appearance; mode strict, or
 * allow_missing_optional where some row lacks a column. A column without any value is a string.
 *
 * @param out    in the arena, with its hash
 * @param output the name
 * @return MCP_OK; MCP_E_SCHEMA: no schema can have such names, or nothing was seen; MCP_E_NOMEM
 */
mcp_status casparian_infer_definition(casparian_definition *out, const casparian_infer *self,
                                      const char *output, mcp_arena *arena, mcp_error *err);

#endif
