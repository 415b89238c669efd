/*
 * textify.h - values of several kinds in a column that was inferred as a string.
 *
 * Where a plugin emits both numbers and texts in one column, the inferred type is string, and a
 * number is no violation there: it becomes its text.
 */
#ifndef CASPARIAN_JOBS_DRIVE_TEXTIFY_H
#define CASPARIAN_JOBS_DRIVE_TEXTIFY_H

#include "check/batch.h"
#include "schema/definition.h"

/*
 * The batch with all values of string columns as texts. `out` shares the other columns.
 *
 * MCP_OK; MCP_E_LIMIT: the texts of a column have more than CASPARIAN_BATCH_BYTES_MAX bytes;
 * MCP_E_NOMEM.
 */
mcp_status casparian_textify(casparian_batch *out, const casparian_batch *batch,
                             const casparian_definition *schema, mcp_arena *arena, mcp_error *err);

#endif
